"""How many pairs are scored for a batch, and that chance scores none and fits nothing."""

import numpy as np
import pytest

from coview.acquisition import Campaign, label_utilities, select_views, simulate, view_utilities
from coview.acquisition._pair_scores import PairScores
from coview.gaussian_process import BayesianCoTrainingClassifier

from .small_problems import fixed, problem


@pytest.fixture
def scored(monkeypatch):
    """Pairs that were scored, call by call."""
    calls, utilities = [], PairScores.utilities

    def spy(self, among=None):
        found = utilities(self, among)
        calls.append([tuple(pair) for pair in self.pairs[~np.isnan(found)].tolist()])
        return found

    monkeypatch.setattr(PairScores, "utilities", spy)
    return calls


def many():
    """Some 85 missing pairs, 30 labels."""
    views, y, tables = problem(n=240, n_labels=30, widths=(1, 2))
    return views, y, tables


@pytest.mark.parametrize(
    ("n", "given", "expected"), [(1, "auto", 40), (20, "auto", 40), (30, "auto", 60), (3, 12, 12), (1, None, None)]
)
def test_a_campaign_scores_twice_the_pairs_wanted_half_of_them_labeled_where_there_are(scored, n, given, expected):
    views, y, _ = many()
    n_missing = int((~views.presence).sum())
    held = Campaign(fixed(), views, y)
    batch = held.ask(n, 2, max_candidates=given)
    assert len(batch) == n
    assert len(scored[0]) == (expected or n_missing)
    if expected == 12:
        assert sum(sample < 30 for sample, _ in scored[0]) == 6
    assert set(zip(batch["sample"], [views.names.index(v) for v in batch["view"]], strict=True)) <= set(scored[0])


def test_candidates_are_open_and_affordable(scored):
    views, y, _ = many()
    costs = {"v0": 1.0, "v1": 50.0}
    held = Campaign(fixed(), views, y, costs=costs, budget=10.0)
    lacking = np.flatnonzero(~views.presence[:, 0]).tolist()
    for sample in lacking[:3]:
        held.book(sample, "v0")
    held.close(lacking[3], "v0", "impossible")
    held.ask(2, max_candidates=None)
    assert scored[-1] == [(sample, 0) for sample in lacking[4:]]  # v1 is too dear
    held.ask(2, max_candidates=6)
    assert set(scored[-1]) < {(sample, 0) for sample in lacking[4:]}
    assert len(scored[-1]) == 6


@pytest.mark.parametrize(
    ("given", "expected"), [({}, 40), ({"max_candidates": 6}, 6), ({"max_candidates": None}, None)]
)
def test_a_simulation_does_as_a_campaign(scored, given, expected):
    _, _, tables = many()
    y = (np.arange(240) % 2).astype(float)
    options = {"criterion": "expected_entropy", **given}
    simulate(
        fixed(), tables, y, criteria={"it": options}, n_steps=1, repeats=1, scorer="accuracy", batch_size=3, n_labeled=12,
        everything=False,
    )  # fmt: skip
    assert len(scored) == 1
    assert len(scored[0]) == expected if expected else len(scored[0]) > 60


class NeverFitted(BayesianCoTrainingClassifier):
    """A model that says so where it is fitted."""

    def fit(self, X, y):
        """Fail."""
        pytest.fail("the model was fitted")


def test_chance_fits_no_model():
    views, y, _ = problem()
    model = NeverFitted("linear", hyperparameters="fixed")
    assert len(view_utilities(model, views, y, criterion="random")) == (~views.presence).sum()
    assert len(label_utilities(model, views, y, criterion="random")) == np.isnan(y).sum()
    assert len(select_views(model, views, y, 3, criterion="random")) == 3
    held = Campaign(model, views, y, criterion="random")
    for kind in ("views", "labels", "both"):
        assert len(held.ask(3, kind=kind)) == 3
