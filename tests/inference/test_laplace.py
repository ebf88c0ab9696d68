"""Laplace fits: mode, evidence and its gradient, leave-one-out; against quadrature, finite differences and refits."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import expit, log_expit
from scipy.stats import norm

from coview.inference import DenseCovariance, LaplaceFit, _laplace, laplace_fit


def dense_fit(K, y):
    """Laplace fits given covariance matrices."""
    return laplace_fit(DenseCovariance(K), y)


def problem(n, seed, *, amplitude=4.0, members=1):
    """Covariances (members, n, n) of full rank and mean diagonal ``amplitude``, targets of both signs."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(members, n, n + 2))
    K = A @ np.swapaxes(A, 1, 2)
    K *= amplitude / np.trace(K, axis1=1, axis2=2)[:, None, None] * n
    y = np.where(rng.random((members, n)) < 0.5, -1.0, 1.0)
    return K, y


@pytest.mark.parametrize("n", [1, 4, 60])
def test_the_mode_solves_its_equation(n):
    K, y = problem(n, n, members=3)
    fit = dense_fit(K, y)
    np.testing.assert_allclose(fit.modes, np.einsum("bij,bj->bi", K, fit.gradients), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(fit.gradients, y * expit(-y * fit.modes), rtol=1e-12)
    np.testing.assert_allclose(fit.curvatures, expit(fit.modes) * (1 - expit(fit.modes)), rtol=1e-10)


@pytest.mark.parametrize("variance", [0.01, 1.0, 4.0])
def test_evidence_of_one_label_is_near_its_integral(variance):
    fit = dense_fit(np.array([[[variance]]]), np.array([[1.0]]))
    exact = np.log(quad(lambda f: expit(f) * norm.pdf(f, scale=np.sqrt(variance)), -60, 60, epsabs=1e-13)[0])
    assert exact == pytest.approx(-np.log(2), rel=1e-9)  # by symmetry
    # An approximation: its own error is of second order in the variance.
    assert fit.log_marginal_likelihoods[0] == pytest.approx(exact, abs=0.035 * min(1.0, variance**2))


def test_evidence_of_two_labels_is_near_its_integral_and_equals_its_definition():
    K, y = problem(2, 5, amplitude=1.5)
    fit = dense_fit(K, y)
    grid = np.linspace(-12, 12, 481)
    F = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1)
    log_prior = (
        -0.5 * np.einsum("abi,ij,abj->ab", F, np.linalg.inv(K[0]), F) - 0.5 * np.linalg.slogdet(2 * np.pi * K[0])[1]
    )
    exact = np.log(np.exp(log_prior + log_expit(y[0] * F).sum(axis=2)).sum() * (grid[1] - grid[0]) ** 2)
    assert fit.log_marginal_likelihoods[0] == pytest.approx(exact, abs=0.03)
    f = fit.modes[0]
    hessian = np.linalg.inv(K[0]) + np.diag(fit.curvatures[0])
    defined = (
        log_expit(y[0] * f).sum()
        - 0.5 * f @ np.linalg.solve(K[0], f)
        - 0.5 * np.linalg.slogdet(K[0])[1]
        - 0.5 * np.linalg.slogdet(hessian)[1]
    )
    assert fit.log_marginal_likelihoods[0] == pytest.approx(defined, rel=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_evidence_gradient_agrees_with_finite_differences(seed):
    K, y = problem(6, seed, amplitude=3.0, members=2)
    gradients = np.stack([found.matrix() for found in dense_fit(K, y).evidence_gradients()])
    np.testing.assert_array_equal(gradients, np.swapaxes(gradients, 1, 2))
    rng = np.random.default_rng(seed + 100)
    for _ in range(5):
        change = rng.normal(size=(6, 6))
        change = 1e-5 * (change + change.T)
        up, down = (dense_fit(K + sign * change, y).log_marginal_likelihoods for sign in (1, -1))
        along = (gradients * change).sum(axis=(1, 2))
        np.testing.assert_allclose(along, (up - down) / 2, rtol=1e-4, atol=1e-10)


@pytest.mark.parametrize("n", [5, 55])
def test_a_stack_equals_its_members_one_by_one(n):
    K, y = problem(n, 7, members=4)
    K[1] *= 50.0  # members need different numbers of Newton steps
    stacked = dense_fit(K, y)
    for k in range(4):
        single = dense_fit(K[k : k + 1], y[k : k + 1])
        np.testing.assert_allclose(stacked.modes[k], single.modes[0], rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(stacked.log_marginal_likelihoods[k], single.log_marginal_likelihoods[0], rtol=1e-9)
        for all_of, one in zip(stacked.leave_one_out(), single.leave_one_out(), strict=True):
            np.testing.assert_allclose(all_of[k], one[0], rtol=1e-7, atol=1e-9)


def test_posterior_variance_is_the_inverse_of_the_hessian():
    K, y = problem(5, 2)
    fit = dense_fit(K, y)
    reduced = fit.variance_factors[0] @ K[0]
    expected = np.linalg.inv(np.linalg.inv(K[0]) + np.diag(fit.curvatures[0]))
    np.testing.assert_allclose(K[0] - reduced.T @ reduced, expected, rtol=1e-8, atol=1e-10)


def cavity(K, fit, i):
    """Mean and variance of f_i given the Gaussian sites of the other labels, by dense conditioning."""
    phi, g, f = fit.curvatures[0], fit.gradients[0], fit.modes[0]
    others = np.delete(np.arange(len(f)), i)
    site_means = f[others] + g[others] / phi[others]
    G = K[np.ix_(others, others)] + np.diag(1 / phi[others])
    k = K[i, others]
    return k @ np.linalg.solve(G, site_means), K[i, i] - k @ np.linalg.solve(G, k)


@pytest.mark.parametrize("amplitude", [0.1, 4.0, 50.0])
def test_leave_one_out_conditions_on_the_other_sites(amplitude):
    K, y = problem(7, 11, amplitude=amplitude)
    fit = dense_fit(K, y)
    means, variances = fit.leave_one_out()
    for i in range(7):
        mean, variance = cavity(K[0], fit, i)
        assert means[0, i] == pytest.approx(mean, rel=1e-7, abs=1e-9)
        assert variances[0, i] == pytest.approx(variance, rel=1e-7)


@pytest.mark.parametrize(("amplitude", "bound"), [(1.0, 0.001), (4.0, 0.024), (32.0, 0.12), (256.0, 0.14)])
@pytest.mark.parametrize("seed", [0, 1])
def test_leave_one_out_is_near_refits(amplitude, bound, seed):
    # Few, related samples, as in the reference problems: bounds on the moderated logit were measured there.
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(8, 2))
    K = np.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(axis=2))[None] * amplitude
    y = np.where(x[:, 0] + 0.3 * rng.normal(size=8) > 0, 1.0, -1.0)[None]
    means, variances = dense_fit(K, y).leave_one_out()
    for i in range(8):
        others = np.delete(np.arange(8), i)
        refit = dense_fit(K[:, others][:, :, others], y[:, others])
        k = K[0, i, others]
        mean = k @ refit.gradients[0]
        variance = K[0, i, i] - np.square(refit.variance_factors[0] @ k).sum()
        logit = mean / np.sqrt(1 + np.pi * variance / 8)
        closed = means[0, i] / np.sqrt(1 + np.pi * variances[0, i] / 8)
        assert closed == pytest.approx(logit, abs=3 * bound)


