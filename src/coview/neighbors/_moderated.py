"""Nearest neighbors whose probabilities are never 0 or 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

__all__ = ["ModeratedKNeighborsClassifier"]


class ModeratedKNeighborsClassifier(KNeighborsClassifier):  # type: ignore[misc]
    r"""Scikit-learn's nearest neighbors, with probabilities that allow for how few neighbors were asked.

    For products of the probabilities of several views: plain shares of 0, of classes that none of the neighbors has, are vetoes
    there. Parameters and attributes are those of :class:`sklearn.neighbors.KNeighborsClassifier`, and so are predicted classes.

    See Also
    --------
    coview.ensemble.ViewEnsembleClassifier : Takes it as estimator; its "modified_product" is the simpler remedy.

    Notes
    -----
    With :math:`\kappa` of :math:`k` neighbors in a class, of :math:`m` classes, it is :math:`(\kappa + 1) / (k + m)`, the mean
    of the posterior under a uniform prior (Alkoot and Kittler, "Moderating k-NN classifiers", Pattern Analysis and Applications
    5, 2002). With ``weights`` other than "uniform", :math:`\kappa` is the weighted share times :math:`k`.

    Examples
    --------
    >>> from coview.neighbors import ModeratedKNeighborsClassifier
    >>> model = ModeratedKNeighborsClassifier(n_neighbors=1).fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    >>> model.predict_proba([[0.1]])
    array([[0.5 , 0.25, 0.25]])
    """

    def predict_proba(self, X: Any) -> Any:
        """Moderated shares of the classes among the neighbors.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), or a list of one per target
        """
        found = super().predict_proba(X)
        return [self._moderated(shares) for shares in found] if isinstance(found, list) else self._moderated(found)

    def _moderated(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((self.n_neighbors * shares + 1.0) / (self.n_neighbors + shares.shape[1]))
