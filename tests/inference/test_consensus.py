"""Consensus covariances and experts against the joint Gaussian of the factor graph, and their limits."""

import numpy as np
import pytest
from scipy.linalg import block_diag

from coview.exceptions import NotPositiveDefiniteError, ViewError
from coview.inference import DenseConsensus, DenseCovariance, RegressionFit, SignedSquares, ViewWeights, combine_experts
from coview.linalg import cholesky

from .consensus_problems import brute_force, mean_map, random_problem

COMPLETE = np.ones((9, 3), dtype=bool)


@pytest.mark.parametrize("seed", range(6))
def test_covariances_equal_the_brute_force_joint(seed):
    problem = random_problem(seed, presence=COMPLETE if seed == 0 else None)
    joint, dense = brute_force(problem), problem.dense
    K_c = joint.block(joint.consensus, joint.consensus)
    np.testing.assert_allclose(dense.consensus_covariance, K_c, rtol=1e-8, atol=1e-10)
    M = mean_map(problem, joint)
    np.testing.assert_allclose(dense.mean_covariance, M @ joint.covariance @ M.T, rtol=1e-8, atol=1e-10)
    for j in range(3):
        C = joint.block(joint.training[j], joint.training[j])
        np.testing.assert_allclose(dense.side_information(j), C, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_experts_equal_the_brute_force_joint(seed):
    problem = random_problem(seed)
    joint = brute_force(problem)
    M = mean_map(problem, joint)
    rows = np.array([4, 0, 7])
    for consensus, new in [(problem.dense, problem.new_grams), (problem.low_rank, problem.new_rows)]:
        experts = consensus.experts(new, rows)
        np.testing.assert_array_equal(experts.presence, problem.new_presence)
        for j in range(3):
            here = np.flatnonzero(problem.new_presence[:, j])
            with_mean = joint.covariance[joint.new[j]] @ M.T
            np.testing.assert_allclose(experts.crosses[j, here], with_mean[:, rows], rtol=1e-7, atol=1e-10)
            # The consensus function is the mean plus noise that no view knows of.
            with_consensus = joint.block(joint.new[j], joint.consensus)
            np.testing.assert_allclose(with_mean, with_consensus, rtol=1e-7, atol=1e-10)
            absent = np.setdiff1d(np.arange(4), here)
            assert not experts.crosses[j, absent].any()
            for k in range(3):
                both = np.flatnonzero(problem.new_presence[:, j] & problem.new_presence[:, k])
                left = joint.new[j][np.searchsorted(here, both)]
                right = joint.new[k][np.searchsorted(np.flatnonzero(problem.new_presence[:, k]), both)]
                expected = joint.covariance[left, right]
                np.testing.assert_allclose(experts.covariances[both, j, k], expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("level", [1e-8, 1e-4, 1.0, 1e4])
@pytest.mark.parametrize("seed", range(3))
def test_the_mean_is_the_consensus_less_its_white_part(seed, level):
    problem = random_problem(seed, variances=level * np.array([0.3, 1.0, 0.1]))
    white = 1 / (problem.presence @ problem.weights.precisions)
    K_c, K_s = problem.dense.consensus_covariance, problem.dense.mean_covariance
    np.testing.assert_allclose(K_s, K_c - np.diag(white), atol=1e-8 * np.abs(K_c).max())


@pytest.mark.parametrize("level", [1e-6, 1.0, 1e6])
def test_parallel_sum_equals_the_precision_route(level):
    problem = random_problem(0, presence=COMPLETE, variances=level * np.array([0.3, 1.0, 0.1]))
    by_precision = cholesky(problem.dense.precision()).inverse()
    np.testing.assert_allclose(problem.dense.consensus_covariance, by_precision, atol=1e-8 * np.abs(by_precision).max())


def test_parallel_sum_keeps_digits_at_tiny_variances():
    # Two identical views: K_c = (K + sigma^2 I) / 2 exactly, where inverting and adding loses half the digits.
    problem = random_problem(0, widths=(4,), variances=(1e-12,), presence=np.ones((9, 1), dtype=bool))
    K = problem.grams[0]
    pair = DenseConsensus([K, K], ViewWeights.of(1e-12, 2), np.ones((9, 2), dtype=bool))
    np.testing.assert_allclose(pair.consensus_covariance, K / 2, atol=1e-11)
    # K is singular: its smoother K (K + sigma^2 I)^{-1} is known to 1e-16 / 1e-12 only.
    np.testing.assert_allclose(pair.mean_covariance, K / 2, atol=1e-3)


@pytest.mark.parametrize("level", 10.0 ** np.arange(-12, 13, 3))
@pytest.mark.parametrize("missing", [False, True])
def test_features_equal_the_dense_route_at_every_variance(level, missing):
    widths = (3, 2, 4)
    presence = None if missing else COMPLETE
    problem = random_problem(5, widths=widths, variances=level * np.array([1.0, 0.5, 2.0]), presence=presence)
    psi = problem.low_rank.rows(np.arange(9))
    low_rank, dense = psi @ psi.T, problem.dense.mean_covariance
    # Incomplete views go through the inverse of a precision, which loses digits as the variance falls.
    atol = 1e-3 if missing and level < 1e-9 else 1e-6 if level < 1e-6 else 1e-9
    np.testing.assert_allclose(low_rank, dense, atol=atol)
    np.testing.assert_allclose(problem.low_rank.diagonal(), np.diagonal(low_rank), rtol=1e-12)


def test_large_variances_give_the_additive_mean():
    problem = random_problem(2)
    additive = random_problem(2, variances=(np.inf,) * 3).dense.mean_covariance
    nearly = random_problem(2, variances=(1e9,) * 3).dense.mean_covariance
    np.testing.assert_allclose(nearly, additive, rtol=1e-6, atol=1e-8)
    share = 1 / problem.presence.sum(axis=1)
    expected = np.zeros((9, 9))
    for gram, held in zip(problem.grams, problem.presence.T, strict=True):
        expected[np.ix_(held, held)] += gram
    np.testing.assert_allclose(additive, share[:, None] * expected * share, rtol=1e-12)


@pytest.mark.parametrize("form", ["dense", "low_rank"])
def test_infinite_variances_count_only_where_no_finite_view_is(form):
    mixed = random_problem(3, widths=(3, 2, 4), variances=(0.3, np.inf, 0.1))
    huge = random_problem(3, widths=(3, 2, 4), variances=(0.3, 1e10, 0.1))
    rows = np.arange(9)

    def covariance(problem):
        consensus = getattr(problem, form)
        if form == "dense":
            return consensus.mean_covariance
        psi = consensus.rows(rows)
        return psi @ psi.T

    np.testing.assert_allclose(covariance(mixed), covariance(huge), atol=1e-6)
    new = "new_grams" if form == "dense" else "new_rows"
    exact = getattr(mixed, form).experts(getattr(mixed, new), rows)
    limit = getattr(huge, form).experts(getattr(huge, new), rows)
    np.testing.assert_allclose(exact.crosses, limit.crosses, atol=1e-6)
    np.testing.assert_allclose(exact.covariances, limit.covariances, atol=1e-6)


def test_factors_scale_variances_and_set_the_shares_of_infinite_ones():
    factors = np.array([1.0, 1000.0, 3.0])
    finite = random_problem(1, variances=(0.2, 0.2, 0.2), factors=factors)
    spelled_out = random_problem(1, variances=0.2 * factors)
    np.testing.assert_allclose(finite.dense.mean_covariance, spelled_out.dense.mean_covariance, rtol=1e-12)
    limit = random_problem(1, variances=1e10 * factors).dense.mean_covariance
    infinite = random_problem(1, variances=(np.inf,) * 3, factors=factors).dense.mean_covariance
    np.testing.assert_allclose(infinite, limit, atol=1e-6)


def test_one_view_is_left_as_it_is_by_the_mean():
    problem = random_problem(0, widths=(5,), variances=(0.7,), presence=np.ones((9, 1), dtype=bool))
    np.testing.assert_allclose(problem.dense.mean_covariance, problem.grams[0], atol=1e-12)
    np.testing.assert_allclose(problem.dense.consensus_covariance, problem.grams[0] + 0.7 * np.eye(9), rtol=1e-12)


def test_views_that_share_no_sample_stay_apart():
    presence = np.zeros((8, 2), dtype=bool)
    presence[:5, 0] = presence[5:, 1] = True
    problem = random_problem(0, n=8, widths=(3, 3), variances=(0.3, 0.2), presence=presence)
    expected = block_diag(problem.grams[0] + 0.3 * np.eye(5), problem.grams[1] + 0.2 * np.eye(3))
    np.testing.assert_allclose(problem.dense.consensus_covariance, expected, rtol=1e-10)
    np.testing.assert_allclose(problem.dense.mean_covariance, block_diag(*problem.grams), atol=1e-10)


def test_a_view_nobody_has_changes_nothing():
    problem = random_problem(4)
    more = random_problem(4)
    more.presence = np.column_stack([problem.presence, np.zeros(9, dtype=bool)])
    more.features = [*problem.features, np.zeros((0, 2))]
    more.variances = np.append(problem.variances, 0.5)
    more.new_presence = np.column_stack([problem.new_presence, np.ones(4, dtype=bool)])
    more.new_features = [*problem.new_features, np.ones((4, 2))]
    rows = np.arange(9)
    for form, new in [("dense", "new_grams"), ("low_rank", "new_rows")]:
        before = getattr(problem, form).experts(getattr(problem, new), rows)
        after = getattr(more, form).experts(getattr(more, new), rows)
        np.testing.assert_allclose(after.crosses[:3], before.crosses, atol=1e-12)
        np.testing.assert_allclose(after.covariances[:, :3, :3], before.covariances, atol=1e-12)
        assert not after.presence[:, 3].any()
    np.testing.assert_allclose(more.dense.mean_covariance, problem.dense.mean_covariance, atol=1e-13)
    np.testing.assert_allclose(more.dense.consensus_covariance, problem.dense.consensus_covariance, atol=1e-13)


def test_duplicated_samples_are_fine():
    problem = random_problem(0, widths=(2, 2), variances=(0.1, 0.1), presence=np.ones((6, 2), dtype=bool), n=6)
    problem.features = [np.repeat(block[:3], 2, axis=0) for block in problem.features]
    K_s = problem.dense.mean_covariance
    np.testing.assert_allclose(K_s[::2], K_s[1::2], atol=1e-12)
    psi = problem.low_rank.rows(np.arange(6))
    np.testing.assert_allclose(psi @ psi.T, K_s, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_gradients_agree_with_finite_differences(seed):
    problem = random_problem(seed)
    rows = np.array([0, 3, 8])
    rng = np.random.default_rng(seed)
    squares = SignedSquares(rng.normal(size=(2, 3)), rng.normal(size=(1, 3)))
    Q = squares.matrix()

    def value(grams, variances):
        K_c = DenseConsensus(grams, ViewWeights.of(variances, 3), problem.presence).consensus_covariance
        return (Q * K_c[np.ix_(rows, rows)]).sum() + 0.7 * np.trace(K_c)

    gradients = {j: found.matrix() for j, found in problem.dense.evidence_gradients(rows, squares, 0.7)}
    assert sorted(gradients) == [0, 1, 2]
    for j in range(3):
        change = rng.normal(size=problem.grams[j].shape)
        change = 1e-6 * (change + change.T)
        ends = []
        for sign in (1, -1):
            grams = list(problem.grams)
            grams[j] = grams[j] + sign * change
            ends.append(value(grams, problem.variances))
        assert (gradients[j] * change).sum() == pytest.approx((ends[0] - ends[1]) / 2, rel=1e-5, abs=1e-12)
        step = 1e-6 * np.eye(3)[j]
        ends = [value(problem.grams, problem.variances + sign * step) for sign in (1, -1)]
        assert np.trace(gradients[j]) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_combined_experts_equal_appending_the_row_and_refitting(seed):
    problem = random_problem(seed, n_new=3)
    rows, noise = np.array([1, 2, 6, 8]), np.array([0.2])
    y = np.random.default_rng(seed).normal(size=4)
    fit = RegressionFit(DenseCovariance(problem.dense.consensus_covariance[None, rows[:, None], rows]), y, noise)
    experts = problem.dense.experts(problem.new_grams, rows)
    reduced = experts.crosses @ fit.variance_factors[0].T
    T = experts.covariances + np.diag(problem.variances) - np.einsum("jil,kil->ijk", reduced, reduced)
    weights, variances = combine_experts(T, experts.presence)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-10)
    means = np.einsum("ij,ji->i", weights, experts.crosses @ fit.gradients[0])
    for i, held in enumerate(problem.new_presence):
        grams = []
        for j, (old, new) in enumerate(zip(problem.features, problem.new_features, strict=True)):
            at = np.flatnonzero(problem.new_presence[:, j])
            both = np.concatenate([old, new[at == i]])
            grams.append(both @ both.T)
        presence = np.concatenate([problem.presence, held[None]])
        K_c = DenseConsensus(grams, problem.weights, presence).consensus_covariance
        refit = RegressionFit(DenseCovariance(K_c[None, rows[:, None], rows]), y, noise)
        k = K_c[9, rows]
        assert means[i] == pytest.approx(k @ refit.gradients[0], rel=1e-7, abs=1e-9)
        assert variances[i] == pytest.approx(K_c[9, 9] - np.square(refit.variance_factors[0] @ k).sum(), rel=1e-7)


def test_a_sample_without_views_is_named():
    presence = COMPLETE.copy()
    presence[[2, 5]] = False
    problem = random_problem(0, presence=presence)
    for attribute in ("mean_covariance", "consensus_covariance"):
        with pytest.raises(ViewError, match=r"row\(s\) 2, 5 have none"):
            getattr(problem.dense, attribute)


def test_the_consensus_function_refuses_infinite_variances():
    with pytest.raises(ViewError, match="finite view variances"):
        _ = random_problem(0, variances=(np.inf, 1.0, 1.0)).dense.consensus_covariance


def test_an_invalid_kernel_is_named_with_its_view():
    consensus = DenseConsensus([np.eye(2), np.diag([1.0, -3.0])], ViewWeights.of(0.1, 2), np.ones((2, 2), dtype=bool))
    with pytest.raises(NotPositiveDefiniteError, match=r"Gram matrix of view 1 .* Raise view_variances of view 1"):
        _ = consensus.mean_covariance


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, [1.0, 0.0]])
def test_variances_must_be_positive(bad):
    with pytest.raises(ViewError, match="view_variances must be positive"):
        ViewWeights.of(bad, 2)


def test_variances_must_fit_the_views():
    with pytest.raises(ViewError, match=r"one number or one per view \(2\); got shape \(3,\)"):
        ViewWeights.of([1.0, 2.0, 3.0], 2)
    with pytest.raises(ViewError, match="view_factors must be finite"):
        ViewWeights.of(1.0, 2, [1.0, np.inf])


def test_shares_sum_to_one_or_zero():
    weights = ViewWeights.of([0.5, np.inf, np.inf], 3, [1.0, 1.0, 4.0])
    presence = np.array([[1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    np.testing.assert_allclose(weights.shares(presence), [[1, 0, 0], [0, 0.8, 0.2], [0, 0, 1], [0, 0, 0]])
    assert weights.shares(np.ones((1, 3), dtype=bool))[0].tolist() == [1.0, 0.0, 0.0]
