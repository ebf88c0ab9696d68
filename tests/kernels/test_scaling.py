"""The scaling of a view before the automatic kernels."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler

from coview.kernels import ViewScaling

DENSE = np.random.default_rng(0).normal(size=(12, 3)) * [1.0, 1e-8, 1e8] + [0.0, 1e-8, -1e8]
COUNTS = sp.csr_array(np.random.default_rng(0).poisson(0.7, size=(8, 5)).astype(float))


def test_dense_columns_are_standardized_whatever_their_unit():
    scaling = ViewScaling.of(DENSE)
    np.testing.assert_allclose(scaling.transform(DENSE), StandardScaler().fit_transform(DENSE), rtol=1e-8, atol=1e-10)
    new = DENSE[:2] * 1.5
    np.testing.assert_allclose(scaling.transform(new), StandardScaler().fit(DENSE).transform(new), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0, 1e8 + 0.1, 1e-8, -3e15])
def test_a_constant_column_becomes_zero_even_for_new_values(value):
    X = np.column_stack([np.full(9, value), np.arange(9.0)])
    scaled = ViewScaling.of(X).transform(np.array([[value + 1.0, 4.0], [value, 8.0]]))
    assert scaled[:, 0].tolist() == [0.0, 0.0]
    assert scaled[0, 1] == pytest.approx(0.0, abs=1e-12)


def test_small_variation_on_a_large_offset_is_kept():
    X = np.column_stack([1e6 + np.arange(9.0) * 1e-3])
    assert ViewScaling.of(X).transform(X).std() == pytest.approx(1.0, rel=1e-6)


def test_counts_become_unit_rows_of_tfidf():
    scaled = ViewScaling.of(COUNTS).transform(COUNTS)
    np.testing.assert_allclose(scaled.toarray(), TfidfTransformer().fit_transform(COUNTS).toarray(), rtol=1e-12)
    lengths = np.sqrt(scaled.multiply(scaled).sum(axis=1))
    np.testing.assert_allclose(lengths[lengths > 0], 1.0)


def test_sparse_rows_with_negative_entries_are_only_brought_to_unit_length():
    X = COUNTS.copy()
    X.data[0] *= -1
    scaled = ViewScaling.of(X).transform(X)
    expected = X.toarray() / np.maximum(np.linalg.norm(X.toarray(), axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(scaled.toarray(), expected, rtol=1e-12)


def test_a_row_without_counts_stays_zero():
    X = sp.csr_array(np.array([[1.0, 2.0], [0.0, 0.0]]))
    assert ViewScaling.of(X).transform(X)[[1]].nnz == 0


@pytest.mark.parametrize("X", [DENSE, COUNTS, -COUNTS], ids=["dense", "counts", "signed"])
def test_no_rows_are_scaled_to_no_rows(X):
    assert ViewScaling.of(X).transform(X[:0]).shape == (0, X.shape[1])


@pytest.mark.parametrize("X", [DENSE, COUNTS], ids=["dense", "counts"])
def test_a_view_nobody_had_in_training_does_not_fail(X):
    assert ViewScaling.of(X[:0]).transform(X).shape == X.shape


def test_the_input_is_not_changed():
    before, counts = DENSE.copy(), COUNTS.toarray()
    ViewScaling.of(DENSE).transform(DENSE)
    ViewScaling.of(COUNTS).transform(COUNTS)
    np.testing.assert_array_equal(DENSE, before)
    np.testing.assert_array_equal(COUNTS.toarray(), counts)


def test_rows_that_tfidf_has_weighted_are_not_weighted_again():
    weighted = ViewScaling.of(COUNTS).transform(COUNTS).astype(np.float32)
    scaling = ViewScaling.of(weighted)
    assert scaling.tfidf is None
    np.testing.assert_allclose(scaling.transform(weighted).toarray(), weighted.toarray(), atol=1e-6)
    assert ViewScaling.of(2.0 * weighted).tfidf is not None


def test_sparse_view_without_any_entry():
    X = sp.csr_array((3, 2))
    assert ViewScaling.of(X).transform(X).nnz == 0
