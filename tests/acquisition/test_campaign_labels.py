"""Labels in campaigns: suggested, booked, returned, closed like views; one ranking with views; costs, undo, files."""

import numpy as np
import pytest

from coview.acquisition import Campaign, ConflictError, Costs, label_utilities, query_utilities
from coview.gaussian_process import BayesianCoTrainingRegressor

from .campaign_problem import COSTS, LABELS, campaign, model, tables, views

pytestmark = pytest.mark.filterwarnings("ignore:View .* is outside what was seen")


def places(table):
    """What a table asks for, in its order."""
    return list(zip(table["sample"], table["view"], strict=True))


@pytest.mark.parametrize("criterion", ["mutual_information", "entropy", "margin", "disagreement"])
def test_labels_are_asked_as_label_utilities_rank_them(criterion):
    held = campaign(criterion="variance")
    table = held.ask(5, kind="labels", criterion=criterion)
    expected = label_utilities(model(), views(), LABELS, criterion=criterion, costs=COSTS).set_index("sample")
    assert table["query"].tolist() == ["label"] * 3
    assert sorted(table["sample"]) == ["p2", "p4", "p6"]
    assert table["view"].tolist() == [None] * 3
    alone = expected.loc[table["sample"], "utility"].to_numpy()
    if criterion == "mutual_information":  # a batch knows what it holds already
        np.testing.assert_allclose(table["utility"][0], alone.max(), rtol=1e-12)
        assert (table["utility"] <= alone + 1e-12).all()
    else:
        np.testing.assert_allclose(table["utility"], alone, rtol=1e-12)
    assert table["utility"].is_monotonic_decreasing
    assert table["cumulative_cost"].tolist() == [1.0, 2.0, 3.0]


def test_both_are_one_ranking_in_nats_per_cost():
    held = campaign(criterion="expected_entropy")
    expected = query_utilities(model(), views(), LABELS, costs=COSTS)
    table = held.ask(1, kind="both")
    first = expected.iloc[0]
    assert table["query"][0] == first["query"]
    np.testing.assert_allclose(table["utility_per_cost"][0], first["utility_per_cost"], rtol=1e-3)
    whole = held.ask(50, 9, kind="both")
    assert len(whole) == len(expected)
    assert whole["query"].value_counts().to_dict() == expected["query"].value_counts().to_dict()
    by_utility = held.ask(50, 9, kind="both", by="utility")
    assert by_utility["utility"].is_monotonic_decreasing
    known = {(row.sample, row.view if row.query == "view" else None): row.utility for row in expected.itertuples()}
    for row in by_utility.itertuples():  # other random numbers
        np.testing.assert_allclose(row.utility, known[row.sample, row.view], rtol=1e-3)
    assert "query" not in held.ask().columns


def test_without_costs_both_are_ranked_by_utility():
    held = Campaign(model(), views(), LABELS)
    table = held.ask(20, 9, kind="both")
    assert table["utility"].is_monotonic_decreasing
    assert set(table["query"]) == {"view", "label"}
    assert table.columns.tolist() == ["query", "sample", "view", "utility"]


def test_regression_asks_for_labels_too():
    held = Campaign(BayesianCoTrainingRegressor(), views(), [1.5, None, 2, None, 3, None], criterion="variance")
    assert set(held.ask(9, 9, kind="both")["query"]) == {"view", "label"}
    with pytest.raises(ValueError, match="'entropy' is of classes"):
        held.ask(kind="labels", criterion="entropy")


def test_booked_labels_are_not_suggested_and_cannot_be_booked_twice(tmp_path):
    with campaign(tmp_path / "c", criterion="variance") as held, Campaign.open(tmp_path / "c") as other:
        first = held.ask(2, kind="labels")
        assert held.book(first["sample"][0])
        assert held.book(first["sample"][1], first["view"][1])
        assert held.orders["sample"].tolist() == first["sample"].tolist()
        assert held.orders["view"].isna().all()
        np.testing.assert_array_equal(held.orders["utility"], first["utility"])
        assert other.ask(9, kind="labels")["sample"].tolist() == list({"p2", "p4", "p6"} - set(first["sample"]))
        with pytest.raises(
            ConflictError, match=rf"The label of sample '{first['sample'][0]}' is booked since .* already"
        ):
            other.book(first["sample"][0])
        assert other.status()["labels"]["booked"] == 2
        assert other.status()["booked"] == 0
        assert other.status()["ordered"] == 2.0
        assert not set(places(other.ask(50, 9, kind="both"))) & {(sample, None) for sample in first["sample"]}
    with pytest.raises(
        ConflictError, match="The label of sample 'p1' is known from the start; there is nothing to order"
    ):
        campaign().book("p1")


@pytest.mark.parametrize("kind", [np.int64, np.str_, np.bool_, np.float64])
def test_labels_of_numpy_and_told_ones_are_of_one_type(kind, tmp_path):
    y = np.array([kind(1), None, kind(0), None, kind(1), None], dtype=object)
    with Campaign(model(), views(), y, criterion="random", path=tmp_path / "c") as held:
        held.tell("p2", label=kind(1).item())
        held.tell("p4", label=kind(0))
        assert set(held.model.classes_.tolist()) == {kind(0).item(), kind(1).item()}
        with Campaign.open(tmp_path / "c") as again:
            assert again.y.tolist() == held.y.tolist() == [kind(c).item() for c in (1, 1, 0, 0, 1)] + [None]
            assert again.model.classes_.tolist() == held.model.classes_.tolist()


