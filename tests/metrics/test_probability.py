"""Scores of probabilities against scikit-learn, plain loops and published binomial limits."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from coview.metrics import (
    brier_score,
    confusion_table,
    expected_calibration_error,
    log_loss_per_sample,
    mean_auc,
    probability_scores,
    reliability_table,
)

CLASSES = np.array(["a", "b", "c"])


def random_case(seed, n_classes=3, n=80):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(n_classes), size=n)
    classes = CLASSES[:n_classes]
    y = np.array([rng.choice(classes, p=p) for p in proba])
    return y, proba, classes


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_mean_log_loss_equals_sklearn(seed, n_classes):
    y, proba, classes = random_case(seed, n_classes)
    ours = log_loss_per_sample(y, proba, classes=classes)
    assert ours.shape == (len(y),)
    assert ours.mean() == pytest.approx(log_loss(y, proba, labels=list(classes)), rel=1e-12)


def test_log_loss_follows_the_given_order_of_classes():
    proba = np.array([[0.9, 0.1]])
    assert log_loss_per_sample(["b"], proba, classes=["b", "a"])[0] == pytest.approx(-np.log(0.9))


def test_log_loss_of_a_zero_probability_is_finite():
    assert log_loss_per_sample(["b"], [[1.0, 0.0]], classes=["a", "b"])[0] == pytest.approx(-np.log(2.0**-52))


def test_brier_score_sums_over_classes_when_there_are_three_and_takes_one_when_there_are_two():
    y, proba, classes = random_case(0)
    one_hot = (y[:, None] == classes[None, :]).astype(float)
    assert brier_score(y, proba, classes=classes) == pytest.approx(((proba - one_hot) ** 2).sum(axis=1).mean())
    y, proba, classes = random_case(0, 2)
    assert brier_score(y, proba, classes=classes) == pytest.approx(((proba[:, 1] - (y == "b")) ** 2).mean())


def test_mean_auc_equals_the_share_of_ordered_pairs():
    y, proba, classes = random_case(1, n=40)
    by_class = []
    for k, name in enumerate(classes):
        inside, outside = proba[y == name, k], proba[y != name, k]
        by_class.append(np.mean([(i > o) + 0.5 * (i == o) for i in inside for o in outside]))
    assert mean_auc(y, proba, classes=classes) == pytest.approx(np.mean(by_class))
    assert mean_auc(y, proba, classes=classes) == pytest.approx(roc_auc_score(y, proba, multi_class="ovr"))


def test_mean_auc_leaves_out_a_class_that_does_not_occur():
    y, proba, classes = random_case(2)
    keep = y != "c"
    expected = np.mean([roc_auc_score(y[keep] == classes[k], proba[keep, k]) for k in (0, 1)])
    assert mean_auc(y[keep], proba[keep], classes=classes) == pytest.approx(expected)


def test_mean_auc_of_one_class_is_undefined():
    assert np.isnan(mean_auc(["a", "a"], [[0.4, 0.6], [0.7, 0.3]], classes=["a", "b"]))


def test_reliability_table_by_hand():
    # Confidences .55, .65, .65, .95, 1.0; right, right, wrong, right, right.
    proba = np.array([[0.55, 0.45], [0.65, 0.35], [0.35, 0.65], [0.05, 0.95], [1.0, 0.0]])
    table = reliability_table(["a", "a", "a", "b", "a"], proba, classes=["a", "b"])
    assert table["low"].tolist() == pytest.approx([0.5, 0.6, 0.9])
    assert table["n"].tolist() == [1, 2, 2]
    assert table["confidence"].tolist() == pytest.approx([0.55, 0.65, 0.975])
    assert table["accuracy"].tolist() == pytest.approx([1.0, 0.5, 1.0])
    expected = (0.45 * 1 + 0.15 * 2 + 0.025 * 2) / 5
    error = expected_calibration_error(["a", "a", "a", "b", "a"], proba, classes=["a", "b"])
    assert error == pytest.approx(expected)


def test_interval_of_the_accuracy_is_the_exact_binomial_one():
    # 8 of 10: Clopper-Pearson limits 0.4439 and 0.9748 (tabled in Biometrika 26, 1934, and in any statistics text).
    proba = np.tile([0.8, 0.2], (10, 1))
    row = reliability_table(["a"] * 8 + ["b"] * 2, proba, classes=["a", "b"]).iloc[0]
    assert (row["accuracy_low"], row["accuracy_high"]) == pytest.approx((0.4439, 0.9748), abs=5e-5)
    all_right = reliability_table(["a"] * 10, proba, classes=["a", "b"]).iloc[0]
    assert all_right["accuracy_high"] == 1.0
    assert all_right["accuracy_low"] == pytest.approx(0.025 ** (1 / 10))


def test_a_confidence_on_a_border_belongs_to_the_bin_above():
    # 0.3 * 10 and 0.7 * 10 are not whole numbers in floating point alike; both borders must open their bin.
    for border in (0.6, 0.7, 0.8, 0.9):
        table = reliability_table(["a"], [[border, 1 - border]], classes=["a", "b"])
        assert table["low"].iloc[0] == pytest.approx(border)


def test_calibrated_predictions_have_a_small_error_and_flattened_ones_a_large_one():
    y, proba, classes = random_case(5, n=4000)
    flat = proba**0.3 / (proba**0.3).sum(axis=1, keepdims=True)
    assert expected_calibration_error(y, proba, classes=classes) < 0.03
    assert expected_calibration_error(y, flat, classes=classes) > 0.1


def test_probability_scores_holds_every_score():
    y, proba, classes = random_case(3)
    scores = probability_scores(y, proba, classes=classes)
    assert list(scores) == ["log_loss", "brier", "auc", "accuracy", "calibration_error", "confidence"]
    assert scores["accuracy"] == pytest.approx(np.mean(classes[proba.argmax(axis=1)] == y))
    assert scores["log_loss"] == pytest.approx(log_loss(y, proba, labels=list(classes)))
    assert scores["confidence"] == pytest.approx(np.mean([max(row) for row in proba]))


def test_confusion_table_counts_and_shares():
    table = confusion_table(["a", "a", "b", "b", "b"], ["a", "b", "b", "b", "a"], classes=["a", "b", "c"])
    assert table.loc["a", ["a", "b", "c"]].tolist() == [1, 1, 0]
    assert table.loc["b", ["a", "b", "c"]].tolist() == [1, 2, 0]
    assert table["recall"].tolist()[:2] == pytest.approx([0.5, 2 / 3])
    assert np.isnan(table.loc["c", "recall"])


def test_labels_may_be_a_series_or_numbers():
    assert log_loss_per_sample(pd.Series([1, 0]), [[0.2, 0.8], [0.6, 0.4]], classes=[0, 1]).sum() == pytest.approx(
        -np.log(0.8) - np.log(0.6)
    )


@pytest.mark.parametrize(
    ("y", "proba", "message"),
    [
        (["z"], [[0.5, 0.5]], r"not in classes: \['z'\]"),
        (["a", "b"], [[0.5, 0.5]], r"one row per label.*\(2, 2\); got \(1, 2\)"),
        (["a"], [[0.5, 0.6]], "summing to 1"),
        (["a"], [[1.5, -0.5]], "not negative"),
        (["a"], [[np.nan, 0.5]], "finite"),
    ],
)
def test_wrong_input_is_refused(y, proba, message):
    with pytest.raises(ValueError, match=message):
        log_loss_per_sample(y, proba, classes=["a", "b"])


def test_no_bins_are_refused():
    with pytest.raises(ValueError, match="n_bins must be at least 1; got 0"):
        reliability_table(["a"], [[0.5, 0.5]], classes=["a", "b"], n_bins=0)
