"""NumPy archives: dense arrays of numbers, or one sparse matrix as SciPy saves it, with ids and names beside them."""

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from coview.exceptions import ViewError
from coview.files._cell_findings import find_infinite
from coview.files._contents import FileTable
from coview.files._read_options import ReadOptions
from coview.files._typed import named_columns, numbers_frame, typed_ids
from coview.views import Finding, some

__all__ = ["read_array", "table_arrays"]

_SPARSE = {"format", "shape", "data"}
_ID_NAMES = ("ids", "id", "index", "samples", "sample_ids", "obs_names", "row_names", "rows")
_COLUMN_NAMES = ("columns", "features", "feature_names", "var_names", "column_names", "names")


def table_arrays(path: Path) -> list[str]:
    """Names of the two-dimensional arrays of numbers in an archive; empty for a sparse matrix. Reads headers only."""
    headers = _headers(path)
    if set(headers) >= _SPARSE:
        return []
    return [name for name, (shape, dtype) in headers.items() if len(shape) == 2 and dtype.kind in "biuf"]


def read_array(path: Path, sheet: str | None, options: ReadOptions, name: str) -> FileTable:
    """Read one array of an archive; see ``read_table``."""
    headers = _headers(path)
    if set(headers) >= _SPARSE:
        if sheet is not None:
            raise ViewError(
                f"{path} holds one sparse matrix, so '{sheet}' cannot be chosen in it. Leave out '#{sheet}'."
            )
        matrix = _load_sparse(path)
        chosen = None
    else:
        chosen = _choose(path, table_arrays(path), headers, sheet)
        matrix = _load(path, chosen)
        if matrix.dtype == bool:
            matrix = matrix.astype(np.float64)
    id_names = (*([options.id_column] if options.id_column else []), *_ID_NAMES)
    ids = _beside(path, headers, chosen, id_names, matrix.shape[0])
    if ids is None and options.id_column is not None:
        raise ViewError(
            f"{path} has no array '{options.id_column}' or 'ids' with one id for each of the {matrix.shape[0]} rows. "
            "Save the ids as an array named 'ids'."
        )
    labels = _beside(path, headers, chosen, _COLUMN_NAMES, matrix.shape[1])
    columns = None if labels is None else named_columns(labels[1], str(path))
    where = str(path) if chosen is None or sheet is None else f"{path}#{chosen}"
    is_sparse = sparse.issparse(matrix)
    values = matrix if is_sparse else numbers_frame(matrix, columns, options)
    return FileTable(
        name=name,
        path=path,
        sheet=sheet,
        values=values,
        columns=columns if is_sparse else None,
        ids=None if ids is None else typed_ids(ids[1].tolist(), ids[0], where),
        id_column=None if ids is None else ids[0],
        guesses=_guesses(chosen, matrix, ids, labels),
        findings=tuple(_sparse_infinite(values, where) if is_sparse else find_infinite(values, where)),
    )


def _headers(path: Path) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Shape and dtype of each array."""
    headers = {}
    with path.open("rb") as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                for entry in archive.namelist():
                    with archive.open(entry) as member:
                        version = np.lib.format.read_magic(member)
                        read = (
                            np.lib.format.read_array_header_1_0
                            if version == (1, 0)
                            else np.lib.format.read_array_header_2_0
                        )
                        shape, _, dtype = read(member)
                    headers[entry.removesuffix(".npy")] = (shape, dtype)
        except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, RuntimeError) as error:
            raise ViewError(f"{path} is not an archive of NumPy arrays ({error}). Save it with numpy.savez.") from error
    if not headers:
        raise ViewError(f"{path} holds no array. Save the table again with numpy.savez.")
    return headers


def _choose(path: Path, tables: Sequence[str], headers: dict[str, Any], sheet: str | None) -> str:
    if sheet is not None and sheet in tables:
        return sheet
    held = [f"{name} {shape} {dtype}" for name, (shape, dtype) in headers.items()]
    if sheet is not None:
        raise ViewError(f"{path} has no two-dimensional array of numbers '{sheet}'; it holds {some(held)}.")
    if not tables:
        objects = [name for name, (_, dtype) in headers.items() if dtype.hasobject]
        reason = (
            f"{some(objects)} hold(s) pickled Python objects, which can run code and are never loaded"
            if objects
            else f"it holds {some(held)}"
        )
        raise ViewError(f"{path} has no two-dimensional array of numbers: {reason}. Save one table per array.")
    if len(tables) > 1:
        raise ViewError(f"{path} holds several tables: {some(tables)}. Choose one, such as '{path}#{tables[0]}'.")
    return tables[0]


def _load(path: Path, name: str) -> Any:
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        try:
            return archive[name]
        except (ValueError, zipfile.BadZipFile, EOFError) as error:
            raise ViewError(f"{path}: the array '{name}' cannot be read ({error}). Save it again.") from error


def _load_sparse(path: Path) -> sparse.csr_array:
    with path.open("rb") as stream:
        try:
            matrix = sparse.csr_array(sparse.load_npz(stream))
        except (ValueError, KeyError, NotImplementedError, zipfile.BadZipFile, EOFError) as error:
            raise ViewError(f"{path}: the sparse matrix cannot be read ({error}). Save it again.") from error
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise ViewError(f"{path}: the sparse matrix must be two-dimensional and hold real numbers.")
    matrix.sum_duplicates()
    return matrix.astype(np.float64) if matrix.dtype == bool else matrix


def _beside(
    path: Path, headers: dict[str, Any], table: str | None, names: Sequence[str], length: int
) -> tuple[str, Any] | None:
    """The array of ids or column names that belongs to a table: ``TABLE_ids`` before ``ids``; of the right length."""
    candidates = [f"{table}_{name}" for name in names] * (table is not None) + list(names)
    for candidate in candidates:
        if candidate not in headers or candidate == table:
            continue
        shape, dtype = headers[candidate]
        if len(shape) != 1 or dtype.kind == "c":
            continue
        if dtype.hasobject:
            raise ViewError(
                f"{path}: the array '{candidate}' holds pickled Python objects, which can run code and are never "
                "loaded. Save it as text: numpy.asarray(ids, dtype=str)."
            )
        if shape[0] == length:
            return candidate, _load(path, candidate)
        if candidate in _ID_NAMES[:3] or candidate.startswith(f"{table}_"):
            raise ViewError(f"{path}: '{candidate}' has {shape[0]} entries, but the table has {length}.")
    return None


def _guesses(chosen: str | None, matrix: Any, ids: Any, labels: Any) -> dict[str, str]:
    guesses = {"array": f"{chosen}" if chosen is not None else f"sparse, {matrix.nnz:,} stored values"}
    if labels is not None:
        guesses["header"] = f"array {labels[0]}"
    if ids is not None:
        guesses["id"] = f"array {ids[0]}"
    return guesses


def _sparse_infinite(matrix: sparse.csr_array, where: str) -> list[Finding]:
    return find_infinite(pd.DataFrame({"stored values": matrix.data}), where)
