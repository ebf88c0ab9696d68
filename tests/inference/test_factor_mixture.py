"""Numerics of mixtures of factor analyzers against dense Gaussians, row by row, and what EM promises."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from coview.exceptions import NotPositiveDefiniteError
from coview.inference import FactorData, FactorParameters, factor_em, factor_posterior, factor_responsibilities

P, D, J, C = 5, 2, 3, 2


def parameters(seed=0, p=P, d=D, noise=0.4):
    rng = np.random.default_rng(seed)
    return FactorParameters(
        rng.dirichlet(np.ones(J)),
        2 * rng.normal(size=(J, p)),
        rng.normal(size=(J, p, d)),
        noise,
        rng.dirichlet(np.ones(C), J),
    )


def incomplete(seed=0, n=40, p=P):
    """Rows with whole views (the first two columns, the rest) and single features missing, one row empty; some labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 3 * rng.integers(2, size=(n, 1))
    X[::3, :2] = np.nan
    X[1::5, 2:] = np.nan
    X[rng.random((n, p)) < 0.1] = np.nan
    X[7] = np.nan
    return X, np.where(rng.random(n) < 0.5, rng.integers(C, size=n), -1)


def dense(parameters, X):
    """Log-densities (n, J) and factor means (n, J, d), covariances (n, J, d, d) by inverting covariance matrices."""
    d = parameters.loadings.shape[2]
    log_density = np.zeros((len(X), J))
    means, covariances = np.zeros((len(X), J, d)), np.tile(np.eye(d), (len(X), J, 1, 1))
    for i, row in enumerate(X):
        seen = ~np.isnan(row)
        for j in range(J) if seen.any() else ():
            A, r = parameters.loadings[j, seen], row[seen] - parameters.means[j, seen]
            cov = A @ A.T + parameters.noise_variance * np.eye(seen.sum())
            log_density[i, j] = multivariate_normal.logpdf(r, np.zeros(len(r)), cov)
            means[i, j] = A.T @ np.linalg.inv(cov) @ r
            covariances[i, j] = np.eye(d) - A.T @ np.linalg.inv(cov) @ A
    return log_density, means, covariances


@pytest.mark.parametrize("d", [0, 1, 2, 7])
def test_the_posterior_is_that_of_dense_gaussians(d):
    X, _ = incomplete()
    model = parameters(d=d)
    data = FactorData.of(X)
    got = factor_posterior(data.table, model)
    log_density, means, covariances = dense(model, X)
    np.testing.assert_allclose(data.table.in_order(got.log_density, axis=1).T, log_density, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(data.table.in_order(got.means, axis=1).swapaxes(0, 1), means, rtol=1e-9, atol=1e-10)
    for pattern, covariance in zip(data.table.patterns, got.covariances, strict=True):
        for row in data.table.order[pattern.rows]:
            np.testing.assert_allclose(covariance, covariances[row], rtol=1e-9, atol=1e-10)


def test_responsibilities_and_likelihood_of_features_and_labels():
    X, y = incomplete()
    model = parameters()
    data = FactorData.of(X, y)
    _, shares, log_likelihood = factor_responsibilities(data, model)
    joint = dense(model, X)[0] + np.log(model.weights)
    joint[y >= 0] += np.log(model.class_probabilities[:, y[y >= 0]]).T
    np.testing.assert_allclose(data.table.in_order(log_likelihood), logsumexp(joint, axis=1), rtol=1e-10)
    expected = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(data.table.in_order(shares, axis=1).T, expected, rtol=1e-8, atol=1e-12)


def naive_step(model, X, y, floor):
    """One iteration with a loop over samples and features, by (13)-(16) uncentered, and the noise variance."""
    n, (d, p) = len(X), (model.loadings.shape[2], X.shape[1])
    log_density, m, C_ = dense(model, X)
    joint = log_density + np.log(model.weights)
    joint[y >= 0] += np.log(model.class_probabilities[:, y[y >= 0]]).T
    w = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    A, mu, noise, seen = np.empty((J, p, d)), np.empty((J, p)), 0.0, ~np.isnan(X)
    for j in range(J):
        for r in range(p):
            left, right = np.zeros(d + 1), np.zeros((d + 1, d + 1))
            for i in np.flatnonzero(seen[:, r]):
                v = np.append(m[i, j], 1.0)
                second = np.outer(v, v)
                second[:d, :d] += C_[i, j]
                left += w[i, j] * X[i, r] * v
                right += w[i, j] * second
            solution = np.linalg.solve(right, left)
            A[j, r], mu[j, r] = solution[:d], solution[d]
            for i in np.flatnonzero(seen[:, r]):
                away = X[i, r] - mu[j, r] - A[j, r] @ m[i, j]
                noise += w[i, j] * (away**2 + A[j, r] @ C_[i, j] @ A[j, r])
    counts = np.array([w[y == c].sum(axis=0) for c in range(C)]).T
    return w.sum(axis=0) / n, mu, A, max(noise / seen.sum(), floor), counts / counts.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(3))
