"""Cholesky factors against numpy, the steps of the jitter, and honest failures."""

import numpy as np
import pytest

from coview.exceptions import NotPositiveDefiniteError
from coview.linalg import cholesky, invert_lower, solve_positive_definite


def positive_definite(n, seed, *, floor=0.1):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A @ A.T + floor * np.eye(n)


def with_smallest_eigenvalue(value, n=6, seed=0):
    """A symmetric matrix of mean diagonal one whose smallest eigenvalue is ``value``."""
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    values = np.full(n, (n - value) / (n - 1))
    values[0] = value
    matrix = (Q * values) @ Q.T
    return 0.5 * (matrix + matrix.T)


@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_factor_agrees_with_numpy_in_every_quantity(n):
    A = positive_definite(n, n)
    rhs = np.random.default_rng(1).normal(size=(n, 3))
    factor = cholesky(A)
    L = np.linalg.cholesky(A)
    assert factor.jitter == 0.0
    np.testing.assert_allclose(factor.lower, L, atol=1e-12 * np.abs(L).max())
    np.testing.assert_allclose(factor.log_det, np.linalg.slogdet(A)[1], rtol=1e-12)
    np.testing.assert_allclose(factor.solve(rhs), np.linalg.solve(A, rhs), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(factor.half_solve(rhs), np.linalg.solve(L, rhs), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(factor.half_solve(rhs, transposed=True), np.linalg.solve(L.T, rhs), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(factor.inverse(), np.linalg.inv(A), rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(factor.inverse(), factor.inverse().T)


def test_a_vector_is_solved_as_a_vector():
    A, b = positive_definite(5, 0), np.arange(1.0, 6.0)
    factor = cholesky(A)
    np.testing.assert_allclose(factor.solve(b), np.linalg.solve(A, b), rtol=1e-10)
    np.testing.assert_allclose(factor.half_solve(b), np.linalg.solve(factor.lower, b), rtol=1e-9)
    assert factor.solve(b).shape == factor.half_solve(b).shape == (5,)


def test_rows_of_any_memory_order_give_the_same():
    A = positive_definite(6, 3)
    rhs = np.random.default_rng(0).normal(size=(4, 6))
    np.testing.assert_allclose(cholesky(np.asfortranarray(A)).solve(rhs.T), np.linalg.solve(A, rhs.T), rtol=1e-9)
    np.testing.assert_allclose(cholesky(A[::-1, ::-1]).solve(rhs.T[::-1]), np.linalg.solve(A, rhs.T)[::-1], rtol=1e-9)


def test_only_the_lower_triangle_is_read_and_the_matrix_is_kept():
    A = positive_definite(4, 0)
    half = A + np.triu(np.full((4, 4), 50.0), 1)
    before = half.copy()
    np.testing.assert_allclose(cholesky(half).lower, np.linalg.cholesky(A))
    np.testing.assert_array_equal(half, before)


def test_an_empty_matrix_has_an_empty_factor():
    factor = cholesky(np.zeros((0, 0)))
    assert factor.log_det == 0.0
    assert factor.solve(np.zeros((0, 3))).shape == (0, 3)
    assert factor.half_solve(np.zeros((0, 3))).shape == (0, 3)
    assert factor.inverse().shape == (0, 0)
    assert cholesky(np.eye(2)).solve(np.zeros((2, 0))).shape == (2, 0)


@pytest.mark.parametrize(
    ("smallest", "share"), [(0.1, 0.0), (-3e-13, 1e-12), (-3e-11, 1e-10), (-3e-9, 1e-8), (-3e-7, 1e-6)]
)
@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_the_smallest_sufficient_jitter_is_taken(smallest, share, unit):
    matrix = unit * with_smallest_eigenvalue(smallest)
    factor = cholesky(matrix)
    assert factor.jitter == pytest.approx(share * unit, rel=1e-6)
    shifted = matrix + factor.jitter * np.eye(6)
    np.testing.assert_allclose(factor.lower @ factor.lower.T, shifted, rtol=1e-12, atol=1e-14 * unit)


def test_failure_tells_name_eigenvalue_jitter_and_remedy():
    with pytest.raises(
        NotPositiveDefiniteError, match=r"^The Gram matrix .* eigenvalue is -3\.0e-02 .* 1\.0e-06\. Raise it\.$"
    ):
        cholesky(with_smallest_eigenvalue(-0.03), name="The Gram matrix", hint="Raise it.")


def test_no_jitter_is_added_when_none_is_allowed():
    with pytest.raises(NotPositiveDefiniteError, match=r"eigenvalue is -3\.0e-09"):
        cholesky(with_smallest_eigenvalue(-3e-9), max_jitter=0.0)


@pytest.mark.parametrize("matrix", [-np.eye(3), np.zeros((3, 3))])
def test_a_matrix_without_positive_diagonal_fails_at_once(matrix):
    with pytest.raises(NotPositiveDefiniteError, match="must be positive definite"):
        cholesky(matrix)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_matrix_that_is_not_finite_is_refused(value):
    matrix = np.eye(3)
    matrix[2, 0] = value
    with pytest.raises(NotPositiveDefiniteError, match=r"NaN or infinity\. Check the kernel\."):
        cholesky(matrix, hint="Check the kernel.")


@pytest.mark.parametrize("n", [0, 3, 47, 48, 60])
def test_stacked_systems_agree_with_single_ones(n):
    stack = np.array([positive_definite(n, seed) for seed in range(3)]).reshape(3, n, n)
    rhs = np.random.default_rng(0).normal(size=(3, n, 2))
    expected = [np.linalg.solve(A, b) for A, b in zip(stack, rhs, strict=True)]
    np.testing.assert_allclose(
        solve_positive_definite(stack, rhs), np.reshape(expected, rhs.shape), rtol=1e-8, atol=1e-9
    )


def test_a_large_indefinite_system_is_named():
    stack = np.stack([np.eye(50), np.eye(50)])
    stack[1, 7, 7] = -1.0
    with pytest.raises(NotPositiveDefiniteError, match=r"System 1 .* row 7"):
        solve_positive_definite(stack, np.ones((2, 50, 1)))


@pytest.mark.parametrize("n", [0, 1, 5])
def test_inverses_of_triangles(n):
    stack = np.array([np.linalg.cholesky(positive_definite(n, seed)) for seed in range(2)]).reshape(2, n, n)
    product = invert_lower(stack) @ stack
    np.testing.assert_allclose(product, np.broadcast_to(np.eye(n), (2, n, n)), atol=1e-10)
