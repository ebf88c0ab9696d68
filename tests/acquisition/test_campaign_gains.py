"""What answers were expected to gain beside what they gained: against entropies of models fitted here."""

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.base import clone

from coview.acquisition import Campaign, ConflictError
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor

from .campaign_problem import LABELS, campaign, model, tables, views

pytestmark = pytest.mark.filterwarnings("ignore:View .* is outside what was seen")


def entropies(held, labeled):
    """Entropies of the classes of unlabeled samples, by scipy, of a model fitted anew to what is known."""
    fitted = clone(held.model).fit(held.views, held.y)
    unlabeled = ~np.array(labeled)
    total = entropy(fitted.label_distributions_, axis=1)[unlabeled].sum()
    # jitter apart, that is what is predicted for them as new rows
    np.testing.assert_allclose(entropy(fitted.predict_proba(held.views), axis=1)[unlabeled].sum(), total, rtol=1e-4)
    return total


@pytest.mark.parametrize("estimator", [model(), BayesianCoTrainingClassifier()], ids=["fixed", "averaged"])
def test_what_was_gained_is_the_fall_of_the_entropy_of_fits_on_what_was_known(tmp_path, estimator):
    labeled = [label is not None for label in LABELS]
    complete, falls, expected = tables(), [], []
    with Campaign(estimator, views(), LABELS, path=tmp_path / "c") as held:
        for step in range(3):
            before = entropies(held, labeled)
            np.testing.assert_allclose(held.total_entropy(), before, rtol=1e-9)
            kind = "labels" if step == 1 else "views"
            asked = held.ask(kind=kind, max_candidates=None).iloc[0]
            expected.append(asked["utility"])
            if step != 2:
                held.book(asked["sample"], asked["view"])
            if kind == "labels":
                held.tell(asked["sample"], label="ill")
                labeled[["p1", "p2", "p3", "p4", "p5", "p6"].index(asked["sample"])] = True
            else:
                held.tell(asked["sample"], view=asked["view"], values=complete[asked["view"]].loc[asked["sample"]])
            falls.append(before - entropies(held, labeled))
        with Campaign.open(tmp_path / "c") as again:
            for one in (held, again):
                table = one.gains()
                np.testing.assert_allclose(table["expected"], expected, rtol=1e-12)
                np.testing.assert_allclose(table["realized"], falls, rtol=1e-7, atol=1e-10)
                np.testing.assert_allclose(table["entropy"].iloc[-1], one.total_entropy(), rtol=1e-12)
                assert table["criterion"].tolist() == ["expected_entropy", "mutual_information", "expected_entropy"]
                assert table["view"].isna().tolist() == [False, True, False]
                later = one.gains(since=int(table["event"][1]))
                np.testing.assert_allclose(later["realized"], falls[2:], rtol=1e-7, atol=1e-10)
                assert one.gains(refit=False)["realized"].isna().all()


def _told(held):
    """A sample that is labeled now."""
    held.tell("p4", label="well")
    return "p4"


def test_corrections_and_what_nobody_asked_for_have_no_forecast_and_what_was_undone_no_row():
    held, complete = campaign(criterion="variance"), tables()
    held.tell("p1", view="genes", values=complete["genes"].loc["p1"])
    held.ask(9)
    held.tell("p1", view="genes", values=complete["genes"].loc["p1"] + 0.1, replace=True)
    held.tell("p4", label="well")
    held.undo()
    table = held.gains()
    assert table["sample"].tolist() == ["p1", "p1"]
    assert table["expected"].isna().all()
    assert table["criterion"].tolist() == [None, None]
    assert np.isfinite(table["realized"]).all()
    asked = campaign()
    pair = asked.ask().iloc[0]
    asked.tell(pair["sample"], view=pair["view"], values=complete[pair["view"]].loc[pair["sample"]])
    assert asked.gains()["criterion"].tolist() == ["random"]
    assert asked.gains()["expected"].isna().all()
    total = held.total_entropy()
    with pytest.raises(ConflictError), held.together():
        held.book(_told(held))
    held.tell("p4", label="ill")  # the number of an event that was never kept
    assert held.gains()["realized"].iloc[-1] == pytest.approx(total - held.total_entropy())


def test_regression_has_forecasts_alone():
    held = Campaign(BayesianCoTrainingRegressor(), views(), [1.5, None, 2, None, 3, None], criterion="variance")
    asked = held.ask().iloc[0]
    held.tell(asked["sample"], view=asked["view"], values=tables()[asked["view"]].loc[asked["sample"]])
    table = held.gains()
    assert table["expected"].tolist() == [asked["utility"]]
    assert table["realized"].isna().all()
    with pytest.raises(ValueError, match="BayesianCoTrainingRegressor gives no probabilities"):
        held.total_entropy()
    assert campaign().gains().empty
