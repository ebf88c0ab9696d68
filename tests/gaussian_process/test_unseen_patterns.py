"""Samples whose combination of views no labeled sample has."""

import pickle

import numpy as np
import pytest

from coview import Views
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor
from coview.gaussian_process import _patterns as patterns
from coview.persistence import load_model, save_model

WIDTHS = (2, 3, 2)
SMALL = {"n_components": [5], "random_state": 0}


def additive(n, seed=0):
    """Three views whose effects add up, and the sum."""
    rng = np.random.default_rng(seed)
    blocks = [rng.normal(size=(n, width)) for width in WIDTHS]
    return blocks, sum(1.5 * block[:, 0] for block in blocks) + 0.1 * rng.normal(size=n)


def cut(blocks, keep):
    """Views of all samples, with those alone whose positions are in ``keep``."""
    presence = np.zeros((len(blocks[0]), len(blocks)), dtype=bool)
    presence[:, keep] = True
    return Views(blocks, presence=presence)


def partly(y, n_labeled):
    """The labels of the first samples."""
    return np.where(np.arange(len(y)) < n_labeled, y, np.nan)


def mixed(blocks, n_complete):
    """The first samples complete, of the others every other one with the first view alone."""
    presence = np.ones((len(blocks[0]), len(blocks)), dtype=bool)
    presence[n_complete::2, 1:] = False
    return Views(blocks, presence=presence)


def classifier(blocks, signal, n_labeled=30, views=None, n_classes=2):
    y = np.argsort(np.argsort(signal)) * n_classes // len(signal)
    model = BayesianCoTrainingClassifier(**SMALL).fit(Views(blocks) if views is None else views, partly(y, n_labeled))
    return model, y


def log_loss(p, y):
    return -np.log(p[np.arange(len(y)), y]).mean()


def unadapted(model):
    """The weights of the average for every combination of views."""
    average = model._average
    average.weights_for = lambda presence: patterns.RowWeights(
        average.weights[None], np.zeros(len(presence), dtype=int)
    )


@pytest.mark.parametrize("weighting", ["bootstrap", "evidence"])
def test_one_view_of_several_that_add_up_is_not_taken_for_the_whole(weighting):
    blocks, signal = additive(150)
    model = BayesianCoTrainingRegressor(weighting=weighting, **SMALL).fit(Views(blocks), partly(signal, 50))
    tested = slice(50, None)
    for keep in ([0], [0, 2]):
        mean, sd = model.predict(cut(blocks, keep)[tested], return_std=True, include_noise=True)
        left = np.square(signal[tested] - mean).mean() / signal[tested].var()
        assert left < 1.25 * (1 - len(keep) / 3)  # what the views at hand cannot tell
        covered = (np.abs(signal[tested] - mean) < 1.645 * sd).mean()
        assert 0.8 < covered < 0.99
    unadapted(model)
    mean = model.predict(cut(blocks, [0])[tested])
    assert np.square(signal[tested] - mean).mean() > signal[tested].var()


def test_classes_from_some_views_have_a_smaller_loss_than_under_the_weights_of_whole_samples():
    blocks, signal = additive(200, seed=1)
    model, y = classifier(blocks, signal, 40, n_classes=3)
    new, tested = cut(blocks, [1])[40:], y[40:]
    adapted = log_loss(model.predict_proba(new), tested)
    unadapted(model)
    assert adapted < log_loss(model.predict_proba(new), tested) - 0.05
    assert adapted < np.log(3)


def test_absence_that_went_with_a_class_does_not_decide_what_was_never_seen():
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=240)
    blocks = [0.8 * (2 * y - 1)[:, None] + rng.normal(size=(240, 2)) for _ in range(4)]
    presence = np.ones((240, 4), dtype=bool)
    for j in (1, 2, 3):  # each view is lost to one class more than to the other, one view at a time
        lost = rng.permutation(np.flatnonzero(presence.all(axis=1) & (rng.random(240) < 0.2 + 0.5 * y)))[:30]
        presence[lost, j] = False
    model = BayesianCoTrainingClassifier(**SMALL).fit(Views(blocks, presence=presence), partly(y, 120))
    alone = cut(blocks, [0])[120:]
    adapted = model.predict_proba(alone)
    unadapted(model)
    before = model.predict_proba(alone)
    assert log_loss(adapted, y[120:]) < log_loss(before, y[120:])
    assert abs(adapted[:, 1].mean() - y[120:].mean()) < abs(before[:, 1].mean() - y[120:].mean())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_training_samples_new_ones_and_one_view_asked_for_alike(n_classes):
    blocks, signal = additive(60)
    views = mixed(blocks, 30)
    model, _ = classifier(blocks, signal, views=views, n_classes=n_classes)
    p = model.predict_proba(views)
    np.testing.assert_allclose(p, model.label_distributions_, atol=1e-10)
    first = model.predict_proba(Views(blocks), view="view_0")
    np.testing.assert_allclose(first[30::2], p[30::2], atol=1e-10)
    alone = np.concatenate([model.predict_proba(views[[i]]) for i in (29, 30, 31)])
    np.testing.assert_allclose(alone, p[29:32], atol=1e-10)
    total = model.explain(views)["total"].to_numpy()
    np.testing.assert_allclose(total, np.ravel(model.predict_latent(views)), atol=1e-8)
    latent = model.predict_latent(views, return_std=True)
    np.testing.assert_allclose(latent[0], model.latent_mean_, atol=1e-8)
    np.testing.assert_allclose(np.square(latent[1]), model.latent_variance_, atol=1e-8)


