"""Who has what: read off the values, or said by the caller."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from coview import Views
from coview.exceptions import ViewError

NAN = np.nan


def test_a_row_of_nan_is_a_missing_view_and_a_partly_nan_row_is_not():
    v = Views([np.array([[1, 2], [NAN, NAN], [NAN, 3]]), np.ones((3, 1))])
    assert_array_equal(v.presence, [[1, 1], [0, 1], [1, 1]])
    assert_array_equal(v["view_0"], [[1, 2], [NAN, 3]])
    assert_array_equal(v.rows("view_0"), [0, 2])


@pytest.mark.parametrize("gap", [None, NAN, pd.NA, pd.NaT])
def test_every_kind_of_gap_counts(gap):
    frame = pd.DataFrame({"x": [1.0, gap], "y": [2, gap]}, dtype=object)
    assert_array_equal(Views([frame, np.ones((2, 1))]).presence[:, 0], [True, False])


def test_an_all_zero_sparse_row_is_observed():
    v = Views([sparse.csr_array(np.array([[0.0, 0.0], [1.0, 0.0]]))])
    assert v.presence.all()
    assert v["view_0"].shape == (2, 2)


def test_a_sparse_row_of_stored_nan_is_missing():
    v = Views([sparse.csr_array(np.array([[NAN, NAN], [NAN, 0.0], [1.0, 2.0]]))])
    assert_array_equal(v.presence.ravel(), [False, True, True])
    assert v["view_0"].shape == (2, 2)


def test_false_wins_over_values():
    v = Views([np.arange(6.0).reshape(3, 2)], presence=[[True], [False], [True]])
    assert_array_equal(v["view_0"], [[0, 1], [4, 5]])
    assert_array_equal(v.to_frame("view_0"), [[0, 1], [NAN, NAN], [4, 5]])


@pytest.mark.parametrize("lies", [NAN, 1e9, np.inf, "text", None, pd.Timestamp(0)])
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
def test_what_lies_under_false_changes_nothing(lies, container):
    values = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=object if not isinstance(lies, float) else float)
    expected = Views([values.astype(float)], presence=[[1], [0], [1]])
    values[1] = lies
    assert Views([container(values)], presence=[[1], [0], [1]]) == expected


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix])
def test_what_lies_under_false_changes_nothing_in_sparse_views(container):
    values = np.array([[1.0, 0.0], [NAN, np.inf], [0.0, 6.0]])
    v = Views([container(values)], presence=[[1], [0], [1]])
    assert_array_equal(v["view_0"].toarray(), values[[0, 2]])


def test_true_without_values_is_refused():
    with pytest.raises(ViewError, match=r"presence is True for 1 samples that have no value in view 'b': 'q'"):
        Views(
            {"a": pd.DataFrame({"x": [1.0, 2.0]}, index=["p", "q"]), "b": pd.DataFrame({"x": [1.0]}, index=["p"])},
            presence=np.ones((2, 2), dtype=bool),
        )
    with pytest.raises(ViewError, match="presence is True for 2 samples"):
        Views([np.array([[NAN, NAN], [NAN, NAN], [1.0, NAN]])], presence=np.ones((3, 1), dtype=bool))


def test_presence_may_be_a_frame_by_sample_and_view():
    tables = {
        "a": pd.DataFrame({"x": [1.0, 2.0]}, index=["p", "q"]),
        "b": pd.DataFrame({"x": [3.0, 4.0]}, index=["q", "p"]),
    }
    mask = pd.DataFrame({"b": [True, False], "a": [False, True]}, index=["p", "q"])
    assert_array_equal(Views(tables, presence=mask).presence, [[False, True], [True, False]])
    with pytest.raises(ViewError, match="columns of presence must be the views"):
        Views(tables, presence=mask.rename(columns={"a": "c"}))
    with pytest.raises(ViewError, match=r"no row.*'q'"):
        Views(tables, presence=mask.loc[["p"]])


@pytest.mark.parametrize("mask", [np.ones((3, 2)), np.ones(3), np.ones((2, 1))])
def test_presence_of_the_wrong_shape_is_refused(mask):
    with pytest.raises(ViewError, match=r"shape \(3, 1\)"):
        Views([np.ones((3, 2))], presence=mask)


@pytest.mark.parametrize("mask", [[["yes"], ["no"]], [[0], [2]], [[0.5], [1]], [[None], [True]]])
def test_presence_must_be_true_or_false(mask):
    with pytest.raises(ViewError, match="True and False only"):
        Views([np.ones((2, 2))], presence=mask)


def test_zeros_and_ones_are_a_mask():
    assert_array_equal(Views([np.ones((2, 2))], presence=[[0], [1.0]]).presence.ravel(), [False, True])


def test_the_mask_is_copied_and_read_only():
    mask = np.array([[True], [False]])
    v = Views([np.ones((2, 2))], presence=mask)
    mask[0] = False
    assert v.presence[0, 0]
    with pytest.raises(ValueError, match="read-only"):
        v.presence[0, 0] = False


def test_a_view_nobody_has_contributes_nothing():
    v = Views({"a": np.ones((2, 2)), "empty": np.full((2, 3), NAN)})
    assert v.names == ["a", "empty"]
    assert v["empty"].shape == (0, 3)
    assert len(v.rows("empty")) == 0
    assert v.n_features["empty"] == 3


def test_a_sample_may_have_no_view():
    v = Views({"a": np.array([[1.0], [NAN]]), "b": np.array([[2.0], [NAN]])})
    assert_array_equal(v.presence[1], [False, False])


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, sparse.csr_array])
def test_infinity_is_refused_with_view_and_ids(container):
    values = np.ones((4, 3))
    values[2, 1] = -np.inf
    with pytest.raises(ViewError, match=r"View 'ct' contains infinity in 1 samples: '2'"):
        Views({"ct": container(values)})


def test_infinity_is_found_among_missing_rows_and_huge_values():
    values = np.full((4, 2), 1e308)
    assert Views([values]).presence.all()
    values[0], values[3, 1] = NAN, np.inf
    with pytest.raises(ViewError, match="in 1 samples: '3'"):
        Views([values])


def test_infinity_is_named_by_the_id_of_a_joined_row():
    a = pd.DataFrame({"x": [1.0, 2.0]}, index=["p", "q"])
    b = pd.DataFrame({"x": [1.0, np.inf, 3.0]}, index=["r", "q", "p"])
    with pytest.raises(ViewError, match="in 1 samples: 'q'"):
        Views({"a": a, "b": b})


def test_partly_missing_rows_at_any_column_are_kept():
    values = np.array([[NAN, 1.0, 2.0], [3.0, NAN, 4.0], [5.0, 6.0, NAN]])
    v = Views([values])
    assert v.presence.all()
    assert_array_equal(v["view_0"], values)
