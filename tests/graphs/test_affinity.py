"""Nearest neighbors and Gaussian affinities: ties, duplicates, sparse rows, bad input."""

import numpy as np
import pytest
from scipy import sparse

from coview.graphs import knn_graph, rbf_graph


def plainly(X, k):
    """Directed neighbors by sorting (squared distance, index)."""
    W = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        keys = sorted((float(((X[i] - X[j]) ** 2).sum()), j) for j in range(len(X)) if j != i)
        for _, j in keys[:k]:
            W[i, j] = 1.0
    return W


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("k", [1, 3, 8])
def test_ties_go_to_the_lower_index(form, k):
    X = np.random.default_rng(0).integers(0, 3, (30, 2)).astype(float)
    directed = plainly(X, k)
    assert np.array_equal(knn_graph(form(X), k).toarray(), np.maximum(directed, directed.T))
    assert np.array_equal(knn_graph(form(X), k, mode="and").toarray(), np.minimum(directed, directed.T))


def test_identical_samples():
    W = knn_graph(np.ones((5, 2)), 2, weights="heat").toarray()
    assert np.array_equal(W, W.T)
    assert np.array_equal(W[0], [0, 1, 1, 1, 1])  # the first ones are everybody's neighbors
    assert not W.diagonal().any()


def test_fewer_samples_than_neighbors():
    assert knn_graph(np.eye(3), 10).toarray().sum() == 6
    assert knn_graph(np.ones((1, 2)), 3).shape == (1, 1)
    assert knn_graph(np.ones((1, 2)), 3).nnz == 0


def test_cosine_ignores_length_and_puts_zero_rows_at_right_angles():
    X = np.array([[1.0, 0.0], [5.0, 0.1], [0.0, 2.0], [0.0, 0.0], [0.1, 7.0]])
    W = knn_graph(X, 1, metric="cosine", mode="and").toarray()
    assert W[0, 1] == W[2, 4] == 1.0
    assert not W[3].any()
    assert np.array_equal(W, knn_graph(sparse.csr_array(X), 1, metric="cosine", mode="and").toarray())


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_edges_as_heavy_as_cosines(form):
    X = np.random.default_rng(0).normal(size=(12, 3))
    X[4] = 0.0
    W = knn_graph(form(X), 4, metric="cosine", weights="cosine").toarray()
    lengths = np.linalg.norm(X, axis=1)
    cosines = X @ X.T / np.where(lengths > 0.0, lengths, 1.0) / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    near = knn_graph(form(X), 4, metric="cosine").toarray() > 0.0
    np.testing.assert_allclose(W, np.where(near, np.maximum(cosines, 0.0), 0.0), atol=1e-12)
    assert not W[4].any()
    with pytest.raises(ValueError, match="metric='euclidean'"):
        knn_graph(X, 4, weights="cosine")


def test_many_rows_in_blocks(monkeypatch):
    X = np.random.default_rng(1).normal(size=(50, 3))
    want = knn_graph(X, 4, weights="heat").toarray()
    monkeypatch.setattr("coview.inference._nearest_rows._BLOCK_VALUES", 150)
    assert np.array_equal(knn_graph(X, 4, weights="heat").toarray(), want)


def test_gaussian_affinities():
    X = np.random.default_rng(2).normal(size=(8, 3))
    W = rbf_graph(X, sigma=0.7)
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    want = np.exp(-squares / (2 * 0.49)) - np.eye(8)
    np.testing.assert_allclose(W, want, atol=1e-14)
    np.testing.assert_allclose(rbf_graph(sparse.csr_array(X), sigma=0.7), want, atol=1e-12)
    assert rbf_graph(np.ones((3, 1)))[0, 1] == 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_neighbors": 0}, "at least 1"),
        ({"n_neighbors": 1.5}, "integer"),
        ({"metric": "city"}, "metric"),
        ({"mode": "xor"}, "mode"),
        ({"weights": "none"}, "weights"),
        ({"weights": "heat", "sigma": 0.0}, "positive"),
        ({"X": np.array([[np.nan, 1.0]])}, "finite"),
        ({"X": np.ones(3)}, "table"),
    ],
)
def test_bad_input(changes, message):
    given = {"X": np.eye(3), "n_neighbors": 1} | changes
    with pytest.raises(ValueError, match=message):
        knn_graph(given.pop("X"), given.pop("n_neighbors"), **given)
