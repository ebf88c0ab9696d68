"""Workbooks: what their cells mean, and what is refused before it takes all memory."""

import datetime
import io
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from coview.exceptions import ViewError
from coview.files import list_sheets, read_table, read_tables_in

pytest.importorskip("python_calamine")
xlsxwriter = pytest.importorskip("xlsxwriter")


@pytest.fixture
def book(tmp_path):
    """Write a workbook of sheets, each a list of rows; a date, a formula and merged cells if wanted."""

    def write(sheets, *, name="book.xlsx", merged=(), hidden=(), formulas=()):
        if isinstance(sheets, list):
            sheets = {"Sheet1": sheets}
        with xlsxwriter.Workbook(tmp_path / name) as workbook:
            day = workbook.add_format({"num_format": "yyyy-mm-dd"})
            for title, rows in sheets.items():
                sheet = workbook.add_worksheet(title)
                for row, cells in enumerate(rows):
                    for column, cell in enumerate(cells):
                        if isinstance(cell, datetime.date):
                            sheet.write_datetime(row, column, cell, day)
                        elif cell is not None:
                            sheet.write(row, column, cell)
                if title in hidden:
                    sheet.hide()
            first = workbook.worksheets()[0]
            for place in merged:
                first.merge_range(place, "M")
            for place, formula, value in formulas:
                first.write_formula(place, formula, None, value)
        return tmp_path / name

    return write


def codes(table):
    return {finding.code for finding in table.findings}


def change(path, member, old, new):
    """Replace bytes of one file inside a workbook."""
    stream = io.BytesIO()
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(stream, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            assert name != member or old in content
            target.writestr(name, content.replace(old, new) if name == member else content)
    path.write_bytes(stream.getvalue())


def test_cells_keep_their_meaning(book):
    day = datetime.date(2020, 1, 31)
    table = read_table(
        book([["id", "n", "x", "t", "b", "d"], ["00001", 1, 1.5, " a ", True, day], [2.0, 2, None, "b", False, None]])
    )
    assert list(table.ids) == ["00001", "2"]
    assert table.values["n"].tolist() == [1, 2]
    assert_array_equal(table.values["x"], [1.5, np.nan])
    assert table.values["t"].tolist() == ["a", "b"]
    assert table.values["b"].tolist() == [True, False]
    assert table.values["d"].tolist()[0] == "2020-01-31"
    (dates,) = [finding for finding in table.findings if finding.code == "dates"]
    assert dates.columns == ("d",)
    assert (table.name, table.sheet, table.first_line) == ("book", "Sheet1", 2)


def test_numbers_stored_as_text_are_numbers(book):
    table = read_table(book([["id", "a", "b"], ["p", "12", "NA"], ["q", "1,234", 3]]))
    assert table.values["a"].tolist() == [12, 1234]
    assert_array_equal(table.values["b"], [np.nan, 3])
    assert table.guesses["missing"] == '"NA" (1)'


def test_given_marks(book):
    table = read_table(book([["id", "a", "b"], ["p", -999, "x"], ["q", 1, "y"]]), missing=["-999", "y"])
    assert_array_equal(table.values["a"], [np.nan, 1])
    assert table.values["b"].isna().tolist() == [False, True]


def test_almost_numbers_name_the_row(book):
    rows = [["id", "a"], *([f"p{row}", row] for row in range(2, 9)), ["q", "12 mg"]]
    (finding,) = [finding for finding in read_table(book(rows)).findings if finding.code == "almost_numeric"]
    assert "'12 mg' (line 9)" in finding.message


def test_titles_above_and_empty_rows_around(book):
    rows = [["Things"], [], ["id", "a", "b"], ["p", 1, 2], [], ["q", 3, 4]]
    table = read_table(book([[], *([None, *row] for row in rows)]))
    assert list(table.ids) == ["p", "q"]
    assert table.values.to_numpy().tolist() == [[1, 2], [3, 4]]
    assert table.first_line == 5  # below an empty row, a title, another empty row and the header
    assert {"lines_skipped", "empty_rows"} <= codes(table)


def test_which_sheet(book):
    rows = [["id", "a"], ["p", 1]]
    two = book({"Blood": rows, "CT scan": rows, "notes": [], "old": rows}, hidden=["old"])
    assert list_sheets(two) == ["Blood", "CT scan"]
    with pytest.raises(ViewError, match=r"several sheets: 'Blood', 'CT scan'. Choose one, such as '.*#Blood'"):
        read_table(two)
    with pytest.raises(ViewError, match="no sheet 'MRI'; it has 'Blood'"):
        read_table(two, sheet="MRI")
    assert read_table(two, sheet="ct scan").name == "CT scan"
    assert read_table(two, sheet="old").ids[0] == "p"
    assert [table.name for table in read_tables_in(two)] == ["Blood", "CT scan"]
    one = book({"Blood": rows, "Sheet2": []}, name="one.xlsx")
    assert (read_table(one).name, [table.name for table in read_tables_in(one)]) == ("one", ["one"])


@pytest.mark.parametrize(
    ("merged", "message"),
    [("B1:C1", r"header has merged cells \('B1:C1'\)"), ("A2:A3", r"ids have merged cells \('A2:A3'\)")],
)
def test_merged_names_and_ids_are_refused(book, merged, message):
    with pytest.raises(ViewError, match=message):
        read_table(book([["id", "a", "b"], ["p", 1, 2], ["q", 3, 4]], merged=[merged]))


def test_merged_cells_elsewhere(book):
    table = read_table(book([["id", "a", "b"], ["p", 1, 2], ["q", 3, 4]], merged=["C2:C3"]))
    (finding,) = [finding for finding in table.findings if finding.code == "merged_cells"]
    assert "'C2:C3'" in finding.message
    title = read_table(book([["Title"], ["id", "a", "b"], ["p", 1, 2]], merged=["A1:C1"]))
    assert "merged_cells" not in codes(title)


def test_errors_and_formulas(book):
    rows = [["id", "a", "b"], ["p", 1, 2], ["q", 3, 4], ["r", 5, 6]]
    path = book(rows, formulas=[("B2", "=1/0", "#DIV/0!"), ("B3", "=1+1", 2)])
    table = read_table(path)
    assert_array_equal(table.values["a"], [np.nan, 2, 5])
    assert {"error_cells", "formulas_not_calculated"} <= codes(table)
    change(path, "xl/workbook.xml", b' fullCalcOnLoad="1"', b"")
    assert codes(read_table(path)) == {"error_cells"}
    change(path, "xl/worksheets/sheet1.xml", b"<f>1+1</f><v>2</v>", b"<f>1+1</f><v></v>")
    table = read_table(path)
    (finding,) = [finding for finding in table.findings if finding.code == "formulas_without_results"]
    assert "'B3'" in finding.message
    assert_array_equal(table.values["a"], [np.nan, np.nan, 5])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "is empty"),
        ([["id", "a"]], "has a header and no rows"),
        ([["id", "a", "a"], ["p", 1, 2]], r"repeated: 'a' \(columns 2, 3\)"),
        ([["id", "a"], ["p", 1], [None, 2]], r"'id' is empty in 1 row\(s\), first in row\(s\) 3"),
    ],
)
def test_refused_tables(book, rows, message):
    with pytest.raises(ViewError, match=message):
        read_table(book(rows))


