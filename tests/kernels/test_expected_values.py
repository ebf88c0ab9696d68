"""Closed forms of expected kernels between two Gaussians, against quadrature and simulation."""

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss

from coview.kernels._expected_values import GaussianValue, PolynomialValue, polynomial_of_squared_norm


def gaussian(seed, p):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(p, p)) * 0.7
    return rng.normal(size=p) * 0.5, root @ root.T, root


def quadrature(kernel, seeds, p, n_nodes):
    """``E kernel(x, y)`` over two independent Gaussians by a product rule, exact for polynomials of degree < 2 n_nodes."""
    (x, _, A), (y, _, B) = (gaussian(seed, p) for seed in seeds)
    nodes, weights = hermegauss(n_nodes)
    grid = np.stack(np.meshgrid(*[nodes] * p, indexing="ij"), -1).reshape(-1, p)
    mass = np.prod(np.stack(np.meshgrid(*[weights] * p, indexing="ij"), -1).reshape(-1, p), 1) / (2 * np.pi) ** (p / 2)
    return mass @ kernel(x + grid @ A.T, y + grid @ B.T) @ mass


def one_pair(value, seeds, p):
    (x, P, _), (y, Q, _) = (gaussian(seed, p) for seed in seeds)
    return value.values(np.zeros((1, 1, 1)), x[None, None], P[None], y[None, None], Q[None])[0, 0, 0]


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
def test_polynomial_between_two_gaussians(degree, p):
    expected = quadrature(lambda X, Y: (X @ Y.T + 0.3) ** degree, (0, 1), p, 6)
    assert one_pair(PolynomialValue(degree, 0.3), (0, 1), p) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_polynomial_of_one_gaussian_with_itself(degree):
    x, P, A = gaussian(3, 2)
    nodes, weights = hermegauss(8)
    draws = x + np.stack(np.meshgrid(nodes, nodes), -1).reshape(-1, 2) @ A.T
    mass = np.outer(weights, weights).ravel() / (2 * np.pi)
    means = np.concatenate([[1.7], x])[None]
    expected = mass @ (1.7**2 + (draws**2).sum(1) + 0.4) ** degree
    assert polynomial_of_squared_norm(means, np.array([1, 2]), P, degree, 0.4)[0] == pytest.approx(expected, rel=1e-11)


def test_gaussian_between_two_gaussians():
    expected = quadrature(lambda X, Y: np.exp(-0.5 * (X - Y.T) ** 2), (5, 6), 1, 80)
    assert one_pair(GaussianValue(), (5, 6), 1) == pytest.approx(expected, rel=1e-9)


def test_few_and_many_rows_go_through_different_factorizations():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(1, 20, 4)), rng.normal(size=(1, 30, 4))
    P, Q = (gaussian(seed, 4)[1][None] for seed in (0, 1))
    outside = np.abs(rng.normal(size=(1, 20, 30)))
    together = GaussianValue().values(outside, X, P, Y, Q)
    for i, j in [(0, 0), (7, 29)]:
        alone = GaussianValue().values(outside[:, [[i]], [[j]]], X[:, [i]], P, Y[:, [j]], Q)
        np.testing.assert_allclose(alone[0, 0, 0], together[0, i, j], rtol=1e-12)


def test_a_covariance_that_rounding_made_indefinite():
    P = np.array([[[1.0, 1.0], [1.0, 1.0]]]) * 1e20 - np.diag([0.0, 1e5])
    value = GaussianValue().values(
        np.zeros((1, 1, 1)), np.zeros((1, 1, 2)), P, np.zeros((1, 1, 2)), np.zeros((1, 2, 2))
    )
    assert 0.0 <= value[0, 0, 0] < 1e-9
