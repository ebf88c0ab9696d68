"""The search for the largest evidence: starts, bounds, warnings."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from coview.inference import maximize_evidence


def two_peaks(theta):
    """A low peak at -2 and a high one at 3."""
    left, right = np.exp(-((theta[0] + 2) ** 2)), 2 * np.exp(-((theta[0] - 3) ** 2))
    slope = -2 * (theta[0] + 2) * left - 2 * (theta[0] - 3) * right
    return float(left + right), np.array([slope])


BOUNDS = np.array([[-6.0, 6.0]])


def test_the_best_of_all_starts_wins():
    low = maximize_evidence(two_peaks, [np.array([-2.5])], BOUNDS)
    best = maximize_evidence(two_peaks, [np.array([-2.5]), np.array([2.0]), np.array([-1.0])], BOUNDS)
    assert low.theta[0] == pytest.approx(-2, abs=1e-3)
    assert best.theta[0] == pytest.approx(3, abs=1e-3)
    assert best.value == pytest.approx(2.0, abs=1e-6)
    assert not (best.at_lower | best.at_upper).any()


def test_threads_change_nothing():
    starts = [np.array([-2.5]), np.array([2.0])]
    assert maximize_evidence(two_peaks, starts, BOUNDS, n_jobs=2).theta.tolist() == (
        maximize_evidence(two_peaks, starts, BOUNDS).theta.tolist()
    )


def test_parameters_at_a_bound_are_said_to_be():
    def plane(theta):
        return float(theta[0] - theta[1]), np.array([1.0, -1.0])

    bounds = np.array([[-1.0, 2.0], [-3.0, 4.0]])
    maximum = maximize_evidence(plane, [np.zeros(2)], bounds)
    assert maximum.theta.tolist() == [2.0, -3.0]
    assert maximum.at_upper.tolist() == [True, False]
    assert maximum.at_lower.tolist() == [False, True]


def test_starts_outside_the_bounds_are_moved_inside():
    maximum = maximize_evidence(two_peaks, [np.array([100.0])], np.array([[-6.0, 4.0]]))
    assert maximum.theta[0] == pytest.approx(3, abs=1e-3)


def test_a_search_that_stops_early_warns_with_a_remedy():
    def valley(theta):
        a, b = theta
        return -float(100 * (b - a * a) ** 2 + (1 - a) ** 2), -np.array(
            [-400 * a * (b - a * a) - 2 * (1 - a), 200 * (b - a * a)]
        )

    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 iterations .* largest slope .* n_restarts"):
        maximize_evidence(valley, [np.array([-1.0, 1.0])], np.array([[-5.0, 5.0]] * 2), max_iter=2)
