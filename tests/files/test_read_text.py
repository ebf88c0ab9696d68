"""Text files: what is found out about them is right, what cannot be read is refused with its line."""

import gzip
import io
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from coview.exceptions import ViewError
from coview.files import list_sheets, read_table, read_tables_in


@pytest.fixture
def read(tmp_path):
    """Read a table from text or bytes, as a user's file."""

    def read(content, name="table.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, **options)

    return read


def codes(table):
    return {finding.code for finding in table.findings}


def column(table, name):
    return table.values[name].tolist()


@pytest.mark.parametrize(
    ("content", "separator", "decimal"),
    [
        ("id,a,b\np,1.5,x\nq,2.5,y\n", '","', '"."'),
        ("id;a;b\np;1,5;x\nq;2,5;y\n", '";"', '","'),
        ("id;a;b\np;1.5;x\nq;2.5;y\n", '";"', '"."'),
        ("id\ta\tb\np\t1.5\tx\nq\t2.5\ty\n", "tab", '"."'),
        ("id\ta\tb\np\t1,5\tx\nq\t2,5\ty\n", "tab", '","'),
        ("id|a|b\np|1.5|x\nq|2.5|y\n", '"|"', '"."'),
        ("id   a  b\np  1.5  2\nq 2.5  3\n", "spaces", '"."'),
        ('id,a,b\n"p","1,5","x"\n"q","2,5","y"\n', '","', '","'),
        ('"id", "a", "b"\n"p", "1.5", "x"\n"q", "2.5", "y, z"\n', '","', '"."'),
    ],
)
def test_separator_and_decimal_mark_are_found(read, content, separator, decimal):
    table = read(content)
    assert table.guesses["separator"] == separator
    assert table.guesses["decimal"] == decimal
    assert list(table.ids) == ["p", "q"]
    assert column(table, "a") == [1.5, 2.5]


def test_given_separator_and_decimal_win(read):
    assert list(read("id;a,b\np;1,5\n", separator=",").ids) == ["p;1"]
    assert column(read("id;a\np;1,234\n", decimal="."), "a") == [1234]
    assert column(read("id;a\np;1,234\n", decimal=","), "a") == [1.234]
    assert column(read("id a\np 2\n", separator="space"), "a") == [2]


def test_more_header_separators_do_not_decide(read):
    """A title with commas above a semicolon table, and commas in one column only."""
    table = read("Export, of, things\nid;a;b\np;1,5;x\nq;2,5;y\n")
    assert list(table.values.columns) == ["a", "b"]
    assert table.guesses["header"] == "line 2"
    assert "lines_skipped" in codes(table)


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "latin-1"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(read, encoding, end):
    table = read(end.join(["id,größe", "Zoë,1.5", "Jürgen,2.5", ""]).encode(encoding))
    assert list(table.ids) == ["Zoë", "Jürgen"]
    assert column(table, "größe") == [1.5, 2.5]


def test_encoding_is_told_and_may_be_given(read):
    assert read("id,a\nü,1\n".encode("cp1252")).guesses["encoding"] == "windows-1252, because it is not UTF-8"
    assert list(read("id,a\nЖ,1\n".encode("koi8-r"), encoding="koi8-r").ids) == ["Ж"]


def test_a_wrong_byte_in_utf8_names_its_line(read):
    with pytest.raises(ViewError, match=r"table\.csv, line 3: a byte that is not UTF-8"):
        read("id,a\nü,1\n".encode() + b"\xff,2\nx,3\n")


def test_late_bytes_of_another_encoding_are_found(read):
    """Beyond the first block that is read."""
    lines = "".join(f"p{row},{row}\n" for row in range(120_000))
    table = read(f"id,a\n{lines}".encode() + "é,1\n".encode("latin-1"))
    assert table.ids[-1] == "é"


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", {}, "is empty"),
        ("\n\n \n", {}, "blank lines only"),
        ("id,a,b\n", {}, "has a header and no rows below it"),
        ("id,a,b\n,,\n,,\n", {}, "only empty rows"),
        ("sep=;\n", {}, "no table below its first line"),
        ("id,a\np,1\0\n", {}, r"line 2: holds a NUL byte"),
        ("id,a\np,1\nq,2,3\n", {}, r"table has 2 columns, but line 3 has 3 .*--sep"),
        ("id,a\np,1,9\nq,2\nr,3\n", {}, r"but line 2 has 3 "),
        ("id,a\np,1\nq,2,\nr,3\n", {}, r"but line 3 has 3 "),
        ("id,a\np,1\n   \nq,2\nSource: us\n", {}, r"but line 5 has 1 "),
        ("id,a,b\np,1,2\nq,2\nr,3,4\n", {}, r"but line 3 has 2 "),
        ('id,a,b\np,"1,0",2\nq,2\nr,"3,1",4\n', {}, r"but line 3 has 2 "),
        ('id,a\np,"x\ny"\nq,1,2\n', {}, r"line 4 has 3"),
        ('id,a\np,1\nq,"2\nr,3\n', {}, r"line 3: a quote mark is opened"),
        ("id,a,b,a\np,1,2,3\n", {}, r"repeated: 'a' \(columns 2, 4\)"),
        ("id,a, a \np,1,2\n", {}, r"repeated: 'a' \(columns 2, 3\)"),
        ("id,a\np,1\n,2\n", {}, r"'id' is empty in 1 row\(s\), first in line\(s\) 3"),
        ("id,a\np,1\n", {"id_column": "ido"}, r"no column 'ido' for the ids. Did you mean 'id'"),
        ("id,a\np,1\n", {"separator": "::"}, "separator must be one character"),
        ("id,a\np,1\n", {"decimal": ";"}, "decimal mark must be"),
        ("id,a\np,1\n", {"encoding": "utf-99"}, "no encoding 'utf-99'"),
        ("id,a\np,1\n", {"sheet": "S"}, "has no sheets"),
        ("id,ä\np,1\n".encode("latin-1"), {"encoding": "utf-8"}, "line 1: not valid utf-8"),
        ("id,a\np,1\n".encode("utf-16"), {"encoding": "utf-8"}, "byte order mark of utf-16-le"),
    ],
)
def test_refused_with_the_place(read, content, options, message):
    with pytest.raises(ViewError, match=message):
        read(content, **options)


