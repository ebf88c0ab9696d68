"""Tables are matched by sample id: outer join, order of first appearance, ids as text."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from coview import Views
from coview.exceptions import ViewError
from coview.views import almost_equal_ids, id_text


def column(values, index):
    return pd.DataFrame({"x": values}, index=index)


def test_outer_join_in_order_of_first_appearance():
    v = Views({"a": column([1.0, 2.0], ["q", "b"]), "b": column([3.0, 4.0, 5.0], ["z", "b", "a"])})
    assert list(v.index) == ["q", "b", "z", "a"]
    assert_array_equal(v.presence, [[1, 0], [1, 1], [0, 1], [0, 1]])
    assert_array_equal(v["b"], [[4.0], [3.0], [5.0]])
    assert_array_equal(v.rows("b"), [1, 2, 3])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=9, unique=True), min_size=2, max_size=4), st.booleans()
)
def test_alignment_is_the_outer_join_of_pandas(ids, as_text):
    ids = [[*table, 99] for table in ids]  # one sample common to all
    frames = {
        f"view {place}": column(np.arange(len(table)) + 100.0 * place, [str(i) for i in table] if as_text else table)
        for place, table in enumerate(ids)
    }
    joined = pd.concat(frames, axis=1, sort=False)
    v = Views(frames)
    assert list(v.index) == [str(label) for label in joined.index]
    for name in v:
        assert_array_equal(v.to_frame(name).to_numpy(), joined[name].to_numpy())


def test_order_of_rows_in_a_table_does_not_matter():
    first, second = column([1.0, 2.0, 3.0], ["a", "b", "c"]), column([4.0, 5.0, 6.0], ["a", "b", "c"])
    assert Views({"u": first, "v": second.iloc[[2, 0, 1]]}) == Views({"u": first, "v": second})


def test_lists_of_frames_are_matched_by_id_too():
    v = Views([column([1.0], ["a"]), column([2.0, 3.0], ["b", "a"])])
    assert_array_equal(v.presence, [[1, 1], [0, 1]])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([1, 2], ["1", "2"]),
        ([1.0, 2.0], ["1", "2"]),
        ([1, 2], [1.0, 2.0]),
        ([np.int8(1), 2], pd.CategoricalIndex([1, 2])),
    ],
)
def test_numbers_and_text_of_the_same_id_match(left, right):
    v = Views({"a": column([1.0, 2.0], left), "b": column([3.0, 4.0], right)})
    assert list(v.index) == ["1", "2"]
    assert v.presence.all()


def test_ids_of_several_types_in_one_index():
    v = Views({"a": column([1.0, 2.0, 3.0], [1, "p2", 2.5])})
    assert list(v.index) == ["1", "p2", "2.5"]


def test_text_is_kept_as_written():
    ids = [" a", "B", "007", "1.0"]
    assert list(Views({"a": column(np.ones(4), ids)}).index) == ids


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        (pd.Index([1, 2]), ["1", "2"]),
        (pd.Index([3.0, 0.5, -2.0, 1e20]), ["3", "0.5", "-2", "1e+20"]),
        (pd.Index([True, False]), ["True", "False"]),
        (pd.Index([b"x"]), ["x"]),
        (pd.Index(["x"], dtype=object), ["x"]),
        (pd.MultiIndex.from_tuples([("s", 1), ("t", 2)]), ["s|1", "t|2"]),
        (pd.DatetimeIndex(["2024-05-01"]), ["2024-05-01 00:00:00"]),
    ],
)
def test_id_text(ids, text):
    assert list(id_text(ids)) == text


def test_missing_ids_are_refused():
    with pytest.raises(ViewError, match="1 of 2 are"):
        Views({"a": column([1.0, 2.0], ["p", None])})


@pytest.mark.parametrize("ids", [["p", "q", "p", "q", "r"], [1, 2, 1, 2, 3], [1, 2, "1", 2.0, "x"]])
def test_duplicate_ids_are_listed(ids):
    first, second = ("p", "q") if ids[0] == "p" else ("1", "2")
    with pytest.raises(ViewError, match=f"view 'b' repeats '{first}', '{second}'"):
        Views({"a": column([1.0], [ids[0]]), "b": column(np.ones(5), ids)})


def test_no_common_sample_is_refused_and_almost_equal_ids_are_named():
    with pytest.raises(ViewError, match=r"No sample of view 'a'.*'p1', 'p2'.*'P01', 'P3'.*'p1' ~ 'P01'"):
        Views({"a": column([1.0, 2.0], ["p1", "p2"]), "b": column([1.0, 2.0], ["P01", "P3"])})


def test_one_isolated_view_among_three_is_refused():
    tables = {"a": column([1.0, 2.0], ["p", "q"]), "b": column([1.0], ["q"]), "c": column([1.0, 2.0], ["r", "s"])}
    with pytest.raises(ViewError, match="No sample of view 'c'"):
        Views(tables)
    assert Views({**tables, "c": column([1.0, 2.0], ["q", "s"])}).n_samples == 3


def test_a_chain_of_overlaps_is_enough():
    v = Views({"a": column([1.0, 2.0], ["p", "q"]), "b": column([1.0, 2.0], ["q", "r"]), "c": column([1.0], ["r"])})
    assert v.presence.sum() == 5


def test_an_empty_table_is_a_view_nobody_has():
    v = Views({"a": column([1.0, 2.0], ["p", "q"]), "b": column([], [])})
    assert_array_equal(v.presence, [[1, 0], [1, 0]])
    assert v["b"].shape == (0, 1)


@pytest.mark.parametrize(
    "pair", [("p1", "P1"), ("p1", "p1 "), ("7", "007"), ("1", "1.0"), ("S-2-3", "S-02-003"), ("ß", "SS")]
)
def test_almost_equal_ids_are_reported(pair):
    assert almost_equal_ids(pair) == [list(pair)]
    tables = {"a": column([1.0, 2.0], [pair[0], "x"]), "b": column([3.0, 4.0], [pair[1], "x"])}
    with pytest.warns(UserWarning, match="almost equal") as caught:
        v = Views(tables)
    assert all(repr(label) in str(caught[0].message) for label in pair)
    assert v.n_samples == 3


@pytest.mark.parametrize("pair", [("p1", "p2"), ("1.05", "1.5"), ("10", "1"), ("1.0.0", "1")])
def test_ids_that_differ_are_not_reported(pair):
    assert almost_equal_ids(pair) == []


def test_almost_equal_ids_compare_numbers_as_text():
    assert almost_equal_ids([1, 1.0, "1", "01"]) == [["1", "01"]]


def test_arrays_must_have_the_same_number_of_rows():
    with pytest.raises(ViewError, match=r"'text': 120, 'image': 118.*indexed by"):
        Views({"text": np.ones((120, 2)), "image": np.ones((118, 3))})


def test_an_array_beside_frames_in_one_order_takes_their_ids():
    v = Views({"a": column([1.0, 2.0], ["p", "q"]), "b": np.ones((2, 3)), "c": column([1.0, 2.0], ["p", "q"])})
    assert list(v.index) == ["p", "q"]
    assert v.presence.all()


def test_an_array_beside_frames_of_different_ids_is_refused():
    with pytest.raises(ViewError, match="'b' has none to match them by"):
        Views({"a": column([1.0, 2.0], ["p", "q"]), "b": np.ones((2, 3)), "c": column([1.0, 2.0], ["q", "p"])})
    with pytest.raises(ViewError, match="same number of rows"):
        Views({"a": column([1.0, 2.0], ["p", "q"]), "b": np.ones((3, 3))})


class TestAlign:
    v = Views({"a": column([1.0, 2.0, 3.0], [3, 1, 2])})

    def test_by_id(self):
        assert_array_equal(self.v.align(pd.Series([10, 20, 30], index=[1, 2, 3])), [30, 10, 20])
        assert_array_equal(self.v.align(pd.Series([10, 20, 30], index=["1", "2", "3"])), [30, 10, 20])
        assert self.v.align(pd.Series([10, 20, 30], index=[1, 2, 3])).dtype == np.int64

    def test_samples_that_y_leaves_out_are_unlabeled_and_others_keep_their_type(self):
        aligned = self.v.align(pd.Series([7], index=[1]))
        assert [type(value) for value in aligned] == [float, int, float]
        assert aligned.iloc[1] == 7

    def test_y_may_know_more_samples_than_x(self):
        assert_array_equal(self.v.align(pd.Series(range(5))), [3, 1, 2])

    def test_ids_lacking_on_both_sides_warn(self):
        with pytest.warns(UserWarning, match=r"1 samples of X have no entry.*1 ids that X lacks: '03'"):
            aligned = self.v.align(pd.Series([1.0, 2.0, 3.0], index=["1", "2", "03"]))
        assert_array_equal(aligned, [np.nan, 1.0, 2.0])

    def test_no_common_id_is_refused(self):
        with pytest.raises(ViewError, match=r"No id of y occurs in X.*to_numpy"):
            self.v.align(pd.Series([1, 2, 3], index=["a", "b", "c"]))

    def test_repeated_ids_are_refused(self):
        with pytest.raises(ViewError, match="y repeats '1'"):
            self.v.align(pd.Series([1, 2, 3], index=[1, 1, 2]))

    def test_without_ids_a_series_is_taken_as_it_stands(self):
        v = Views([np.ones((3, 1))])
        assert_array_equal(v.align(pd.Series([5, 6, 7], index=["c", "a", "b"])), [5, 6, 7])

    def test_a_row_slice_takes_its_part(self):
        y = pd.Series(["one", "two", "three"], index=[1, 2, 3])
        assert list(self.v[[2, 0]].align(y)) == ["two", "three"]
