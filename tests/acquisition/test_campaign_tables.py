"""Campaigns on tables of any kind: told, kept and given back as their owner writes them; several steps as one."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import Pipeline

from coview import Views
from coview.acquisition import Campaign, ConflictError
from coview.compose import TableEncoder
from coview.exceptions import ViewError
from coview.gaussian_process import BayesianCoTrainingClassifier

IDS = pd.Index([f"p{k}" for k in range(8)], name="sample")
LABELS = ["ill", "well", None, "ill", "well", None, None, "ill"]
# What the tests tell: everything that is missing at the start.
CLINIC = pd.DataFrame(
    {
        "age": [50.0, 61, 43, 70, 38, 55, 66, 47],
        "sex": ["F", "M", "F", "M", "F", "F", "M", "M"],
        "smokes": [True, False, False, True, False, True, True, False],
    },
    index=IDS,
)
ECG = pd.DataFrame({"rate": [70.0, np.nan, 64, 90, 71, 77, 80, 62], "rest": list("abababab")}, index=IDS)


def tables():
    return {"clinic": CLINIC.iloc[:6], "ecg": ECG.iloc[[0, 1, 2, 3, 6, 7]]}


def pipeline():
    model = BayesianCoTrainingClassifier("linear", hyperparameters="fixed", view_variances=0.2, no_view="prior")
    return Pipeline([("encode", TableEncoder()), ("model", model)])


def campaign(path=None, **options):
    options = {"criterion": "variance", "costs": {"ecg": 10.0, "clinic": 5.0}} | options
    return Campaign(pipeline(), tables(), LABELS, path=path, **options)


@pytest.mark.parametrize("place", ["memory", "file"])
def test_told_cells_come_back_as_they_were_and_reach_the_model_encoded(place, tmp_path):
    held = campaign(None if place == "memory" else tmp_path / "c.covw")
    told = {"age": 66, "sex": "M", "smokes": "yes"}
    assert held.tell("p6", view="clinic", values=told)
    assert not held.tell("p6", view="clinic", values={**told, "smokes": 1})
    assert held.tell("p5", view="ecg", values=[77, "b"])
    expected = {
        "clinic": CLINIC.iloc[:7].astype({"smokes": float}).rename_axis(None),
        "ecg": ECG.iloc[[0, 1, 2, 3, 5, 6, 7]],
    }
    if place == "file":
        held.disconnect()
        held = Campaign.open(tmp_path / "c.covw")
    for view, table in held.tables.items():
        pd.testing.assert_frame_equal(table, expected[view], check_names=False, check_index_type=False)
    encoder = TableEncoder().fit(tables())
    assert held.views == encoder.transform({"clinic": CLINIC.iloc[:7], "ecg": ECG.iloc[[0, 1, 2, 3, 5, 6, 7]]})
    assert held.history["values"].tolist() == [[66.0, "M", 1.0], [77.0, "b"]]
    assert len(held.ask(9)) == 2
    assert held.model.predict_proba(held.views).shape == (8, 2)
    held.disconnect()


def test_features_say_what_was_seen():
    table = campaign().features("clinic")
    assert table["kind"].tolist() == ["number", "category", "truth"]
    assert table.loc["age", ["low", "high"]].tolist() == [38.0, 70.0]
    assert table.loc["sex", "categories"] == ["F", "M"]
    plain = Campaign(pipeline()[1], Views({"a": np.array([[0.0], [1.0], [4.0]])}), ["x", "y", None])
    assert plain.features("a").loc["0", ["kind", "low", "high"]].tolist() == ["number", 0.0, 4.0]
    assert plain.tables["a"].iloc[:, 0].tolist() == [0.0, 1.0, 4.0]


def test_other_cells_are_a_conflict_told_in_the_words_of_the_owner():
    held = campaign()
    held.tell("p6", view="clinic", values=[66, "M", True])
    with pytest.raises(ConflictError, match="feature 'sex' is 'M', told 'F'"):
        held.tell("p6", view="clinic", values=[66, "F", True])
    with pytest.raises(ConflictError, match="feature 'age' is 50, told 51"):
        held.tell("p0", view="clinic", values=[51, "F", True])
    assert held.tell("p6", view="clinic", values=[66, "F", True], replace=True)
    assert held.tables["clinic"].loc["p6", "sex"] == "F"
    held.undo()
    assert held.tables["clinic"].loc["p6", "sex"] == "M"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([66, "M"], "has 3 columns"),
        ({"age": 66, "sex": "M"}, "needs a value for 'smokes'"),
        ({"age": 66, "sex": "M", "smoke": True}, "no feature of view 'clinic' 'smoke'. Did you mean 'smokes'"),
        ([66, None, True], "needs a value for 'sex'"),
        ([None, None, None], "has no value"),
        (["old", "M", True], "age .* must be a number; got 'old'"),
        ([np.inf, "M", True], "must be a number"),
        ([66, "M", "perhaps"], "must be a truth value; got 'perhaps'"),
    ],
)
def test_cells_that_cannot_be_kept(values, message):
    held = campaign()
    with pytest.raises(ViewError, match=message):
        held.tell("p6", view="clinic", values=values)
    assert not len(held.history)


def test_a_gap_is_taken_where_samples_had_gaps_from_the_start():
    held = campaign()
    assert held.tell("p5", view="ecg", values=[None, "b"])
    assert held.history["values"].tolist() == [[None, "b"]]
    assert np.isnan(held.tables["ecg"].loc["p5", "rate"])


def test_unseen_categories_and_numbers_out_of_range_are_said():
    held = campaign()
    with pytest.warns(
        UserWarning, match=r"age = 99 \(seen: 38 to 70\), sex = 'm' \(seen: F, M\), which counts as none"
    ):
        held.tell("p6", view="clinic", values=[99, "m", True])


def test_sparse_tables_are_kept_sparse(tmp_path):
    words = sparse.csr_array(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 3.0], [0, 4, 4]]))
    source = Views(
        {"words": words, "b": np.array([[0.1], [0.5], [0.9], [0.7]])}, presence=[[1, 1], [1, 1], [0, 1], [1, 1]]
    )
    with Campaign(pipeline(), source, ["x", "y", None, None], criterion="random", path=tmp_path / "c.covw") as held:
        assert held.tell(2, view="words", values=[0.0, 2.0, 1.0])
    with Campaign.open(tmp_path / "c.covw") as again:
        assert again.tables["words"].to_numpy().tolist() == [[0, 2, 0], [1, 0, 0], [0, 2, 1], [0, 4, 4]]
        assert again.views["words"].shape == (4, 3)


def book_all(held, pairs):
    with held.together():
        for pair in pairs:
            held.book(*pair)


def rehearse(held, answers):
    with held.together():
        held.tell("p2", label="ill")
        answers.append(held.model.predict_proba(held.views))
        raise KeyboardInterrupt


def test_steps_together_are_kept_or_dropped_as_one(tmp_path):
    with campaign(tmp_path / "c.covw") as held:
        batch = held.ask(2)
        pairs = list(zip(batch["sample"], batch["view"], strict=True))
        with pytest.raises(ConflictError, match="is booked"):
            book_all(held, [pairs[0], pairs[0]])
        assert not len(held.history)
        book_all(held, pairs)
        assert held.history["event"].tolist() == [1, 2]
        assert held.status()["booked"] == 2


def test_what_was_rehearsed_is_forgotten_by_the_model_too(tmp_path):
    """The number of an event that was not kept stands for another one later."""
    with campaign(tmp_path / "c.covw") as held:
        rehearsed = []
        with pytest.raises(KeyboardInterrupt):
            rehearse(held, rehearsed)
        held.tell("p2", label="well")
        assert held.history["event"].tolist() == [1]
        assert not np.allclose(held.model.predict_proba(held.views), rehearsed[0])


def test_another_criterion_for_once():
    held = campaign(criterion="variance")
    usual = held.ask(3)
    assert held.ask(3, criterion="random")["utility"].between(0, 1).all()
    pd.testing.assert_frame_equal(held.ask(3), usual)
    with pytest.raises(ValueError, match="criterion must be one of"):
        held.ask(criterion="best")


def test_notes_are_kept(tmp_path):
    with campaign(tmp_path / "c.covw", notes={"target": "state"}):
        pass
    with Campaign.open(tmp_path / "c.covw", read_only=True) as again:
        assert again.notes == {"target": "state"}
