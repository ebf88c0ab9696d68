"""Objects described by several representations: proteins, handwritten digits, photographs."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from coview.datasets import fetch

__all__ = ["NAMES", "Problem", "load", "removed", "squares_of", "standardized"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Presence = NDArray[np.bool_]

# Features from which products of matrices are the faster way.
_WIDE = 40

NAMES = ("protein_folds", "mfeat", "msrc_v1")


@dataclass(frozen=True)
class Problem:
    """Samples and their classes.

    Attributes
    ----------
    name : str
    blocks : dict of str to ndarray of shape (n_samples, n_features)
        Representations, all complete.
    codes : ndarray of int of shape (n_samples,)
        Numbers of the classes.
    n_repeated : int
        Samples that were left out because another one equals them in every representation.
    """

    name: str
    blocks: dict[str, Array]
    codes: Codes
    n_repeated: int

    def some(self, rows: NDArray[np.intp]) -> "Problem":
        """Some of the samples."""
        return Problem(self.name, {name: block[rows] for name, block in self.blocks.items()}, self.codes[rows], 0)


def load(name: str, data: Path) -> Problem:
    """A data set; of samples that are equal in every representation only the first.

    A copy in the training part would be a neighbor at distance 0.
    """
    bunch = fetch(name, data)
    blocks = {view: np.asarray(bunch.views[view], dtype=np.float64) for view in bunch.views.names}
    _, codes = np.unique(bunch.target.to_numpy(), return_inverse=True)
    _, first = np.unique(np.hstack(list(blocks.values())), axis=0, return_index=True)
    found = Problem(name, blocks, np.asarray(codes, dtype=np.int64), 0).some(np.sort(first))
    return Problem(name, found.blocks, found.codes, len(codes) - len(first))


def removed(shape: tuple[int, int], share: float, rng: np.random.Generator) -> Presence:
    """Which representations (n_samples, n_views) are left when a share of the cells is taken away at random.

    Every sample keeps at least one.
    """
    presence = np.ones(shape, dtype=bool)
    left = round(share * presence.size)
    for cell in rng.permutation(presence.size):
        row, view = divmod(int(cell), shape[1])
        if left and presence[row].sum() > 1:
            presence[row, view] = False
            left -= 1
    return presence


def standardized(block: Array, known: Iterable[int]) -> Array:
    """Features of mean 0 and deviation 1 on the known rows."""
    rows = np.asarray(known)
    spread = block[rows].std(axis=0)
    return np.asarray((block - block[rows].mean(axis=0)) / np.where(spread > 0.0, spread, 1.0))


def squares_of(block: Array, columns: NDArray[np.intp]) -> Array:
    """Squared distances of all rows from some of them (n_rows, n_columns); of wide tables by products of matrices."""
    if block.shape[1] < _WIDE:
        return np.asarray(cdist(block, block[columns], "sqeuclidean"))
    centered = block - block.mean(axis=0)
    norms = np.einsum("ij,ij->i", centered, centered)
    squares = centered @ centered[columns].T
    squares *= -2.0
    squares += norms[:, None]
    squares += norms[columns]
    squares[columns, np.arange(len(columns))] = 0.0
    return np.maximum(squares, 0.0, out=squares)
