"""Label draws, paired comparison, and the transductive baselines."""

from time import sleep

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from coview import Views
from coview.metrics import probability_scores, regression_scores
from coview.model_selection import (
    CautiousStratifiedKFold,
    TransductivePipeline,
    TransductiveRegressor,
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
    with pytest.raises(ValueError, match="below the number of samples with a label, 56; got 56"):
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


def test_samples_whose_label_nobody_knows_are_fitted_and_never_drawn_or_scored():
    y = Y.copy()
    y[:10] = None
    draws = label_draws(y, 12, n_draws=20, random_state=0)
    assert min(draw.min() for draw in draws) == 10
    result = compare_methods(
        {"m": Fixed()}, np.zeros((56, 1)), y, draws[:1], scorer=probability_scores, keep=["given_"]
    )
    assert result.scores["n_test"].tolist() == [34]
    assert len(result.attributes["m"][0]["given_"]) == 56
    with pytest.raises(ValueError, match="below the number of samples with a label, 46; got 46"):
        label_draws(y, 46)


def scaled_logistic(**options):
    return TransductivePipeline(StandardScaler(), LogisticRegression(**options))


def test_new_samples_are_scored_by_models_that_never_saw_them():
    views, y = toy_views()
    X, seen = np.asarray(views["one"]), np.arange(60) < 45
    draws = label_draws(y[seen], 12, n_draws=2, random_state=0)
    result = compare_methods({"m": scaled_logistic()}, X[seen], y[seen], draws, scorer=probability_scores,
                             new=(X[~seen], y[~seen]))  # fmt: skip
    assert result.scores["group"].tolist() == ["all", "new", "all", "new"]
    assert result.scores["n_test"].tolist() == [33, 15, 33, 15]
    fitted = scaled_logistic().fit(X[seen], hide_labels(y[seen], draws[1]))
    expected = probability_scores(y[~seen].astype(str), fitted.predict_proba(X[~seen]), classes=["a", "b", "c"])
    assert result.scores["log_loss"].iloc[3] == pytest.approx(expected["log_loss"])
    with pytest.raises(ValueError, match="1 of the new samples have no label"):
        compare_methods({}, X, y, draws, scorer=probability_scores, new=(X[:2], ["a", None]))


class Failing(Fixed):
    """Cannot be fitted to more than ten labels."""

    def fit(self, X, y):
        if sum(label is not None for label in y) > 10:
            raise FloatingPointError("too much")
        return super().fit(X, y)


def test_errors_end_a_comparison_or_are_recorded_beside_the_scores():
    draws = [d for n in (10, 20) for d in label_draws(Y, n, n_draws=2, random_state=0)]
    with pytest.raises(FloatingPointError, match="too much"):
        compare_methods({"m": Failing()}, np.zeros((56, 1)), Y, draws, scorer=probability_scores)
    result = compare_methods({"m": Failing(), "r": Fixed(0.0)}, np.zeros((56, 1)), Y, draws, scorer=probability_scores,
                             on_error="record")  # fmt: skip
    failed = result.scores[result.scores["error"] != ""]
    assert failed[["method", "n_labeled"]].to_numpy().tolist() == [["m", 20], ["m", 20]]
    assert set(failed["error"]) == {"FloatingPointError: too much"}
    assert failed["log_loss"].isna().all()
    assert np.isnan(result.predictions["m"][3]).all()
    assert paired_differences(result.scores, reference="r").set_index("n_labeled")["n_draws"].to_dict() == {
        10: 2,
        20: 0,
    }
    with pytest.raises(ValueError, match="on_error must be 'raise' or 'record'; got 'hide'"):
        compare_methods({}, X=None, y=Y, draws=[], scorer=probability_scores, on_error="hide")


class Unprepared(Prepared):
    """Its label-free part fails."""

    def prepare(self, X):
        raise MemoryError("too large")


def test_an_error_before_the_first_fit_is_that_of_every_fit():
    draws = label_draws(Y, 10, n_draws=3, random_state=0)
    result = compare_methods({"m": Unprepared()}, np.zeros((56, 1)), Y, draws, scorer=probability_scores,
                             on_error="record")  # fmt: skip
    assert result.scores["error"].tolist() == ["MemoryError: too large"] * 3
    assert result.scores["seconds"].isna().all()


class Improper(Fixed):
    """Its probabilities do not sum to one."""

    def fit(self, X, y):
        super().fit(X, y)
        self.label_distributions_ = 2.0 * self.label_distributions_
        return self


def test_predictions_that_cannot_be_scored_are_errors_too():
    draws = label_draws(Y, 10, n_draws=1, random_state=0)
    result = compare_methods({"m": Improper()}, np.zeros((56, 1)), Y, draws, scorer=probability_scores,
                             on_error="record")  # fmt: skip
    assert (
        result.scores["error"].iloc[0].startswith("ValueError: Every row of y_proba must be a probability distribution")
    )
    assert result.scores["n_test"].tolist() == [46]
    with pytest.raises(ValueError, match="must be a probability distribution"):
        compare_methods({"m": Improper()}, np.zeros((56, 1)), Y, draws, scorer=probability_scores)


class Slow(Fixed):
    """Takes its time before and in each fit."""

    def prepare(self, X):
        sleep(0.05)
        return X

    def fit(self, X, y):
        sleep(0.02)
        return super().fit(X, y)


def test_seconds_of_fits_and_of_the_part_they_share():
    draws = label_draws(Y, 10, n_draws=2, random_state=0)
    scores = compare_methods({"m": Slow()}, np.zeros((56, 1)), Y, draws, scorer=probability_scores).scores
    assert (scores["preparation"] >= 0.05).all()
    assert (scores["seconds"] >= 0.02).all()
    assert scores["preparation"].iloc[0] == scores["preparation"].iloc[1]


def test_regressors_are_compared_by_mean_and_spread():
    views, _ = toy_views()
    X = np.asarray(views["one"])
    y = X @ [1.0, -2.0, 0.5] + np.random.default_rng(1).normal(scale=0.3, size=60)
    draws = label_draws(y, 15, n_draws=2, n_per_class=0, random_state=0)
    method = TransductiveRegressor(StandardScaler(), BayesianRidge())
    result = compare_methods({"ridge": method}, X, y, draws, scorer=regression_scores, task="regression",
                             new=(X[:9], y[:9]))  # fmt: skip
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    mean, sd = BayesianRidge().fit(scaled[draws[0]], y[draws[0]]).predict(scaled, return_std=True)
    np.testing.assert_allclose(result.predictions["ridge"][0], np.column_stack([mean, sd]), rtol=1e-9)
    hidden = np.setdiff1d(np.arange(60), draws[0])
    expected = regression_scores(y[hidden], mean[hidden], sd[hidden])
    first = result.scores.iloc[0]
    assert {name: first[name] for name in expected} == pytest.approx(expected)
    assert result.scores["group"].tolist() == ["all", "new"] * 2
    assert not len(result.classes)
    with pytest.raises(ValueError, match="task must be 'classification' or 'regression'; got 'ranking'"):
        compare_methods({}, X, y, draws, scorer=regression_scores, task="ranking")


def test_draws_for_numbers_take_all_samples_alike():
    y = np.array([np.nan, *np.arange(9.0)])
    chosen = np.concatenate(label_draws(y, 3, n_draws=600, n_per_class=0, random_state=0))
    counts = np.bincount(chosen, minlength=10)
    assert counts[0] == 0
    assert counts[1:] / 600 == pytest.approx(np.full(9, 1 / 3), abs=0.08)
    with pytest.raises(
        ValueError, match=r"n_labeled must be at least 1 .* below the number of samples with a label, 9"
    ):
        label_draws(y, 0, n_per_class=0)


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
