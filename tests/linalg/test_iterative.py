"""Conjugate gradients against direct solutions."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from coview.linalg import conjugate_gradients


def draw(n, condition, seed=0):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    return (Q * np.geomspace(1.0, condition, n)) @ Q.T, rng.normal(size=(n, 4))


@pytest.mark.parametrize("condition", [1.0, 10.0, 1e4])
def test_it_is_the_solution(condition):
    A, b = draw(40, condition)
    b[:, 2] = 0.0
    b[:, 3] *= 1e-8
    x = conjugate_gradients(lambda v: A @ v, b)
    assert (np.linalg.norm(A @ x - b, axis=0) <= 1e-10 * np.linalg.norm(b, axis=0)).all()
    np.testing.assert_allclose(x[:, :2], np.linalg.solve(A, b[:, :2]), rtol=1e-6, atol=1e-8)


def test_solved_columns_are_left_alone():
    """A right-hand side that is an eigenvector takes one product, the others go on without it."""
    A, b = draw(30, 100.0)
    b[:, 0] = np.linalg.eigh(A)[1][:, 3]
    widths = []

    def times(v):
        widths.append(v.shape[1])
        return A @ v

    conjugate_gradients(times, b)
    assert widths[0] == 4
    assert widths[-1] < 4
    assert widths == sorted(widths, reverse=True)


def test_no_rows_and_no_columns():
    assert conjugate_gradients(lambda v: v, np.zeros((0, 3))).shape == (0, 3)
    assert conjugate_gradients(lambda v: v, np.zeros((3, 0))).shape == (3, 0)


def test_too_few_iterations_are_said():
    A, b = draw(40, 1e4)
    with pytest.warns(ConvergenceWarning, match=r"Ties was solved to .* in 3 iterations; 1e-12 was asked for"):
        conjugate_gradients(lambda v: A @ v, b, max_iter=3, name="Ties")
