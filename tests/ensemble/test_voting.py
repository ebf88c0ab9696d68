"""Late fusion: votes worked out by hand, stacking as scikit-learn's, missing views, labels of any coding, bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from coview import Views
from coview.ensemble import ViewVotingClassifier
from coview.exceptions import ViewError
from coview.persistence import load_model, save_model
from coview.viewwise import out_of_fold_probabilities, stratified_folds

LOGISTIC = LogisticRegression(tol=1e-12, max_iter=10_000)


def problem(n=60, n_classes=2, seed=0, missing=0.0):
    """Views a and b, classes as text."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    middle = rng.normal(size=(n_classes, 5))
    values = middle[codes] + rng.normal(size=(n, 5))
    lost = rng.random((n, 2)) < missing
    lost[lost.all(axis=1), 0] = False
    a, b = values[:, :2].copy(), values[:, 2:].copy()
    a[lost[:, 0]], b[lost[:, 1]] = np.nan, np.nan
    return Views({"a": a, "b": b}), np.array(["ill", "well", "dead", "gone"])[codes]


def by_hand(views, y, template=LOGISTIC):
    """Probabilities of each view's classifier at full height, NaN where it is missing."""
    found = {}
    for name in views.names:
        rows = views.rows(name)
        fitted = clone(template).fit(views[name], y[rows])
        found[name] = np.full((len(views), len(fitted.classes_)), np.nan)
        found[name][rows] = fitted.predict_proba(views[name])
    return found


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weights", [None, [1.0, 3.0], {"b": 0.75, "a": 0.25}])
def test_soft_vote_is_the_weighted_mean_of_the_views_at_hand(n_classes, weights):
    views, y = problem(n_classes=n_classes, missing=0.3)
    model = ViewVotingClassifier(LOGISTIC, weights=weights).fit(views, y)
    parts = np.stack(list(by_hand(views, y).values()))
    shares = np.array([0.5, 0.5] if weights is None else [0.25, 0.75])[:, None, None]
    shares = np.where(np.isnan(parts), 0.0, shares)
    expected = np.nansum(parts * shares, axis=0) / shares.sum(axis=0)
    np.testing.assert_allclose(model.predict_proba(views), expected, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(views), model.classes_[expected.argmax(axis=1)])
    np.testing.assert_allclose(model.label_distributions_, expected, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_product_is_the_product_of_the_views_at_hand(n_classes):
    views, y = problem(n_classes=n_classes, missing=0.3)
    parts = np.stack(list(by_hand(views, y).values()))
    product = np.nanprod(parts, axis=0)
    model = ViewVotingClassifier(LOGISTIC, voting="product").fit(views, y)
    np.testing.assert_allclose(model.predict_proba(views), product / product.sum(axis=1, keepdims=True), rtol=1e-9)
    weighted = np.nanprod(parts ** np.array([0.5, 1.5])[:, None, None], axis=0)
    model = ViewVotingClassifier(LOGISTIC, voting="product", weights=[1, 3]).fit(views, y)
    np.testing.assert_allclose(model.predict_proba(views), weighted / weighted.sum(axis=1, keepdims=True), rtol=1e-9)


@pytest.mark.parametrize("voting", ["soft", "product"])
def test_one_view_is_its_classifier(voting):
    views, y = problem()
    model = ViewVotingClassifier(LOGISTIC, voting=voting).fit(views.select(["b"]), y)
    alone = clone(LOGISTIC).fit(views["b"], y)
    np.testing.assert_allclose(model.predict_proba(views.select(["b"])), alone.predict_proba(views["b"]), rtol=1e-10)
    np.testing.assert_allclose(
        model.decision_function(views.select(["b"])), alone.decision_function(views["b"]), rtol=1e-8
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_stacking_is_that_of_scikit_learn_on_the_same_folds(n_classes):
    views, y = problem(n_classes=n_classes)
    final = LogisticRegression(C=10.0, tol=1e-12, max_iter=10_000)
    model = ViewVotingClassifier(LOGISTIC, voting="stacking", final_estimator=final, random_state=3).fit(views, y)
    table = np.hstack([views["a"], views["b"]])
    folds = stratified_folds(np.searchsorted(np.unique(y), y), 5, 3)
    columns = {"a": [0, 1], "b": [2, 3, 4]}
    peers = [
        (name, make_pipeline(ColumnTransformer([("view", "passthrough", part)]), clone(LOGISTIC)))
        for name, part in columns.items()
    ]
    peer = StackingClassifier(peers, final, cv=PredefinedSplit(folds), stack_method="predict_proba").fit(table, y)
    np.testing.assert_allclose(model.predict_proba(views), peer.predict_proba(table), atol=1e-6)  # lbfgs stops there


def test_stacking_learns_that_a_view_is_noise():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    noise = rng.normal(size=(200, 30))  # its classifier is sure of what it has learnt by heart
    views = Views({"signal": (2.0 * y - 1)[:, None] + rng.normal(size=(200, 2)), "noise": noise})
    free = LogisticRegression(C=1e4, max_iter=10_000)
    test = Views({"signal": (2.0 * y - 1)[:, None] + rng.normal(size=(200, 2)), "noise": rng.normal(size=(200, 30))})
    stacked = ViewVotingClassifier(free, voting="stacking", random_state=0).fit(views, y)
    soft = ViewVotingClassifier(free).fit(views, y)
    signal, other = np.abs(stacked.final_estimator_.coef_[0])
    assert signal > 5 * other
    assert stacked.score(test, y) > soft.score(test, y)


def test_a_missing_view_is_no_evidence_to_stacking():
    views, y = problem(missing=0.3)
    model = ViewVotingClassifier(LOGISTIC, voting="stacking", random_state=0).fit(views, y)
    probability = model.estimators_["a"].predict_proba([[0.3, -0.2]])[0, 1]
    column = np.array([[probability - (y == "well").mean(), 0.0]])
    expected = model.final_estimator_.predict_proba(column)
    np.testing.assert_allclose(model.predict_proba({"a": np.array([[0.3, -0.2]])}), expected, rtol=1e-10)


def test_probabilities_out_of_fold_have_not_seen_their_label():
    views, y = problem(missing=0.3)
    codes = np.searchsorted(np.unique(y), y)
    codes[::7] = -1
    folds = stratified_folds(codes, 4, 0)
    rows = views.rows("b")
    shares = np.array([0.5, 0.5])
    found = out_of_fold_probabilities(
        LOGISTIC, views["b"], codes[rows], folds[rows], classes=np.array([0, 1]), shares=shares
    )
    assert np.array_equal(np.isnan(found[:, 0]), codes[rows] < 0)
    for sample in np.flatnonzero(codes[rows] >= 0)[:10]:
        flipped = codes[rows].copy()
        flipped[sample] = 1 - flipped[sample]
        other = out_of_fold_probabilities(
            LOGISTIC, views["b"], flipped, folds[rows], classes=np.array([0, 1]), shares=shares
        )
        np.testing.assert_array_equal(other[sample], found[sample])
        assert np.abs(other - found)[codes[rows] >= 0].max() > 1e-3


@pytest.mark.parametrize("counts", [(7, 12), (2, 2, 30), (1, 9)])
def test_folds_spread_every_class_evenly(counts):
    codes = np.repeat(np.arange(len(counts)), counts)
    codes = np.append(codes, [-1, -1])
    folds = stratified_folds(codes, 5, 1)
    assert (folds[-2:] == -1).all()
    table = np.array([np.bincount(folds[codes == code], minlength=5) for code in range(len(counts))])
    assert (table.max(axis=1) - table.min(axis=1)).max() <= 1
    assert np.ptp(table.sum(axis=0)) <= 1


def test_folds_are_no_more_than_labels_of_a_class():
    codes = np.repeat([0, 1], 3)
    folds = stratified_folds(codes, 5, 0, balanced=True)
    assert sorted(folds[:3]) == sorted(folds[3:]) == [0, 1, 2]  # what is left to learn from is balanced
    assert set(stratified_folds(np.arange(4), 5, 0, balanced=True)) == {0, 1}


def test_stacking_of_few_labels_does_not_turn_answers_round():
    stiff = LogisticRegression(C=1e-2)
    codes = np.arange(206) % 2
    for seed in range(5):
        rng = np.random.default_rng(seed)
        side = np.where(codes == 1, 0.35, -0.35)[:, None]
        views = Views({name: side + rng.normal(size=(206, 30)) for name in "ab"})
        model = ViewVotingClassifier(stiff, voting="stacking", random_state=0).fit(views[:6], codes[:6])
        assert model.score(views[6:], codes[6:]) > 0.6


def test_unlabeled_samples_change_nothing_but_are_answered():
    views, y = problem()
    part = y.astype(object)
    part[40:] = None
    model = ViewVotingClassifier(LOGISTIC).fit(views, part)
    fewer = ViewVotingClassifier(LOGISTIC).fit(views[np.arange(40)], y[:40])
    np.testing.assert_allclose(model.predict_proba(views), fewer.predict_proba(views), rtol=1e-12)
    assert model.transduction_.shape == (60,)


@pytest.mark.parametrize("voting", ["soft", "product", "stacking"])
def test_labels_of_any_coding_give_the_same(voting):
    views, y = problem(n_classes=3)
    codes = np.searchsorted(np.unique(y), y)
    model = ViewVotingClassifier(LOGISTIC, voting=voting, random_state=0)
    expected = clone(model).fit(views, y).predict_proba(views)
    series = pd.Series(pd.Categorical(y), index=views.index)
    for labels in (codes, codes * 10.0, series, codes.astype(object)):
        np.testing.assert_allclose(clone(model).fit(views, labels).predict_proba(views), expected, rtol=1e-10)


def test_an_estimator_of_its_own_for_each_view_is_copied():
    views, y = problem()
    estimators = {"b": GaussianNB(), "a": DecisionTreeClassifier(max_depth=2)}
    model = ViewVotingClassifier(estimators, random_state=0).fit(views, y)
    assert isinstance(model.estimators_["a"], DecisionTreeClassifier)
    assert isinstance(model.estimators_["b"], GaussianNB)
    assert not hasattr(estimators["b"], "classes_")
    in_order = ViewVotingClassifier([estimators["a"], estimators["b"]], random_state=0).fit(views, y)
    np.testing.assert_array_equal(in_order.predict_proba(views), model.predict_proba(views))


@pytest.mark.parametrize("voting", ["soft", "stacking"])
@pytest.mark.parametrize("template", [LinearSVC(random_state=0), RidgeClassifier()])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers_without_probabilities_get_them(voting, template, n_classes):
    views, y = problem(n=90, n_classes=n_classes, missing=0.2)
    model = ViewVotingClassifier(template, voting=voting, random_state=0).fit(views, y)
    found = model.predict_proba(views)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert (found > 0).all()
    assert model.score(views, y) > 0.75


def test_sparse_views_stay_sparse_and_many_jobs_give_the_same():
    views, y = problem()
    thin = Views({name: sparse.csr_array(views[name]) for name in views.names})
    model = ViewVotingClassifier(LOGISTIC, voting="stacking", random_state=0, n_jobs=2).fit(thin, y)
    dense = ViewVotingClassifier(LOGISTIC, voting="stacking", random_state=0).fit(views, y)
    np.testing.assert_allclose(model.predict_proba(thin), dense.predict_proba(views), rtol=1e-7)


def test_a_class_that_a_view_never_saw_keeps_its_share_there():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 20)
    x = rng.normal(size=(60, 2)) + np.searchsorted(["a", "b", "c"], y)[:, None]
    z = x + rng.normal(size=(60, 2))
    z[y == "c"] = np.nan
    model = ViewVotingClassifier(LOGISTIC).fit({"x": x, "z": z}, y)
    np.testing.assert_allclose(model.predict_proba({"z": z[:20]})[:, 2], 1 / 3)
    assert model.score({"x": x, "z": z}, y) > 0.6


def test_a_view_with_one_class_or_no_weight_says_nothing():
    views, y = problem()
    z = views["b"].copy()
    z[y == "ill"] = np.nan
    both = ViewVotingClassifier(LOGISTIC).fit({"a": views["a"], "z": z}, y)
    alone = ViewVotingClassifier(LOGISTIC).fit({"a": views["a"]}, y)
    np.testing.assert_array_equal(both.predict_proba({"a": views["a"]}), alone.predict_proba({"a": views["a"]}))
    assert list(both.estimators_) == ["a"]
    weighed = ViewVotingClassifier(LOGISTIC, weights={"a": 2.0, "b": 0.0}).fit(views, y)
    np.testing.assert_array_equal(weighed.predict_proba(views), alone.predict_proba({"a": views["a"]}))


def test_samples_without_a_usable_view_raise_or_get_the_shares():
    views, y = problem()
    presence = np.ones((60, 2), dtype=bool)
    presence[5] = False
    gap = Views({"a": views["a"], "b": views["b"]}, presence=presence)
    with pytest.raises(ViewError, match="5"):
        ViewVotingClassifier(LOGISTIC).fit(gap, y)
    model = ViewVotingClassifier(LOGISTIC, no_view="prior").fit(gap, y)
    np.testing.assert_allclose(model.predict_proba(gap)[5], [0.5, 0.5])


def test_a_saved_model_answers_the_same(tmp_path):
    views, y = problem(missing=0.2)
    for voting in ("soft", "stacking"):
        model = ViewVotingClassifier(voting=voting, random_state=0).fit(views, y)
        save_model(model, tmp_path / f"{voting}.coview")
        restored = load_model(tmp_path / f"{voting}.coview").model
        np.testing.assert_array_equal(restored.predict_proba(views), model.predict_proba(views))


def test_refitting_forgets_the_stacking():
    views, y = problem()
    model = ViewVotingClassifier(voting="stacking", random_state=0).fit(views, y)
    model.set_params(voting="soft").fit(views, y)
    assert not hasattr(model, "final_estimator_")
    fresh = ViewVotingClassifier(random_state=0).fit(views, y)
    np.testing.assert_array_equal(model.predict_proba(views), fresh.predict_proba(views))
    assert set(vars(model)) == set(vars(fresh))


@pytest.mark.parametrize(
    ("changes", "labels", "error", "message"),
    [
        ({"weights": [1.0]}, None, ViewError, "one number for each of the 2 views"),
        ({"weights": {"a": 1.0}}, None, ViewError, r"\['a'\]"),
        ({"weights": [0.0, 0.0]}, None, ValueError, "one must be positive"),
        ({"weights": [1.0, -1.0]}, None, ValueError, "not negative"),
        ({"weights": [1.0, 1.0], "voting": "stacking"}, None, ValueError, "leave weights out"),
        ({"voting": "loud"}, None, ValueError, "'voting' parameter"),
        ({"cv": 1}, None, ValueError, "'cv' parameter"),
        ({"estimators": [LOGISTIC]}, None, ViewError, "each of the 2 views; got 1"),
        ({"estimators": object()}, None, ValueError, "neither predict_proba nor|does not implement"),
        (
            {"final_estimator": LinearSVC(), "voting": "stacking"},
            None,
            ValueError,
            "must have predict_proba; LinearSVC",
        ),
        ({}, ["ill"] * 60, ValueError, "only one class"),
        ({"classes": ["ill", "well"]}, ["ill"] * 60, ValueError, "one class among 60"),
        ({"voting": "stacking"}, ["ill"] * 59 + ["well"], ValueError, r"\[59, 1\]"),
    ],
)
def test_bad_input_is_named(changes, labels, error, message):
    views, y = problem()
    with pytest.raises((error, TypeError) if "implement" in message else error, match=message):
        ViewVotingClassifier(**changes).fit(views, y if labels is None else labels)


@parametrize_with_checks([ViewVotingClassifier(voting="product", missing_label=np.nan, random_state=0)])
def test_scikit_learn_checks_of_the_product(estimator, check):
    check(estimator)
