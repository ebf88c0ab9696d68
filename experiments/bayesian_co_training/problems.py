"""The two problems of section 6.2 of "Bayesian Co-Training": Citeseer (table 1) and WebKB (table 2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from coview import Views
from coview.datasets import fetch

__all__ = [
    "BAYESIAN",
    "CONCATENATED",
    "CO_TRAINED",
    "DATASETS",
    "READINGS",
    "ZERO_VECTOR",
    "Problem",
    "label_draws",
    "load_problem",
]

DATASETS = ("citeseer", "webkb6")
# How an empty row of links is read -> what `coview.datasets.fetch` calls that.
ZERO_VECTOR, MISSING_VIEW = "zero vector", "missing view"
READINGS = {ZERO_VECTOR: "observed", MISSING_VIEW: "missing"}

CONCATENATED = "text and links side by side"
CO_TRAINED = "co-trained GP logistic regression"
BAYESIAN = "Bayesian co-training"


@dataclass(frozen=True)
class Problem:
    """One class against another, views, and what the paper printed.

    Attributes
    ----------
    name : str
        Of the data set.
    title : str
        Of the paper's table.
    views : dict of str to Views
        By the reading of empty rows; same samples, same values.
    positive : ndarray of shape (n_samples,), dtype=bool
        The class that F1 is about.
    sizes : tuple of (int, int)
        Labeled positive and negative samples.
    view_names : dict of str to str
        View -> its name in the paper's table.
    published : DataFrame
        ``setting, method, metric, value, sd``.
    """

    name: str
    title: str
    views: Mapping[str, Views]
    positive: NDArray[np.bool_]
    sizes: tuple[tuple[int, int], ...]
    view_names: Mapping[str, str]
    published: pd.DataFrame

    def unit_rows(self, reading: str) -> Views:
        """The views with every row brought to unit length; empty rows stay as the reading has them."""
        filled = self.views[ZERO_VECTOR]
        blocks = {name: normalize(filled[name]) for name in filled.names}
        return Views(blocks, presence=self.views[reading].presence)

    def draws(self, repeats: int, seed: int) -> dict[tuple[int, int], list[NDArray[np.intp]]]:
        """Labeled samples of every repetition, by the number of labels."""
        return {size: label_draws(self.positive, size, repeats, seed) for size in self.sizes}


def label_draws(positive: NDArray[np.bool_], size: tuple[int, int], repeats: int, seed: int) -> list[NDArray[np.intp]]:
    """Random samples of each class to be labeled, positive ones first.

    Repetition r is the same however many there are, and what is labeled with few labels is also labeled with more.

    Parameters
    ----------
    positive : ndarray of shape (n_samples,), dtype=bool
    size : (int, int)
        Positive and negative samples to draw.
    repeats, seed : int

    Returns
    -------
    draws : list of ndarray
        Positions.
    """
    draws = []
    for repeat in range(repeats):
        rng = np.random.default_rng([seed, repeat])
        classes = [rng.permutation(np.flatnonzero(positive == value)) for value in (True, False)]
        draws.append(np.concatenate([rows[:count] for rows, count in zip(classes, size, strict=True)]))
    return draws


def load_problem(name: str, data: Path) -> Problem:
    """Read one of the two problems.

    Parameters
    ----------
    name : {"citeseer", "webkb6"}
    data : Path
        The folder of all data sets, as for `coview.datasets.fetch`.

    Returns
    -------
    problem : Problem
    """
    bunches = {reading: fetch(name, data, empty_rows=rows) for reading, rows in READINGS.items()}
    first = bunches[ZERO_VECTOR]
    labels = first.target.to_numpy()
    if name == "citeseer":
        title, sizes, (rows, positive) = "Table 1, Citeseer", ((2, 10), (4, 20)), _largest_against_rest(labels)
        view_names = {view: view for view in first.views.names}
    else:
        title, sizes, (rows, positive) = "Table 2, WebKB", ((2, 2), (4, 4)), _faculty_against_student(labels)
        view_names = {"text": "text", "anchor": "inbound"}
    views = {reading: bunch.views[rows] for reading, bunch in bunches.items()}
    return Problem(name, title, views, positive, sizes, view_names, first.published)


def _largest_against_rest(labels: NDArray[np.object_]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """All samples, and whether they are of the largest class."""
    largest = pd.Series(labels).value_counts().index[0]
    return np.arange(len(labels)), labels == largest


def _faculty_against_student(labels: NDArray[np.object_]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Pages of students and faculty, and whether they are of faculty.

    The paper does not say which class F1 is about. The link view, which knows next to nothing, prints 0.576: the F1 of calling
    everyone faculty is 0.577, of calling everyone a student 0.746.
    """
    rows = np.flatnonzero((labels == "student") | (labels == "faculty"))
    return rows, labels[rows] == "faculty"
