"""Fits in the space of features equal fits to the matrices that the features imply."""

from fractions import Fraction

import numpy as np
import pytest

from coview.inference import (
    DenseCovariance,
    FactoredCovariance,
    FactoredRegressionFit,
    JointFeatures,
    JointPrior,
    RegressionFit,
    _factored_covariance,
    _feature_rows,
    concatenated,
    labeled_covariance,
    laplace_fit,
    latent_posteriors,
    regression_fit,
)


def factored_problem(n, q, seed, *, amplitude=4.0, members=2, labels="random"):
    """Features (members, n, q) of mean squared length ``amplitude``, their products, and targets."""
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(members, n, q)) * np.sqrt(amplitude / max(q, 1))
    if labels == "duplicates":
        G[:, 1::2] = G[:, : 2 * (n // 2) : 2]  # each row twice, with labels that may disagree
    if labels == "alike":
        G += np.sqrt(amplitude)  # all rows nearly in one direction
    y = np.where(rng.random((members, n)) < 0.5, -1.0, 1.0)
    if labels == "same":
        y[:] = 1.0
    return FactoredCovariance(G), DenseCovariance(G @ np.swapaxes(G, 1, 2)), y


def compare_laplace(fast, plain, rtol):
    """Every quantity of a factored Laplace fit and a dense one."""
    np.testing.assert_allclose(fast.modes, plain.modes, rtol=rtol, atol=rtol * np.abs(plain.modes).max(initial=0.0))
    np.testing.assert_allclose(fast.log_marginal_likelihoods, plain.log_marginal_likelihoods, rtol=rtol)
    (mean, variance), (plain_mean, plain_variance) = fast.leave_one_out(), plain.leave_one_out()
    np.testing.assert_allclose(variance, plain_variance, rtol=rtol)
    terms = np.abs(plain.modes) + np.abs(plain_variance * plain.gradients)  # whose difference the means are
    np.testing.assert_allclose(mean, plain_mean, rtol=rtol, atol=rtol * terms.max(initial=0.0))


# The dense path subtracts to get posterior variances and loses digits by the condition number: the tolerance is its own.
AMPLITUDES = [(1e-6, 1e-12), (4.0, 1e-11), (256.0, 1e-9), (1e6, 1e-6)]


@pytest.mark.parametrize(("n", "q"), [(1, 1), (5, 9), (9, 9), (30, 4), (60, 52), (12, 0)])
@pytest.mark.parametrize(("amplitude", "rtol"), AMPLITUDES)
def test_a_factored_laplace_fit_equals_the_dense_one(n, q, amplitude, rtol):
    factored, dense, y = factored_problem(n, q, n + q, amplitude=amplitude)
    compare_laplace(laplace_fit(factored, y), laplace_fit(dense, y), rtol)


@pytest.mark.parametrize("labels", ["same", "duplicates", "alike"])
@pytest.mark.parametrize(("amplitude", "rtol"), AMPLITUDES)
def test_difficult_labels_give_the_dense_fit_too(labels, amplitude, rtol):
    factored, dense, y = factored_problem(20, 3, 1, amplitude=amplitude, labels=labels)
    compare_laplace(laplace_fit(factored, y), laplace_fit(dense, y), rtol)


def test_several_classes_are_members_that_share_features():
    factored, dense, _ = factored_problem(25, 4, 3)
    y = np.where(np.arange(25) % 3 == np.arange(3)[:, None], 1.0, -1.0)
    members = np.repeat([0, 1], 3)
    stack, plain = laplace_fit(factored.take(members), np.tile(y, (2, 1))), laplace_fit(dense, y[:2])
    compare_laplace(laplace_fit(factored, y[:2]), plain, 1e-10)
    np.testing.assert_allclose(stack.modes[0], plain.modes[0], rtol=1e-9)
    alone = laplace_fit(factored.take(np.array([1])), y[2:])
    np.testing.assert_allclose(stack.modes[5], alone.modes[0], rtol=1e-9)


@pytest.mark.parametrize(("n", "q"), [(5, 9), (9, 9), (30, 4), (12, 0)])
@pytest.mark.parametrize("noise", [1e-2, 1.0, 1e4])
@pytest.mark.parametrize(("amplitude", "rtol"), [(1e-6, 1e-9), (4.0, 1e-9), (1e4, 1e-7)])
def test_a_factored_regression_fit_equals_the_dense_one(n, q, noise, amplitude, rtol):
    factored, dense, y = factored_problem(n, q, n + q, amplitude=amplitude)
    y = y[0] * np.arange(1.0, n + 1.0)
    noises = np.array([noise, 3.0 * noise])
    fast, plain = regression_fit(factored, y, noises), regression_fit(dense, y, noises)
    assert isinstance(fast, FactoredRegressionFit)
    assert isinstance(plain, RegressionFit)
    np.testing.assert_allclose(fast.log_marginal_likelihoods, plain.log_marginal_likelihoods, rtol=rtol)
    np.testing.assert_allclose(fast.gradients, plain.gradients, rtol=rtol, atol=rtol * np.abs(plain.gradients).max())
    (mean, variance), (plain_mean, plain_variance) = fast.leave_one_out(), plain.leave_one_out()
    # The dense variance is what is left of the inverse of a diagonal once the noise is taken from it.
    np.testing.assert_allclose(variance, plain_variance, rtol=rtol, atol=1e-13 * noises.max())
    np.testing.assert_allclose(mean, plain_mean, rtol=rtol, atol=rtol * n)


@pytest.mark.parametrize("private", [1e3, 1e6, 1e8])
def test_a_label_alone_in_its_direction_is_left_out_exactly(private):
    # Without its label, such a row has its prior variance: (1 - phi S) would have lost all digits of it.
    rng = np.random.default_rng(0)
    G = np.zeros((1, 10, 3))
    G[0, :9, :2] = rng.normal(size=(9, 2))
    G[0, 9, 2] = private
    y = rng.normal(size=10)
    fit = FactoredRegressionFit(FactoredCovariance(G), y, np.array([1.0]))
    means, variances = fit.leave_one_out()
    assert variances[0, 9] == pytest.approx(private**2, rel=1e-12)
    assert means[0, 9] == pytest.approx(0.0, abs=1e-15 * private**2)
    assert fit.covariance.given(np.full((1, 10), 1.0)).variances[0, 9] == pytest.approx(1.0 / (1.0 + private**-2))


def test_features_that_are_nearly_one_keep_their_digits():
    # Two columns that differ by 1e-7 of themselves: G^T G has lost what sets them apart, G has not.
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(2, 30))
    G = 1e4 * np.column_stack([x, x + 1e-7 * z])[None]
    curvatures = np.full((1, 30), 0.25)
    sites = FactoredCovariance(G).given(curvatures)
    # The same space in coordinates that set the two apart: u = (w_1 + w_2) / sqrt 2, v = (w_1 - w_2) / sqrt 2.
    H = 1e4 * np.column_stack([2.0 * x + 1e-7 * z, -1e-7 * z])[None] / np.sqrt(2.0)
    apart = FactoredCovariance(H).given(curvatures)
    np.testing.assert_allclose(sites.log_dets, apart.log_dets, rtol=1e-9)
    np.testing.assert_allclose(sites.variances, apart.variances, rtol=1e-7)
    np.testing.assert_allclose(sites.left_out_variances(), apart.left_out_variances(), rtol=1e-7)


@pytest.mark.parametrize("amplitude", [1e8, 1e12, 1e20])
def test_extreme_features_and_contradicting_duplicates_have_a_mode(amplitude):
    factored, _, y = factored_problem(20, 3, 2, amplitude=amplitude, labels="duplicates", members=4)
    fit = laplace_fit(factored, y)
    np.testing.assert_allclose(factored.latent(fit.coordinates), fit.modes, rtol=1e-6, atol=1e-6)
    assert np.isfinite(fit.log_marginal_likelihoods).all()
    means, variances = fit.leave_one_out()
    assert np.isfinite(means).all()
    assert (variances > 0.0).all()


@pytest.mark.parametrize("noise", [0.0, 1e-300, 1e-25])
def test_noise_may_be_next_to_nothing(noise):
    rng = np.random.default_rng(3)
    G = rng.normal(size=(1, 12, 3))
    w = rng.normal(size=3)
    fit = FactoredRegressionFit(FactoredCovariance(G), G[0] @ w, np.array([noise]))
    np.testing.assert_allclose(fit.coordinates[0], w, rtol=1e-9)
    assert np.isfinite(fit.log_marginal_likelihoods).all()
    assert np.isfinite(fit.leave_one_out()).all()


def test_evidence_gradients_need_matrices():
    factored, _, y = factored_problem(6, 2, 0)
    with pytest.raises(TypeError, match="with respect to matrices"):
        laplace_fit(factored, y).evidence_gradients()


def both_posteriors(prior, rows, scale, bias, fit_of):
    """The posterior on features and the one on covariances with the labeled rows."""
    fast = labeled_covariance(prior, rows, np.array([scale]), bias)
    assert isinstance(fast, FactoredCovariance)
    plain = DenseCovariance(scale * prior.block(rows)[None] + bias)
    return [
        latent_posteriors(prior, rows, np.array([scale]), bias, fit_of(covariance))[0] for covariance in (fast, plain)
    ]


@pytest.mark.parametrize("bias", [0.0, 0.5])
@pytest.mark.parametrize("likelihood", ["logistic", "gaussian"])
def test_posteriors_on_features_equal_those_on_covariances(likelihood, bias, monkeypatch):
    monkeypatch.setattr(_feature_rows, "_BLOCK_ROWS", 7)  # several blocks
    rng = np.random.default_rng(4)
    prior, rows = JointPrior.of(rng.normal(size=(40, 5))), np.arange(3, 33, 2)
    y = rng.normal(size=rows.size)

    def fit_of(covariance):
        if likelihood == "gaussian":
            return regression_fit(covariance, y, np.array([0.3]))
        return laplace_fit(covariance.take(np.zeros(2, dtype=int)), np.sign([y, y - 0.5]))

    fast, plain = both_posteriors(prior, rows, 3.0, bias, fit_of)
    by_view = rng.normal(size=(2, 6, 5))
    new = JointFeatures(by_view.sum(axis=0), by_view)
    for ours, theirs in [(fast.training(), plain.training()), (fast.at(new), plain.at(new))]:
        for part, expected in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(part, expected, rtol=1e-9, atol=1e-12)
    offset, parts = fast.contributions(new)
    for part, expected in zip((offset, parts), plain.contributions(new), strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(offset + parts.sum(axis=0), fast.at(new)[0], rtol=1e-12, atol=1e-12)


def test_the_smaller_form_is_chosen():
    prior = JointPrior.of(np.random.default_rng(5).normal(size=(20, 4)))
    forms = {n: type(labeled_covariance(prior, np.arange(n), np.ones(1), 0.5)) for n in (4, 5, 6)}
    assert forms == {4: DenseCovariance, 5: DenseCovariance, 6: FactoredCovariance}
    assert isinstance(labeled_covariance(prior, np.arange(5), np.ones(1), 0.0), FactoredCovariance)


def test_stacks_are_joined_in_order():
    prior = JointPrior.of(np.random.default_rng(6).normal(size=(20, 4)))
    for n in (3, 9):
        one, two = (
            labeled_covariance(prior, np.arange(n), scales, 0.5) for scales in (np.array([2.0, 3.0]), np.ones(1))
        )
        joined = concatenated([one, two])
        assert joined.n_members == 3
        expected = np.stack([scale * prior.block(np.arange(n)) + 0.5 for scale in (2.0, 3.0, 1.0)])
        got = joined.matrices if n == 3 else joined.factors @ np.swapaxes(joined.factors, 1, 2)
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_orthogonal_factors_equal_cholesky_factors():
    Z = np.random.default_rng(7).normal(size=(3, 8, 4))
    lower = _factored_covariance._orthogonal_factors(Z)
    np.testing.assert_allclose(lower, np.linalg.cholesky(np.swapaxes(Z, 1, 2) @ Z + np.eye(4)), rtol=1e-10, atol=1e-14)


def solved_exactly(A, B):
    """``A^{-1} B`` by elimination over fractions: no rounding at all."""
    rows = [[Fraction(x) for x in (*a, *b)] for a, b in zip(A, B, strict=True)]
    q = len(rows)
    for i in range(q):
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(q):
            if k != i:
                rows[k] = [x - rows[k][i] * top for x, top in zip(rows[k], rows[i], strict=True)]
    return [row[q:] for row in rows]


@pytest.mark.parametrize("labels", ["random", "alike"])
def test_variances_at_large_amplitudes_are_right_to_ten_digits(labels):
    # Where the tolerances above are those of the dense path: against fractions, given the same curvatures.
    factored, _, y = factored_problem(12, 3, 1, amplitude=1e6, labels=labels, members=1)
    fit = laplace_fit(factored, y)
    G, phi = ([[Fraction(x) for x in row] for row in factored.factors[0]], [Fraction(x) for x in fit.curvatures[0]])
    _, variances = fit.leave_one_out()
    for i in range(12):
        others = [k for k in range(12) if k != i]
        A = [[sum(phi[k] * G[k][a] * G[k][b] for k in others) + (a == b) for b in range(3)] for a in range(3)]
        column = solved_exactly(A, [[x] for x in G[i]])
        exact = sum(x * w for x, (w,) in zip(G[i], column, strict=True))
        assert variances[0, i] == pytest.approx(float(exact), rel=1e-10)
