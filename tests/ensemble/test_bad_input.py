"""Data that tell little: ensembles with every combination and selection give a defined answer, or say what is wrong."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coview import Views
from coview.ensemble import ViewEnsembleClassifier, ViewVotingClassifier
from coview.exceptions import ViewError
from coview.neighbors import HyperplaneKNeighborsClassifier, ModeratedKNeighborsClassifier

N = 24
Y = np.arange(N) % 2
RULES = ["majority", "weighted", "soft", "product", "modified_product", "local_accuracy", "result_vector"]
SCALED = make_pipeline(StandardScaler(), LogisticRegression())
every_rule = pytest.mark.parametrize("rule", RULES)


def two_classes(scales=(1.0, 1.0)):
    rng = np.random.default_rng(0)
    return {
        name: scale * (6.0 * Y[:, None] + rng.normal(size=(N, d)))
        for name, scale, d in zip("ab", scales, (3, 2), strict=True)
    }


def ensemble(rule, base=None, **parameters):
    return ViewEnsembleClassifier(
        GaussianNB() if base is None else base, combination=rule, cv=3, random_state=0, **parameters
    )


def answers(model, X, y):
    """Predicted classes; probabilities are shares, and a second fit says the same."""
    proba = model.fit(X, y).predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), proba)
    return model.predict(X)


@every_rule
@pytest.mark.parametrize("selection", ["cv", "forward", "random", None])
def test_samples_that_are_all_the_same_are_of_one_class(rule, selection):
    X = {"a": np.ones((N, 3)), "b": np.zeros((N, 2))}
    labels = answers(ensemble(rule, SCALED, selection=selection), X, np.where(np.arange(N) < 14, "x", "y"))
    assert set(labels) == {"x"}


@every_rule
def test_a_view_with_one_value_does_no_harm(rule):
    labels = answers(ensemble(rule, SCALED, selection="forward"), {**two_classes(), "b": np.ones((N, 2))}, Y)
    np.testing.assert_array_equal(labels, Y)


@every_rule
@pytest.mark.parametrize("base", [SCALED, HyperplaneKNeighborsClassifier(2), ModeratedKNeighborsClassifier(3)])
def test_scales_far_apart(rule, base):
    np.testing.assert_array_equal(answers(ensemble(rule, base), two_classes((1e-8, 1e8)), Y), Y)


@every_rule
@pytest.mark.parametrize("voting", [False, True])
def test_one_class_or_no_label_is_an_error_that_says_so(rule, voting):
    model = ViewVotingClassifier() if voting else ensemble(rule)
    with pytest.raises(ValueError, match=r"At least 2 classes are needed; there is only one class: \[3\].*Give labels"):
        model.fit(two_classes(), np.full(N, 3))
    one = np.array([1.0, *[np.nan] * (N - 1)])
    with pytest.raises(ValueError, match=r"there is only one class: \[1.0\]"):
        model.fit(two_classes(), one)
    with pytest.raises(ValueError, match="No sample of y is labeled"):
        model.fit(two_classes(), np.full(N, np.nan))


@every_rule
def test_one_label_of_each_class_and_a_class_smaller_than_k(rule):
    one_each = np.array([0.0, 1.0, *[np.nan] * (N - 2)])
    np.testing.assert_array_equal(answers(ensemble(rule, SCALED), two_classes(), one_each), Y)
    lone = np.where(np.arange(N) == 0, 2, Y)
    labels = answers(ensemble(rule, ModeratedKNeighborsClassifier(5)), two_classes(), lone)
    np.testing.assert_array_equal(labels[1:], Y[1:])


@every_rule
def test_one_sample_for_each_combination_of_views(rule):
    rng = np.random.default_rng(0)
    presence = (np.arange(1, 16)[:, None] >> np.arange(4)) % 2 == 1
    blocks = [8.0 * Y[:15, None] + rng.normal(size=(15, 2)) for _ in range(4)]
    views = Views(blocks, presence=presence)
    labels = answers(ensemble(rule, SCALED, no_view="prior"), views, Y[:15])
    np.testing.assert_array_equal(labels, Y[:15])


@every_rule
def test_views_that_no_sample_shares_and_a_view_of_one_sample(rule):
    X = two_classes()
    X["a"][: N // 2], X["b"][N // 2 :] = np.nan, np.nan
    np.testing.assert_array_equal(answers(ensemble(rule, SCALED), X, Y), Y)
    X["c"] = np.where(np.arange(N) == 4, 1.0, np.nan)[:, None]
    np.testing.assert_array_equal(answers(ensemble(rule, SCALED), X, Y), Y)


def test_a_hundred_thousand_columns():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(12, 100_000)) + 0.5 * Y[:12, None]
    X = {"wide": wide, "b": 6.0 * Y[:12, None] + rng.normal(size=(12, 1))}
    labels = answers(ensemble("soft", selection="forward", subsets=[("wide",), ("b",)]), X, Y[:12])
    np.testing.assert_array_equal(labels, Y[:12])


def test_infinite_values_and_samples_without_a_view_are_named():
    X = two_classes()
    X["b"][3, 1] = np.inf
    with pytest.raises(ViewError, match="View 'b' contains infinity in 1 samples: '3'"):
        ensemble("soft").fit(X, Y)
    X["a"][3] = X["b"][3] = np.nan
    with pytest.raises(ViewError, match=r"1 of 24 have none.*'3'.*no_view='prior'"):
        ensemble("soft").fit(X, Y)
    proba = ensemble("soft", no_view="prior").fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(proba[3], 0.5, atol=0.05)