def test_combinations_of_views_that_labeled_samples_have_keep_the_weights_of_the_average():
    blocks, signal = additive(60)
    views = mixed(blocks, 20)
    model, _ = classifier(blocks, signal, 30, views=views)  # five labeled samples have the first view alone
    weights = model._average.weights_for(views.presence)
    assert len(weights.tables) == 1
    np.testing.assert_array_equal(weights.tables[0], model._average.weights)


@pytest.mark.parametrize(
    ("labeled", "asked", "usual"),
    [
        ([[1, 1, 1, 1]] * 4, [1, 0, 0, 0], False),
        ([[1, 1, 1, 1]] * 4, [1, 1, 1, 0], False),  # one view less than samples that all have the others
        ([[1, 1, 1, 1]] * 4, [1, 1, 1, 1], True),
        ([[1, 0, 0, 0]] * 4, [1, 1, 0, 0], True),  # nobody has both
        ([[1, 1, 1, 1]] * 1 + [[1, 0, 0, 0]] * 5, [0, 0, 1, 1], True),  # fewer than a fifth have both
        ([[1, 1, 1, 1]] * 2 + [[1, 0, 0, 0]] * 4, [0, 0, 1, 1], False),
        ([[1, 1, 1, 1]] * 2 + [[1, 0, 0, 0]] * 4, [1, 1, 1, 0], True),  # nearby, and fewer than half
        ([[1, 1, 1, 1]] * 3 + [[1, 0, 0, 0]] * 3, [1, 1, 1, 0], False),
    ],
)
def test_which_combinations_of_views_are_weighed_anew(labeled, asked, usual):
    rng = np.random.default_rng(0)
    presence = np.array([*labeled, *labeled], dtype=bool)
    blocks = [rng.normal(size=(len(presence), 2)) for _ in range(4)]
    y = partly(np.arange(len(presence)) % 2, len(labeled))
    model = BayesianCoTrainingClassifier(**SMALL).fit(Views(blocks, presence=presence), y)
    (table,) = model._average.weights_for(np.array([asked], dtype=bool)).tables
    assert np.array_equal(table, model._average.weights) == usual
    assert table.sum() == pytest.approx(1.0)


def test_saved_models_weigh_as_before(tmp_path):
    blocks, signal = additive(50)
    model, _ = classifier(blocks, signal)
    regressor = BayesianCoTrainingRegressor(**SMALL).fit(Views(blocks), partly(signal, 30))
    alone = cut(blocks, [0])
    for fitted, ask in (
        (model, lambda m: m.predict_proba(alone)),
        (regressor, lambda m: np.stack(m.predict(alone, return_std=True, include_noise=True))),
    ):
        save_model(fitted, tmp_path / "model.coview", overwrite=True)
        expected = ask(fitted)
        for again in (load_model(tmp_path / "model.coview").model, pickle.loads(pickle.dumps(fitted))):
            np.testing.assert_allclose(ask(again), expected, atol=1e-10)


def test_given_settings_and_fixed_parameters_have_one_weight_each():
    blocks, signal = additive(40)
    y = partly(np.where(signal > 0, 1.0, 0.0), 20)
    settings = [{"kernels": "linear", "view_variances": v, "amplitude": a} for v in (0.1, 1.0) for a in (1.0, 4.0)]
    for model in (
        BayesianCoTrainingClassifier("linear", settings=settings),
        BayesianCoTrainingClassifier("linear", hyperparameters="fixed", temperature=[0.5, 1.0, 2.0]),
        BayesianCoTrainingClassifier("linear", latent="consensus", view_variances=0.5),
    ):
        model.fit(Views(blocks), y)
        weights = model._average.weights_for(cut(blocks, [0]).presence)
        np.testing.assert_array_equal(weights.tables, model._average.weights[None])


def test_many_labels_and_many_patterns_are_met_in_parts(monkeypatch):
    blocks, signal = additive(50)
    model, _ = classifier(blocks, signal)
    asked = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]], dtype=bool)
    average = model._average
    given = average.fits, average.weights, average.weighing, average.some_posteriors
    together = average.weights_for(asked)
    monkeypatch.setattr(patterns, "_MOST_VALUES", 1)
    apart = patterns.PatternWeights(*given).of(asked)
    np.testing.assert_allclose(together.tables, apart.tables, atol=1e-12)
    monkeypatch.setattr(patterns, "_LEAST_SAMPLES", 12)
    monkeypatch.setattr(patterns, "_MOST_COPIES", 12)
    fewer = patterns.PatternWeights(*given)
    assert fewer._labeled.size == 12
    np.testing.assert_allclose(fewer.of(asked).tables.sum(axis=(1, 2)), 1.0)


def test_rare_combinations_of_views_keep_the_weights_of_the_average(monkeypatch):
    blocks, signal = additive(60)
    presence = np.ones((60, 3), dtype=bool)
    presence[30:50, 1:] = False
    presence[50:, 0] = False
    monkeypatch.setattr(patterns, "_MOST_PATTERNS", 2)
    views = Views(blocks, presence=presence)
    model, _ = classifier(blocks, signal, views=views)
    rare, common = model._average.weights_for(presence[[59]]), model._average.weights_for(presence[[30]])
    np.testing.assert_array_equal(rare.tables[0], model._average.weights)
    assert not np.array_equal(common.tables[0], model._average.weights)
    np.testing.assert_allclose(model.predict_proba(views[[59]]), model.label_distributions_[[59]], atol=1e-10)
