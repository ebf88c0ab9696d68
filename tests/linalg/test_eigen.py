"""Leading eigenpairs: dense and Lanczos routes, rank cut, signs, degenerate input."""

from inspect import signature

import numpy as np
import pytest
from scipy.sparse.linalg import eigsh

from coview.linalg import largest_eigenpairs, leading_eigenpairs, leading_eigenpairs_of_operator


def semi_definite(n, rank, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, rank)) * 0.9 ** np.arange(rank)
    return A @ A.T


@pytest.mark.parametrize("n_components", [None, 1, 3, 8])
def test_leading_pairs_agree_with_numpy(n_components):
    matrix = semi_definite(8, 8)
    values, vectors = leading_eigenpairs(matrix, n_components)
    k = 8 if n_components is None else n_components
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix)[::-1][:k], rtol=1e-10)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-12)


def test_lanczos_agrees_with_the_dense_solver():
    matrix = semi_definite(450, 60)
    values, vectors = leading_eigenpairs(matrix, 20)  # beyond order 400, less than a tenth of the spectrum
    dense_values, dense_vectors = np.linalg.eigh(matrix)
    np.testing.assert_allclose(values, dense_values[::-1][:20], rtol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(vectors * dense_vectors[:, ::-1][:, :20], axis=0)), 1.0, rtol=1e-8)
    by_product = leading_eigenpairs_of_operator(lambda v: matrix @ v, 450, 20)
    np.testing.assert_allclose(by_product[0], values, rtol=1e-12)
    np.testing.assert_allclose(by_product[1], vectors, atol=1e-9)


@pytest.mark.parametrize("n", [60, 450])
def test_largest_pairs_of_a_spectrum_with_negative_values(n):
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(n, n)))[0]
    spectrum = np.linspace(-1.0, 1.0, n) ** 3
    matrix = (Q * spectrum) @ Q.T
    values, vectors = largest_eigenpairs(lambda x: matrix @ x, n, 4, further=3)
    assert len(values) == (n if n == 60 else 7)
    np.testing.assert_allclose(values, spectrum[::-1][: len(values)], atol=1e-12)
    np.testing.assert_allclose(np.abs((vectors * Q[:, ::-1][:, :4]).sum(axis=0)), 1.0, rtol=1e-10)
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(4)] > 0.0).all()
    again = largest_eigenpairs(lambda x: matrix @ x, n, 4, further=3)
    np.testing.assert_array_equal(again[1], vectors)


@pytest.mark.parametrize("n", [30, 500])
def test_directions_of_rounding_noise_are_dropped(n):
    values, vectors = leading_eigenpairs(semi_definite(n, 3), 20)
    assert values.shape == (3,)
    assert vectors.shape == (n, 3)


@pytest.mark.parametrize("n", [30, 500])
def test_the_cut_is_relative_to_the_largest(n):
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(n, 4)))[0]
    matrix = (Q * [1e20, 1e10, 1e5, 1.0]) @ Q.T
    values, _ = leading_eigenpairs(matrix, 4, rtol=1e-12)
    np.testing.assert_allclose(values, [1e20, 1e10], rtol=1e-4)
    assert leading_eigenpairs(matrix, 4, rtol=1e-8)[0].shape == (1,)


@pytest.mark.parametrize("n", [40, 450])
def test_the_largest_entry_of_each_vector_is_positive(n):
    _, vectors = leading_eigenpairs(semi_definite(n, 30, seed=3), 12)
    top = np.abs(vectors).argmax(axis=0)
    assert (vectors[top, np.arange(12)] > 0).all()


@pytest.mark.parametrize("n", [5, 500])
def test_a_zero_matrix_has_no_pairs(n):
    values, vectors = leading_eigenpairs(np.zeros((n, n)), 3)
    assert values.shape == (0,)
    assert vectors.shape == (n, 0)


def test_a_negative_matrix_has_no_pairs():
    assert leading_eigenpairs(-np.eye(4), 2)[0].shape == (0,)


def test_no_components_and_no_rows():
    assert leading_eigenpairs(np.eye(3), 0)[1].shape == (3, 0)
    assert leading_eigenpairs(np.zeros((0, 0)))[1].shape == (0, 0)


def test_more_components_than_rows_give_all():
    assert leading_eigenpairs(np.diag([3.0, 2.0, 1.0]), 10)[0].tolist() == [3.0, 2.0, 1.0]


def test_the_same_matrix_gives_the_same_vectors_again():
    matrix = semi_definite(500, 5)
    first, second = leading_eigenpairs(matrix, 20), leading_eigenpairs(matrix, 20)
    np.testing.assert_allclose(first[0], second[0], rtol=1e-12)
    np.testing.assert_allclose(first[1], second[1], atol=1e-10)


@pytest.mark.skipif(
    "rng" not in signature(eigsh).parameters,
    reason="older SciPy goes on with a generator of its own, alike in each process",
)
def test_a_matrix_of_low_rank_gives_the_same_bits_each_time():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3, 3))[rng.integers(0, 3, 600)]
    matrix = rows @ rows.T
    found = {leading_eigenpairs(matrix, 20)[1].tobytes() for _ in range(4)}
    assert len(found) == 1


def crowded(n):
    """Eigenvalues nearer and nearer to 1, as of a graph in nearly separate pieces."""
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(n, n)))[0]
    return (Q * (1.0 - np.logspace(-12, 0, n))) @ Q.T


def test_eigenvalues_that_crowd_go_to_the_dense_solver():
    matrix = crowded(420)
    values, vectors = leading_eigenpairs_of_operator(lambda v: matrix @ v + v, 420, 6)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix)[::-1][:6] + 1.0, rtol=1e-12)
    np.testing.assert_allclose(matrix @ vectors + vectors, vectors * values, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-12)


def test_eigenvalues_that_crowd_in_a_large_matrix_are_refused(monkeypatch):
    monkeypatch.setattr("coview.linalg._eigen._AFFORDABLE", 400)
    monkeypatch.setattr("coview.linalg._eigen._RESTARTS", 5)
    matrix = crowded(420)
    with pytest.raises(ValueError, match=r"6 leading eigenvalues of a matrix of order 420 .* widen sigma"):
        leading_eigenpairs_of_operator(lambda v: matrix @ v + v, 420, 6)


def test_crowded_eigenvalues_of_a_product_are_those_of_the_matrix():
    """A graph of few different samples: nearly all eigenvalues are the same, and the search gives way to the dense solver."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 40, 600), rng.integers(0, 2, 600)]) * 1.0
    affinity = np.exp(-((rows[:, None] - rows[None]) ** 2).sum(axis=2) / 2.0)
    np.fill_diagonal(affinity, 0.0)
    scale = 1.0 / np.sqrt(affinity.sum(axis=0))[:, None]
    values, vectors = largest_eigenpairs(lambda x: scale * (affinity @ (scale * x)), 600, 50, 40)
    expected = np.linalg.eigvalsh(scale * affinity * scale.T)[::-1]
    np.testing.assert_allclose(values[:50], expected[:50], atol=1e-8)
    np.testing.assert_allclose(scale * (affinity @ (scale * vectors)), vectors * values[:50], atol=1e-6)
