"""Early fusion: all views side by side in one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coview.base import MultiViewEstimator
from coview.views import Views


class ConcatenateViews(TransformerMixin, MultiViewEstimator):  # type: ignore[misc]
    """All views of a sample side by side, for learners that take one array.

    This is the early fusion that every multi-view method has to beat: put it before an imputer, a scaler and any
    scikit-learn estimator. A missing view becomes NaN in all its columns; among sparse views, where NaN would have to
    be stored, it becomes a row of zeros.

    Parameters
    ----------
    views : sequence of str, default=None
        The views to join, in this order; None joins all in the order of ``fit``.
    view_columns : dict, default=None
        Column groups, where X is one table (see :class:`coview.Views`).

    Attributes
    ----------
    view_names_ : list of str
        Views seen in ``fit``.
    view_n_features_ : dict
        Their numbers of columns.
    view_slices_ : dict
        The columns of the output that each joined view fills, as slices.

    Notes
    -----
    The output is sparse (CSR) as soon as one joined view is sparse; nothing is densified. Dense output costs
    n_samples times the sum of the widths.

    Examples
    --------
    >>> import numpy as np
    >>> from coview import Views
    >>> from coview.compose import ConcatenateViews
    >>> X = Views({"a": np.array([[1.0], [2.0]]), "b": np.array([[3.0, 4.0], [np.nan, np.nan]])})
    >>> ConcatenateViews().fit_transform(X)
    array([[ 1.,  3.,  4.],
           [ 2., nan, nan]])
    """

    _allow_nan = True

    def __init__(self, views: Sequence[str] | None = None, *, view_columns: Any = None) -> None:
        self.views = views
        self.view_columns = view_columns

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Learn names and widths of the views.

        Parameters
        ----------
        X : Views or anything that Views takes
            Samples.
        y : ignored

        Returns
        -------
        self : ConcatenateViews
        """
        data = self._validate_views(X, reset=True)
        chosen = list(data.names) if self.views is None else list(self.views)
        unknown = [name for name in chosen if name not in data.names]
        if unknown or not chosen or len(set(chosen)) < len(chosen):
            raise ValueError(
                f"views must name some of the views {list(data.names)}, each once; got {chosen}. "
                "Correct the names, or leave views=None to join all."
            )
        stops = np.cumsum([self.view_n_features_[name] for name in chosen]).tolist()
        starts = [0, *stops[:-1]]
        self.view_slices_ = {name: slice(a, b) for name, a, b in zip(chosen, starts, stops, strict=True)}
        labels = {name: data.feature_names[name] for name in chosen}
        self._feature_names = [
            f"{name}__{column}"
            for name, columns in labels.items()
            for column in (range(self.view_n_features_[name]) if columns is None else columns)
        ]
        return self

    def transform(self, X: Any) -> NDArray[Any] | sparse.csr_array:
        """Join the views.

        Parameters
        ----------
        X : Views or anything that Views takes
            Samples; a view of ``fit`` that is absent here counts as missing for all of them.

        Returns
        -------
        joined : ndarray or csr_array of shape (n_samples, n_features)
        """
        check_is_fitted(self, "view_slices_")
        data = self._validate_views(X, reset=False)
        blocks = {name: data[name] for name in self.view_slices_}
        if any(sparse.issparse(block) for block in blocks.values()):
            parts = [self._spread(data, name, blocks[name]) for name in self.view_slices_]
            return sparse.csr_array(sparse.hstack(parts, format="csr"))
        dtype = np.result_type(np.float32, *(block.dtype for block in blocks.values()))
        n_columns = max(columns.stop for columns in self.view_slices_.values())
        joined = np.full((data.n_samples, n_columns), np.nan, dtype=dtype)
        for name, block in blocks.items():
            joined[data.rows(name), self.view_slices_[name]] = block
        return joined

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the joined columns, ``view__column``.

        Parameters
        ----------
        input_features : ignored
            Present for scikit-learn; the names come from ``fit``.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self, "view_slices_")
        return np.asarray(self._feature_names, dtype=object)

    def _spread(self, data: Views, name: str, block: Any) -> sparse.csr_array:
        """A view at full height, zero rows where it is missing."""
        width = self.view_n_features_[name]
        rows = sparse.csr_array(block)
        # Row pointers repeat where a sample lacks the view, so the values are not copied.
        lengths = np.zeros(data.n_samples, dtype=rows.indptr.dtype)
        lengths[data.rows(name)] = np.diff(rows.indptr)
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(rows.indptr.dtype)
        return sparse.csr_array((rows.data, rows.indices, indptr), shape=(data.n_samples, width))
