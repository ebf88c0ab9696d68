"""A Gaussian given some of its features, against the formulas with an inverse."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from coview.exceptions import NotPositiveDefiniteError
from coview.inference import condition_components, condition_gaussian, covariance_root

OBSERVED, MISSING = np.array([0, 3]), np.array([1, 2])


def gaussian(seed, p=4):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(p, p))
    return rng.normal(size=p), root @ root.T + 0.1 * np.eye(p), rng.normal(size=(5, p))


@pytest.mark.parametrize("seed", range(3))
def test_conditionals_are_the_textbook_formulas(seed):
    mean, covariance, rows = gaussian(seed)
    given = condition_gaussian(mean, covariance, OBSERVED, MISSING)
    oo, mo = covariance[np.ix_(OBSERVED, OBSERVED)], covariance[np.ix_(MISSING, OBSERVED)]
    regression = mo @ np.linalg.inv(oo)
    values = rows[:, OBSERVED]
    np.testing.assert_allclose(given.coefficients, regression, rtol=1e-9)
    np.testing.assert_allclose(given.mean(values), mean[MISSING] + (values - mean[OBSERVED]) @ regression.T, rtol=1e-9)
    np.testing.assert_allclose(given.covariance, covariance[np.ix_(MISSING, MISSING)] - regression @ mo.T, rtol=1e-8)
    np.testing.assert_allclose(
        given.log_density(values), multivariate_normal(mean[OBSERVED], oo).logpdf(values), rtol=1e-9
    )


def test_features_of_any_scale_keep_their_digits():
    """A change of units by 1e8 and 1e-8 changes nothing but the units."""
    mean, covariance, rows = gaussian(0)
    units = np.array([1e-8, 1.0, 1e8, 1e8])
    plain = condition_gaussian(mean, covariance, OBSERVED, MISSING)
    scaled = condition_gaussian(mean * units, covariance * units * units[:, None], OBSERVED, MISSING)
    values = rows[:, OBSERVED]
    np.testing.assert_allclose(scaled.mean(values * units[OBSERVED]), plain.mean(values) * units[MISSING], rtol=1e-10)
    volume = np.log(units[OBSERVED]).sum()
    np.testing.assert_allclose(
        scaled.log_density(values * units[OBSERVED]), plain.log_density(values) - volume, rtol=1e-10
    )


def test_nothing_observed_leaves_the_gaussian_as_it_is():
    mean, covariance, _ = gaussian(1)
    nothing, all_of_them = np.empty(0, dtype=int), np.arange(4)
    given = condition_gaussian(mean, covariance, nothing, all_of_them)
    np.testing.assert_array_equal(given.mean(np.empty((2, 0))), [mean, mean])
    np.testing.assert_array_equal(given.covariance, covariance)
    np.testing.assert_array_equal(given.log_density(np.empty((2, 0))), [0.0, 0.0])


def test_variances_are_a_diagonal_matrix():
    rng = np.random.default_rng(0)
    means, variances, values = rng.normal(size=(2, 4)), rng.uniform(0.5, 2.0, (2, 4)), rng.normal(size=(3, 2))
    matrices = np.stack([np.diag(row) for row in variances])
    pairs = zip(
        condition_components(means, variances, OBSERVED, MISSING),
        condition_components(means, matrices, OBSERVED, MISSING),
        strict=True,
    )
    for independent, dense in pairs:
        np.testing.assert_allclose(independent.log_density(values), dense.log_density(values), rtol=1e-12)
        for name in ("mean", "covariance", "coefficients"):
            a, b = getattr(independent, name), getattr(dense, name)
            np.testing.assert_allclose(
                a(values) if name == "mean" else a, b(values) if name == "mean" else b, atol=1e-14
            )


def test_a_variance_of_zero_raises_and_says_what_to_do():
    with pytest.raises(NotPositiveDefiniteError, match=r"component 1 has a variance of zero.*Raise reg_covar"):
        condition_components(np.zeros((2, 2)), np.stack([np.eye(2), np.zeros((2, 2))]), np.array([0]), np.array([1]))


def test_roots_of_singular_covariances():
    direction = np.array([1.0, 2.0, 0.0])
    covariance = np.outer(direction, direction)
    root = covariance_root(covariance)
    np.testing.assert_allclose(root @ root.T, covariance, atol=1e-12)
