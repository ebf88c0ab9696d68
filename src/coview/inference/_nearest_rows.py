"""Nearest rows of a table, equally distant ones by their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from coview.linalg import as_dense

__all__ = ["least_columns", "nearest_rows", "squared_distance_blocks"]

Array = NDArray[np.float64]
# Distances held at a time: 32 MiB.
_BLOCK_VALUES = 2**22
# Distances by inner products differ by rounding where they are equal; so many digits of them are compared.
_DIGITS = 12
# The least values of a row are looked for below a bound from groups of its columns: so many groups for each, of so many columns
# at most. Rows with so many times more values below it are full of ties.
_GROUPS_PER_LEAST = 16
_LARGEST_GROUP = 32
_CROWDED = 4


def nearest_rows(
    new: Any, rows: Any, n_neighbors: int, *, cosine: bool = False, leave_out_own: bool = False
) -> tuple[NDArray[np.intp], Array]:
    """Positions of the nearest rows and their squared distances.

    Parameters
    ----------
    new : ndarray or sparse array of shape (n_new, n_features)
    rows : ndarray or sparse array of shape (n_rows, n_features)
    n_neighbors : int
        All rows where there are fewer.
    cosine : bool, default=False
        Squared distances by the cosine, as in `squared_distance_blocks`.
    leave_out_own : bool, default=False
        Whether ``new`` are the rows themselves, none of which is its own neighbor.

    Returns
    -------
    neighbors : ndarray of int of shape (n_new, k)
        By distance, then by position: of equally distant rows the first comes first.
    squares : ndarray of shape (n_new, k)
        Squared distances.

    Notes
    -----
    Distances that come from inner products are compared by 12 digits of the squared lengths, so that equal ones tie. Time
    O(n_new n_rows n_features), memory in blocks of 32 MiB.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import nearest_rows
    >>> nearest_rows(np.array([[0.0]]), np.array([[1.0], [-1.0], [0.5]]), 2)[0].tolist()
    [[2, 0]]
    """
    n_new = new.shape[0]
    k = max(min(n_neighbors, rows.shape[0] - leave_out_own), 0)
    neighbors, squares = np.empty((n_new, k), dtype=np.intp), np.empty((n_new, k))
    for part, block, unit in squared_distance_blocks(new, rows, cosine=cosine):
        order = block if unit is None else np.round(block / unit, _DIGITS)
        if leave_out_own:
            order[np.arange(len(block)), np.arange(n_new)[part]] = np.inf
        neighbors[part] = least_columns(order, k)
        squares[part] = np.take_along_axis(block, neighbors[part], axis=1)
    return neighbors, squares


def squared_distance_blocks(
    new: Any, rows: Any, *, cosine: bool = False
) -> Iterator[tuple[slice, Array, Array | None]]:
    r"""Squared distances between two tables, some rows at a time.

    Parameters
    ----------
    new : ndarray or sparse array of shape (n_new, n_features)
    rows : ndarray or sparse array of shape (n_rows, n_features)
    cosine : bool, default=False
        Whether all rows have unit length or are zero, and the squared distance is :math:`2 - 2 x^\top z`: a row of zeros is at
        right angles to all.

    Yields
    ------
    part : slice
        Of the new rows.
    squares : ndarray of shape (n_part, n_rows)
    unit : ndarray of shape (n_part, 1) or None
        What rounding errors are in proportion to. None where differences are taken feature by feature, as they are of dense rows:
        equal distances are then equal numbers, and equal rows have exactly 0.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import squared_distance_blocks
    >>> [squares.tolist() for _, squares, _ in squared_distance_blocks(np.array([[0.0]]), np.array([[1.0], [-2.0]]))]
    [[[1.0, 4.0]]]
    """
    step = max(1, _BLOCK_VALUES // max(1, rows.shape[0]))
    parts = [slice(start, min(start + step, new.shape[0])) for start in range(0, new.shape[0], step)]
    if not (cosine or sparse.issparse(new) or sparse.issparse(rows)):
        for part in parts:
            yield part, cdist(new[part], rows, "sqeuclidean"), None
        return
    own, others = (np.ones(1), np.ones(1)) if cosine else (_squared_lengths(new), _squared_lengths(rows))
    largest = float(others.max(initial=0.0))
    for part in parts:
        mine = own if cosine else own[part, None]
        squares = mine + others - 2.0 * as_dense(new[part] @ rows.T)
        unit = np.broadcast_to(mine + largest, (len(squares), 1))
        yield part, np.maximum(squares, 0.0, out=squares), np.where(unit > 0.0, unit, 1.0)


def _squared_lengths(rows: Any) -> Array:
    squares = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
    return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()


def least_columns(values: Array, k: int) -> NDArray[np.intp]:
    """Columns of the k least values of each row (n_rows, k), by (value, column)."""
    n, m = values.shape
    n_groups = max(_GROUPS_PER_LEAST * k, m // _LARGEST_GROUP)
    if k == 0 or 2 * n_groups > m:
        return _by_partition(values, k)
    # k groups have their least value at or below the bound, so it is passed by the k least values, and by few others.
    size = m // n_groups
    groups = values[:, : size * n_groups].reshape(n, size, n_groups)
    bound = np.partition(groups.min(axis=1), k - 1, axis=1)[:, k - 1 : k]
    row, column = np.divmod(np.flatnonzero(values <= bound), m)
    counts = np.bincount(row, minlength=n)
    tied = counts > _CROWDED * k
    found = np.empty((n, k), dtype=np.intp)
    found[tied] = _by_partition(values[tied], k)
    row, column = row[~tied[row]], column[~tied[row]]
    order = np.lexsort((values[row, column], row))  # columns increase already
    starts = np.cumsum(counts[~tied]) - counts[~tied]
    found[~tied] = column[order[starts[:, None] + np.arange(k)]]
    return found


def _by_partition(values: Array, k: int) -> NDArray[np.intp]:
    if k == 0:
        return np.zeros((len(values), 0), dtype=np.intp)
    limit = np.partition(values, k - 1, axis=1)[:, k - 1 : k]
    chosen = values <= limit
    surplus = np.count_nonzero(chosen, axis=1) - k
    for i in np.flatnonzero(surplus):  # the last of those at the limit go
        chosen[i, np.flatnonzero(values[i] == limit[i])[-surplus[i] :]] = False
    found = np.nonzero(chosen)[1].reshape(len(values), k)
    order = np.argsort(np.take_along_axis(values, found, axis=1), axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1)
