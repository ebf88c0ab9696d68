"""Row keys: positions, masks and slices become positions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["row_positions"]


def row_positions(key: Any, n_samples: int) -> NDArray[np.intp]:
    """Positions that a key selects out of ``n_samples`` rows; raises for a single row and for ids."""
    if isinstance(key, tuple):
        if len(key) != 2 or key[1] is not Ellipsis:
            raise TypeError("Views are indexed by a view's name, v['ct'], or by rows, v[rows]; columns cannot be cut.")
        key = key[0]
    if isinstance(key, slice):
        return np.arange(n_samples, dtype=np.intp)[key]
    rows = np.asarray(key)
    if rows.ndim == 0:
        raise TypeError(f"A single row {key!r} is not Views; write v[[{key!r}]] for one sample, v['name'] for a view.")
    if rows.ndim != 1:
        raise IndexError(f"Rows must be a one-dimensional list, mask or slice; got shape {rows.shape}.")
    if rows.dtype == bool or (rows.dtype == object and len(rows) and all(isinstance(item, bool) for item in rows)):
        if len(rows) != n_samples:
            raise IndexError(f"The mask has {len(rows)} entries, but there are {n_samples} samples.")
        return np.flatnonzero(rows)
    if not len(rows):
        return np.empty(0, dtype=np.intp)
    if rows.dtype.kind not in "iu":
        raise TypeError(
            f"Rows are taken by position, not by {rows.dtype} labels; write v[v.index.get_indexer(ids)] for sample ids."
        )
    outside = (rows < -n_samples) | (rows >= n_samples)
    if outside.any():
        raise IndexError(f"Row {rows[outside][0]} is out of bounds; there are {n_samples} samples.")
    return rows.astype(np.intp)
