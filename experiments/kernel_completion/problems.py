"""The data: who is positive, which features make a view, and what is removed of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.datasets import fetch, load_heart_disease

__all__ = ["TRAINING_SHARE", "Problem", "Trial", "load_problems"]

TRAINING_SHARE = 0.25
Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]

_FIT = {"reg_covar": 0.01, "n_init": 1, "tol": 1e-3, "max_iter": 100}
# As many components as classes. BIC counts 594 parameters a covariance and from 50 % on chooses one component.
_TWO = {"n_components": 2, **_FIT}
_AUTO = {"n_components": "auto", **_FIT}


@dataclass(frozen=True)
class Trial:
    """Rows, what is left of them, and which of them have a label.

    Attributes
    ----------
    table : ndarray of shape (n, p)
        NaN where a value is missing, in the units of the source.
    complete : ndarray of shape (n, p) or None
        The same rows without gaps, where they are known.
    positive : ndarray of shape (n,), dtype=bool
    train : ndarray of int
        A random quarter of the rows.
    """

    table: Matrix
    complete: Matrix | None
    positive: Mask
    train: NDArray[np.intp]


@dataclass(frozen=True)
class Problem:
    """One data set with the ways in which values go missing.

    Attributes
    ----------
    name : str
        Of the data set.
    title : str
    table : ndarray of shape (n, p)
    positive : ndarray of shape (n,), dtype=bool
    views : tuple of int
        Width of each view.
    settings : mapping of str to callable
        Name of what is missing -> function of ``(rng, n)`` to the views that are there, (n, n_views) bool. Settings of one
        problem see the same stream of random numbers.
    sizes : mapping of str to (int, int)
        For some settings, the positive and negative rows drawn anew in every trial; without, all rows.
    mixture : mapping
        Parameters of the `IncompleteGaussianMixture`, for features of variance 1.
    """

    name: str
    title: str
    table: Matrix
    positive: Mask
    views: tuple[int, ...]
    settings: Mapping[str, Callable[[np.random.Generator, int], Mask]]
    sizes: Mapping[str, tuple[int, int]]
    mixture: Mapping[str, Any]

    def trial(self, setting: str, repeat: int, seed: int) -> Trial:
        """Rows, gaps and partition of one repetition, the same however many there are."""
        rng = np.random.default_rng([seed, repeat])
        rows = np.arange(len(self.table))
        if setting in self.sizes:
            classes = (np.flatnonzero(self.positive), np.flatnonzero(~self.positive))
            chosen = [rng.choice(of, n, replace=False) for of, n in zip(classes, self.sizes[setting], strict=True)]
            rows = np.concatenate(chosen)
        train = np.sort(rng.permutation(len(rows))[: round(TRAINING_SHARE * len(rows))])
        presence = self.settings[setting](rng, len(rows))
        there = np.repeat(presence, self.views, axis=1)
        complete = self.table[rows]
        known = None if np.isnan(complete).any() else complete
        return Trial(np.where(there, complete, np.nan), known, self.positive[rows], train)


def load_problems(data: Path) -> list[Problem]:
    """All problems, in the order of the tables.

    Parameters
    ----------
    data : Path
        The folder of all data sets, as for `coview.datasets.fetch`.

    Returns
    -------
    problems : list of Problem
    """
    return [_ionosphere(data), _heart(), _landmine(data), _satimage(data)]


def _ionosphere(data: Path) -> Problem:
    """Section 3.1: each of the 34 features a view, removed at random."""
    bunch = fetch("uci/ionosphere", data)
    table = bunch.views["features"]
    settings = {f"{percent} % removed": _cells(percent / 100, table.shape[1]) for percent in (10, 30, 50, 70, 90)}
    positive = bunch.target.to_numpy() == "good"
    title = "Ionosphere: 351 rows, 34 features, each a view"
    return Problem("uci/ionosphere", title, table, positive, (1,) * table.shape[1], settings, {}, _TWO)


def _heart() -> Problem:
    """Really missing: whole examinations; kinds are numbered in the order of their list (for the ordered ones a scale)."""
    bunch = load_heart_disease()
    frames = [
        frame.apply(lambda column: column.cat.codes.replace(-1, np.nan) if column.dtype == "category" else column)
        for frame in bunch.frames.values()
    ]
    table = pd.concat(frames, axis=1).reindex(bunch.target.index).to_numpy(dtype=float)
    title = "Heart disease: 920 patients of four hospitals, 13 features in six views, really missing"
    views = tuple(frame.shape[1] for frame in frames)
    positive = bunch.target.to_numpy() == 1
    return Problem("heart_disease", title, table, positive, views, {"as they are": _nothing(len(views))}, {}, _AUTO)


def _landmine(data: Path) -> Problem:
    """One radar of nine features in two views, with the gaps and class sizes of table 1 (there: two sensors of nine each)."""
    bunch = fetch("landmine", data)
    # Moments (4); correlations (3), energy ratio and spatial variance: the order in which their authors list them.
    views = (4, 5)
    settings = {
        "as area A, 32 % missing": _two_views(423, 126, 312),
        "as area B, 17 % missing": _two_views(134, 146, 552),
    }
    sizes = dict(zip(settings, ((93, 768), (139, 693)), strict=True))
    title = "Land mines: one radar, moments (4 features) and the rest (5) as two views"
    positive = bunch.target.to_numpy() == 1
    return Problem("landmine", title, bunch.views["radar"], positive, views, settings, sizes, _AUTO)


def _satimage(data: Path) -> Problem:
    """Four bands for the four sensors of section 3.3, with its class sizes; every row keeps one band."""
    bunch = fetch("satimage", data)
    settings = {f"{percent} % of bands removed": _bands(percent / 100, 4) for percent in (25, 50, 75)}
    table = np.hstack([bunch.views[name] for name in bunch.views.names])
    # Damp grey soil, the rarest kind and hardest to tell.
    positive = bunch.target.to_numpy() == 4
    title = "Satimage: 713 spots, damp grey soil (91) or not, four bands of nine pixels"
    sizes = dict.fromkeys(settings, (91, 622))
    return Problem("satimage", title, table, positive, (9,) * 4, settings, sizes, _AUTO)


def _nothing(n_views: int) -> Callable[[np.random.Generator, int], Mask]:
    """Remove nothing."""
    return lambda rng, n: np.ones((n, n_views), dtype=bool)


def _cells(share: float, n_views: int) -> Callable[[np.random.Generator, int], Mask]:
    """Remove this share of all (row, view) cells; a row may lose everything."""

    def presence(rng: np.random.Generator, n: int) -> Mask:
        order = rng.permutation(n * n_views)
        return (order >= round(share * n * n_views)).reshape(n, n_views)

    return presence


def _bands(share: float, n_views: int) -> Callable[[np.random.Generator, int], Mask]:
    """Remove this share of all (row, view) cells, but never a row's last."""

    def presence(rng: np.random.Generator, n: int) -> Mask:
        order = rng.permutation(n * n_views).reshape(n, n_views).astype(float)
        order[np.arange(n), rng.integers(n_views, size=n)] = np.inf
        removed = np.argsort(order, axis=None)[: round(share * n * n_views)]
        there = np.ones(n * n_views, dtype=bool)
        there[removed] = False
        return there.reshape(n, n_views)

    return presence


def _two_views(first_only: int, second_only: int, both: int) -> Callable[[np.random.Generator, int], Mask]:
    """So many rows with the first view only, the second only, both; which, is random."""

    def presence(rng: np.random.Generator, n: int) -> Mask:
        kinds = np.repeat([[True, False], [False, True], [True, True]], (first_only, second_only, both), axis=0)
        return kinds[rng.permutation(n)]

    return presence
