"""Posteriors on features against those on covariances with the labeled samples, and where the latter lose their digits."""

import numpy as np
import pytest

from coview.inference import (
    ConsensusFeaturePosterior,
    ConsensusPrior,
    CrossPosterior,
    FeaturePosterior,
    MeanPrior,
    labeled_covariance,
    laplace_fit,
    latent_posteriors,
    regression_fit,
)

from .consensus_problems import random_problem

WIDTHS = (3, 2, 4)


def posteriors(prior, rows, likelihood, bias, scales=(2.0, 0.5)):
    """Two scales of two latent functions each for classes, of one for real targets."""
    scales = np.array(scales)
    covariance = labeled_covariance(prior, rows, scales, bias)
    y = np.random.default_rng(1).normal(size=rows.size)
    if likelihood == "gaussian":
        fit = regression_fit(covariance, y, np.array([0.3, 0.1]))
    else:
        fit = laplace_fit(covariance.take(np.array([0, 0, 1, 1])), np.sign([y, y - 0.5, y, y - 0.5]))
    return latent_posteriors(prior, rows, scales, bias, fit)


@pytest.mark.parametrize("bias", [0.0, 0.5])
@pytest.mark.parametrize("likelihood", ["logistic", "gaussian"])
@pytest.mark.parametrize("n_labeled", [0, 1, 4, 20])  # fewer than the features, and more
def test_consensus_posteriors_equal_those_on_matrices(likelihood, bias, n_labeled):
    problem = random_problem(3, n=25, widths=WIDTHS, n_new=8)
    rows = np.random.default_rng(2).permutation(25)[:n_labeled]
    fast = posteriors(ConsensusPrior(problem.low_rank), rows, likelihood, bias)
    plain = posteriors(ConsensusPrior(problem.dense), rows, likelihood, bias)
    for ours, theirs in zip(fast, plain, strict=True):
        assert isinstance(ours, ConsensusFeaturePosterior)
        assert isinstance(theirs, CrossPosterior)
        pairs = [(ours.training(), theirs.training()), (ours.at(problem.new_rows), theirs.at(problem.new_grams))]
        mine = problem.new_presence[:, 1]
        views = (ours.at(problem.new_rows, 1), theirs.at(problem.new_grams, 1))
        pairs += [tuple([part[mine] for part in moments] for moments in views)]
        pairs += [(ours.contributions(problem.new_rows), theirs.contributions(problem.new_grams))]
        for left, right in pairs:
            for part, expected in zip(left, right, strict=True):
                np.testing.assert_allclose(part, expected, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(ours.bias, theirs.bias, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("variances", [(0.3, 1.0, 0.1), (np.inf,) * 3, (1e-8, 1e-8, 1e-8)])
@pytest.mark.parametrize("likelihood", ["logistic", "gaussian"])
def test_mean_posteriors_equal_those_on_matrices(likelihood, variances):
    problem = random_problem(4, n=25, widths=WIDTHS, n_new=8, variances=variances)
    rows = np.arange(1, 25, 2)
    fast = posteriors(MeanPrior(problem.low_rank), rows, likelihood, 0.5)
    plain = posteriors(MeanPrior(problem.dense), rows, likelihood, 0.5)
    tolerance = 1e-8 if variances[0] > 1e-6 else 1e-6
    for ours, theirs in zip(fast, plain, strict=True):
        assert isinstance(ours, FeaturePosterior)
        for left, right in [
            (ours.training(), theirs.training()),
            (ours.at(problem.new_rows), theirs.at(problem.new_grams)),
            (ours.contributions(problem.new_rows), theirs.contributions(problem.new_grams)),
        ]:
            for part, expected in zip(left, right, strict=True):
                np.testing.assert_allclose(part, expected, rtol=tolerance, atol=tolerance)


def test_small_noise_leaves_a_small_variance_not_none():
    """Of a labeled sample, 1 / (1 / own + 1 / noise) and what the views add: differences of covariances round to nothing."""
    problem = random_problem(5, n=25, widths=WIDTHS)
    rows = np.arange(20)
    prior = ConsensusPrior(problem.low_rank)
    covariance = labeled_covariance(prior, rows, np.ones(1), 0.0)
    fit = regression_fit(covariance, np.ones(20), np.array([1e-18]))
    (posterior,) = latent_posteriors(prior, rows, np.ones(1), 0.0, fit)
    mean, variance = posterior.training()
    np.testing.assert_allclose(mean[rows], 1.0, rtol=1e-12)
    np.testing.assert_allclose(variance[rows], 1e-18, rtol=1e-9)
