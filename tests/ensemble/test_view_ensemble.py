"""Ensembles of unions of views: rules by hand, choices by hand, missing views, labels of any coding, bad input."""

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from coview import Views
from coview.ensemble import ViewEnsembleClassifier, ViewVotingClassifier, result_vector_vote, view_subsets
from coview.exceptions import ViewError
from coview.neighbors import HyperplaneKNeighborsClassifier
from coview.persistence import load_model, save_model
from coview.semi_supervised import CoEMClassifier, CoTrainingClassifier

ALL_RULES = ["result_vector", "majority", "weighted", "soft", "product", "modified_product", "local_accuracy"]
LABEL_RULES = ["result_vector", "majority", "weighted", "local_accuracy"]


def problem(n=60, n_classes=3, seed=0, missing=0.0):
    """Three views of Gaussian classes, classes as text."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    tables = [rng.normal(size=(n_classes, d))[codes] + rng.normal(size=(n, d)) for d in (2, 3, 2)]
    lost = rng.random((n, 3)) < missing
    lost[lost.all(axis=1), 0] = False
    tables = [np.where(gone[:, None], np.nan, table) for table, gone in zip(tables, lost.T, strict=True)]
    return Views(dict(zip("abc", tables, strict=True))), np.array(["ill", "well", "dead", "gone"])[codes]


def side_by_side(views, subset):
    """Positions and table of the samples that have all views of a subset, by way of data frames."""
    table = pd.concat([views.to_frame(name) for name in subset], axis=1).to_numpy()
    rows = np.flatnonzero(~np.isnan(table).any(axis=1))
    return rows, table[rows]


def by_hand(views, y, new, template):
    """Probabilities (n_new, n_subsets, n_classes) of fits to the samples with each subset, NaN where a new sample lacks it."""
    subsets = view_subsets(views.names)
    found = np.full((len(new), len(subsets), len(np.unique(y))), np.nan)
    for m, subset in enumerate(subsets):
        rows, table = side_by_side(views, subset)
        new_rows, new_table = side_by_side(new, subset)
        if len(new_rows):
            found[new_rows, m] = clone(template).fit(table, y[rows]).predict_proba(new_table)
    return found


@pytest.fixture(params=[0.0, 0.4], ids=["complete", "incomplete"])
def data(request):
    views, y = problem(90, missing=request.param)
    return views[:60], y[:60], views[60:], y[60:]


@pytest.mark.parametrize("rule", ["soft", "product", "modified_product", "majority"])
def test_all_subsets_by_simple_rules(data, rule):
    views, y, new, _ = data
    parts = by_hand(views, y, new, GaussianNB())
    with np.errstate(divide="ignore"):
        votes = np.where(np.isnan(parts[..., :1]), 0.0, np.eye(3)[np.nan_to_num(parts).argmax(axis=2)])
        expected = {
            "soft": np.nanmean(parts, axis=1),
            "product": np.nanprod(parts, axis=1),
            "modified_product": np.nanprod(np.maximum(parts, 0.2), axis=1),
            "majority": votes.sum(axis=1),
        }[rule]
    expected /= expected.sum(axis=1, keepdims=True)
    model = ViewEnsembleClassifier(GaussianNB(), selection=None, combination=rule, threshold=0.2).fit(views, y)
    np.testing.assert_allclose(model.predict_proba(new), expected, rtol=1e-7, atol=1e-12)
    np.testing.assert_array_equal(model.predict(new), model.classes_[expected.argmax(axis=1)])
    assert model.cv_errors_ is None  # nothing asked for it, so nothing was left out


def left_out(views, y, template):
    """Codes (n, n_subsets) of what fits without each sample say, -1 where it lacks the subset."""
    classes, codes = np.unique(y, return_inverse=True)
    subsets = view_subsets(views.names)
    said = np.full((len(views), len(subsets)), -1)
    for m, subset in enumerate(subsets):
        rows, table = side_by_side(views, subset)
        said[rows, m] = np.searchsorted(classes, cross_val_predict(template, table, y[rows], cv=LeaveOneOut()))
    return said, codes


def test_errors_are_those_of_leave_one_out_and_choose_the_subsets(data):
    views, y, _, _ = data
    said, codes = left_out(views, y, GaussianNB())
    most = np.bincount(codes).argmax()
    errors = (np.where(said < 0, most, said) != codes[:, None]).mean(axis=0)
    model = ViewEnsembleClassifier(GaussianNB(), cv="leave_one_out", n_views_selected=4).fit(views, y)
    np.testing.assert_allclose(model.cv_errors_, errors)
    order = np.argsort(errors, kind="stable")
    assert model.subsets_ == [view_subsets("abc")[m] for m in order[:4]]
    np.testing.assert_array_equal(model.out_of_fold_labels_ == y[:, None], said == codes[:, None])
    assert [label is None for label in model.out_of_fold_labels_.ravel()] == (said < 0).ravel().tolist()
    difference = np.sort(errors)[3] - errors.min()
    near = ViewEnsembleClassifier(GaussianNB(), cv="leave_one_out", max_cv_difference=difference).fit(views, y)
    assert near.subsets_ == [view_subsets("abc")[m] for m in order if errors[m] <= errors.min() + difference + 1e-9]
    assert 1 < len(near.subsets_) < 7
    two = clone(near).set_params(n_views_selected=2).fit(views, y)
    assert two.subsets_ == near.subsets_[:2]


def test_weights_are_the_log_odds_of_left_out_answers(data):
    views, y, new, _ = data
    said, codes = left_out(views, y, GaussianNB())
    judged = (said >= 0).sum(axis=0)
    error = (((said >= 0) & (said != codes[:, None])).sum(axis=0) + 1) / (judged + 2)
    weights = np.maximum(np.log(2 * (1 - error) / error), 0)
    parts = by_hand(views, y, new, GaussianNB())
    votes = np.where(np.isnan(parts[..., :1]), 0.0, np.eye(3)[np.nan_to_num(parts).argmax(axis=2)])
    expected = (votes * weights[:, None]).sum(axis=1)
    model = ViewEnsembleClassifier(GaussianNB(), selection=None, combination="weighted", cv="leave_one_out")
    found = model.fit(views, y).predict_proba(new)
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-12)


def test_locally_best_members_vote(data):
    views, y, new, _ = data
    said, codes = left_out(views, y, GaussianNB())
    parts = by_hand(views, y, new, GaussianNB())
    expected = np.zeros((len(new), 3))
    for i in range(len(new)):
        near = {}
        for m, subset in enumerate(view_subsets("abc")):
            if np.isnan(parts[i, m, 0]):
                continue
            rows, table = side_by_side(views, subset)
            x = side_by_side(new[[i]], subset)[1]
            nearest = rows[np.argsort(((table - x) ** 2).sum(axis=1), kind="stable")[:7]]
            near[m] = np.count_nonzero(said[nearest, m] == codes[nearest])
        for m in (m for m, right in near.items() if right == max(near.values())):
            expected[i, parts[i, m].argmax()] += 1
    model = ViewEnsembleClassifier(GaussianNB(), selection=None, combination="local_accuracy", n_neighbors=7)
    found = model.set_params(cv="leave_one_out").fit(views, y).predict_proba(new)
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rule", ALL_RULES)
def test_forward_selection_is_greedy_and_never_lets_a_sample_vote_for_itself(rule):
    """Redone step by step with refits: the error of the ensemble on left-out answers, each sample against the others."""
    views, y = problem(40, missing=0.2, seed=3)
    settings = {"combination": rule, "cv": "leave_one_out", "n_neighbors": 5}
    model = ViewEnsembleClassifier(GaussianNB(), selection="forward", **settings).fit(views, y)
    errors, chosen = model.selection_errors_, model.subsets_
    assert len(errors) == len(chosen)
    assert all(after < before for before, after in pairwise(errors))
    assert chosen[0] == model.candidates_[model.cv_errors_.argmin()]
    if rule == "result_vector":
        for size in range(1, len(chosen) + 1):
            columns = [model.candidates_.index(subset) for subset in chosen[:size]]
            vectors, wrong = model.out_of_fold_labels_[:, columns], 0
            for i in range(len(y)):
                others = np.delete(np.arange(len(y)), i)
                silent = all(label is None for label in vectors[i])
                told = result_vector_vote(vectors[others], y[others], vectors[[i]])[0]
                wrong += (model.classes_[model._shares.argmax()] if silent else told) != y[i]
            assert wrong / len(y) == pytest.approx(errors[size - 1])


def test_forward_selection_stops_at_the_limit_and_uses_the_validation_set():
    views, y = problem(60, seed=1)
    model = ViewEnsembleClassifier(GaussianNB(), selection="forward", combination="soft", random_state=0).fit(
        views[:40], y[:40], validation=(views[40:], y[40:])
    )
    assert model.selection_errors_[-1] == pytest.approx((model.predict(views[40:]) != y[40:]).mean())
    one = clone(model).set_params(n_views_selected=1).fit(views[:40], y[:40], validation=(views[40:], y[40:]))
    assert len(one.subsets_) == 1
    gaps = y[40:].astype(object)
    gaps[::2] = None
    few = clone(model).fit(views[:40], y[:40], validation=(views[40:], gaps))
    assert few.selection_errors_[-1] == pytest.approx((few.predict(views[41::2]) != y[41::2]).mean())


def test_random_selection_fits_what_it_chose_and_follows_the_seed():
    views, y = problem()
    models = [ViewEnsembleClassifier(selection="random", random_state=seed).fit(views, y) for seed in range(8)]
    assert all(len(model.subsets_) == 3 and model.candidates_ == model.subsets_ for model in models)
    assert len({tuple(model.subsets_) for model in models}) > 3
    again = ViewEnsembleClassifier(selection="random", random_state=0).fit(views, y)
    assert again.subsets_ == models[0].subsets_


@pytest.mark.parametrize("rule", ALL_RULES)
def test_one_view_is_the_estimator(rule):
    views, y = problem()
    model = ViewEnsembleClassifier(GaussianNB(), combination=rule).fit(views.select(["b"]), y)
    plain = GaussianNB().fit(views["b"], y)
    assert model.subsets_ == [("b",)]
    if rule == "result_vector":  # what the classifier says may mean another class by experience
        found = model.out_of_fold_labels_[:, 0]
        means = {label: max(model.classes_, key=lambda c: np.sum(y[found == label] == c)) for label in model.classes_}
        expected = np.array([means[label] for label in plain.predict(views["b"])])
        np.testing.assert_array_equal(model.predict(views.select(["b"])), expected)
        return
    np.testing.assert_array_equal(model.predict(views.select(["b"])), plain.predict(views["b"]))
    if rule in ("soft", "product"):
        np.testing.assert_allclose(model.predict_proba(views.select(["b"])), plain.predict_proba(views["b"]))


@pytest.mark.parametrize("rule", ALL_RULES)
def test_samples_of_which_no_chosen_subset_is_complete_are_judged_by_single_views(rule):
    views, y = problem(missing=0.3, seed=2)
    model = ViewEnsembleClassifier(GaussianNB(), subsets=[("a", "b"), ("a", "b", "c")], combination=rule).fit(views, y)
    assert set(model.subsets_) == {("a", "b"), ("a", "b", "c")}
    new = {"c": np.array([[0.5, -0.5], [2.0, 1.0]])}
    rows = views.rows("c")
    expected = GaussianNB().fit(views["c"], y[rows]).predict(new["c"])
    np.testing.assert_array_equal(model.predict(new), expected)
    assert all(label is None for label in model.predict_per_subset(new).ravel())


def test_a_view_without_two_classes_is_no_member():
    views, y = problem()
    table = np.full((60, 1), np.nan)
    table[np.flatnonzero(y == "ill")[:5]] = 1.0
    wide = Views({"a": views["a"], "rare": table})
    model = ViewEnsembleClassifier(selection=None, combination="majority").fit(wide, y)
    assert model.subsets_ == [("a",)]
    with pytest.raises(ViewError, match=r"1 have none"):
        model.predict({"rare": [[1.0]]})
    prior = ViewEnsembleClassifier(selection=None, combination="majority", no_view="prior").fit(wide, y)
    np.testing.assert_allclose(prior.predict_proba({"rare": [[1.0]]}), [[1 / 3, 1 / 3, 1 / 3]])
    with pytest.raises(ValueError, match="None of the subsets"):
        ViewEnsembleClassifier(subsets=[("rare",)]).fit(wide, y)


@pytest.mark.parametrize("rule", ALL_RULES)
@pytest.mark.parametrize("base", [LinearSVC(), NearestCentroid(), DecisionTreeClassifier(max_depth=2)])
def test_any_estimator(base, rule):
    views, y = problem(90, missing=0.2)
    model = ViewEnsembleClassifier(base, combination=rule, selection="forward", random_state=0).fit(views[:60], y[:60])
    assert (model.predict(views[60:]) == y[60:]).mean() > 0.5
    np.testing.assert_allclose(model.predict_proba(views[60:]).sum(axis=1), 1.0)


class OnlyLabels(ClassifierMixin, BaseEstimator):
    """A classifier that gives labels and nothing else."""

    def fit(self, X, y):
        self.inner_ = GaussianNB().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)


def test_labels_alone_serve_all_rules_of_labels():
    views, y = problem()
    for rule in LABEL_RULES:
        expected = ViewEnsembleClassifier(GaussianNB(), combination=rule, random_state=0).fit(views, y)
        found = ViewEnsembleClassifier(OnlyLabels(), combination=rule, random_state=0).fit(views, y)
        np.testing.assert_array_equal(found.predict(views), expected.predict(views))
    with pytest.raises(ValueError, match=r"'soft' needs probabilities.*OnlyLabels"):
        ViewEnsembleClassifier(OnlyLabels(), combination="soft").fit(views, y)


def test_sparse_views_stay_sparse_and_give_the_same():
    views, y = problem(missing=0.2)
    keep = np.flatnonzero(views.presence[:, :2].any(axis=1))
    views, y = views[keep], y[keep]
    table = sparse.csr_array(np.nan_to_num(views.to_frame("b").to_numpy()))
    thin = Views([views.to_frame("a").to_numpy(), table], names=["a", "b"], presence=views.presence[:, :2])
    thick = views.select(["a", "b"])
    for rule in ("result_vector", "local_accuracy", "soft"):
        model = ViewEnsembleClassifier(LogisticRegression(tol=1e-10, max_iter=5000), combination=rule, random_state=0)
        dense, found = clone(model).fit(thick, y), clone(model).fit(thin, y)
        np.testing.assert_allclose(found.predict_proba(thin), dense.predict_proba(thick), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("rule", ALL_RULES)
@pytest.mark.parametrize("order", [["dead", "ill", "well"], ["well", "dead", "ill"]])
def test_declared_classes_in_any_order_mean_the_same(rule, order):
    views, y = problem()
    plain = ViewEnsembleClassifier(combination=rule, random_state=0).fit(views, y)
    other = ViewEnsembleClassifier(combination=rule, random_state=0, classes=order, cv="auto").fit(views, y)
    assert list(other.classes_) == order
    if rule in ("soft", "product"):
        places = [list(other.classes_).index(c) for c in plain.classes_]
        kept = ViewEnsembleClassifier(combination=rule, selection=None, classes=order).fit(views, y)
        same = ViewEnsembleClassifier(combination=rule, selection=None).fit(views, y)
        np.testing.assert_allclose(kept.predict_proba(views)[:, places], same.predict_proba(views), rtol=1e-4)
    assert (other.predict(views) == y).mean() > 0.7


def test_late_fusion_takes_declared_classes_in_any_order():
    views, y = problem(n_classes=2)
    for voting in ("soft", "product", "stacking"):
        for base in (LogisticRegression(), LinearSVC()):
            plain = ViewVotingClassifier(base, voting=voting, random_state=0).fit(views, y)
            other = ViewVotingClassifier(base, voting=voting, random_state=0, classes=["well", "ill"]).fit(views, y)
            assert (other.predict(views) == y).mean() == pytest.approx((plain.predict(views) == y).mean(), abs=0.05)
            assert (other.predict(views) == y).mean() > 0.7


@pytest.mark.parametrize("rule", ["result_vector", "soft", "local_accuracy"])
def test_saved_and_loaded(tmp_path, rule):
    views, y = problem(missing=0.2)
    model = ViewEnsembleClassifier(HyperplaneKNeighborsClassifier(3), combination=rule).fit(views, y)
    save_model(model, tmp_path / "model.coview")
    loaded = load_model(tmp_path / "model.coview").model
    np.testing.assert_array_equal(loaded.predict_proba(views), model.predict_proba(views))
    assert loaded.subsets_ == model.subsets_


def test_unlabeled_samples_are_not_used():
    views, y = problem(90)
    gaps = y.astype(object)
    gaps[60:] = None
    model = ViewEnsembleClassifier(GaussianNB(), cv="leave_one_out").fit(views, gaps)
    fewer = ViewEnsembleClassifier(GaussianNB(), cv="leave_one_out").fit(views[:60], y[:60])
    np.testing.assert_allclose(model.cv_errors_, fewer.cv_errors_)
    np.testing.assert_array_equal(model.predict_proba(views), fewer.predict_proba(views))
    assert all(label is None for label in model.out_of_fold_labels_[60:].ravel())
    assert model.label_distributions_.shape == (90, 3)


def test_many_views_are_cut_with_a_word():
    rng = np.random.default_rng(0)
    y = np.arange(12) % 2
    views = {f"v{j}": rng.normal(size=(12, 1)) + y[:, None] for j in range(9)}
    model = ViewEnsembleClassifier(GaussianNB(), selection=None, combination="majority")
    with pytest.warns(UserWarning, match="9 views have 511 subsets; only the first 255"):
        model.fit(views, y)
    assert len(model.subsets_) == 255
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(clone(model).set_params(max_subsets=20).fit(views, y).subsets_) == 20


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"subsets": [("a", "z")]}, r"('a', 'z')"),
        ({"subsets": [("a", "b"), ("b", "a")]}, "twice"),
        ({"subsets": []}, "empty"),
        ({"subsets": [()]}, "tuples of different views"),
        ({"cv": 1}, "cv"),
        ({"combination": "mode"}, "combination"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    views, y = problem()
    with pytest.raises(ValueError, match=message):
        ViewEnsembleClassifier(**parameters).fit(views, y)


def test_validation_without_forward_and_without_labels_is_refused():
    views, y = problem()
    with pytest.raises(ValueError, match="validation is what selection='forward' chooses by"):
        ViewEnsembleClassifier().fit(views, y, validation=(views, y))
    nobody = np.full(60, None, dtype=object)
    with pytest.raises(ValueError, match="validation"):
        ViewEnsembleClassifier(selection="forward").fit(views, y, validation=(views, nobody))


def wide(n_per_class, seed):
    """Two wide views of two classes of equal size, and new samples: learners tilt to the class they have more of."""
    rng = np.random.default_rng(seed)
    codes = np.arange(2 * n_per_class + 200) % 2
    side = np.where(codes == 1, 0.35, -0.35)[:, None]
    views = Views({name: side + rng.normal(size=(len(codes), 30)) for name in "ab"})
    return views[: 2 * n_per_class], codes[: 2 * n_per_class], views[2 * n_per_class :], codes[2 * n_per_class :]


@pytest.mark.parametrize("n_per_class", [1, 2, 3, 6])
def test_few_labels_of_each_class_do_not_turn_answers_round(n_per_class):
    stiff = LogisticRegression(C=1e-4)
    for seed in range(5):
        views, y, new, truth = wide(n_per_class, seed)
        plain = ViewEnsembleClassifier(stiff, combination="majority", random_state=0).fit(views, y).score(new, truth)
        found = ViewEnsembleClassifier(stiff, random_state=0).fit(views, y).score(new, truth)
        assert plain > 0.6
        assert found > plain - 0.1


@pytest.mark.parametrize(
    "model",
    [CoTrainingClassifier(LinearSVC(), n_rounds=3, random_state=0), CoEMClassifier(max_iter=3, unlabeled_weight=0.1)],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_other_classifiers_of_single_views_take_declared_classes_in_any_order(model):
    views, y = problem(n_classes=2)
    gaps = np.where(np.arange(60) < 40, y, None)
    plain = clone(model).set_params(classes=["ill", "well"]).fit(views, gaps)
    other = clone(model).set_params(classes=["well", "ill"]).fit(views, gaps)
    assert (plain.predict(views) == y).mean() > 0.75
    assert (other.predict(views) == plain.predict(views)).mean() > 0.9


@pytest.mark.parametrize("rule", ["result_vector", "weighted", "local_accuracy"])
def test_the_order_of_training_samples_and_the_other_new_ones_mean_nothing(rule):
    views, y = problem(60, missing=0.2, seed=4)
    order = np.random.default_rng(0).permutation(60)
    base = HyperplaneKNeighborsClassifier(3)
    model = ViewEnsembleClassifier(base, selection="forward", combination=rule).fit(views, y)
    other = clone(model).fit(views[order], y[order])
    assert other.subsets_ == model.subsets_
    new = problem(10, missing=0.4, seed=4)[0]
    expected = model.predict_proba(new)
    np.testing.assert_allclose(other.predict_proba(new), expected, rtol=1e-9)
    np.testing.assert_array_equal(np.vstack([model.predict_proba(new[[i]]) for i in range(10)]), expected)


CHECKED = [
    {"estimator": HyperplaneKNeighborsClassifier(3), "selection": "forward", "combination": "result_vector"},
    {"estimator": GaussianNB(), "combination": "local_accuracy"},
    {},
]


@parametrize_with_checks([ViewEnsembleClassifier(**kw, missing_label=np.nan, random_state=0) for kw in CHECKED])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_limits_and_names_of_subsets():
    assert view_subsets(["x", "y", "z"], max_size=2)[-1] == ("y", "z")
    assert len(view_subsets("abcdef", max_subsets=10)) == 10
    for limits in ({"max_size": 0}, {"max_subsets": 0}):
        with pytest.raises(ValueError, match="at least 1"):
            view_subsets("ab", **limits)
    with pytest.raises(ValueError, match="different names"):
        view_subsets("aa")


def test_result_vectors_with_abstentions_and_of_bad_shapes():
    said = [["a", None], ["b", "b"], ["b", "a"]]
    y = ["a", "b", "b"]
    # an abstention in training agrees with nothing; in a new vector it is not compared
    assert result_vector_vote(said, y, [[None, "b"], ["a", None], [None, None]]).tolist() == ["b", "a", "b"]
    _, distances, neighbors = result_vector_vote(said, y, [["a", "a"]], return_neighbors=True)
    assert (distances[0], neighbors[0].tolist()) == (1, [0, 2])
    with pytest.raises(ValueError, match="column per classifier"):
        result_vector_vote(said, y, [["a"]])
    with pytest.raises(ValueError, match="one training vector per label"):
        result_vector_vote(said, y[:2], [["a", "b"]])
