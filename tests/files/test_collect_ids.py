"""Rows of one sample: repeated, spelled in several ways, called otherwise in each file."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coview.exceptions import ViewError
from coview.files import FileTable, TableOptions, read_table_set
from coview.files._gather import read_id_map
from coview.files._id_map import id_map_from
from coview.files._problems import Problems
from coview.files._samples import align_files, unique_samples
from coview.files._spelling import join_spellings, tell_spellings

REPEATED = "patient,age,sex\np1,61,f\np2,48,m\np1,62,f\np3,50,f\np2,48,m\n"


@pytest.fixture
def write(tmp_path):
    def write_file(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write_file


def table(ids, name="clinical", **values):
    cells = pd.DataFrame(values or {"x": np.arange(len(ids), dtype=float)})
    return FileTable(name, f"{name}.csv", cells, ids=pd.Index(ids, dtype=str), id_column="id", first_line=2)


def found(problems, code):
    return [finding for finding in problems.worst_first() if finding.code == code]


def test_repeated_ids_are_named_with_their_lines(write):
    with pytest.raises(
        ViewError,
        match=r"several rows for 2 samples: 'p1' \(line 2, line 4\), 'p2' \(line 3, line 6\)\..*--duplicates first",
    ):
        read_table_set(TableOptions(data=(write("clinical.csv", REPEATED),)))


def test_repeated_ids_with_equal_rows_are_said_to_be_harmless():
    twice = table(["a", "b", "a"], x=[1.0, 2.0, 1.0], y=[None, "u", None])
    with pytest.raises(ViewError, match="equal cell by cell, so that any of them will do"):
        unique_samples(twice, "error", Problems(strict=True))


def test_repeated_ids_with_different_rows_are_not_said_to_be_harmless():
    twice = table(["a", "b", "a"], x=[1.0, 2.0, 1.0], y=[None, "u", "v"])
    with pytest.raises(ViewError) as caught:
        unique_samples(twice, "error", Problems(strict=True))
    assert "equal cell by cell" not in str(caught.value)


def test_repeated_measurements_are_recognized():
    with pytest.raises(ViewError, match="if they were measured repeatedly, give one row for each"):
        unique_samples(table(["a", "a", "b", "b", "c", "c"]), "error", Problems(strict=True))


@pytest.mark.parametrize(
    ("policy", "ids", "ages"),
    [
        ("first", ["p1", "p2", "p3"], [61, 48, 50]),
        ("last", ["p1", "p3", "p2"], [62, 50, 48]),
        ("drop", ["p3"], [50]),
    ],
)
def test_the_policy_says_which_row_counts(write, policy, ids, ages):
    table_set = read_table_set(TableOptions(data=(write("clinical.csv", REPEATED),), duplicates=policy))
    assert list(table_set.tables.ids) == ids
    assert table_set.tables.tables[0].values["age"].to_list() == ages
    (finding,) = table_set.findings
    assert (finding.code, finding.level, finding.count, finding.view) == ("duplicate_ids", "note", 2, "clinical")


def test_sparse_tables_lose_repeated_rows_too():
    from scipy import sparse

    values = sparse.csr_array(np.array([[1, 0], [0, 2], [3, 0]]))
    rows = FileTable("rna", "rna.npz", values, columns=pd.Index(["g1", "g2"]), ids=pd.Index(["a", "b", "a"]))
    kept = unique_samples(rows, "last", Problems(strict=True))
    assert list(kept.ids) == ["b", "a"]
    np.testing.assert_array_equal(kept.values.toarray(), [[0, 2], [3, 0]])


def test_almost_equal_ids_of_two_tables_are_a_warning():
    problems = Problems(strict=True)
    tell_spellings([table(["S01", "S02"]), table(["s1", "S02"], name="ct")], problems)
    (finding,) = problems.worst_first()
    assert (finding.level, finding.ids, finding.count) == ("warning", ("S01", "s1"), 1)
    assert "--almost-equal join" in finding.advice


def test_almost_equal_ids_within_one_table_are_a_note():
    problems = Problems(strict=True)
    tell_spellings([table(["a", "A", "b"]), table(["a", "A"], name="ct")], problems)
    (finding,) = problems.worst_first()
    assert (finding.level, finding.ids, finding.advice) == ("note", ("a", "A"), "")


def test_joined_ids_are_written_as_the_first():
    problems = Problems(strict=True)
    clinical, ct = join_spellings([table(["S01", "S02"]), table(["S2", "s1", "S3"], name="ct")], problems)
    assert list(clinical.ids) == ["S01", "S02"]
    assert list(ct.ids) == ["S02", "S01", "S3"]
    assert found(problems, "almost_equal_ids")[0].count == 2


def test_two_rows_of_one_table_are_never_joined():
    tables = [table(["S01", "s1"]), table(["S01"], name="ct")]
    with pytest.raises(
        ViewError, match=r"would make one sample of several rows of clinical\.csv: 'S01' \(line 2\), 's1' \(line 3\)"
    ):
        join_spellings(tables, Problems(strict=True))


def test_rows_repeated_already_are_left_to_the_duplicates_rule():
    problems = Problems(strict=True)
    (joined, _) = join_spellings([table(["a", "a"]), table(["A"], name="ct")], problems)
    assert list(joined.ids) == ["a", "a"]


def test_joining_reaches_the_labels(write):
    clinical = write("clinical.csv", "patient,age\np1,61\np2,48\np3,50\np4,60\n")
    labels = write("labels.csv", "patient,died\nP1,yes\nP2,no\nP3,no\nP4,yes\n")
    with pytest.raises(ViewError, match=r"No id of the labels in .*'P1', 'P2', 'P3'.*'p1', 'p2', 'p3'"):
        read_table_set(TableOptions(data=(clinical,), labels=labels))
    table_set = read_table_set(TableOptions(data=(clinical,), labels=labels, almost_equal="join"))
    assert table_set.labels.to_dict() == {"p1": "yes", "p2": "no", "p3": "no", "p4": "yes"}


MAP_OF_VIEWS = "sample,clinical,ct,labels\nA,p1,007,1\nB,p2,008,2\nC,p3,,3\n"


def test_a_map_of_each_views_ids(write):
    options = TableOptions(
        data=(write("clinical.csv", "patient,age\np1,1\np2,2\np3,3\n"), write("ct.csv", "scan_id,v\n008,2\n007,1\n")),
        id=("ct:scan_id", "labels:no"),
        labels=write("labels.csv", "no,died\n1,yes\n2,no\n3,no\n"),
        id_map=write("map.csv", MAP_OF_VIEWS),
    )
    table_set = read_table_set(options)
    assert list(table_set.tables.ids) == ["A", "B", "C"]
    np.testing.assert_array_equal(table_set.tables.tables[1].rows, [1, 0])
    assert table_set.labels.to_list() == ["yes", "no", "no"]


def test_a_map_of_two_columns_holds_for_all(write):
    options = TableOptions(
        data=(write("clinical.csv", "patient,age\np1,1\np2,2\n"), write("ct.csv", "patient,v\nP-2,2\nP-1,1\n")),
        id_map=write("map.csv", "from,to\nP-1,p1\nP-2,p2\n"),
    )
    assert list(read_table_set(options).tables.ids) == ["p1", "p2"]


def test_ids_that_the_map_lacks_are_counted(write):
    options = TableOptions(
        data=(write("clinical.csv", "patient,age\np1,1\np2,2\n"), write("ct.csv", "patient,v\n007,2\n9,1\nA,3\n")),
        id_map=write("map.csv", "sample,ct\nA,007\nB,11\n"),
    )
    with pytest.raises(ViewError, match=r"The id map .*map\.csv would make one sample of several rows of .*ct\.csv"):
        read_table_set(options)
    options = TableOptions(
        data=(write("clinical.csv", "patient,age\nA,1\np2,2\n"), write("ct.csv", "patient,v\n007,2\n9,1\n")),
        id_map=options.id_map,
    )
    table_set = read_table_set(options)
    findings = {finding.code: finding for finding in table_set.findings}
    assert findings["ids_not_in_map"].ids == ("9",)
    assert findings["unused_map_ids"].count == 1


def test_a_map_that_fits_no_id_is_an_error(write):
    options = TableOptions(
        data=(write("clinical.csv", "patient,age\np1,1\n"), write("ct.csv", "patient,v\n7,2\n")),
        id_map=write("map.csv", "sample,ct\np1,007\n"),
    )
    with pytest.raises(
        ViewError, match=r"No id of .*ct\.csv stands in column 'ct' of .*begin '7', those of the map '007'"
    ):
        read_table_set(options)


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        (
            {"sample": ["A", "B"], "ct": ["1", "1"]},
            r"'1' in column 'ct' means several samples \(lines 2, 3\): 'A', 'B'",
        ),
        ({"from": ["1", "1"], "to": ["A", "B"]}, r"'1' in column 'from' means several samples"),
        ({"sample": ["A"], "ct": ["1"], "mri": ["2"]}, r"Its columns are 'sample', 'ct', 'mri'"),
        ({"sample": ["A"]}, r"Its columns are 'sample'"),
    ],
)
def test_a_wrong_map_is_refused(columns, match):
    with pytest.raises(ViewError, match=match):
        id_map_from(pd.DataFrame(columns), "map.csv", ["ct", "clinical"])


@pytest.mark.parametrize("kind", ["csv", "semicolons", "xlsx", "parquet"])
def test_a_map_may_be_of_any_kind_and_its_ids_stay_text(tmp_path, kind):
    cells = pd.DataFrame({"sample": ["A", "B", "NA"], "ct": ["007", "", "1e5"]})
    path = str(tmp_path / f"map.{kind if kind in ('xlsx', 'parquet') else 'csv'}")
    if kind == "xlsx":
        pytest.importorskip("python_calamine")
        pytest.importorskip("xlsxwriter")
        cells.to_excel(path, index=False, engine="xlsxwriter")
    elif kind == "parquet":
        pytest.importorskip("pyarrow")
        cells.to_parquet(path)
    else:
        cells.to_csv(path, index=False, sep=";" if kind == "semicolons" else ",")
    id_map = read_id_map(TableOptions(id_map=path), ["ct"])
    assert id_map.names_for("ct") == {"007": "A", "1e5": "NA"}


def test_numbers_in_a_workbooks_map_are_ids_without_a_point(tmp_path):
    pytest.importorskip("python_calamine")
    pytest.importorskip("xlsxwriter")
    cells = pd.DataFrame({"sample": [11, 12], "ct": [1.0, 2.5]})
    cells.to_excel(tmp_path / "map.xlsx", index=False, engine="xlsxwriter", startrow=1)
    id_map = read_id_map(TableOptions(id_map=str(tmp_path / "map.xlsx")), ["ct"])
    assert id_map.names_for("ct") == {"1": "11", "2.5": "12"}


def test_a_line_said_twice_in_a_map_is_no_contradiction():
    names = id_map_from(pd.DataFrame({"sample": ["A", "A"], "ct": ["1", "1"]}), "map.csv", ["ct"]).names_for("ct")
    assert names == {"1": "A"}


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True), min_size=1, max_size=4))
def test_alignment_is_the_outer_join_in_order_of_first_appearance(owners):
    """Every row of every table points to its own id, whatever the overlap."""
    aligned = align_files([table(ids, name=f"view {place}") for place, ids in enumerate(owners)])
    assert list(aligned.ids) == list(dict.fromkeys(label for ids in owners for label in ids))
    for ids, part in zip(owners, aligned.tables, strict=True):
        rows = np.arange(len(ids)) if part.rows is None else part.rows
        assert list(aligned.ids[rows]) == ids
