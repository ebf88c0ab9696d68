"""Distances from the local hyperplanes of all classes, for samples with any of the views."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from coview.inference import hyperplane_distances, missingness_patterns, nearest_rows

__all__ = ["ClassTables"]

Array = NDArray[np.float64]


class ClassTables:
    """Training samples by class: for a combination of views, those that have all of it, side by side.

    Parameters
    ----------
    table : ndarray of shape (n_samples, n_features)
        All views side by side, NaN where one is missing.
    presence : ndarray of shape (n_samples, n_views)
    view_of_feature : ndarray of int of shape (n_features,)
    codes : ndarray of int of shape (n_samples,)
    n_classes : int
    """

    def __init__(
        self,
        table: Array,
        presence: NDArray[np.bool_],
        view_of_feature: NDArray[np.intp],
        codes: NDArray[np.int64],
        n_classes: int,
    ) -> None:
        self.table, self.presence, self.view_of_feature = table, presence, view_of_feature
        self.codes, self.n_classes = codes, n_classes

    def distances(
        self, new: Array, presence: NDArray[np.bool_], n_neighbors: int, alpha: float, *, penalized: bool = True
    ) -> Array:
        """Squared distances from the classes (n_new, n_classes); infinite from a class that nobody has in these views."""
        result = np.full((len(new), self.n_classes), np.inf)
        for rows, columns, c, members in self._parts(presence):
            samples, table = new[np.ix_(rows, columns)], self.table[np.ix_(members, columns)]
            neighbors, _ = nearest_rows(samples, table, n_neighbors)
            found = hyperplane_distances(samples, table, neighbors, alpha)
            result[rows, c] = found.penalized if penalized else found.residual
        return result

    def left_out(self, grid: list[tuple[int, float]]) -> Array:
        """The same of the training samples without themselves, for every pair of (n_neighbors, alpha): neighbors are found once.

        Returns an array of shape (n_pairs, n_samples, n_classes).
        """
        most = max(k for k, _ in grid)
        result = np.full((len(grid), len(self.table), self.n_classes), np.inf)
        for rows, columns, c, members in self._parts(self.presence):
            samples, table = self.table[np.ix_(rows, columns)], self.table[np.ix_(members, columns)]
            neighbors, _ = nearest_rows(samples, table, most + 1)
            neighbors = _without_self(neighbors, rows, members, most)
            for g, (k, alpha) in enumerate(grid):
                result[g, rows, c] = _of_others(samples, table, neighbors[:, :k], alpha)
        return result

    def _parts(
        self, presence: NDArray[np.bool_]
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], int, NDArray[np.intp]]]:
        """Per combination of views and class: rows that have it, their features, the class, its members that have all of it."""
        seen = self.presence.any(axis=0)  # a view that nobody had compares with nothing
        for pattern in missingness_patterns(np.asarray(presence & seen)):
            if not len(pattern.observed):
                continue
            columns = np.flatnonzero(np.isin(self.view_of_feature, pattern.observed))
            able = self.presence[:, pattern.observed].all(axis=1)
            for c in range(self.n_classes):
                members = np.flatnonzero(able & (self.codes == c))
                if len(members):
                    yield pattern.rows, columns, c, members


def _without_self(
    neighbors: NDArray[np.intp], rows: NDArray[np.intp], members: NDArray[np.intp], most: int
) -> NDArray[np.intp]:
    """Neighbors but the sample itself; -1 where a class has no more."""
    own = members[neighbors] == rows[:, None]
    order = np.argsort(own, axis=1, kind="stable")
    moved = np.take_along_axis(np.where(own, -1, neighbors), order, axis=1)
    keep = min(most, neighbors.shape[1])
    return np.asarray(moved[:, :keep])


def _of_others(samples: Array, table: Array, neighbors: NDArray[np.intp], alpha: float) -> Array:
    """Penalized distances where some samples have one neighbor less."""
    short = (neighbors < 0).any(axis=1)
    result = np.empty(len(samples))
    result[~short] = hyperplane_distances(samples[~short], table, neighbors[~short], alpha).penalized
    result[short] = hyperplane_distances(samples[short], table, neighbors[short][:, :-1], alpha).penalized
    return result
