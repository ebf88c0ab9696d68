"""Missing views of a row filled from the nearest rows that have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coview.kernels._per_view import squared_distances

__all__ = ["ViewCompletion"]

_BLOCK_ROWS = 512
_MEDIAN_ROWS = 1000


@dataclass(frozen=True)
class ViewCompletion:
    """Fills a missing view by its mean over the nearest training rows that have it.

    The distance between two rows is the mean, over the views that both have, of the squared Euclidean distance divided by
    its median over pairs of training rows. Where no donor shares a view, the mean of all donors is taken. A training row is
    never a donor of a view that it lacks, so a training row seen again is completed as it was in training.

    Attributes
    ----------
    blocks : sequence of ndarray or sparse matrix of shape (n_j, p_j)
        Donors: the training rows that have each view.
    presence : ndarray of shape (n_samples, n_views), dtype=bool
    medians : ndarray of shape (n_views,)
        Median of the nonzero squared distances of each view.
    n_neighbors : int
    """

    blocks: Sequence[Any]
    presence: NDArray[np.bool_]
    medians: NDArray[np.float64]
    n_neighbors: int = 5

    @classmethod
    def of(
        cls, blocks: Sequence[Any], presence: NDArray[np.bool_], random_state: np.random.RandomState
    ) -> ViewCompletion:
        """Measure the views' scales; medians come from at most 1,000 seeded rows."""
        medians = np.ones(len(blocks))
        for j, block in enumerate(blocks):
            n = block.shape[0]
            rows = block if n <= _MEDIAN_ROWS else block[np.sort(random_state.choice(n, _MEDIAN_ROWS, replace=False))]
            distances = squared_distances(rows, rows)[np.triu_indices(rows.shape[0], 1)]
            distances = distances[distances > 0.0]
            if distances.size:
                medians[j] = np.median(distances)
        return cls(blocks, presence, medians)

    def complete(
        self, blocks: Sequence[Any], presence: NDArray[np.bool_], own: NDArray[np.intp] | None = None
    ) -> list[Any]:
        """Every view of every row (n_new, p_j): as given where present, filled elsewhere.

        A view that no training row has stays as given, zero where missing. ``own`` (n_new,) holds the donor that each row
        is itself, of which it takes nothing, or -1.
        """
        own = np.full(len(presence), -1) if own is None else own
        completed = []
        for j, block in enumerate(blocks):
            missing = np.flatnonzero(~presence[:, j])
            order = np.argsort(np.concatenate([np.flatnonzero(presence[:, j]), missing]), kind="stable")
            filled = self._filled(j, blocks, presence, missing, own)
            if sp.issparse(block) or sp.issparse(filled):
                completed.append(sp.csr_array(sp.vstack([sp.csr_array(block), sp.csr_array(filled)]))[order])
            else:
                completed.append(np.concatenate([np.asarray(block, dtype=np.float64), filled])[order])
        return completed

    def _filled(
        self,
        j: int,
        blocks: Sequence[Any],
        presence: NDArray[np.bool_],
        missing: NDArray[np.intp],
        own: NDArray[np.intp],
    ) -> Any:
        """View j of the rows that miss it (n_missing, p_j)."""
        donors = self.blocks[j]
        if not donors.shape[0] or not missing.size:
            return np.zeros((missing.size, donors.shape[1]))
        parts = []
        for start in range(0, missing.size, _BLOCK_ROWS):
            rows = missing[start : start + _BLOCK_ROWS]
            parts.append(self._averaging(j, blocks, presence, rows, own[rows]) @ donors)
        return sp.vstack(parts) if sp.issparse(parts[0]) else np.concatenate(parts)

    def _averaging(
        self,
        j: int,
        blocks: Sequence[Any],
        presence: NDArray[np.bool_],
        rows: NDArray[np.intp],
        own: NDArray[np.intp],
    ) -> sp.csr_array:
        """Weights of the donors of view j for ``rows`` (n_rows, n_j), rows summing to one."""
        distances = self._distances(j, blocks, presence, rows)
        itself = own[:, None] == np.flatnonzero(self.presence[:, j])
        distances[itself] = np.inf
        weights = np.zeros(distances.shape)
        position = np.arange(rows.size)
        # One search for each neighbor: the first of equal ones, as a stable sort would give, at a tenth of its cost.
        for _ in range(min(self.n_neighbors, distances.shape[1])):
            nearest = distances.argmin(axis=1)
            usable = np.isfinite(distances[position, nearest])
            weights[position[usable], nearest[usable]] = 1.0
            distances[position, nearest] = np.inf
        lost = ~weights.any(axis=1)
        weights[lost] = ~itself[lost]
        weights[~weights.any(axis=1)] = 1.0  # the only donor is the row itself
        return sp.csr_array(weights / weights.sum(axis=1, keepdims=True))

    def _distances(
        self, j: int, blocks: Sequence[Any], presence: NDArray[np.bool_], rows: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Distance of ``rows`` to the donors of view j; infinite without a common view (n_rows, n_j)."""
        donors = np.flatnonzero(self.presence[:, j])
        total, count = np.zeros((rows.size, donors.size)), np.zeros((rows.size, donors.size))
        for k, block in enumerate(blocks):
            here = np.flatnonzero(presence[rows, k])
            there = np.flatnonzero(self.presence[donors, k])
            if k == j or not here.size or not there.size:
                continue
            left = block[np.searchsorted(np.flatnonzero(presence[:, k]), rows[here])]
            right = self.blocks[k][np.searchsorted(np.flatnonzero(self.presence[:, k]), donors[there])]
            grid = np.ix_(here, there)
            total[grid] += squared_distances(left, right) / self.medians[k]
            count[grid] += 1.0
        return np.divide(total, count, out=np.full_like(total, np.inf), where=count > 0.0)
