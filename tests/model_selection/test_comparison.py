"""Label draws, paired comparison, and the transductive baselines."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from coview import Views
from coview.metrics import probability_scores
from coview.model_selection import (
    CautiousStratifiedKFold,
    TransductivePipeline,
    baseline_estimators,
    compare_methods,
    hide_labels,
    label_draws,
    paired_differences,
    summarize_scores,
)

Y = np.array(["a"] * 30 + ["b"] * 20 + ["c"] * 6, dtype=object)


class Fixed(ClassifierMixin, BaseEstimator):
    """Gives the labeled classes' frequencies, sharpened by `power`; counts what it was given."""

    def __init__(self, power=1.0):
        self.power = power

    def fit(self, X, y):
        known = np.array([label for label in y if label is not None])
        self.classes_, counts = np.unique(known, return_counts=True)
        weights = counts**self.power
        self.label_distributions_ = np.tile(weights / weights.sum(), (len(y), 1))
        self.n_labeled_ = len(known)
        self.given_ = X
        return self


class Prepared(Fixed):
    """Has a label-free part."""

    def prepare(self, X):
        return ("prepared", X)


def test_draws_have_the_size_asked_for_and_two_of_each_class():
    for draw in label_draws(Y, 12, n_draws=30, random_state=0):
        assert len(draw) == len(set(draw.tolist())) == 12
        assert (np.diff(draw) > 0).all()
        assert min(pd.Series(Y[draw]).value_counts().reindex(["a", "b", "c"], fill_value=0)) >= 2


def test_first_draws_do_not_depend_on_how_many_follow():
    few, many = label_draws(Y, 12, n_draws=3, random_state=5), label_draws(Y, 12, n_draws=20, random_state=5)
    for a, b in zip(few, many, strict=False):
        np.testing.assert_array_equal(a, b)
    assert len({tuple(draw) for draw in many}) == 20
    assert not np.array_equal(few[0], label_draws(Y, 12, n_draws=1, random_state=6)[0])


def test_labels_beyond_two_per_class_are_uniform():
    # Of 10 labels 6 are two per class; the other 4 fall on the 50 others, 28 of them "a": 2 + 4 * 28 / 50 = 4.24.
    counts = [np.sum(Y[draw] == "a") for draw in label_draws(Y, 10, n_draws=3000, random_state=0)]
    assert np.mean(counts) == pytest.approx(4.24, abs=0.06)


def test_every_sample_of_a_class_can_be_chosen():
    chosen = np.concatenate(label_draws(Y, 6, n_draws=400, random_state=0))
    frequency = np.bincount(chosen, minlength=len(Y)) / 400
    assert frequency[Y == "c"] == pytest.approx(np.full(6, 2 / 6), abs=0.1)
    assert frequency[Y == "b"].min() > 0


def test_draws_that_cannot_be_made_are_refused():
    with pytest.raises(ValueError, match="n_labeled must be at least 6"):
        label_draws(Y, 5)
    with pytest.raises(ValueError, match="below the number of samples, 56; got 56"):
        label_draws(Y, 56)
    with pytest.raises(ValueError, match="Class 'b' has 1 samples, fewer than n_per_class=2"):
        label_draws(["a", "a", "b"], 2)


def test_global_generator_is_untouched():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    label_draws(Y, 12, random_state=0)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_hidden_labels():
    hidden = hide_labels(Y, [0, 35])
    assert hidden[0] == "a"
    assert hidden[35] == "b"
    assert sum(label is None for label in hidden) == len(Y) - 2
    assert None not in list(Y)


@pytest.fixture(scope="module")
def comparison():
    draws = [d for n in (10, 20) for d in label_draws(Y, n, n_draws=3, random_state=0)]
    return compare_methods(
        {"flat": Fixed(0.0), "frequency": Prepared()},
        np.zeros((len(Y), 1)),
        Y,
        draws,
        scorer=probability_scores,
        groups={"first half": np.arange(len(Y)) < 28},
        keep=("n_labeled_", "given_", "absent_"),
    )


def test_scores_are_those_of_the_hidden_samples(comparison):
    assert len(comparison.scores) == 2 * 6 * 2
    row = comparison.scores.query("method == 'frequency' and n_labeled == 20 and draw == 1 and group == 'all'").iloc[0]
    draw = comparison.draws[4]
    hidden = np.setdiff1d(np.arange(len(Y)), draw)
    frequency = np.unique(Y[draw].astype(str), return_counts=True)[1] / 20
    expected = -np.mean(np.log(frequency[np.searchsorted(["a", "b", "c"], Y[hidden].astype(str))]))
    assert row["log_loss"] == pytest.approx(expected)
    assert row["n_test"] == 36
    half = comparison.scores.query("method == 'flat' and n_labeled == 20 and draw == 1 and group == 'first half'").iloc[
        0
    ]
    assert half["n_test"] == np.sum(hidden < 28)
    assert half["log_loss"] == pytest.approx(np.log(3))


def test_labels_outside_the_draw_never_reach_the_method(comparison):
    assert [kept["n_labeled_"] for kept in comparison.attributes["flat"]] == [10, 10, 10, 20, 20, 20]


def test_label_free_part_is_given_in_place_of_the_samples(comparison):
    assert comparison.attributes["frequency"][0]["given_"][0] == "prepared"
    assert isinstance(comparison.attributes["flat"][0]["given_"], np.ndarray)
    assert "absent_" not in comparison.attributes["flat"][0]


