"""Files become views: names, groups of columns, ids matched, findings."""

import warnings

import numpy as np
import pandas as pd
import pytest

from coview import Views
from coview.compose import TableEncoder
from coview.exceptions import ViewError
from coview.files import TableOptions, read_table_set
from coview.views import resolve_presence

CLINICAL = "patient,age,sex\n007,61,f\n008,48,m\n009,55,f\n"
CT = "patient,volume\n009,3.5\n007,4.25\n010,1.5\n"


@pytest.fixture
def write(tmp_path):
    """A function that writes a file and returns its path."""

    def write_file(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write_file


def codes(table_set, level=None):
    return [finding.code for finding in table_set.findings if level in (None, finding.level)]


def test_several_files_are_views_named_by_stem_and_joined_by_id(write):
    table_set = read_table_set(TableOptions(data=(write("clinical.csv", CLINICAL), write("ct.csv", CT))))
    assert table_set.tables.names == ["clinical", "ct"]
    assert list(table_set.tables.ids) == ["007", "008", "009", "010"]
    np.testing.assert_array_equal(
        resolve_presence(table_set.tables), [[True, True], [True, False], [True, True], [False, True]]
    )
    assert (table_set.id_name, table_set.labels, table_set.target) == ("patient", None, None)
    assert [(file.name, file.shape, file.values) for file in table_set.files] == [
        ("clinical", (3, 2), None),
        ("ct", (3, 1), None),
    ]
    (finding,) = [finding for finding in table_set.findings if finding.code == "partial_overlap"]
    assert finding.message.startswith("Of 4 samples, 2 have a row in both views (clinical 3, ct 3)")


def test_a_table_set_is_a_source_of_views_and_tables(write):
    table_set = read_table_set(TableOptions(data=(write("clinical.csv", CLINICAL), write("ct.csv", CT))))
    encoded = TableEncoder().fit_transform(table_set)
    assert list(encoded.index) == ["007", "008", "009", "010"]
    assert encoded.n_features == {"clinical": 3, "ct": 1}
    ct = read_table_set(TableOptions(view=(f"ct={write('other.csv', CT)}",)))
    np.testing.assert_allclose(Views(ct)["ct"], [[3.5], [4.25], [1.5]])


def test_named_views_keep_their_order_and_their_names(write):
    options = TableOptions(view=(f"scan={write('a.csv', CT)}", f"record={write('b.csv', CLINICAL)}"))
    assert read_table_set(options).tables.names == ["scan", "record"]


def test_a_slash_or_a_space_may_be_part_of_a_views_name(write):
    path = write("ct.csv", CT)
    assert read_table_set(TableOptions(view=(f"a/b c ={path}",))).tables.names == ["a/b c"]


def test_an_equals_sign_in_a_file_name_belongs_to_the_file(write):
    assert read_table_set(TableOptions(view=(f"ct={write('a=b.csv', CT)}",))).tables.names == ["ct"]


def test_a_number_sign_in_a_file_name_belongs_to_the_file(write):
    assert read_table_set(TableOptions(data=(write("scan#2.csv", CT),))).tables.names == ["scan#2"]


@pytest.mark.parametrize("text", ["clinical.csv", "=clinical.csv", " =clinical.csv", "clinical="])
def test_a_view_without_name_or_file_is_refused(text):
    with pytest.raises(ViewError, match="A view is given as NAME=FILE"):
        read_table_set(TableOptions(view=(text,)))


def test_a_name_that_cannot_be_printed_is_refused():
    with pytest.raises(ViewError, match="printable text"):
        read_table_set(TableOptions(view=("a\nb=clinical.csv",)))


def test_two_files_of_one_name_are_refused(write):
    files = (write("a/ct.csv", CT), write("b/ct.csv", CT))
    with pytest.raises(ViewError, match=r"would become one view: 'ct'.*--view NAME=FILE"):
        read_table_set(TableOptions(data=files))


def test_a_file_named_twice_is_refused(write):
    path = write("ct.csv", CT)
    with pytest.raises(ViewError, match=r"ct\.csv is named twice"):
        read_table_set(TableOptions(data=(path,), view=(f"other={path}",)))


def test_a_folder_without_config_names_its_files(write, tmp_path):
    write("ct.csv", CT)
    with pytest.raises(ViewError, match=r"is a folder without coview\.toml\. It holds '.*ct\.csv'"):
        read_table_set(TableOptions(data=(str(tmp_path),)))


def test_nothing_named_is_refused():
    with pytest.raises(ViewError, match="No data are named"):
        read_table_set(TableOptions())


def test_columns_called_view_feature_become_views(write):
    path = write("one.csv", "id,rna__g1,ct__volume,rna__g__2,died\na,1,2,3,yes\nb,4,5,6,no\nc,7,8,9,no\n")
    table_set = read_table_set(TableOptions(data=(path,), target="died"))
    assert {table.name: list(table.columns) for table in table_set.tables.tables} == {
        "rna": ["g1", "g__2"],
        "ct": ["volume"],
    }
    np.testing.assert_array_equal(table_set.tables.tables[0].values, [[1, 3], [4, 6], [7, 9]])
    assert "views_by_name" in codes(table_set)


def test_columns_called_view_feature_stay_one_view_where_the_user_names_it(write):
    path = write("one.csv", "id,rna__g1,ct__volume\na,1,2\nb,4,5\n")
    assert read_table_set(TableOptions(view=(f"all={path}",))).tables.names == ["all"]


def test_one_column_of_another_name_keeps_the_table_whole(write):
    path = write("one.csv", "id,rna__g1,ct__volume,age\na,1,2,3\nb,4,5,6\n")
    assert read_table_set(TableOptions(data=(path,))).tables.names == ["one"]


def test_view_columns_by_name_and_pattern(write):
    path = write("one.csv", "id,age,ct_a,ct_b,zip\na,1,2,3,4\nb,5,6,7,8\n")
    groups = write("columns.toml", 'clinical = "age"\nct = ["ct_*"]\n')
    table_set = read_table_set(TableOptions(data=(path,), view_columns=groups))
    assert {table.name: list(table.columns) for table in table_set.tables.tables} == {
        "clinical": ["age"],
        "ct": ["ct_a", "ct_b"],
    }
    (finding,) = table_set.findings
    assert (finding.code, finding.columns) == ("columns_left_out", ("zip",))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('ct = ["ctx"]', r"columns\.toml, view 'ct': no column is called or matches 'ctx'\. Did you mean 'ct_a'"),
        ("ct = 3", r"columns\.toml, view 'ct': give a list of columns"),
        ("", r"columns\.toml names no view"),
        ("ct = [", r"columns\.toml is not valid TOML"),
    ],
)
def test_wrong_view_columns_are_refused(write, text, match):
    path = write("one.csv", "id,age,ct_a\na,1,2\nb,5,6\n")
    with pytest.raises(ViewError, match=match):
        read_table_set(TableOptions(data=(path,), view_columns=write("columns.toml", text)))


