"""Pivoted incomplete Cholesky: exact at full rank, better with rank, the same whatever rounding says."""

import numpy as np
import pytest

from coview.linalg import incomplete_cholesky


def factored(K, n_components=None, **options):
    asked = []

    def column(i):
        asked.append(i)
        return K[:, i]

    result = incomplete_cholesky(column, np.diagonal(K), n_components, **options)
    assert asked == result.pivots.tolist()
    return result


def random_gram(n=12, rank=12, seed=0, scale=1.0):
    X = np.random.default_rng(seed).normal(size=(n, rank))
    return scale * X @ X.T


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("rank", [1, 5, 12])
def test_all_pivots_give_the_whole_matrix(rank, scale):
    K = random_gram(rank=rank, scale=scale)
    result = factored(K)
    assert result.pivots.size == rank
    np.testing.assert_allclose(result.factor @ result.factor.T, K, atol=1e-9 * scale * np.abs(K / scale).max())
    assert result.residuals.max() <= 1e-9 * K.max()


@pytest.mark.parametrize("n_components", [1, 4, 9])
def test_the_error_is_positive_semi_definite_and_told_by_the_residuals(n_components):
    K = random_gram()
    result = factored(K, n_components)
    error = K - result.factor @ result.factor.T
    np.testing.assert_allclose(result.residuals, np.diagonal(error), atol=1e-12)
    assert np.linalg.eigvalsh(error)[0] > -1e-10
    assert np.abs(error).max() <= result.residuals.max() + 1e-12
    np.testing.assert_allclose(error[result.pivots], 0.0, atol=1e-10)


def test_the_error_falls_with_rank_and_leading_columns_stay():
    K = random_gram()
    full = factored(K)
    errors = []
    for k in range(1, 13):
        part = factored(K, k)
        np.testing.assert_array_equal(part.pivots, full.pivots[:k])
        np.testing.assert_array_equal(part.factor, full.factor[:, :k])
        errors.append(part.residuals.sum())
    assert (np.diff(errors) < 0).all()


def test_the_rows_of_the_pivots_are_a_cholesky_factor():
    K = random_gram()
    result = factored(K, 7)
    own = result.factor[result.pivots]
    np.testing.assert_array_equal(own, np.tril(own))
    np.testing.assert_allclose(own, np.linalg.cholesky(K[np.ix_(result.pivots, result.pivots)]), rtol=1e-10, atol=1e-12)


def test_among_rows_alike_up_to_rounding_the_first_is_chosen():
    K = np.diag([1.0, 1.0 + 1e-13, 1.0])
    assert factored(K).pivots.tolist() == [0, 1, 2]
    noisy = np.eye(6) + 1e-14 * np.random.default_rng(0).normal(size=(6, 6))
    assert factored(0.5 * (noisy + noisy.T)).pivots.tolist() == list(range(6))


def test_repeated_rows_are_chosen_once():
    K = np.repeat(np.repeat(random_gram(4, 4), 3, axis=0), 3, axis=1)
    result = factored(K)
    assert sorted(result.pivots // 3) == [0, 1, 2, 3]
    np.testing.assert_allclose(result.factor @ result.factor.T, K, atol=1e-10)


def test_a_tolerance_stops_where_every_residual_is_below_it():
    values = np.array([4.0, 1.0, 0.3, 0.01])
    result = factored(np.diag(values), rtol=0.1)
    assert result.pivots.tolist() == [0, 1]
    assert factored(np.diag(values), rtol=0.0).pivots.size == 4


@pytest.mark.parametrize("K", [np.zeros((0, 0)), np.zeros((3, 3))])
def test_nothing_to_factor_gives_no_pivots(K):
    result = factored(K)
    assert result.pivots.size == 0
    assert result.factor.shape == (len(K), 0)
