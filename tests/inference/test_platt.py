"""Platt's sigmoid: its minimum, its limits, and what it refuses."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from coview.inference import PlattScaling


def _loss(parameters, scores, positive):
    targets = np.where(positive, (positive.sum() + 1) / (positive.sum() + 2), 1 / ((~positive).sum() + 2))
    p = expit(-(parameters[0] * scores + parameters[1]))
    return -np.sum(targets * np.log(p) + (1 - targets) * np.log1p(-p))


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_is_the_minimum_of_the_cross_entropy(scale):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=40)
    positive = rng.uniform(size=40) < expit(2 * scores + 0.5)
    found = PlattScaling.fit(scale * scores, positive)
    best = minimize(_loss, np.zeros(2), args=(scores, positive), method="BFGS", options={"gtol": 1e-10})
    np.testing.assert_allclose([found.slope * scale, found.offset], best.x, rtol=1e-5)


def test_probabilities_rise_with_the_score_and_stay_inside():
    found = PlattScaling.fit(np.array([-1.0, 1.0]), np.array([False, True]))
    p = found.probability(np.linspace(-5, 5, 11))
    assert np.all(np.diff(p) > 0)
    np.testing.assert_allclose(found.probability(np.array([-1.0, 1.0])), [1 / 3, 2 / 3], rtol=1e-6)


@pytest.mark.parametrize(
    ("scores", "positive", "probability"),
    [
        ([1.0, 1.0, 1.0], [True, False, False], (2 / 3 + 1 / 4 + 1 / 4) / 3),  # equal scores: the mean target
        ([0.1, 0.2, 0.3], [True, True, True], 4 / 5),  # one class: (N + 1) / (N + 2)
        ([1.0, 2.0, 3.0, 4.0], [True, True, False, False], 0.5),  # scores that mislead
    ],
)
def test_is_constant_where_scores_say_nothing(scores, positive, probability):
    found = PlattScaling.fit(np.array(scores), np.array(positive))
    assert found.slope == 0.0
    np.testing.assert_allclose(found.probability(np.array([-9.0, 9.0])), probability)


def test_separated_and_offset_scores_converge():
    scores = 1e6 + np.array([0.0, 1.0, 2.0, 3.0])
    p = PlattScaling.fit(scores, np.array([False, False, True, True])).probability(scores)
    assert p[0] < p[1] < 0.5 < p[2] < p[3]


def test_missing_scores_stay_missing():
    found = PlattScaling.fit(np.array([-1.0, 1.0]), np.array([False, True]))
    assert np.isnan(found.probability(np.array([np.nan]))).all()


def test_refuses_nothing_and_infinity():
    with pytest.raises(ValueError, match="Label at least one"):
        PlattScaling.fit(np.zeros(0), np.zeros(0, dtype=bool))
    with pytest.raises(ValueError, match="finite"):
        PlattScaling.fit(np.array([np.inf, 0.0]), np.array([True, False]))
