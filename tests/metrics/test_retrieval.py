"""Precision-recall breakeven: every order of equal scores written out, curves of scikit-learn, bad input."""

from fractions import Fraction
from itertools import pairwise, permutations, product

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import precision_recall_curve

from coview.metrics import precision_recall_breakeven


def by_all_orders(labels, scores):
    """Mean over all orders of equal scores of the precision among the first P samples, in fractions."""
    n_positive = sum(labels)
    orders = [
        order for order in permutations(range(len(labels))) if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]
    found = sum(labels[sample] for order in orders for sample in order[:n_positive])
    return Fraction(found, len(orders) * n_positive)


@pytest.mark.parametrize(
    ("labels", "scores", "expected"),
    [
        ([1, 1, 0, 0], [4.0, 3.0, 2.0, 1.0], 1.0),
        ([0, 0, 1, 1], [4.0, 3.0, 2.0, 1.0], 0.0),
        ([1, 0, 1, 0, 1], [5.0, 4.0, 3.0, 2.0, 1.0], 2 / 3),  # two of the first three
        ([1, 0, 0, 0], [1.0, 1.0, 0.0, 0.0], 1 / 2),  # one place for two equal scores
        ([1, 1, 0, 0, 0], [2.0, 1.0, 1.0, 1.0, 0.0], (1 + 1 / 3) / 2),  # one place sure, one among three
        ([1, 0, 0, 0, 1], [0.0, 0.0, 0.0, 0.0, 0.0], 2 / 5),  # one score for all: the share of positives
        ([1, 1, 1], [0.0, 1.0, 2.0], 1.0),
    ],
)
def test_values_found_by_hand(labels, scores, expected):
    assert precision_recall_breakeven(labels, scores) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_ties_give_the_expected_value_over_all_orders(n):
    for labels in product([0, 1], repeat=n):
        if not any(labels):
            continue
        for scores in product([0.0, 1.0, 2.0], repeat=n):
            expected = float(by_all_orders(labels, scores))
            assert precision_recall_breakeven(labels, scores) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_is_where_the_curve_of_scikit_learn_has_precision_equal_to_recall(seed):
    rng = np.random.default_rng(seed)
    labels = rng.random(200) < 0.2
    scores = rng.normal(size=200) + 2 * labels
    precision, recall, _ = precision_recall_curve(labels, scores)
    meeting = np.flatnonzero((precision == recall) & (recall > 0))
    assert len(meeting) == 1
    assert precision_recall_breakeven(labels, scores) == precision[meeting[0]]


def test_only_the_order_of_scores_and_the_kind_of_labels_matter():
    rng = np.random.default_rng(3)
    labels, scores = rng.choice([-1, 1], 50), rng.integers(0, 8, 50).astype(float)
    expected = precision_recall_breakeven(labels, scores)
    order = rng.permutation(50)
    assert precision_recall_breakeven(labels[order], np.exp(scores[order])) == pytest.approx(expected)
    assert precision_recall_breakeven(labels == 1, scores) == expected
    assert precision_recall_breakeven((labels + 1) / 2, scores) == expected
    words = np.where(labels == 1, "course", "other")
    assert precision_recall_breakeven(words, scores, pos_label="course") == expected
    assert precision_recall_breakeven(words.astype(object), scores, pos_label="course") == expected


def test_infinite_scores_have_an_order():
    assert precision_recall_breakeven([1, 0, 1], [np.inf, 0.0, -np.inf]) == 0.5


def test_without_positives_there_is_no_value():
    assert np.isnan(precision_recall_breakeven([0, 0], [0.1, 0.2]))
    assert np.isnan(precision_recall_breakeven(["a", "b"], [0.1, 0.2], pos_label="c"))


@pytest.mark.parametrize(
    ("labels", "scores", "pos_label", "message"),
    [
        ([0, 1, 1], [0.1, 0.2], None, "inconsistent numbers of samples"),
        ([0, 1], [0.1, np.nan], None, "1 of 2 are NaN"),
        ([0, 1, 2], [0.1, 0.2, 0.3], None, "two kinds, none missing; got 3"),
        ([0.0, np.nan], [0.1, 0.2], None, "none missing"),
        (["a", None], [0.1, 0.2], "a", "none missing"),
        ([pd.NA, 1], [0.1, 0.2], None, "none missing"),
        (["a", "b"], [0.1, 0.2], None, "pass pos_label"),
        ([0, 1], [[0.9, 0.1], [0.2, 0.8]], None, "column of the positive class"),
    ],
)
def test_bad_input_is_named(labels, scores, pos_label, message):
    with pytest.raises(ValueError, match=message):
        precision_recall_breakeven(labels, scores, pos_label=pos_label)
