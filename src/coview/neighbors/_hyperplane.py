"""Classes by the nearest of the hyperplanes through a sample's neighbors in each class."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, StrOptions
from coview.inference import first_of_least, inverse_square_shares
from coview.neighbors._class_distances import ClassTables
from coview.neighbors._labeled_neighbors import LabeledNeighbors
from coview.views import Views

__all__ = ["HyperplaneKNeighborsClassifier"]

Array = NDArray[np.float64]
# A feature of so much less variance than the widest, and a penalty of so small a share of all variance, count for nothing.
_NARROW, _LOST = 1e-14, 1e-12


class HyperplaneKNeighborsClassifier(LabeledNeighbors):
    r"""K nearest neighbors of each class span a hyperplane; the class whose hyperplane is nearest wins.

    Between few samples, hyperplanes fill in what was not sampled, so small classes in many features are described better than by
    the neighbors themselves. Features should be on comparable scales.

    Parameters
    ----------
    n_neighbors : int, default=5
        Of each class; all of a smaller class.
    alpha : float, default=1.0
        Penalty on the position in the hyperplane, in units of squared features: 0 extends it without end, infinity leaves its
        center.
    no_view : {"raise", "prior"}, default="raise"
        A new sample without any view gets the shares of the classes, or is an error.
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_shares_ : ndarray of shape (n_classes,)
    loo_class_distances_ : ndarray of shape (n_samples, n_classes)
        Squared distance of each training sample from the hyperplanes of the others, worked out on each request.
    loo_labels_ : ndarray of shape (n_samples,)
        What the others say of each training sample; ``loo_probabilities_`` likewise, (n_samples, n_classes).

    Raises
    ------
    ViewError
        If a view is sparse.

    Warns
    -----
    UserWarning
        If ``alpha`` is 0, or nothing beside the variance of the features, and there are more neighbors than features of
        comparable scale: every hyperplane is then the whole space.

    See Also
    --------
    HyperplaneKNeighborsClassifierCV : Chooses both parameters by leave-one-out.

    Notes
    -----
    Vincent and Bengio (2002), as used by Okun and Priisalu, "Multiple Views in Ensembles of Nearest Neighbor Classifiers"
    (Workshop on Learning with Multiple Views, 2005): distance :math:`\min_a \|x - \bar N - V a\|^2 + \alpha \|a\|^2`. One
    neighbor gives the nearest neighbor classifier. Ties, by eleven digits, go to the first class.

    Views stand side by side. A sample that lacks some is compared in those that it has with the training samples that have them
    all. Time per new sample O(n_samples n_features + n_classes (n_neighbors^2 n_features + n_neighbors^3)), in batches.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.neighbors import HyperplaneKNeighborsClassifier
    >>> X = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0], [4.0, 1.2]])
    >>> HyperplaneKNeighborsClassifier(2, alpha=0.1).fit(X, ["low", "low", "high", "high"]).predict([[2.0, 0.9]])
    array(['high'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "no_view": [StrOptions({"raise", "prior"})],
        "view_columns": [dict, None],
    }

    def __init__(
        self, n_neighbors: Any = 5, alpha: float = 1.0, *, no_view: str = "raise", view_columns: Any = None
    ) -> None:
        self.n_neighbors = n_neighbors
        self.alpha = alpha
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
        self : HyperplaneKNeighborsClassifier
        """
        self._validate_params()
        self._keep(X, y)
        self._table = self._training.stacked()
        self._warn_of_whole_space()
        return self

    def _warn_of_whole_space(self) -> None:
        """Say where hyperplanes reach everything, because nothing holds them back."""
        variances = np.concatenate([_variances(self._training[name]) for name in self.view_names_])
        wide = int((variances > _NARROW * variances.max()).sum())
        if self.alpha <= _LOST * variances.sum() and 0 < wide < self.n_neighbors:
            warnings.warn(
                f"alpha={self.alpha:g} and n_neighbors={self.n_neighbors} with {wide} features of comparable scale: hyperplanes "
                "through so many neighbors are the whole space, and every distance is 0. Take fewer neighbors or a larger alpha, "
                "or standardize the features.",
                UserWarning,
                stacklevel=3,
            )

    @property
    def _tables(self) -> ClassTables:
        return ClassTables(
            self._table, np.asarray(self._training.presence), self._view_of_feature(), self._codes, len(self.classes_)
        )

    def _view_of_feature(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.view_names_)), [self.view_n_features_[name] for name in self.view_names_])

    def class_distances(self, X: Any, *, penalized: bool = True) -> Array:
        """Squared distance of every sample from the hyperplane of every class.

        Parameters
        ----------
        X : Views or anything that Views takes
        penalized : bool, default=True
            Whether the penalty is part of the distance.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_classes)
            Infinite where nobody of a class has all the views that the sample has.
        """
        return self._distances(self._new_views(X), penalized=penalized)

    def _distances(self, views: Views, *, penalized: bool = True) -> Array:
        n_neighbors, alpha = self._parameters()
        return self._tables.distances(
            views.stacked(), np.asarray(views.presence), n_neighbors, alpha, penalized=penalized
        )

    def _parameters(self) -> tuple[int, float]:
        return int(self.n_neighbors), float(self.alpha)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of the nearest hyperplane.

        Parameters
        ----------
        X : Views or anything that Views takes
            New samples with any of the views.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The most frequent class where a sample has no view, or views that no training sample has together.
        """
        codes = self._codes_of(self.class_distances(X))  # raises before the fit
        return np.asarray(self.classes_[codes])

    def _codes_of(self, distances: Array) -> NDArray[np.intp]:
        """Nearest classes; for a sample that no other is comparable with, the most frequent class."""
        codes = first_of_least(distances)
        codes[np.isinf(distances).all(axis=1)] = self.class_shares_.argmax()
        return codes

    @property
    def loo_class_distances_(self) -> Array:
        """Squared distances of the training samples from the hyperplanes of the others."""
        check_is_fitted(self, "classes_")
        return np.asarray(self._tables.left_out([self._parameters()])[0])

    @property
    def loo_labels_(self) -> NDArray[Any]:
        """What the other training samples say of each."""
        codes = self._codes_of(self.loo_class_distances_)
        return np.asarray(self.classes_[codes])

    @property
    def loo_probabilities_(self) -> Array:
        """Shares of the classes as the other training samples see them."""
        return self._probabilities(self.loo_class_distances_)

    def predict_proba(self, X: Any) -> Array:
        """Shares of the classes by the inverse of their squared distances.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            A ranking on the scale of probabilities; nothing calibrates it. The class shares where nothing is near.
        """
        return self._probabilities(self.class_distances(X))

    def _probabilities(self, distances: Array) -> Array:
        """Shares by distance; those of the classes where no distance is known."""
        near = inverse_square_shares(distances)
        return np.asarray(np.where(near.any(axis=1, keepdims=True), near, self.class_shares_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _variances(block: Array) -> Array:
    """Variance of each feature of a view."""
    return np.asarray(block.var(axis=0)) if len(block) else np.zeros(block.shape[1])