def test_closing_a_label():
    held = campaign()
    held.book("p2")
    assert held.close("p2", None, "declined", reason="moved away")
    assert not held.close("p2", None, "declined")
    assert held.status()["spent"] == 0.0
    assert "p2" not in held.ask(9, kind="labels")["sample"].tolist()
    with pytest.raises(ConflictError, match=r"The label of sample 'p2' was closed as declined.*Book it again"):
        held.tell("p2", label="ill")
    with pytest.raises(ConflictError, match="told failed"):
        held.close("p2", None, "failed")
    held.book("p2")
    assert held.close("p2", None)
    assert held.status()["spent"] == 1.0  # what failed is paid
    held.book("p2")
    assert held.tell("p2", label="ill")
    assert held.status()["spent"] == 2.0
    with pytest.raises(
        ConflictError, match=r"The label of sample 'p2' is known since .*; it cannot be closed as failed"
    ):
        held.close("p2", None)
    held.close("p4", None, "impossible")
    with pytest.raises(ConflictError, match=r"closed as impossible.*undo\(\)"):
        held.book("p4")
    assert held.status()["labels"] == {
        "open": 1,
        "suggested": 1,  # the other one
        "booked": 0,
        "returned": 1,
        "closed": {"failed": 0, "declined": 0, "impossible": 1},
    }
    assert held.status()["closed"] == {"failed": 0, "declined": 0, "impossible": 0}


def test_undo_and_history_of_labels(tmp_path):
    with campaign(tmp_path / "c") as held:
        held.book("p2")
        held.tell("p2", label="ill")
        held.close("p4", None, "impossible")
        assert (undone := held.undo())["action"] == "closed"
        assert undone["sample"] == "p4"
        assert held.undo()["label"] == "ill"
        assert held.status()["labels"]["booked"] == 1
        with Campaign.open(tmp_path / "c") as again:
            assert again.undo()["action"] == "booked"
            history = again.history
        assert history["action"].tolist() == ["booked", "labeled", "closed", "undone", "undone", "undone"]
        assert history["undone"].tolist() == [True] * 3 + [False] * 3
        assert history["view"].isna().all()
        assert held.status()["labels"]["open"] == 3


def test_budget_and_remarks_of_labels():
    held = campaign(budget=2.5, costs=Costs(label=1.0, views={"mri": 9.0, "lab": 9.0, "genes": 9.0}))
    table = held.ask(9, kind="labels")
    assert len(table) == 2
    assert held.status()["labels"]["suggested"] == 2
    for sample in table["sample"]:
        held.book(sample)
    assert held.ask(9, kind="labels").empty
    assert "the cheapest of the 1 open labels costs 1." in held.status()["remark"]
    assert held.ask(9, kind="both").empty
    assert "measurements and labels costs 1." in held.status()["remark"]
    last = ({"p2", "p4", "p6"} - set(table["sample"])).pop()
    with pytest.raises(ValueError, match=rf"The label of sample '{last}' costs 1, and of the budget 0.5 are left"):
        held.book(last)
    free = campaign()
    for sample in ("p2", "p4", "p6"):
        free.tell(sample, label="ill")
    assert free.ask(kind="labels").empty
    assert free.status()["remark"] == "No label is open: all are known, booked or closed."


def test_views_and_labels_of_one_sample_count_together():
    both = campaign(criterion="variance").ask(50, kind="both")
    assert both["sample"].is_unique
    complete = tables()
    held = campaign()
    while len(table := held.ask(3, 2, kind="both")):
        for sample, view in places(table):
            told = {"label": "ill"} if view is None else {"view": view, "values": complete[view].loc[sample]}
            held.tell(sample, **told)
    assert held.labeled.all()
    assert "Nothing is open" in held.status()["remark"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "label"}, "kind must be one of 'views', 'labels', 'both'; got 'label'"),
        ({"kind": "labels", "criterion": "variance"}, "criterion must be one of 'mutual_information', 'entropy'"),
        ({"kind": "both", "criterion": "expected_entropy"}, "'mutual_information', 'random' where both are asked"),
        ({"kind": "views", "criterion": "margin"}, "where views are asked; got 'margin'"),
        ({"kind": "labels", "look_ahead": 1}, "look_ahead is for views"),
        ({"max_candidates": 0}, "max_candidates must be at least 1"),
        ({"max_candidates": "few"}, "max_candidates must be 'auto', a number or None"),
    ],
)
def test_requests_are_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        campaign().ask(**arguments)


def test_chance_needs_no_model(monkeypatch):
    held = campaign()
    monkeypatch.setattr(type(held), "model", property(lambda self: pytest.fail("the model was asked for")))
    for kind in ("views", "labels", "both"):
        assert len(held.ask(2, kind=kind)) == 2
        assert held.ask(2, kind=kind).equals(held.ask(2, kind=kind))