def test_draws_by_number_of_labels(comparison):
    assert comparison.draws_with(20) == [3, 4, 5]


def test_summary_and_paired_differences_by_hand(comparison):
    all_samples = comparison.scores[comparison.scores["group"] == "all"]
    wide = all_samples.pivot_table(index=["n_labeled", "draw"], columns="method", values="log_loss").loc[10]
    gap = wide["flat"] - wide["frequency"]
    row = (
        paired_differences(comparison.scores, reference="frequency").query("n_labeled == 10 and group == 'all'").iloc[0]
    )
    assert row["mean"] == pytest.approx(gap.mean())
    assert row["standard_error"] == pytest.approx(gap.std(ddof=1) / np.sqrt(3))
    assert (row["low"], row["high"]) == pytest.approx((row["mean"] - 2 * row["standard_error"],
                                                       row["mean"] + 2 * row["standard_error"]))  # fmt: skip
    summary = summarize_scores(comparison.scores, metrics=["log_loss"])
    mean = summary.query("method == 'frequency' and n_labeled == 10 and group == 'all'")["mean"].iloc[0]
    assert mean == pytest.approx(wide["frequency"].mean())


def test_differences_pair_equal_draws_only():
    scores = pd.DataFrame(
        {"method": ["r", "r", "m"], "n_labeled": 4, "group": "all", "draw": [0, 1, 1], "log_loss": [9.0, 1.0, 3.0]}
    )
    row = paired_differences(scores, reference="r").iloc[0]
    assert (row["mean"], row["n_draws"]) == (2.0, 1)
    assert np.isnan(row["standard_error"])


def test_unknown_reference_is_refused(comparison):
    with pytest.raises(ValueError, match=r"No scores of the reference 'best'; methods are \['flat', 'frequency'\]"):
        paired_differences(comparison.scores, reference="best")


def test_wrong_classes_are_refused():
    with pytest.raises(ValueError, match="learned the classes"):
        compare_methods({"m": Fixed()}, np.zeros((56, 1)), Y, [np.arange(10)], scorer=probability_scores)


def toy_views(n=60, *, as_sparse=False):
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"], dtype=object)[np.arange(n) % 3]
    center = 2.0 * np.eye(3)[np.arange(n) % 3]
    one, two = center + rng.normal(size=(n, 3)), center @ rng.normal(size=(3, 8)) + rng.normal(size=(n, 8))
    presence = np.ones((n, 2), dtype=bool)
    presence[::4, 1] = False
    if as_sparse:
        one, two = sparse.csr_array(np.maximum(one, 0)), sparse.csr_array(np.maximum(two, 0))
    return Views({"one": one, "two": two}, presence=presence), y


@pytest.mark.parametrize("as_sparse", [False, True])
def test_every_baseline_beats_a_constant_forecast_with_half_the_labels(as_sparse):
    views, y = toy_views(as_sparse=as_sparse)
    methods = baseline_estimators(views, n_components=4)
    methods.pop("histogram gradient boosting", None)  # needs more than 20 labels to split once
    draws = label_draws(y, 30, n_draws=1, random_state=0)
    result = compare_methods(methods, views, y, draws, scorer=probability_scores)
    assert set(result.scores["method"]) == set(methods)
    assert (result.scores["log_loss"] < np.log(3)).all(), result.scores
    assert ("KNN imputation + LR" in methods) != as_sparse
    assert {"one alone + LR", "two alone + LR", "stacking over views"} <= set(methods)


def test_baselines_work_with_two_labels_of_the_rarest_class():
    views, y = toy_views()
    draws = label_draws(y, 6, n_draws=1, random_state=0)
    result = compare_methods(baseline_estimators(views), views, y, draws, scorer=probability_scores)
    assert np.isfinite(result.scores["log_loss"]).all()


def test_transductive_pipeline_equals_its_parts_done_by_hand():
    views, y = toy_views()
    X = views["one"]
    labeled = np.arange(15)
    model = TransductivePipeline(StandardScaler(), LogisticRegression())
    fitted = clone(model).fit(X, hide_labels(y, labeled))
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    by_hand = LogisticRegression().fit(scaled[labeled], y[labeled].astype(str))
    np.testing.assert_allclose(fitted.label_distributions_, by_hand.predict_proba(scaled), rtol=1e-12)
    np.testing.assert_allclose(fitted.predict_proba(X[:4]), fitted.label_distributions_[:4], rtol=1e-12)
    assert fitted.predict(X).tolist() == by_hand.predict(scaled).tolist()
    again = clone(model).fit(model.prepare(X), hide_labels(y, labeled))
    np.testing.assert_array_equal(again.label_distributions_, fitted.label_distributions_)


def test_folds_are_as_many_as_the_rarest_class_allows():
    folds = CautiousStratifiedKFold(5)
    X = np.zeros((56, 1))
    assert folds.get_n_splits() == 5
    assert folds.get_n_splits(X, Y) == 5
    y = np.array(["a"] * 9 + ["b"] * 3)
    expected = StratifiedKFold(3, shuffle=True, random_state=0).split(np.zeros(12), y)
    for (train, test), (expected_train, expected_test) in zip(folds.split(X[:12], y), expected, strict=True):
        np.testing.assert_array_equal(train, expected_train)
        np.testing.assert_array_equal(test, expected_test)
    with pytest.raises(ValueError, match="two labeled samples of every class"):
        list(folds.split(X[:3], ["a", "a", "b"]))
