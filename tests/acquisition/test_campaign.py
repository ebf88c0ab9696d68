"""Campaigns: what may follow what, what is refused and how it is said, files."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from coview import Views
from coview.acquisition import Campaign, ConflictError, Costs, select_views
from coview.exceptions import ViewError
from coview.gaussian_process import BayesianCoTrainingRegressor
from coview.storage import Project, ProjectFileError

from .campaign_problem import COSTS, LABELS, PRESENCE, SAMPLES, VIEWS, campaign, model, tables, views

pytestmark = pytest.mark.filterwarnings("ignore:View .* is outside what was seen")


@pytest.mark.parametrize("criterion", ["variance", "mutual_information", "expected_entropy"])
def test_it_asks_for_what_view_utilities_ranks_first_on_what_is_known(criterion, tmp_path):
    with campaign(tmp_path / "c.covw", criterion=criterion, random_state=1) as held:
        complete = tables()
        for _ in range(3):
            asked = held.ask(4, per_sample=3)
            expected = select_views(model(), held.views, held.y, 4, criterion=criterion, costs=COSTS, per_sample=3)
            # other random numbers
            np.testing.assert_allclose(asked["utility"], expected["utility"], rtol=0.1, atol=1e-3)
            np.testing.assert_allclose(asked["utility"][0], held.ask()["utility"][0], rtol=1e-12)
            pd.testing.assert_frame_equal(asked, held.ask(4, per_sample=3))
            sample, view = asked.loc[0, ["sample", "view"]]
            assert held.tell(sample, view=view, values=complete[view].loc[sample])
            assert held.views.presence[SAMPLES.index(sample), VIEWS.index(view)]
        assert held.model.predict_proba(held.views).shape == (6, 2)
        with Campaign.open(tmp_path / "c.covw") as again:
            pd.testing.assert_frame_equal(again.ask(4), held.ask(4))
            assert again.views == held.views
            assert again.y.tolist() == held.y.tolist()


def test_a_batch_knows_what_is_chosen_and_what_is_on_its_way():
    """Two samples that are copies of each other: once one is chosen, or booked, the other has less to tell."""
    a = np.array([[0.0], [0.1], [2.0], [2.2], [2.2]])
    b = np.array([[0.1], [0.2], [1.9], [np.nan], [np.nan]])
    labels = ["no", None, "yes", None, None]
    held = Campaign(model(), {"a": a, "b": b}, labels, criterion="mutual_information")
    first, second = held.ask(2)["utility"]
    assert second < 0.95 * first
    pair = held.ask().iloc[0]
    held.book(pair["sample"], pair["view"])
    np.testing.assert_allclose(held.ask()["utility"][0], second, rtol=1e-10)


def test_a_batch_keeps_to_the_budget_and_pays_a_group_once():
    held = campaign(criterion="mutual_information", budget=80.0)
    batch = held.ask(5, per_sample=2)
    assert batch["cumulative_cost"].iloc[-1] <= 80.0
    np.testing.assert_allclose(batch["cumulative_cost"], batch["cost"].cumsum())
    for sample, view in zip(batch["sample"], batch["view"], strict=True):
        held.book(sample, view)
    np.testing.assert_allclose(held.status()["ordered"], batch["cost"].sum())


def test_all_told_values_give_the_complete_views():
    held, complete = campaign(), tables()
    while len(table := held.ask(2)):
        for sample, view in zip(table["sample"], table["view"], strict=True):
            held.tell(sample, view=view, values=complete[view].loc[sample].to_dict())
    presence = np.ones((6, 3), dtype=bool)
    presence[5, 0] = False
    assert held.views == Views(complete, presence=presence)
    assert "No measurement is open" in held.status()["remark"]
    spent = 100 * 3 - 30 + 10 * 3 + 50 * 3 + 5 * 1  # p1, p2, p4, p5 and p6 have had their visit
    assert held.status()["spent"] == spent == held.history["cost"].sum()


def test_booked_pairs_are_not_suggested_and_cannot_be_booked_twice():
    held = campaign()
    first = held.ask(3)
    assert first["sample"].is_unique
    assert held.book(first["sample"][0], first["view"][0])
    assert held.status()["suggested"] == 2
    assert held.orders[["sample", "view"]].to_numpy().tolist() == [[first["sample"][0], first["view"][0]]]
    assert held.orders["utility"][0] == first["utility"][0]
    second = held.ask(30, per_sample=3)
    assert len(second) == 8  # of 10 missing, one is excluded
    assert not ((second["sample"] == first["sample"][0]) & (second["view"] == first["view"][0])).any()
    with pytest.raises(ConflictError, match=r"is booked since 2\d\d\d.* already"):
        held.book(first["sample"][0], first["view"][0])


def test_telling_twice_changes_nothing_and_other_values_are_a_conflict():
    held, complete = campaign(), tables()
    values = complete["genes"].loc["p1"]
    assert held.tell("p1", view="genes", values=values)
    assert not held.tell("p1", view="genes", values=values.tolist())
    assert not held.tell("p2", view="genes", values=complete["genes"].loc["p2"])  # known from the start
    with pytest.raises(ConflictError, match=r"'genes' of sample 'p1'.*since.*feature 'g2' is .*replace=True"):
        held.tell("p1", view="genes", values=values + np.array([0.0, 0.1]))
    with pytest.raises(ConflictError, match="from the start with other values"):
        held.tell("p2", view="genes", values=values)
    assert len(held.history) == 1
    spent = held.status()["spent"]
    assert held.tell("p2", view="genes", values=values, replace=True)
    assert held.status()["spent"] == spent
    np.testing.assert_array_equal(held.views["genes"][1], values)
    held.undo()
    np.testing.assert_array_equal(held.views["genes"][1], complete["genes"].loc["p2"])
    with pytest.raises(ConflictError, match=r"known since.*nothing to order"):
        held.book("p1", "genes")
    with pytest.raises(ConflictError, match="cannot be closed as failed"):
        held.close("p1", "genes", "failed")


def test_labels():
    held = campaign()
    assert held.tell("p2", label=np.str_("well"))
    assert not held.tell("p2", label="well")
    assert not held.tell("p1", label="ill")
    with pytest.raises(ConflictError, match="'p1' is labeled 'ill', told 'well'"):
        held.tell("p1", label="well")
    assert held.tell("p1", label="well", replace=True)
    assert held.y.tolist() == ["well", "well", "well", None, "ill", None]
    assert held.status()["labeled"] == 4
    assert held.status()["spent"] == 1.0
    with pytest.raises(ValueError, match=r"must be text like the others.*'ill', 'well'.*got 1"):
        held.tell("p4", label=1)
    with pytest.raises(ValueError, match="must not be missing"):
        held.tell("p4", label=float("nan"))
    with pytest.warns(UserWarning, match=r"a class that no sample had at the start. Did you mean 'well'"):
        held.tell("p4", label="wel")
    held.undo()
    declared = Campaign(model().set_params(classes=["ill", "well"]), views(), LABELS, criterion="random")
    with pytest.raises(ValueError, match=r"must be one of 'ill', 'well'; got 'wel'. Did you mean 'well'"):
        declared.tell("p4", label="wel")


@pytest.mark.parametrize("y", [[0, -1, 1, -1, 0, -1], [0.0, np.nan, 1.0, np.nan, 0.0, np.nan]])
def test_labels_that_are_numbers_keep_their_type(y, tmp_path):
    y = np.array(y)
    with Campaign(model(), views(), y, criterion="random", path=tmp_path / "c") as held:
        held.tell("p2", label=1)
        with pytest.raises(ValueError, match="must be a number"):
            held.tell("p4", label="1")
        with pytest.raises(ValueError, match="with a fraction"):
            held.tell("p4", label=0.5)
        expected = y.copy()
        expected[1] = 1
        with Campaign.open(tmp_path / "c") as again:
            assert again.y.dtype == y.dtype
            np.testing.assert_array_equal(again.y, expected)
    if y.dtype.kind == "i":
        with pytest.raises(ValueError, match="must not be missing"):
            Campaign(model(), views(), y, criterion="random").tell("p2", label=-1)


def test_regression_targets():
    held = Campaign(BayesianCoTrainingRegressor(), views(), [1.5, None, 2, None, 3, None], criterion="random")
    assert held.tell("p2", label=2)
    assert held.y[1] == 2.0
    for bad in ("2", float("inf")):
        with pytest.raises(ValueError, match="must be a finite number"):
            held.tell("p4", label=bad)


def test_closing():
    held = campaign()
    assert held.close("p1", "genes", "declined", reason="pregnant")
    assert not held.close("p1", "genes", "declined")
    assert held.status()["spent"] == 0.0
    with pytest.raises(ConflictError, match=r"closed as declined.*told failed"):
        held.close("p1", "genes", "failed")
    with pytest.raises(ConflictError, match=r"closed as declined.*Book it again"):
        held.tell("p1", view="genes", values=[0.0, 0.0])
    assert held.book("p1", "genes")
    assert held.close("p1", "genes")
    assert held.status()["spent"] == 50.0
    assert held.book("p1", "genes")
    assert held.tell("p1", view="genes", values=tables()["genes"].loc["p1"])
    assert held.status()["spent"] == 100.0
    held.close("p3", "lab", "impossible")
    with pytest.raises(ConflictError, match="closed as impossible"):
        held.book("p3", "lab")
    with pytest.raises(ConflictError, match="impossible according to the costs"):
        held.book("p6", "mri")
    with pytest.raises(ValueError, match="outcome must be one of"):
        held.close("p3", "lab", "lost")
    assert held.status()["closed"] == {"failed": 0, "declined": 0, "impossible": 1}
    assert ("p3", "lab") not in zip(*(held.ask(30, 3)[name] for name in ("sample", "view")), strict=True)


def test_undo_takes_back_step_by_step():
    held = campaign()
    held.book("p1", "genes")
    held.tell("p1", view="genes", values=tables()["genes"].loc["p1"])
    held.tell("p2", label="ill")
    assert held.undo()["label"] == "ill"
    undone = held.undo()
    assert (undone["action"], undone["sample"], undone["view"]) == ("returned", "p1", "genes")
    assert held.status()["booked"] == 1
    assert held.status()["ordered"] == 50.0
    assert held.undo()["action"] == "booked"
    with pytest.raises(ValueError, match="nothing to undo"):
        held.undo()
    history = held.history
    assert history["action"].tolist() == ["booked", "returned", "labeled", "undone", "undone", "undone"]
    assert history["undone"].tolist() == [True] * 3 + [False] * 3


def test_the_budget_limits_what_is_asked_and_booked():
    held = campaign(budget=115.0)
    table = held.ask(10, per_sample=3)
    assert table["cumulative_cost"].iloc[-1] <= 115.0
    by_cost = held.ask(10, by="utility_per_cost")
    assert by_cost["utility_per_cost"].iloc[0] == by_cost["utility_per_cost"].max()
    held.book("p4", "mri")
    assert held.status()["left"] == 15.0
    with pytest.raises(ValueError, match="'genes' of sample 'p1' costs 50, and of the budget 15 are left"):
        held.book("p1", "genes")
    assert set(held.ask(10)["view"]) == {"lab"}
    held.tell("p4", view="mri", values=[0.0, 0.0])
    held.tell("p5", view="lab", values=[0.0])
    assert held.ask().empty
    assert held.status()[
        "remark"
    ] == "Of the budget 10 are left, and the cheapest of the 7 open measurements costs 10." or (
        "cheapest" in held.status()["remark"]
    )


def test_groups_are_paid_once_per_sample():
    held = campaign()
    assert held.status()["spent"] == 0
    held.book("p3", "lab")
    assert held.status()["ordered"] == 15.0
    held.book("p3", "genes")
    assert held.status()["ordered"] == 65.0
    held.close("p3", "lab", "declined")  # then the other pays the visit
    assert held.status()["ordered"] == 55.0
    both = campaign().ask(30, per_sample=3)
    prices = both[(both["sample"] == "p3") & (both["view"] != "mri")]["cost"].tolist()
    assert sorted(prices) in ([10.0, 55.0], [15.0, 50.0])


def test_unknown_names_suggest_the_nearest():
    held = campaign()
    with pytest.raises(ViewError, match=r"no sample 'P1'.*(Did you mean|There are)"):
        held.book("P1", "mri")
    with pytest.raises(ViewError, match=r"no sample 'p11'. Did you mean 'p1'"):
        held.tell("p11", label="ill")
    with pytest.raises(ViewError, match=r"no view 'mrt'. Did you mean 'mri'"):
        held.close("p1", "mrt")
    with pytest.raises(ViewError, match=r"no feature of view 'genes' 'g3'. Did you mean 'g"):
        held.tell("p1", view="genes", values={"g1": 0.0, "g3": 0.0})
    with pytest.raises(ViewError, match="needs a value for 'g2'"):
        held.tell("p1", view="genes", values={"g1": 0.0})
    with pytest.raises(ViewError, match="samples that the data do not have"):
        campaign(costs={("p77", "mri"): 3.0})


def test_values_are_checked():
    held = campaign()
    with pytest.raises(ViewError, match=r"'genes' has 2 features \('g1', 'g2'\); got values of shape \(3,\)"):
        held.tell("p1", view="genes", values=[0.0, 0.0, 0.0])
    for bad in ([0.0, np.nan], [np.inf, 0.0]):
        with pytest.raises(ViewError, match="finite and complete"):
            held.tell("p1", view="genes", values=bad)
    with pytest.raises(ViewError, match=r"complete; 'g1' are not"):
        held.tell("p1", view="genes", values={"g1": None, "g2": 0.0})
    with pytest.raises(ViewError, match="must be numbers"):
        held.tell("p1", view="genes", values=["high", 0.0])
    with pytest.warns(UserWarning, match=r"'genes' of sample 'p1'.*g1 = 900 \(seen: .* to .*\).*Check the unit"):
        assert held.tell("p1", view="genes", values=[900.0, 0.0])
    for arguments in (
        {},
        {"view": "genes"},
        {"view": "genes", "values": [0.0, 0.0], "label": "ill"},
        {"values": [1.0]},
    ):
        with pytest.raises(ValueError, match="either view and values, or label"):
            held.tell("p1", **arguments)


def test_a_part_of_a_view_is_told_only_where_gaps_are_known():
    lab = np.array([[0.0, 1.0, 2.0, 3.0], [1.0, 1.5, np.nan, 2.0], [0.5, 1.2, 2.1, 2.2], [0.3] * 4])
    presence = np.array([[1, 1], [1, 1], [1, 1], [1, 0]], dtype=bool)
    start = Views(
        {"ct": [[0.0], [1.0], [0.2], [0.9]], "lab": pd.DataFrame(lab, columns=list("abcd"))}, presence=presence
    )
    held = Campaign(model(), start, [0, 1, -1, -1], criterion="random")
    with pytest.raises(ViewError, match=r"'lab' of sample '3' must be finite and complete; 'b', 'd' are not"):
        held.tell(3, view="lab", values={"a": 0.5, "b": None, "c": None, "d": None})
    with pytest.raises(ViewError, match=r"'a', 'b', 'c', 'd' are not.*Close the pair"):
        held.tell(3, view="lab", values=[None] * 4)
    assert held.tell(3, view="lab", values={"a": 0.5, "b": 1.1, "c": None, "d": 2.5})


def test_settings_are_checked(tmp_path):
    for changes, message in (
        ({"criterion": "luck"}, "criterion must be one of"),
        ({"costs": None, "budget": 3.0}, "budget needs costs"),
        ({"budget": -1.0}, "finite and not negative"),
    ):
        with pytest.raises(ValueError, match=message):
            campaign(**changes)
    with pytest.raises(ValueError, match="one entry per sample"):
        Campaign(model(), views(), ["ill", "well"])
    held = campaign()
    for arguments in ((0,), (1, 0)):
        with pytest.raises(ValueError, match="at least 1"):
            held.ask(*arguments)
    with pytest.raises(ValueError, match="by must be"):
        held.ask(by="luck")
    with pytest.raises(ValueError, match="in memory only"):
        held.backup(tmp_path / "c")
    campaign(tmp_path / "c").disconnect()
    with pytest.raises(FileExistsError, match=r"Campaign\.open"):
        campaign(tmp_path / "c")
    Project.create(tmp_path / "other", {"data": b""}).disconnect()
    with pytest.raises(ProjectFileError, match="no campaign"):
        Campaign.open(tmp_path / "other")


def test_samples_without_ids_are_positions_and_sparse_views_stay_sparse(tmp_path):
    words = sparse.csr_array(np.array([[1.0, 0, 0], [0, 2, 0], [0, 0, 0], [0, 1, 1]]))
    dense = np.array([[0.0], [1.0], [2.0], [3.0]], dtype=np.float32)
    presence = np.array([[1, 1], [1, 0], [0, 1], [1, 1]], dtype=bool)
    start = Views([words, dense], presence=presence)
    with Campaign(model(), start, [0, 1, -1, -1], criterion="random", path=tmp_path / "c") as held:
        assert sorted(map(tuple, held.ask(5)[["sample", "view"]].to_numpy())) == [(1, "view_1"), (2, "view_0")]
        held.tell(2, view="view_0", values=sparse.csr_array([[0.0, 0.5, 0.0]]))
        held.tell("1", view="view_1", values=2.5)
        with Campaign.open(tmp_path / "c") as again:
            words = words.toarray()
            words[2, 1] = 0.5
            assert sparse.issparse(again.views["view_0"])
            np.testing.assert_array_equal(again.views["view_0"].toarray(), words)
            np.testing.assert_array_equal(again.views["view_1"], [[0.0], [2.5], [2.0], [3.0]])
            assert again.views["view_1"].dtype == np.float32
            assert again.ask().empty


def test_random_choice_is_spread_over_the_pairs():
    """What is next does not depend on where the last one was."""
    steps = []
    for seed in range(200):
        held = Campaign(model(), views(), LABELS, criterion="random", random_state=seed)
        places = []
        for _ in range(2):
            sample, view = held.ask().loc[0, ["sample", "view"]]
            places.append(SAMPLES.index(sample))
            held.tell(sample, view=view, values=tables()[view].loc[sample])
        steps.append(places)
    first, second = np.array(steps).T
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.3  # a little below zero: a pair is asked once
    assert len(set(first)) == len(set(second)) == 6


def test_reading_while_another_writes_and_backups(tmp_path):
    with campaign(tmp_path / "c") as held, Campaign.open(tmp_path / "c", read_only=True) as reader:
        held.book("p1", "genes")
        assert reader.status()["booked"] == 1
        assert len(reader.ask(20, 3)) == 8
        with pytest.raises(PermissionError, match="reading only"):
            reader.book("p2", "mri")
        reader.backup(tmp_path / "copy")
        held.undo()
    with Campaign.open(tmp_path / "copy") as copy:
        assert copy.status()["booked"] == 1
        assert copy.history["action"].tolist() == ["booked"]
        assert "1 events" in repr(copy)
        assert copy.views.presence.tolist() == PRESENCE.tolist()


def test_costs_are_kept_in_the_file(tmp_path):
    with campaign(tmp_path / "c", budget=500.0) as held, Campaign.open(tmp_path / "c") as again:
        assert isinstance(again._costs, Costs)
        assert again.status() == held.status()
        pd.testing.assert_frame_equal(again.ask(30, 3), held.ask(30, 3))
