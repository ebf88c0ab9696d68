"""Late fusion of numbers: means worked out by hand, learned weights, missing views, bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import nnls
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

from coview import Views
from coview.ensemble import ViewVotingRegressor
from coview.exceptions import ViewError
from coview.persistence import load_model, save_model
from coview.viewwise import stratified_folds


def problem(n=60, seed=0, missing=0.3):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    a = truth[:, None] + rng.normal(size=(n, 2))
    b = truth[:, None] + 0.3 * rng.normal(size=(n, 3))
    lost = rng.random((n, 2)) < missing
    lost[lost.all(axis=1), 0] = False
    a[lost[:, 0]], b[lost[:, 1]] = np.nan, np.nan
    return Views({"a": a, "b": b}), 10.0 + 3.0 * truth


def by_hand(views, y):
    found = {}
    for name in views.names:
        rows = views.rows(name)
        found[name] = np.full(len(views), np.nan)
        found[name][rows] = Ridge().fit(views[name], y[rows]).predict(views[name])
    return np.stack(list(found.values()))


@pytest.mark.parametrize("weights", [None, [1.0, 3.0], {"b": 0.75, "a": 0.25}])
def test_the_vote_is_the_weighted_mean_of_the_views_at_hand(weights):
    views, y = problem()
    model = ViewVotingRegressor(Ridge(), weights=weights).fit(views, y)
    parts = by_hand(views, y)
    shares = np.where(np.isnan(parts), 0.0, np.array([0.5, 0.5] if weights is None else [0.25, 0.75])[:, None])
    expected = np.nansum(parts * shares, axis=0) / shares.sum(axis=0)
    np.testing.assert_allclose(model.predict(views), expected, rtol=1e-10)
    np.testing.assert_array_equal(model.transduction_, model.predict(views))
    told = model.predict_per_view(views)
    np.testing.assert_allclose(np.stack(told), parts, rtol=1e-10)
    np.testing.assert_allclose(
        model.predict(views.select(["b"])[views.rows("b")]), parts[1][views.rows("b")], rtol=1e-10
    )


def test_one_view_is_its_regressor():
    views, y = problem(missing=0.0)
    model = ViewVotingRegressor(Ridge()).fit(views.select(["a"]), y)
    np.testing.assert_allclose(model.predict(views.select(["a"])), Ridge().fit(views["a"], y).predict(views["a"]))


def test_stacking_finds_the_weights_of_least_squares_out_of_fold():
    views, y = problem(missing=0.0)
    model = ViewVotingRegressor(Ridge(), voting="stacking", random_state=4).fit(views, y)
    folds = stratified_folds(np.zeros(60, dtype=int), 5, 4)
    said = np.empty((60, 2))
    for fold in range(5):
        held = folds == fold
        for column, name in enumerate("ab"):
            said[held, column] = Ridge().fit(views[name][~held], y[~held]).predict(views[name][held])
    weights, _ = nnls(said - y.mean(), y - y.mean())
    assert model.weights_ == pytest.approx(dict(zip("ab", weights / weights.sum(), strict=True)))
    assert model.weights_["b"] > 0.8
    new, truth = problem(seed=1)
    assert model.score(new, truth) > ViewVotingRegressor(Ridge()).fit(views, y).score(new, truth)


def test_views_that_weigh_nothing_speak_where_they_are_alone():
    rng = np.random.default_rng(0)
    y = rng.normal(size=40)
    views = {"good": y[:, None] + 0.01 * rng.normal(size=(40, 1)), "noise": rng.normal(size=(40, 20))}
    model = ViewVotingRegressor(LinearRegression(), voting="stacking", random_state=0).fit(views, y)
    assert model.weights_["noise"] < 0.01
    alone = model.predict({"noise": views["noise"]})
    np.testing.assert_allclose(alone, model.estimators_["noise"].predict(views["noise"]))
    nothing = ViewVotingRegressor(LinearRegression(), voting="stacking", random_state=0).fit(
        {"noise": views["noise"], "more": rng.normal(size=(40, 20))}, y
    )
    assert sum(nothing.weights_.values()) == pytest.approx(1.0)


def test_samples_without_target_change_nothing():
    views, y = problem()
    part = y.copy()
    part[40:] = np.nan
    model = ViewVotingRegressor(voting="stacking", random_state=0).fit(views, part)
    fewer = ViewVotingRegressor(voting="stacking", random_state=0).fit(views[np.arange(40)], y[:40])
    np.testing.assert_allclose(model.predict(views), fewer.predict(views), rtol=1e-10)
    series = pd.Series(part, index=views.index)
    np.testing.assert_array_equal(
        ViewVotingRegressor(voting="stacking", random_state=0).fit(views, series).predict(views), model.predict(views)
    )


def test_estimators_by_name_are_copied_and_sparse_views_stay_so():
    views, y = problem(missing=0.0)
    estimators = {"a": DecisionTreeRegressor(max_depth=2), "b": Ridge()}
    thin = Views({"a": views["a"], "b": sparse.csr_array(views["b"])})
    model = ViewVotingRegressor(estimators, random_state=0, n_jobs=2).fit(thin, y)
    dense = ViewVotingRegressor(estimators, random_state=0).fit(views, y)
    np.testing.assert_allclose(model.predict(thin), dense.predict(views), rtol=1e-5)
    assert not hasattr(estimators["b"], "coef_")


def test_samples_without_a_usable_view_raise_or_get_the_mean():
    views, y = problem(missing=0.0)
    presence = np.ones((60, 2), dtype=bool)
    presence[7] = False
    gap = Views({"a": views["a"], "b": views["b"]}, presence=presence)
    with pytest.raises(ViewError, match="7"):
        ViewVotingRegressor().fit(gap, y)
    model = ViewVotingRegressor(no_view="prior").fit(gap, y)
    assert model.predict(gap)[7] == pytest.approx(y.mean())


def test_a_saved_model_answers_the_same(tmp_path):
    views, y = problem()
    model = ViewVotingRegressor(voting="stacking", random_state=0).fit(views, y)
    save_model(model, tmp_path / "m.coview")
    np.testing.assert_array_equal(load_model(tmp_path / "m.coview").model.predict(views), model.predict(views))


@pytest.mark.parametrize(
    ("changes", "targets", "error", "message"),
    [
        ({"weights": [1.0]}, None, ViewError, "each of the 2 views"),
        ({"weights": [1.0, 1.0], "voting": "stacking"}, None, ValueError, "leave weights out"),
        ({"voting": "soft"}, None, ValueError, "'voting' parameter"),
        ({"estimators": LogisticRegression()}, None, ValueError, "LogisticRegression, is no regressor"),
        ({"voting": "stacking"}, [1.0, 2.0] + [np.nan] * 58, ValueError, "targets of 3 samples or more; got 2"),
        ({}, [1.0] + [np.nan] * 59, ValueError, "targets of 2 samples or more; got 1"),
        ({}, [np.nan] * 60, ValueError, "no sample is labeled"),
    ],
)
def test_bad_input_is_named(changes, targets, error, message):
    views, y = problem()
    with pytest.raises(error, match=message):
        ViewVotingRegressor(**changes).fit(views, y if targets is None else targets)
