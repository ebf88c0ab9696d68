"""One table from whatever holds it: array, sparse matrix, pandas, polars, arrow, AnnData."""

from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from narwhals import dependencies
from scipy import sparse

from coview.exceptions import ViewError
from coview.views._tables import Table

__all__ = ["is_annotated", "is_frame", "is_multimodal", "to_table"]


def is_multimodal(source: Any) -> bool:
    """Whether this is a ``MuData``; told by its class, so that the package need not be installed."""
    return _is_instance_by_name(source, "mudata", "MuData")


def is_annotated(source: Any) -> bool:
    """Whether this is an ``AnnData``."""
    return _is_instance_by_name(source, "anndata", "AnnData")


def _is_instance_by_name(source: Any, package: str, name: str) -> bool:
    return any(base.__name__ == name and base.__module__.split(".")[0] == package for base in type(source).__mro__)


def is_frame(source: Any) -> bool:
    """Whether this is a data frame of any library, eager or lazy."""
    return isinstance(source, pd.DataFrame) or bool(dependencies.is_into_dataframe(source)) or _is_lazy(source)


def _is_lazy(source: Any) -> bool:
    return bool(
        dependencies.is_polars_lazyframe(source)
        or dependencies.is_dask_dataframe(source)
        or dependencies.is_duckdb_relation(source)
    )


def to_table(source: Any, name: str) -> Table:
    """Read one two-dimensional source as a table, without copying where its cells can stay."""
    if isinstance(source, pd.Series):
        source = source.to_frame()
    if isinstance(source, pd.DataFrame):
        return _pandas_table(source, name)
    if is_annotated(source):
        return _annotated_table(source, name)
    if is_frame(source):
        return _foreign_table(source, name)
    if sparse.issparse(source):
        return Table(name, _as_csr(source, name))
    return Table(name, _as_array(source, name))


def _pandas_table(frame: pd.DataFrame, name: str) -> Table:
    is_sparse = [isinstance(dtype, pd.SparseDtype) for dtype in frame.dtypes.unique()]
    if not any(is_sparse):
        return Table(name, frame, frame.columns, frame.index)
    if not all(is_sparse):
        raise ViewError(f"View '{name}' mixes sparse and dense columns. Make all columns of a view sparse, or none.")
    fills = {dtype.fill_value for dtype in frame.dtypes.unique()}
    if fills != {0}:
        raise ViewError(
            f"The sparse columns of view '{name}' are filled with {sorted(map(str, fills))}; only 0 can stay sparse. "
            "Convert them with fill_value=0, or to dense columns."
        )
    return Table(name, _as_csr(cast(Any, frame).sparse.to_coo(), name), frame.columns, frame.index)


def _annotated_table(annotated: Any, name: str) -> Table:
    values = annotated.to_memory().X if getattr(annotated, "isbacked", False) else annotated.X
    if values is None:
        raise ViewError(
            f"View '{name}' is an AnnData without X. Put the layer or obsm to use into X, or pass it alone."
        )
    table = to_table(values, name)
    return Table(name, table.values, pd.Index(annotated.var_names), pd.Index(annotated.obs_names))


def _foreign_table(source: Any, name: str) -> Table:
    """Read a polars, arrow or other frame; such frames have no row index, so no sample ids."""
    if _is_lazy(source):
        raise ViewError(f"View '{name}' is a lazy frame ({type(source).__name__}). Collect it first.")
    frame = nw.from_native(source, eager_only=True)
    columns = pd.Index(frame.columns)
    plain = all(dtype.is_numeric() and dtype != nw.Decimal for dtype in frame.schema.values())
    if plain and frame.columns and not any(series.null_count() for series in frame.iter_columns()):
        return Table(name, np.asarray(frame.to_numpy()), columns)
    converted = pd.DataFrame({place: _pandas_column(series) for place, series in enumerate(frame.iter_columns())})
    if not frame.columns:
        converted = pd.DataFrame(index=range(len(frame)))
    converted.columns = columns
    return Table(name, converted, columns)


def _pandas_column(series: Any) -> Any:
    """One narwhals series as pandas would hold it: gaps as NaN or None, categories as categories."""
    if series.dtype in (nw.Categorical, nw.Enum):
        return pd.Categorical(series.cast(nw.String).to_list())
    if series.dtype in (nw.String, nw.Boolean, nw.Decimal, nw.Object):
        return (
            pd.Series(series.to_list(), dtype=object).convert_dtypes()
            if series.dtype == nw.Boolean
            else series.to_list()
        )
    if series.dtype.is_numeric() and series.null_count():
        return series.cast(nw.Float64).to_numpy().astype(np.float64)
    return series.to_numpy()


def _as_csr(matrix: Any, name: str) -> sparse.csr_array:
    """Canonical CSR with 32-bit indices where they fit, sharing memory with the source where it already is that."""
    if matrix.ndim != 2:
        raise ViewError(f"View '{name}' must be two-dimensional; got a sparse array of {matrix.ndim} dimension.")
    csr = sparse.csr_array(matrix)
    if not csr.has_canonical_format:
        csr = csr.copy() if np.shares_memory(csr.data, getattr(matrix, "data", csr.data)) else csr
        csr.sum_duplicates()
    largest = np.iinfo(np.int32).max
    if csr.indices.dtype != np.int32 and csr.nnz <= largest and csr.shape[1] <= largest:
        csr = sparse.csr_array((csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int32)), shape=csr.shape)
    csr.has_canonical_format = True
    return csr


def _as_array(source: Any, name: str) -> Any:
    if isinstance(source, np.ma.MaskedArray):
        source = np.ma.filled(source.astype(np.float64), np.nan)
    if isinstance(source, str | bytes | dict) or not (hasattr(source, "__len__") or hasattr(source, "__array__")):
        raise ViewError(
            f"View '{name}' must be an array, a sparse matrix or a data frame; got {type(source).__name__}."
        )
    try:
        array = np.asarray(source)
    except ValueError as error:
        raise ViewError(f"View '{name}' is not a table: its rows differ in length ({error}).") from error
    if array.dtype.kind in "US" and not isinstance(source, np.ndarray):
        array = np.array(source, dtype=object)  # a nested list keeps its numbers beside its text
    if array.ndim == 1:
        raise ViewError(
            f"View '{name}' must be two-dimensional; got shape {array.shape}. Reshape your data: array.reshape(-1, 1) "
            "if it is one feature, array.reshape(1, -1) if it is one sample."
        )
    if array.ndim != 2:
        raise ViewError(f"View '{name}' must be two-dimensional; got {array.ndim} dimensions, shape {array.shape}.")
    return array
