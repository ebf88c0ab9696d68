"""Training samples by blocks of rows: the same answers as all at once, and memory that does not grow with rank or labels."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process.kernels import RBF

from coview.gaussian_process import (
    BayesianCoTrainingClassifier,
    BayesianCoTrainingRegressor,
    _feature_maps,
)
from coview.gaussian_process._training_features import ComputedFeatures
from coview.inference import _feature_rows

from .small_problems import kernels, labels, problem, targets

FIXED = {"hyperparameters": "fixed", "approximation": "low_rank", "n_components": 4, "amplitude": 4.0}
SETTINGS = [
    {"view_variances": 0.5, "n_components": 6, "center": True, "amplitude": 4.0},
    {"kernels": "linear", "view_variances": 0.5, "n_components": 2, "center": True, "amplitude": 4.0},
    {"joint": True, "n_components": 6, "center": True, "amplitude": 4.0},
    {"joint": True, "kernels": "linear", "n_components": 3, "center": True, "amplitude": 1.0},
    {"family": "completed", "n_components": 6, "center": True, "amplitude": 4.0},
    {"family": "early_fusion", "n_components": 6, "center": True, "amplitude": 4.0},
]


@pytest.fixture
def few_landmarks(monkeypatch):
    monkeypatch.setattr(_feature_maps, "_LANDMARKS", 15)


def in_blocks(monkeypatch, rows=7, held=0):
    """Blocks of a few rows, and no room for features."""
    monkeypatch.setattr(_feature_rows, "_BLOCK_ROWS", rows)
    monkeypatch.setattr(_feature_maps, "HELD_NUMBERS", held)


def answers(model, new):
    mean, deviation = model.predict_latent(new, return_std=True)
    moments = [model.latent_mean_, model.latent_variance_, model.loo_latent_mean_, mean, deviation]
    return [*moments, model.explain(new).select_dtypes("number").to_numpy()]


def compare(ours, theirs, rtol=1e-9):
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-10)


@pytest.mark.parametrize("held", [0, 10**9])
def test_an_average_over_every_family_is_the_same_in_blocks(few_landmarks, monkeypatch, held):
    views, signal = problem(40, 3)
    new, _ = problem(10, 1)
    y = labels(signal, 20)
    whole = answers(BayesianCoTrainingClassifier(kernels(), settings=SETTINGS).fit(views, y), new)
    in_blocks(monkeypatch, held=held)
    model = BayesianCoTrainingClassifier(kernels(), settings=SETTINGS).fit(views, y)
    training = model._prepared.bank.maps.of_views(model._average.fits.settings[0])[1]
    assert isinstance(training, ComputedFeatures) == (held == 0)
    compare(answers(model, new), whole)
    np.testing.assert_allclose(model.predict_latent(views), model.latent_mean_, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("n_labeled", [3, 25])  # fewer than the features, and more
@pytest.mark.parametrize("latent", ["mean", "consensus"])
@pytest.mark.parametrize("bias", [0.0, 0.5])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_fixed_models_are_the_same_in_blocks(few_landmarks, monkeypatch, n_labeled, latent, bias, n_classes):
    views, signal = problem(40, 3)
    new, _ = problem(10, 1)
    options = {**FIXED, "latent": latent, "bias_variance": bias}
    y = labels(signal, n_labeled, n_classes)
    whole = answers(BayesianCoTrainingClassifier(RBF(1.0), **options).fit(views, y), new)
    in_blocks(monkeypatch)
    compare(answers(BayesianCoTrainingClassifier(RBF(1.0), **options).fit(views, y), new), whole)
    options |= {"noise_variance": 0.2}
    in_blocks(monkeypatch, rows=4096)
    whole = answers(BayesianCoTrainingRegressor(RBF(1.0), **options).fit(views, targets(signal, n_labeled)), new)
    in_blocks(monkeypatch)
    compare(
        answers(BayesianCoTrainingRegressor(RBF(1.0), **options).fit(views, targets(signal, n_labeled)), new), whole
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf", "auto"])
def test_sparse_views_are_the_same_in_blocks(few_landmarks, monkeypatch, kernel):
    rng = np.random.default_rng(0)
    words = sparse.random_array((40, 12), density=0.3, rng=rng, format="csr")
    blocks = [words, rng.normal(size=(40, 3))]
    blocks[1][::4] = np.nan
    y = labels(rng.normal(size=40), 20)
    options = {} if kernel == "auto" else FIXED
    whole = BayesianCoTrainingClassifier(kernel, **options).fit(blocks, y)
    in_blocks(monkeypatch)
    model = BayesianCoTrainingClassifier(kernel, **options).fit(blocks, y)
    new = [words[:9], blocks[1][:9]]
    np.testing.assert_allclose(model.label_distributions_, whole.label_distributions_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(new), whole.predict_proba(new), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("rows", [1, 39, 40, 41])
@pytest.mark.parametrize("latent", ["mean", "consensus"])
def test_blocks_that_just_hold_all_samples_or_lack_one(few_landmarks, monkeypatch, rows, latent):
    views, signal = problem(40, 3)
    y = targets(signal, 25)
    options = {**FIXED, "latent": latent, "noise_variance": 0.2}
    whole = BayesianCoTrainingRegressor(RBF(1.0), **options).fit(views, y)
    in_blocks(monkeypatch, rows=rows)
    blocks = BayesianCoTrainingRegressor(RBF(1.0), **options).fit(views, y)
    np.testing.assert_allclose(blocks.latent_mean_, whole.latent_mean_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(blocks.latent_variance_, whole.latent_variance_, rtol=1e-10, atol=1e-12)


def many(n, seed=0):
    """Views of two columns, half of them missing, and targets of 100 samples."""
    rng = np.random.default_rng(seed)
    views = [rng.standard_normal((n, 2)) for _ in range(3)]
    present = rng.random((n, 3)) < 0.5
    present[np.arange(n), rng.integers(0, 3, n)] = True
    signal = views[0][:, 0] + 0.1 * rng.standard_normal(n)
    y = np.full(n, np.nan)
    y[::60] = signal[::60]
    for view, has in zip(views, present.T, strict=True):
        view[~has] = np.nan
    return views, present, y


def by_definition(views, present, y, variances, noise, *, own):
    """Mean and variance at all samples by the weight-space equations, sums written out pair by pair."""
    w = 1.0 / np.asarray(variances)
    total = present @ w
    Z = [np.where(present[:, [j]], view, 0.0) for j, view in enumerate(views)]
    P = np.eye(6)
    for j in range(3):
        for k in range(j + 1, 3):
            z = np.zeros((len(y), 6))
            z[:, 2 * j : 2 * j + 2], z[:, 2 * k : 2 * k + 2] = Z[j], -Z[k]
            pull = present[:, j] * present[:, k] * w[j] * w[k] / total
            P += (pull[:, None] * z).T @ z
    H = np.concatenate([Z[j] * (present[:, j] * w[j] / total)[:, None] for j in range(3)], axis=1)
    white = own / total
    labeled = np.flatnonzero(np.isfinite(y))
    N = white[labeled] + noise
    S = np.linalg.inv(P + (H[labeled] / N[:, None]).T @ H[labeled])
    weights = S @ (H[labeled].T @ (y[labeled] / N))
    mean, variance = H @ weights, white + np.einsum("ij,jk,ik->i", H, S, H)
    kappa = white[labeled] / N
    variance[labeled] = (1 - kappa) * white[labeled] + (1 - kappa) ** 2 * (variance[labeled] - white[labeled])
    mean[labeled] += kappa * (y[labeled] - mean[labeled])
    return mean, variance


@pytest.mark.parametrize("latent", ["mean", "consensus"])
def test_thousands_of_samples_equal_the_equations_written_out(monkeypatch, latent):
    monkeypatch.setattr(_feature_maps, "HELD_NUMBERS", 0)
    views, present, y = many(6000)
    variances = [0.5, 0.1, 2.0]
    model = BayesianCoTrainingRegressor(
        "linear",
        latent=latent,
        hyperparameters="fixed",
        approximation="low_rank",
        view_variances=variances,
        noise_variance=0.1,
    ).fit(views, y)
    mean, variance = by_definition(views, present, y, variances, 0.1, own=float(latent == "consensus"))
    np.testing.assert_allclose(model.latent_mean_, mean, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.latent_variance_, variance, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("latent", ["mean", "consensus"])
def test_memory_does_not_grow_with_rank_and_labels(monkeypatch, latent):
    """Features of 50,000 samples would take 72 MB, covariances with the labels 333 MB; the views take 2.4 MB."""
    monkeypatch.setattr(_feature_maps, "HELD_NUMBERS", 0)
    n = 50_000
    views, _, y = many(n)
    options = {**FIXED, "n_components": 60, "latent": latent, "noise_variance": 0.2}
    model = BayesianCoTrainingRegressor(RBF(1.0), **options)
    tracemalloc.start()
    try:
        model.fit(views, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.isfinite(model.latent_variance_).all()
    assert peak < 60e6