def test_leaving_out_the_only_label_gives_the_prior():
    means, variances = dense_fit(np.array([[[2.5]]]), np.array([[-1.0]])).leave_one_out()
    assert means[0, 0] == pytest.approx(0.0, abs=1e-9)
    assert variances[0, 0] == pytest.approx(2.5, rel=1e-9)


@pytest.mark.parametrize("amplitude", [0.0, 1e-12, 1e4, 1e8, 1e12])
@pytest.mark.parametrize("pattern", ["same", "random"])
def test_extreme_amplitudes_and_targets_converge(amplitude, pattern):
    K, y = problem(20, 1, amplitude=1.0)
    if pattern == "same":
        y = np.ones_like(y)
    fit = dense_fit(amplitude * K, y)
    scale = max(1.0, np.abs(fit.modes).max())
    residual = fit.modes - amplitude * np.einsum("bij,bj->bi", K, fit.gradients)
    assert np.abs(residual).max() < 1e-6 * scale
    assert np.isfinite(fit.log_marginal_likelihoods).all()
    means, variances = fit.leave_one_out()
    assert np.isfinite(means).all()
    assert (variances >= 0).all()


def test_contradicting_duplicates_converge():
    K = np.full((1, 6, 6), 1e6)
    fit = dense_fit(K, np.array([[1.0, -1.0] * 3]))
    np.testing.assert_allclose(fit.modes, 0.0, atol=1e-6)


def test_a_singular_covariance_is_no_obstacle():
    x = np.linspace(-1, 1, 9)
    fit = dense_fit(np.outer(x, x)[None] * 9.0, np.sign(x + 0.01)[None])
    slope = fit.modes[0] / np.where(x == 0, 1, x)
    np.testing.assert_allclose(slope[x != 0], slope[0], rtol=1e-8)


def test_no_labels_give_empty_fits_of_evidence_zero():
    fit = dense_fit(np.zeros((2, 0, 0)), np.zeros((2, 0)))
    assert fit.log_marginal_likelihoods.tolist() == [0.0, 0.0]
    assert fit.leave_one_out()[0].shape == (2, 0)


def test_an_indefinite_covariance_fails_with_advice():
    with pytest.raises(RuntimeError, match=r"100 Newton steps for 1 of 1 .* positive semi-definite"):
        dense_fit(np.array([[[-5.0]]]), np.array([[1.0]]))


def test_a_fit_is_a_value_object():
    K, y = problem(3, 0)
    fit = dense_fit(K, y)
    again = LaplaceFit(DenseCovariance(K), y, fit.modes)
    np.testing.assert_array_equal(again.log_marginal_likelihoods, fit.log_marginal_likelihoods)


@pytest.mark.parametrize("seed", range(12))
def test_large_singular_covariances_converge(seed):
    # A linear kernel on one large column: latent values are small differences of huge numbers.
    rng = np.random.default_rng(seed)
    x = rng.normal(size=7) * 10 ** rng.uniform(3, 4)
    y = np.where(rng.random(7) < 0.5, -1.0, 1.0)
    fit = dense_fit(np.outer(x, x)[None], y[None])
    slope = brentq(lambda w: (x * y * expit(-y * x * w)).sum() - w, -1e3, 1e3, xtol=1e-15, rtol=1e-14)
    np.testing.assert_allclose(fit.modes[0], x * slope, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", [178, 671, 935])
def test_newton_steps_are_halved_where_full_ones_go_round_in_circles(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(6, 5))
    K, y = 3e5 * (A @ A.T)[None], np.where(rng.random((1, 6)) < 0.5, -1.0, 1.0)
    fit = dense_fit(K, y)
    np.testing.assert_allclose(fit.modes, np.einsum("bij,bj->bi", K, fit.gradients), rtol=1e-6, atol=1e-6)
    monkeypatch.setattr(_laplace, "_MAX_HALVINGS", 1)
    with pytest.raises(RuntimeError, match=r"100 Newton steps"):
        dense_fit(K, y)
