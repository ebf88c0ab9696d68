"""Kernels on dense and sparse rows, shorthands and widths."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel

from coview.exceptions import ViewError
from coview.kernels import (
    diagonal,
    gram,
    kernel_per_view,
    linear_amplitude,
    median_distance,
    resolve_kernel,
    squared_distances,
    weighted_derivatives,
)

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(7, 5)) * (RNG.random((7, 5)) < 0.5)
OTHER = RNG.normal(size=(4, 5)) * (RNG.random((4, 5)) < 0.5)
FORMATS = [sp.csr_array, sp.csr_matrix, sp.csc_array]

KERNELS = [
    ConstantKernel(2.0),
    RBF(1.3),
    DotProduct(0.7),
    ConstantKernel(3.0) * RBF(0.8) + DotProduct(0.5),
    ConstantKernel(0.3) * DotProduct(0.0, "fixed"),
    RBF(1.3) * DotProduct(1.0) + ConstantKernel(0.1, "fixed"),
]
FIXED_ONLY = [DotProduct(1.0) ** 2, RBF([1.0, 2.0, 0.5, 1.0, 3.0])]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kernel", KERNELS + FIXED_ONLY, ids=str)
def test_sparse_rows_give_the_dense_values(kernel, form):
    X, Y = form(DENSE), form(OTHER)
    np.testing.assert_allclose(gram(kernel, X), kernel(DENSE), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(gram(kernel, X, Y), kernel(DENSE, OTHER), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kernel", [Matern(1.0), WhiteKernel(), RBF(1.0) + Matern(1.0)], ids=str)
def test_kernels_without_a_sparse_form_say_so(kernel):
    with pytest.raises(ViewError, match=r"cannot be evaluated on sparse rows\. Use ConstantKernel, RBF"):
        gram(kernel, sp.csr_array(DENSE))


def test_a_callable_has_values_and_no_parameters():
    def kernel(X, Y):
        return 1.0 + X @ Y.T

    np.testing.assert_allclose(gram(kernel, DENSE, OTHER), 1 + DENSE @ OTHER.T)
    np.testing.assert_allclose(gram(kernel, DENSE), 1 + DENSE @ DENSE.T)
    assert weighted_derivatives(kernel, np.ones((7, 7)), DENSE).shape == (0,)
    np.testing.assert_allclose(diagonal(kernel, DENSE), 1 + (DENSE**2).sum(axis=1))


def test_a_callable_on_sparse_rows_may_return_sparse_values():
    X = sp.csr_array(DENSE)
    np.testing.assert_allclose(gram(lambda A, B: A @ B.T, X), DENSE @ DENSE.T)


def test_a_callable_of_the_wrong_shape_is_refused():
    with pytest.raises(ViewError, match=r"array of shape \(7, 4\); got \(4, 7\)"):
        gram(lambda X, Y: (X @ Y.T).T, DENSE, OTHER)


def test_an_unresolved_name_is_refused():
    with pytest.raises(ViewError, match="must be resolved"):
        gram("rbf", DENSE)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("n", [0, 1, 7, 130])
@pytest.mark.parametrize("sparse", [False, True])
def test_diagonal_is_that_of_the_gram_matrix(kernel, n, sparse):
    X = np.tile(DENSE, (20, 1))[:n]
    values = diagonal(kernel, sp.csr_array(X) if sparse else X)
    expected = np.diagonal(kernel(X)) if n else np.zeros(0)
    np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, *FORMATS])
def test_squared_distances(form):
    expected = ((DENSE[:, None] - OTHER[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared_distances(form(DENSE), form(OTHER)), expected, rtol=1e-10, atol=1e-12)
    X = form(DENSE)
    assert not np.diagonal(squared_distances(X, X)).any()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_median_distance_is_of_the_nonzero_distances(form, scale):
    X = np.concatenate([DENSE, DENSE[:2]]) * scale  # two pairs at distance zero
    distances = pdist(X)
    expected = np.median(distances[distances > 0])
    assert median_distance(form(X), np.random.RandomState(0)) == pytest.approx(expected, rel=1e-6)


def test_median_distance_without_any_distance_is_one():
    state = np.random.RandomState(0)
    for X in (np.ones((5, 2)), np.zeros((1, 2)), np.zeros((0, 2)), sp.csr_array(np.ones((3, 2)))):
        assert median_distance(X, state) == 1.0


def test_median_distance_of_many_rows_is_seeded_and_near_the_full_one():
    X = np.random.default_rng(0).normal(size=(2500, 3))
    first = median_distance(X, np.random.RandomState(5))
    assert first == median_distance(X, np.random.RandomState(5))
    assert first == pytest.approx(np.median(pdist(X)), rel=0.05)


def test_shorthands_and_widths():
    state = np.random.RandomState(0)
    rbf = resolve_kernel("rbf", DENSE, state, width_factor=1.5)
    assert rbf.k2.length_scale == pytest.approx(1.5 * np.median(pdist(DENSE)))
    np.testing.assert_allclose(gram(resolve_kernel("linear", DENSE, state), DENSE), DENSE @ DENSE.T)
    given = RBF(2.0)
    assert resolve_kernel(given, DENSE, state) == given
    assert resolve_kernel(given, DENSE, state) is not given


@pytest.mark.parametrize(
    ("kernel", "amplitude"),
    [
        (DotProduct(0.0), 1.0),
        (ConstantKernel(3.0) * DotProduct(0.0), 3.0),
        (DotProduct(0.0) * ConstantKernel(3.0), 3.0),
        (ConstantKernel(2.0) * (ConstantKernel(3.0) * DotProduct(0.0)), 6.0),
        (DotProduct(1.0), None),
        (RBF(1.0), None),
        (ConstantKernel(2.0) * RBF(1.0), None),
        (DotProduct(0.0) * DotProduct(0.0), None),
        (DotProduct(0.0) + ConstantKernel(1.0), None),
        (np.dot, None),
    ],
)
def test_linear_kernels_are_recognized(kernel, amplitude):
    assert linear_amplitude(kernel) == amplitude


def test_one_kernel_per_view_by_position_or_name():
    names = ["a", "b"]
    assert kernel_per_view("rbf", names) == ["rbf", "rbf"]
    assert kernel_per_view({"b": "linear", "a": RBF(1.0)}, names) == [RBF(1.0), "linear"]
    assert kernel_per_view(("rbf", np.dot), names) == ["rbf", np.dot]


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ({"a": "rbf"}, r"without a value: \['b'\]"),
        ({"a": "rbf", "b": "rbf", "c": "rbf"}, r"unknown: \['c'\]"),
        (["rbf"], r"one entry per view \(2\); got 1"),
        ("gauss", "must be a kernel object .* got 'gauss'"),
        (["rbf", 3], r"kernel of view 'b' .* got 3"),
    ],
)
def test_kernels_that_do_not_fit_the_views_are_refused(kernel, message):
    with pytest.raises(ViewError, match=message):
        kernel_per_view(kernel, ["a", "b"])


def test_a_constant_factor_is_what_scikit_learn_makes_of_it():
    X, Y = np.random.default_rng(0).normal(size=(2, 7, 3))
    for kernel in [ConstantKernel(2.5) * RBF(0.7), RBF(0.7) * ConstantKernel(2.5), ConstantKernel(1.0) * RBF(0.7)]:
        np.testing.assert_array_equal(gram(kernel, X), kernel(X))
        np.testing.assert_array_equal(gram(kernel, X, Y), kernel(X, Y))
