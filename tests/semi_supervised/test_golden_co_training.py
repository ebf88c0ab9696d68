"""Co-training against the traces of the golden file: scores, labels given, pools, labeled sets, final scores."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from coview.semi_supervised import CoTrainingClassifier
from coview.semi_supervised._co_training_rounds import ClassRounds, Rules

DOCUMENT = json.loads((Path(__file__).parent.parent / "golden" / "cotraining_core.json").read_text(encoding="utf-8"))
CASES = [pytest.param(case, id=case["name"]) for case in DOCUMENT["cases"]]
SEED = 5
TOLERANCE = {"rtol": DOCUMENT["tolerance"]["rtol"], "atol": DOCUMENT["tolerance"]["atol"]}


class Centroids(ClassifierMixin, BaseEstimator):
    """The deterministic learner of the file: squared distance from the mean of class -1 minus that from class +1."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.negative_, self.positive_ = X[y == -1].mean(axis=0), X[y == 1].mean(axis=0)
        return self

    def decision_function(self, X):
        return ((X - self.negative_) ** 2).sum(axis=1) - ((X - self.positive_) ** 2).sum(axis=1)

    def predict(self, X):
        return np.where(self.decision_function(X) >= 0, 1, -1)


def problem(case):
    given = case["inputs"]
    blocks = [np.array(block) for block in given["X"]]
    y = np.full(len(blocks[0]), np.nan)
    for row, label in given["labelled"].items():
        y[int(row)] = label
    return blocks, y


def steps(case):
    """The rounds as the file has them: scores of the pool, what was added, the pool after."""
    given = case["inputs"]
    blocks, y = problem(case)
    codes = np.where(np.isnan(y), -1, (y > 0).astype(int))
    order = np.array(given["pool"]["order"]) if "pool" in given else np.flatnonzero(codes < 0)
    rules = Rules(
        np.array([given["r"], given["p"]]),
        threshold=given.get("threshold", 0.0),
        cross=given.get("mode") == "cross",
        skip_conflicts=given.get("conflict") == "skip",
        n_rounds=given["rounds"],
        pool_size=given["pool"]["size"] if "pool" in given else None,
    )
    seen = []

    def score(view, labels, rows):
        known = np.flatnonzero(labels >= 0)
        learner = Centroids().fit(blocks[view][known], 2 * labels[known] - 1)
        values = learner.decision_function(blocks[view][rows])
        seen.append(dict(zip(rows.tolist(), values.tolist(), strict=True)))
        return np.column_stack([-values, values])

    training = ClassRounds(score, np.ones((len(y), 2), dtype=bool), codes, order, rules)
    trace = []
    while training.step():
        last = training.history.where(training.history.rounds == training.n_rounds)
        added = {}
        for view, sample, code in zip(last.views, last.samples, last.labels, strict=True):
            added.setdefault((int(sample), 2 * int(code) - 1), []).append(int(view))
        trace.append((seen[-2:], [[*key, views] for key, views in added.items()], training.pool.tolist()))
    return trace, training


@pytest.mark.parametrize("case", CASES)
def test_rounds(case):
    expected = case["outputs"]
    trace, training = steps(case)
    wanted = [entry for entry in expected["trace"] if entry["added"]]
    assert len(trace) == len(wanted)
    for (scores, added, pool), want in zip(trace, wanted, strict=True):
        assert added == want["added"]
        assert pool == want["pool_after"]
        for got, values in zip(scores, want["scores"], strict=True):
            assert sorted(got) == sorted(map(int, values))
            np.testing.assert_allclose([got[int(row)] for row in values], list(values.values()), **TOLERANCE)
    for labels, want in zip(training.labels, expected["labelled_sets"], strict=True):
        known = np.flatnonzero(labels >= 0)
        assert {str(row): 2 * int(labels[row]) - 1 for row in known} == want


def places(case):
    """Where each sample has to stand for the seed to draw the pool in the order of the file."""
    given = case["inputs"]
    place = np.arange(len(given["X"][0]))
    if "pool" in given:
        order = np.array(given["pool"]["order"])
        place[order] = np.random.RandomState(SEED).permutation(np.sort(order))
    return place


def rearranged(rows, place):
    moved = np.empty_like(rows)
    moved[place] = rows
    return moved


@pytest.mark.parametrize("case", CASES)
def test_estimator(case):
    given, expected = case["inputs"], case["outputs"]
    blocks, y = problem(case)
    place = places(case)
    blocks, y = [rearranged(block, place) for block in blocks], rearranged(y, place)
    model = CoTrainingClassifier(
        Centroids(),
        n_positive=given["p"],
        n_negative=given["r"],
        n_rounds=given["rounds"],
        sharing=given.get("mode", "shared"),
        conflict=given.get("conflict", "confident"),
        threshold=given.get("threshold", 0.0),
        pool_size=given["pool"]["size"] if "pool" in given else None,
        random_state=SEED,
    ).fit(blocks, y)
    for got, want in zip(model.decision_function_per_view(blocks), expected["final_scores"], strict=True):
        np.testing.assert_allclose(got[place], want, **TOLERANCE)
    np.testing.assert_array_equal(model.predict(blocks)[place], expected["combined_labels"])
    np.testing.assert_array_equal(model.transduction_[place], expected["combined_labels"])
    history = model.labeling_history_
    wanted = sorted(
        [number + 1, place[sample], f"view_{view}", label, abs(entry["scores"][view][str(sample)])]
        for number, entry in enumerate(expected["trace"])
        for sample, label, views in entry["added"]
        for view in views
    )
    assert history[["round", "sample", "view", "label"]].to_numpy().tolist() == [row[:4] for row in wanted]
    np.testing.assert_allclose(history["confidence"], [row[4] for row in wanted], **TOLERANCE)
