"""Utilities of views: one model by several routes, values put in their place and fitted again, odd data."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from coview import Views
from coview.acquisition import Costs, view_utilities
from coview.exceptions import ViewError
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor
from coview.inference import predictive_entropies
from coview.mixture import ClassConditionalGaussianMixture, IncompleteGaussianMixture

from .small_problems import fixed, problem

ALL = ["expected_entropy", "mutual_information", "mutual_information_bound", "variance", "a_optimality", "random"]


def utilities(table):
    return table.set_index(["sample", "view"])["utility"].sort_index()


@pytest.mark.parametrize("criterion", ["mutual_information", "a_optimality"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("over", ["all", "unlabeled"])
def test_features_of_full_rank_say_what_exact_kernels_say(criterion, n_classes, over):
    views, y, _ = problem(n_classes=n_classes)
    model = {"bias_variance": 0.3, "amplitude": 2.0}
    exact, low_rank = (
        view_utilities(fixed(approximation=kind, **model), views, y, criterion=criterion, over=over)
        for kind in ("exact", "low_rank")
    )
    np.testing.assert_allclose(utilities(low_rank), utilities(exact), rtol=1e-7, atol=1e-10)


def with_value(views, tables, sample, view):
    """The same views with one more value."""
    presence = views.presence.copy()
    presence[sample, views.names.index(view)] = True
    return Views(tables, names=views.names, presence=presence)


@pytest.mark.parametrize("latent", ["mean", "consensus"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_expected_entropy_is_about_what_a_fit_with_the_value_leaves(latent, n_classes):
    views, y, tables = problem(n=30, n_labels=9, n_classes=n_classes, seed=3)
    model = fixed(latent, approximation="low_rank", bias_variance=0.5).fit(views, y)
    truth = [
        view_utilities(model, views, y, density=certain(tables, sample, len(np.unique(y[:9]))), n_draws=1)
        for sample in (2, 20)
    ]
    before = entropy_left(model, y)
    for sample, table in zip((2, 20), truth, strict=True):
        for _, row in table[table["sample"] == sample].iterrows():
            after = fixed(latent, approximation="low_rank", bias_variance=0.5)
            after.fit(with_value(views, tables, sample, row["view"]), y)
            assert row["utility"] == pytest.approx(before - entropy_left(after, y), abs=0.02)


def certain(tables, sample, n_classes):
    """A density that knows what one sample holds."""
    means = [[table[sample]] for table in tables]
    covariances = [[1e-14 * np.eye(table.shape[1])] for table in tables]
    classes = np.arange(float(n_classes))
    parts = {c: ([1.0], means, covariances) for c in classes}
    return ClassConditionalGaussianMixture.from_parameters(np.full(n_classes, 1.0 / n_classes), parts)


def entropy_left(model, y):
    unlabeled = np.isnan(y)
    mean, variance = np.atleast_2d(model.latent_mean_.T), np.atleast_2d(model.latent_variance_.T)
    return predictive_entropies(mean[:, unlabeled], variance[:, unlabeled]).sum()


@pytest.mark.parametrize("criterion", ALL)
def test_every_missing_pair_is_there_once_best_first(criterion):
    views, y, _ = problem()
    table = view_utilities(fixed(), views, y, criterion=criterion)
    assert list(table.columns) == ["sample", "view", "utility"]
    missing = {(int(i), views.names[j]) for i, j in np.argwhere(~views.presence)}
    assert set(zip(table["sample"], table["view"], strict=True)) == missing
    assert len(table) == len(missing)
    assert table["utility"].is_monotonic_decreasing
    again = view_utilities(fixed(), views, y, criterion=criterion)
    pd.testing.assert_frame_equal(table, again)


@pytest.mark.parametrize("criterion", [c for c in ALL if c != "mutual_information_bound"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_default_model_is_scored_at_its_best_setting(criterion, n_classes):
    views, y, _ = problem(n=30, n_labels=12, n_classes=n_classes)
    table = view_utilities(BayesianCoTrainingClassifier(n_components=5), views, y, criterion=criterion)
    assert np.isfinite(table["utility"]).all()


@pytest.mark.parametrize("criterion", ["mutual_information", "a_optimality", "variance", "random"])
@pytest.mark.parametrize("parameters", [{}, {"latent": "consensus", "hyperparameters": "fixed"}])
def test_regression(criterion, parameters):
    views, y, _ = problem()
    table = view_utilities(BayesianCoTrainingRegressor("linear", **parameters), views, y, criterion=criterion)
    assert np.isfinite(table["utility"]).all()
    if criterion in ("mutual_information", "a_optimality") and parameters:
        assert (table["utility"] > 0.0).all()


def test_regression_has_no_entropy_of_classes():
    views, y, _ = problem()
    with pytest.raises(ValueError, match="a_optimality"):
        view_utilities(BayesianCoTrainingRegressor(), views, y)


def test_information_never_exceeds_its_bound():
    views, y, _ = problem(seed=4)
    exact = utilities(view_utilities(fixed(), views, y, criterion="mutual_information"))
    bound = utilities(view_utilities(fixed(), views, y, criterion="mutual_information_bound"))
    assert (exact <= bound + 1e-12).all()
    assert (exact > 0.0).all()


def test_a_density_with_its_own_values_per_sample_agrees_with_shared_values():
    views, y, _ = problem(seed=2)
    density = ClassConditionalGaussianMixture(random_state=0).fit(views, y)
    same = IncompleteGaussianMixture.from_parameters(
        density.weights_, density.means_, density.covariances_, view_n_features=views.n_features
    )
    unlabeled = np.flatnonzero(np.isnan(y))
    for criterion in ("mutual_information", "mutual_information_bound", "a_optimality"):
        shared, own = (
            utilities(view_utilities(fixed(), views, y, criterion=criterion, density=d)) for d in (density, same)
        )
        keep = shared.index.get_level_values("sample").isin(unlabeled)
        np.testing.assert_allclose(own[keep], shared[keep], rtol=1e-6)


@pytest.mark.parametrize("density", [ClassConditionalGaussianMixture(), IncompleteGaussianMixture(2, random_state=0)])
def test_a_density_that_is_not_fitted_yet_is_fitted(density):
    views, y, _ = problem()
    table = view_utilities(fixed(), views, y, density=density)
    assert np.isfinite(table["utility"]).all()
    assert not hasattr(density, "weights_")


def test_a_model_of_other_data_is_fitted_again_and_left_alone():
    views, y, _ = problem()
    other, z, _ = problem(seed=9)
    model = fixed().fit(other, z)
    variances = model.latent_variance_.copy()
    got = view_utilities(model, views, y, criterion="mutual_information")
    pd.testing.assert_frame_equal(got, view_utilities(fixed(), views, y, criterion="mutual_information"))
    np.testing.assert_array_equal(model.latent_variance_, variances)


def test_nothing_missing_leaves_an_empty_table():
    _, y, tables = problem()
    table = view_utilities(fixed(), Views(tables), y, costs={"view_0": 3.0})
    assert list(table.columns) == ["sample", "view", "utility", "cost", "utility_per_cost"]
    assert table.empty


def test_nothing_to_predict():
    views, _, _ = problem()
    y = np.arange(24.0) % 2
    with pytest.raises(ValueError, match="unlabeled samples"):
        view_utilities(fixed(), views, y)
    assert len(view_utilities(fixed(), views, y, criterion="mutual_information"))


def test_a_sample_without_views_and_a_view_without_samples():
    _, y, tables = problem()
    presence = problem()[0].presence.copy()
    presence[[3, 20]] = False
    views = Views([*tables, np.zeros((24, 1))], names=["v0", "v1", "new"], presence=np.c_[presence, np.zeros(24, bool)])
    model = BayesianCoTrainingClassifier("linear", hyperparameters="fixed", no_view="prior")
    table = view_utilities(model, views, y)
    assert np.isfinite(table["utility"]).all()
    assert (table.loc[table["view"] == "new", "utility"] == 0.0).all()
    assert (table.loc[(table["sample"] == 20) & (table["view"] != "new"), "utility"] > 0.0).all()
    for approximation in ("exact", "low_rank"):
        model.set_params(latent="consensus", approximation=approximation)
        of_consensus = view_utilities(model, views, y, criterion="mutual_information")
        alone = of_consensus["sample"].isin([3, 20])
        assert np.isposinf(of_consensus.loc[alone & (of_consensus["view"] != "new"), "utility"]).all()
        assert np.isfinite(of_consensus.loc[~alone, "utility"]).all()


def test_of_many_pairs_some_are_scored_labeled_ones_among_them():
    views, y, _ = problem(n=60, n_labels=20)
    table = view_utilities(fixed(), views, y, max_candidates=8)
    scored = table[table["utility"].notna()]
    assert len(scored) == 8
    assert table["utility"].isna().to_numpy()[8:].all()
    assert (scored["sample"] < 20).sum() == 4
    whole = utilities(view_utilities(fixed(), views, y))
    np.testing.assert_allclose(utilities(scored), whole[utilities(scored).index], rtol=1e-9)


def test_what_a_view_costs():
    views, y, _ = problem()
    costs = Costs({"v0": 10.0, "v1": 4.0}, pairs={(5, "v0"): 1.0}, excluded=[(2, "v0"), (2, "v1")])
    table = view_utilities(fixed(), views, y, costs=costs)
    np.testing.assert_allclose(table["utility_per_cost"] * table["cost"], table["utility"])
    assert 2 not in set(table["sample"])
    assert table["utility"].is_monotonic_decreasing


def test_wide_views_have_independent_features():
    rng = np.random.default_rng(0)
    presence = np.array([[True, i % 3 > 0] for i in range(30)])
    views = Views([rng.standard_normal((30, 120)), rng.standard_normal((30, 3))], presence=presence)
    y = np.where(np.arange(30) < 10, np.arange(30) % 2, np.nan)
    assert np.isfinite(view_utilities(BayesianCoTrainingClassifier(), views, y)["utility"]).all()


def test_too_many_features_for_a_density():
    rng = np.random.default_rng(0)
    presence = np.array([[True, i % 3 > 0] for i in range(12)])
    views = Views([rng.standard_normal((12, 5000)), rng.standard_normal((12, 1))], presence=presence)
    y = np.where(np.arange(12) < 6, np.arange(12) % 2, np.nan)
    model = BayesianCoTrainingClassifier("linear", hyperparameters="fixed")
    with pytest.raises(
        ViewError, match=r"5000 features of all views together at most; there are 5001, 5000 of them in .view_0"
    ):
        view_utilities(model, views, y)
    assert len(view_utilities(model, views, y, criterion="variance")) == 4


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"criterion": "entropy"}, ValueError, "criterion must be one of 'expected_entropy'"),
        ({"expectation": "mean"}, ValueError, "expectation"),
        ({"over": "some"}, ValueError, "over"),
        ({"density": "mixture"}, ValueError, "density must be 'auto'"),
        ({"density": LogisticRegression()}, TypeError, "LogisticRegression"),
        ({"costs": {"v2": 3.0}}, ViewError, "did you mean 'v"),
        ({"costs": 3.0}, TypeError, "costs must be"),
        ({"n_draws": 0}, ValueError, "n_draws"),
        ({"max_candidates": 0}, ValueError, "max_candidates"),
    ],
)
def test_errors_say_what_to_do(changes, error, text):
    views, y, _ = problem()
    with pytest.raises(error, match=text):
        view_utilities(fixed(), views, y, **({"criterion": "mutual_information"} | changes))


def test_other_models_have_no_utilities_of_views():
    views, y, _ = problem()
    with pytest.raises(TypeError, match="ClassConditionalGaussianMixture"):
        view_utilities(ClassConditionalGaussianMixture(), views, y)
    assert len(view_utilities(ClassConditionalGaussianMixture(), views, y, criterion="random"))


def test_precomputed_kernels_have_no_values_to_try():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((12, 2))
    presence = np.ones((12, 2), dtype=bool)
    presence[8:, 1] = False
    views = Views([table @ table.T, table], names=["given", "plain"], presence=presence)
    presence = presence.copy()
    presence[2, 0] = False
    views = Views([table @ table.T, table], names=["given", "plain"], presence=presence)
    y = np.where(np.arange(12) < 6, np.arange(12) % 2, np.nan)
    model = BayesianCoTrainingClassifier(["precomputed", "linear"], latent="consensus", hyperparameters="fixed")
    assert len(view_utilities(model, views, y, criterion="variance")) == 5
    with pytest.raises(ViewError, match="kernel values"):
        view_utilities(model, views, y, criterion="mutual_information")
