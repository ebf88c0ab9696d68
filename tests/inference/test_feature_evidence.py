"""Evidence of labels under a low-rank consensus: against matrices, and its derivatives against finite differences."""

from dataclasses import replace

import numpy as np
import pytest

from coview.inference import (
    ConsensusPrior,
    DenseCovariance,
    FeatureConsensus,
    FeatureEvidence,
    HeldFeatures,
    MeanPrior,
    PatternGrams,
    RowSums,
    ViewWeights,
    gaussian_log_density,
    laplace_fit,
)

from .consensus_problems import random_problem

WIDTHS = (3, 2, 4)
FINITE = (0.3, 1.0, 0.1)
VARIANCES = [FINITE, (np.inf,) * 3, (0.3, np.inf, 0.1)]


def make(kind, features, presence, weights, rows, *, mean=True, amplitude=3.0, bias=0.5, form=PatternGrams):
    """The evidence of seeded labels at ``rows``: fewer of them than features are fitted by matrices, more by features."""
    rng = np.random.default_rng(5)
    signs = np.where(rng.random((3, rows.size)) < 0.5, 1.0, -1.0)
    targets = {"one": signs[:1], "three": signs, "real": rng.normal(size=(1, rows.size))}[kind]
    held = HeldFeatures(features, presence)
    sums = form.of(held) if form is PatternGrams else form(held)
    consensus = FeatureConsensus.of(held, weights, sums)
    prior = MeanPrior(consensus) if mean else ConsensusPrior(consensus)
    return FeatureEvidence(prior, sums, rows, targets, amplitude, bias, 0.2 if kind == "real" else None)


def problem_of(seed=0, variances=FINITE, n=24):
    problem = random_problem(seed, n=n, widths=WIDTHS, variances=variances)
    return problem, np.sort(np.random.default_rng(seed).permutation(n)[: n - 6])


def difference(value, step=1e-5):
    return (value(step) - value(-step)) / (2 * step)


@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("kind", ["one", "three", "real"])
@pytest.mark.parametrize("few", [True, False])
def test_value_is_that_of_the_covariance_of_the_labels(kind, mean, few):
    problem, rows = problem_of()
    rows = rows[:5] if few else rows
    evidence = make(kind, problem.features, problem.presence, problem.weights, rows, mean=mean)
    prior = MeanPrior(problem.dense) if mean else ConsensusPrior(problem.dense)
    K = 3.0 / np.mean(prior.diagonal()) * prior.block(rows) + 0.5
    if kind == "real":
        G, y = K + 0.2 * np.eye(rows.size), evidence.targets[0]
        expected = -0.5 * (y @ np.linalg.solve(G, y) + np.linalg.slogdet(2 * np.pi * G)[1])
    else:
        stack = np.broadcast_to(K, (len(evidence.targets), *K.shape))
        expected = laplace_fit(DenseCovariance(stack), evidence.targets).log_marginal_likelihoods.sum()
    assert evidence.value == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(("few", "form"), [(True, PatternGrams), (False, RowSums)])
@pytest.mark.parametrize(("mean", "variances"), [*((True, v) for v in VARIANCES), (False, FINITE)])
@pytest.mark.parametrize(("kind", "amplitude"), [("one", None), ("one", 3.0), ("three", 3.0), ("real", 3.0)])
def test_derivatives_by_variances_amplitudes_and_noise(kind, amplitude, mean, variances, few, form):
    problem, rows = problem_of(variances=variances)
    rows = rows[:5] if few else rows

    def value(step, *, variance=None, scaled=None, noise=0.0):
        v = np.array(variances)
        if variance is not None:
            v[variance] *= np.exp(step)
        features = [f * np.exp(0.5 * step) if j == scaled else f for j, f in enumerate(problem.features)]
        weights = ViewWeights.of(v, 3)
        evidence = make(kind, features, problem.presence, weights, rows, mean=mean, amplitude=amplitude)
        if noise:
            evidence = replace(evidence, noise_variance=evidence.noise_variance * np.exp(step))
        return evidence.value

    evidence = make(
        kind, problem.features, problem.presence, problem.weights, rows, mean=mean, amplitude=amplitude, form=form
    )
    gradient = evidence.gradient()
    by_variance = [difference(lambda s, j=j: value(s, variance=j)) for j in range(3)]
    np.testing.assert_allclose(gradient.log_variances(), np.where(np.isfinite(variances), by_variance, 0), atol=2e-7)
    by_amplitude = [difference(lambda s, j=j: value(s, scaled=j)) for j in range(3)]
    np.testing.assert_allclose(gradient.log_amplitudes(), by_amplitude, atol=2e-7)
    if kind == "real":
        assert gradient.by_log_noise == pytest.approx(difference(lambda s: value(s, noise=1)), abs=2e-7)


@pytest.mark.parametrize(("few", "form"), [(True, RowSums), (False, PatternGrams)])
@pytest.mark.parametrize(("mean", "variances"), [*((True, v) for v in VARIANCES), (False, FINITE)])
@pytest.mark.parametrize("amplitude", [None, 3.0])
def test_derivatives_by_features(monkeypatch, amplitude, mean, variances, few, form):
    problem, rows = problem_of(seed=1, variances=variances)
    rows = rows[:5] if few else rows
    directions = [np.random.default_rng(9).normal(size=f.shape) for f in problem.features]

    def value(step, j):
        features = [
            f + step * d if k == j else f for k, (f, d) in enumerate(zip(problem.features, directions, strict=True))
        ]
        return make("one", features, problem.presence, problem.weights, rows, mean=mean, amplitude=amplitude).value

    monkeypatch.setattr("coview.inference._feature_rows._BLOCK_ROWS", 7)
    evidence = make(
        "one", problem.features, problem.presence, problem.weights, rows, mean=mean, amplitude=amplitude, form=form
    )
    total = np.zeros(3)
    held = HeldFeatures(directions, problem.presence)
    for block, features, derivatives in evidence.gradient().feature_blocks():
        for j, (along, derivative) in enumerate(zip(held.take(block), derivatives, strict=True)):
            assert features[j].shape == derivative.shape
            total[j] += (along * derivative).sum()
    np.testing.assert_allclose(total, [difference(lambda s, j=j: value(s, j)) for j in range(3)], atol=5e-7)


def test_one_label_has_the_density_of_its_own_variance():
    problem, _ = problem_of()
    rows = np.array([4])
    evidence = make("real", problem.features, problem.presence, problem.weights, rows, amplitude=None, bias=0.0)
    variance = MeanPrior(problem.dense).block(rows)[0, 0] + 0.2
    expected = gaussian_log_density(evidence.targets[0], np.zeros(1), np.array([variance]))[0]
    assert evidence.value == pytest.approx(expected, rel=1e-10)
