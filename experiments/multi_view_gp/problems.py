"""The data of table 2 of Liu and Sun: pages of four universities, and radar returns from the ionosphere."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import PCA

from coview.datasets import fetch

__all__ = ["DATASETS", "PUBLISHED", "SAMPLES", "WITH_CLASS", "Problem", "load_problems"]

UNIVERSITIES = ("cornell", "washington", "wisconsin", "texas")
DATASETS = ("webkb_universities", "uci/ionosphere")
IONOSPHERE, WITH_CLASS = "Ionosphere", "Ionosphere, class among the features"
# Accuracies and standard deviations over five repetitions, in percent, as printed.
PUBLISHED: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "Cornell": {
        "GP1": (80.26, 14.52),
        "GP2": (62.56, 7.87),
        "GP3": (77.95, 14.66),
        "SVM-2K": (73.68, 5.04),
        "MvGP1": (85.64, 6.87),
        "MvGP2": (87.18, 5.94),
    },
    "Washington": {
        "GP1": (67.61, 14.71),
        "GP2": (74.78, 1.42),
        "GP3": (73.04, 14.89),
        "SVM-2K": (74.78, 4.38),
        "MvGP1": (86.30, 6.08),
        "MvGP2": (87.18, 5.94),
    },
    "Wisconsin": {
        "GP1": (72.64, 16.02),
        "GP2": (61.51, 6.27),
        "GP3": (75.85, 17.15),
        "SVM-2K": (75.28, 5.75),
        "MvGP1": (91.32, 1.55),
        "MvGP2": (91.32, 2.04),
    },
    "Texas": {
        "GP1": (56.01, 6.32),
        "GP2": (73.52, 12.66),
        "GP3": (62.35, 16.98),
        "SVM-2K": (75.15, 9.44),
        "MvGP1": (78.33, 15.14),
        "MvGP2": (81.29, 10.81),
    },
    IONOSPHERE: {
        "GP1": (84.75, 2.15),
        "GP2": (98.72, 1.37),
        "GP3": (97.87, 4.76),
        "SVM-2K": (99.72, 0.39),
        "MvGP1": (99.29, 1.24),
        "MvGP2": (100.0, 0.0),
    },
}
# Samples, and those of the positive class, of table 1 and section 5.1.
SAMPLES = {
    "Cornell": (195, 83),
    "Washington": (230, 107),
    "Wisconsin": (265, 122),
    "Texas": (187, 103),
    IONOSPHERE: (351, 225),
    WITH_CLASS: (351, 225),
}
_COMPONENTS = 24


@dataclass(frozen=True)
class Problem:
    """Two views and a class.

    Attributes
    ----------
    name : str
    first, second : ndarray of shape (n_samples, p)
        Coordinates with the distances of the features.
    both : ndarray of shape (n_samples, q)
        Of the concatenated views.
    labels : ndarray of shape (n_samples,)
        1 for the positive class, -1 else.
    """

    name: str
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    both: NDArray[np.float64]
    labels: NDArray[np.int64]


def load_problems(data: Path) -> list[Problem]:
    """The five data sets of the paper, and Ionosphere as it may have been read there."""
    return [*(_university(data, name) for name in UNIVERSITIES), *_ionosphere(data)]


def _university(data: Path, name: str) -> Problem:
    """Words of pages and links to them; students against all others. A page without links is a row of zeros, as published."""
    bunch = fetch(f"webkb_universities/{name}", data, empty_rows="observed")
    blocks = [sparse.csr_array(bunch.views[view]).toarray() for view in ("content", "inbound")]
    return _problem(name.capitalize(), *blocks, np.where(bunch.target.to_numpy() == "student", 1, -1))


def _ionosphere(data: Path) -> list[Problem]:
    """34 measurements and their 24 principal components; and 35 columns, of which the last is the class."""
    bunch = fetch("uci/ionosphere", data)
    X = np.asarray(bunch.views[bunch.views.names[0]], dtype=np.float64)
    labels = np.where(np.isin(bunch.target.to_numpy(), ["g", "good"]), 1, -1)
    widened = np.column_stack([X, labels])
    named: list[tuple[str, Any]] = [(IONOSPHERE, X), (WITH_CLASS, widened)]
    return [_problem(name, table, PCA(_COMPONENTS).fit_transform(table), labels) for name, table in named]


def _problem(name: str, first: Any, second: Any, labels: NDArray[Any]) -> Problem:
    both = np.hstack([first, second])
    problem = Problem(name, *(_compact(block) for block in (first, second, both)), labels.astype(np.int64))
    found = len(labels), int((labels == 1).sum())
    if found != SAMPLES[name]:
        raise ValueError(f"{name} must have {SAMPLES[name]} samples and positive ones; got {found}.")
    return problem


def _compact(block: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows turned into the space that they span: fewer columns, the same distances."""
    if block.shape[1] < block.shape[0]:
        return block
    left, values, _ = np.linalg.svd(block, full_matrices=False)
    return np.asarray(left * values)