def test_view_columns_need_one_table(write):
    files = (write("clinical.csv", CLINICAL), write("ct.csv", CT))
    with pytest.raises(ViewError, match="there are 2"):
        read_table_set(TableOptions(data=files, view_columns=write("columns.toml", 'a = "age"')))


def test_several_files_need_ids(write):
    files = (write("clinical.csv", CLINICAL), write("plain.csv", "x,y\n1,2\n3,4\n3,5\n"))
    with pytest.raises(ViewError, match=r"No column of .*plain\.csv .*'patient'.*columns are 'x', 'y'.*--id plain:COL"):
        read_table_set(TableOptions(data=files))


def test_one_table_without_ids_has_its_rows_for_samples(write):
    table_set = read_table_set(TableOptions(data=(write("plain.csv", "x,y\n1,2\n3,4\n3,5\n1,4\n"),), target="x"))
    assert not table_set.tables.has_ids
    assert list(table_set.tables.ids) == [1, 2, 3, 4]
    assert (table_set.id_name, table_set.labels.to_list()) == ("row", ["1", "3", "3", "1"])


def test_id_columns_for_all_and_for_one(write):
    clinical = write("clinical.csv", "key,age\na,1\nb,2\n")
    ct = write("ct.csv", "scan:no,volume\nb,1\na,2\n")
    table_set = read_table_set(TableOptions(data=(clinical, ct), id=("key", "ct:scan:no")))
    assert list(table_set.tables.ids) == ["a", "b"]
    assert table_set.id_name == "sample"
    np.testing.assert_array_equal(table_set.tables.tables[1].rows, [1, 0])