def test_lines_are_counted_through_quoted_newlines(read):
    with pytest.raises(ViewError, match=r"first in line\(s\) 5"):
        read('id,a\np,"one\ntwo\nthree"\n,2\n')


def test_unknown_kinds_of_files(tmp_path):
    for name, message in [("a.docx", "cannot be read"), ("a", "without an ending"), ("a.zip.gz", "Unpack it")]:
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(ViewError, match=message):
            read_table(tmp_path / name)
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError, match="folder"):
        read_table(tmp_path)


def test_ids_stay_as_written(read):
    table = read("patient,a\n007,1\nNA,2\n1e5,3\n1.0,4\nnull,5\n")
    assert list(table.ids) == ["007", "NA", "1e5", "1.0", "null"]
    assert table.id_column == "patient"
    assert "missing" not in table.guesses
    assert read("id,a\nNA,NA\nnull,2\n").guesses["missing"] == '"NA" (1)'


def test_ids_with_decimal_points_are_told(read):
    table = read("id,a\n1.0,1\n2.0,2\n")
    assert list(table.ids) == ["1.0", "2.0"]
    assert "float_ids" in codes(table)
    assert "float_ids" not in codes(read("id,a\n1.5,1\n2.25,2\n"))


def test_spaces_around_ids_and_names_are_dropped_and_told(read):
    table = read("id , size\n p,1\nq ,2\n")
    assert list(table.ids) == ["p", "q"]
    assert list(table.values.columns) == ["size"]
    assert {"spaces_in_ids", "spaces_in_names"} <= codes(table)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (",a\nr1,1\nr2,2\n", ""),
        ("Unnamed: 0,a\n0,1\n1,2\n", "Unnamed: 0"),
        ("a,patient_id\n1,p\n2,q\n", "patient_id"),
        ("Sample ID,a\np,1\nq,2\n", "Sample ID"),
        ("who,a\np,1\nq,2\n", "who"),
        ("who,a\np,1\np,2\n", None),
        ("name,a\np,1\np,2\np,3\n", None),
        ("sample,a\np,1\np,2\nq,3\nr,3\n", "sample"),
        ("age,a\n1,3\n2,4\n", None),
        ("hospital_stay_paid,a\n1,1\n2,2\n", None),
        ("visit_id,patient_id\n1,p\n1,q\n", "patient_id"),
    ],
)
def test_which_column_holds_the_ids(read, content, expected):
    table = read(content)
    assert table.id_column == expected
    assert (table.ids is None) == (expected is None)


