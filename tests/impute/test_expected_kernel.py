"""Expected kernels: golden values, simulation, positive semidefinite matrices, forms of gamma, bad input."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture

from coview import Views
from coview.exceptions import ViewError
from coview.impute import expected_linear_kernel, expected_polynomial_kernel, expected_rbf_kernel
from coview.kernels import _expected_pairs

from ..golden.loader import GOLDEN, as_array
from .expected_problems import conditional, draws_of, mixture_of, problem, rbf_by_loops

KERNELS = {
    "rbf": partial(expected_rbf_kernel, gamma=0.3),
    "linear": expected_linear_kernel,
    "polynomial-2": partial(expected_polynomial_kernel, degree=2, gamma=0.5),
    "polynomial-3": partial(expected_polynomial_kernel, degree=3, gamma=[0.5, 0.2, 1.0, 0.7]),
    "polynomial-4": partial(expected_polynomial_kernel, degree=4, coef0=0.0),
}
EVERY_KERNEL = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)

golden = json.loads((GOLDEN / "kernel_completion_golden.json").read_text(encoding="utf-8"))
CASES = [pytest.param(case["inputs"], case["expected"], id=case["id"]) for case in golden["cases"]]
assert_golden = partial(np.testing.assert_allclose, **golden["tolerance"])


def golden_inputs(inputs):
    """Rows, new rows, mixture and gamma."""
    gmm = inputs["gmm"]
    mixture = mixture_of(gmm["weights"], gmm["means"], gmm["covariances"])
    gamma = 0.5 / np.asarray(inputs["kernel_var"])
    return as_array(inputs["X"]), as_array(inputs["X_new"]), {"mixture": mixture, "gamma": gamma}


@pytest.mark.parametrize(("inputs", "expected"), CASES)
@pytest.mark.parametrize("few_rows", [0, 4], ids=["pair by pair", "in stacks"])
def test_golden_values(inputs, expected, few_rows, monkeypatch):
    monkeypatch.setattr(_expected_pairs, "_FEW_ROWS", few_rows)
    X, X_new, given = golden_inputs(inputs)
    K = expected_rbf_kernel(X, **given)
    embedding = expected_rbf_kernel(X, **given, mean_embedding=True)
    assert_golden(K, expected["K_rbf"])
    assert_golden(embedding.diagonal(), expected["diag_embedding_rbf"])
    assert_golden(expected_rbf_kernel(X_new, X, **given), expected["K_new_rbf"])
    normalized = expected_rbf_kernel(X, **given, normalized=True)
    assert_golden(normalized, expected["K_normalised"])
    assert_golden(normalized.diagonal(), expected["z_kappa"])
    assert_golden(np.linalg.eigvalsh(K)[0], expected["min_eigenvalue_rbf"])
    assert_golden(np.linalg.eigvalsh(embedding)[0], expected["min_eigenvalue_embedding_rbf"])


@pytest.mark.parametrize("few_rows", [0, 2, 4, 40])
@pytest.mark.parametrize("n_patterns", [None, 3, 8])
def test_patterns_of_any_size_give_the_plain_loops(n_patterns, few_rows, monkeypatch):
    """Pair by pair, in stacks, and both together: 40 rows in 3, 8 or about 16 patterns."""
    monkeypatch.setattr(_expected_pairs, "_FEW_ROWS", few_rows)
    monkeypatch.setattr(_expected_pairs, "_BATCH", 5)
    monkeypatch.setattr(_expected_pairs, "_STACK_NUMBERS", 100)
    X, mixture = problem(0, n=24, n_patterns=n_patterns, n_components=3)
    Y = problem(1, n=9)[0]
    gamma = [0.1, 0.4, 0.0, 2.0]
    assert_exact(
        expected_rbf_kernel(X, mixture=mixture, gamma=gamma, mean_embedding=True), rbf_by_loops(X, X, mixture, gamma)
    )
    assert_exact(expected_rbf_kernel(X, Y, mixture=mixture, gamma=gamma), rbf_by_loops(X, Y, mixture, gamma))
    kernel = partial(expected_polynomial_kernel, mixture=mixture, degree=3)
    monkeypatch.setattr(_expected_pairs, "_FEW_ROWS", 0)
    separately = kernel(X, Y), kernel(X)
    monkeypatch.setattr(_expected_pairs, "_FEW_ROWS", few_rows)
    assert_exact(kernel(X, Y), separately[0])
    assert_exact(kernel(X), separately[1])


def assert_exact(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-14 * np.abs(expected).max())


def ordinary(kernel, X, Y):
    """The kernel of complete rows, of stacks (n_draws, n, 4), (n_draws, m, 4)."""
    options = getattr(kernel, "keywords", {})
    gamma = np.broadcast_to(options.get("gamma", 0.25), 4)
    if kernel is expected_linear_kernel:
        return X @ Y.swapaxes(-1, -2)
    if kernel.func is expected_polynomial_kernel:
        return ((X * gamma) @ Y.swapaxes(-1, -2) + options.get("coef0", 1.0)) ** options["degree"]
    return np.exp(-(gamma * (X[..., :, None, :] - Y[..., None, :, :]) ** 2).sum(axis=-1))


@EVERY_KERNEL
@pytest.mark.parametrize("seed", range(3))
def test_the_mean_over_completed_rows(kernel, seed):
    """The matrix is the expected kernel matrix of the completed rows, its diagonal included."""
    X, mixture = problem(seed, n=6)
    rng = np.random.default_rng(seed)
    draws = np.stack([draws_of(x, mixture, 20_000, rng) for x in X], axis=1)
    samples = ordinary(kernel, draws, draws)
    error = samples.std(axis=0) / np.sqrt(len(draws))
    K = kernel(X, mixture=mixture)
    assert (np.abs(K - samples.mean(axis=0)) <= 4.5 * error + 1e-11 * np.abs(K).max()).all()


@EVERY_KERNEL
def test_complete_rows_have_the_ordinary_kernel(kernel):
    X, mixture = problem(4, n=9)
    X = np.where(np.isnan(X), 0.5, X)
    expected = ordinary(kernel, X, X)
    assert_exact(kernel(X, mixture=mixture), expected)
    assert_exact(kernel(X, X[:3], mixture=mixture), expected[:, :3])


@EVERY_KERNEL
@pytest.mark.parametrize("seed", range(4))
def test_symmetric_and_positive_semidefinite_with_both_diagonals(kernel, seed):
    X, mixture = problem(seed, n=20, spread=3.0 * seed, n_patterns=None if seed % 2 else 3)
    K, embedding = kernel(X, mixture=mixture), kernel(X, mixture=mixture, mean_embedding=True)
    for matrix in (K, embedding):
        np.testing.assert_array_equal(matrix, matrix.T)
        assert np.linalg.eigvalsh(matrix)[0] > -1e-12 * np.abs(matrix).max()
    difference = K - embedding
    incomplete = np.isnan(X).any(axis=1)
    assert not (difference - np.diag(difference.diagonal())).any()
    assert (difference.diagonal()[incomplete] > 1e-6).all()
    np.testing.assert_allclose(difference.diagonal()[~incomplete], 0.0, atol=1e-12 * np.abs(K).max())
    assert_exact(kernel(X, X, mixture=mixture), embedding)


@EVERY_KERNEL
def test_rows_in_another_order(kernel):
    X, mixture = problem(2, n=15)
    order = np.random.default_rng(0).permutation(15)
    assert_exact(kernel(X[order], mixture=mixture), kernel(X, mixture=mixture)[np.ix_(order, order)])
    assert_exact(kernel(X[order], X, mixture=mixture), kernel(X, X, mixture=mixture)[order])


def test_equal_rows_are_two_objects():
    X, mixture = problem(2, n=3)
    X[:] = X[1]
    K = expected_rbf_kernel(X, mixture=mixture, gamma=1.0)
    assert (K.diagonal() == 1.0).all()
    assert np.ptp(K[~np.eye(3, dtype=bool)]) < 1e-14
    assert 0.0 < K[0, 1] < 0.9


def test_a_component_without_weight_does_not_count():
    X, mixture = problem(3)
    weights, means, covariances = mixture.weights_, mixture.means_, mixture.covariances_
    dead = mixture_of(
        np.append(weights, 0.0), np.vstack([means, [[9.0] * 4]]), np.concatenate([covariances, np.zeros((1, 4, 4))])
    )
    assert_exact(expected_rbf_kernel(X, mixture=dead, gamma=1.0), expected_rbf_kernel(X, mixture=mixture, gamma=1.0))


def test_features_of_very_different_scales():
    X, mixture = problem(5)
    scales = np.array([1e-8, 1e8, 1.0, 1e3])
    other = mixture_of(mixture.weights_, mixture.means_ * scales, mixture.covariances_ * scales[:, None] * scales)
    expected = expected_rbf_kernel(X, mixture=mixture, gamma=0.5)
    np.testing.assert_allclose(
        expected_rbf_kernel(X * scales, mixture=other, gamma=0.5 / scales**2), expected, rtol=1e-9
    )


def test_far_rows_and_far_origins():
    X, mixture = problem(6)
    moved = mixture_of(mixture.weights_, mixture.means_ + 1e6, mixture.covariances_)
    expected = expected_rbf_kernel(X, mixture=mixture, gamma=0.5)
    np.testing.assert_allclose(expected_rbf_kernel(X + 1e6, mixture=moved, gamma=0.5), expected, rtol=1e-6)
    X[0] += 1e8
    K = expected_rbf_kernel(X, mixture=mixture, gamma=0.5)
    assert np.isfinite(K).all()
    assert not K[0, 1:].any()


class TestGamma:
    """One number, one for each view, one for each feature."""

    X, mixture = problem(7)
    views = Views({"a": X[:, :3], "b": X[:, 3:]})
    by_feature = expected_rbf_kernel(X, mixture=mixture, gamma=np.array([0.2, 0.2, 0.2, 0.7]))

    @pytest.mark.parametrize(
        "gamma",
        [
            [0.2, 0.7],
            np.array([0.2, 0.7]),
            {"b": 0.7, "a": 0.2},
            {"a": [0.2, 0.2, 0.2], "b": [0.7]},
            [np.full(3, 0.2), 0.7],
            [0.2, 0.2, 0.2, 0.7],
        ],
        ids=str,
    )
    def test_forms(self, gamma):
        assert_exact(expected_rbf_kernel(self.views, mixture=self.mixture, gamma=gamma), self.by_feature)

    def test_one_number(self):
        K = expected_rbf_kernel(self.views, mixture=self.mixture, gamma=0.2)
        assert_exact(K, expected_rbf_kernel(self.X, mixture=self.mixture, gamma=[0.2] * 4))

    def test_a_feature_that_does_not_count(self):
        K = expected_rbf_kernel(self.X, mixture=self.mixture, gamma=[0.2, 0.2, 0.2, 0.0])
        alone = mixture_of(self.mixture.weights_, self.mixture.means_[:, :3], self.mixture.covariances_[:, :3, :3])
        complete = ~np.isnan(self.X).any(axis=1)
        expected = expected_rbf_kernel(self.X[complete, :3], mixture=alone, gamma=0.2)
        assert_exact(K[np.ix_(complete, complete)], expected)

    @pytest.mark.parametrize(
        ("gamma", "message"),
        [
            ([0.1, 0.2, 0.3], r"one for each view \(2\) or one for each feature \(4\); got an array of shape \(3,\)"),
            ([0.1, -0.2], r"gamma must be finite and not negative; it is -0.2 for feature 3"),
            (np.nan, "it is nan for feature 0"),
            ({"a": 1.0}, r"gamma must name every view once; unknown: \[\], without a value: \['b'\]"),
            ({"a": 1.0, "b": 1.0, "c": 1.0}, r"unknown: \['c'\]"),
            ({"a": [1.0, 2.0], "b": 1.0}, r"gamma of view 'a' must be one number or one for each of its 3 features"),
            ("wide", "gamma must be a number or an array of numbers; got 'wide'"),
            (np.ones((2, 2)), r"got an array of shape \(2, 2\)"),
        ],
        ids=str,
    )
    def test_what_it_must_not_be(self, gamma, message):
        with pytest.raises(ValueError, match=message):
            expected_rbf_kernel(self.views, mixture=self.mixture, gamma=gamma)


class TestBadInput:
    """Errors name what is wrong."""

    X, mixture = problem(8)

    def test_unfitted_mixture(self):
        with pytest.raises(NotFittedError, match="mixture must be fitted"):
            expected_rbf_kernel(self.X, mixture=GaussianMixture(), gamma=1.0)

    def test_width(self):
        with pytest.raises(ViewError, match="must have the 4 features of the mixture, all views together; got 3"):
            expected_rbf_kernel(self.X[:, :3], mixture=self.mixture, gamma=1.0)
        with pytest.raises(ViewError, match="got 2"):
            expected_linear_kernel(self.X, self.X[:, :2], mixture=self.mixture)

    def test_covariances_that_are_not_full(self):
        diagonal = mixture_of([1.0], [[0.0] * 4], [[1.0] * 4])
        with pytest.raises(ValueError, match=r"covariances_ of shape \(n_components, n_features, n_features\)"):
            expected_rbf_kernel(self.X, mixture=diagonal, gamma=1.0)

    @pytest.mark.parametrize("degree", [0, -1, 2.5, True])
    def test_degree(self, degree):
        with pytest.raises(ValueError, match="degree must be an integer from 1 up"):
            expected_polynomial_kernel(self.X, mixture=self.mixture, degree=degree)

    def test_coef0(self):
        with pytest.raises(ValueError, match="coef0 must be a number from 0 up"):
            expected_polynomial_kernel(self.X, mixture=self.mixture, coef0=-1.0)

    def test_normalized_in_many_dimensions_or_without_width(self):
        many = mixture_of([1.0], np.zeros((1, 2000)), np.eye(2000)[None])
        with pytest.raises(ValueError, match="Leave normalized=False"):
            expected_rbf_kernel(np.zeros((2, 2000)), mixture=many, gamma=1e-3, normalized=True)
        with pytest.raises(ValueError, match="at 0 the kernel is no density"):
            expected_rbf_kernel(self.X, mixture=self.mixture, gamma=0.0, normalized=True)


def test_a_full_mixture_of_scikit_learn_will_do():
    X, _ = problem(9, n=40)
    complete = np.where(np.isnan(X), 0.0, X)
    fitted = GaussianMixture(2, random_state=0).fit(complete)
    K = expected_rbf_kernel(pd.DataFrame(X), mixture=fitted, gamma=0.5)
    np.testing.assert_allclose(K[-1, :-1], rbf_by_loops(X, X, fitted, 0.5)[-1, :-1], rtol=1e-10)


@pytest.mark.parametrize("missing", [0.2, 0.5, 0.8])
def test_nearer_to_the_kernel_of_the_complete_rows_than_imputation_is(missing):
    """The expected kernel is the best estimate of each entry, in mean square; so it is on average over problems."""
    errors = []
    for seed in range(10):
        _, mixture = problem(seed, n=1, p=5, spread=1.5)
        rng = np.random.default_rng(seed)
        labels = rng.choice(2, size=40, p=mixture.weights_)
        complete = np.array([rng.multivariate_normal(mixture.means_[k], mixture.covariances_[k]) for k in labels])
        X = np.where(rng.random(complete.shape) < missing, np.nan, complete)
        given = {"mixture": mixture, "gamma": 0.25}
        imputed = np.array([r @ means for r, means, _ in (conditional(x, mixture) for x in X)])
        truth = expected_rbf_kernel(complete, **given)
        guesses = [expected_rbf_kernel(rows, **given) for rows in (X, imputed)]
        guesses.append(expected_rbf_kernel(X, **given, mean_embedding=True))
        errors.append([np.linalg.norm(K - truth) for K in guesses])
    expected, imputed, embedding = np.mean(errors, axis=0)
    assert expected < 0.95 * min(imputed, embedding)
