"""Averaged ROC and precision-recall curves against their areas and hand-made cases."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from coview.metrics import mean_precision_recall_curve, mean_roc_curve


def runs(n_runs=4, n=300):
    rng = np.random.default_rng(0)
    labels = [rng.random(n) < 0.4 for _ in range(n_runs)]
    return labels, [y + rng.normal(size=n) for y in labels]


def test_area_under_the_mean_roc_is_the_mean_area():
    labels, scores = runs()
    curve = mean_roc_curve(labels, scores, n_points=4001)
    area = np.trapezoid(curve["true_positive_rate"], curve["false_positive_rate"])
    assert area == pytest.approx(np.mean([roc_auc_score(y, s) for y, s in zip(labels, scores, strict=True)]), abs=1e-3)


def test_mean_precision_over_recall_is_the_mean_average_precision():
    labels, scores = runs()
    curve = mean_precision_recall_curve(labels, scores, n_points=8001)
    expected = np.mean([average_precision_score(y, s) for y, s in zip(labels, scores, strict=True)])
    assert curve["precision"].iloc[1:].mean() == pytest.approx(expected, abs=2e-3)


def test_curves_by_hand():
    # Ranking: positive, negative, positive, negative.
    roc = mean_roc_curve([[True, False, True, False]], [[4, 3, 2, 1]], n_points=5)
    assert roc["true_positive_rate"].tolist() == [0.5, 0.5, 1.0, 1.0, 1.0]
    recall = mean_precision_recall_curve([[True, False, True, False]], [[4, 3, 2, 1]], n_points=5)
    assert recall["precision"].tolist() == pytest.approx([1, 1, 1, 2 / 3, 2 / 3])


def test_each_repetition_keeps_its_own_ranking():
    # Pooling would mix the scales and spoil a perfect ranking.
    curve = mean_roc_curve([[True, False], [True, False]], [[0.2, 0.1], [0.9, 0.8]])
    assert (curve["true_positive_rate"] == 1).all()


def test_low_and_high_are_the_extremes():
    curve = mean_roc_curve([[True, False], [False, True]], [[2, 1], [2, 1]], n_points=3)
    assert curve["low"].tolist() == [0, 0, 1]
    assert curve["high"].tolist() == [1, 1, 1]
    assert curve["true_positive_rate"].tolist() == [0.5, 0.5, 1]


def test_one_outcome_or_unequal_lists_are_refused():
    with pytest.raises(ValueError, match="Repetition 1 holds only one outcome"):
        mean_roc_curve([[True, False], [True, True]], [[1, 2], [1, 2]])
    with pytest.raises(ValueError, match="got 2 and 1"):
        mean_precision_recall_curve([[True, False], [True, False]], [[1, 2]])
