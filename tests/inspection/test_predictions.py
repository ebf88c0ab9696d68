"""Predictions as a table."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.pipeline import Pipeline

from coview.compose import TableEncoder
from coview.exceptions import ViewError
from coview.gaussian_process import BayesianCoTrainingRegressor
from coview.inspection import _predictions, prediction_blocks, prediction_table, tell_views_apart
from coview.model_selection import usual_methods


def tables(n=12, seed=0):
    rng = np.random.default_rng(seed)
    ids = pd.Index([f"p{i}" for i in range(n)], name="patient")
    age = pd.DataFrame({"age": 50 + 20.0 * (np.arange(n) % 2) + rng.normal(size=n)}, index=ids)
    ct = pd.DataFrame(rng.normal(size=(n, 2)), index=ids, columns=["volume", "grade"])
    return {"clinical": age, "chest ct": ct[:8]}


def fit_to(X):
    y = pd.Series(["ill", "well"] * 6, index=X["clinical"].index, dtype=object)
    method = usual_methods("classification")["imputation-logistic-regression"]
    return Pipeline([("encode", TableEncoder()), ("model", method)]).fit(X, y)


@pytest.fixture(scope="module")
def model():
    return fit_to({"clinical": tables()["clinical"]})


def test_classes_with_their_probabilities(model):
    X = {"clinical": tables(seed=1)["clinical"]}
    table = prediction_table(model, X)
    assert list(table.columns) == ["predicted", "probability", "p_ill", "p_well", "views"]
    assert list(table.index) == [f"p{i}" for i in range(12)]
    assert_allclose(table[["p_ill", "p_well"]], model.predict_proba(X))
    assert_array_equal(table["predicted"], model.predict(X))
    assert_allclose(table["probability"], model.predict_proba(X).max(axis=1))
    assert set(table["views"]) == {"clinical"}


def test_blocks_give_the_same_rows_as_the_whole(model, monkeypatch):
    X = {"clinical": tables(seed=1)["clinical"]}
    whole = prediction_table(model, X)
    monkeypatch.setattr(_predictions, "_BLOCK_ROWS", 5)
    blocks = list(prediction_blocks(model, X))
    assert [len(block) for block in blocks] == [5, 5, 2]
    pd.testing.assert_frame_equal(pd.concat(blocks), whole, rtol=1e-12)


def gappy():
    """Sample p1 has no value at all."""
    X = tables(seed=2)["clinical"]
    X.iloc[1] = np.nan
    return {"clinical": X}


def test_samples_without_a_view_are_named(model):
    with pytest.raises(ViewError, match=r"1 of 12 samples have none of the model's views: 'p1'"):
        prediction_table(model, gappy())


def test_or_left_empty(model, monkeypatch):
    table = prediction_table(model, gappy(), no_view="skip")
    assert table["predicted"].isna().to_list() == [i == 1 for i in range(12)]
    assert table["probability"].isna().sum() == 1
    assert table["views"]["p1"] == ""
    monkeypatch.setattr(_predictions, "_BLOCK_ROWS", 1)  # a block of nobody who can be answered for
    pd.testing.assert_frame_equal(prediction_table(model, gappy(), no_view="skip"), table, rtol=1e-12)


def test_numbers_with_their_interval():
    X = tables()
    y = pd.Series(np.arange(12.0), index=X["clinical"].index)
    setting = {"kernels": "linear", "center": True, "n_components": 2, "amplitude": 4.0, "view_variances": 1.0}
    gp = BayesianCoTrainingRegressor(settings=[setting | {"noise_variance": 2.0}])
    model = Pipeline([("encode", TableEncoder()), ("model", gp)]).fit(X, y)
    table = prediction_table(model, X)
    mean, sd = model.predict(X, return_std=True, include_noise=True)
    assert list(table.columns) == ["predicted", "sd", "lower", "upper", "views"]
    assert_allclose(table["predicted"], mean)
    assert_allclose(table["sd"], sd)
    assert_allclose(norm.cdf(table["upper"], mean, sd) - norm.cdf(table["lower"], mean, sd), 0.9)


@pytest.mark.parametrize(
    ("shares", "lower", "upper", "apart"),
    [
        ([0.5, 0.5], [0.5, 0.5], [0.5, 0.5], False),
        ([0.5, 0.5], [0.5, 0.0], [0.5, 0.5], True),
        ([0.3, 0.7], [0.3, 0.7], [0.3, 0.7], True),  # given, not measured, yet different
        ([1.0], [0.0], [1.0], False),
        ([0.5, 0.5, np.nan], [0.5, 0.5, np.nan], [0.5, 0.5, np.nan], False),
    ],
)
def test_trust_tells_views_apart_where_shares_differ_or_might(shares, lower, upper, apart):
    assert tell_views_apart(pd.DataFrame({"share": shares, "lower": lower, "upper": upper})) is apart


def test_names_of_views_with_a_space_stay_apart():
    X = tables()
    table = prediction_table(fit_to(X), X)
    assert (table["views"]["p0"], table["views"]["p9"]) == ("clinical;chest ct", "clinical")
