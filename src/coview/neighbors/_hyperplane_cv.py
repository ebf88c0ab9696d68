"""Hyperplane neighbors with both parameters chosen by leave-one-out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coview.base import StrOptions
from coview.neighbors._hyperplane import HyperplaneKNeighborsClassifier

__all__ = ["HyperplaneKNeighborsClassifierCV"]

Array = NDArray[np.float64]


class HyperplaneKNeighborsClassifierCV(HyperplaneKNeighborsClassifier):
    """Hyperplane neighbors whose number and penalty have the least leave-one-out error.

    Parameters
    ----------
    n_neighbors : sequence of int, default=(1, 3, 5, 7, 10)
    alphas : sequence of float, default=(0.01, 0.1, 1.0, 10.0)
    no_view, view_columns
        As in :class:`HyperplaneKNeighborsClassifier`.

    Attributes
    ----------
    n_neighbors_ : int
    alpha_ : float
        The pair with the least error; of equals the first in the order of the grid.
    loo_errors_ : DataFrame
        One row per pair: ``n_neighbors``, ``alpha``, ``error``, the share of training samples that the others place wrongly.
    loo_labels_ : ndarray of shape (n_samples,)
        What the others say of each training sample, with the chosen pair; so ``loo_class_distances_``, ``loo_probabilities_``.

    Notes
    -----
    Neighbors are found once, for the largest number. Time O(n_samples^2 n_features) for them, and
    O(n_samples n_classes (k^2 n_features + k^3)) for each pair.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.neighbors import HyperplaneKNeighborsClassifierCV
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(40) % 2
    >>> X = rng.normal(size=(40, 4)) + 3.0 * y[:, None]
    >>> HyperplaneKNeighborsClassifierCV(n_neighbors=[1, 5]).fit(X, y).loo_errors_["error"].min() < 0.1
    np.True_
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": ["array-like"],
        "alphas": ["array-like"],
        "no_view": [StrOptions({"raise", "prior"})],
        "view_columns": [dict, None],
    }

    def __init__(
        self,
        n_neighbors: Sequence[int] = (1, 3, 5, 7, 10),
        alphas: Sequence[float] = (0.01, 0.1, 1.0, 10.0),
        *,
        no_view: str = "raise",
        view_columns: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.alphas = alphas
        self.no_view = no_view
        self.view_columns = view_columns

    def fit(self, X: Any, y: Any) -> Self:
        """Find the pair with the least leave-one-out error.

        Parameters
        ----------
        X : Views or anything that Views takes
        y : array-like of shape (n_samples,)
            Classes in any coding; a missing label raises.

        Returns
        -------
        self : HyperplaneKNeighborsClassifierCV
        """
        self._validate_params()
        grid = self._grid()
        self._keep(X, y)
        self._table = self._training.stacked()
        distances = self._tables.left_out(grid)
        codes = np.array([self._codes_of(part) for part in distances])
        errors = (codes != self._codes).mean(axis=1)
        best = int(errors.argmin())
        self.n_neighbors_, self.alpha_ = grid[best]
        self._loo_distances = np.asarray(distances[best]).copy()
        self._pairs, self._errors = np.array(grid, dtype=np.float64), errors
        return self

    def _grid(self) -> list[tuple[int, float]]:
        grid = [(int(k), float(alpha)) for k, alpha in product(np.ravel(self.n_neighbors), np.ravel(self.alphas))]
        if not grid or any(k < 1 or not (np.isfinite(alpha) and alpha >= 0.0) for k, alpha in grid):
            raise ValueError(
                "n_neighbors must hold whole numbers from 1, alphas finite numbers from 0, at least one of each; got "
                f"n_neighbors={self.n_neighbors!r}, alphas={self.alphas!r}."
            )
        return grid

    @property
    def loo_class_distances_(self) -> Array:
        """Squared distances of the training samples from the hyperplanes of the others, with the chosen pair."""
        check_is_fitted(self, "classes_")
        return np.asarray(self._loo_distances)

    @property
    def loo_errors_(self) -> pd.DataFrame:
        """Leave-one-out error of every pair."""
        table = pd.DataFrame(self._pairs, columns=["n_neighbors", "alpha"]).astype({"n_neighbors": int})
        return table.assign(error=self._errors)

    def _parameters(self) -> tuple[int, float]:
        return self.n_neighbors_, self.alpha_
