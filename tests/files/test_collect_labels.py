"""Labels: where they stand, which samples they belong to, what kind they are."""

import numpy as np
import pandas as pd
import pytest

from coview.exceptions import ViewError
from coview.files import TableOptions, read_table_set
from coview.files._places import split_column
from coview.files._problems import Problems
from coview.files._task import read_task

CLINICAL = "patient,age,died,weight\np1,61,yes,70\np2,48,no,71\np3,55,,72\np4,50,no,73\n"
LABELS = "patient,grade,died\np4,2,no\np1,1,yes\np9,2,yes\n"


@pytest.fixture
def write(tmp_path):
    def write_file(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write_file


def by_code(table_set):
    return {finding.code: finding for finding in table_set.findings}


def task_of(cells, task=None, strict=True):
    problems = Problems(strict=strict)
    labels = read_task(pd.Series(cells, index=[f"s{place}" for place in range(len(cells))]), task, "y", problems)
    return labels, problems.worst_first()


def test_a_target_in_a_table_is_taken_out_of_the_features(write):
    table_set = read_table_set(TableOptions(data=(write("clinical.csv", CLINICAL),), target="died"))
    assert list(table_set.tables.tables[0].columns) == ["age", "weight"]
    assert table_set.labels.dtype == object
    assert table_set.labels.fillna("?").to_dict() == {"p1": "yes", "p2": "no", "p3": "?", "p4": "no"}
    assert table_set.target == "died"
    assert by_code(table_set)["unlabeled"].count == 1


def test_labels_in_a_file_of_their_own(write):
    options = TableOptions(data=(write("clinical.csv", CLINICAL),), labels=write("labels.csv", LABELS) + ":died")
    table_set = read_table_set(options)
    assert "died" in table_set.tables.tables[0].columns
    assert table_set.labels.fillna("?").to_list() == ["yes", "?", "?", "no"]
    assert by_code(table_set)["labels_without_data"].ids == ("p9",)
    assert [file.name for file in table_set.files] == ["clinical", "labels"]


def test_the_target_names_the_column_of_the_labels_file(write):
    files = {"data": (write("clinical.csv", CLINICAL),), "labels": write("labels.csv", LABELS)}
    assert read_table_set(TableOptions(**files, target="grade")).labels.dropna().to_list() == ["1", "2"]
    with pytest.raises(ViewError, match=r"labels\.csv has 2 columns beside the ids.*'grade', 'died'"):
        read_table_set(TableOptions(**files))
    with pytest.raises(ViewError, match=r"labels\.csv has no column 'grades' for the labels\. Did you mean 'grade'"):
        read_table_set(TableOptions(**files, target="grades"))


def test_the_only_column_of_a_labels_file_needs_no_name(write):
    labels = write("labels.csv", "patient,died\np4,no\np1,yes\np2,no\n")
    table_set = read_table_set(TableOptions(data=(write("clinical.csv", CLINICAL),), labels=labels))
    assert (table_set.target, table_set.labels.count()) == ("died", 3)


def test_a_target_that_the_labels_file_lacks_may_be_in_a_table(write):
    options = TableOptions(data=(write("clinical.csv", CLINICAL),), labels=write("l.csv", LABELS), target="weight")
    assert read_table_set(options).labels.to_list() == ["70", "71", "72", "73"]


def test_two_names_for_the_label_column_are_refused(write):
    options = TableOptions(data=(write("c.csv", CLINICAL),), labels=write("l.csv", LABELS) + ":died", target="grade")
    with pytest.raises(ViewError, match="--labels names column 'died', --target names column 'grade'"):
        read_table_set(options)


def test_labels_in_a_file_that_is_also_a_view(write):
    clinical = write("clinical.csv", CLINICAL)
    table_set = read_table_set(TableOptions(data=(clinical,), labels=f"{clinical}:died"))
    assert list(table_set.tables.tables[0].columns) == ["age", "weight"]
    assert len(table_set.files) == 1


def test_a_labels_file_among_the_data_is_no_view(write):
    labels = write("labels.csv", "patient,died\np4,no\np1,yes\np2,no\n")
    table_set = read_table_set(TableOptions(data=(write("clinical.csv", CLINICAL), labels), labels=labels))
    assert table_set.tables.names == ["clinical"]
    assert list(table_set.tables.tables[0].columns) == ["age", "weight"]
    assert "no_features" in by_code(table_set)


def test_a_target_in_several_tables_must_agree(write):
    clinical, other = write("clinical.csv", CLINICAL), "patient,died,x\np3,yes,1\np2,no,2\n"
    table_set = read_table_set(TableOptions(data=(clinical, write("ct.csv", other)), target="died"))
    assert table_set.labels.to_list() == ["yes", "no", "yes", "no"]
    assert [list(table.columns) for table in table_set.tables.tables] == [["age", "weight"], ["x"]]
    disagreeing = write("ct.csv", other.replace("no", "yes"))
    with pytest.raises(ViewError, match=r"differ for 1 samples: 'p2'"):
        read_table_set(TableOptions(data=(clinical, disagreeing), target="died"))


def test_an_unknown_target_names_the_nearest(write):
    with pytest.raises(ViewError, match=r"No table has a column 'dead' for the labels\. Did you mean 'died'"):
        read_table_set(TableOptions(data=(write("clinical.csv", CLINICAL),), target="dead"))


def test_the_id_column_cannot_be_the_target(write):
    with pytest.raises(ViewError, match="'patient' is the column of the sample ids"):
        read_table_set(TableOptions(data=(write("clinical.csv", CLINICAL),), target="patient"))


def test_a_table_of_labels_only_is_refused(write):
    with pytest.raises(ViewError, match="nothing to learn from"):
        read_table_set(TableOptions(data=(write("x.csv", "patient,died\np1,yes\np2,no\n"),), target="died"))


def test_labels_repeated_with_the_same_value_count_once(write):
    labels = write("labels.csv", "patient,died\np4,no\np1,yes\np2,no\np1,yes\n")
    table_set = read_table_set(TableOptions(data=(write("clinical.csv", CLINICAL),), labels=labels))
    assert by_code(table_set)["repeated_labels"].ids == ("p1",)
    assert table_set.labels.count() == 3


def test_labels_repeated_with_another_value_are_an_error(write):
    labels = write("labels.csv", "patient,died\np4,no\np1,yes\np2,yes\np1,no\np4,no\np3,no\n")
    files = {"data": (write("clinical.csv", CLINICAL),), "labels": labels}
    with pytest.raises(ViewError, match=r"labels\.csv has several rows for 1 sample: 'p1'"):
        read_table_set(TableOptions(**files))
    assert read_table_set(TableOptions(**files, duplicates="last")).labels["p1"] == "no"
    assert pd.isna(read_table_set(TableOptions(**files, duplicates="drop")).labels["p1"])


@pytest.mark.parametrize(
    ("text", "files", "expected"),
    [
        ("labels.csv", ["labels.csv"], ("labels.csv", None)),
        ("labels.csv:died", ["labels.csv"], ("labels.csv", "died")),
        ("labels.csv:ID: died", ["labels.csv"], ("labels.csv", "ID: died")),
        ("C:\\x.csv:died", ["C:\\x.csv"], ("C:\\x.csv", "died")),
        ("C:\\x.csv", ["C:\\x.csv"], ("C:\\x.csv", None)),
        ("C:\\x.csv", [], ("C:\\x.csv", None)),
        ("C:\\x.csv:died", [], ("C:\\x.csv", "died")),
        ("a:b.csv", ["a:b.csv"], ("a:b.csv", None)),
        ("book.xlsx#grades:G", ["book.xlsx"], ("book.xlsx#grades", "G")),
        ("book.xlsx#a:b", ["book.xlsx"], ("book.xlsx#a", "b")),
        ("a:b.xlsx#c", ["a:b.xlsx"], ("a:b.xlsx#c", None)),
        ("none.csv:died", [], ("none.csv", "died")),
    ],
)
def test_file_and_column_are_told_apart(tmp_path, monkeypatch, text, files, expected):
    monkeypatch.chdir(tmp_path)
    for file in files:
        (tmp_path / file).touch()
    assert split_column(text) == expected


def test_labels_that_cannot_be_read_are_told_once(write, tmp_path):
    options = TableOptions(data=(write("clinical.csv", CLINICAL),), labels=f"{tmp_path / 'none.csv'}:died")
    table_set = read_table_set(options, strict=False)
    assert [finding.code for finding in table_set.findings] == ["unreadable_file"]
    assert table_set.labels is None


def test_leaving_out_the_target_as_a_feature_is_no_error(write):
    options = TableOptions(data=(write("clinical.csv", CLINICAL),), target="died", leave_out=("died", "age"))
    assert list(read_table_set(options).tables.tables[0].columns) == ["weight"]


def test_few_whole_numbers_are_classes_without_a_point():
    labels, findings = task_of([1.0, 2.0, np.nan, 3.0, 1.0, 2.0, 3.0])
    assert labels.dtype == object
    assert labels.dropna().to_list() == ["1", "2", "3", "1", "2", "3"]
    assert [(finding.code, finding.advice) for finding in findings] == [
        ("task", "If they are quantities, give --task regression.")
    ]


@pytest.mark.parametrize("cells", [[0.5, 1.0, 2.0, np.nan], list(range(21))])
def test_many_or_broken_numbers_are_quantities(cells):
    labels, findings = task_of(cells)
    assert labels.dtype == np.float64
    np.testing.assert_array_equal(labels.to_numpy(), cells)
    assert [finding.code for finding in findings] == ["task"]


def test_twenty_whole_numbers_are_classes_unless_asked_otherwise():
    cells = [*range(20), *range(20)]
    assert task_of(cells)[0].dtype == object
    assert task_of(cells, "regression")[0].dtype == np.float64


@pytest.mark.parametrize(
    ("cells", "classes"),
    [
        ([True, False, True, False], {"True", "False"}),
        (["1", "01", "1", "01"], {"1", "01"}),
        (pd.Categorical(["low", "high", "low", None]), {"low", "high"}),
        ([1, "a", 1, "a"], {"1", "a"}),
    ],
)
def test_classes_are_text_as_written(cells, classes):
    labels, _ = task_of(cells)
    assert set(labels.dropna()) == classes


@pytest.mark.parametrize(
    ("cells", "task", "match"),
    [
        (["yes", "yes", None], None, "All 2 labels in 'y' are 'yes'; at least two classes"),
        (list("abcdef"), None, "All 6 labels in 'y' differ .*looks like ids"),
        ([0.5, 1.5, 0.5], "classification", r"not whole, such as 0\.5, 1\.5"),
        (["1.5", "low", "2"], "regression", r"1 of 3 labels in 'y' are none: 'low' \(samples 's1'\)"),
        ([1.0, np.inf], "regression", "1 labels in 'y' are infinite"),
        ([2.0, 2.0], "regression", "All 2 labels in 'y' are 2"),
        ([np.nan, np.nan], None, "labels no sample"),
    ],
)
def test_labels_that_teach_nothing_are_refused(cells, task, match):
    with pytest.raises(ViewError, match=match):
        task_of(cells, task)


def test_labels_that_teach_nothing_are_findings_in_a_check():
    labels, findings = task_of(["yes", "yes", None], strict=False)
    assert [finding.code for finding in findings] == ["one_class"]
    assert labels.dropna().to_list() == ["yes", "yes"]


def test_classes_of_one_sample_are_a_warning():
    (finding,) = task_of(["a", "a", "b", "c", "a"])[1]
    assert (finding.code, finding.level, finding.count) == ("rare_class", "warning", 2)


def test_classes_that_differ_in_spelling_are_a_warning():
    (finding,) = task_of(["Yes", "yes", "no", "no", "Yes", "yes"])[1]
    assert (finding.code, finding.level) == ("class_spellings", "warning")
    assert "'Yes' ~ 'yes'" in finding.message
