"""Warped kernels: equal to the printed form, positive semidefinite, features and values agree, singular kernels."""

import numpy as np
import pytest
from scipy import sparse

from coview.graphs import knn_graph, laplacian
from coview.kernels import WarpedFeatures, WarpedGram, warped_kernel


def problem(seed, n=12, p=4):
    X = np.random.default_rng(seed).normal(size=(n, p))
    X[1] = X[0]
    return X, 3.0 * laplacian(knn_graph(X, 3))


@pytest.mark.parametrize("seed", range(3))
def test_printed_form(seed):
    X, M = problem(seed)
    new = np.random.default_rng(9).normal(size=(5, 4))
    K, k = X @ X.T, new @ X.T
    inner = np.linalg.solve(np.eye(12) + M @ K, M.toarray())
    np.testing.assert_allclose(warped_kernel(K, M), K - K @ inner @ K, atol=1e-10)
    np.testing.assert_allclose(warped_kernel(K, M.toarray(), k), k - k @ inner @ K, atol=1e-10)


@pytest.mark.parametrize("gamma_intrinsic", [0.0, 1e-6, 1.0, 1e6])
def test_positive_semidefinite_and_below_the_kernel(gamma_intrinsic):
    X, M = problem(1)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    warped = warped_kernel(K, laplacian=M, gamma_ambient=0.1, gamma_intrinsic=gamma_intrinsic)
    rounding = 1e-9 + 1e-13 * gamma_intrinsic
    assert np.linalg.eigvalsh(warped).min() > -rounding
    assert np.linalg.eigvalsh(K - warped).min() > -rounding
    if gamma_intrinsic == 0.0:
        np.testing.assert_allclose(warped, K, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_features_and_values_agree(form):
    X, M = problem(2)
    rows = np.array([0, 5, 7])
    for penalty in (M, M.toarray()):
        values, columns = WarpedGram(X @ X.T, penalty).between(rows)
        same_values, same_columns = WarpedFeatures(form(X), penalty).between(rows)
        np.testing.assert_allclose(same_values, values, atol=1e-10)
        np.testing.assert_allclose(same_columns, columns, atol=1e-10)
        np.testing.assert_allclose(values, warped_kernel(X @ X.T, penalty)[np.ix_(rows, rows)], atol=1e-10)


def test_constant_and_zero_kernels():
    _, M = problem(3)
    # A constant is smooth along every graph.
    np.testing.assert_allclose(warped_kernel(np.ones((12, 12)), M), np.ones((12, 12)), atol=1e-12)
    assert not warped_kernel(np.zeros((12, 12)), M).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"K": np.eye(2)}, "either"),
        ({"K": np.eye(2), "M": np.eye(2), "laplacian": np.eye(2)}, "either"),
        ({"K": np.ones((2, 3)), "M": np.eye(2)}, "square"),
        ({"K": np.eye(2), "M": np.eye(3)}, "shape"),
        ({"K": np.eye(2), "M": np.eye(2), "K_new": np.ones((1, 3))}, "column"),
        ({"K": np.eye(2), "laplacian": np.eye(2), "gamma_ambient": 0.0}, "gamma_ambient"),
        ({"K": np.eye(2), "laplacian": np.eye(2), "gamma_intrinsic": -1.0}, "gamma_intrinsic"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        warped_kernel(**arguments)
