"""Conditional means as a scikit-learn transformer, and draws for multiple imputation."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from coview import Views
from coview.exceptions import ViewError
from coview.impute import ConditionalMeanImputer
from coview.mixture import ClassConditionalGaussianMixture, FactorMixture, IncompleteGaussianMixture

from ..golden.loader import GOLDEN, as_array, compare

FILE = json.loads((GOLDEN / "kernel_completion_golden.json").read_text(encoding="utf-8"))
CASES = {case["id"]: case for case in FILE["cases"]}


@pytest.mark.parametrize("name", CASES)
def test_golden_means(name):
    inputs = CASES[name]["inputs"]
    gmm, X = inputs["gmm"], as_array(inputs["X"])
    mixture = IncompleteGaussianMixture.from_parameters(gmm["weights"], gmm["means"], gmm["covariances"])
    got = ConditionalMeanImputer(mixture=mixture).fit_transform(X)
    compare(got, CASES[name]["expected"]["imputed"], **FILE["tolerance"], what="imputed")


def line(seed=0, n=80):
    """Three features on a noisy line, the last one a view of its own; a third of the values missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1)) * [1.0, 2.0, -1.0] + 0.1 * rng.normal(size=(n, 3))
    holes = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    return X, Views({"a": holes[:, :2], "b": holes[:, 2:]})


def test_the_default_fills_gaps_from_what_goes_with_them():
    X, views = line()
    imputer = ConditionalMeanImputer(random_state=0)
    completed = imputer.fit_transform(views)
    missing = np.isnan(views.stacked())
    np.testing.assert_array_equal(completed[~missing], views.stacked()[~missing])
    partly = missing & ~missing.all(axis=1, keepdims=True)
    assert np.abs(completed - X)[partly].mean() < 0.2 < np.abs(X)[partly].mean()
    np.testing.assert_allclose(imputer.transform(views[:5]), completed[:5], rtol=1e-12)
    np.testing.assert_allclose(imputer.transform({"b": X[:5, 2:]})[:, 2], X[:5, 2])


def test_draws_have_the_mean_and_keep_what_is_observed():
    _, views = line(1, 30)
    imputer = ConditionalMeanImputer(random_state=0).fit(views)
    draws, table = imputer.draw(views, 3000), views.stacked()
    missing = np.isnan(table)
    np.testing.assert_array_equal(draws[:, ~missing], np.broadcast_to(table[~missing], (3000, (~missing).sum())))
    scale = np.sqrt(imputer.mixture_.conditional(views).variance()[missing] / 3000)
    assert (np.abs(draws.mean(axis=0) - imputer.transform(views))[missing] < 4.5 * scale).all()
    np.testing.assert_array_equal(imputer.draw(views, 2, random_state=1), imputer.draw(views, 2, random_state=1))


def test_mixtures_fitted_unfitted_and_frozen():
    X, views = line(2)
    unfitted = IncompleteGaussianMixture(1)
    imputer = ConditionalMeanImputer(unfitted).fit(views)
    assert imputer.mixture is unfitted
    assert not hasattr(unfitted, "weights_")
    fitted = clone(unfitted).fit(views)
    same = ConditionalMeanImputer(fitted).fit(views[:10])
    assert same.mixture_ is fitted
    np.testing.assert_array_equal(same.transform(views), imputer.transform(views))
    frozen = ConditionalMeanImputer(FrozenEstimator(fitted))
    np.testing.assert_array_equal(clone(frozen).fit(views[:10]).transform(views), imputer.transform(views))
    assert frozen.fit(views).draw(views, 1).shape == (1, *X.shape)
    with pytest.raises(ViewError, match="not seen in fit"):
        ConditionalMeanImputer(fitted).fit({"c": X})
    with pytest.raises(NotFittedError):
        ConditionalMeanImputer(fitted).transform(views)


@pytest.mark.parametrize("wrap", [lambda mixture: mixture, FrozenEstimator])
def test_mixtures_that_cannot_impute_raise_in_fit(wrap):
    _, views = line(2)
    with pytest.raises(TypeError, match=r"FactorMixture is not\. Use IncompleteGaussianMixture"):
        ConditionalMeanImputer(wrap(FactorMixture(1))).fit(views)


def test_labels_reach_a_mixture_that_learns_from_them():
    X, views = line(3)
    y = np.where(X[:, 0] > 0, "high", "low")
    imputer = ConditionalMeanImputer(ClassConditionalGaussianMixture(random_state=0)).fit(views, y)
    assert imputer.mixture_.classes_.tolist() == ["high", "low"]
    assert np.isfinite(imputer.transform(views)).all()


def test_a_step_of_a_pipeline():
    X, views = line(4)
    y = (X[:, 0] > 0).astype(int)
    pipeline = make_pipeline(ConditionalMeanImputer(IncompleteGaussianMixture(1)), LogisticRegression())
    assert cross_val_score(pipeline, views, y, cv=3).mean() > 0.8


def test_names_of_the_columns():
    X, views = line(5, 20)
    assert ConditionalMeanImputer().fit(views).get_feature_names_out().tolist() == ["a__0", "a__1", "b__0"]
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    frame.iloc[0, 1] = np.nan
    completed = ConditionalMeanImputer().set_output(transform="pandas").fit_transform(frame)
    assert completed.columns.tolist() == ["x", "y", "z"]
    assert not completed.isna().to_numpy().any()
    tables = {"p": frame[["x"]], "q": frame[["y", "z"]]}
    assert ConditionalMeanImputer().fit(tables).get_feature_names_out().tolist() == ["p__x", "q__y", "q__z"]
    assert ConditionalMeanImputer().fit(X).get_feature_names_out().tolist() == ["x0", "x1", "x2"]
