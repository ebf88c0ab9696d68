"""Parquet files: columns with types, ids in the index that pandas stores or in a column."""

from pathlib import Path
from typing import Any

import pandas as pd

from coview.exceptions import ViewError
from coview.files._cell_findings import find_infinite
from coview.files._contents import FileTable
from coview.files._ids import find_given
from coview.files._names import clean_names
from coview.files._read_options import ReadOptions
from coview.files._typed import dates_as_text, take_typed_ids, typed_ids, with_marks
from coview.views import some

__all__ = ["read_parquet"]


def read_parquet(path: Path, options: ReadOptions, name: str) -> FileTable:
    """Read one Parquet file; see ``read_table``."""
    frame = _load(path)
    where = str(path)
    names, findings = clean_names([str(label) for label in frame.columns], where)
    frame.columns = pd.Index([label or f"column_{place}" for place, label in enumerate(names, start=1)], dtype=str)
    ids, id_column, said, frame = _take_ids(frame, options.id_column, where)
    frame, dated = dates_as_text(with_marks(frame.reset_index(drop=True), options.missing), where)
    guesses = {"id": said} if ids is not None else {}
    n_missing = int(frame.isna().to_numpy().sum())
    return FileTable(
        name=name,
        path=path,
        values=frame,
        ids=ids,
        id_column=id_column,
        guesses=({"missing": f"empty ({n_missing})"} if n_missing else {}) | guesses,
        findings=(*findings, *dated, *find_infinite(frame, where)),
    )


def _load(path: Path) -> pd.DataFrame:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError("Reading Parquet files needs the package pyarrow: pip install 'coview[parquet]'") from error
    with path.open("rb") as stream:
        try:
            table = parquet.read_table(stream)
        except (pyarrow.ArrowException, OSError) as error:
            first = str(error).splitlines()[0]
            raise ViewError(f"{path} is not a whole Parquet file ({first}). Save or copy it again.") from error
    if table.num_rows == 0:
        raise ViewError(f"{path} holds no row. Save the table again, with one row per sample.")
    _refuse_nested(table.schema, path, pyarrow.types)
    for place, field in enumerate(table.schema):
        if pyarrow.types.is_decimal(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pyarrow.float64()))
    frame: pd.DataFrame = table.to_pandas(date_as_object=False)
    return frame


def _refuse_nested(schema: Any, path: Path, types: Any) -> None:
    refused = [
        f"{field.name} ({field.type})"
        for field in schema
        if types.is_nested(field.type) or types.is_binary(field.type) or types.is_large_binary(field.type)
    ]
    if refused:
        raise ViewError(
            f"{path}: column(s) {some(refused)} hold lists or bytes rather than one value per row. "
            "Spread them over several columns, or leave them out."
        )


def _take_ids(
    frame: pd.DataFrame, wanted: str | None, where: str
) -> tuple[pd.Index | None, str | None, str, pd.DataFrame]:
    """Ids from the index pandas stored, or from a column; see ``take_typed_ids``."""
    stored = None if isinstance(frame.index, pd.RangeIndex) else frame.index
    stored_name = "" if stored is None else "|".join(str(part) for part in stored.names if part is not None)
    if wanted is not None and stored is not None and stored_name.casefold() == wanted.casefold():
        return typed_ids(stored.to_flat_index(), stored_name, where), stored_name, f"{stored_name} (index)", frame
    if wanted is not None:
        find_given([str(label) for label in frame.columns], wanted, where)
    elif stored is not None:
        return _stored_ids(stored, where), stored_name, f"{stored_name or 'the index'} (stored index)", frame
    return take_typed_ids(frame, wanted, where)


def _stored_ids(stored: pd.Index, where: str) -> pd.Index:
    if isinstance(stored, pd.MultiIndex):
        return typed_ids(["|".join(map(str, row)) for row in stored], "index", where)
    return typed_ids(stored, str(stored.name or "index"), where)
