"""A table whose cells are all text as written, such as a map of ids: nothing becomes a number or a missing value."""

from itertools import zip_longest
from pathlib import Path
from typing import Any

import pandas as pd

from coview.exceptions import ViewError
from coview.files._dialect import find_dialect, read_head
from coview.files._reading import read_table
from coview.files._source import Source, find_encoding
from coview.files._table_text import TextTable

__all__ = ["read_text_cells"]

_WORKBOOKS = {".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"}
_FRAMES = {".parquet", ".pq"}


def read_text_cells(path: str, sheet: str | None = None, separator: str | None = None) -> tuple[pd.DataFrame, int]:
    """The cells of a text file, workbook or Parquet file as text, ``""`` where empty, and the line of the first row.

    The first row that is filled holds the columns' names.
    """
    ending = Path(path).suffix.lower()
    if ending in _WORKBOOKS:
        return _workbook_cells(path, sheet)
    if ending in _FRAMES:
        table = read_table(path)
        frame = table.values if table.ids is None else table.values.assign(**{str(table.id_column): table.ids})
        return frame.astype(object).where(frame.notna(), "").map(_text), 0
    return _file_cells(path, separator)


def _file_cells(path: str, separator: str | None) -> tuple[pd.DataFrame, int]:
    source = Source.of(Path(path))
    encoding, is_quoted = find_encoding(source, None)
    head, at_end = read_head(source, encoding)
    dialect = find_dialect(source, head, at_end, separator, None)
    start = dialect.start
    names = dialect.rows[start.first if start.header is None else start.header]
    table = TextTable(source, encoding, is_quoted, dialect, start.width)
    rows = [cells for cells, _, line in table.rows() if line > names.line]
    return _frame(names.cells, rows), names.line + 1


def _workbook_cells(path: str, sheet: str | None) -> tuple[pd.DataFrame, int]:
    table = read_table(path, sheet=sheet)  # refuses what is no whole workbook, and a sheet that must be chosen
    import python_calamine

    book = python_calamine.CalamineWorkbook.from_path(path)
    cells = book.get_sheet_by_name(str(table.sheet)).to_python(skip_empty_area=False)
    rows = [[_text(cell) for cell in row] for row in cells]
    first = next(place for place, row in enumerate(rows) if any(row))
    return _frame(rows[first], rows[first + 1 :]), first + 2


def _text(cell: Any) -> str:
    """A cell as text; a whole number without a point, as ids are read."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def _frame(names: list[str], rows: list[list[str]]) -> pd.DataFrame:
    """Columns with a name, rows with content."""
    names = [name.strip() for name in names]
    if len(set(names)) < len(names):
        raise ViewError(f"The columns {names} repeat a name. Give each another.")
    filled = [[cell.strip() for cell in row] for row in rows]
    columns = list(zip_longest(*filled, fillvalue="")) or [()] * len(names)
    cells = {name: list(column) for name, column in zip(names, columns, strict=False) if name}
    return pd.DataFrame(cells, dtype=str)