def test_id_column_by_name_whatever_its_case(read):
    table = read("Code,id\nx,1\ny,2\n", id_column="code")
    assert list(table.ids) == ["x", "y"]
    assert table.guesses["id"] == "Code (for 'code')"


def test_r_writes_a_header_without_a_name_for_row_names(read):
    for content in ("a b\nr1 1 2\nr2 3 4\n", '"a"\t"b"\n"r1"\t1\t2\n"r2"\t3\t4\n'):
        table = read(content, "table.txt")
        assert list(table.ids) == ["r1", "r2"]
        assert column(table, "b") == [2, 4]


def test_without_header(read):
    table = read("p,1.5,2\nq,2.5,3\n")
    assert list(table.ids) == ["p", "q"]
    assert list(table.values.columns) == ["column_2", "column_3"]
    assert table.guesses["header"] == "none"
    assert table.first_line == 1
    assert "no_header" in codes(table)
    assert column(read("5.5,1\n7,2\n"), "column_1") == [5.5, 7.0]


@pytest.mark.parametrize("header", ["id,400,401,402.5,403", ",0,1,2,3", "wave,400,410,420,430"])
def test_numbers_as_column_names(read, header):
    table = read(f"{header}\np,4,9,1,3\nq,1,1,1,1\n")
    assert list(table.values.columns) == header.split(",")[1:]


def test_titles_and_comments_above_the_table(read):
    for above in ("My study,,\n,,\n", "# made by us\n# on Monday, at noon\n", "My study\n\n"):
        table = read(f"{above}id,a,b\np,1,2\nq,3,4\n")
        assert column(table, "a") == [1, 3]
        assert table.guesses["header"] == f"line {above.count(chr(10)) + 1}"
        assert table.first_line == above.count("\n") + 2
        assert "lines_skipped" in codes(table)
    assert list(read("#SampleID\tA\tB\np\t1\t2\n").ids) == ["p"]


def test_marks_of_missing_values_are_counted(read):
    table = read('id,a,b,c\np,NA,x,1\nq,,"NA",2\nr,3,N/A,?\ns,4,y,NA\nt,5,,.\n')
    assert table.guesses["missing"] == '"NA" (3), "N/A" (1), "." (1), "?" (1), empty (2)'
    assert_array_equal(table.values["a"], [np.nan, np.nan, 3, 4, 5])
    assert table.values["b"].isna().tolist() == [False, True, True, False, True]


def test_marks_across_the_pieces_that_are_counted(read, monkeypatch):
    monkeypatch.setattr("coview.files._missing._BLOCK", 7)
    rows = "".join(f"p{row},NA,{row}\n" for row in range(50))
    assert read(f"id,a,b\n{rows}").guesses["missing"] == '"NA" (50)'


def test_words_are_missing_among_numbers_and_categories_among_words(read):
    table = read("id,a,smoker\np,1,None\nq,None,light\nr,-,heavy\ns,4,-\n")
    assert_array_equal(table.values["a"], [1, np.nan, np.nan, 4])
    assert column(table, "smoker") == ["None", "light", "heavy", "-"]
    assert "kept_marks" in codes(table)
    assert table.guesses["missing"] == '"None" (1), "-" (1)'


def test_given_marks_are_the_only_ones(read):
    table = read("id,a,b\np,-999,NA\nq,2,x\nr,,y\n", missing=["-999"])
    assert_array_equal(table.values["a"], [np.nan, 2, np.nan])
    assert column(table, "b") == ["NA", "x", "y"]
    assert table.guesses["missing"] == '"-999" (1), empty (1)'
    assert column(read("id,b\np,NA\nq,x\n", missing=[""]), "b") == ["NA", "x"]


def test_thousands_separators(read):
    for content, value in [
        ('id,a\np,"1,234.5"\nq,7\n', 1234.5),
        ("id;a\np;1.234,5\nq;7\n", 1234.5),
        ("id;a;b\np;1 234;1,5\nq;7;2\n", 1234.0),
        ("id;a\np;1'234'567.5\nq;7\n", 1234567.5),
        ("id;a\np;1\u00a0234,5\nq;7\n", 1234.5),
        ("id;a;b\np;1.234;0,5\nq;7;1,5\n", 1234.0),
    ]:
        table = read(content)
        assert column(table, "a") == [value, 7]
        assert "in 1 column(s)" in table.guesses["thousands"]


