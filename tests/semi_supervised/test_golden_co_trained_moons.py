"""Co-trained least squares on moons and lines against reference errors (``tests/golden/corls_toy_reference.json``, toy A)."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.gaussian_process.kernels import RBF, DotProduct

from coview.semi_supervised import CoTrainingClassifier

from .test_golden_moons_and_lines import CASES, N, moons_and_lines

ROUNDS = {"A rls": 0, "A cotrained rls, 1 round": 1, "A cotrained rls, until exhausted": 1000}


class LeastSquares(ClassifierMixin, BaseEstimator):
    """Regularized least squares without constant, (K + n gamma I) a = y, for classes -1 and 1."""

    def __init__(self, kernel, gamma=1e-2):
        self.kernel, self.gamma = kernel, gamma

    def fit(self, X, y):
        self.classes_, self.X_ = np.unique(y), X
        self.a_ = np.linalg.solve(self.kernel(X) + len(y) * self.gamma * np.eye(len(y)), y)
        return self

    def decision_function(self, X):
        return self.kernel(X, self.X_) @ self.a_


def errors(n_rounds, seeds):
    """Errors of both views on the samples without given label (n_seeds, 2)."""
    truth, found = np.repeat([1.0, -1.0], N), []
    for seed in seeds:
        moons, lines, ends = moons_and_lines(seed, moon_noise=0.1, line_noise=0.1, length=6.0)
        y = np.full(2 * N, np.nan)
        y[ends] = [1.0, -1.0]
        model = CoTrainingClassifier(
            [LeastSquares(RBF(0.5)), LeastSquares(DotProduct(0.0))], n_positive=1, n_negative=1, n_rounds=n_rounds
        ).fit([moons, lines], y)
        rest = np.isnan(y)
        found.append(
            [(model.predict([moons, lines], view=view)[rest] != truth[rest]).mean() for view in model.view_names_]
        )
    return np.array(found)


@pytest.mark.parametrize("name", ROUNDS)
def test_errors(name):
    """Mean, median and worst over 30 seeds, as the file has them."""
    expected = CASES["errors"]["outputs"][name]
    found = errors(ROUNDS[name], range(30))
    np.testing.assert_allclose(found.mean(axis=0), expected["mean_error"], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(np.median(found, axis=0), expected["median_error"], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.max(axis=0), expected["worst"], rtol=1e-8, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROUNDS)
def test_errors_on_fresh_seeds(name):
    expected = CASES["errors_fresh_seeds"]["outputs"][name]
    found = errors(ROUNDS[name], range(1000, 1100))
    np.testing.assert_allclose(found.mean(axis=0), expected["mean_error"], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(np.median(found, axis=0), expected["median_error"], rtol=1e-8, atol=1e-10)