def test_two_id_columns_for_all_are_refused(write):
    with pytest.raises(ViewError, match=r"--id names 'age', 'sex' for all files"):
        read_table_set(TableOptions(data=(write("clinical.csv", CLINICAL),), id=("age", "sex")))


def test_no_overlap_names_the_ids_of_both_sides(write):
    files = (write("clinical.csv", CLINICAL), write("ct.csv", "scan_id,volume\nx1,3\nx2,4\n"))
    with pytest.raises(ViewError, match=r"No sample of view 'clinical'.*'007', '008', '009'.*'x1', 'x2'.*--id-map"):
        read_table_set(TableOptions(data=files))


def test_no_overlap_points_to_joining_almost_equal_ids(write):
    files = (write("clinical.csv", CLINICAL), write("ct.csv", "patient,volume\n7,3\n8,4\n"))
    with pytest.raises(ViewError, match=r"'007' ~ '7'.*--almost-equal join"):
        read_table_set(TableOptions(data=files))


def test_without_strictness_errors_become_findings_and_the_rest_is_read(write):
    files = (
        write("clinical.csv", "patient,age\n007,61\n008,48\n007,62\n"),
        write("plain.csv", "x,y\n1,2\n3,4\n3,5\n"),
        write("ct.csv", "patient,volume\na,3\nb,4\n"),
        str(write("ct.csv", "patient,volume\na,3\nb,4\n")) + "missing",
    )
    table_set = read_table_set(TableOptions(data=files, target="death"), strict=False)
    assert codes(table_set, "error") == [
        "unreadable_file",
        "missing_ids",
        "duplicate_ids",
        "labels_not_found",
        "no_overlap",
    ]
    assert table_set.tables.names == ["clinical", "ct"]
    assert table_set.tables.tables[0].values["age"].to_list() == [61, 48]
    levels = [finding.level for finding in table_set.findings]
    assert levels == sorted(levels, key=["error", "warning", "note"].index)


def test_without_strictness_nothing_readable_is_still_an_error(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        read_table_set(TableOptions(data=(str(tmp_path / "no.csv"),)), strict=False)


def test_reading_gives_no_warnings(write):
    files = (write("clinical.csv", CLINICAL), write("ct.csv", "patient,volume\n007,3\n9,4\n"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table_set = read_table_set(TableOptions(data=files))
    assert "almost_equal_ids" in codes(table_set, "warning")


def test_a_wide_table_is_grouped_without_copying_it(write):
    rng = np.random.default_rng(0)
    names = [f"{view}__{number}" for view in ("a", "b") for number in range(500)]
    frame = pd.DataFrame(rng.normal(size=(5, 1000)), columns=names, index=pd.Index(list("vwxyz"), name="id"))
    path = write("wide.csv", frame.to_csv())
    first, second = read_table_set(TableOptions(data=(path,))).tables.tables
    np.testing.assert_allclose(np.hstack([first.values, second.values]), frame.to_numpy())
    assert list(second.columns[:2]) == ["0", "1"]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (("age",), {"clinical": ["sex"], "ct": ["volume"]}),
        (("ct:age",), {"clinical": ["age", "sex"], "ct": ["volume"]}),
        (("*e",), {"clinical": ["sex"]}),
        (("clinical:*", "ct:v*"), {"ct": ["age"]}),
    ],
)
def test_columns_left_out(write, patterns, expected):
    files = (write("clinical.csv", CLINICAL), write("ct.csv", "patient,volume,age\n007,1,2\n008,3,4\n"))
    tables = read_table_set(TableOptions(data=files, leave_out=patterns)).tables.tables
    assert {table.name: list(table.columns) for table in tables} == expected


def test_a_column_to_leave_out_that_is_not_there_names_the_nearest(write):
    with pytest.raises(ViewError, match=r"No column to leave out is called or matches 'agee'\. Did you mean 'age'"):
        read_table_set(TableOptions(data=(write("clinical.csv", CLINICAL),), leave_out=("agee",)))


def test_ignored_columns_need_not_be_there_and_keep_views_by_name(write):
    path = write("one.csv", "id,rna__g1,ct__volume,died\na,1,2,yes\nb,4,5,no\n")
    table_set = read_table_set(TableOptions(data=(path,)), ignored=("died", "other"))
    assert table_set.tables.names == ["rna", "ct"]
