"""Scores of predicted numbers."""

import numpy as np
import pytest
from scipy import integrate
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from coview.metrics import prediction_interval, regression_scores


def test_scores_equal_scikit_learn():
    rng = np.random.default_rng(0)
    y, mean = rng.normal(size=(2, 30))
    scores = regression_scores(y, mean)
    assert scores["rmse"] == pytest.approx(root_mean_squared_error(y, mean))
    assert scores["mae"] == pytest.approx(mean_absolute_error(y, mean))
    assert scores["r2"] == pytest.approx(r2_score(y, mean))
    assert np.isnan(scores["negative_log_density"])
    assert np.isnan(scores["coverage_90"])


def test_density_is_that_of_the_normal_distribution():
    scores = regression_scores([1.5], [1.0], [2.0])
    assert scores["negative_log_density"] == pytest.approx(0.5 * np.log(2 * np.pi * 4.0) + 0.5**2 / 8)


def test_interval_holds_its_share_of_the_mass():
    (lower,), (upper,) = prediction_interval([2.0], [3.0], coverage=0.8)
    mass, _ = integrate.quad(lambda x: np.exp(-((x - 2) ** 2) / 18) / np.sqrt(18 * np.pi), lower, upper)
    assert mass == pytest.approx(0.8)
    assert (lower + upper) / 2 == pytest.approx(2.0)


def test_coverage_counts_targets_inside():
    scores = regression_scores([0.0, 1.6, 1.7, -5.0], np.zeros(4), np.ones(4))
    assert scores["coverage_90"] == 0.5


def test_targets_that_do_not_vary_have_no_r2():
    assert np.isnan(regression_scores([1.0, 1.0], [1.0, 2.0])["r2"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, np.nan], [1.0, 2.0]), "finite"),
        (([1.0], [1.0, 2.0]), "One prediction per target"),
        (([1.0], [1.0], [0.0]), "sd must be positive"),
    ],
)
def test_senseless_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        regression_scores(*arguments)


def test_coverage_outside_0_and_1_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        prediction_interval([0.0], [1.0], coverage=90)
