"""Laplacians: what they penalize, isolated nodes, powers, heat, combination over views with gaps; graphs as users say them."""

import numpy as np
import pytest
from scipy import linalg, sparse

from coview.graphs import combined_laplacian, graph_laplacian, heat_kernel, heat_penalty, knn_graph, laplacian


def weights(seed=0, n=7):
    W = np.random.default_rng(seed).uniform(size=(n, n))
    W = np.where(W > 0.5, W, 0.0)
    W = W + W.T
    W[2], W[:, 2] = 0.0, 0.0
    np.fill_diagonal(W, 0.0)
    return W


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_matrix])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("power", [1, 2, 3])
def test_definition(form, normalized, power):
    W = weights()
    d = W.sum(axis=1)
    L = np.diag(d) - W
    if normalized:
        scale = np.diag([0.0 if x == 0 else x**-0.5 for x in d])
        L = scale @ L @ scale
    got = laplacian(form(W), normalized=normalized, power=power)
    assert sparse.issparse(got) == (form is not np.asarray)
    got = got.toarray() if sparse.issparse(got) else got
    np.testing.assert_allclose(got, np.linalg.matrix_power(L, power), atol=1e-12)
    assert not got[2].any()
    assert linalg.eigvalsh(got).min() > -1e-12


def test_self_loops_change_nothing():
    W = weights()
    np.testing.assert_array_equal(laplacian(W + np.eye(7), normalized=True), laplacian(W, normalized=True))


def test_heat():
    L = laplacian(weights())
    np.testing.assert_allclose(heat_kernel(L, 0.7), linalg.expm(-0.7 * L), atol=1e-12)
    np.testing.assert_allclose(heat_penalty(sparse.csr_array(L), 0.7), linalg.expm(0.7 * L) - np.eye(7), atol=1e-10)
    np.testing.assert_allclose(heat_kernel(L, 0), np.eye(7), atol=1e-12)
    with pytest.raises(ValueError, match="overflows"):
        heat_penalty(L, 1e6)
    with pytest.raises(ValueError, match="positive"):
        heat_kernel(L, -1.0)


def test_views_with_gaps_are_embedded():
    presence = np.array([[1, 1], [1, 0], [0, 1], [1, 1]], dtype=bool)
    W1, W2 = np.ones((3, 3)) - np.eye(3), np.array([[0.0, 2, 0], [2, 0, 1], [0, 1, 0]])
    got = combined_laplacian([laplacian(W1), laplacian(sparse.csr_array(W2))], [0.25, 0.75], presence=presence)
    want = np.zeros((4, 4))
    want[np.ix_([0, 1, 3], [0, 1, 3])] += 0.25 * laplacian(W1)
    want[np.ix_([0, 2, 3], [0, 2, 3])] += 0.75 * laplacian(W2)
    np.testing.assert_allclose(got, want)


def test_sparse_stays_sparse():
    L = [laplacian(knn_graph(np.random.default_rng(s).normal(size=(20, 2)), 3)) for s in range(2)]
    assert sparse.issparse(combined_laplacian(L))


@pytest.mark.parametrize("shares", [[0.5, 0.6], [1.5, -0.5], [np.nan, 1.0], [1.0]])
def test_weights_that_are_not_convex(shares):
    with pytest.raises(ValueError, match=r"[wW]eight"):
        combined_laplacian([np.zeros((2, 2))] * 2, shares)


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), "negative"),
        (np.ones((2, 3)), "square"),
        (np.array([[0.0, np.inf], [np.inf, 0.0]]), "finite"),
    ],
)
def test_weights_that_are_no_graph(W, message):
    for form in (np.asarray, sparse.csr_array):
        with pytest.raises(ValueError, match=message):
            laplacian(form(W))


def test_graphs_as_users_say_them():
    X = np.random.default_rng(3).normal(size=(9, 2))
    W = knn_graph(X, 6)
    for said in ("knn", {}, {"kind": "knn"}, W, W.toarray(), {"affinity": W}, {"laplacian": laplacian(W)}):
        got = graph_laplacian(said, X)
        np.testing.assert_array_equal(got.toarray() if sparse.issparse(got) else got, laplacian(W).toarray())
    squared = graph_laplacian({"n_neighbors": 2, "power": 2, "normalized": True}, X)
    np.testing.assert_allclose(squared.toarray(), laplacian(knn_graph(X, 2), True, 2).toarray())
    hot = graph_laplacian({"kind": "rbf", "sigma": 2.0, "heat": 0.1}, X)
    assert hot.shape == (9, 9)
    for said, message in (
        ({"neighbors": 3}, "does not know"),
        ({"kind": "tree"}, "kind"),
        (np.zeros((4, 4)), "joins 4"),
        ({"laplacian": W, "power": 2}, "does not know"),
    ):
        with pytest.raises(ValueError, match=message):
            graph_laplacian(said, X)
