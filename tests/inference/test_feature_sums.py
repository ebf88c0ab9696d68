"""Sums of products of features: their mathematics written out, and the two ways of taking them against each other."""

import numpy as np
import pytest

from coview.inference import HeldFeatures, PatternGrams, RowSums, ViewWeights, feature_sums

from .consensus_problems import random_problem

WIDTHS = (3, 2, 4)
STARTS = (0, 3, 5, 9)
VARIANCES = [(0.3, 1.0, 0.1), (np.inf,) * 3, (0.3, np.inf, 0.1)]


def stacked(problem, i):
    """The features of one sample side by side, one row per view that it has."""
    rows = {}
    for view in np.flatnonzero(problem.presence[i]):
        rows[view] = np.zeros(9)
        place = np.searchsorted(np.flatnonzero(problem.presence[:, view]), i)
        rows[view][STARTS[view] : STARTS[view + 1]] = problem.features[view][place]
    return rows


def both(problem):
    held = HeldFeatures(problem.features, problem.presence)
    return PatternGrams.of(held), RowSums(held)


@pytest.mark.parametrize("seed", range(3))
def test_precision_is_the_sum_over_rows_and_pairs(seed):
    problem = random_problem(seed, widths=WIDTHS)
    w = 1 / problem.variances
    expected = np.eye(9)
    for i, held in enumerate(problem.presence):
        phi = stacked(problem, i)
        for j in phi:
            for k in phi:
                if j < k:
                    z = phi[j] - phi[k]
                    expected += w[j] * w[k] / w[held].sum() * np.outer(z, z)
    for sums in both(problem):
        P = sums.precision(problem.weights)
        np.testing.assert_allclose(P, expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(P, P.T)
        assert np.linalg.eigvalsh(P)[0] >= 1 - 1e-12


@pytest.mark.parametrize("variances", VARIANCES)
def test_mean_outer_is_the_mean_over_rows_of_shared_features(variances):
    problem = random_problem(1, widths=WIDTHS, variances=variances)
    shares = problem.weights.shares(problem.presence)
    H = np.array([sum(shares[i, j] * phi for j, phi in stacked(problem, i).items()) for i in range(9)])
    for sums in both(problem):
        np.testing.assert_allclose(sums.mean_outer(problem.weights), H.T @ H / 9, rtol=1e-12, atol=1e-14)


def test_view_sums_are_quadratic_forms_summed_by_pattern():
    problem = random_problem(2, widths=WIDTHS)
    matrix = np.random.default_rng(0).normal(size=(9, 9))
    for sums in both(problem):
        matrix_s = matrix + matrix.T
        expected = np.zeros((len(sums.patterns.counts), 3, 3))
        for i, p in enumerate(sums.patterns.codes):
            phi = stacked(problem, i)
            for j in phi:
                for k in phi:
                    expected[p, j, k] += phi[j] @ matrix_s @ phi[k]
        np.testing.assert_allclose(sums.view_sums(matrix_s), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("variances", VARIANCES)
@pytest.mark.parametrize("n", [1, 6, 7, 8, 14, 15])
def test_blocks_of_rows_change_nothing(monkeypatch, n, variances):
    problem = random_problem(3, n=n, widths=WIDTHS, variances=variances)
    plain = [(s.precision(problem.weights), s.mean_outer(problem.weights)) for s in both(problem)]
    monkeypatch.setattr("coview.inference._feature_rows._BLOCK_ROWS", 7)
    for sums, (P, M) in zip(both(problem), plain, strict=True):
        np.testing.assert_allclose(sums.precision(problem.weights), P, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(sums.mean_outer(problem.weights), M, rtol=1e-13, atol=1e-15)


def test_products_are_kept_only_where_they_are_smaller_than_the_features():
    every = np.array([[(code >> j) & 1 for j in range(3)] for code in range(1, 8)], dtype=bool)
    few = random_problem(0, n=7, widths=WIDTHS, presence=every)
    assert isinstance(feature_sums(HeldFeatures(few.features, few.presence)), RowSums)
    many = random_problem(0, n=350, widths=WIDTHS, presence=np.tile(every, (50, 1)))
    sums = feature_sums(HeldFeatures(many.features, many.presence))
    assert isinstance(sums, PatternGrams)
    assert len(sums.grams) == 7


def test_masks_wider_than_an_integer_have_patterns_too():
    rng = np.random.default_rng(0)
    presence = np.tile(rng.random((2, 70)) < 0.5, (3, 1))
    features = [rng.normal(size=(column.sum(), 1)) for column in presence.T]
    held, weights = HeldFeatures(features, presence), ViewWeights.of(0.5, 70)
    grams = PatternGrams.of(held)
    np.testing.assert_array_equal(grams.patterns.presence[grams.patterns.codes], presence)
    np.testing.assert_array_equal(grams.patterns.counts, [3, 3])
    np.testing.assert_allclose(grams.precision(weights), RowSums(held).precision(weights), rtol=1e-12, atol=1e-12)


def test_held_features_give_slices_without_copies_and_any_rows():
    problem = random_problem(4, widths=WIDTHS)
    held = HeldFeatures(problem.features, problem.presence)
    for j, part in enumerate(held.take(slice(2, 6))):
        np.testing.assert_array_equal(part, held.take(np.arange(2, 6))[j])
        assert np.shares_memory(part, problem.features[j]) or not part.size
    order = np.array([5, 1, 8])
    for j, part in enumerate(held.take(order)):
        expected = [stacked(problem, i)[j][STARTS[j] : STARTS[j + 1]] for i in order if problem.presence[i, j]]
        np.testing.assert_array_equal(part, np.array(expected).reshape(-1, WIDTHS[j]))
    assert held.truncated(2).widths == (2, 2, 2)


@pytest.mark.parametrize("n", [9, 40])
def test_scaled_sums_are_those_of_scaled_features(n):
    problem = random_problem(5, n=n, widths=WIDTHS)
    factors = np.array([0.5, 2.0, 1.5])
    scaled = HeldFeatures([c * f for c, f in zip(factors, problem.features, strict=True)], problem.presence)
    for sums, expected in zip(
        (s.scaled(factors) for s in both(problem)), (PatternGrams.of(scaled), RowSums(scaled)), strict=True
    ):
        for name in ("precision", "mean_outer"):
            got, want = getattr(sums, name)(problem.weights), getattr(expected, name)(problem.weights)
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)
    cut = RowSums(HeldFeatures(problem.features, problem.presence)).scaled(factors).rows.truncated(2)
    np.testing.assert_array_equal(
        cut.take(slice(0, 5))[0], factors[0] * problem.features[0][: len(cut.take(slice(0, 5))[0]), :2]
    )
