"""Many samples: spectra over some of them, exact kernels forgotten for lack of room; neither changes what is right."""

import sys

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from coview.gaussian_process import (
    BayesianCoTrainingClassifier,
    BayesianCoTrainingRegressor,
    _feature_maps,
    _prior_bank,
    _view_maps,
)
from coview.gaussian_process._prior_bank import PriorBank
from coview.gaussian_process._setting import Setting
from coview.kernels import SpectralFeatures
from coview.persistence import load_model, save_model

from .small_problems import kernels, labels, problem, tables, targets

SETTINGS = [
    {"view_variances": 0.5, "n_components": 6, "center": True, "amplitude": 4.0},
    {"joint": True, "n_components": 6, "center": True, "amplitude": 4.0},
    {"family": "completed", "n_components": 6, "center": True, "amplitude": 4.0},
    {"family": "early_fusion", "n_components": 6, "center": True, "amplitude": 4.0},
]


@pytest.fixture
def few_landmarks(monkeypatch):
    """As if 15 samples were as many as a spectrum can be taken over."""
    monkeypatch.setattr(_feature_maps, "_LANDMARKS", 15)


def bank(views, kernel="rbf"):
    blocks = [views[name] for name in views.names]
    return PriorBank(views.names, blocks, views.presence, kernel, "mean", 0)


@pytest.mark.parametrize("position", range(4))
def test_a_training_sample_seen_again_keeps_its_value(few_landmarks, position):
    views, signal = problem(40, 3)
    model = BayesianCoTrainingClassifier(kernels(), settings=SETTINGS[position : position + 1])
    model.fit(views, labels(signal, 20))
    np.testing.assert_allclose(model.predict_latent(views), model.latent_mean_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.explain(views)["total"], model.latent_mean_, rtol=1e-8, atol=1e-9)


def test_answers_stay_near_those_of_the_whole_spectrum(monkeypatch):
    views, signal = problem(60, 3)
    y = labels(signal, 30)
    whole = BayesianCoTrainingClassifier(kernels(), settings=SETTINGS, random_state=0).fit(views, y)
    monkeypatch.setattr(_feature_maps, "_LANDMARKS", 45)
    part = BayesianCoTrainingClassifier(kernels(), settings=SETTINGS, random_state=0).fit(views, y)
    difference = np.abs(part.label_distributions_ - whole.label_distributions_)
    assert 1e-6 < difference.max() < 0.15


def test_features_are_those_of_the_landmarks(few_landmarks):
    views, _ = problem(40, 3, missing=0.0)
    samples = bank(views)
    setting = Setting(center=True, n_components=5)
    maps, training = samples.maps.of_views(setting)
    features = maps[0]
    rows = views[views.names[0]]
    assert features.landmarks_.shape == (15, 2)
    own = SpectralFeatures(samples.kernels(None)[0], 5, center=True).fit(features.landmarks_)
    np.testing.assert_allclose(training.take(slice(None))[0], own.transform(rows), rtol=1e-10)


def test_linear_and_precomputed_kernels_use_every_sample(few_landmarks, monkeypatch):
    blocks, signal = tables(30, 3, missing=0.0)
    y = labels(signal, 15)
    few = BayesianCoTrainingClassifier("linear", settings=SETTINGS[:2]).fit(blocks, y)
    values = [RBF(1.0)(block) for block in blocks]
    given = BayesianCoTrainingClassifier("precomputed", settings=SETTINGS[:2]).fit(values, y)
    mixed = BayesianCoTrainingClassifier(["precomputed", RBF(1.0), RBF(1.0)], settings=SETTINGS[1:2])
    mixed.fit([values[0], *blocks[1:]], y)
    monkeypatch.setattr(_feature_maps, "_LANDMARKS", 2000)
    every = BayesianCoTrainingClassifier("linear", settings=SETTINGS[:2]).fit(blocks, y)
    np.testing.assert_allclose(few.label_distributions_, every.label_distributions_, rtol=1e-8)
    objects = BayesianCoTrainingClassifier(RBF(1.0), settings=SETTINGS[:2]).fit(blocks, y)
    np.testing.assert_allclose(given.label_distributions_, objects.label_distributions_, rtol=1e-6)
    joint = BayesianCoTrainingClassifier(RBF(1.0), settings=SETTINGS[1:2]).fit(blocks, y)
    np.testing.assert_allclose(mixed.label_distributions_, joint.label_distributions_, rtol=1e-6)


