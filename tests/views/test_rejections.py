"""Input that holds no numbers, no rows, no columns or no table at all."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from coview import Views
from coview.exceptions import ViewError

NOT_NUMBERS = {
    "text": (["low", "high"], "text"),
    "numbers as text": (["1", "2"], "text"),
    "text among numbers": (pd.Series([1, "high"], dtype=object), "numbers and text"),
    "categories": (pd.Categorical(["a", "b"]), "category"),
    "numeric categories": (pd.Categorical([1, 2]), "category"),
    "dates": (pd.to_datetime(["2024-01-01", "2024-01-02"]), "datetime64"),
    "spans": (pd.to_timedelta([1, 2], unit="D"), "timedelta64"),
    "complex": (np.array([1j, 2]), "complex128"),
    "objects": (pd.Series([object(), object()]), "mixed"),
}


@pytest.mark.parametrize(("column", "kind"), NOT_NUMBERS.values(), ids=NOT_NUMBERS)
def test_columns_without_numbers_are_named(column, kind):
    frame = pd.DataFrame({"age": [1.0, 2.0], "bad": column})
    with pytest.raises(
        ViewError, match=rf"View 'clinical' has columns that are not numbers: 'bad' \({kind}.*TableEncoder"
    ):
        Views({"clinical": frame})


def test_many_bad_columns_are_counted():
    frame = pd.DataFrame({f"c{place}": ["x"] for place in range(9)})
    with pytest.raises(ViewError, match=r"'c4' \(text\) and 4 more"):
        Views({"a": frame})


def test_text_arrays_are_refused():
    with pytest.raises(ViewError, match="not numbers"):
        Views([np.array([["a", "b"]])])
    with pytest.raises(ViewError, match=r"not numbers: '1' \(text\)"):
        Views([[1.0, "a"], [2.0, "b"]])
    with pytest.raises(ViewError, match="Complex data not supported"):
        Views([np.array([[1j]])])


def test_object_sparse_text_is_refused():
    source = sparse.csr_array(np.ones((1, 1)))
    source.data = np.array(["a"], dtype=object)
    with pytest.raises(ViewError, match="not numbers"):
        Views([source])


def test_decimals_and_python_numbers_are_numbers():
    from decimal import Decimal

    frame = pd.DataFrame({"x": [Decimal("1.5"), None], "y": [True, 2.5], "z": [1, None]}, dtype=object)
    np.testing.assert_array_equal(Views([frame])["view_0"], [[1.5, 1, 1], [np.nan, 2.5, np.nan]])


@pytest.mark.parametrize("nothing", [[], (), {}, None, "text", 3.5, {1, 2}, object(), (row for row in [[1.0]])])
def test_no_table_at_all(nothing):
    with pytest.raises(ViewError):
        Views(nothing)


def test_views_of_wrong_type_are_named():
    with pytest.raises(ViewError, match=r"View 'b' must be an array.*NoneType"):
        Views({"a": np.ones((2, 1)), "b": None})
    with pytest.raises(ViewError, match=r"View 'b' must be an array.*dict"):
        Views({"a": np.ones((2, 1)), "b": {"c": np.ones((2, 1))}})
    with pytest.raises(ViewError, match=r"View 'b' must be an array.*str"):
        Views({"a": np.ones((2, 1)), "b": "file.csv"})


def test_one_dimensional_views_are_told_how_to_reshape():
    with pytest.raises(ViewError, match=r"View 'age'.*shape \(3,\).*reshape\(-1, 1\)"):
        Views({"age": np.arange(3.0)})
    with pytest.raises(ViewError, match="two-dimensional; got a sparse array of 1 dim"):
        Views({"age": sparse.coo_array(np.arange(3.0))})


def test_ragged_rows_are_refused():
    with pytest.raises(ViewError, match="differ in length"):
        Views([[1.0, 2.0], [3.0]])


@pytest.mark.parametrize("empty", [np.empty((0, 3)), pd.DataFrame(columns=["a"]), sparse.csr_array((0, 3)), []])
def test_no_sample_is_refused(empty):
    with pytest.raises(ViewError, match="0 samples"):
        Views(empty)


@pytest.mark.parametrize("empty", [np.empty((3, 0)), pd.DataFrame(index=["a", "b", "c"]), sparse.csr_array((3, 0))])
def test_a_view_without_columns_is_refused(empty):
    with pytest.raises(ViewError, match=r"View 'b' has 0 feature"):
        Views({"a": np.ones((3, 1)), "b": empty})


def test_mixed_sparse_and_dense_columns_are_refused():
    frame = pd.DataFrame({"x": pd.arrays.SparseArray([0.0, 1.0]), "y": [1.0, 2.0]})
    with pytest.raises(ViewError, match="mixes sparse and dense"):
        Views({"a": frame})
    filled = pd.DataFrame({"x": pd.arrays.SparseArray([np.nan, 1.0], fill_value=np.nan)})
    with pytest.raises(ViewError, match="only 0 can stay sparse"):
        Views({"a": filled})
