"""Views joined into one array: values, gaps, order, sparsity, names."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from coview import Views
from coview.compose import ConcatenateViews


@pytest.fixture
def views():
    a = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [4.0, 5.0, 6.0]}, index=["p", "q", "r"])
    b = pd.DataFrame({"z": [7.0, 8.0]}, index=["r", "p"])
    return Views({"a": a, "b": b})


def test_missing_view_is_nan_in_all_its_columns_and_rows_stay_in_order(views):
    joined = ConcatenateViews().fit_transform(views)
    np.testing.assert_array_equal(joined, [[1, 4, 8], [2, 5, np.nan], [3, 6, 7]])


def test_chosen_views_in_the_given_order(views):
    model = ConcatenateViews(views=["b", "a"]).fit(views)
    np.testing.assert_array_equal(model.transform(views), [[8, 1, 4], [np.nan, 2, 5], [7, 3, 6]])
    assert model.view_slices_ == {"b": slice(0, 1), "a": slice(1, 3)}
    np.testing.assert_array_equal(ConcatenateViews(views=["b"]).fit_transform(views), [[8], [np.nan], [7]])


def test_names_are_view_and_column(views):
    assert ConcatenateViews().fit(views).get_feature_names_out().tolist() == ["a__x", "a__y", "b__z"]
    arrays = ConcatenateViews().fit([np.ones((2, 2)), np.zeros((2, 1))])
    assert arrays.get_feature_names_out().tolist() == ["view_0__0", "view_0__1", "view_1__0"]
    framed = ConcatenateViews().set_output(transform="pandas").fit_transform(views)
    assert framed.columns.tolist() == ["a__x", "a__y", "b__z"]
    assert np.isnan(framed.loc["q" if "q" in framed.index else 1, "b__z"])


def test_view_absent_from_new_samples_is_missing_for_all(views):
    model = ConcatenateViews().fit(views)
    joined = model.transform(views.select(["a"]))
    assert joined.shape == (3, 3)
    assert np.isnan(joined[:, 2]).all()
    np.testing.assert_array_equal(joined[:, :2], views["a"])


def test_sparse_stays_sparse_and_missing_rows_are_empty():
    page = sparse.csr_array(np.array([[1.0, 0], [0, 2], [3, 0]]))
    link = sparse.csr_array(np.array([[0.0, 5], [7, 0], [0, 6]]))
    presence = np.array([[True, True], [True, False], [False, True]])
    joined = ConcatenateViews().fit_transform(Views({"page": page, "link": link}, presence=presence))
    assert sparse.issparse(joined)
    assert joined.format == "csr"
    np.testing.assert_array_equal(joined.toarray(), [[1, 0, 0, 5], [0, 2, 0, 0], [0, 0, 0, 6]])


def test_sparse_beside_dense_gives_sparse():
    joined = ConcatenateViews().fit_transform(Views([sparse.csr_array(np.eye(2)), np.array([[3.0], [4.0]])]))
    assert sparse.issparse(joined)
    np.testing.assert_array_equal(joined.toarray(), [[1, 0, 3], [0, 1, 4]])


def test_partly_missing_rows_pass_through():
    X = Views({"a": np.array([[1.0, np.nan], [2.0, 3.0]]), "b": np.array([[4.0], [5.0]])})
    np.testing.assert_array_equal(ConcatenateViews().fit_transform(X), [[1, np.nan, 4], [2, 3, 5]])


def test_single_precision_is_kept():
    X = Views([np.ones((3, 2), dtype=np.float32), np.zeros((3, 1), dtype=np.float32)])
    assert ConcatenateViews().fit_transform(X).dtype == np.float32


def test_column_groups_of_one_table_and_pipeline():
    X = np.array([[1.0, 10.0, 5.0], [3.0, np.nan, np.nan]])
    model = make_pipeline(ConcatenateViews(view_columns={"a": [0], "b": slice(1, 3)}), SimpleImputer())
    np.testing.assert_array_equal(model.fit_transform(X), [[1, 10, 5], [3, 10, 5]])


def test_input_is_not_changed(views):
    before = views["a"].copy()
    joined = ConcatenateViews().fit_transform(views)
    joined[:] = -1
    np.testing.assert_array_equal(views["a"], before)


@pytest.mark.parametrize("chosen", [["c"], [], ["a", "a"]])
def test_wrong_names_are_refused(views, chosen):
    with pytest.raises(ValueError, match=r"views must name some of the views \['a', 'b'\], each once"):
        ConcatenateViews(views=chosen).fit(views)


def test_clone_keeps_parameters():
    assert clone(ConcatenateViews(views=["a"])).views == ["a"]