def test_landmarks_keep_rare_views(few_landmarks):
    blocks, signal = tables(60, 3, missing=0.0)
    blocks[2][4:] = np.nan
    model = BayesianCoTrainingClassifier(kernels(), settings=SETTINGS[1:2]).fit(blocks, labels(signal, 30))
    chosen = model._prepared.bank.maps.landmarks
    assert set(range(4)) <= set(chosen.tolist())
    assert 4 < chosen.size < 20


@pytest.mark.parametrize("position", range(4))
def test_a_view_that_nobody_has_changes_nothing(few_landmarks, position):
    blocks, signal = tables(40, 3)
    y = labels(signal, 20)
    settings = SETTINGS[position : position + 1]
    model = BayesianCoTrainingClassifier(RBF(1.0), settings=settings).fit(blocks, y)
    more = BayesianCoTrainingClassifier(RBF(1.0), settings=settings).fit([*blocks, np.full((40, 2), np.nan)], y)
    np.testing.assert_allclose(more.label_distributions_, model.label_distributions_, rtol=1e-9)


@pytest.mark.parametrize("n_jobs", [None, 4])
def test_exact_kernels_that_are_forgotten_are_made_again(monkeypatch, n_jobs):
    views, signal = problem(30, 3)
    y = targets(signal, 15)
    plain = BayesianCoTrainingRegressor("rbf", latent="consensus").fit(views, y)
    monkeypatch.setattr(_prior_bank, "_DENSE_NUMBERS", 10_000)  # room for two
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads that meet, meet here
    try:
        model = BayesianCoTrainingRegressor("rbf", latent="consensus", n_jobs=n_jobs).fit(views, y)
    finally:
        sys.setswitchinterval(interval)
    np.testing.assert_allclose(model.transduction_, plain.transduction_, rtol=1e-9)
    np.testing.assert_allclose(model.predict(views), plain.predict(views), rtol=1e-9)
    dense = [key for key in model._prepared.bank._cache if key[0] == "prior"]
    if n_jobs is None:
        assert len(dense) <= 2


@pytest.mark.parametrize("first", ["exact", "low_rank"])
def test_exact_fits_ask_nothing_of_feature_maps(few_landmarks, first):
    """An exact setting has no rank: beside it, or after it on the same prepared views, a low rank stays low."""
    views, signal = problem(40, 3)
    y = targets(signal, 25)
    options = {"hyperparameters": "fixed", "noise_variance": 0.2}
    exact = BayesianCoTrainingRegressor(RBF(1.0), approximation="exact", **options)
    low_rank = BayesianCoTrainingRegressor(RBF(1.0), approximation="low_rank", n_components=4, **options)
    prepared = exact.prepare(views)
    for model in [exact, low_rank] if first == "exact" else [low_rank, exact]:
        model.fit(prepared, y)
    maps, training = prepared.bank.maps.of_views(low_rank._average.fits.settings[0])
    assert max(training.widths) == 4
    assert all(features.landmarks_.shape[0] < 15 + 1 for features in maps)
    np.testing.assert_allclose(low_rank.transduction_, low_rank.fit(views, y).transduction_, rtol=1e-10)
    np.testing.assert_allclose(exact.transduction_, exact.fit(views, y).transduction_, rtol=1e-10)


@pytest.mark.parametrize("family", [{"view_variances": 0.5}, {"joint": True}, {"family": "completed"}])
def test_a_larger_rank_on_the_same_prepared_views_leaves_models_alone(few_landmarks, monkeypatch, tmp_path, family):
    """More components go through more landmarks, whose leading features are others."""
    monkeypatch.setattr(_view_maps, "_FEWEST_LANDMARKS", 4)
    views, signal = problem(40, 3)
    y = labels(signal, 25)

    def model(rank):
        settings = [{**family, "n_components": rank, "center": True, "amplitude": 4.0}]
        return BayesianCoTrainingClassifier(RBF(1.0), settings=settings)

    small = model(2)
    prepared = small.prepare(views)
    small.fit(prepared, y)
    before = small.predict_proba(views)
    large = model(6).fit(prepared, y)
    np.testing.assert_array_equal(small.predict_proba(views), before)
    alone = model(6).fit(views, y)
    np.testing.assert_allclose(large.predict_proba(views), alone.predict_proba(views), rtol=1e-9)
    path = tmp_path / "small.model"
    save_model(small, path)
    np.testing.assert_allclose(load_model(path).model.predict_proba(views), before, rtol=1e-10)
