"""What is unlabeled, and how classes are encoded: one rule, case by case."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from coview.labels import encode_labels, encode_targets, labeled_rows, target_values

NAN = np.nan


@pytest.mark.parametrize("gap", [NAN, None, pd.NA, pd.NaT, float("nan")])
@pytest.mark.parametrize("container", [list, tuple, lambda y: np.array(y, dtype=object), pd.Series])
def test_every_kind_of_gap_marks_an_unlabeled_sample(gap, container):
    classes, codes = encode_labels(container(["no", gap, "yes", "no"]))
    assert list(classes) == ["no", "yes"]
    assert_array_equal(codes, [0, -1, 1, 0])
    assert codes.dtype == np.int64


KEPT = {
    "integers": ([3, 1, 1], [1, 3], "i"),
    "strings": (["b", "a", "a"], ["a", "b"], "O"),
    "string array": (np.array(["b", "a", "a"]), ["a", "b"], "U"),
    "truth values": ([True, False, False], [False, True], "b"),
    "floats": ([1.0, 0.0, 0.0], [0.0, 1.0], "f"),
    "objects": (np.array([2, 1, 1], dtype=object), [1, 2], "i"),
    "categories": (pd.Series(["b", "a", "a"], dtype="category"), ["a", "b"], "O"),
    "numeric categories": (pd.Series([7, 5, 5], dtype="category"), [5, 7], "i"),
    "categorical": (pd.Categorical(["b", "a", "a"], categories=["z", "b", "a"]), ["a", "b"], "O"),
    "nullable integers": (pd.array([4, 2, 2], dtype="Int64"), [2, 4], "i"),
    "nullable truth": (pd.array([True, False, False], dtype="boolean"), [False, True], "b"),
    "index": (pd.Index(["b", "a", "a"]), ["a", "b"], "O"),
    "one column": (pd.DataFrame({"y": ["b", "a", "a"]}), ["a", "b"], "O"),
}


@pytest.mark.parametrize(("y", "classes", "kind"), KEPT.values(), ids=KEPT)
def test_classes_keep_their_type(y, classes, kind):
    found, codes = encode_labels(y)
    assert found.tolist() == classes
    assert [type(item) for item in found.tolist()] == [type(item) for item in classes]
    assert found.dtype.kind == kind
    assert_array_equal(codes, [1, 0, 0])


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "object"])
def test_gaps_do_not_change_the_type_of_the_others(dtype):
    y = pd.Series([True, None, False] if dtype == "boolean" else [2, None, 1], dtype=dtype)
    classes, codes = encode_labels(y)
    assert classes.dtype.kind == ("b" if dtype == "boolean" else "i")
    assert_array_equal(codes, [1, -1, 0])


class TestMinusOne:
    def test_marks_unlabeled_in_integers(self):
        for y in (
            [0, -1, 1],
            np.array([0, -1, 1], dtype=np.int8),
            pd.Series([0, -1, 1]),
            pd.array([0, -1, 1], dtype="Int64"),
        ):
            classes, codes = encode_labels(y)
            assert_array_equal(classes, [0, 1])
            assert_array_equal(codes, [0, -1, 1])

    def test_is_a_class_where_a_gap_occurs(self):
        for y in ([0, -1, None], [0, -1, NAN], pd.Series([0, -1, None], dtype="Int64"), np.array([0, -1, None])):
            classes, codes = encode_labels(y)
            assert_array_equal(classes, [-1, 0])
            assert_array_equal(codes, [1, 0, -1])

    def test_is_a_class_in_floats(self):
        classes, codes = encode_labels(np.array([0.0, -1.0, 1.0]))
        assert_array_equal(classes, [-1, 0, 1])
        assert_array_equal(codes, [1, 0, 2])

    def test_is_text_like_any_other(self):
        assert encode_labels(["-1", "1"])[0].tolist() == ["-1", "1"]

    @pytest.mark.parametrize("y", [[-1, 1], [1, -1, -1], np.array([1, -1], dtype=object), pd.Series([1, -1])])
    def test_with_plus_one_alone_is_ambiguous(self, y):
        with pytest.raises(ValueError, match="missing_label"):
            encode_labels(y)

    def test_with_plus_one_is_settled_by_missing_label(self):
        assert_array_equal(encode_labels([-1, 1], missing_label=NAN)[0], [-1, 1])
        assert_array_equal(encode_labels([-1, 1], missing_label=None)[0], [-1, 1])
        classes, codes = encode_labels([-1, 1], missing_label=-1)
        assert_array_equal(classes, [1])
        assert_array_equal(codes, [-1, 0])

    def test_with_plus_one_is_settled_by_classes(self):
        assert_array_equal(encode_labels([-1, 1], classes=[-1, 1])[1], [0, 1])
        assert_array_equal(encode_labels([-1, 1], classes=[0, 1])[1], [-1, 1])

    def test_is_a_class_for_supervised_methods(self):
        assert_array_equal(encode_labels([-1, 1, -1], allow_missing=False)[0], [-1, 1])
        assert_array_equal(encode_labels([-1, 0, 1], allow_missing=False)[1], [0, 1, 2])


def test_any_value_may_mark_unlabeled():
    classes, codes = encode_labels(["a", "?", "b"], missing_label="?")
    assert classes.tolist() == ["a", "b"]
    assert_array_equal(codes, [0, -1, 1])
    assert_array_equal(encode_labels([0, 9, 1, -1], missing_label=9)[0], [-1, 0, 1])
    assert_array_equal(encode_labels(["a", None, "?"], missing_label="?")[1], [0, -1, -1])


@pytest.mark.parametrize("y", [["a", None], [1.0, NAN], pd.Series([1, None], dtype="Int64")])
def test_supervised_methods_refuse_gaps(y):
    with pytest.raises(ValueError, match=r"contains NaN: 1 of 2 labels.*semi-supervised"):
        encode_labels(y, allow_missing=False)
    with pytest.raises(ValueError, match="1 of 2 labels"):
        encode_labels(["a", "?"], missing_label="?", allow_missing=False)


class TestDeclaredClasses:
    def test_order_and_unseen_classes(self):
        classes, codes = encode_labels(["b", None, "b"], classes=["c", "b", "a"])
        assert classes.tolist() == ["c", "b", "a"]
        assert_array_equal(codes, [1, -1, 1])

    def test_no_label_at_all(self):
        classes, codes = encode_labels([None, None], classes=[0, 1], min_classes=2)
        assert_array_equal(classes, [0, 1])
        assert_array_equal(codes, [-1, -1])
        assert_array_equal(encode_labels([-1, -1], classes=[0, 1])[1], [-1, -1])

    def test_labels_outside(self):
        with pytest.raises(ValueError, match=r"not in classes=.*'z'"):
            encode_labels(["a", "z"], classes=["a", "b"])

    @pytest.mark.parametrize("classes", [["a", "a"], [[1, 2]], [1, "a"]])
    def test_wrong_declaration(self, classes):
        with pytest.raises(ValueError, match="classes must be"):
            encode_labels(["a"], classes=classes)

    def test_numbers_match_across_types(self):
        assert_array_equal(encode_labels([1.0, NAN, 0.0], classes=[0, 1])[1], [1, -1, 0])


def test_no_label_without_declared_classes():
    for y in ([None, None], [NAN], [-1, -1]):
        with pytest.raises(ValueError, match="No sample of y is labeled"):
            encode_labels(y)


def test_a_single_class_where_two_are_needed():
    assert encode_labels(["a", None])[0].tolist() == ["a"]
    with pytest.raises(ValueError, match=r"At least 2 classes.*only one class.*classes="):
        encode_labels(["a", None], min_classes=2)
    assert encode_labels(["a", None], min_classes=2, classes=["a", "b"])[0].tolist() == ["a", "b"]
    with pytest.raises(ValueError, match=r"only one class: \[1\.0\]\. Give"):  # as written, not as numpy shows it
        encode_labels([1.0, np.nan], min_classes=2)


@pytest.mark.parametrize("y", [[0.5, 1.5], np.array([0.1, NAN, 2.3])])
def test_continuous_targets_are_no_classes(y):
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        encode_labels(y)


@pytest.mark.parametrize("y", [[1, "a"], np.array([1, "a", None], dtype=object), [True, "a"]])
def test_mixed_labels_are_refused(y):
    with pytest.raises(ValueError, match="of one type; got"):
        encode_labels(y)


def test_infinite_labels_are_refused():
    with pytest.raises(ValueError, match="contains infinity in 1 of 2"):
        encode_labels([np.inf, 1.0])


@pytest.mark.parametrize("y", [np.ones((2, 2)), 3.0, pd.DataFrame({"a": [1], "b": [2]})])
def test_targets_have_one_dimension(y):
    with pytest.raises(ValueError, match="1d array"):
        target_values(y)


class TestTargets:
    @pytest.mark.parametrize("gap", [NAN, None, pd.NA])
    def test_gaps(self, gap):
        targets = encode_targets(pd.Series([1, gap, -1], dtype=object))
        assert targets.dtype == np.float64
        assert_array_equal(targets, [1, NAN, -1])

    def test_minus_one_is_a_number(self):
        assert_array_equal(encode_targets([-1, 1]), [-1.0, 1.0])

    def test_nullable(self):
        assert_array_equal(encode_targets(pd.array([1, None], dtype="Int64")), [1, NAN])

    def test_text(self):
        with pytest.raises(ValueError, match="must be numbers"):
            encode_targets(["a", None])

    @pytest.mark.parametrize("y", [[NAN, NAN], [None]])
    def test_nothing_labeled(self, y):
        with pytest.raises(ValueError, match="NaN only: no sample is labeled"):
            encode_targets(y)

    def test_infinity(self):
        with pytest.raises(ValueError, match="infinity in 1 of 3"):
            encode_targets([1.0, NAN, -np.inf])

    def test_supervised(self):
        with pytest.raises(ValueError, match="contains NaN: 1 of 2"):
            encode_targets([1.0, NAN], allow_missing=False)
        assert_array_equal(encode_targets([1, 2], allow_missing=False), [1.0, 2.0])

    def test_input_is_not_changed(self):
        y = np.array([1.0, NAN])
        encode_targets(y)[0] = 5
        assert y[0] == 1.0


def test_labeled_rows():
    assert_array_equal(labeled_rows([0, -1, 1]), [True, False, True])
    assert_array_equal(labeled_rows([0.0, -1.0, NAN]), [True, True, False])
    assert_array_equal(labeled_rows([-1, 1], classes=[-1, 1]), [True, True])
    assert_array_equal(labeled_rows([-1, 1], classes=[0, 1]), [False, True])
    assert_array_equal(labeled_rows(["a", "?"], missing_label="?"), [True, False])
