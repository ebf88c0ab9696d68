"""Exact regression: evidence, its gradient, leave-one-out against refits."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from coview.inference import DenseCovariance, RegressionFit, gaussian_log_density


def fit_of(K, y, noise):
    """A stack of one."""
    return RegressionFit(DenseCovariance(K[None]), y, np.array([noise]))


def problem(n=7, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    return A @ A.T / n, rng.normal(size=n) * 2


def test_evidence_is_the_density_of_the_targets():
    K, y = problem()
    fit = fit_of(K, y, 0.3)
    expected = multivariate_normal(np.zeros(7), K + 0.3 * np.eye(7)).logpdf(y)
    assert fit.log_marginal_likelihoods[0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("noise", [1e-4, 0.3, 1e4])
def test_leave_one_out_equals_refits(noise):
    K, y = problem()
    (means,), (variances,) = fit_of(K, y, noise).leave_one_out()
    for i in range(7):
        others = np.delete(np.arange(7), i)
        refit = fit_of(K[np.ix_(others, others)], y[others], noise)
        k = K[i, others]
        assert means[i] == pytest.approx(k @ refit.gradients[0], rel=1e-7, abs=1e-9)
        variance = K[i, i] - np.square(refit.variance_factors[0] @ k).sum()
        assert variances[i] == pytest.approx(variance, rel=1e-7, abs=1e-9 * noise)


def test_gradient_agrees_with_finite_differences():
    K, y = problem()
    Q = fit_of(K, y, 0.3).evidence_gradients()[0].matrix()
    change = np.random.default_rng(1).normal(size=(7, 7))
    change = 1e-6 * (change + change.T)
    up, down = (fit_of(K + sign * change, y, 0.3).log_marginal_likelihoods[0] for sign in (1, -1))
    assert (Q * change).sum() == pytest.approx((up - down) / 2, rel=1e-5)
    up, down = (fit_of(K, y, 0.3 + sign * 1e-6).log_marginal_likelihoods[0] for sign in (1, -1))
    assert np.trace(Q) == pytest.approx((up - down) / 2e-6, rel=1e-5)


def test_posterior_at_the_targets():
    K, y = problem()
    fit = fit_of(K, y, 0.3)
    G = K + 0.3 * np.eye(7)
    np.testing.assert_allclose(K @ fit.gradients[0], K @ np.linalg.solve(G, y), rtol=1e-9)
    reduced = fit.variance_factors[0] @ K
    np.testing.assert_allclose(K - reduced.T @ reduced, K - K @ np.linalg.solve(G, K), atol=1e-10)


def test_log_density_elementwise():
    values, means, variances = np.array([0.0, 1.5]), np.array([1.0, 1.0]), np.array([4.0, 1e-6])
    expected = norm.logpdf(values, means, np.sqrt(variances))
    np.testing.assert_allclose(gaussian_log_density(values, means, variances), expected, rtol=1e-12)


def test_left_out_variances_are_never_negative():
    rng = np.random.default_rng(0)
    for power in range(-3, 6):
        K = 1e-18 * np.eye(9) * rng.random(9)
        noise = 10.0**power * rng.random()
        assert (fit_of(K, rng.normal(size=9), noise).leave_one_out()[1] >= 0).all()
