"""Cross-validation from raw tables: what is learnt, on which samples, and what is said about it."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.metrics import log_loss, roc_auc_score

from coview.compose import TableEncoder
from coview.datasets import make_two_gaussian_views
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor
from coview.model_selection import (
    Evaluation,
    cross_validate_methods,
    possible_splits,
    predictive_moments,
    usual_methods,
    verdict,
)
from coview.views import read_tables, take_rows

SETTING = {"kernels": "linear", "center": True, "n_components": 3, "amplitude": 4.0, "view_variances": 1.0}


class Spy(ClassifierMixin, BaseEstimator):
    """Answers with the shares of its training labels and notes what it was given."""

    seen = []  # noqa: RUF012  # clones share it, which is the point

    def fit(self, X, y):
        known = [label for label in y if label is not None]
        self.classes_, counts = np.unique(np.array(known, dtype=object), return_counts=True)
        self.share_ = counts / counts.sum()
        Spy.seen.append((list(X.index), list(y), {name: X[name].copy() for name in X.names}))
        return self

    def predict_proba(self, X):
        return np.tile(self.share_, (X.n_samples, 1))


class Half(RegressorMixin, BaseEstimator):
    """Predicts the mean of the targets and no spread."""

    def fit(self, X, y):
        self.mean_ = np.nanmean(y)
        return self

    def predict(self, X):
        return np.full(X.n_samples, self.mean_)


@pytest.fixture
def spy():
    Spy.seen = []
    return Spy()


def cohort(n=24, seed=0):
    """Two tables of mixed cells, the second without every third sample; classes that the first tells apart."""
    rng = np.random.default_rng(seed)
    ids = [f"p{i:02d}" for i in range(n)]
    y = np.array(["ill", "well"], dtype=object)[np.arange(n) % 2]
    age = 50 + 10.0 * (y == "ill") + rng.normal(size=n)
    clinical = pd.DataFrame({"age": age, "sex": np.array(["f", "m"])[rng.integers(0, 2, n)]}, index=ids)
    ct = pd.DataFrame(rng.normal(size=(n, 2)), index=ids, columns=["volume", "grade"])
    return read_tables({"clinical": clinical, "ct": ct[np.arange(n) % 3 != 0]}), y


def quick(*names):
    """The named ones of the usual methods; all of them take a second."""
    methods = usual_methods("classification", n_components=2)
    return {name: methods[name] for name in names or ("imputation-logistic-regression",)}


def partly(y, unlabeled):
    labels = y.copy()
    labels[unlabeled] = None
    return labels


def test_every_labeled_sample_is_left_out_once_and_unlabeled_ones_are_always_in_training(spy):
    aligned, y = cohort()
    labels = partly(y, [0, 5, 7])
    evaluation = cross_validate_methods({"spy": spy}, aligned, labels, n_splits=3, task="classification")
    assert len(evaluation.samples) == 21
    for fold, (ids, given, _) in enumerate(Spy.seen):
        left_out = set(evaluation.samples[evaluation.folds == fold])
        assert {"p00", "p05", "p07"} <= set(ids)
        assert set(ids) == set(aligned.ids) - left_out
        assert given == [labels[aligned.ids.get_loc(sample)] for sample in ids]
    assert_array_equal(evaluation.y, labels[aligned.ids.get_indexer(evaluation.samples)])


def test_tables_are_encoded_from_the_training_part_alone(spy):
    aligned, y = cohort()
    cross_validate_methods({"spy": spy}, aligned, y, n_splits=4, task="classification")
    for ids, _, blocks in Spy.seen:
        table = aligned.tables[0].values.loc[ids]
        assert_allclose(blocks["clinical"][:, 0], (table["age"] - table["age"].mean()) / table["age"].std(ddof=0))


def test_predictions_belong_to_their_samples():
    """A model that knows the answer from one column gives every sample its own."""
    aligned, y = cohort()
    methods = quick()
    evaluation = cross_validate_methods(methods, aligned, y, n_splits=4, task="classification")
    predicted = evaluation.classes[evaluation.predictions["imputation-logistic-regression"].argmax(axis=1)]
    assert_array_equal(predicted, evaluation.y)


def test_majority_class_is_the_share_in_each_training_part(spy):
    aligned, y = cohort()
    labels = partly(y, [1, 3, 5, 7])
    evaluation = cross_validate_methods({"spy": spy}, aligned, labels, n_splits=3, task="classification")
    assert_allclose(evaluation.predictions["majority class"], evaluation.predictions["spy"])


def test_scores_are_taken_over_all_samples_with_their_standard_error_over_folds(spy):
    aligned, y = cohort(22)
    methods = quick("imputation-pca-logistic-regression") | {"spy": spy}
    evaluation = cross_validate_methods(methods, aligned, y, n_splits=3, task="classification")
    proba = evaluation.predictions["imputation-pca-logistic-regression"]
    losses, areas = [], []
    for fold in range(3):
        here = evaluation.folds == fold
        losses.append(log_loss(evaluation.y[here], proba[here], labels=["ill", "well"]))
        areas.append(roc_auc_score(evaluation.y[here] == "well", proba[here][:, 1]))
    rows = evaluation.scores.set_index(["method", "metric"])
    loss = rows.loc[("imputation-pca-logistic-regression", "log_loss")]
    assert loss["mean"] == pytest.approx(log_loss(evaluation.y, proba, labels=["ill", "well"]))
    assert loss["mean"] == pytest.approx(evaluation.losses("imputation-pca-logistic-regression").mean())
    assert loss["mean"] != pytest.approx(np.mean(losses))  # folds of 8, 7 and 7 samples
    assert loss["se"] == pytest.approx(np.std(losses, ddof=1) / np.sqrt(3))
    assert loss["n_folds"] == 3
    area = rows.loc[("imputation-pca-logistic-regression", "auc")]
    assert area["mean"] == pytest.approx(np.mean(areas))


def test_calibration_error_is_taken_over_all_folds_together():
    """Twelve samples a fold would make it large whatever the model."""
    aligned, y = cohort(60)
    evaluation = cross_validate_methods({"spy": Spy()}, aligned, y, n_splits=5, task="classification")
    top = evaluation.predictions["majority class"].max(axis=1)
    hits = evaluation.predictions["majority class"].argmax(axis=1) == (evaluation.y == "well")
    assert evaluation.score("majority class", "calibration_error") == pytest.approx(abs(top.mean() - hits.mean()))


def test_a_view_alone_is_the_method_fitted_to_the_samples_that_have_it():
    aligned, y = cohort()
    model = BayesianCoTrainingClassifier(settings=[SETTING], no_view="prior")
    evaluation = cross_validate_methods(
        {"both": model}, aligned, y, n_splits=2, task="classification", views_alone_of="both"
    )
    assert list(evaluation.predictions) == ["both", "majority class", "clinical alone", "ct alone"]
    alone = evaluation.predictions["ct alone"]
    without = aligned.ids.get_indexer(evaluation.samples) % 3 == 0
    assert_allclose(alone[without], evaluation.predictions["majority class"][without])
    assert np.abs(alone[~without] - evaluation.predictions["majority class"][~without]).min() > 1e-6
    assert evaluation.score("clinical alone", "accuracy") > evaluation.score("ct alone", "accuracy")
    test = np.flatnonzero(evaluation.folds == 0)[~without[evaluation.folds == 0]]
    rows = aligned.ids.get_indexer(evaluation.samples[test])
    left_out = aligned.ids.get_indexer(evaluation.samples[evaluation.folds == 0])
    train = np.setdiff1d(np.flatnonzero(np.arange(aligned.n_samples) % 3 != 0), left_out)
    ct = TableEncoder().fit(take_rows(aligned, np.setdiff1d(np.arange(aligned.n_samples), left_out)))
    fitted = clone(model).fit(
        ct.transform(take_rows(aligned, train)).select(["ct"]), np.asarray(y, dtype=object)[train]
    )
    expected = fitted.predict_proba(ct.transform(take_rows(aligned, rows)).select(["ct"]))
    assert_allclose(alone[test], expected, rtol=1e-8)


def test_a_narrow_view_alone_gets_no_more_components_than_it_has_columns():
    aligned, y = cohort()
    methods = {"pca": usual_methods("classification", n_components=3)["imputation-pca-logistic-regression"]}
    evaluation = cross_validate_methods(methods, aligned, y, n_splits=2, task="classification", views_alone_of="pca")
    assert np.isfinite(evaluation.predictions["ct alone"]).all()


def test_one_view_has_no_row_for_itself_alone(spy):
    views, y = make_two_gaussian_views(n_samples=20, random_state=0)
    evaluation = cross_validate_methods(
        {"spy": spy}, views.select(views.names[:1]), y.astype(object), n_splits=2, task="classification",
        views_alone_of="spy",
    )  # fmt: skip
    assert list(evaluation.predictions) == ["spy", "majority class"]


def test_a_class_with_one_label_stays_in_training_and_is_not_scored(spy):
    aligned, y = cohort()
    y[4] = "unsure"
    evaluation = cross_validate_methods({"spy": spy}, aligned, y, n_splits=3, task="classification")
    assert "p04" not in evaluation.samples
    assert list(evaluation.classes) == ["ill", "unsure", "well"]
    assert all("unsure" in given for _, given, _ in Spy.seen)
    assert np.isfinite(evaluation.scores.query("metric == 'log_loss'")["mean"]).all()


def test_samples_without_any_view_are_answered_from_the_prior(spy):
    aligned, y = cohort()
    aligned.tables[0].values.iloc[6] = [np.nan, None]  # p06 is not in the second table either
    evaluation = cross_validate_methods(quick(), aligned, y, n_splits=3, task="classification")
    here = evaluation.samples == "p06"
    ours, prior = (evaluation.predictions[name][here] for name in ("imputation-logistic-regression", "majority class"))
    assert_array_equal(ours, prior)


def test_a_view_that_a_training_part_lacks_is_left_out_there():
    aligned, y = cohort()
    lone = pd.DataFrame({"rare": [1.0]}, index=["p08"])
    with_lone = read_tables({t.name: t.values.set_index(t.ids) for t in aligned.tables} | {"lone": lone})
    evaluation = cross_validate_methods(
        {"m": BayesianCoTrainingClassifier(settings=[SETTING], no_view="prior")}, with_lone, y, n_splits=3,
        task="classification", views_alone_of="m",
    )  # fmt: skip
    assert np.isfinite(evaluation.predictions["lone alone"]).all()


@pytest.mark.parametrize(
    ("y", "task", "wanted", "possible"),
    [
        (["a"] * 10 + ["b"] * 10, "classification", 5, 5),
        (["a"] * 10 + ["b"], "classification", 5, 0),
        (["a", "a", "b", "b", None], "classification", 5, 4),
        (["a", "a", "b", "b", "c"], "classification", 3, 3),
        ([1.0, 2.0, np.nan], "regression", 5, 0),
        ([1.0, 2.0, 3.5, np.nan], "regression", 5, 3),
    ],
)
def test_folds_that_labels_allow(y, task, wanted, possible):
    assert possible_splits(np.array(y, dtype=object), wanted, task=task) == possible


def test_too_few_labels_are_an_error(spy):
    aligned, _ = cohort(6)
    with pytest.raises(ValueError, match="too few labels for cross-validation"):
        cross_validate_methods({"spy": spy}, aligned, ["a", "b", None, None, None, None], task="classification")


def test_one_label_per_sample_is_needed(spy):
    with pytest.raises(ValueError, match="y has 4 entries for 24 samples"):
        cross_validate_methods({"spy": spy}, cohort()[0], ["a", "b", "a", "b"], task="classification")


def test_a_series_is_matched_by_id(spy):
    aligned, y = cohort()
    shuffled = pd.Series(y, index=aligned.ids).sample(frac=1.0, random_state=0)
    by_id = cross_validate_methods({"spy": spy}, aligned, shuffled, n_splits=3, task="classification")
    by_place = cross_validate_methods({"spy": spy}, aligned, y, n_splits=3, task="classification")
    assert_array_equal(by_id.y, by_place.y)
    assert_array_equal(by_id.folds, by_place.folds)


def test_progress_is_told_after_every_fit(spy):
    told = []
    aligned, y = cohort()
    cross_validate_methods(
        {"one": spy, "two": spy}, aligned, y, n_splits=2, task="classification", views_alone_of="one",
        progress=lambda *news: told.append(news),
    )  # fmt: skip
    assert told == [
        (1, 4, "one, fold 1 of 2"),
        (2, 4, "two, fold 1 of 2"),
        (3, 4, "one, fold 2 of 2"),
        (4, 4, "two, fold 2 of 2"),
    ]


def test_folds_at_the_same_time_give_the_same_as_one_after_another():
    aligned, y = cohort()
    methods = quick()
    with parallel_config(backend="threading"):  # as processes would, without starting any
        one, two = (
            cross_validate_methods(methods, aligned, y, n_splits=2, task="classification", n_jobs=n) for n in (1, 2)
        )
    pd.testing.assert_frame_equal(one.scores, two.scores)


def test_numbers_are_predicted_with_the_noise_of_an_observation():
    aligned, _ = cohort(30)
    y = aligned.tables[0].values["age"].to_numpy() / 7 + np.random.default_rng(1).normal(size=30)
    y[[2, 3]] = np.nan
    methods = {"gp": BayesianCoTrainingRegressor(settings=[SETTING | {"noise_variance": 1.0}]), "half": Half()}
    evaluation = cross_validate_methods(methods, aligned, y, n_splits=4, task="regression", views_alone_of="gp")
    assert evaluation.predictions["gp"].shape == (28, 2)
    assert (evaluation.predictions["gp"][:, 1] > 1.0).all()
    assert np.isnan(evaluation.predictions["half"][:, 1]).all()
    assert np.isnan(evaluation.score("half", "coverage_90"))
    assert_allclose(evaluation.predictions["half"][:, 0], evaluation.predictions["mean of the labels"][:, 0])
    assert "clinical alone" in evaluation.predictions
    residuals = evaluation.y - evaluation.predictions["gp"][:, 0]
    total = np.square(evaluation.y - evaluation.y.mean()).sum()
    assert evaluation.score("gp", "r2") == pytest.approx(1 - np.square(residuals).sum() / total)


def test_whole_numbers_as_targets_are_no_classes():
    aligned, _ = cohort()
    evaluation = cross_validate_methods({"half": Half()}, aligned, np.arange(24.0), n_splits=4, task="regression")
    assert_array_equal(np.bincount(evaluation.folds), [6, 6, 6, 6])


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_dictionary_is_json_and_comes_back(task):
    aligned, y = cohort()
    methods = {"half": Half()} if task == "regression" else {"spy": Spy()}
    labels = np.arange(24.0) / 7 if task == "regression" else y
    evaluation = cross_validate_methods(methods, aligned, labels, n_splits=3, task=task)
    text = json.dumps(evaluation.to_dict(), allow_nan=False)
    back = Evaluation.from_dict(json.loads(text))
    assert back.to_dict() == evaluation.to_dict()
    pd.testing.assert_frame_equal(back.scores, evaluation.scores)
    pd.testing.assert_frame_equal(back.fold_scores, evaluation.fold_scores)
    assert_array_equal(back.y, evaluation.y)
    assert list(back.samples) == list(evaluation.samples)
    for name, values in evaluation.predictions.items():
        assert_array_equal(back.predictions[name], values)


def test_difference_is_paired_over_samples(spy):
    aligned, y = cohort()
    methods = quick()
    evaluation = cross_validate_methods(methods, aligned, y, n_splits=3, task="classification")
    name = "imputation-logistic-regression"
    at = (np.arange(24), (evaluation.y == "well").astype(int))
    losses = [-np.log(evaluation.predictions[method][at]) for method in (name, "majority class")]
    gap = losses[0] - losses[1]
    difference = evaluation.difference(name, "majority class")
    assert difference.mean == pytest.approx(gap.mean())
    assert difference.standard_error == pytest.approx(gap.std(ddof=1) / np.sqrt(24))
    assert difference.in_standard_errors < -2
    assert evaluation.difference(name, name).in_standard_errors == 0.0


def test_the_views_together_are_held_against_the_best_of_them():
    aligned, y = cohort(60, seed=3)
    methods = quick("imputation-logistic-regression")
    name = next(iter(methods))
    evaluation = cross_validate_methods(methods, aligned, y, n_splits=3, task="classification", views_alone_of=name)
    *_, sentence = verdict(evaluation, name)
    assert sentence.startswith(
        "These labels do not show that the other views add to 'clinical', the best of them alone"
    )
    worse, better = evaluation.predictions["ct alone"], evaluation.predictions["clinical alone"]
    swapped = {**evaluation.predictions, name: worse}
    assert verdict(replace(evaluation, predictions=swapped), name)[-1].startswith(
        "The views together predict worse than 'clinical' alone"
    )
    swapped = {**evaluation.predictions, name: better, "clinical alone": worse}
    assert verdict(replace(evaluation, predictions=swapped), name)[-1].startswith(
        "The views together predict better than"
    )


def test_unknown_names_are_named(spy):
    aligned, y = cohort()
    with pytest.raises(ValueError, match="none of the methods: spy"):
        cross_validate_methods({"spy": spy}, aligned, y, task="classification", views_alone_of="other")
    evaluation = cross_validate_methods({"spy": spy}, aligned, y, n_splits=2, task="classification")
    with pytest.raises(ValueError, match="No method 'other' was evaluated; there are spy"):
        evaluation.losses("other")
    with pytest.raises(ValueError, match="no score 'f1'"):
        evaluation.score("spy", "f1")


def test_a_useful_model_is_told_from_a_useless_one(spy):
    aligned, y = cohort(40)
    methods = quick("imputation-logistic-regression", "gradient-boosting") | {"spy": spy}
    evaluation = cross_validate_methods(methods, aligned, y, n_splits=4, task="classification")
    name = "imputation-logistic-regression"
    good, simple = verdict(evaluation, name, simple="gradient-boosting")  # which needs more samples than these
    assert good.startswith("It predicts better than the shares of the classes alone (log loss 0.")
    assert simple.startswith("It is better than gradient-boosting")
    assert verdict(evaluation, name, simple=name) == [good]
    (bad,) = verdict(evaluation, "spy")
    assert bad.startswith("This model is useless")
    assert "take that simpler model instead" in verdict(evaluation, "spy", simple=name)[1]


class TooSure(ClassifierMixin, BaseEstimator):
    """Knows the class of three samples of four, and is certain of every one."""

    def fit(self, X, y):
        self.classes_ = np.array(["ill", "well"], dtype=object)
        return self

    def predict_proba(self, X):
        numbers = np.array([int(sample[1:]) for sample in X.index])
        odd = (numbers % 2 == 1) ^ (numbers % 4 == 0)
        return np.column_stack([~odd, odd]).astype(float) * (1 - 2e-9) + 1e-9


def test_probabilities_that_are_worthless_are_told_from_classes_that_are_not():
    aligned, y = cohort(80)
    evaluation = cross_validate_methods({"sure": TooSure()}, aligned, y, n_splits=4, task="classification")
    (sentence,) = verdict(evaluation, "sure")
    assert sentence.startswith("Its probabilities are no better than the shares of the classes alone (log loss 5.")
    assert "accuracy 0.750 against 0.500" in sentence


def test_labels_at_random_give_a_useless_model():
    aligned, _ = cohort(60, seed=3)
    y = np.random.default_rng(5).permutation(np.array(["a", "b"], dtype=object)[np.arange(60) % 2])
    evaluation = cross_validate_methods(
        {"m": BayesianCoTrainingClassifier(settings=[SETTING])}, aligned, y, task="classification"
    )
    assert verdict(evaluation, "m")[0].startswith("This model is useless")


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_usual_methods_fit_what_the_encoder_gives(task, is_sparse):
    aligned, y = cohort()
    if is_sparse:
        words = ["red house", "blue house here", "green tree", "old tree"]
        text = pd.DataFrame({"note": [f"{words[i % 4]} {i}" for i in range(24)]}, index=aligned.ids)
        aligned = read_tables({"clinical": aligned.tables[0].values.set_index(aligned.ids), "notes": text})
    views = TableEncoder().fit_transform(aligned)
    labels = y if task == "classification" else np.arange(24.0)
    for method in usual_methods(task, n_components=2, sparse=is_sparse).values():
        assert len(method.fit(views, labels).predict(views)) == 24
    names = list(usual_methods(task, sparse=is_sparse))
    assert ("gradient-boosting" in names) is not is_sparse


def test_moments_of_any_regressor():
    aligned, _ = cohort()
    views = TableEncoder().fit_transform(aligned)
    y = np.arange(24.0)
    methods = usual_methods("regression", n_components=2)
    mean, sd = predictive_moments(methods["imputation-ridge"].fit(views, y), views)
    assert (sd > 0).all()
    assert np.corrcoef(mean, y)[0, 1] > 0.2
    _, unknown = predictive_moments(methods["gradient-boosting"].fit(views, y), views)
    assert np.isnan(unknown).all()
