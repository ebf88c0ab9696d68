"""Simulated campaigns: paired starts, true values revealed, money counted, tests against a reference."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.metrics import roc_auc_score

from coview import Views
from coview.acquisition import Costs, Simulation, simulate
from coview.compose import ConcatenateViews
from coview.datasets import make_two_gaussian_views
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor
from coview.mixture import IncompleteGaussianMixture
from coview.model_selection import TransductivePipeline

MODEL = BayesianCoTrainingClassifier("rbf", latent="consensus", hyperparameters="fixed")
COSTS = Costs({"x1": 2.0, "x2": 3.0}, groups={"visit": (["x1", "x2"], 10.0)})


@pytest.fixture(scope="module")
def problem():
    return make_two_gaussian_views(n_samples=40, random_state=0)


def run(problem, **changes):
    settings = {"criteria": ["variance", "random"], "n_steps": 3, "repeats": 2, "scorer": "roc_auc", "n_labeled": 6}
    return simulate(MODEL, *problem, **{**settings, **changes})


def test_criteria_start_from_the_same_and_do_not_depend_on_each_other(problem):
    both = run(problem).curves
    first = both[both["step"] == 0].pivot_table(index="repeat", columns="criterion", values="roc_auc")
    assert_allclose(first["variance"], first["random"], rtol=0)
    alone = run(problem, criteria=["variance"], n_jobs=2).curves
    pd.testing.assert_frame_equal(alone, both[both["criterion"] == "variance"].reset_index(drop=True))


def test_everything_revealed_scores_as_everything_known(problem):
    result = run(problem, n_steps=40, batch_size=2, per_sample=2)
    last = result.curves.groupby(["criterion", "repeat"]).last()
    for criterion in ("variance", "random"):
        assert_allclose(last.loc[criterion, "roc_auc"], result.everything["roc_auc"], rtol=1e-10)
    assert last["n_measured"].nunique() <= 2  # as many as were hidden, in each repeat


def test_reveals_true_values_of_known_pairs_only(problem):
    views, y = problem
    blocks = {name: np.array(views[name]) for name in views}
    blocks["x1"][:5] = np.nan
    seen = []

    class Watching(BayesianCoTrainingClassifier):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X, y)

    model = Watching("rbf", latent="consensus", hyperparameters="fixed")
    simulate(model, blocks, y, criteria=["random"], n_steps=30, repeats=1, scorer="accuracy", n_labeled=6)
    for shown in seen:
        assert not shown.presence[:5, 0].any()
        for name in shown:
            assert_allclose(shown[name], blocks[name][shown.rows(name)], rtol=0)
    counts = [int(shown.presence.sum()) for shown in seen]
    assert counts[0] < counts[1]
    assert seen[0].presence.any(axis=1).all()


def test_money_is_counted_once_per_visit_and_kept_to(problem):
    # all samples have one of two views, so that the visit is paid
    hidden = np.zeros((40, 2), dtype=bool)
    hidden[:20, 0] = hidden[20:, 1] = True
    result = run(problem, costs=COSTS, hidden=hidden, budget=7.5, n_steps=10)
    spent = result.curves.groupby(["criterion", "repeat"])["cost"].last()
    assert (spent <= 7.5).all()
    assert (spent >= 4.0).all()
    steps = result.curves.groupby(["criterion", "repeat"])["cost"].diff().dropna()
    assert set(steps) <= {2.0, 3.0}


def test_scores_by_hand(problem):
    views, y = problem
    labeled = np.zeros(40, dtype=bool)
    labeled[[0, 1, 2, 37, 38, 39]] = True
    hidden = np.zeros((40, 2), dtype=bool)
    hidden[3:10, 1] = True
    result = run(problem, hidden=hidden, n_labeled=lambda rng, y: labeled, repeats=1, n_steps=1)
    blocks = {name: np.array(views[name]) for name in views}
    blocks["x2"][3:10] = np.nan
    model = BayesianCoTrainingClassifier("rbf", latent="consensus", hyperparameters="fixed")
    model.fit(blocks, np.where(labeled, y, None))
    expected = roc_auc_score(y[~labeled], model.label_distributions_[~labeled, 1])
    assert_allclose(result.start["roc_auc"], expected, rtol=1e-12)


def test_shares_and_views_that_are_always_seen(problem):
    presence = []

    def hidden(rng, views, y):
        mask = rng.uniform(size=views.presence.shape) < [0.0, 0.5]
        presence.append(mask)
        return mask

    run(problem, hidden=hidden, repeats=2, n_steps=1, criteria=["random"])
    assert len(presence) == 2
    assert (presence[0] != presence[1]).any()
    result = run(problem, hidden={"x2": 1.0}, n_steps=50, per_sample=2, criteria=["random"])
    assert (result.curves.groupby("repeat")["n_measured"].last() == 40).all()
    kept = run(problem, hidden=1.0, always_seen=["x1"], n_steps=50, criteria=["random"])
    assert (kept.curves.groupby("repeat")["n_measured"].last() == 40).all()


def test_batches_of_greedy_choice_and_several_scores(problem):
    plans = {"greedy": {"criterion": "mutual_information", "greedy": True}, "random": {}}
    scorer = {"auc": "roc_auc", "log loss": "neg_log_loss", "own": lambda model, X, y: len(X)}
    curves = run(problem, criteria=plans, scorer=scorer, batch_size=4, repeats=1).curves
    assert (curves["n_measured"] == 4 * curves["step"]).all()
    assert (curves["own"] == 34).all()
    assert (curves["log loss"] < 0).all()


def test_looking_ahead_is_greedy_and_needs_a_criterion_that_updates(problem):
    plans = {
        name: {"criterion": "mutual_information", "shortlist": 4, **options}
        for name, options in (("ahead", {"look_ahead": 1}), ("greedy too", {"look_ahead": 1, "greedy": True}))
    }
    curves = run(problem, criteria=plans, repeats=1, batch_size=2, n_steps=2).curves
    first, second = (curves[curves["criterion"] == name].drop(columns="criterion") for name in plans)
    assert first["n_measured"].tolist() == [0, 2, 4]
    assert second["n_measured"].tolist() == [0, 2, 4]
    with pytest.raises(ValueError, match="look_ahead needs a criterion"):
        run(problem, criteria={"variance": {"look_ahead": 1}})


def test_regression_and_any_estimator_by_chance(problem):
    views, y = problem
    model = BayesianCoTrainingRegressor("rbf", latent="consensus", hyperparameters="fixed", noise_variance=0.1)
    values = np.asarray(views["x1"])[:, 0]
    result = simulate(model, views, values, criteria=["variance"], n_steps=2, repeats=1, scorer="r2", n_labeled=0.3)
    assert (result.curves["r2"] > 0.0).all()
    plain = TransductivePipeline(ConcatenateViews(), DummyClassifier())
    chance = simulate(plain, views, y, criteria=["random"], n_steps=1, repeats=1, scorer="accuracy", hidden=0.0)
    assert len(chance.curves) == 1  # nothing is hidden, nothing can be asked


def test_gain_is_the_paired_t_test_of_mean_curves():
    rng = np.random.default_rng(0)
    rows = [
        (repeat, name, step, step, 10.0 * step, rng.normal() + (name == "good"))
        for repeat in range(8)
        for name in ("random", "good")
        for step in range(4)
    ]
    result = Simulation(pd.DataFrame(rows, columns=["repeat", "criterion", "step", "n_measured", "cost", "auc"]))
    found = result.against().iloc[0]
    wide = result.curves[result.curves["step"] > 0].pivot_table(index="repeat", columns="criterion", values="auc")
    expected = stats.ttest_rel(wide["good"], wide["random"])
    assert_allclose([found["t"], found["p"]], [expected.statistic, expected.pvalue], rtol=1e-10)
    assert_allclose(found["gain"], (wide["good"] - wide["random"]).mean(), rtol=1e-10)
    by_cost = result.summary("auc", along="cost")
    assert_allclose(by_cost["cost"].unique()[[0, -1]], [0.0, 30.0])
    by_number = result.summary("auc").set_index(["criterion", "n_measured"])["mean"]
    last = by_cost.set_index(["criterion", "cost"])["mean"]
    assert_allclose(last[("good", 30.0)], by_number[("good", 3)], rtol=1e-12)
    assert_allclose(last[("good", 28.5)], by_number[("good", 2)], rtol=1e-12)  # the third is not paid yet


def test_curves_that_agree_are_no_evidence():
    rows = [(r, name, s, s, s, 0.5) for r in range(3) for name in ("random", "same") for s in range(3)]
    found = Simulation(
        pd.DataFrame(rows, columns=["repeat", "criterion", "step", "n_measured", "cost", "auc"])
    ).against()
    assert found["p"].iloc[0] == 1.0
    assert np.isnan(found["first_significant_step"].iloc[0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"criteria": ["best"]}, "must be one of"),
        ({"criteria": {"mine": {"colour": "red"}}}, "colour"),
        ({"by": "utility_per_cost"}, "with costs"),
        ({"budget": 3.0}, "needs costs"),
        ({"n_steps": 0}, "n_steps must be at least 1"),
        ({"hidden": 1.5}, "shares from 0 to 1"),
        ({"hidden": {"x9": 0.5}}, "shares from 0 to 1"),
        ({"hidden": np.zeros((3, 2), dtype=bool)}, r"boolean array of shape \(40, 2\)"),
        ({"always_seen": ["x9"]}, "always_seen names 'x9'"),
        ({"n_labeled": 40}, "n_labeled"),
        ({"n_labeled": lambda rng, y: np.ones(40, dtype=bool)}, "No label is left"),
        ({"costs": {"x9": 1.0}}, "x9"),
    ],
)
def test_bad_input(problem, changes, message):
    with pytest.raises(ValueError, match=message):
        run(problem, **changes)


def test_ids_and_views_survive(problem):
    views, y = problem
    names = [f"p{i}" for i in range(40)]
    frames = {name: pd.DataFrame(np.array(views[name]), index=names) for name in views}
    named = simulate(
        MODEL, Views(frames), pd.Series(y, index=names), n_steps=1, repeats=1, scorer="accuracy", criteria=["variance"]
    )
    plain = simulate(MODEL, views, y, n_steps=1, repeats=1, scorer="accuracy", criteria=["variance"])
    assert_allclose(named.curves["accuracy"], plain.curves["accuracy"], rtol=1e-10)


def test_random_choice_does_not_look_at_costs_unless_told(problem):
    costs = {"x1": 1.0, "x2": 50.0}
    plain = run(problem, criteria=["random"], costs=costs, n_steps=6).curves
    ranked = run(problem, criteria=["random"], costs=costs, n_steps=6, by="utility_per_cost").curves
    pd.testing.assert_frame_equal(plain, ranked)
    cheap = {"random": {"criterion": "random", "by": "utility_per_cost"}}
    assert run(problem, criteria=cheap, costs=costs, n_steps=6).curves["cost"].max() < plain["cost"].max()


@pytest.mark.parametrize("density", ["auto", IncompleteGaussianMixture("auto", max_components=2, random_state=0)])
def test_densities_that_go_on_choose_nearly_as_those_fitted_anew(problem, density, monkeypatch):
    """Most of what is measured is the same, and the same repeated."""
    going_on = run(problem, criteria=["expected_entropy"], n_steps=5, density=density).curves
    again = run(problem, criteria=["expected_entropy"], n_steps=5, density=density).curves
    pd.testing.assert_frame_equal(going_on, again)
    monkeypatch.setattr("coview.acquisition._densities._GROWTH", 0.0)
    anew = run(problem, criteria=["expected_entropy"], n_steps=5, density=density).curves
    assert_allclose(going_on["roc_auc"], anew["roc_auc"], atol=0.1)


def test_single_steps_follow_utility_per_cost_also_where_batches_would_be_greedy(problem):
    options = {"criterion": "mutual_information", "by": "utility_per_cost"}
    curves = {}
    for greedy in (False, True):
        result = run(problem, criteria={"mine": {**options, "greedy": greedy}}, costs=COSTS, batch_size=1, repeats=1)
        curves[greedy] = result.curves
    pd.testing.assert_frame_equal(curves[False], curves[True])
