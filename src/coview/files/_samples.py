"""One row per sample: repeated ids within a table, and tables matched by id."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.exceptions import ViewError
from coview.files._contents import FileTable
from coview.files._problems import Problems
from coview.views import AlignedTables, Table, align_tables, some

__all__ = ["align_files", "row_name", "take_rows", "unique_samples", "with_ids"]

_SHOWN = 3
_COMPARED = 200  # repeated rows looked at to tell whether they are equal


def unique_samples(table: FileTable, policy: str, problems: Problems, view: str | None = None) -> FileTable:
    """The table with one row per sample: repeated ids are an error, or settled by the user's policy."""
    if table.ids is None or table.ids.is_unique:
        return table
    repeated = np.asarray(table.ids.duplicated(keep=False))
    names = table.ids[repeated].unique()
    if policy == "error":
        problems.error(
            "duplicate_ids",
            _repetition(table, repeated, names),
            "Correct the file, or say which row counts: --duplicates first or --duplicates last, or --duplicates drop "
            "to leave out these rows.",
            view=view,
            ids=tuple(names[:20]),
            count=len(names),
        )
        policy = "first"
    else:
        kept = {"first": "the first row counts", "last": "the last row counts", "drop": "all of them were left out"}
        problems.note(
            "duplicate_ids",
            f"{_repetition(table, repeated, names)} As asked for, {kept[policy]}.",
            view=view,
            ids=tuple(names[:20]),
            count=len(names),
        )
    keep: Any = {"first": "first", "last": "last", "drop": False}[policy]
    return take_rows(table, np.flatnonzero(~np.asarray(table.ids.duplicated(keep=keep))))


def _repetition(table: FileTable, repeated: NDArray[np.bool_], names: pd.Index) -> str:
    """Which ids are repeated, where they stand, and whether their rows differ."""
    rows = np.flatnonzero(repeated)
    ids = pd.Index([]) if table.ids is None else table.ids
    shown = []
    for name in names[:_SHOWN]:
        lines = [row_name(table, int(row)) for row in rows[np.asarray(ids[rows] == name)][:4]]
        shown.append(f"{str(name)!r} ({', '.join(lines)})")
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    what = "1 sample" if len(names) == 1 else f"{len(names)} samples"
    text = f"{table.where} has several rows for {what}: {', '.join(shown)}{more}."
    if _rows_equal(table, rows[:_COMPARED], ids):
        return f"{text} Rows of one sample are equal cell by cell, so that any of them will do."
    if len(names) > 1 and len(rows) > 0.5 * len(ids):
        return f"{text} Most samples have several: if they were measured repeatedly, give one row for each."
    return text


def _rows_equal(table: FileTable, rows: NDArray[np.intp], ids: pd.Index) -> bool:
    """Whether the rows of each sample equal its first one, gaps included."""
    if not isinstance(table.values, pd.DataFrame):
        return False
    cells = table.values.iloc[rows].to_numpy(dtype=object)
    first = pd.Index(ids[rows].unique()).get_indexer(ids[rows])
    starts = np.unique(first, return_index=True)[1][first]
    same = (cells == cells[starts]) | (pd.isna(cells) & pd.isna(cells[starts]))
    return bool(np.all(same))


def row_name(table: FileTable, row: int) -> str:
    """Where a row stands in its file."""
    return f"line {table.first_line + row}" if table.first_line else f"row {row + 1}"


def take_rows(table: FileTable, rows: NDArray[np.intp]) -> FileTable:
    """Some rows of a table, by position."""
    frame = isinstance(table.values, pd.DataFrame)
    values = table.values.iloc[rows].reset_index(drop=True) if frame else table.values[rows]
    return replace(table, values=values, ids=None if table.ids is None else table.ids[rows])


def with_ids(tables: Mapping[str | None, FileTable], problems: Problems) -> dict[str | None, FileTable]:
    """The tables that say which row is which sample; an error for others, unless there is one table in all."""
    if len(tables) == 1:
        return dict(tables)
    named = [table.id_column for table in tables.values() if table.id_column]
    hint = f" (in another file they stand in '{named[0]}')" if named else ""
    for name, table in tables.items():
        if table.ids is not None:
            continue
        columns = table.values.columns if isinstance(table.values, pd.DataFrame) else table.columns
        listed = f" Its columns are {some(columns, 8)}." if columns is not None else ""
        problems.error(
            "missing_ids",
            f"No column of {table.where} can be told to hold the sample ids{hint}, and rows of several files are "
            f"matched by id only.{listed}",
            f"Name the column with --id {name or 'labels'}:COL.",
            view=name,
        )
    kept = {name: table for name, table in tables.items() if table.ids is not None}
    if not any(name is not None for name in kept):
        raise ViewError("No file says which row is which sample. Name the column of the ids with --id COL.")
    return kept


def align_files(tables: Sequence[FileTable]) -> AlignedTables:
    """The tables over the samples of all of them, in order of first appearance."""
    aligned = align_tables([_to_table(table) for table in tables], check_ids=False)
    if aligned.has_ids:
        return aligned
    return replace(aligned, ids=pd.RangeIndex(1, aligned.n_samples + 1))  # rows are counted from 1 for people


def _to_table(table: FileTable) -> Table:
    columns = table.values.columns if isinstance(table.values, pd.DataFrame) else table.columns
    return Table(table.name, table.values, columns, table.ids)
