"""Trade-offs of posterior consistency chosen by cross-validation, and the consistent set of any estimators."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks

from coview import Views
from coview.exceptions import ViewError
from coview.gaussian_process import (
    PosteriorConsistencyGPClassifier,
    PosteriorConsistencyGPClassifierCV,
    PosteriorConsistencyGPRegressor,
    consistent_set,
)
from coview.persistence import load_model, save_model

KERNEL = ConstantKernel(1.0) * RBF(2.0)
FOLDS = KFold(3, shuffle=True, random_state=0)


def draw(n=36, seed=0):
    """One view that tells the class, one that is noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return [1.2 * (2 * y[:, None] - 1) + rng.normal(size=(n, 2)), rng.normal(size=(n, 3))], y


def make(**changes):
    parameters = {"view_weights": [0.0, 0.5, 1.0], "consistency": [1e-3, 1e-6], "cv": FOLDS, "max_iter": 30}
    return PosteriorConsistencyGPClassifierCV(KERNEL, **(parameters | changes))


def by_hand(blocks, y, train, test, weight, ties, **changes):
    """Models of one split, each search from the end of that of the smaller consistency."""
    start, accuracies, logs = {"kernel": KERNEL, "noise_variance": 0.1}, [], []
    for tie in ties:
        model = PosteriorConsistencyGPClassifier(
            view_weights=[weight, 1.0 - weight], consistency=tie, max_iter=30, **(start | changes)
        )
        model.fit([block[train] for block in blocks], y[train])
        start = {"kernel": model.kernels_, "noise_variance": list(model.noise_variances_)}
        held = [block[test] for block in blocks]
        accuracies.append(np.mean(model.predict(held) == y[test]))
        given = model.predict_proba(held)[np.arange(len(test)), y[test]]
        logs.append(np.log(np.maximum(given, 1e-12)).mean())
    return accuracies, logs


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scores_are_means_over_the_splits():
    blocks, y = draw()
    model = make().fit(blocks, y)
    ties = [1e-6, 1e-3]
    expected = [
        [by_hand(blocks, y, train, test, weight, ties) for weight in (0.0, 0.5, 1.0)]
        for train, test in FOLDS.split(blocks[0])
    ]
    expected = np.mean(expected, axis=0)[:, :, ::-1]  # the larger candidate was given first
    np.testing.assert_allclose(model.validation_scores_, expected[:, 0], rtol=1e-12)
    np.testing.assert_allclose(model.validation_log_scores_, expected[:, 1], rtol=1e-9)
    best = model.validation_scores_.max()
    ranked = np.where(model.validation_scores_ == best, model.validation_log_scores_, -np.inf)
    i, k = np.unravel_index(ranked.argmax(), ranked.shape)
    np.testing.assert_array_equal(model.view_weights_, [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)][i])
    assert model.consistency_ == (1e-3, 1e-6)[k]
    assert model.view_weights_[0] > 0.0
    assert model.validation_scores_[0].max() < best


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_final_search_takes_the_path_of_the_splits():
    blocks, y = draw(seed=1)
    model = make(view_weights=[0.5], consistency=[1e-6, 1e-2], cv=2)
    model.fit(blocks, y)
    start = PosteriorConsistencyGPClassifier(KERNEL, consistency=1e-6, max_iter=30).fit(blocks, y)
    path = {"kernel": start.kernels_, "noise_variance": list(start.noise_variances_)}
    chosen = start
    if model.consistency_ == 1e-2:
        chosen = PosteriorConsistencyGPClassifier(consistency=1e-2, max_iter=30, **path).fit(blocks, y)
    np.testing.assert_allclose(model.theta_, chosen.theta_, rtol=1e-10)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_selection_keeps_the_consistent_set_of_the_first_choice():
    blocks, y = draw(seed=2)
    y = y.copy()
    y[:4] = 1 - y[:4]
    parameters = {"consistency": [1e-3], "hyperparameters": "fixed", "noise_variance": 0.8}
    first = make(**parameters).fit(blocks, y)
    model = make(**parameters, selective=True).fit(blocks, y)
    np.testing.assert_array_equal(model.consistent_set_, first.consistent_set_)
    assert 0 < len(first.consistent_set_) < len(y)
    assert model.objective_ < first.objective_ - 1.0
    given = make(**parameters, selective=first.consistent_set_).fit(blocks, y)
    assert given.objective_ == pytest.approx(model.objective_, rel=1e-10)
    np.testing.assert_allclose(given.validation_scores_, model.validation_scores_)


