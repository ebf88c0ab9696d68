"""One table cut into views by ``view_columns``."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from coview import Views
from coview.exceptions import ViewError

X = np.arange(12.0).reshape(2, 6)
FRAME = pd.DataFrame(X, columns=list("abcdef"), index=["p", "q"])

GROUPS = {
    "names": (["b", "d"], [1, 3]),
    "one name": ("c", [2]),
    "names out of order": (["d", "a"], [3, 0]),
    "index": (pd.Index(["e"]), [4]),
    "positions": ([5, 0], [5, 0]),
    "array": (np.array([1, 2]), [1, 2]),
    "one position": (3, [3]),
    "negative": ([-1], [5]),
    "slice": (slice(2, 5), [2, 3, 4]),
    "open slice": (slice(4, None), [4, 5]),
    "stepping slice": (slice(1, None, 2), [1, 3, 5]),
    "mask": ([True, False, False, True, False, False], [0, 3]),
}


@pytest.mark.parametrize(("wanted", "columns"), GROUPS.values(), ids=GROUPS)
def test_groups_of_a_frame(wanted, columns):
    v = Views(FRAME, view_columns={"g": wanted, "rest": slice(0, 1)})
    assert v.names == ["g", "rest"]
    assert_array_equal(v["g"], X[:, columns])
    assert list(v.feature_names["g"]) == [FRAME.columns[place] for place in columns]
    assert list(v.index) == ["p", "q"]


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csc_matrix, np.ndarray.tolist])
def test_groups_by_position_of_any_table(container):
    v = Views(container(X), view_columns={"u": slice(0, 2), "w": [5, 3]})
    block = v["w"].toarray() if sparse.issparse(v["w"]) else v["w"]
    assert_array_equal(block, X[:, [5, 3]])


def test_groups_of_a_polars_frame():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: FRAME[name].to_numpy() for name in FRAME})
    assert_array_equal(Views(frame, view_columns={"g": ["f", "b"]})["g"], X[:, [5, 1]])


def test_neighboring_columns_are_not_copied():
    for wanted in (slice(2, 5), [2, 3, 4]):
        assert np.shares_memory(Views(X, view_columns={"g": wanted})["g"], X)


def test_missing_views_are_judged_per_group():
    gaps = X.copy()
    gaps[0, 2:] = np.nan
    v = Views(gaps, view_columns={"a": slice(0, 2), "b": slice(2, 6)})
    assert_array_equal(v.presence, [[True, False], [True, True]])


def test_text_outside_the_groups_does_not_matter():
    frame = FRAME.assign(note="text")
    assert Views(frame, view_columns={"g": ["a"]}).n_features == {"g": 1}


def test_integer_labels_are_positions():
    frame = pd.DataFrame(X, columns=[5, 4, 3, 2, 1, 0])
    assert_array_equal(Views(frame, view_columns={"g": [0]})["g"], X[:, [0]])


def test_empty_groups_are_dropped_with_a_warning():
    with pytest.warns(UserWarning, match=r"no column for 'none', 'void'; dropped"):
        v = Views(X, view_columns={"a": [0], "none": [], "void": slice(6, 9)})
    assert v.names == ["a"]


WRONG = {
    "unknown name": ({"g": ["a", "zz"]}, "columns that X does not have: 'zz'"),
    "too far": ({"g": [0, 6]}, "asks for column '6', but X has 6 columns"),
    "too far back": ({"g": [-7]}, "asks for column '-7'"),
    "twice": ({"g": [0, 0]}, "lists a column twice"),
    "twice from both ends": ({"g": [5, -1]}, "lists a column twice"),
    "mask length": ({"g": [True, False]}, "has 2 entries, but X has 6 columns"),
    "label slice": ({"g": slice("a", "c")}, "must hold positions"),
    "no dict": ([["a"]], "must be a dict"),
    "nothing": ({}, "selects no column"),
    "only empty": ({"g": []}, "selects no column"),
}


@pytest.mark.parametrize(("groups", "message"), WRONG.values(), ids=WRONG)
def test_wrong_groups_are_refused(groups, message):
    with pytest.raises(ViewError, match=message):
        Views(FRAME, view_columns=groups)


def test_a_near_name_is_suggested():
    with pytest.raises(ViewError, match="Did you mean 'cholesterol'"):
        Views(pd.DataFrame({"cholesterol": [1.0]}), view_columns={"blood": ["colesterol"]})


def test_names_need_column_names():
    with pytest.raises(ViewError, match="X has no column names"):
        Views(X, view_columns={"g": ["a"]})


@pytest.mark.parametrize("several", [[X, X], {"a": X}, pd.concat({"a": FRAME}, axis=1), Views(X)])
def test_view_columns_apply_to_one_table_only(several):
    if isinstance(several, pd.DataFrame):
        assert_array_equal(Views(several, view_columns={"g": [0]})["g"], X[:, [0]])
        return
    with pytest.raises(ViewError, match="view_columns does not apply"):
        Views(several, view_columns={"g": [0]})


@pytest.mark.parametrize(
    "named", [{"a": X}, pd.concat({"a": FRAME}, axis=1), Views(X)], ids=["dict", "MultiIndex", "Views"]
)
def test_names_apply_to_lists_only(named):
    with pytest.raises(ViewError, match="names does not apply"):
        Views(named, names=["a"])
    with pytest.raises(ViewError, match="names does not apply"):
        Views(X, names=["a"], view_columns={"a": [0]})


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], "ab", []])
def test_one_name_per_view(names):
    with pytest.raises(ViewError, match="one name per view"):
        Views([X, X], names=names)


def test_names_differ_as_text():
    with pytest.raises(ViewError, match="repeated: '1'"):
        Views(X, view_columns={1: [0], "1": [1]})
    with pytest.raises(ViewError, match="repeated: '1'"):
        Views(pd.DataFrame(X[:, :2], columns=pd.MultiIndex.from_tuples([(1, "a"), ("1", "b")])))
    with pytest.raises(ViewError, match="repeated: 'a'"):
        Views([X, X], names=["a", "a"])
    with pytest.raises(ViewError, match="repeated: '1'"):
        Views({1: X, "1": X})
    with pytest.raises(ViewError, match="must not be empty"):
        Views({"": X})