def test_grouping_must_fit_the_whole_column(read):
    table = read("id;a;b\np;1,23;0.5\nq;12,34,5;1.5\n")
    assert column(table, "a") == ["1,23", "12,34,5"]


def test_an_undecidable_decimal_mark_is_told(read):
    table = read("id;a\np;1,234\nq;5,678\n")
    assert column(table, "a") == [1.234, 5.678]
    finding = next(finding for finding in table.findings if finding.code == "ambiguous_decimal")
    assert finding.columns == ("a",)
    assert "--decimal" in finding.advice
    tab = read("id\ta\np\t1,234\nq\t5,678\n")
    assert column(tab, "a") == [1234, 5678]
    assert "ambiguous_decimal" in codes(tab)
    decided = read("id;a;b\np;1,234;0,5\nq;5,678;2\n")
    assert column(decided, "a") == [1.234, 5.678]
    assert "ambiguous_decimal" not in codes(decided)
    decided = read("id;a;b\np;1,234;0.5\nq;5,678;2\n")
    assert column(decided, "a") == [1234, 5678]
    assert "ambiguous_decimal" not in codes(decided)


def test_trailing_delimiters_and_empty_columns(read):
    for content in ("id,a,\np,1,\nq,2,\n", "id,a\np,1,\nq,2,\n", "id,a,,\np,1,,\nq,2,,\n"):
        table = read(content)
        assert list(table.values.columns) == ["a"]
        assert column(table, "a") == [1, 2]
    assert "missing" not in read("id,a,\np,1,\nq,2,\n").guesses


def test_unnamed_columns_with_content(read):
    table = read("id,a,,b\np,1,2,3\n")
    assert list(table.values.columns) == ["a", "column_3", "b"]
    assert "unnamed_columns" in codes(table)


def test_names_that_differ_in_case_only(read):
    assert "similar_names" in codes(read("id,Age,age\np,1,2\n"))


def test_rows_without_content_are_dropped(read):
    table = read("id,a\np,1\n,\n,\n")
    assert list(table.ids) == ["p"]
    assert "empty_rows" in codes(table)
    assert column(read("a,b\n1.5,2\n,\n3,4\n,\n"), "b")[::2] == [2, 4]


def test_rows_of_marks_are_samples(read):
    """Without ids, a row more or less would shift all that follows."""
    assert len(read("a,b\n1.5,2\nNA,NA\n").values) == 2
    assert len(read("a,b\n1.5,2\n,\nNA,NA\n,\n,\n").values) == 3
    assert len(read("a\n1.5\n2\n.\n").values) == 3


def test_almost_numbers_and_dates(read):
    rows = "".join(f"p{row},{row},2020-01-{row:02d}\n" for row in range(1, 20))
    table = read(f"id,a,when\n{rows}q,<0.1,2021-01-01\nr,12 mg,\n")
    assert table.values["a"].tolist()[-2:] == ["<0.1", "12 mg"]
    almost = next(finding for finding in table.findings if finding.code == "almost_numeric")
    assert almost.count == 2
    assert "'<0.1' (line 21), '12 mg' (line 22)" in almost.message
    assert "--na '<0.1' --na '12 mg'" in almost.advice
    dates = next(finding for finding in table.findings if finding.code == "dates")
    assert dates.columns == ("when",)


def test_many_columns_of_almost_numbers_are_told_together(read):
    names = [f"g{place}" for place in range(40)]
    rows = [",".join([f"p{row}", *["<LOD" if row == 7 else str(row)] * 40]) for row in range(10)]
    table = read("\n".join([",".join(["id", *names]), *rows]))
    found = [finding for finding in table.findings if finding.code == "almost_numeric"]
    assert [len(finding.columns) for finding in found] == [1, 1, 1, 10]
    assert found[3].count == 37
    assert "'<LOD'" in found[3].message


def test_numbers_with_units(read):
    table = read("id,a,b\np,12%,1a\nq,7.5%,2b\nr,,3a\ns,1%,4b\n")
    (finding,) = [finding for finding in table.findings if finding.code == "numbers_with_units"]
    assert (finding.columns, "'a' (%)" in finding.message) == (("a",), True)


def test_lines_of_spaces_are_no_samples(read):
    assert list(read("id,a\np,1\n   \nq,\n").ids) == ["p", "q"]


def test_names_with_line_breaks(read):
    assert list(read('id,"age\n(years)"\np,1\n').values.columns) == ["age (years)"]