def test_unlabeled_samples_are_in_every_training_part():
    blocks, y = draw(seed=3)
    y = np.where(np.arange(len(y)) % 3 == 0, np.nan, y)
    parameters = {"hyperparameters": "fixed", "view_weights": [0.5], "consistency": [0.1], "jitter": 1e-2}
    model = make(**parameters).fit(blocks, y)
    known = np.flatnonzero(~np.isnan(y))
    logs = []
    for train, test in FOLDS.split(known):
        seen = np.sort(np.concatenate([known[train], np.flatnonzero(np.isnan(y))]))
        one = PosteriorConsistencyGPClassifier(KERNEL, consistency=0.1, jitter=1e-2, hyperparameters="fixed")
        one.fit([block[seen] for block in blocks], y[seen])
        p = one.predict_proba([block[known[test]] for block in blocks])
        logs.append(np.log(p[np.arange(len(test)), y[known[test]].astype(int)]).mean())
    np.testing.assert_allclose(model.validation_log_scores_[0, 0], np.mean(logs), rtol=1e-10)


def test_the_same_data_give_the_same_choice_and_the_global_generator_rests():
    blocks, y = draw(n=20)
    fixed = {"hyperparameters": "fixed", "view_weights": "equal", "consistency": [0.01, 0.1]}
    before = check_random_state(None).get_state()[1].copy()
    first, again = (PosteriorConsistencyGPClassifierCV(KERNEL, **fixed).fit(blocks, y) for _ in range(2))
    np.testing.assert_array_equal(first.validation_log_scores_, again.validation_log_scores_)
    np.testing.assert_array_equal(check_random_state(None).get_state()[1], before)
    other = PosteriorConsistencyGPClassifierCV(KERNEL, **fixed, random_state=1).fit(blocks, y)
    assert np.abs(other.validation_log_scores_ - first.validation_log_scores_).max() > 0.0


def test_default_candidates():
    blocks, y = draw(n=16)
    fixed = {"hyperparameters": "fixed", "cv": FOLDS, "consistency": [0.01]}
    two = PosteriorConsistencyGPClassifierCV(KERNEL, **fixed).fit(blocks, y)
    assert two.validation_scores_.shape == (11, 1)
    three = PosteriorConsistencyGPClassifierCV(KERNEL, **fixed).fit([*blocks, blocks[0]], y)
    assert three.validation_scores_.shape == (15, 1)
    many = PosteriorConsistencyGPClassifierCV(KERNEL, **fixed).fit([*blocks, *blocks, blocks[1]], y)
    assert many.validation_scores_.shape == (11, 1)
    one = PosteriorConsistencyGPClassifierCV(KERNEL, **fixed).fit([blocks[0]], y)
    np.testing.assert_array_equal(one.view_weights_, [1.0])
    full = PosteriorConsistencyGPClassifierCV(KERNEL, hyperparameters="fixed", view_weights="equal", random_state=0)
    assert full.fit(blocks, y).validation_scores_.shape == (1, 6)


