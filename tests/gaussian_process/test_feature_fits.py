"""Estimators answer the same whether their fits rest on features or on matrices of the labeled samples."""

from unittest.mock import patch

import numpy as np
import pytest

from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor, _chunks
from coview.inference import FeaturePosterior, _labeled_covariance

from .small_problems import labels, problem, targets

RANKS = (2, 3)


def without_features():
    """Both places that ask for the number of features learn nothing."""
    return (
        patch.object(_labeled_covariance, "factored_width", lambda *_: None),
        patch.object(_chunks, "factored_width", lambda *_: None),
    )


def labels_of(kind, signal):
    if kind == "regression":
        return 100.0 + targets(signal, 40)
    return labels(signal, 40, 2 if kind == "two classes" else 3)


@pytest.mark.parametrize("kind", ["two classes", "three classes", "regression"])
def test_default_fits_on_features_equal_those_on_matrices(kind):
    views, signal = problem(60)
    y = labels_of(kind, signal)
    estimator = BayesianCoTrainingRegressor if kind == "regression" else BayesianCoTrainingClassifier
    fast = estimator(n_components=RANKS).fit(views, y)
    posteriors = [fast._average.posterior(int(k)) for k in fast._average.kept]
    assert all(isinstance(posterior, FeaturePosterior) for posterior in posteriors)
    one, two = without_features()
    with one, two:
        plain = estimator(n_components=RANKS).fit(views, y)
        new, _ = problem(20, seed=1)
        expected, explained = plain.predict_latent(new, return_std=True), plain.explain(new)
    for name in ("log_marginal_likelihood", "loo_score", "weight"):
        np.testing.assert_allclose(fast.settings_[name], plain.settings_[name], rtol=1e-8, atol=1e-12)
    for name in ("latent_mean_", "latent_variance_", "loo_latent_mean_", "loo_latent_variance_", "loo_score_"):
        np.testing.assert_allclose(getattr(fast, name), getattr(plain, name), rtol=1e-8, atol=1e-10)
    for got, wanted in zip(fast.predict_latent(new, return_std=True), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-10)
    numbers = explained.select_dtypes("number").columns
    np.testing.assert_allclose(fast.explain(new)[numbers], explained[numbers], rtol=1e-8, atol=1e-8)


def test_chunks_hold_every_setting_once_whatever_their_size(monkeypatch):
    views, signal = problem(60)
    y = labels_of("three classes", signal)
    whole = BayesianCoTrainingClassifier(n_components=RANKS).fit(views, y)
    monkeypatch.setattr(_chunks, "_CHUNK_SIZE", 700)  # one or two settings at a time
    small = BayesianCoTrainingClassifier(n_components=RANKS, n_jobs=2).fit(views, y)
    np.testing.assert_allclose(
        small.settings_["log_marginal_likelihood"], whole.settings_["log_marginal_likelihood"], rtol=1e-12
    )
    np.testing.assert_allclose(small.loo_latent_mean_, whole.loo_latent_mean_, rtol=1e-9, atol=1e-12)
