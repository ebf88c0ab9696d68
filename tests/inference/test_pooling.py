"""Pooled views against exact rational arithmetic, on one route and the other, within the memory that they promise."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from coview.exceptions import NotPositiveDefiniteError
from coview.inference import SignedSquares
from coview.inference._pooling import pool_views, pull_back

PATTERNS = {
    "complete": [[0, 1, 2, 3, 4]] * 3,
    "one complete": [[1, 3], [0, 1, 2, 3, 4], [0, 3, 4]],
    "none complete": [[0, 1, 2], [2, 3, 4], [0, 4]],
    "apart": [[0, 1], [2, 3, 4], [1, 3]],
}


def exact_inverse(matrix):
    """Gauss-Jordan elimination of a positive definite matrix of fractions."""
    n = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(n))] for i, row in enumerate(matrix)]
    for i in range(n):
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(n):
            if k != i:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[n:] for row in rows]


def exact_mean_covariance(grams, rows, variances, n):
    """``(sum_j (K_j + sigma_j^2 I)^{-1})^{-1} - diag(1 / W)``."""
    total = [[Fraction(0)] * n for _ in range(n)]
    precisions = [Fraction(0)] * n
    for gram, held, variance in zip(grams, rows, variances, strict=True):
        shifted = [[Fraction(value) for value in row] for row in gram.tolist()]
        for i in range(len(held)):
            shifted[i][i] += Fraction(float(variance))
        inverse = exact_inverse(shifted)
        for i, a in enumerate(held):
            precisions[a] += 1 / Fraction(float(variance))
            for j, b in enumerate(held):
                total[a][b] += inverse[i][j]
    K = exact_inverse(total)
    for i in range(n):
        K[i][i] -= 1 / precisions[i]
    return np.array([[float(value) for value in row] for row in K])


def problem(pattern, seed=0, scales=(1.0, 1.0, 1.0)):
    rng = np.random.default_rng(seed)
    rows = [np.array(held) for held in PATTERNS[pattern]]
    features = [np.sqrt(scale) * rng.normal(size=(held.size, 6)) for held, scale in zip(rows, scales, strict=True)]
    grams = [block @ block.T for block in features]
    return [0.5 * (gram + gram.T) for gram in grams], rows


@pytest.mark.parametrize("keep_steps", [False, True])
@pytest.mark.parametrize("level", [1e-10, 1e-4, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_mean_is_exact_at_every_variance(pattern, level, keep_steps):
    grams, rows = problem(pattern)
    variances = level * np.array([0.3, 1.0, 2.0])
    pool, steps = pool_views(grams, rows, variances, keep_steps=keep_steps)
    expected = exact_mean_covariance(grams, rows, variances, 5)
    np.testing.assert_allclose(pool.covariance, expected, rtol=1e-9, atol=1e-13 * np.abs(expected).max())
    np.testing.assert_array_equal(pool.covariance, pool.covariance.T)
    assert len(steps) == (2 if keep_steps else 0)


@pytest.mark.parametrize("scales", [(1e10, 1.0, 1.0), (1.0, 1e-10, 1e10), (1e-8, 1e8, 1e-8)])
@pytest.mark.parametrize("pattern", ["complete", "one complete"])
def test_a_view_of_large_values_takes_no_digits_from_the_others(pattern, scales):
    grams, rows = problem(pattern, 1, scales)
    variances = np.array([0.3, 1.0, 2.0])
    expected = exact_mean_covariance(grams, rows, variances, 5)
    for keep_steps in (False, True):
        found = pool_views(grams, rows, variances, keep_steps=keep_steps)[0].covariance
        both = np.isin(np.arange(5), rows[0]) & np.isin(np.arange(5), rows[2])  # samples that smaller views have too
        np.testing.assert_allclose(found[np.ix_(both, both)], expected[np.ix_(both, both)], rtol=1e-8)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 130])
def test_strips_of_any_number_of_rows_agree_with_the_formula(n):
    rng = np.random.default_rng(n)
    grams = [A @ A.T / n for A in (rng.normal(size=(n, n)), rng.normal(size=(n, n)))]
    rows = [np.arange(n), np.arange(n)]
    precision = sum(
        np.linalg.inv(gram + variance * np.eye(n)) for gram, variance in zip(grams, (0.5, 0.2), strict=True)
    )
    expected = np.linalg.inv(precision) - np.eye(n) / 7.0
    before = [gram.copy() for gram in grams]
    for keep_steps in (False, True):
        found = pool_views(grams, rows, np.array([0.5, 0.2]), keep_steps=keep_steps)[0].covariance
        np.testing.assert_allclose(found, expected, atol=1e-12)
    for gram, kept in zip(grams, before, strict=True):
        np.testing.assert_array_equal(gram, kept)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_derivatives_go_back_to_every_view(pattern):
    grams, rows = problem(pattern)
    variances, rng = np.array([0.3, 1.0, 2.0]), np.random.default_rng(0)
    _, steps = pool_views(grams, rows, variances, keep_steps=True)
    V = rng.normal(size=(2, 3))
    columns = np.array([0, 2, 4])
    seen = []
    for view, factors in pull_back(steps, V, columns, 5):
        seen.append(view)
        change = rng.normal(size=grams[view].shape)
        change = 1e-6 * (change + change.T)
        ends = []
        for sign in (1, -1):
            moved = [gram + sign * change if j == view else gram for j, gram in enumerate(grams)]
            K = pool_views(moved, rows, variances)[0].covariance
            ends.append(((V.T @ V) * K[np.ix_(columns, columns)]).sum())
        expected = (ends[0] - ends[1]) / 2
        assert ((factors.T @ factors) * change).sum() == pytest.approx(expected, rel=1e-6, abs=1e-13)
    assert sorted(seen) == [0, 1, 2]


@pytest.mark.parametrize("n_views", [2, 3])
def test_complete_views_are_pooled_within_two_matrices(n_views):
    n = 1000
    rng = np.random.default_rng(0)
    block = rng.normal(size=(n, 3))
    grams = [block @ block.T + np.eye(n)] * n_views
    tracemalloc.start()
    try:
        pool_views(grams, [np.arange(n)] * n_views, np.full(n_views, 0.1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2.25 * 8 * n**2


def test_rounding_below_zero_is_lifted_by_jitter():
    tilted = np.diag([1.0, 1.0, -0.1 * (1 + 1e-8)])
    pool, _ = pool_views([tilted, tilted], [np.arange(3)] * 2, np.array([0.1, 0.1]))
    assert np.isfinite(pool.covariance).all()
    np.testing.assert_allclose(np.diagonal(pool.covariance)[:2], 0.5, atol=1e-5)


def test_what_cannot_be_pooled_is_named():
    bad = np.diag([1.0, -3.0])
    with pytest.raises(NotPositiveDefiniteError, match=r"difference of view 1 .* row 1\. Raise view_variances"):
        pool_views([bad, bad], [np.arange(2)] * 2, np.array([0.1, 0.1]))
    with pytest.raises(NotPositiveDefiniteError, match="Gram matrix of view 1 must be finite"):
        pool_views([np.eye(2), np.full((2, 2), np.nan)], [np.arange(2)] * 2, np.array([0.1, 0.1]))


def test_signed_squares_in_every_form():
    rng = np.random.default_rng(0)
    P, N, direction = rng.normal(size=(2, 4)), rng.normal(size=(3, 4)), rng.normal(size=(4, 4))
    direction = direction + direction.T
    squares = SignedSquares(P, N)
    A = P.T @ P - N.T @ N
    np.testing.assert_allclose(squares.matrix(), A)
    np.testing.assert_allclose(squares.diagonal(), np.diagonal(A))
    assert squares.trace() == pytest.approx(np.trace(A))
    assert squares.along(direction) == pytest.approx((A * direction).sum())
    assert (squares.folded() * direction).sum() == pytest.approx((A * direction).sum())
    assert not np.tril(squares.folded(), -1).any()
    np.testing.assert_allclose(squares.scaled(3.0).matrix(), 3.0 * A)
    np.testing.assert_allclose(SignedSquares.total([squares] * 3).matrix(), 3.0 * A)
    a, b = rng.normal(size=4), 1e8 * rng.normal(size=4)
    product = SignedSquares.of_product(a, b, N).matrix()
    np.testing.assert_allclose(product, 0.5 * (np.outer(a, b) + np.outer(b, a)) - N.T @ N, rtol=1e-8)
    np.testing.assert_allclose(SignedSquares.of_product(0.0 * a, b, N).matrix(), -N.T @ N, atol=1e-7)
