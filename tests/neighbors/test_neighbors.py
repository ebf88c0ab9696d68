"""Classifiers by neighbors: reductions to known methods, batches against loops, missing views, ties, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from coview import Views
from coview.exceptions import ViewError
from coview.inference import confidence_weights, inverse_square_shares, nearest_rows
from coview.neighbors import (
    HyperplaneKNeighborsClassifier,
    HyperplaneKNeighborsClassifierCV,
    MultiRepresentedKNeighborsClassifier,
)


def draw(n=60, seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return [rng.normal(size=(n, d)) + 2.0 * np.eye(max(d, n_classes))[y][:, :d] for d in (3, 4)], y


@pytest.mark.parametrize("kind", ["dense", "sparse", "integers"])
def test_nearest_rows_by_distance_then_position(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(80, 2)).astype(float) if kind == "integers" else rng.normal(size=(80, 3))
    given = sparse.csr_array(X) if kind == "sparse" else X
    neighbors, squares = nearest_rows(given[:20], given, 7)
    full = (
        pairwise_distances(X[:20], X, "sqeuclidean")
        if kind == "sparse"
        else ((X[:20, None] - X[None]) ** 2).sum(axis=2)
    )
    expected = np.argsort(full.round(9), axis=1, kind="stable")[:, :7]
    np.testing.assert_array_equal(neighbors, expected)
    np.testing.assert_allclose(squares, np.take_along_axis(full, expected, axis=1), atol=1e-9)
    assert nearest_rows(given[:2], given[:3], 10)[0].shape == (2, 3)
    assert nearest_rows(given[:2], given[:0], 10)[0].shape == (2, 0)


@pytest.mark.parametrize("n_rows", [95, 96, 1_000, 2_047])
@pytest.mark.parametrize("kind", ["numbers", "whole numbers", "copies", "near and far"])
def test_the_nearest_of_many_rows(kind, n_rows):
    """Few rows are sorted out one by one, many by groups; ties are few, many, or all there is."""
    rng = np.random.default_rng(n_rows)
    rows = rng.normal(size=(n_rows, 2))
    if kind == "whole numbers":
        rows = np.rint(3.0 * rows)
    elif kind == "copies":
        rows[rng.random(n_rows) < 0.9] = rows[0]
    elif kind == "near and far":
        rows[n_rows // 2 :] += 1e6
    new = np.vstack([rows[:5], rng.normal(size=(5, 2))])
    squares = ((new[:, None] - rows) ** 2).sum(axis=2)
    expected = np.argsort(squares, axis=1, kind="stable")[:, :3]
    np.testing.assert_array_equal(nearest_rows(new, rows, 3)[0], expected)
    assert nearest_rows(new[:0], rows, 3)[0].shape == (0, 3)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("cosine", [False, True])
def test_nearest_rows_of_a_table_among_themselves(form, cosine):
    """Distances that inner products tell apart by rounding tie, and nobody is its own neighbor."""
    X = np.random.default_rng(1).integers(0, 4, size=(60, 3)) * (1.0 if form is np.asarray else 0.1)
    exact = ((X[:, None] - X) ** 2).sum(axis=2)
    if cosine:
        X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
        exact = 2.0 - 2.0 * X @ X.T
    np.fill_diagonal(exact, np.inf)
    expected = np.argsort(exact.round(9), axis=1, kind="stable")[:, :5]
    neighbors, squares = nearest_rows(form(X), form(X), 5, cosine=cosine, leave_out_own=True)
    np.testing.assert_array_equal(neighbors, expected)
    np.testing.assert_allclose(squares, np.take_along_axis(exact, expected, axis=1), atol=1e-12)
    assert nearest_rows(X[:3], X[:3], 5, leave_out_own=True)[0].shape == (3, 2)
    assert nearest_rows(X[:1], X[:1], 5, leave_out_own=True)[0].shape == (1, 0)


def loop(X, y, x, k, alpha):
    """Penalized distances of one sample by the normal equations in the features."""
    result = []
    for c in np.unique(y):
        rows = X[y == c]
        N = rows[np.argsort(((rows - x) ** 2).sum(axis=1), kind="stable")[:k]]
        V = (N - N.mean(axis=0)).T
        difference = x - N.mean(axis=0)
        a = np.linalg.lstsq(
            np.vstack([V, np.sqrt(alpha) * np.eye(len(N))]), np.append(difference, np.zeros(len(N))), rcond=1e-10
        )[0]
        result.append(((difference - V @ a) ** 2).sum() + alpha * (a**2).sum())
    return result


@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_batches_equal_a_loop_of_least_squares(k, alpha):
    (X, _), y = draw()
    (new, _), _ = draw(seed=1)
    distances = HyperplaneKNeighborsClassifier(k, alpha).fit(X, y).class_distances(new)
    np.testing.assert_allclose(distances, [loop(X, y, x, k, alpha) for x in new], rtol=1e-7, atol=1e-9)


def test_limits():
    """One neighbor is the nearest neighbor; an infinite penalty the nearest centroid of the neighbors."""
    (X, _), y = draw()
    (new, _), _ = draw(seed=1)
    np.testing.assert_array_equal(
        HyperplaneKNeighborsClassifier(1).fit(X, y).predict(new), KNeighborsClassifier(1).fit(X, y).predict(new)
    )
    np.testing.assert_array_equal(
        HyperplaneKNeighborsClassifier(1000, alpha=1e12).fit(X, y).predict(new),
        NearestCentroid().fit(X, y).predict(new),
    )
    with pytest.warns(UserWarning, match="hyperplanes through so many neighbors are the whole space"):
        whole = HyperplaneKNeighborsClassifier(5, alpha=0.0).fit(X, y)
    np.testing.assert_array_equal(whole.class_distances(new), 0.0)
    np.testing.assert_array_equal(whole.predict(new), 0)


@pytest.mark.parametrize("gaps", [False, True])
def test_leave_one_out_for_the_whole_grid_equals_refits(gaps):
    (a, b), y = draw(24)
    presence = np.ones((24, 2), dtype=bool)
    if gaps:
        presence[:5, 0] = False
        presence[8:12, 1] = False
    views = Views([a, b], presence=presence)
    model = HyperplaneKNeighborsClassifierCV([1, 3, 20], [0.1, 2.0]).fit(views, y)
    assert model.loo_errors_[["n_neighbors", "alpha"]].to_numpy().tolist() == [
        [k, alpha] for k in (1, 3, 20) for alpha in (0.1, 2.0)
    ]
    for k, alpha, error in model.loo_errors_.itertuples(index=False):
        labels = cross_val_predict(HyperplaneKNeighborsClassifier(k, alpha), views, y, cv=LeaveOneOut())
        assert np.isclose(error, np.mean(labels != y))
        if (k, alpha) == (model.n_neighbors_, model.alpha_):
            np.testing.assert_array_equal(model.loo_labels_, labels)
    chosen = HyperplaneKNeighborsClassifier(model.n_neighbors_, model.alpha_).fit(views, y)
    np.testing.assert_array_equal(model.predict(views), chosen.predict(views))


def test_duplicates_and_a_class_of_one():
    X = np.array([[0.0], [0.0], [0.0], [5.0]])
    model = HyperplaneKNeighborsClassifierCV([1, 2], [1.0]).fit(X, ["a", "a", "a", "b"])
    np.testing.assert_array_equal(model.loo_labels_, ["a", "a", "a", "a"])  # the only b has no other b
    np.testing.assert_array_equal(model.predict(X), ["a", "a", "a", "b"])
    np.testing.assert_allclose(model.predict_proba(X)[0], [1.0, 0.0])


@pytest.mark.parametrize(
    "model", [HyperplaneKNeighborsClassifier(3, no_view="prior"), MultiRepresentedKNeighborsClassifier(5)]
)
def test_missing_views(model):
    (a, b), y = draw(300)
    presence = np.random.default_rng(1).random((300, 2)) > 0.3
    presence[~presence.any(axis=1), 0] = True
    views = Views([a, b], names=["a", "b"], presence=presence)
    assert (model.fit(views, y).predict(views) == y).mean() > 0.7
    (new_a, new_b), new_y = draw(seed=4)
    assert (model.predict({"a": new_a}) == new_y).mean() > 0.6
    both = Views([new_a, new_b], names=["a", "b"], presence=np.repeat([[True, True], [False, False]], 30, axis=0))
    np.testing.assert_allclose(model.predict_proba(both)[30:], np.tile(model.class_shares_, (30, 1)))
    with pytest.raises(ViewError, match=r"30 of 60 have none: .*no_view='prior'"):
        type(model)(no_view="raise").fit(views, y).predict(both)


def test_views_that_no_training_sample_has_together():
    (a, b), y = draw(12)
    presence = np.repeat([[True, False], [False, True]], 6, axis=0)
    model = HyperplaneKNeighborsClassifier(2).fit(Views([a, b], presence=presence), y)
    assert np.isinf(model.class_distances([a, b])).all()
    np.testing.assert_array_equal(model.predict([a, b]), 0)
    one_class_lacks_b = HyperplaneKNeighborsClassifier(2).fit(
        Views([a, b], presence=np.column_stack([y >= 0, y > 0])), y
    )
    assert np.isinf(one_class_lacks_b.class_distances([a, b])[:, 0]).all()
    assert (one_class_lacks_b.predict([a, b]) > 0).all()


def test_one_class_and_labels_in_any_coding():
    (a, b), _ = draw(6)
    for model in (HyperplaneKNeighborsClassifier(2), MultiRepresentedKNeighborsClassifier(2)):
        np.testing.assert_array_equal(model.fit([a, b], ["only"] * 6).predict([a, b]), ["only"] * 6)
        np.testing.assert_array_equal(model.predict_proba([a, b]), np.ones((6, 1)))
        np.testing.assert_array_equal(model.fit([a, b], [-1, 1] * 3).classes_, [-1, 1])
        with pytest.raises(ValueError, match="label"):
            model.fit([a, b], ["x", None, "y", "x", "y", "x"])


def test_a_sure_view_outvotes_an_unsure_one():
    weights = confidence_weights(np.array([[[0.9, 0.1, 0.0], [1 / 3, 1 / 3, 1 / 3], [np.nan] * 3]]))
    np.testing.assert_allclose(weights, [[1.0, 0.0, 0.0]])
    np.testing.assert_allclose(confidence_weights(np.full((1, 2, 2), 0.5)), [[0.5, 0.5]])
    np.testing.assert_allclose(confidence_weights(np.full((1, 2, 2), 0.5), uniform=True), [[0.5, 0.5]])


def test_scale_of_a_view_does_not_matter_to_the_multi_represented():
    (a, b), y = draw()
    (new_a, new_b), _ = draw(seed=2)
    plain = MultiRepresentedKNeighborsClassifier(4).fit([a, b], y).predict_proba([new_a, new_b])
    scaled = (
        MultiRepresentedKNeighborsClassifier(4).fit([a * 1e-8, b * 1e8], y).predict_proba([new_a * 1e-8, new_b * 1e8])
    )
    np.testing.assert_allclose(plain, scaled, rtol=1e-9)
    thin = (
        MultiRepresentedKNeighborsClassifier(4)
        .fit([sparse.csr_array(a), b], y)
        .predict_proba([sparse.csr_array(new_a), new_b])
    )
    np.testing.assert_allclose(plain, thin, rtol=1e-6)


def test_sparse_views_and_bad_parameters():
    (a, b), y = draw(9)
    with pytest.raises(ViewError, match="sparse"):
        HyperplaneKNeighborsClassifier().fit([sparse.csr_array(a), b], y)
    with pytest.raises(ValueError, match="whole numbers from 1"):
        HyperplaneKNeighborsClassifierCV([0], [1.0]).fit(a, y)
    with pytest.raises(ValueError, match="n_neighbors"):
        HyperplaneKNeighborsClassifier(0).fit(a, y)


def test_shares_by_inverse_squares():
    squares = np.array([[1.0, 4.0, np.inf], [0.0, 2.0, 0.0], [1e-320, 1e-320, 1.0], [np.inf, np.inf, np.inf]])
    expected = [[0.8, 0.2, 0.0], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    np.testing.assert_allclose(inverse_square_shares(squares), expected, atol=1e-15)
