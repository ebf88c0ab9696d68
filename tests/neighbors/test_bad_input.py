"""Data in which there is little to compare: every neighbor classifier gives a defined answer, or says what is wrong."""

import numpy as np
import pytest
from sklearn.base import clone

from coview import Views
from coview.exceptions import ViewError
from coview.inference import hyperplane_distances
from coview.neighbors import (
    HyperplaneKNeighborsClassifier,
    HyperplaneKNeighborsClassifierCV,
    MultiRepresentedKNeighborsClassifier,
)

N = 30
Y = np.arange(N) % 2
MODELS = [
    pytest.param(HyperplaneKNeighborsClassifier(2), id="hyperplane"),
    pytest.param(HyperplaneKNeighborsClassifier(2, alpha=0.0), id="hyperplane-no-penalty"),
    pytest.param(HyperplaneKNeighborsClassifierCV(n_neighbors=[1, 5], alphas=[0.01, 1.0]), id="hyperplane-cv"),
    pytest.param(MultiRepresentedKNeighborsClassifier(), id="multi-represented"),
]
every = pytest.mark.parametrize("model", MODELS)


def two_classes(scales=(1.0, 1.0)):
    rng = np.random.default_rng(0)
    return {
        name: scale * (6.0 * Y[:, None] + rng.normal(size=(N, d)))
        for name, scale, d in zip("ab", scales, (3, 2), strict=True)
    }


def answers(model, X, y, new=None):
    """Predicted classes; probabilities are shares, and a second fit says the same."""
    new = X if new is None else new
    first, second = clone(model).fit(X, y), clone(model).fit(X, y)
    proba = first.predict_proba(new)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(second.predict(new), first.predict(new))
    return first.predict(new)


@every
def test_samples_that_are_all_the_same_are_of_the_first_class(model):
    X = {"a": np.ones((N, 3)), "b": np.zeros((N, 2))}
    np.testing.assert_array_equal(answers(model, X, Y), np.zeros(N))


@every
def test_a_view_with_one_value_does_no_harm(model):
    np.testing.assert_array_equal(answers(model, {**two_classes(), "b": np.ones((N, 2))}, Y), Y)


@every
@pytest.mark.parametrize("scales", [(1e-8, 1e8), (1e8, 1e-8), (1e-150, 1e150), (1e8, 1e8)])
def test_scales_far_apart(model, scales):
    np.testing.assert_array_equal(answers(model, two_classes(scales), Y), Y)


def test_hyperplanes_that_nothing_holds_back_are_said_to_be_the_whole_space():
    with pytest.warns(UserWarning, match=r"alpha=1 and n_neighbors=5 with 2 features of comparable scale.*standardize"):
        HyperplaneKNeighborsClassifier(5).fit(two_classes((1e-8, 1e8)), Y)
    HyperplaneKNeighborsClassifier(5).fit(two_classes((1e4, 1e4)), Y)
    HyperplaneKNeighborsClassifier(5).fit(two_classes((1e8, 1e8)), Y)


def test_a_penalty_that_is_lost_beside_the_spread_is_none():
    rng = np.random.default_rng(1)
    samples, rows, neighbors = rng.normal(size=(9, 6)), rng.normal(size=(20, 6)), rng.integers(0, 20, size=(9, 4))
    without = hyperplane_distances(samples, rows, neighbors, 0.0).penalized
    found = hyperplane_distances(1e9 * samples, 1e9 * rows, neighbors, 1.0)
    np.testing.assert_allclose(found.penalized / 1e18, without, rtol=1e-9)
    for alpha in (1e-9, 1e-6, 1e-3):  # either way of solving
        system = np.array([_by_hand(x, rows[own], alpha) for x, own in zip(samples, neighbors, strict=True)])
        np.testing.assert_allclose(hyperplane_distances(samples, rows, neighbors, alpha).penalized, system, rtol=1e-7)


def _by_hand(x, N, alpha):
    """The least penalized distance, by least squares with a row of penalties."""
    center = N.mean(axis=0)
    V = np.vstack([(N - center).T, np.sqrt(alpha) * np.eye(len(N))])
    target = np.append(x - center, np.zeros(len(N)))
    return ((target - V @ np.linalg.lstsq(V, target, rcond=None)[0]) ** 2).sum()


@every
def test_more_neighbors_than_a_class_has(model):
    y = np.where(np.arange(N) < 1, 2, Y)
    labels = answers(model, two_classes(), y)
    assert labels[0] == 2 or not isinstance(model, MultiRepresentedKNeighborsClassifier)
    np.testing.assert_array_equal(labels[1:] % 2, Y[1:])


@every
def test_one_class(model):
    np.testing.assert_array_equal(answers(model, two_classes(), np.full(N, 7)), np.full(N, 7))


@every
@pytest.mark.parametrize("n_labeled", [0, 1])
def test_missing_labels_are_counted(model, n_labeled):
    y = np.where(np.arange(N) < n_labeled, 1.0, np.nan)
    with pytest.raises(ValueError, match=f"{N - n_labeled} of {N} labels are missing.*semi-supervised"):
        model.fit(two_classes(), y)


@every
def test_one_sample_for_each_combination_of_views(model):
    rng = np.random.default_rng(0)
    presence = (np.arange(1, 16)[:, None] >> np.arange(4)) % 2 == 1
    blocks = [8.0 * Y[:15, None] + rng.normal(size=(15, 2)) for _ in range(4)]
    np.testing.assert_array_equal(answers(model, Views(blocks, presence=presence), Y[:15]), Y[:15])


@every
def test_views_that_no_sample_shares_and_a_view_of_one_sample(model):
    X = two_classes()
    X["a"][: N // 2], X["b"][N // 2 :] = np.nan, np.nan
    np.testing.assert_array_equal(answers(model, X, Y), Y)
    X["c"] = np.where(np.arange(N) == 4, 1.0, np.nan)[:, None]
    np.testing.assert_array_equal(answers(model, X, Y)[:4], Y[:4])


@every
def test_a_hundred_thousand_columns(model):
    rng = np.random.default_rng(0)
    X = {
        "wide": rng.normal(size=(10, 100_000)) + 0.5 * Y[:10, None],
        "b": 6.0 * Y[:10, None] + rng.normal(size=(10, 1)),
    }
    np.testing.assert_array_equal(answers(model, X, Y[:10]), Y[:10])


@every
def test_ties_go_to_the_first_class(model):
    X = {"a": np.array([[0.0], [2.0]]), "b": np.array([[5.0], [7.0]])}
    if getattr(model, "alpha", None) == 0.0:  # whose lines pass through every sample
        model = clone(model).set_params(n_neighbors=1)
    assert answers(model, X, ["y", "x"], {"a": [[1.0]], "b": [[6.0]]}).tolist() == ["x"]


@every
def test_no_samples_and_infinite_values(model):
    with pytest.raises(ValueError, match=r"0 sample|no sample|at least one"):
        model.fit({"a": np.empty((0, 2)), "b": np.empty((0, 3))}, [])
    X = two_classes()
    X["b"][3, 1] = np.inf
    with pytest.raises(ViewError, match="View 'b' contains infinity in 1 samples: '3'"):
        model.fit(X, Y)
