"""Diagnoses of problems whose trouble is known."""

import numpy as np
import pytest

from coview import Views
from coview.acquisition import diagnose, view_utilities
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor
from coview.linear_model import CoRegularizedLogisticRegression
from coview.mixture import ClassConditionalGaussianMixture

from .small_problems import fixed, problem

MODEL = BayesianCoTrainingClassifier("linear", hyperparameters="fixed", view_variances=0.3, amplitude=4.0)


def correlated(n=120, n_labels=60, seed=0):
    """Views "a" and "twin" nearly tell each other and the class; "noise" tells nothing."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=n)
    a = 1.5 * codes[:, None] + rng.standard_normal((n, 2))
    tables = [a, a @ rng.normal(size=(2, 2)) + 0.1 * rng.normal(size=(n, 2)), rng.standard_normal((n, 1))]
    presence = rng.random((n, 3)) < 0.7
    presence[:, 0] |= ~presence.any(axis=1)
    y = np.where(np.arange(n) < n_labels, codes, np.nan)
    return Views(tables, names=["a", "twin", "noise"], presence=presence), y


def said(diagnosis, *words):
    return any(all(word in line for word in words) for line in diagnosis.words)


def test_a_view_of_noise_is_told_from_two_that_know_each_other():
    views, y = correlated()
    density = ClassConditionalGaussianMixture(covariance_type="full", random_state=0)
    found = diagnose(MODEL, views, y, density=density)
    table = found.views
    assert (table.loc[["a", "twin"], "explained"] > 0.4).all()
    assert (table.loc[["a", "twin"], "log_density_gain"] > 5.0 * table.loc[["a", "twin"], "log_density_error"]).all()
    assert table.loc["noise", "explained"] < 0.05
    assert (table["standardized_error"].between(0.7, 1.4)).all()
    assert table.loc["a", "label_gain"] > table.loc["noise", "label_gain"]
    # covariances that are almost singular make something of noise
    assert said(found, "noise:", "does not fit")
    assert not said(found, "a:", "does not fit")
    assert (table["known"] + table["missing"] == len(views)).all()
    assert str(found).count("\n") == len(found.words) - 1


def test_forecasts_agree_with_what_values_told():
    views, y = correlated(n_labels=20)
    found = diagnose(MODEL, views, y)
    assert found.whole["agreement"] > 0.3
    assert 0.0 < found.whole["entropy"] < found.whole["uniform"]
    assert found.whole["best_utility"] == pytest.approx(view_utilities(MODEL, views, y)["utility"].max())
    assert said(found, "noise:", "tell next to nothing of what it holds")
    [about] = [line.split(":")[0].split(", ") for line in found.words if "tell next to nothing" in line]
    assert "noise" in about
    assert "a" not in about
    again = diagnose(MODEL, views, y)
    np.testing.assert_array_equal(found.views, again.views)


def test_predictions_that_depend_on_nothing_are_said_to():
    views, y = correlated(n_labels=20)
    weak = BayesianCoTrainingClassifier("linear", latent="consensus", hyperparameters="fixed", amplitude=1e-3)
    found = diagnose(weak, views, y)
    assert said(found, "close to uniform")
    assert said(found, "ranking is noise")
    assert not said(found, "weak view")


def test_a_density_that_is_too_sure_is_found_out():
    views, y = correlated()
    tight = ClassConditionalGaussianMixture.from_parameters(
        [0.5, 0.5],
        {c: ([1.0], [[[c, c]], [[c, c]], [[0.0]]], [[0.02 * np.eye(2)]] * 2 + [[[[0.02]]]]) for c in (0.0, 1.0)},
    )
    found = diagnose(MODEL, views, y, density=tight)
    assert (found.views["standardized_error"] > 2.0).all()
    assert said(found, "noise", "as far off as the density says")
    assert said(found, "a:", "does not fit")


def test_a_view_of_nobody_and_few_labels():
    views, y, tables = problem(n=30, n_labels=6)
    presence = np.c_[views.presence, np.zeros(30, dtype=bool)]
    presence[:, 1] &= np.arange(30) >= 3
    presence[:, 0] |= ~presence.any(axis=1)
    found = diagnose(MODEL, Views([*tables, np.zeros((30, 1))], names=["v0", "v1", "new"], presence=presence), y)
    assert said(found, "new: nobody has it")
    assert said(found, "v1: only")
    assert np.isnan(found.views.loc["new", "explained"])


@pytest.mark.parametrize("model", [CoRegularizedLogisticRegression(), BayesianCoTrainingRegressor("linear")])
def test_other_models(model):
    views, y = correlated()
    found = diagnose(model, views, y)
    assert np.isfinite(found.views["explained"]).all()
    regression = isinstance(model, BayesianCoTrainingRegressor)
    assert np.isnan(found.whole["agreement"]) == regression
    assert np.isfinite(found.views["label_gain"]).all() == regression


def test_all_labeled_or_a_single_view():
    views, y = correlated(n_labels=120)
    assert np.isnan(diagnose(MODEL, views, y).whole["entropy"])
    found = diagnose(MODEL, views.select(["a"])[views.rows("a")], y[views.rows("a")])
    assert np.isnan(found.views.loc["a", "explained"])  # no sample keeps a view when its only one is hidden
    with pytest.raises(ValueError, match="n_folds"):
        diagnose(MODEL, views, y, n_folds=1)


@pytest.mark.parametrize("criterion", ["expected_entropy", "mutual_information", "a_optimality"])
def test_utilities_before_the_first_label(criterion):
    views, _, _ = problem()
    model = fixed(classes=[0, 1], approximation="low_rank")
    table = view_utilities(model, views, [None] * len(views), criterion=criterion)
    assert np.isfinite(table["utility"]).all()