def test_one_iteration_is_that_of_loops_over_rows_and_features(seed):
    X, y = incomplete(seed, n=30)
    model = parameters(seed)
    new = factor_em(FactorData.of(X, y), model, tol=0.0, max_iter=1, noise_floor=1e-9).parameters
    weights, means, loadings, noise, classes = naive_step(model, X, y, 1e-9)
    np.testing.assert_allclose(new.weights, weights, rtol=1e-9)
    np.testing.assert_allclose(new.means, means, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(new.loadings, loadings, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(new.noise_variance, noise, rtol=1e-9)
    np.testing.assert_allclose(new.class_probabilities, classes, rtol=1e-8)


@pytest.mark.parametrize("noise_floor", [None, 1e-6])
@pytest.mark.parametrize("seed", range(6))
def test_the_likelihood_never_falls(seed, noise_floor):
    X, y = incomplete(seed)
    run = factor_em(
        FactorData.of(X, y),
        parameters(seed, d=seed),
        tol=0.0,
        max_iter=40,
        noise_floor=noise_floor,
        class_smoothing=0.0,
    )
    assert np.diff(run.trace).min() > -1e-9 * np.abs(run.trace).max()
    assert run.trace[-1] > run.trace[0]


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_scales_of_the_features_scale_the_fit(scale):
    X, y = incomplete()
    model = parameters()
    scaled = FactorParameters(
        model.weights, scale * model.means, scale * model.loadings, scale**2 * 0.4, model.class_probabilities
    )
    settings = {"tol": 0.0, "max_iter": 5}
    plain = factor_em(FactorData.of(X, y), model, noise_floor=1e-9, **settings)
    other = factor_em(FactorData.of(scale * X, y), scaled, noise_floor=1e-9 * scale**2, **settings)
    np.testing.assert_allclose(other.parameters.loadings, scale * plain.parameters.loadings, rtol=1e-7)
    np.testing.assert_allclose(other.parameters.noise_variance, scale**2 * plain.parameters.noise_variance, rtol=1e-9)
    volume = (~np.isnan(X)).sum() * np.log(scale)
    np.testing.assert_allclose(other.trace, plain.trace - volume, rtol=1e-9)


def test_the_order_of_rows_and_features_does_not_matter():
    X, y = incomplete()
    model = parameters()
    rows, features = np.random.default_rng(0).permutation(len(X)), np.random.default_rng(1).permutation(P)
    moved = FactorParameters(
        model.weights, model.means[:, features], model.loadings[:, features], 0.4, model.class_probabilities
    )
    plain = factor_em(FactorData.of(X, y), model, tol=0.0, max_iter=5, noise_floor=1e-9).parameters
    other = factor_em(
        FactorData.of(X[rows][:, features], y[rows]), moved, tol=0.0, max_iter=5, noise_floor=1e-9
    ).parameters
    np.testing.assert_allclose(other.means, plain.means[:, features], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(other.noise_variance, plain.noise_variance, rtol=1e-10)


@pytest.mark.parametrize("blocks", [1, 300])
def test_blocks_of_the_residuals_change_nothing(monkeypatch, blocks):
    X, y = incomplete(n=200)
    model = parameters()
    whole = factor_em(FactorData.of(X, y), model, tol=0.0, max_iter=3, noise_floor=1e-9)
    monkeypatch.setattr("coview.inference._factor_rows._BLOCK", blocks)
    monkeypatch.setattr("coview.inference._factor_rows._FEWEST_ROWS", 3)
    cut = factor_em(FactorData.of(X, y), model, tol=0.0, max_iter=3, noise_floor=1e-9)
    np.testing.assert_allclose(cut.trace, whole.trace, rtol=1e-12)
    np.testing.assert_allclose(cut.parameters.loadings, whole.parameters.loadings, rtol=1e-9, atol=1e-12)


def test_what_no_row_informs_keeps_its_value():
    """A feature nobody has, a component without mass, a component without labels."""
    X, y = incomplete()
    X[:, 3] = np.nan
    model = parameters()
    weights = np.array([0.5, 0.5, 0.0])
    far = model.means.copy()
    far[1] = 1e3  # no row comes from there, so none of its labels does
    model = FactorParameters(weights, far, model.loadings, 0.4, model.class_probabilities)
    run = factor_em(FactorData.of(X, y), model, tol=0.0, max_iter=4, noise_floor=1e-9)
    new = run.parameters
    np.testing.assert_array_equal(new.means[:, 3], model.means[:, 3])
    np.testing.assert_array_equal(new.loadings[:, 3], model.loadings[:, 3])
    np.testing.assert_array_equal(new.means[2], model.means[2])
    np.testing.assert_array_equal(new.loadings[2], model.loadings[2])
    np.testing.assert_array_equal(new.class_probabilities[2], model.class_probabilities[2])
    assert new.weights[2] == 0.0
    assert np.isfinite(run.trace).all()


def test_one_row_is_enough_for_a_feature():
    X, y = incomplete()
    X[:, 4] = np.nan
    X[2, 4] = 1.5
    run = factor_em(FactorData.of(X, y), parameters(), tol=0.0, max_iter=10, noise_floor=1e-9)
    assert np.isfinite(run.parameters.loadings).all()
    assert np.diff(run.trace).min() > -1e-9


def test_repeated_rows_end_at_the_floor_without_nan():
    X = np.tile(np.random.default_rng(0).normal(size=(2, P)), (10, 1))
    run = factor_em(FactorData.of(X), parameters(), tol=0.0, max_iter=200, noise_floor=1e-6)
    assert run.parameters.noise_variance == pytest.approx(1e-6)
    assert np.isfinite(run.trace).all()


def test_a_row_far_away_has_finite_responsibilities():
    X, y = incomplete()
    X[0] = 1e9
    data = FactorData.of(X, y)
    _, shares, log_likelihood = factor_responsibilities(data, parameters())
    assert np.isfinite(log_likelihood).all()
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)


def test_a_table_without_values_keeps_everything_but_weights():
    model = parameters()
    run = factor_em(FactorData.of(np.full((4, P), np.nan)), model, tol=0.0, max_iter=2, noise_floor=1e-6)
    np.testing.assert_allclose(run.parameters.weights, model.weights)
    np.testing.assert_array_equal(run.parameters.means, model.means)
    np.testing.assert_allclose(run.trace, 0.0, atol=1e-12)


def test_a_noise_variance_that_rounding_swallows_is_refused():
    X, _ = incomplete()
    with pytest.raises(NotPositiveDefiniteError, match=r"noise_variance=1.0e-30.*Raise noise_variance"):
        factor_posterior(FactorData.of(X).table, parameters(d=7, noise=1e-30))
