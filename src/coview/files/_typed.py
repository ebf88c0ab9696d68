"""Tables from files that know the types of their cells: ids, dates, and marks of missing values the user named."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from coview.exceptions import ViewError
from coview.files._cell_findings import dates_finding
from coview.files._finish import without_column
from coview.files._ids import choose_id
from coview.files._names import refuse_repeated
from coview.files._read_options import ReadOptions
from coview.views import Finding, id_text

__all__ = ["dates_as_text", "named_columns", "numbers_frame", "take_typed_ids", "typed_ids", "with_marks"]

_SAMPLE = 200
_DATES = {"date", "datetime", "time", "timedelta"}


def typed_ids(values: Any, name: str, where: str, first_line: int = 0) -> pd.Index:
    """Ids as text, of cells of any type: 1 and 1.0 give "1", text is kept without outer spaces.

    Raises
    ------
    ViewError
        If one is missing; ``first_line`` is the row of the first, 0 where rows have no numbers to see.
    """
    cells = pd.Series(values, dtype=object).reset_index(drop=True)
    cells = cells.map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
    empty = np.flatnonzero((cells.isna() | (cells == "")).to_numpy())
    if len(empty):
        rows = ", ".join(str(row + (first_line or 1)) for row in empty[:5].tolist())
        raise ViewError(
            f"{where}: the id column '{name}' is empty in {len(empty)} row(s), first in row(s) {rows}. "
            "Fill in the ids, or name another id column (--id)."
        )
    return id_text(pd.Index(cells, dtype=object))


def take_typed_ids(
    frame: pd.DataFrame, wanted: str | None, where: str, first_line: int = 0
) -> tuple[pd.Index | None, str | None, str, pd.DataFrame]:
    """Ids, name of their column, how it was found, and the columns that are left."""
    names = [str(name) for name in frame.columns]

    def cells_of(place: int) -> list[str]:
        return [str(cell) for cell in frame.iloc[:_SAMPLE, place].dropna()]

    choice = choose_id(names, wanted, where, cells_of)
    if choice.position is None:
        return None, None, "", frame
    column = frame.iloc[:, choice.position]
    if choice.needed == 1.0 and not (isinstance(column.dtype, pd.StringDtype) or column.dtype == object):
        return None, None, "", frame
    if not choice.holds(column):
        return None, None, "", frame
    ids = typed_ids(column.to_numpy(dtype=object), choice.name, where, first_line)
    return ids, choice.name, choice.said, without_column(frame, choice.position)


def named_columns(names: Any, where: str) -> pd.Index:
    """Column names as text, all different."""
    text = pd.Index([str(name) for name in names], dtype=str)
    refuse_repeated(text.tolist(), where)
    return text


def numbers_frame(array: Any, columns: pd.Index | None, options: ReadOptions) -> pd.DataFrame:
    """A frame over a matrix of numbers, not copied unless the user named numbers that mean missing."""
    names = columns if columns is not None else pd.Index([f"x{place}" for place in range(array.shape[1])], dtype=str)
    return with_marks(pd.DataFrame(array, columns=names), options.missing)


def with_marks(frame: pd.DataFrame, missing: Sequence[str] | None) -> pd.DataFrame:
    """The frame with the marks that the user named read as missing: text in text columns, numbers in number columns."""
    marks = [mark for mark in missing or () if mark]
    if not marks:
        return frame
    numbers = [number for mark in marks if (number := _number(mark)) is not None]
    of_numbers = np.array([pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes], dtype=bool)
    if numbers and of_numbers.all():
        return frame.mask(frame.isin(numbers))
    result = frame.copy(deep=False)
    for place in range(frame.shape[1]):
        found = frame.iloc[:, place].isin(numbers if of_numbers[place] else marks)
        if found.any():
            result.isetitem(place, frame.iloc[:, place].mask(found).array)
    return result


def _number(mark: str) -> float | None:
    try:
        return float(mark)
    except ValueError:
        return None


def dates_as_text(frame: pd.DataFrame, where: str) -> tuple[pd.DataFrame, list[Finding]]:
    """The frame with dates and times written out, and a finding that names the columns."""
    kinds = [dtype.kind for dtype in frame.dtypes]
    places = [
        place
        for place, kind in enumerate(kinds)
        if kind in "mM" or (kind == "O" and pd.api.types.infer_dtype(frame.iloc[:, place]) in _DATES)
    ]
    if not places:
        return frame, []
    result = frame.copy(deep=False)
    for place in places:
        column = frame.iloc[:, place]
        text = column.astype("str")
        if column.dtype.kind == "M" and (column.dropna() == column.dropna().dt.normalize()).all():
            text = text.str.slice(0, 10)
        result.isetitem(place, text.mask(column.isna()).array)
    names = [str(frame.columns[place]) for place in places]
    return result, [dates_finding(names, where)]
