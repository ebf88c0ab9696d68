"""Weights of averaged settings, running mixtures and quantiles, against plain formulas."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from coview.inference import (
    RunningMixture,
    averaging_weights,
    class_probabilities,
    leave_one_out_class_scores,
    logistic_normal_mean,
    mixed_probabilities,
    weighted_quantile,
)

SETTINGS, TEMPERATURES, LABELED = 4, 3, 6


@pytest.fixture
def inputs():
    rng = np.random.default_rng(0)
    return {
        "log_scores": np.log(rng.uniform(0.05, 0.95, (SETTINGS, TEMPERATURES, LABELED))),
        "log_prior": rng.normal(size=SETTINGS),
        "evidences": rng.normal(size=SETTINGS) - 4,
        "log_temperature_prior": -0.5 * np.log([0.5, 1.0, 2.0]) ** 2,
    }


def normalized(unscaled):
    return unscaled / unscaled.sum()


def test_leave_one_out_weighs_by_the_product_of_probabilities(inputs):
    expected = np.exp(inputs["log_scores"]).prod(axis=2) * np.exp(inputs["log_temperature_prior"])
    expected = normalized(expected * np.exp(inputs["log_prior"])[:, None])
    weights = averaging_weights(**inputs, weighting="leave_one_out")
    np.testing.assert_allclose(weights, expected, rtol=1e-10)


def test_evidence_weighs_settings_and_leaves_temperatures_to_leave_one_out(inputs):
    by_setting = normalized(np.exp(inputs["evidences"] + inputs["log_prior"]))
    inside = np.exp(inputs["log_scores"].sum(axis=2) + inputs["log_temperature_prior"])
    expected = by_setting[:, None] * inside / inside.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(averaging_weights(**inputs, weighting="evidence"), expected, rtol=1e-10)


@pytest.mark.parametrize("n_draws", [1, 50, 120])
def test_bootstrap_averages_the_weights_of_every_draw(inputs, n_draws):
    shares = np.random.RandomState(3).dirichlet(np.full(LABELED, 0.5), size=n_draws)
    expected = np.zeros((SETTINGS, TEMPERATURES))
    for u in shares:
        score = LABELED * (inputs["log_scores"] * u).sum(axis=2)
        score = score + inputs["log_prior"][:, None] + inputs["log_temperature_prior"]
        expected += normalized(np.exp(score)) / n_draws
    weights = averaging_weights(**inputs, weighting="bootstrap", n_draws=n_draws, random_state=np.random.RandomState(3))
    np.testing.assert_allclose(weights, expected, rtol=1e-9)


def test_bootstrap_needs_a_seed(inputs):
    with pytest.raises(ValueError, match="random_state"):
        averaging_weights(**inputs, weighting="bootstrap")


@pytest.mark.parametrize("weighting", ["leave_one_out", "evidence", "bootstrap"])
def test_weights_are_a_distribution_however_extreme_the_scores(inputs, weighting):
    inputs["log_scores"] = inputs["log_scores"] * 1e6
    inputs["evidences"] = inputs["evidences"] * 1e6
    weights = averaging_weights(**inputs, weighting=weighting, random_state=np.random.RandomState(0))
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("weighting", ["leave_one_out", "evidence", "bootstrap"])
def test_equal_settings_have_equal_weights(inputs, weighting):
    for name in ("log_scores", "log_prior", "evidences"):
        inputs[name] = np.broadcast_to(inputs[name][:1], inputs[name].shape)
    weights = averaging_weights(**inputs, weighting=weighting, random_state=np.random.RandomState(0))
    np.testing.assert_allclose(weights.sum(axis=1), 1 / SETTINGS, rtol=1e-12)


def test_running_mixture_equals_the_direct_moments():
    rng = np.random.default_rng(1)
    weights = normalized(rng.random(5))
    means = rng.normal(size=(5, 3, 2)) + 1e6  # squared sums would lose twelve digits here
    variances = rng.random((5, 3, 2))
    mixture = RunningMixture()
    for weight, mean, variance in zip(weights, means, variances, strict=True):
        mixture.add(weight, mean, variance)
    mean = np.tensordot(weights, means, axes=1)
    spread = np.tensordot(weights, variances + (means - mean) ** 2, axes=1)
    np.testing.assert_allclose(mixture.mean, mean, rtol=1e-14)
    np.testing.assert_allclose(mixture.variance, spread, rtol=1e-9)
    assert mixture.total == pytest.approx(1.0)


def test_samples_may_have_weights_of_their_own():
    rng = np.random.default_rng(2)
    weights = rng.random((4, 3, 1))
    weights[0, 0] = 0.0
    means, variances = rng.normal(size=(4, 3, 2)), rng.random((4, 3, 2))
    mixture = RunningMixture()
    for component in zip(weights, means, variances, strict=True):
        mixture.add(*component)
    for row in range(3):
        alone = RunningMixture()
        for k in range(4):
            if weights[k, row, 0]:
                alone.add(weights[k, row, 0], means[k, row], variances[k, row])
        np.testing.assert_allclose(mixture.mean[row], alone.mean, rtol=1e-12)
        np.testing.assert_allclose(mixture.variance[row], alone.variance, rtol=1e-12)


def test_weighted_quantile_is_the_first_value_to_reach_the_level():
    values, weights = np.array([3.0, 1.0, 2.0]), np.array([0.2, 0.5, 0.3])
    quantiles = [weighted_quantile(values, weights, level) for level in (0.0, 0.05, 0.5, 0.51, 0.8, 0.81, 1.0)]
    assert quantiles == [1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    assert weighted_quantile(values, 10 * weights, 0.5) == 1.0
    assert weighted_quantile(np.array([7.0]), np.array([1.0]), 0.95) == 7.0


MEANS, VARIANCES = np.array([[0.4], [-3.0]]), np.array([[1.5], [0.0]])
MANY_MEANS, MANY_VARIANCES = np.array([[0.4, -1.0, 2.0]]), np.array([[1.5, 0.2, 4.0]])


def moderated(mean, variance):
    return mean / np.sqrt(1 + np.pi * variance / 8)


def test_class_probabilities_by_their_formulas():
    two = class_probabilities(MEANS, VARIANCES, 2.0, averaged=False)
    np.testing.assert_allclose(two[:, 1], expit(2 * moderated(MEANS, VARIANCES))[:, 0], rtol=1e-12)
    many = class_probabilities(MANY_MEANS, MANY_VARIANCES, 2.0, averaged=False)
    np.testing.assert_allclose(many, softmax(2 * moderated(MANY_MEANS, MANY_VARIANCES), axis=1), rtol=1e-12)
    two = class_probabilities(MEANS, VARIANCES, 2.0, averaged=True)
    np.testing.assert_allclose(two[:, 1], logistic_normal_mean(2 * MEANS, 4 * VARIANCES)[:, 0], rtol=1e-12)
    many = class_probabilities(MANY_MEANS, MANY_VARIANCES, 1.0, averaged=True)
    one_by_one = logistic_normal_mean(MANY_MEANS, MANY_VARIANCES)
    np.testing.assert_allclose(many, one_by_one / one_by_one.sum(), rtol=1e-12)


@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.parametrize("K", [1, 3])
def test_infinite_variance_makes_classes_alike(averaged, K):
    p = class_probabilities(np.full((2, K), 5.0), np.full((2, K), np.inf), 3.0, averaged=averaged)
    np.testing.assert_allclose(p, 1 / max(K, 2), rtol=1e-12)


@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.parametrize("K", [1, 3])
def test_mixed_probabilities_are_the_weighted_sum_over_temperatures(averaged, K):
    rng = np.random.default_rng(0)
    means, variances = rng.normal(size=(5, K)) * 3, rng.random((5, K))
    temperatures, weights = np.array([0.5, 1.0, 4.0]), np.array([0.2, 0.0, 0.1])
    expected = sum(
        w * class_probabilities(means, variances, t, averaged=averaged)
        for t, w in zip(temperatures, weights, strict=True)
    )
    mixed = mixed_probabilities(means, variances, temperatures, weights, averaged=averaged)
    np.testing.assert_allclose(mixed, expected, rtol=1e-10)
    np.testing.assert_allclose(mixed.sum(axis=1), 0.3, rtol=1e-12)
    by_row = mixed_probabilities(means, variances, temperatures, weights * np.arange(5)[:, None], averaged=averaged)
    np.testing.assert_allclose(by_row, expected * np.arange(5)[:, None], rtol=1e-10)


@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.parametrize("K", [1, 3])
def test_scores_are_the_log_probabilities_of_the_labels(averaged, K):
    rng = np.random.default_rng(0)
    means, variances = rng.normal(size=(2, K, 4)), rng.random((2, K, 4))
    labels, temperatures = np.array([1, 0, 1, max(K, 2) - 1]), np.array([0.7, 3.0])
    scores = leave_one_out_class_scores(means, variances, labels, temperatures, averaged=averaged)
    assert scores.shape == (2, 2, 4)
    for k in range(2):
        for t, temperature in enumerate(temperatures):
            p = class_probabilities(means[k].T, variances[k].T, temperature, averaged=averaged)
            np.testing.assert_allclose(scores[k, t], np.log(p[np.arange(4), labels]), rtol=1e-10)


def test_certain_mistakes_have_finite_scores():
    means = np.array([[[800.0, -800.0]]])
    for averaged in (True, False):
        scores = leave_one_out_class_scores(
            means, np.zeros((1, 1, 2)), np.array([0, 1]), np.array([11.0]), averaged=averaged
        )
        assert np.isfinite(scores).all()
        assert (scores < -700).all()