BAD = {
    "view_weights must be candidates of shape": {"view_weights": [[0.5, 0.2, 0.3]]},
    "none all 0": {"view_weights": [[0.0, 0.0]]},
    "consistency must list numbers": {"consistency": []},
    "consistency must list numbers that are not": {"consistency": [-1.0]},
    "'cv' parameter": {"cv": "often"},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_candidates_are_refused(message):
    with pytest.raises(ValueError, match=message):
        make(**BAD[message]).fit(*draw(n=12))


def test_splits_without_two_classes_are_passed_over():
    blocks, _ = draw(n=12)
    y = np.repeat([0, 1], [9, 3])
    model = make(hyperparameters="fixed", cv=KFold(4)).fit(blocks, y)  # the last fold has all of class 1
    assert np.isfinite(model.validation_log_scores_).all()
    with pytest.raises(ValueError, match="No split of the 12 labels leaves two classes"):
        make(cv=[(np.arange(9), np.arange(9, 12))]).fit(blocks, y)


def experts(blocks, y):
    return [KNeighborsClassifier(1).fit(blocks[0], y), LogisticRegression().fit(blocks[1], y)]


def test_consistent_set_of_other_learners():
    blocks, y = draw(seed=4)
    models = experts(blocks, y)
    held, labels = draw(seed=5)
    found = [model.predict(block) == labels for model, block in zip(models, held, strict=True)]
    np.testing.assert_array_equal(consistent_set(models, held, labels), np.flatnonzero(found[0] & found[1]))
    held[1][::2] = np.nan
    views = Views(held, names=["a", "b"])
    expected = np.flatnonzero(found[0] & (found[1] | (np.arange(36) % 2 == 0)))
    np.testing.assert_array_equal(consistent_set({"b": models[1], "a": models[0]}, views, labels), expected)
    unlabeled = np.where(np.arange(36) < 6, None, labels)
    np.testing.assert_array_equal(consistent_set(models, views, unlabeled), expected[expected >= 6])
    series = pd.Series(labels, index=views.index).iloc[::-1]
    framed = Views({name: pd.DataFrame(views[name], index=views.index[views.rows(name)]) for name in "ab"})
    got = consistent_set(models, framed, series)
    np.testing.assert_array_equal(sorted(framed.index[got]), sorted(views.index[expected]))


def test_consistent_set_needs_an_estimator_per_view():
    blocks, y = draw(seed=6)
    models = experts(blocks, y)
    with pytest.raises(ViewError, match="one entry per view; got 1"):
        consistent_set(models[:1], blocks, y)
    with pytest.raises(ViewError, match=r"got \['a', 'c'\]"):
        consistent_set(dict(zip("ac", models, strict=True)), dict(zip("ab", blocks, strict=True)), y)
    with pytest.raises(ValueError, match=r"one label per sample \(36\); got 3"):
        consistent_set(models, blocks, y[:3])


SAVED = {
    "sparse": {"kernel": KERNEL},
    "landmarks of sparse rows": {"kernel": KERNEL, "approximation": "low_rank", "n_components": 4},
    "linear": {"kernel": "linear", "approximation": "low_rank"},
    "chosen": {"kernel": KERNEL, "consistency": [0.01], "view_weights": [0.5], "cv": FOLDS, "selective": True},
}


@pytest.mark.parametrize("case", SAVED)
def test_a_saved_model_is_the_same(case, tmp_path):
    blocks, y = draw(n=18)
    X = {"a": blocks[0], "b": sparse.csr_array(np.where(blocks[1] > 0.5, blocks[1], 0.0))}
    cls = PosteriorConsistencyGPClassifierCV if case == "chosen" else PosteriorConsistencyGPClassifier
    model = cls(**({"hyperparameters": "fixed", "consistency": 0.01} | SAVED[case])).fit(X, y)
    save_model(model, tmp_path / "model.coview")
    loaded = load_model(tmp_path / "model.coview").model
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.objective() == model.objective()
    np.testing.assert_array_equal(loaded.latent_covariances_[1], model.latent_covariances_[1])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks([PosteriorConsistencyGPClassifier(), PosteriorConsistencyGPRegressor()])
def test_defaults(estimator, check):
    check(estimator)
