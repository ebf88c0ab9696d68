"""Workbooks: the cells of one sheet, read by calamine, as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.exceptions import ViewError
from coview.files._contents import FileTable
from coview.files._read_options import ReadOptions
from coview.files._sheet_cells import SheetTable, sheet_table
from coview.files._workbook_scan import SheetFacts, scan_sheet, unpacked_size_checked
from coview.views import Finding, some

__all__ = ["read_sheet", "visible_sheets"]

_MOST_CELLS = 2**26
_WITH_XML = {".xlsx", ".xlsm"}
_PACKED = _WITH_XML | {".xlsb", ".ods"}


@dataclass(frozen=True)
class _Book:
    path: Path
    book: Any

    def sheets(self) -> list[tuple[str, bool]]:
        """Name of each sheet of cells, and whether it is visible."""
        kinds = self.book.sheets_metadata
        return [
            (sheet.name, str(sheet.visible).endswith(".Visible"))
            for sheet in kinds
            if str(sheet.typ).endswith(".WorkSheet")
        ]


def visible_sheets(path: Path) -> list[str]:
    """Names of the sheets that are not hidden and hold something."""
    book = _open(path)
    shown = [name for name, is_visible in book.sheets() if is_visible]
    if len(shown) > 1 and path.suffix.lower() in _WITH_XML:
        shown = [name for name in shown if scan_sheet(path, name).n_rows] or shown
    return shown


def read_sheet(path: Path, sheet: str | None, options: ReadOptions, name: str) -> FileTable:
    """Read one sheet; see ``read_table``."""
    book = _open(path)
    wanted, sheet = sheet, _choose(path, book, sheet)
    where = f"{path}#{sheet}"
    facts = scan_sheet(path, sheet) if path.suffix.lower() in _WITH_XML else SheetFacts()
    if facts.n_rows * facts.n_columns > _MOST_CELLS:
        raise ViewError(
            f"{where} reaches to row {facts.n_rows:,} and column {facts.n_columns:,}, which would be "
            f"{facts.n_rows * facts.n_columns:,} cells; at most {_MOST_CELLS:,} are read. Delete what stands far from the "
            "table, or save the sheet as CSV."
        )
    cells, merged = _cells(book, sheet, where)
    table: SheetTable = sheet_table(cells, merged, options, where)
    guesses = dict(table.guesses)
    if facts.n_errors:
        guesses["errors"] = (
            f"{facts.n_errors} cell(s) such as {facts.errors[0]}, read as missing" if facts.errors else ""
        )
    return FileTable(
        name=sheet if name == wanted else name,  # spelled as in the workbook
        path=path,
        sheet=sheet,
        values=table.values,
        ids=table.ids,
        id_column=table.id_column,
        guesses=guesses,
        findings=(*_about_formulas(facts, where), *table.findings),
        first_line=table.first_line,
    )


def _open(path: Path) -> _Book:
    try:
        import python_calamine
    except ImportError as error:
        raise ImportError("Reading workbooks needs the package python-calamine: pip install 'coview[excel]'") from error
    with path.open("rb") as stream:
        is_encrypted = stream.read(8) == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" and path.suffix.lower() in _PACKED
    if is_encrypted:
        raise ViewError(
            f"{path} has a password, or is an old .xls under another name. Save it again without a password."
        )
    if path.suffix.lower() in _PACKED:
        unpacked_size_checked(path)
    try:
        return _Book(path, python_calamine.CalamineWorkbook.from_path(path))
    except (python_calamine.CalamineError, OSError) as error:
        raise ViewError(f"{path} is not a whole workbook ({error}). Save or copy it again.") from error


def _choose(path: Path, book: _Book, wanted: str | None) -> str:
    names = [name for name, _ in book.sheets()]
    if wanted is not None:
        same = [name for name in names if name == wanted] or [
            name for name in names if name.casefold() == wanted.strip().casefold()
        ]
        if len(same) == 1:
            return same[0]
        raise ViewError(f"{path} has no sheet '{wanted}'; it has {some(names)}.")
    shown = visible_sheets(path)
    if len(shown) == 1:
        return shown[0]
    if not shown:
        raise ViewError(f"{path} has no visible sheet; hidden: {some(names)}. Choose one, such as '{path}#SHEET'.")
    raise ViewError(f"{path} has several sheets: {some(shown)}. Choose one, such as '{path}#{shown[0]}'.")


def _cells(book: _Book, sheet: str, where: str) -> tuple[NDArray[np.object_], Sequence[Any]]:
    """All cells of a sheet from its first row and column on, empty ones as ''; and its merged ranges."""
    import python_calamine

    try:
        read = book.book.get_sheet_by_name(sheet)
        rows = read.to_python(skip_empty_area=False)
        merged = read.merged_cell_ranges or []
    except python_calamine.CalamineError as error:
        raise ViewError(f"{where} cannot be read ({error}). Save the workbook again, or the sheet as CSV.") from error
    if not rows or not rows[0]:
        raise ViewError(f"{where} is empty. Save the table again, with one row per sample.")
    cells = np.empty((len(rows), len(rows[0])), dtype=object)
    cells[:] = rows
    return cells, merged


def _about_formulas(facts: SheetFacts, where: str) -> list[Finding]:
    """Findings about error cells and formulas whose results are not in the file."""
    findings = []
    if facts.n_errors:
        findings.append(
            Finding(
                "error_cells",
                "warning",
                f"{where}: {facts.n_errors} cell(s) hold an error such as #N/A or #DIV/0!, read as missing: "
                f"{some(facts.errors)}.",
                "Correct the formulas if the values should be there.",
                count=facts.n_errors,
            )
        )
    if facts.n_uncalculated:
        findings.append(
            Finding(
                "formulas_without_results",
                "warning",
                f"{where}: {facts.n_uncalculated} formula(s) have no stored result and were read as missing: "
                f"{some(facts.uncalculated)}.",
                "Open the file in a spreadsheet program and save it, so that results are stored.",
                count=facts.n_uncalculated,
            )
        )
    elif facts.n_formulas and facts.is_stale:
        findings.append(
            Finding(
                "formulas_not_calculated",
                "warning",
                f"{where}: {facts.n_formulas} cell(s) hold formulas that were perhaps never calculated; the stored results "
                "were read (often 0).",
                "Open the file in a spreadsheet program and save it, so that results are stored.",
                count=facts.n_formulas,
            )
        )
    return findings
