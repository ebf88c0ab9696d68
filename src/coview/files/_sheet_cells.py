"""From the cells of a sheet to columns with types: where the table is, names, ids, numbers, dates."""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.exceptions import ViewError
from coview.files._cell_findings import cell_findings
from coview.files._cells import CellRules, settle
from coview.files._finish import name_columns
from coview.files._ids import choose_id
from coview.files._layout import TableStart, find_start
from coview.files._marks import given_marks, missing_words
from coview.files._names import clean_names
from coview.files._read_options import ReadOptions
from coview.files._typed import typed_ids, with_marks
from coview.views import Finding, some

__all__ = ["SheetTable", "sheet_table"]

_LOOKED_AT = 30  # rows that tell where the table begins
_NUMBERS = {"floating", "integer", "mixed-integer-float"}
_DATES = {"date", "datetime", "datetime64", "time", "timedelta", "timedelta64"}
Merged = Sequence[tuple[tuple[int, int], tuple[int, int]]]


@dataclass(frozen=True)
class SheetTable:
    """The table of a sheet; fields as in ``FileTable``."""

    values: pd.DataFrame
    ids: pd.Index | None
    id_column: str | None
    guesses: dict[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    first_line: int = 0


def sheet_table(cells: NDArray[np.object_], merged: Merged, options: ReadOptions, where: str) -> SheetTable:
    """The table in the cells (n_rows, n_columns) of a sheet, where '' is an empty cell."""
    filled = cells != ""
    rows, columns = np.flatnonzero(filled.any(axis=1)), np.flatnonzero(filled.any(axis=0))
    if not len(rows):
        raise ViewError(f"{where} is empty. Save the table again, with one row per sample.")
    columns = np.arange(columns[0], columns[-1] + 1)
    start = _start(cells, rows, columns)
    header = None if start.header is None else int(rows[start.header])
    body_rows = rows[start.first :]
    if not len(body_rows):
        raise ViewError(f"{where} has a header and no rows below it. Save the table again, with one row per sample.")
    _refuse_merged_names(merged, header, where)
    names = _names(cells, header, columns)
    names, findings = clean_names(names, where)
    findings += _about_rows(cells, rows[: start.first if header is None else start.header], body_rows, header, where)
    body = cells[body_rows[:, None], columns]
    choice = choose_id(
        names, options.id_column, where, lambda place: [_text(cell) for cell in body[:200, place] if cell != ""]
    )
    ids, id_at = None, None
    if choice.position is not None and choice.holds(pd.Series(_texts(body[:, choice.position]))):
        id_at = choice.position
        _refuse_merged_ids(merged, int(columns[id_at]), body_rows, where)
        ids = _ids(body[:, id_at], choice.name, where, body_rows)
    places = [place for place in range(len(names)) if place != id_at]
    frame, dates = _frame(body, places, names)
    frame = name_columns(frame, places, findings, where)
    marks = given_marks(options.missing)
    rules = CellRules(where, ".", False, marks, lambda at: [int(body_rows[row]) + 1 for row in at])
    settled = settle(with_marks(frame, marks), rules)
    told = missing_words(dict(settled.marks), int(settled.frame.isna().to_numpy().sum()) - settled.marks.total())
    guesses = {"header": "none" if header is None else f"row {header + 1}"} | ({"missing": told} if told else {})
    if ids is not None:
        guesses["id"] = choice.said
    settled.dates = list(dict.fromkeys([*dates, *settled.dates]))
    findings += cell_findings(settled, where, rules.lines_of) + _about_merged(merged, body_rows, where)
    return SheetTable(
        settled.frame,
        ids,
        None if ids is None else choice.name,
        guesses,
        tuple(findings),
        int(body_rows[0]) + 1,
    )


def _start(cells: NDArray[np.object_], rows: NDArray[np.intp], columns: NDArray[np.intp]) -> TableStart:
    """Where the table begins, in positions among ``rows``; rows with half the cells of others are titles."""
    looked_at = [[_text(cell) for cell in cells[row, columns]] for row in rows[:_LOOKED_AT]]
    counts = [sum(text != "" for text in texts) for texts in looked_at]
    widest = max(counts)
    skipped = 0
    while skipped < len(looked_at) - 1 and 2 * counts[skipped] <= widest and looked_at[skipped][0] != "":
        skipped += 1
    while skipped < len(looked_at) - 1 and 2 * counts[skipped] < widest:
        skipped += 1
    start = find_start(looked_at[skipped:])
    header = None if start.header is None else start.header + skipped
    return TableStart(start.width, header, start.first + skipped)


def _names(cells: NDArray[np.object_], header: int | None, columns: NDArray[np.intp]) -> list[str]:
    if header is None:
        return [f"column_{place}" for place in range(1, len(columns) + 1)]
    return [_text(cell, stripped=False) for cell in cells[header, columns]]


def _text(cell: Any, *, stripped: bool = True) -> str:
    """A cell as it is shown: 1.0 as 1, dates in ISO form."""
    if isinstance(cell, str):
        return cell.strip() if stripped else cell
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    return str(cell)


def _texts(column: NDArray[np.object_]) -> NDArray[np.object_]:
    return np.array([_text(cell) for cell in column], dtype=object)


def _ids(column: NDArray[np.object_], name: str, where: str, rows: NDArray[np.intp]) -> pd.Index:
    empty = np.flatnonzero(column == "")
    if len(empty):
        shown = ", ".join(str(int(row) + 1) for row in rows[empty[:5]])
        raise ViewError(
            f"{where}: the id column '{name}' is empty in {len(empty)} row(s), first in row(s) {shown}. "
            "Fill in the ids, or name another id column (--id)."
        )
    return typed_ids(_texts(column), name, where)


def _frame(body: NDArray[np.object_], places: Sequence[int], names: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """Columns with types, and the names of those that hold dates."""
    dates: list[str] = []
    columns: dict[int, Any] = {}
    for place in places:
        cells = body[:, place]
        cells[cells == ""] = None
        kind = pd.api.types.infer_dtype(cells, skipna=True)
        columns[place] = _COLUMN.get(kind, _text_column)(cells) if kind not in _NUMBERS else _number_column(cells)
        if kind in _DATES:
            dates.append(names[place] or f"column_{place + 1}")
    frame = pd.DataFrame(columns, index=range(len(body)), columns=list(places))
    return frame.set_axis(pd.Index([names[place] for place in places], dtype=str), axis=1), dates


def _number_column(cells: NDArray[np.object_]) -> Any:
    numbers = cells.astype(np.float64)
    whole = bool(np.isfinite(numbers).all()) and bool((numbers == np.rint(numbers)).all())
    return numbers.astype(np.int64) if whole and (np.abs(numbers) < 2**53).all() else numbers


def _truth_column(cells: NDArray[np.object_]) -> Any:
    return cells.astype(bool) if not pd.isna(cells).any() else cells


def _empty_column(cells: NDArray[np.object_]) -> Any:
    return np.full(len(cells), np.nan)


def _string_column(cells: NDArray[np.object_]) -> Any:
    return pd.array(cells, dtype="str")


def _text_column(cells: NDArray[np.object_]) -> Any:
    return pd.array([None if cell is None else _text(cell) for cell in cells], dtype="str")


_COLUMN: dict[str, Callable[[NDArray[np.object_]], Any]] = {
    "boolean": _truth_column,
    "empty": _empty_column,
    "string": _string_column,
}


def _about_rows(
    cells: NDArray[np.object_],
    above: NDArray[np.intp],
    body_rows: NDArray[np.intp],
    header: int | None,
    where: str,
) -> list[Finding]:
    """Findings about rows above the table, empty ones inside, and a missing header."""
    findings = []
    if len(above):
        first = " ".join(_text(cell) for cell in cells[above[0]] if cell != "")[:60]
        findings.append(
            Finding(
                "lines_skipped",
                "note",
                f"{where}: {len(above)} row(s) above the table were left out; the first is '{first}'.",
                count=len(above),
            )
        )
    if header is None:
        findings.append(
            Finding(
                "no_header",
                "warning",
                f"{where}: the first row looks like a sample, so the columns were numbered.",
                "Put a row of column names on top if this is right.",
            )
        )
    n_empty = int(body_rows[-1] - body_rows[0] + 1 - len(body_rows))
    if n_empty:
        findings.append(
            Finding("empty_rows", "note", f"{where}: {n_empty} row(s) without any content were dropped.", count=n_empty)
        )
    return findings


def _range_name(merged: tuple[tuple[int, int], tuple[int, int]]) -> str:
    (top, left), (bottom, right) = merged
    return f"{_column_letters(left)}{top + 1}:{_column_letters(right)}{bottom + 1}"


def _column_letters(position: int) -> str:
    letters, number = "", position + 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _refuse_merged_names(merged: Merged, header: int | None, where: str) -> None:
    """Raise for names that stand over several columns."""
    wide = [
        _range_name(m) for m in merged if header is not None and m[0][0] <= header <= m[1][0] and m[0][1] != m[1][1]
    ]
    if wide:
        raise ViewError(
            f"{where}: the header has merged cells ({some(wide)}), so some columns have no name. "
            "Unmerge them and name each column."
        )


def _refuse_merged_ids(merged: Merged, column: int, rows: NDArray[np.intp], where: str) -> None:
    """Raise for ids that stand beside several rows."""
    first, last = int(rows[0]), int(rows[-1])
    tall = [
        _range_name(m)
        for m in merged
        if m[0][1] <= column <= m[1][1] and m[1][0] >= first and m[0][0] <= last and m[0][0] != m[1][0]
    ]
    if tall:
        raise ViewError(
            f"{where}: the ids have merged cells ({some(tall)}), so some rows have no id. "
            "Unmerge them and write the id into each row."
        )


def _about_merged(merged: Merged, rows: NDArray[np.intp], where: str) -> list[Finding]:
    inside = [_range_name(m) for m in merged if m[1][0] >= int(rows[0]) and m[0][0] <= int(rows[-1])]
    if not inside:
        return []
    return [
        Finding(
            "merged_cells",
            "warning",
            f"{where}: {len(inside)} merged range(s) inside the table ({some(inside)}): only the upper left cell has the value.",
            "Unmerge them and fill in every cell.",
            count=len(inside),
        )
    ]
