"""Utilities of labels: against refits and plain formulas; any classifier; odd data."""

import numpy as np
import pytest

from coview import Views
from coview.acquisition import Costs, label_utilities
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor
from coview.mixture import ClassConditionalGaussianMixture

from .small_problems import fixed, problem

ALL = ["mutual_information", "entropy", "margin", "disagreement", "random"]


def by_sample(table):
    return table.set_index("sample")["utility"].sort_index()


@pytest.mark.parametrize("criterion", ALL)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_unlabeled_sample_is_there_once_best_first(criterion, n_classes):
    views, y, _ = problem(n_labels=9, n_classes=n_classes)
    table = label_utilities(fixed(), views, y, criterion=criterion)
    assert list(table.columns) == ["sample", "utility"]
    assert sorted(table["sample"]) == list(range(9, 24))
    assert table["utility"].is_monotonic_decreasing
    assert (table["utility"] >= 0.0).all()


def test_information_is_what_a_label_takes_from_the_variances():
    """Regression, where the posterior variances do not depend on the label."""
    views, y, _ = problem()
    model = BayesianCoTrainingRegressor("linear", latent="consensus", hyperparameters="fixed", noise_variance=0.3)
    got = by_sample(label_utilities(model, views, y))
    before = model.fit(views, y).latent_variance_
    for sample in (10, 17):
        after = y.copy()
        after[sample] = 0.7
        then = model.fit(views, after).latent_variance_[sample]
        assert got[sample] == pytest.approx(0.5 * np.log(before[sample] / then), rel=1e-8)


def test_entropy_and_margin_of_the_predictions():
    views, y, _ = problem(n_labels=9, n_classes=3)
    model = BayesianCoTrainingClassifier(n_components=5).fit(views, y)
    p = model.predict_proba(views[np.arange(9, 24)])
    np.testing.assert_allclose(
        by_sample(label_utilities(model, views, y, criterion="entropy")), -(p * np.log(p)).sum(axis=1)
    )
    top = np.sort(p, axis=1)
    np.testing.assert_allclose(
        by_sample(label_utilities(model, views, y, criterion="margin")), 1.0 - (top[:, 2] - top[:, 1])
    )


def test_views_that_say_the_same_do_not_disagree():
    rng = np.random.default_rng(0)
    codes = np.arange(20) % 2
    table = rng.standard_normal((20, 2)) * 0.3 + 2.0 * codes[:, None]
    other = table.copy()
    other[15] = table[14]
    y = np.where(np.arange(20) < 10, codes, np.nan)
    table = label_utilities(fixed("mean"), Views([table, other]), y, criterion="disagreement")
    assert table["sample"][0] == 15
    single = label_utilities(ClassConditionalGaussianMixture(), Views([other]), y, criterion="disagreement")
    assert (single["utility"] == 0.0).all()


@pytest.mark.parametrize("criterion", ["entropy", "margin", "disagreement", "random"])
def test_any_classifier(criterion):
    views, y, _ = problem()
    assert len(label_utilities(ClassConditionalGaussianMixture(), views, y, criterion=criterion)) == 16


def test_costs_of_labels():
    views, y, _ = problem()
    table = label_utilities(fixed(), views, y, costs=4.0)
    np.testing.assert_allclose(table["utility_per_cost"], table["utility"] / 4.0)
    free = label_utilities(fixed(), views, y, costs=Costs())
    assert np.isposinf(free["utility_per_cost"]).all()


def test_all_labeled_leaves_an_empty_table():
    views, _, _ = problem()
    table = label_utilities(fixed(), views, np.arange(24.0) % 2, costs=1.0)
    assert table.empty
    assert list(table.columns) == ["sample", "utility", "cost", "utility_per_cost"]


def test_errors_say_what_to_do():
    views, y, _ = problem()
    with pytest.raises(ValueError, match="criterion must be one of"):
        label_utilities(fixed(), views, y, criterion="variance")
    with pytest.raises(TypeError, match="'entropy', 'margin'"):
        label_utilities(ClassConditionalGaussianMixture(), views, y)
    with pytest.raises(ValueError, match="'mutual_information' or 'random'"):
        label_utilities(BayesianCoTrainingRegressor(), views, y, criterion="entropy")
