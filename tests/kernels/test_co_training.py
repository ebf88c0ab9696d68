"""The covariance functions of co-training: brute force for the joint precision, and input that does not fit."""

import numpy as np
import pytest

from coview.exceptions import NotPositiveDefiniteError, ViewError
from coview.kernels import (
    co_regularization_precision,
    co_training_kernel,
    co_training_precision,
    mean_consensus_kernel,
    side_information_kernel,
)


def problem(seed=0, n=7, m=3):
    rng = np.random.default_rng(seed)
    presence = rng.random((n, m)) < 0.6
    presence[~presence.any(axis=1), 0] = True
    grams = []
    for count in presence.sum(axis=0):
        A = rng.normal(size=(count, count + 2))
        grams.append(A @ A.T)
    return grams, rng.uniform(0.1, 1, m), presence


@pytest.mark.parametrize("seed", range(4))
def test_joint_precision_equals_the_springs_with_the_consensus_integrated_out(seed):
    grams, variances, presence = problem(seed)
    n, sizes = len(presence), presence.sum(axis=0)
    starts = n + np.concatenate([[0], np.cumsum(sizes)])
    full = np.zeros((starts[-1], starts[-1]))
    for j, gram in enumerate(grams):
        rows, here = np.flatnonzero(presence[:, j]), np.arange(starts[j], starts[j + 1])
        full[np.ix_(here, here)] += np.linalg.inv(gram) + np.eye(sizes[j]) / variances[j]
        full[rows, rows] += 1 / variances[j]
        full[rows, here] -= 1 / variances[j]
        full[here, rows] -= 1 / variances[j]
    schur = full[n:, n:] - full[n:, :n] @ np.linalg.solve(full[:n, :n], full[:n, n:])
    precision = co_regularization_precision(grams, variances, presence)
    np.testing.assert_allclose(precision, schur, rtol=1e-8, atol=1e-9)
    # Its inverse holds every view's side-information covariance.
    covariance = np.linalg.inv(precision)
    for j in range(3):
        here = slice(starts[j] - n, starts[j + 1] - n)
        C = side_information_kernel(grams, variances, j, presence)
        np.testing.assert_allclose(covariance[here, here], C, rtol=1e-7, atol=1e-9)


def test_kernel_and_precision_are_inverse():
    grams, variances, presence = problem(1)
    product = co_training_kernel(grams, variances, presence) @ co_training_precision(grams, variances, presence)
    np.testing.assert_allclose(product, np.eye(7), atol=1e-9)


def test_scaling_kernels_and_variances_scales_the_covariances():
    grams, variances, presence = problem(2)
    for function in (co_training_kernel, mean_consensus_kernel):
        plain = function(grams, variances, presence)
        scaled = function([5 * gram for gram in grams], 5 * variances, presence)
        np.testing.assert_allclose(scaled, 5 * plain, rtol=1e-9, atol=1e-10)


def test_adding_a_view_shrinks_the_consensus():
    grams, variances, _ = problem(0)
    A = np.random.default_rng(0).normal(size=(3, 7, 7))
    grams = list(A @ np.swapaxes(A, 1, 2))
    one = co_training_kernel(grams[:1], variances[:1])
    three = co_training_kernel(grams, variances)
    assert np.linalg.eigvalsh(one - three)[0] > -1e-9
    repeated = co_training_kernel([grams[0]] * 4, 0.5)
    np.testing.assert_allclose(repeated, (grams[0] + 0.5 * np.eye(7)) / 4, rtol=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grams": []}, "At least one view"),
        ({"presence": np.ones((7, 2), dtype=bool)}, r"one column per view \(3\); got shape \(7, 2\)"),
        ({"presence": np.ones(7, dtype=bool)}, r"one column per view \(3\); got shape \(7,\)"),
        ({"presence": np.ones((7, 3), dtype=bool)}, r"Gram matrix of view \d must be 7 x 7"),
        ({"view_variances": [1.0, 2.0]}, r"one per view \(3\); got shape \(2,\)"),
        ({"view_variances": 0.0}, "must be positive"),
    ],
)
@pytest.mark.parametrize(
    "function", [co_training_kernel, co_training_precision, mean_consensus_kernel, co_regularization_precision]
)
def test_input_that_does_not_fit_is_refused(function, changes, message):
    grams, variances, presence = problem(0)
    arguments = {"grams": grams, "view_variances": variances, "presence": presence} | changes
    with pytest.raises(ViewError, match=message):
        function(**arguments)


@pytest.mark.parametrize("view", [-1, 3])
def test_side_information_names_the_views_it_knows(view):
    grams, variances, presence = problem(0)
    with pytest.raises(ViewError, match=f"between 0 and 2; got {view}"):
        side_information_kernel(grams, variances, view, presence)


def test_joint_precision_needs_regular_kernels_and_finite_variances():
    grams, variances, presence = problem(0)
    with pytest.raises(ViewError, match="finite view variances"):
        co_regularization_precision(grams, np.inf, presence)
    size = len(grams[1])
    grams[1] = -np.eye(size)
    with pytest.raises(NotPositiveDefiniteError, match="Gram matrix of view 1"):
        co_regularization_precision(grams, variances, presence)
