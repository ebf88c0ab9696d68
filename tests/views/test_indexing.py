"""Rows, views, comparison, copies: what can be done with ``Views`` once they exist."""

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from numpy.testing import assert_array_equal
from scipy import sparse

from coview import Views
from coview.exceptions import ViewError

NAN = np.nan
DENSE = np.array([[0.0, 1.0], [NAN, NAN], [4.0, 5.0], [6.0, 7.0], [NAN, NAN]])
SPARSE = sparse.csr_array(np.array([[1.0, 0, 0], [0, 0, 0], [0, 2.0, 0], [0, 0, 3.0], [4.0, 0, 0]]))


@pytest.fixture
def v():
    return Views({"d": DENSE, "s": SPARSE})


KEYS = {
    "positions": [3, 0, 1],
    "array": np.array([4, 2]),
    "repeated": [2, 2, 0],
    "negative": [-1, -5],
    "slice": slice(1, 4),
    "backward slice": slice(None, None, -2),
    "mask": np.array([True, False, True, True, False]),
    "mask list": [False, True, False, False, True],
    "series": pd.Series([True, False, False, True, True]),
    "range": range(1, 3),
    "nothing": [],
    "no row": np.zeros(5, dtype=bool),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("ellipsis", [False, True])
def test_rows_are_those_of_the_full_table(v, key, ellipsis):
    part = v[key, ...] if ellipsis else v[key]
    at = np.arange(5)[
        np.asarray(key)
        if len(np.atleast_1d(key)) and not isinstance(key, slice)
        else key
        if isinstance(key, slice)
        else []
    ]
    assert list(part.index) == [str(row) for row in at]
    assert_array_equal(part.presence, v.presence[at])
    assert_array_equal(part.to_frame("d"), DENSE[at])
    assert_array_equal(part["s"].toarray(), SPARSE.toarray()[at])
    assert part.shape == (len(at), 5)


def test_slices_of_slices(v):
    assert v[1:][[0, 2, 3]][::-1] == v[[4, 3, 1]]


@pytest.mark.parametrize("row", [3, np.int64(3), None, 1.5, ("d", 0), (0, 1), Ellipsis])
def test_a_single_row_or_a_column_is_refused(v, row):
    with pytest.raises(TypeError):
        v[row]


def test_ids_are_no_positions(v):
    with pytest.raises(TypeError, match="get_indexer"):
        v[["0", "1"]]


@pytest.mark.parametrize("key", [[5], [-6], [True, False], np.ones((2, 2), dtype=int)])
def test_rows_out_of_bounds(v, key):
    with pytest.raises(IndexError):
        v[key]


def test_unknown_view(v):
    for ask in (lambda: v["x"], lambda: v.rows("x"), lambda: v.to_frame("x"), lambda: v.select(["d", "x"])):
        with pytest.raises(KeyError, match=r"no view 'x'; the views are 'd', 's'"):
            ask()


def test_a_row_slice_shares_memory_and_gathers_once():
    array = np.arange(2000.0).reshape(1000, 2)
    part = Views([array])[200:700]
    assert np.shares_memory(part["view_0"], array)
    picked = Views([array])[[5, 3, 8]]
    assert picked["view_0"] is picked["view_0"]
    assert_array_equal(picked["view_0"], array[[5, 3, 8]])


def test_a_row_slice_gathers_nothing_before_it_is_used(monkeypatch):
    v = Views([np.ones((10, 2))])
    from coview.views._block import Block

    gathered = []
    original = Block._gather
    monkeypatch.setattr(Block, "_gather", lambda self: gathered.append(self) or original(self))
    part = v[[1, 2]][[0]]
    assert not gathered
    assert part["view_0"].shape == (1, 2)
    assert len(gathered) == 1


def test_select(v):
    w = v.select(["s", "d"])
    assert w.names == ["s", "d"]
    assert_array_equal(w.presence, v.presence[:, ::-1])
    assert w["s"] is v["s"]
    assert v.select("s").names == ["s"]
    for wrong in ([], ["d", "d"]):
        with pytest.raises(ViewError, match="at least one"):
            v.select(wrong)


def test_to_frame(v):
    dense, thin = v.to_frame("d"), v.to_frame("s")
    assert_array_equal(dense, DENSE)
    assert list(dense.index) == list(v.index)
    assert all(isinstance(dtype, pd.SparseDtype) for dtype in thin.dtypes)
    assert_array_equal(thin, SPARSE.toarray())


def test_to_frame_of_a_sparse_view_with_missing_rows():
    w = Views([SPARSE], presence=[[1], [0], [1], [1], [0]])
    expected = SPARSE.toarray()
    expected[[1, 4]] = NAN
    assert_array_equal(w.to_frame("view_0"), expected)
    assert all(isinstance(dtype, pd.SparseDtype) for dtype in w.to_frame("view_0").dtypes)


def test_to_frame_keeps_labels_and_integers_where_nothing_is_missing():
    frame = pd.DataFrame({"x": [1, 2], "y": [3, 4]}, index=["p", "q"])
    back = Views({"a": frame}).to_frame("a")
    pd.testing.assert_frame_equal(back, frame)
    missing = Views({"a": frame}, presence=[[1], [0]]).to_frame("a")
    assert_array_equal(missing, [[1, 3], [NAN, NAN]])


def test_frames_round_trip(v):
    assert Views({name: v.to_frame(name) for name in v}) == v


def test_equality():
    v = Views({"a": np.array([[1.0], [2.0]]), "b": np.array([[NAN], [3.0]])})
    assert v == Views({"a": [[1], [2]], "b": np.array([[NAN], [3.0]])})
    others = {
        "value": Views({"a": np.array([[1.0], [2.5]]), "b": np.array([[NAN], [3.0]])}),
        "name": Views({"a": np.array([[1.0], [2.0]]), "c": np.array([[NAN], [3.0]])}),
        "order": v.select(["b", "a"]),
        "presence": Views({"a": np.array([[1.0], [2.0]]), "b": np.array([[3.0], [NAN]])}),
        "width": Views({"a": np.array([[1.0, 1.0], [2.0, 2.0]]), "b": np.array([[NAN], [3.0]])}),
        "ids": v[::-1][::-1][[0]],
    }
    for reason, other in others.items():
        assert v != other, reason
    assert (v == 3) is False
    labeled = [Views({"a": pd.DataFrame({label: [1.0]})}) for label in ("x", "y")]
    assert labeled[0] != labeled[1]
    assert labeled[0] == Views({"a": np.ones((1, 1))})


def test_equality_of_ids():
    frame = pd.DataFrame({"x": [1.0, 2.0]}, index=["p", "q"])
    assert Views([frame]) != Views([frame.set_axis(["p", "r"])])


def test_equality_of_missing_features_and_of_storage():
    gap = np.array([[1.0, NAN], [0.0, 2.0]])
    assert Views([gap]) == Views([gap.copy()])
    assert Views([gap]) == Views([sparse.csr_array(gap)])
    assert Views([gap]) != Views([sparse.csr_array(np.nan_to_num(gap))])
    stored_zero = sparse.csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert Views([stored_zero]) == Views([np.array([[0.0, 1.0]])])


def test_immutable(v):
    with pytest.raises(TypeError):
        v["d"] = DENSE
    for name in ("names", "presence", "index", "n_samples", "anything"):
        with pytest.raises(AttributeError):
            setattr(v, name, None)
    v.names.append("x")
    assert v.names == ["d", "s"]
    with pytest.raises(TypeError, match="unhashable"):
        hash(v)


def test_never_an_array(v):
    with pytest.raises(TypeError, match=r"v\['name'\].*ConcatenateViews|v\[name\].*ConcatenateViews"):
        np.asarray(v)


def copied_by(tool, v, tmp_path):
    if tool == "joblib":
        joblib.dump(v, tmp_path / "v.joblib")
        return joblib.load(tmp_path / "v.joblib")
    return {
        "pickle": lambda: pickle.loads(pickle.dumps(v)),
        "copy": lambda: copy.copy(v),
        "deepcopy": lambda: copy.deepcopy(v),
    }[tool]()


@pytest.mark.parametrize("tool", ["pickle", "copy", "deepcopy", "joblib"])
def test_copies_are_equal_and_read_only(v, tool, tmp_path):
    for views in (v, v[[3, 0]]):
        again = copied_by(tool, views, tmp_path)
        assert again == views
        assert list(again.index) == list(views.index)
        with pytest.raises(ValueError, match="read-only"):
            again["d"][0, 0] = 1.0
        with pytest.raises(ValueError, match="read-only"):
            again.presence[0, 0] = True


def test_views_are_saved_without_running_code_on_load():
    frame = pd.DataFrame({"x": [1.0, 2.0], 7: [3.0, 4.0]}, index=["p", "q"])
    v = Views({"a": frame, "s": sparse.csr_array(np.eye(2))}, presence=[[1, 1], [0, 1]])
    data = skops.io.dumps(v)
    own = skops.io.get_untrusted_types(data=data)
    assert all(name.startswith("coview.") for name in own)
    again = skops.io.loads(data, trusted=own)
    assert again == v
    assert list(again.index) == ["p", "q"]
    assert list(again.feature_names["a"]) == ["x", 7]


def test_a_pickled_slice_leaves_the_rest_behind():
    v = Views([np.ones((10_000, 10))])
    assert len(pickle.dumps(v[[0, 5]])) < 5_000


def test_repr_tells_names_widths_counts_patterns_and_no_value():
    v = Views({"clinical": np.array([[123.25], [NAN], [321.75]]), "ct": sparse.csr_array(np.full((3, 2), 987.125))})
    text = repr(v)
    assert text.splitlines() == [
        "Views: 3 samples, 2 views",
        "  clinical  2 samples  1 features  dense",
        "  ct        3 samples  2 features  sparse",
        "  patterns: 2 with all views; 1 with ct",
    ]
    assert "no view" in repr(Views([np.array([[1.0], [NAN]])]))
    assert repr(v[[]]).endswith("patterns: none")
    html = v._repr_html_()
    for shown in ("clinical", "ct", "sparse", "all views"):
        assert shown in html
    for value in ("123", "321", "987"):
        assert value not in text
        assert value not in html


def test_repr_of_many_views_is_cut():
    v = Views({f"view {place}": np.ones((2, 1)) for place in range(50)})
    assert "and 30 more views" in repr(v)
    assert len(repr(v).splitlines()) < 30


def test_html_is_escaped():
    html = Views({"<script>": np.ones((1, 1))})._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
