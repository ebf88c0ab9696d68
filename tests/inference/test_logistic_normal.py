"""Mean of a logistic sigmoid under a Gaussian, against adaptive quadrature."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

from coview.inference import logistic_normal_mean, moderated_logit

MEANS = [-700.0, -30.0, -3.0, -0.2, 0.0, 0.1, 1.0, 5.0, 40.0, 1e4]
VARIANCES = [1e-8, 1e-4, 0.01, 0.1, 0.299, 0.3, 0.301, 1.0, 4.0, 25.0, 1e4]


def by_quadrature(mean, variance):
    """E[logistic(mean + sd u)] in pieces that the integrand's step cannot slip between."""
    sd = np.sqrt(variance)

    def integrand(u):
        return expit(mean + sd * u) * np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi)

    step, width = -mean / sd, 40.0 / sd
    edges = {-39.0, 39.0, 0.0} | {edge for edge in (step - width, step, step + width) if -39 < edge < 39}
    edges = sorted(edges | set(np.linspace(-9, 9, 7)))
    pieces = itertools.pairwise(edges)
    return sum(quad(integrand, a, b, epsabs=1e-15, epsrel=1e-13, limit=200)[0] for a, b in pieces)


@pytest.mark.parametrize("variance", VARIANCES)
def test_agrees_with_adaptive_quadrature(variance):
    expected = [by_quadrature(mean, variance) for mean in MEANS]
    np.testing.assert_allclose(logistic_normal_mean(MEANS, variance), expected, rtol=0, atol=1e-12)


def test_variance_zero_is_the_logistic_itself():
    np.testing.assert_allclose(logistic_normal_mean(MEANS, 0.0), expit(MEANS), rtol=1e-14)


def test_infinite_variance_is_a_coin():
    assert logistic_normal_mean(MEANS, np.inf).tolist() == [0.5] * len(MEANS)


@pytest.mark.parametrize("variance", VARIANCES)
def test_mirrored_means_give_mirrored_probabilities(variance):
    mean = np.array([0.0, 0.3, 2.0, 11.0])
    p, q = logistic_normal_mean(mean, variance), logistic_normal_mean(-mean, variance)
    np.testing.assert_allclose(p + q, 1.0, rtol=0, atol=1e-13)


def test_means_and_variances_broadcast_and_long_input_is_cut_into_blocks():
    mean, variance = np.linspace(-3, 3, 5000), np.array([[0.1], [2.0]])
    p = logistic_normal_mean(mean, variance)
    assert p.shape == (2, 5000)
    for row, column in [(0, 0), (0, 4999), (1, 17), (1, 4500)]:
        single = logistic_normal_mean(mean[column], variance[row, 0])
        assert single.shape == ()
        assert p[row, column] == pytest.approx(float(single), abs=1e-14)


def test_moderated_logit_shrinks_to_one_half_without_information():
    np.testing.assert_allclose(moderated_logit([2.0, -2.0], [0.0, 8.0 / np.pi]), [2.0, -np.sqrt(2.0)])
    assert moderated_logit([3.0], [np.inf]).tolist() == [0.0]
