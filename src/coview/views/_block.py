"""The matrix of one view over the samples that have it, gathered from shared memory on first use."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from coview.views._ids import labels_from_plain, plain_labels

__all__ = ["Block", "plain_rows", "read_only", "rows_from_plain"]


class Block:
    """Rows of a source matrix, in the order of the samples that have the view.

    Parameters
    ----------
    source : ndarray or csr_array of shape (n_source, n_features)
        Never modified; shared by all row slices.
    positions : ndarray of shape (n_present,) or None
        Rows of the source that make up the block; None for all, in order.
    columns : Index or None
        Column labels.
    dtype : dtype or None
        Type to convert to when gathered; None keeps that of the source.
    """

    __slots__ = ("_dtype", "_positions", "_source", "_values", "columns")

    def __init__(
        self,
        source: Any,
        positions: NDArray[np.intp] | None = None,
        columns: pd.Index | None = None,
        dtype: Any = None,
    ) -> None:
        self._source = source
        self._positions = positions
        self._dtype: np.dtype[Any] = source.dtype if dtype is None else np.dtype(dtype)
        self._values: Any = None
        self.columns = columns

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self._dtype

    @property
    def is_sparse(self) -> bool:
        """Whether the values are a csr_array."""
        return bool(sparse.issparse(self._source))

    @property
    def n_rows(self) -> int:
        """Number of samples that have the view."""
        return int(self._source.shape[0]) if self._positions is None else len(self._positions)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self._source.shape[1])

    @property
    def values(self) -> Any:
        """The read-only matrix of shape (n_present, n_features)."""
        if self._values is None:
            self._values = read_only(self._gather())
        return self._values

    def _gather(self) -> Any:
        values = self._source
        if self._positions is not None:
            values = values[_as_slice(self._positions)]
        return values.astype(self._dtype, copy=False)

    def take(self, rows: NDArray[np.intp]) -> "Block":
        """Some rows of the block, by position; nothing is gathered yet."""
        positions = rows if self._positions is None else self._positions[rows]
        return Block(self._source, positions, self.columns, self._dtype)

    def astype(self, dtype: Any) -> "Block":
        """The same block in another type; nothing is converted yet."""
        return Block(self._source, self._positions, self.columns, dtype)

    def __getstate__(self) -> dict[str, Any]:
        return {"values": plain_rows(self.values), "columns": plain_labels(self.columns)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._source = read_only(rows_from_plain(state["values"]))
        self._positions = None
        self._dtype = self._source.dtype
        self._values = self._source
        columns = labels_from_plain(state["columns"])
        self.columns = None if columns is None else pd.Index(columns)


def _as_slice(positions: NDArray[np.intp]) -> Any:
    """Neighboring rows as a slice, which copies nothing."""
    if len(positions) and positions[-1] - positions[0] + 1 == len(positions) and np.all(np.diff(positions) == 1):
        return slice(int(positions[0]), int(positions[-1]) + 1)
    return positions


def read_only(matrix: Any) -> Any:
    """The same memory behind a face that refuses to be written."""
    if sparse.issparse(matrix):
        parts = [_locked(part) for part in (matrix.data, matrix.indices, matrix.indptr)]
        locked = sparse.csr_array(tuple(parts), shape=matrix.shape)
        locked.data, locked.indices, locked.indptr = parts
        locked.has_canonical_format = True
        return locked
    return _locked(np.asarray(matrix))


def _locked(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def plain_rows(values: Any) -> Any:
    """Rows as they are stored with a model: arrays as they are, sparse ones as a tuple of arrays.

    Parameters
    ----------
    values : ndarray or sparse array of shape (n_rows, n_features)

    Returns
    -------
    plain : ndarray or tuple
        For `rows_from_plain`.

    Examples
    --------
    >>> from scipy import sparse
    >>> from coview.views import plain_rows, rows_from_plain
    >>> [len(part) for part in plain_rows(sparse.csr_array([[0.0, 2.0]]))]
    [1, 1, 2, 2]
    >>> rows_from_plain(plain_rows(sparse.csr_array([[0.0, 2.0]]))).toarray()
    array([[0., 2.]])
    """
    if not sparse.issparse(values):
        return values
    rows = sparse.csr_array(values)
    return (rows.data, rows.indices, rows.indptr, rows.shape)


def rows_from_plain(plain: Any) -> Any:
    """The rows that `plain_rows` took; raises where they are no proper sparse array.

    Parameters
    ----------
    plain : ndarray or tuple

    Returns
    -------
    values : ndarray or csr_array of shape (n_rows, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from coview.views import rows_from_plain
    >>> rows_from_plain(np.eye(2)).shape
    (2, 2)
    """
    if not isinstance(plain, tuple):
        return plain
    *parts, shape = plain
    values = sparse.csr_array(tuple(parts), shape=shape)
    values.check_format(full_check=True)  # what is not checked here is read out of bounds in compiled code
    return values
