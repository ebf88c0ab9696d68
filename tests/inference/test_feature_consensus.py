"""The feature-space form against the dense one, and cut ranks."""

import numpy as np
import pytest

from coview.inference import ConsensusPrior, FeatureConsensus, HeldFeatures, JointFeatures, JointPrior, MeanPrior

from .consensus_problems import random_problem

WIDTHS = (3, 2, 4)


@pytest.mark.parametrize("variances", [(0.3, 1.0, 0.1), (np.inf,) * 3, (0.3, np.inf, 0.1)])
def test_a_cut_consensus_equals_one_built_at_that_rank(variances):
    problem = random_problem(0, widths=WIDTHS, variances=variances)
    cut = problem.low_rank.truncated(2)
    built = FeatureConsensus.of(HeldFeatures(problem.features, problem.presence).truncated(2), problem.weights)
    rows = np.arange(9)
    np.testing.assert_array_equal(cut.precision, built.precision)
    np.testing.assert_allclose(cut.rows(rows), built.rows(rows), rtol=1e-12)


@pytest.mark.parametrize("variances", [(0.3, 1.0, 0.1), (np.inf,) * 3, (np.inf, 1.0, 1.0)])
@pytest.mark.parametrize("seed", range(2))
def test_every_quantity_of_the_mean_prior_equals_the_dense_one(seed, variances):
    problem = random_problem(seed, widths=WIDTHS, variances=variances)
    low_rank, dense = MeanPrior(problem.low_rank), MeanPrior(problem.dense)
    rows = np.array([5, 1, 8])
    compare_priors(low_rank, dense, rows)
    pairs = zip(low_rank.at(problem.new_rows, rows), dense.at(problem.new_grams, rows), strict=True)
    for fast, plain in pairs:
        np.testing.assert_allclose(fast, plain, rtol=1e-8, atol=1e-10)
    parts = low_rank.contributions(problem.new_rows, rows)
    np.testing.assert_allclose(parts, dense.contributions(problem.new_grams, rows), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(parts.sum(axis=0), low_rank.at(problem.new_rows, rows)[0], atol=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_every_quantity_of_the_consensus_prior_equals_the_dense_one(seed):
    problem = random_problem(seed, widths=WIDTHS)
    low_rank, dense = ConsensusPrior(problem.low_rank), ConsensusPrior(problem.dense)
    rows = np.array([5, 1, 8])
    compare_priors(low_rank, dense, rows)
    fast, plain = low_rank.experts(problem.new_rows, rows), dense.experts(problem.new_grams, rows)
    np.testing.assert_allclose(fast.crosses, plain.crosses, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fast.covariances, plain.covariances, rtol=1e-8, atol=1e-10)


def compare_priors(low_rank, dense, rows):
    np.testing.assert_allclose(low_rank.columns(rows), dense.columns(rows), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(low_rank.block(rows), dense.block(rows), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(low_rank.diagonal(), dense.diagonal(), rtol=1e-8, atol=1e-10)
    assert low_rank.mean_diagonal == pytest.approx(np.mean(dense.diagonal()), rel=1e-8)
    np.testing.assert_allclose(low_rank.columns(rows)[rows], low_rank.block(rows), atol=1e-12)


def test_a_training_row_seen_again_has_its_training_row():
    problem = random_problem(0, widths=WIDTHS)
    problem.new_presence, problem.new_features = problem.presence, problem.features
    for prior, new in [(MeanPrior(problem.low_rank), problem.new_rows), (MeanPrior(problem.dense), problem.new_grams)]:
        cross, variance = prior.at(new, np.arange(9))
        np.testing.assert_allclose(cross, prior.columns(np.arange(9)), atol=1e-10)
        np.testing.assert_allclose(variance, prior.diagonal(), atol=1e-10)


def test_each_missingness_pattern_with_a_single_sample():
    presence = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]], dtype=bool)
    problem = random_problem(0, n=7, widths=WIDTHS, presence=presence)
    compare_priors(MeanPrior(problem.low_rank), MeanPrior(problem.dense), np.arange(7))


def test_features_of_no_width_are_a_zero_function():
    problem = random_problem(0, widths=WIDTHS)
    problem.features[1] = problem.features[1][:, :0]
    dense = problem.dense
    assert not dense.grams[1].any()
    compare_priors(MeanPrior(problem.low_rank), MeanPrior(dense), np.arange(9))


def test_joint_prior_is_the_inner_product_of_its_features():
    rng = np.random.default_rng(0)
    features, rows = rng.normal(size=(6, 3)), np.array([4, 0])
    prior = JointPrior.of(features)
    K = features @ features.T
    np.testing.assert_allclose(prior.columns(rows), K[:, rows])
    np.testing.assert_allclose(prior.block(rows), K[np.ix_(rows, rows)])
    np.testing.assert_allclose(prior.diagonal(), np.diagonal(K))
    assert prior.mean_diagonal == pytest.approx(np.diagonal(K).mean())
    with pytest.raises(ValueError, match="no part that belongs to one"):
        prior.contributions(JointFeatures(features), rows)
