"""Batches: no near-copies, budgets, costs that are shared; updates against posteriors built anew."""

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process.kernels import RBF

from coview import Views
from coview.acquisition import Costs, select_batch, select_views, view_utilities
from coview.mixture import ClassConditionalGaussianMixture

from .small_problems import fixed, problem
from .test_view_utilities import certain, utilities, with_value

TABLE = pd.DataFrame(
    {
        "sample": list("aabbc"),
        "view": ["x", "y", "x", "y", "x"],
        "utility": [5.0, 4.0, 3.0, np.nan, 1.0],
        "cost": [4.0, 1.0, 3.0, 1.0, 1.0],
        "utility_per_cost": [1.25, 4.0, 1.0, np.nan, 1.0],
    }
)


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, ["ax", "bx", "cx"]),
        ({"per_sample": 2}, ["ax", "ay", "bx"]),
        ({"budget": 5.0}, ["ax", "cx"]),
        ({"by": "utility_per_cost"}, ["ay", "bx", "cx"]),
        ({"n": 9, "per_sample": 9}, ["ax", "ay", "bx", "cx", "by"]),
    ],
)
def test_the_best_rows_of_a_table(changes, wanted):
    batch = select_batch(TABLE, **({"n": 3} | changes))
    assert (batch["sample"] + batch["view"]).tolist() == wanted


def test_a_table_without_costs_has_no_budget():
    plain = TABLE[["sample", "view", "utility"]]
    with pytest.raises(ValueError, match="pass costs"):
        select_batch(plain, 2, budget=3.0)
    with pytest.raises(ValueError, match="Give costs"):
        select_batch(plain, 2, by="utility_per_cost")
    views, y, _ = problem()
    with pytest.raises(ValueError, match="need costs"):
        select_views(fixed(), views, y, 2, budget=3.0)
    with pytest.raises(ValueError, match="by must be"):
        select_views(fixed(), views, y, 2, by="cost")


@pytest.mark.parametrize(
    ("criterion", "model"),
    [
        ("mutual_information", fixed(bias_variance=0.3)),
        ("a_optimality", fixed(bias_variance=0.3)),
        ("mutual_information", fixed("mean", approximation="low_rank")),
        ("expected_entropy", fixed("mean", approximation="low_rank")),
        ("expected_entropy", fixed(approximation="low_rank", bias_variance=0.5)),
    ],
)
def test_the_second_choice_is_scored_on_the_posterior_with_the_first(criterion, model):
    """Values are certain, so that what is taken is what comes back; in a view that the other candidates do not need."""
    views, y, tables = problem(seed=3)
    density = everything_certain(tables, views)
    batch = select_views(model, views, y, 2, criterion=criterion, density=density)
    assert len(set(batch["sample"])) == 2
    first = view_utilities(model, views, y, criterion=criterion, density=density)
    assert batch["utility"][0] == pytest.approx(first["utility"][0])
    assert (batch["sample"][0], batch["view"][0]) == (first["sample"][0], first["view"][0])


def everything_certain(tables, views):
    """One narrow component per class at the mean of the class: the value taken is nearly certain."""
    del views
    return certain([np.broadcast_to(table.mean(axis=0), table.shape) for table in tables], 0, 2)


@pytest.mark.parametrize("latent", ["mean", "consensus"])
def test_taking_a_value_gives_the_posterior_of_a_fit_with_it(latent):
    """On features: utilities after the first choice are those of the model fitted again with the value."""
    views, y, tables = problem(seed=3)
    model = fixed(latent, approximation="low_rank", bias_variance=0.5)
    means = everything_certain(tables, views)
    batch = select_views(model, views, y, 2, criterion="expected_entropy", density=means, n_draws=1)
    sample, view = batch["sample"][0], batch["view"][0]
    filled = [table.copy() for table in tables]
    filled[views.names.index(view)][sample] = tables[views.names.index(view)].mean(axis=0)
    again = with_value(views, filled, sample, view)
    then = utilities(view_utilities(model, again, y, density=means, n_draws=1))
    # features of the refitted model span the new value too; here the kernels are linear and the spans alike
    assert batch["utility"][1] == pytest.approx(then[batch["sample"][1], batch["view"][1]], rel=1e-5, abs=1e-8)


def test_what_is_chosen_already_is_not_told_twice():
    """Copies in every view: once one is measured the other tells less; a far sample tells what it did."""
    a = np.repeat([-3.0, 3.0], 6)[:, None] * np.ones((12, 1))
    presence = np.ones((12, 2), dtype=bool)
    presence[[0, 1, 6], 1] = False
    y = np.full(12, np.nan)
    y[[5, 11]] = [0.0, 1.0]
    views = Views([a, a], presence=presence)
    model = fixed(kernel=[RBF(0.5), RBF(0.5)], view_variances=[0.1, 0.1])
    alone = utilities(view_utilities(model, views, y, criterion="mutual_information"))
    batch = select_views(model, views, y, 3, criterion="mutual_information").set_index("sample")["utility"]
    first, second = (s for s in batch.index if s < 2)
    assert batch[first] == pytest.approx(alone[first].iloc[0])
    assert batch[second] < 0.999 * alone[second].iloc[0]
    assert batch[6] == pytest.approx(alone[6].iloc[0], rel=1e-3)


def test_groups_are_paid_once_and_the_budget_holds():
    views, y, tables = problem(n=20, n_labels=6, widths=(1, 2, 1, 1), seed=5)
    presence = views.presence.copy()
    presence[:, 2:] = np.arange(20)[:, None] < 8
    presence[:, 0] = True
    views = Views(tables, names=views.names, presence=presence)
    model = fixed(kernel="linear", view_variances=0.5)
    costs = Costs({"v1": 20.0, "v2": 1.0, "v3": 1.0}, groups={"visit": (["v2", "v3"], 5.0)})
    table = select_views(
        model,
        views,
        y,
        40,
        criterion="mutual_information",
        per_sample=2,
        costs=costs,
        budget=30.0,
        by="utility_per_cost",
    )
    assert table["cost"].sum() <= 30.0
    both = table[table.duplicated("sample", keep=False) & (table["view"] != "v1")]
    assert len(both)
    assert sorted(both.groupby("sample")["cost"].sum().unique()) == [7.0]
    assert table.groupby("sample").size().max() <= 2


def test_nothing_is_left():
    _, y, tables = problem()
    assert select_views(fixed(), Views(tables), y, 3, criterion="variance").empty


def test_random_and_variance_are_ranked_once():
    views, y, _ = problem()
    for criterion in ("random", "variance", "mutual_information_bound"):
        batch = select_views(fixed(), views, y, 4, criterion=criterion, density=ClassConditionalGaussianMixture())
        assert batch["utility"].is_monotonic_decreasing
        assert batch["sample"].nunique() == 4


def test_among_measurements_that_cost_nothing_the_largest_utility_comes_first():
    views, y, _ = problem()
    table = view_utilities(fixed(), views, y, criterion="variance")
    free = dict.fromkeys(views, 0.0)
    batch = select_views(fixed(), views, y, 3, criterion="variance", costs=free, by="utility_per_cost", per_sample=9)
    np.testing.assert_allclose(batch["utility"], table["utility"].head(3), rtol=1e-12)
