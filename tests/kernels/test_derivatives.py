"""Derivatives of weighted kernel values against those that scikit-learn gives value by value."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

from coview.exceptions import ViewError
from coview.kernels import gram, weighted_derivatives

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(70, 5)) * (RNG.random((70, 5)) < 0.5)
OTHER = RNG.normal(size=(4, 5)) * (RNG.random((4, 5)) < 0.5)

ON_SPARSE_TOO = [
    ConstantKernel(2.0),
    RBF(1.3),
    DotProduct(0.7),
    ConstantKernel(3.0) * RBF(0.8) + DotProduct(0.5),
    DotProduct(0.5) + RBF(0.8) * ConstantKernel(3.0, "fixed"),
    ConstantKernel(0.3) * DotProduct(0.0, "fixed"),
    RBF(1.3) * DotProduct(1.0) + ConstantKernel(0.1, "fixed"),
    (ConstantKernel(0.5) + RBF(2.0)) ** 3,
    RBF([1.0, 2.0, 0.5, 1.0, 3.0]),
    ConstantKernel(2.0) * RBF([1.0, 2.0, 0.5, 1.0, 3.0]),
]
ON_DENSE = [
    *(Matern(0.9, nu=nu) for nu in (0.5, 1.5, 2.5, 3.1)),
    RBF(1.0) + WhiteKernel(0.3),
    RBF(1.0) * WhiteKernel(0.3),
    ConstantKernel(2.0) * RationalQuadratic(1.2, 0.7),
    ConstantKernel(2.0) * Matern([1.0, 2.0, 0.5, 1.0, 3.0], nu=1.5),
]


def symmetric(n):
    A = np.random.default_rng(1).normal(size=(n, n))
    return A + A.T


def folded(A):
    return np.triu(A) + np.triu(A, 1)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("kernel", ON_SPARSE_TOO + ON_DENSE, ids=str)
def test_folded_weights_give_the_sum_over_all_pairs(kernel, known):
    A = symmetric(70)
    K, dK = kernel(DENSE, eval_gradient=True)
    found = weighted_derivatives(kernel, folded(A), DENSE, values=K if known else None)
    np.testing.assert_allclose(found, np.einsum("ab,abt->t", A, dK), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kernel", ON_SPARSE_TOO, ids=str)
def test_sparse_rows_give_the_same(kernel):
    A = folded(symmetric(70))
    expected = weighted_derivatives(kernel, A, DENSE)
    np.testing.assert_allclose(weighted_derivatives(kernel, A, sp.csr_array(DENSE)), expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kernel", ON_SPARSE_TOO + ON_DENSE, ids=str)
def test_two_tables_agree_with_finite_differences(kernel):
    A = np.random.default_rng(2).normal(size=(70, 4))
    found = weighted_derivatives(kernel, A, DENSE, OTHER)
    assert found.shape == (kernel.n_dims,)
    for t in range(kernel.n_dims):
        step = 1e-6 * np.eye(kernel.n_dims)[t]
        up, down = (gram(kernel.clone_with_theta(kernel.theta + s * step), DENSE, OTHER) for s in (1, -1))
        assert found[t] == pytest.approx((A * (up - down)).sum() / 2e-6, rel=1e-5, abs=1e-7)


def test_single_precision_loses_nothing():
    X = np.round(8 * DENSE)
    kernel, A = RBF([3.0, 2.0, 1.5, 1.0, 3.0]), folded(symmetric(70))
    expected = weighted_derivatives(kernel, A, X)
    np.testing.assert_allclose(weighted_derivatives(kernel, A, X.astype(np.float32)), expected, rtol=1e-12)


def test_pairs_too_far_apart_to_have_a_value_have_no_slope():
    X = np.array([[0.0], [1e3]])
    assert weighted_derivatives(RBF(1.0), np.triu(np.ones((2, 2))), X).tolist() == [0.0]


def test_nothing_has_no_slope():
    assert weighted_derivatives(RBF(1.0), np.zeros((0, 0)), np.zeros((0, 3))).tolist() == [0.0]
    assert weighted_derivatives(RBF(1.0, "fixed"), np.ones((2, 2)), np.ones((2, 3))).shape == (0,)


@pytest.mark.parametrize("kernel", [Matern(1.5), RationalQuadratic()], ids=str)
def test_parameters_that_cannot_be_learnt_on_sparse_rows_say_so(kernel):
    with pytest.raises(ViewError, match=r"on sparse rows"):
        weighted_derivatives(kernel, np.triu(np.ones((70, 70))), sp.csr_array(DENSE))
