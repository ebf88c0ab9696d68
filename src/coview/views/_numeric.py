"""Numbers from a table: dtypes and sparsity kept where they are numeric, clear errors where they are not."""

import numbers
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from coview.exceptions import ViewError
from coview.views._tables import Table

__all__ = ["column_kind", "infinite_rows", "to_matrix"]

_NUMERIC_CONTENTS = {"floating", "integer", "integer-na", "mixed-integer-float", "decimal", "boolean", "empty"}
_CHUNK = 2**22  # cells looked at in one go


def to_matrix(table: Table) -> Any:
    """The table as ndarray or csr_array of numbers; nullable and object numbers become float64."""
    values = table.values
    if isinstance(values, pd.DataFrame):
        return _frame_matrix(values, table.name)
    if values.dtype.kind in "iuf":
        return values
    if values.dtype.kind == "b":
        return values.astype(np.float64)
    if values.dtype.kind == "c":
        raise ViewError(f"Complex data not supported: view '{table.name}' has dtype {values.dtype}. Pass real numbers.")
    if sparse.issparse(values):
        return _numeric_sparse(values, table.name)
    frame = pd.DataFrame(values, columns=table.columns)
    return _frame_matrix(frame, table.name)


def _numeric_sparse(values: sparse.csr_array, name: str) -> sparse.csr_array:
    cells = _frame_matrix(pd.DataFrame({"stored values": values.data}), name)[:, 0]
    return sparse.csr_array((cells, values.indices, values.indptr), shape=values.shape)


def _frame_matrix(frame: pd.DataFrame, name: str) -> NDArray[Any]:
    dtypes = frame.dtypes
    if all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in dtypes.unique()):
        return frame.to_numpy()
    refused = _columns_without_numbers(frame)
    if refused:
        listed = ", ".join(f"'{column}' ({kind})" for column, kind in refused[:5])
        more = f" and {len(refused) - 5} more" if len(refused) > 5 else ""
        raise ViewError(
            f"View '{name}' has columns that are not numbers: {listed}{more}. Encode them with "
            "coview.compose.TableEncoder, or leave them out."
        )
    return _floats(frame)


def _floats(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Float64 matrix of columns that hold numbers and gaps of any kind."""
    matrix = np.empty(frame.shape)
    of_objects = np.array([pd.api.types.is_object_dtype(dtype) for dtype in frame.dtypes], dtype=bool)
    if not of_objects.all():
        matrix[:, ~of_objects] = frame.loc[:, ~of_objects].to_numpy(dtype=np.float64, na_value=np.nan)
    for position in np.flatnonzero(of_objects):
        cells: NDArray[Any] = frame.iloc[:, int(position)].to_numpy(copy=True)
        cells[np.asarray(pd.isna(cells), dtype=bool)] = np.nan
        matrix[:, position] = cells.astype(np.float64)
    return matrix


def _columns_without_numbers(frame: pd.DataFrame) -> list[tuple[Any, str]]:
    """Labels of the columns that hold no numbers, and what they hold instead."""
    kinds = {dtype: _kind_of_dtype(dtype) for dtype in frame.dtypes.unique()}
    refused = []
    for position, dtype in enumerate(frame.dtypes):
        kind = kinds[dtype] or column_kind(frame.iloc[:, position])
        if kind != "number":
            refused.append((frame.columns[position], kind))
    return refused


def column_kind(column: pd.Series) -> str:
    """What a column holds: ``"number"`` (truth values too), ``"category"``, ``"text"``, or the name of something else.

    Parameters
    ----------
    column : Series

    Returns
    -------
    kind : str

    Examples
    --------
    >>> column_kind(pd.Series([1, None, 2.5], dtype=object))
    'number'
    >>> column_kind(pd.Series(["low", "high"]))
    'text'
    """
    kind = _kind_of_dtype(column.dtype)
    if kind:
        return kind
    content = pd.api.types.infer_dtype(column, skipna=True)
    if content in _NUMERIC_CONTENTS or all(isinstance(cell, numbers.Real | Decimal) for cell in column.dropna()):
        return "number"
    return {"string": "text", "mixed-integer": "numbers and text"}.get(content, content)


def _kind_of_dtype(dtype: Any) -> str:
    """What a column of this dtype holds; empty for objects, which must be looked at."""
    if isinstance(dtype, pd.CategoricalDtype):
        return "category"
    if pd.api.types.is_object_dtype(dtype):
        return ""
    if pd.api.types.is_string_dtype(dtype):
        return "text"
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        return "number"
    return str(dtype)


def infinite_rows(matrix: Any, rows: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
    """Positions of the rows (among ``rows``, or all) that hold an infinite value."""
    cells = matrix.data if sparse.issparse(matrix) else matrix
    nothing = np.empty(0, dtype=np.intp)
    if cells.dtype.kind != "f":
        return nothing
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(cells)):
            return nothing
    if sparse.issparse(matrix):
        owners = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        infinite = np.unique(owners[np.isinf(cells)])
    else:
        step = max(1, _CHUNK // max(1, matrix.shape[1]))
        found = [np.isinf(matrix[start : start + step]).any(axis=1) for start in range(0, len(matrix), step)]
        infinite = np.flatnonzero(np.concatenate(found)) if found else nothing
    return infinite if rows is None or not infinite.size else np.intersect1d(infinite, rows)
