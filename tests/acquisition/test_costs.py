"""Costs: per view, per pair, of groups paid once per sample; from tables; errors."""

import numpy as np
import pandas as pd
import pytest

from coview.acquisition import Costs
from coview.acquisition._accounts import Account
from coview.exceptions import ViewError

NAMES = ["mri", "genes", "blood"]


def of(costs, sample, view, has=(False, False, False), names=NAMES):
    """What a view of a sample costs alone."""
    samples = list(dict.fromkeys([sample, *(other for other, _ in [*costs.pairs, *costs.excluded])]))
    presence = np.zeros((len(samples), len(names)), dtype=bool)
    presence[0] = has
    return Account.of(costs, np.array(samples), names, presence).price(0, names.index(view))


def test_groups_are_paid_once_per_sample_and_may_overlap():
    costs = Costs({"mri": 9.0}, groups={"visit": (["mri", "genes"], 5.0), "needle": (["genes", "blood"], 2.0)})
    assert of(costs, "p", "mri") == 14.0
    assert of(costs, "p", "genes") == 7.0
    assert of(costs, "p", "genes", (True, False, False)) == 2.0
    assert of(costs, "p", "genes", (True, False, True)) == 0.0
    assert of(costs, "p", "blood", (True, True, False)) == 0.0


def test_a_price_of_a_pair_replaces_that_of_its_view():
    costs = Costs.of({"mri": 9.0, ("p2", "mri"): 1.5, ("p3", "mri"): "impossible"})
    assert (of(costs, "p1", "mri"), of(costs, "p2", "mri"), of(costs, "p1", "genes")) == (9.0, 1.5, 0.0)
    assert costs.allowed(["p2", "p3", "p3"], ["mri", "mri", "genes"]).tolist() == [True, False, True]


def test_a_table_says_the_same():
    table = pd.DataFrame(
        {
            "sample": [None, None, "p2", "p3"],
            "view": ["mri", "genes", "mri", "mri"],
            "cost": [9.0, 3.0, "1.5", "impossible"],
            "group": ["visit", "visit", None, None],
            "group_cost": [5.0, np.nan, np.nan, np.nan],
        }
    )
    costs = Costs.of(table)
    assert (of(costs, "p1", "mri"), of(costs, "p2", "mri"), of(costs, "p1", "genes")) == (14.0, 6.5, 8.0)
    assert not costs.allowed(["p3"], ["mri"])[0]
    assert Costs.of(costs) is costs
    assert Costs.of(None) is None


def test_positions_and_their_text_are_the_same_sample():
    costs = Costs(pairs={(3, "mri"): 2.0}, excluded=[("4", "mri")])
    assert of(costs, "3", "mri") == 2.0
    assert not costs.allowed([4], ["mri"])[0]
    costs.check(NAMES, range(5))


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Costs({"mri": -1.0}), ValueError, "mri is -1.0"),
        (lambda: Costs({"mri": np.nan}), ValueError, "finite"),
        (lambda: Costs(groups={"visit": (["mri"], np.inf)}), ValueError, "group 'visit'"),
        (lambda: Costs.of({"mri": "dear"}), ValueError, "'mri' must be a number"),
        (lambda: Costs.of(pd.DataFrame({"view": ["mri"]})), ValueError, "columns view and cost"),
        (
            lambda: Costs.of(pd.DataFrame({"view": ["mri"], "cost": [1.0], "group": ["visit"]})),
            ValueError,
            "group_cost",
        ),
        (lambda: Costs.of([1.0]), TypeError, "costs must be"),
        (lambda: Costs({"gene": 1.0}).check(NAMES, ["p1"]), ViewError, "'gene' .did you mean 'genes'"),
        (lambda: Costs(groups={"g": (["bloods"], 1.0)}).check(NAMES, ["p1"]), ViewError, "'blood'"),
        (lambda: Costs(excluded=[("p11", "mri")]).check(NAMES, ["p1", "q7"]), ViewError, "'p11' .did you mean 'p1'"),
    ],
)
def test_errors_name_what_is_wrong(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_a_view_costs_the_sum_of_its_features_and_a_shared_part_once():
    table = pd.DataFrame(
        {
            "view": ["blood", "blood", "exercise", "exercise", "thallium", "ecg"],
            "feature": ["chol", "fbs", "thalach", "slope", "thal", "restecg"],
            "cost": [7.25, 5.25, 102.0, 87.0, 103.0, 15.5],
            "group": ["draw", "draw", "session", "test", "session", None],
            "group_cost": [2.25, 2.25, 101.0, 86.0, 101.0, None],
        }
    )
    costs = Costs.of(table)
    assert costs.views == {"blood": 8.0, "exercise": 2.0, "thallium": 2.0, "ecg": 15.5}
    assert costs.groups == {
        "draw": (["blood"], 2.25),
        "session": (["exercise", "thallium"], 101.0),
        "test": (["exercise"], 86.0),
    }
    names = ["blood", "exercise", "thallium", "ecg"]
    alone = [of(costs, "p", view, [False] * 4, names) for view in ("blood", "exercise", "thallium")]
    assert alone == [10.25, 189.0, 103.0]
    assert of(costs, "p", "thallium", [False, True, False, False], names) == 2.0
    pair = pd.DataFrame({"sample": ["p", "q"], "view": ["ecg", "ecg"], "cost": ["impossible", 3.0]})
    both = Costs.of(pd.concat([table, pair], ignore_index=True))
    assert (both.views, both.groups, both.pairs) == (costs.views, costs.groups, {("q", "ecg"): 3.0})
    assert both.excluded == {("p", "ecg")}
    with pytest.raises(ValueError, match=r"'chol'.*, 7.25, must contain the 9 that it shares"):
        Costs.of(table.assign(group_cost=9.0))
    with pytest.raises(ValueError, match="leave feature empty"):
        Costs.of(table.assign(sample="p1"))
