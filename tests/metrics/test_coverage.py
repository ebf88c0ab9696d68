"""Coverage of stated intervals: simulated, by hand, and against scipy's exact interval."""

import numpy as np
import pytest
from scipy.stats import binomtest

from coview.metrics import coverage_table, regression_scores


def test_targets_drawn_from_what_is_stated_are_covered_as_often_as_stated():
    rng = np.random.default_rng(0)
    mean, sd = rng.normal(size=4000), rng.uniform(0.5, 2.0, size=4000)
    y = mean + sd * rng.normal(size=4000)
    table = coverage_table(y, mean, sd)
    assert table["level"].tolist() == [0.5, 0.8, 0.9, 0.95]
    # Four standard errors of a share of 4000.
    np.testing.assert_allclose(table["share"], table["level"], atol=4 * np.sqrt(0.25 / 4000))
    assert regression_scores(y, mean, sd)["coverage_90"] == table.set_index("level")["share"][0.9]
    row = table.iloc[2]
    exact = binomtest(int(row["covered"]), int(row["n"])).proportion_ci(0.95)
    assert (row["share_low"], row["share_high"]) == pytest.approx((exact.low, exact.high))


def test_limits_reach_zero_and_one_where_nothing_or_everything_is_inside():
    table = coverage_table([5.0, -5.0], [0.0, 0.0], [1.0, 1.0], levels=[0.5])
    assert table[["share", "share_low"]].to_numpy().tolist() == [[0.0, 0.0]]
    table = coverage_table([0.1, -0.1], [0.0, 0.0], [1.0, 1.0], levels=[0.5])
    assert table[["share", "share_high"]].to_numpy().tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [1.0, 2.0], [1.0]), "One prediction and one standard deviation per target"),
        (([], [], []), "One prediction and one standard deviation per target"),
        (([np.nan], [1.0], [1.0]), "must be finite"),
        (([1.0], [1.0], [0.0]), "deviations positive"),
        (([1.0], [1.0], [np.nan]), "deviations positive"),
    ],
)
def test_what_is_no_prediction_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        coverage_table(*arguments)
