"""How sure the regressor of a view is of a number: does it bring the labels nearby closer, do members of a committee agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from coview.views import Views

__all__ = ["NumberLearners", "agreement", "error_reduction"]

Array = NDArray[np.float64]

# What was checked once need not be checked in every one of many small fits.
_CHECKED = {"assume_finite": True, "skip_parameter_validation": True}
# Changes of squared errors by less than this share of them are rounding.
_ROUNDING = 1e-10


def error_reduction(
    learner: Any, block: Any, labeled: NDArray[np.intp], y: Array, rows: NDArray[np.intp], k: int
) -> Array:
    r"""By how much labels nearby are met better once the regressor has learned its own prediction of a sample.

    Parameters
    ----------
    learner : fitted regressor
        Fitted to the labeled rows. Where it has ``kneighbors``, these are the neighbors; otherwise the Euclidean ones.
    block : ndarray or csr_array of shape (n_present, n_features)
    labeled : ndarray of shape (n_labeled,)
        Rows of the block with labels.
    y : ndarray of shape (n_labeled,)
    rows : ndarray of shape (n_rows,)
        Rows of the block without labels.
    k : int
        Number of neighbors, at most the number of labels.

    Returns
    -------
    reduction : ndarray of shape (n_rows,)
        In squared units of y.

    Notes
    -----
    Zhou and Li (2005), equation (2): :math:`\sum_{i \in \Omega_u} (y_i - h(x_i))^2 - (y_i - h'(x_i))^2`, where :math:`\Omega_u`
    are the labeled neighbors of u, and h' is h fitted to :math:`(x_u, h(x_u))` as well. One fit per row.
    """
    k = min(k, labeled.size)
    with config_context(**_CHECKED):
        told = np.asarray(learner.predict(block[rows]), dtype=np.float64)
        errors = (y - learner.predict(block[labeled])) ** 2
        searcher = learner if hasattr(learner, "kneighbors") else NearestNeighbors(n_neighbors=k).fit(block[labeled])
        neighbors = searcher.kneighbors(block[rows], n_neighbors=k, return_distance=False)
        reduction = np.empty(rows.size)
        for number, (row, nearby) in enumerate(zip(rows, neighbors, strict=True)):
            other = clone(learner).fit(block[np.append(labeled, row)], np.append(y, told[number]))
            before = errors[nearby].sum()
            after = ((y[nearby] - other.predict(block[labeled[nearby]])) ** 2).sum()
            reduction[number] = before - after if abs(before - after) > _ROUNDING * (before + after) else 0.0
    return reduction


def agreement(
    learner: Any, block: Any, labeled: NDArray[np.intp], y: Array, rows: NDArray[np.intp], *, members: int, seed: int
) -> Array:
    r"""How well regressors that are fitted to drawn labels agree on samples.

    Parameters
    ----------
    learner : regressor
        Copied.
    block : ndarray or csr_array of shape (n_present, n_features)
    labeled : ndarray of shape (n_labeled,)
        Rows of the block with labels.
    y : ndarray of shape (n_labeled,)
    rows : ndarray of shape (n_rows,)
        Rows of the block without labels.
    members : int
        Number of regressors.
    seed : int
        Of the draws with replacement.

    Returns
    -------
    variance : ndarray of shape (n_rows,)
        Of the members' predictions, in squared units of y: the ambiguity of Krogh and Vedelsby (1995), equation (3).
    """
    rng = np.random.RandomState(seed)
    told = np.empty((members, rows.size))
    with config_context(**_CHECKED):
        for member in range(members):
            drawn = rng.randint(labeled.size, size=labeled.size)
            told[member] = clone(learner).fit(block[labeled[drawn]], y[drawn]).predict(block[rows])
    return np.asarray(told.var(axis=0))


class NumberLearners:
    """Fits of the views' regressors to numbers, and how sure these are; nothing is computed twice for the same labels.

    Parameters
    ----------
    templates : mapping of str to regressor
        Of every view.
    views : Views
    n_neighbors : int
        How many labels nearby `error_reduction` looks at.
    members : int
        Size of the committees; 0 for `error_reduction`.
    spread : float
        Variance of the given labels, beside which that within a committee is small or large.
    seeds : ndarray of shape (n_views,)
        Of the committees.
    """

    def __init__(
        self,
        templates: Mapping[str, Any],
        views: Views,
        *,
        n_neighbors: int,
        members: int,
        spread: float,
        seeds: NDArray[np.int64],
    ) -> None:
        self._templates, self._views = templates, views
        self._n_neighbors, self._members, self._spread, self._seeds = n_neighbors, members, spread, seeds
        self._kept: dict[str, tuple[Array, Any]] = {}
        self._sure = {name: np.full((2, len(views)), np.nan) for name in views.names}

    def learner(self, view: int, numbers: Array) -> Any:
        """The fitted regressor; None without labels."""
        name = self._views.names[view]
        here = numbers[self._views.rows(name)]
        if name not in self._kept or not np.array_equal(self._kept[name][0], here, equal_nan=True):
            labeled = np.flatnonzero(~np.isnan(here))
            fitted = None
            if labeled.size:
                fitted = clone(self._templates[name]).fit(self._views[name][labeled], here[labeled])
            self._kept[name] = here.copy(), fitted
            self._sure[name][:] = np.nan
        return self._kept[name][1]

    def judge(self, view: int, numbers: Array, samples: NDArray[np.intp]) -> tuple[Array, Array] | None:
        """Predictions for samples that have the view, and how sure the regressor is of them."""
        learner = self.learner(view, numbers)
        if learner is None:
            return None
        name = self._views.names[view]
        present = self._views.rows(name)
        kept = self._sure[name]
        new = samples[np.isnan(kept[0, samples])]
        if new.size:
            rows, block = np.searchsorted(present, new), self._views[name]
            labeled = np.flatnonzero(~np.isnan(numbers[present]))
            y = numbers[present][labeled]
            kept[0, new] = learner.predict(block[rows])
            if self._members:
                spread = agreement(learner, block, labeled, y, rows, members=self._members, seed=int(self._seeds[view]))
                kept[1, new] = 1.0 - spread / self._spread if self._spread > 0.0 else 1.0
            else:
                kept[1, new] = error_reduction(learner, block, labeled, y, rows, self._n_neighbors)
        return kept[0, samples], kept[1, samples]

    def fitted(self, labels: Array) -> dict[str, Any]:
        """Fitted regressors of the views that have labels."""
        found = {name: self.learner(view, labels[view]) for view, name in enumerate(self._views.names)}
        return {name: learner for name, learner in found.items() if learner is not None}