def test_a_stray_cell_far_away_does_not_take_all_memory(book):
    path = book([["id", "a"], ["p", 1], ["q", 2]])
    change(path, "xl/worksheets/sheet1.xml", b'<c r="B3">', b'<c r="XFD1048576">')
    with pytest.raises(ViewError, match=r"reaches to row 1,048,576 and column 16,384"):
        read_table(path)
    change(path, "xl/worksheets/sheet1.xml", b'r="XFD1048576"', b'r="ZZZZZZZ9999999999"')
    with pytest.raises(ViewError, match="reaches to row 9,999,999,999"):
        read_table(path)


def test_damaged_and_foreign_files(book, tmp_path):
    whole = book([["id", "a"], ["p", 1]]).read_bytes()
    broken = {
        "text": b"id,a\np,1\n",
        "half": whole[: len(whole) // 2],
        "old": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
    }
    for name, content in broken.items():
        (tmp_path / f"{name}.xlsx").write_bytes(content)
        with pytest.raises(ViewError, match=f"{name}.xlsx (is not a whole workbook|has a password)"):
            read_table(tmp_path / f"{name}.xlsx")
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.xlsx")
    (tmp_path / "cut.xlsx").write_bytes(whole)
    change(tmp_path / "cut.xlsx", "xl/worksheets/sheet1.xml", b"</sheetData>", b"<row")
    with pytest.raises(ViewError, match="cannot be read"):
        read_table(tmp_path / "cut.xlsx")


def test_too_large_unpacked(book, monkeypatch):
    monkeypatch.setattr("coview.files._workbook_scan._LARGEST_UNPACKED", 1000)
    with pytest.raises(ViewError, match="GiB unpacked"):
        read_table(book([["id", "a"], ["p", 1]]))


def test_text_options_do_not_apply(book):
    with pytest.raises(ViewError, match="separator does not apply"):
        read_table(book([["id", "a"], ["p", 1]]), separator=",")


def test_open_document_sheets(tmp_path):
    """A smallest .ods, written by hand: calamine reads it, without the scan that .xlsx gets."""
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="{kind}"{given}><text:p>{value}</text:p></table:table-cell>'
            for kind, given, value in row
        )
        + "</table:table-row>"
        for row in [
            [("string", "", "id"), ("string", "", "a")],
            [("string", "", "007"), ("float", ' office:value="1.5"', "1.5")],
        ]
    )
    office = "urn:oasis:names:tc:opendocument:xmlns:"
    content = (
        f'<office:document-content xmlns:office="{office}office:1.0" xmlns:table="{office}table:1.0" '
        f'xmlns:text="{office}text:1.0"><office:body><office:spreadsheet><table:table table:name="T">{cells}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    manifest = f'<m:manifest xmlns:m="{office}manifest:1.0"/>'
    with zipfile.ZipFile(tmp_path / "t.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", manifest)
        archive.writestr("content.xml", content)
    table = read_table(tmp_path / "t.ods")
    assert list(table.ids) == ["007"]
    assert table.values["a"].tolist() == [1.5]
