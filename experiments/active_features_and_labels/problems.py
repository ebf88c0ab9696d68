"""The data: two sensors, rare positives, objects that only one sensor has seen, few labels."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coview.datasets import fetch

__all__ = ["SENSORS", "Problem", "Start", "load_problems"]

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]

SENSORS = ("first", "second")
# Of the objects, seen by both sensors, by the first alone, by the second alone.
_SHARES = (0.3, 0.35, 0.35)


@dataclass(frozen=True)
class Start:
    """What is known before the first query, and the truth.

    Attributes
    ----------
    tables : tuple of ndarray of shape (n, d_v)
        Complete; both sensors.
    presence : ndarray of shape (n, 2), dtype=bool
    positive : ndarray of shape (n,), dtype=bool
    labeled : ndarray of shape (n,), dtype=bool
    new_tables, new_presence, new_positive
        Objects that cannot be asked about.
    """

    tables: tuple[Matrix, Matrix]
    presence: Mask
    positive: Mask
    labeled: Mask
    new_tables: tuple[Matrix, Matrix]
    new_presence: Mask
    new_positive: Mask


@dataclass(frozen=True)
class Problem:
    """One data set.

    Attributes
    ----------
    name, title : str
    tables : tuple of ndarray of shape (N, d_v)
    positive : ndarray of shape (N,), dtype=bool
    sizes : tuple of int
        Positives and negatives that are drawn, once for the objects and once for new ones.
    agreement : float
        Precision of the agreement of the sensors, set by looking at repetitions 100 to 103, which are not in the tables.
    """

    name: str
    title: str
    tables: tuple[Matrix, Matrix]
    positive: Mask
    sizes: tuple[int, int]
    agreement: float

    def start(self, n_labeled: int, repeat: int, seed: int) -> Start:
        """Rows, gaps and labels of one repetition; the rows and gaps are the same whatever is labeled."""
        rng = np.random.default_rng([seed, repeat])
        drawn = [rng.permutation(np.flatnonzero(self.positive == kind)) for kind in (True, False)]
        halves = []
        for half in range(2):
            rows = np.concatenate([d[half * k : (half + 1) * k] for d, k in zip(drawn, self.sizes, strict=True)])
            halves.append(rng.permutation(rows))
        old, new = halves
        presences = [_presence(rng, len(rows)) for rows in halves]
        mean = [np.mean(table[old], axis=0) for table in self.tables]
        sd = [np.std(table[old], axis=0) for table in self.tables]
        tables = [
            tuple((t[rows] - m) / np.where(s > 0.0, s, 1.0) for t, m, s in zip(self.tables, mean, sd, strict=True))
            for rows in halves
        ]
        labeled = np.zeros(len(old), dtype=bool)
        order = rng.permutation(len(old))
        positives = order[self.positive[old[order]]]
        least = max(3, round(n_labeled * len(positives) / len(old)))  # as rare as they are
        labeled[positives[:least]] = True
        labeled[order[~self.positive[old[order]]][: n_labeled - least]] = True
        return Start(tables[0], presences[0], self.positive[old], labeled, tables[1], presences[1], self.positive[new])


def _presence(rng: np.random.Generator, n: int) -> Mask:
    """Who was seen by which sensor."""
    kind = rng.choice(3, size=n, p=_SHARES)
    return np.column_stack([kind != 2, kind != 1])


def load_problems(data: Path) -> list[Problem]:
    """Both data sets, positives as rare as mines."""
    spots, digits = fetch("satimage", data), fetch("mfeat", data)
    bands = [np.asarray(spots.views[f"band{band}"], dtype=float) for band in (1, 2, 3, 4)]
    shapes, moments = (np.asarray(digits.views[name], dtype=float) for name in ("fou", "zer"))
    return [
        Problem(
            "satimage",
            "Satimage: visible bands (18 features) and infrared bands (18), red soil sought",
            (np.hstack(bands[:2]), np.hstack(bands[2:])),
            np.asarray(spots.target) == 1,
            (40, 260),
            0.01,
        ),
        Problem(
            "mfeat",
            "Handwritten digits: Fourier coefficients (76 features) and Zernike moments (47), digit 3 sought",
            (shapes, moments),
            np.asarray(digits.target) == 3,
            (40, 260),
            0.1,
        ),
    ]
