"""K nearest neighbors in every view, views weighted by how sure their neighbors are."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from coview.base import Interval, StrOptions
from coview.inference import confidence_weights, nearest_rows, neighbor_confidences
from coview.neighbors._labeled_neighbors import LabeledNeighbors
from coview.views import Views

__all__ = ["MultiRepresentedKNeighborsClassifier"]

Array = NDArray[np.float64]


class MultiRepresentedKNeighborsClassifier(LabeledNeighbors):
    r"""In each view the nearest neighbors vote by distance; sure views count more, sample by sample.

    A view whose neighbors are all of one class says much, one whose neighbors are mixed says little. Only ratios of distances
    within a view matter, so views need no common scale, and may be dense or sparse.

    Parameters
    ----------
    n_neighbors : int, default=5
        In each view, among the training samples that have it.
    weights : {"entropy", "uniform"}, default="entropy"
        Whether views count by one less the entropy of their votes, in units of its maximum, or all the same.
    no_view : {"prior", "raise"}, default="prior"
        A new sample without any view gets the shares of the classes, or is an error.
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_shares_ : ndarray of shape (n_classes,)

    Notes
    -----
    After Kriegel, Pryakhin and Schubert, "Multi-represented kNN-Classification for Large Class Sets" (2005): the confidence
    of a class in a view is its share of :math:`\sum 1 / d^2` over the neighbors, those at distance 0 sharing all of it; the
    weight of a view is :math:`1 + \sum_c p_c \log_{|C|} p_c`, weights adding up to one. Ties go to the first class. Time
    O(n_new n_samples n_features).

    Examples
    --------
    >>> import numpy as np
    >>> from coview.neighbors import MultiRepresentedKNeighborsClassifier
    >>> sight, sound = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([[5.0], [5.2], [5.1], [4.9]])
    >>> model = MultiRepresentedKNeighborsClassifier(2).fit({"sight": sight, "sound": sound}, ["cat", "cat", "dog", "dog"])
    >>> model.predict({"sight": [[8.5]], "sound": [[5.05]]})
    array(['dog'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "weights": [StrOptions({"entropy", "uniform"})],
        "no_view": [StrOptions({"raise", "prior"})],
        "view_columns": [dict, None],
    }

    def __init__(
        self, n_neighbors: int = 5, *, weights: str = "entropy", no_view: str = "prior", view_columns: Any = None
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.no_view = no_view
        self.view_columns = view_columns

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training samples.

        Parameters
        ----------
        X : Views or anything that Views takes
        y : array-like of shape (n_samples,)
            Classes in any coding; a missing label raises.

        Returns
        -------
        self : MultiRepresentedKNeighborsClassifier
        """
        self._validate_params()
        self._keep(X, y)
        return self

    def view_confidences(self, X: Any) -> dict[str, Array]:
        """What the neighbors in each view say.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        confidences : dict of str to ndarray of shape (n_samples, n_classes)
            NaN where a sample lacks the view, or nobody had it in training.
        """
        confidences = self._confidences(self._new_views(X))
        return dict(zip(self.view_names_, confidences.transpose(1, 0, 2), strict=True))

    def _confidences(self, views: Views) -> Array:
        """(n_samples, n_views, n_classes)."""
        result = np.full((len(views), views.n_views, len(self.classes_)), np.nan)
        for v, name in enumerate(views.names):
            rows, known = views.rows(name), self._training.rows(name)
            if len(rows) and len(known):
                neighbors, squares = nearest_rows(views[name], self._training[name], int(self.n_neighbors))
                result[rows, v] = neighbor_confidences(self._codes[known][neighbors], squares, len(self.classes_))
        return result

    def predict_proba(self, X: Any) -> Array:
        """Confidences of the views, weighted.

        Parameters
        ----------
        X : Views or anything that Views takes
            New samples with any of the views.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        confidences = self._confidences(self._new_views(X))
        weights = confidence_weights(confidences, uniform=self.weights == "uniform")
        mixed = np.einsum("ij,ijc->ic", weights, np.nan_to_num(confidences))
        return np.asarray(np.where(weights.any(axis=1, keepdims=True), mixed, self.class_shares_))

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of the largest weighted confidence.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        # Compared by twelve digits, so that classes tie where they should.
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.round(12).argmax(axis=1)])
