"""Whole estimators on low-rank features: at full rank all that exact kernels give, at any rank sound answers."""

from itertools import chain, combinations

import numpy as np
import pytest

from coview import Views
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor

from .small_problems import kernels, labels, problem, tables, targets

SUBSETS = list(chain.from_iterable(combinations(range(3), k) for k in (1, 2, 3)))


def fit(estimator, X, signal, n_labeled=9, **changes):
    y = labels(signal, n_labeled, 3) if estimator is BayesianCoTrainingClassifier else targets(signal, n_labeled)
    if "settings" not in changes and changes.get("hyperparameters", "fixed") == "fixed":
        changes = {"hyperparameters": "fixed", "kernel": kernels()} | changes
    return estimator(**changes).fit(X, y)


def answers(model, X):
    latent, deviation = model.predict_latent(X, return_std=True)
    return [model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X), latent, deviation]


@pytest.mark.parametrize("latent", ["mean", "consensus"])
@pytest.mark.parametrize("estimator", [BayesianCoTrainingClassifier, BayesianCoTrainingRegressor])
def test_full_rank_answers_as_exact_kernels_do_from_any_subset_of_views(estimator, latent):
    blocks, signal = tables(14, 2)
    views = Views(blocks)
    low_rank, exact = (
        fit(estimator, views, signal, latent=latent, approximation=form) for form in ("low_rank", "exact")
    )
    np.testing.assert_allclose(low_rank.latent_mean_, exact.latent_mean_, rtol=1e-6, atol=1e-7)
    for subset in SUBSETS:
        # Rows that training knows in full: features of new ones lack what no landmark explains.
        held = np.flatnonzero(views.presence[:, list(subset)].all(axis=1))
        given = [block[held] if j in subset else np.full_like(block[held], np.nan) for j, block in enumerate(blocks)]
        for got, want in zip(answers(low_rank, Views(given)), answers(exact, Views(given)), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    low, full = low_rank.consensus_posterior(), exact.consensus_posterior()
    for got, want in zip(low.training(), full.training(), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("estimator", [BayesianCoTrainingClassifier, BayesianCoTrainingRegressor])
def test_the_papers_average_is_that_of_exact_kernels(estimator):
    views, signal = problem(12, 2, widths=(2, 1))
    settings = {"hyperparameters": "average", "latent": "consensus", "weighting": "evidence", "kernel": kernels(2)}
    low_rank, exact = (fit(estimator, views, signal, approximation=form, **settings) for form in ("low_rank", "exact"))
    np.testing.assert_allclose(low_rank.latent_mean_, exact.latent_mean_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(low_rank.settings_["weight"], exact.settings_["weight"], atol=1e-6)


@pytest.mark.parametrize("n_components", [2, [2, 5]])
@pytest.mark.parametrize("estimator", [BayesianCoTrainingClassifier, BayesianCoTrainingRegressor])
def test_an_average_at_given_ranks_trusts_views_and_answers_from_any_of_them(monkeypatch, estimator, n_components):
    monkeypatch.setattr("coview.gaussian_process._feature_maps._LANDMARKS", 20)
    monkeypatch.setattr("coview.gaussian_process._view_maps._FEWEST_LANDMARKS", 8)
    blocks, signal = tables(50, 3)
    model = fit(estimator, Views(blocks), signal, 25, hyperparameters="average", n_components=n_components)
    assert set(model.settings_["n_components"]) == set(np.atleast_1d(n_components))
    assert model.view_trust_["share"].sum() == pytest.approx(1.0)
    assert sum(model.agreement_.values()) == pytest.approx(1.0)
    again = answers(model, Views(blocks))
    np.testing.assert_allclose(again[1], model.latent_mean_, rtol=1e-7, atol=1e-8)
    whole, _ = tables(50, 3, missing=0.0)
    for subset in SUBSETS:
        given = Views([block if j in subset else np.full_like(block, np.nan) for j, block in enumerate(whole)])
        answer, latent, deviation = answers(model, given)
        assert np.isfinite(np.concatenate([np.ravel(answer), np.ravel(latent)])).all()
        assert (deviation > 0).all()
    assert model.consensus_posterior().training()[0].shape[0] == 50