def test_the_separator_that_a_first_line_tells(read):
    for content in ("sep=;\nid;a\np;1,5\n", '"sep=;"\r\nid;a\r\np;1,5\r\n'):
        table = read(content)
        assert (list(table.ids), column(table, "a"), table.first_line) == (["p"], [1.5], 3)


def test_mixtures_are_not_almost_numbers(read):
    assert "almost_numeric" not in codes(read("id,a\np,1\nq,x\nr,y\ns,2\n"))


def test_infinity_and_overflow(read):
    table = read("id,a,b\np,inf,1\nq,2,1e999\n")
    finding = next(finding for finding in table.findings if finding.code == "infinite_values")
    assert (finding.count, finding.columns, finding.level) == (2, ("a", "b"), "error")
    assert "infinite_values" not in codes(read("id,a\np,1e308\nq,-1e308\n"))


def test_truth_values_and_words(read):
    table = read("id,t,u,v\np,TRUE,yes,true\nq,FALSE,no,\n")
    assert table.values["t"].dtype == bool
    assert column(table, "u") == ["yes", "no"]
    assert table.values["v"].iloc[0] is True


def test_long_whole_numbers_keep_their_digits(read):
    table = read("id,code\np,123456789012345678901234567\nq,1\n")
    assert column(table, "code") in (["123456789012345678901234567", "1"], [1.2345678901234568e26, 1.0])


def test_gzip_and_damaged_gzip(tmp_path):
    whole = gzip.compress(b"id,a\np,1\nq,2\n" * 1)
    (tmp_path / "t.csv.gz").write_bytes(whole)
    table = read_table(tmp_path / "t.csv.gz")
    assert table.name == "t"
    assert list(table.ids) == ["p", "q"]
    for damaged in (whole[:-9], b"id,a\np,1\n"):
        (tmp_path / "d.csv.gz").write_bytes(damaged)
        with pytest.raises(ViewError, match=r"d\.csv\.gz is not a whole gzip file"):
            read_table(tmp_path / "d.csv.gz")


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"id;a\np;1,5\n")))
    table = read_table("-")
    assert table.name == "stdin"
    assert column(table, "a") == [1.5]


def test_one_column_and_quoted_newlines(read):
    assert list(read("id\np\nq\n").ids) == ["p", "q"]
    table = read('id,text\np,"one, two\nthree"\nq,"say ""hi"""\n')
    assert column(table, "text") == ["one, two\nthree", 'say "hi"']


def test_columns_that_change_their_kind_far_down(read, monkeypatch):
    """The reader's pieces are joined so that text keeps the cells as they are written."""
    monkeypatch.setattr("coview.files._table_text._CELLS_AT_ONCE", 1)
    monkeypatch.setattr("coview.files._table_text._FEWEST_ROWS", 64)
    rows = [f"p{row},{row},,true" for row in range(200)] + ["q,01x,7,1.50"]
    table = read("id,a,b,c\n" + "\n".join(rows) + "\n")
    assert column(table, "a") == [str(row) for row in range(200)] + ["01x"]
    assert_array_equal(table.values["b"], [np.nan] * 200 + [7])
    assert column(table, "c") == ["true"] * 200 + ["1.50"]
    assert list(table.ids) == [f"p{row}" for row in range(200)] + ["q"]


def test_long_lines(read):
    """Lines of more than a megabyte, which is what is looked at otherwise."""
    names = [f"{'g' * 400}{place}" for place in range(3_000)]
    values = np.arange(3_000.0)
    lines = [",".join(["id", *names])] + [",".join([f"p{row}", *map(str, values + row)]) for row in range(3)]
    table = read("\n".join(lines))
    assert list(table.values.columns) == names
    assert_array_equal(table.values.to_numpy(), values + np.arange(3)[:, None])


def test_one_table_per_text_file(tmp_path):
    (tmp_path / "t.tsv").write_text("id\ta\np\t1\n")
    assert list_sheets(tmp_path / "t.tsv") == []
    (table,) = read_tables_in(tmp_path / "t.tsv", missing=["1"])
    assert table.name == "t"
    assert table.values["a"].isna().all()


def test_column_index_is_text(read):
    table = read(",0,1\np,1,2\n")
    assert table.values.columns.tolist() == ["0", "1"]
    assert isinstance(table.values.index, pd.RangeIndex)
