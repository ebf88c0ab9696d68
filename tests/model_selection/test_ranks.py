"""Mean ranks, Friedman's test and the critical difference, against Demšar's tables and scipy."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import friedmanchisquare

from coview.model_selection import critical_difference, mean_ranks, score_table


def long_scores(table, *, metric="log_loss", n_draws=1):
    """One row per data set, method and draw, from one column of means per method."""
    rows = [
        {"data": data, "n_labeled": 4, "group": "all", "method": method, "draw": draw, metric: value + 0.01 * draw}
        for data, values in table.iterrows()
        for method, value in values.items()
        for draw in range(n_draws)
    ]
    return pd.DataFrame(rows)


# Demšar (2006), table 5(a), alpha = 0.05: critical values for 2 to 10 classifiers.
NEMENYI = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]


@pytest.mark.parametrize(("n_methods", "value"), list(enumerate(NEMENYI, start=2)))
def test_critical_values_are_those_of_the_printed_table(n_methods, value):
    scale = np.sqrt(n_methods * (n_methods + 1) / (6 * 30))
    assert critical_difference(n_methods, 30) / scale == pytest.approx(value, abs=1.1e-3)


def test_impossible_critical_differences_are_refused():
    for arguments in ((1, 10, 0.05), (3, 0, 0.05), (3, 10, 1.0)):
        with pytest.raises(ValueError, match="needs two methods, one row and a level between 0 and 1"):
            critical_difference(*arguments[:2], level=arguments[2])


def test_statistic_follows_from_scipys_chi_square_with_ties():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 6, size=(14, 4)).astype(float), columns=list("abcd"))
    found = mean_ranks(long_scores(table), "log_loss")
    chi_square = friedmanchisquare(*(table[name] for name in table)).statistic
    assert found.f_statistic == pytest.approx(13 * chi_square / (14 * 3 - chi_square))
    assert found.ranks.sum() == pytest.approx(1 + 2 + 3 + 4)
    assert 0.0 < found.p_value < 1.0


def test_ranks_by_hand_in_both_directions():
    table = pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.2, 0.1], "c": [0.3, 0.5, 0.4]})
    scores = long_scores(table, n_draws=3)
    lower = mean_ranks(scores, "log_loss")
    assert lower.ranks.round(6).to_dict() == {"a": 1.5, "b": 1.5, "c": 3.0}
    assert mean_ranks(scores, "log_loss", higher_is_better=True).ranks.round(6).to_dict() == {
        "c": 1,
        "a": 2.5,
        "b": 2.5,
    }
    assert lower.level_with("a") == ["b", "c"]
    assert lower.critical_difference == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 3)), abs=2e-3)
    many = mean_ranks(long_scores(pd.concat([table] * 10, ignore_index=True)), "log_loss")
    assert many.level_with("a") == ["b"]


def test_same_order_everywhere_is_as_sure_as_the_rows_are_many_and_ties_everywhere_are_chance():
    order = pd.DataFrame({"a": [0.1] * 5, "b": [0.2] * 5, "c": [0.3] * 5})
    sure = mean_ranks(long_scores(order), "log_loss")
    assert (sure.f_statistic, sure.p_value) == (np.inf, pytest.approx(np.exp(-5.0)))  # chi-square 10, two degrees
    two = mean_ranks(long_scores(pd.DataFrame({"a": [0.1, 0.1], "b": [0.2, 0.2]})), "log_loss")
    assert 0.1 < two.p_value < 0.5
    assert two.level_with("a") == ["b"]
    tied = mean_ranks(long_scores(order * 0), "log_loss")
    assert (tied.f_statistic, tied.p_value) == (0.0, 1.0)


def test_one_data_set_tells_nothing():
    single = mean_ranks(long_scores(pd.DataFrame({"a": [0.1], "b": [0.2]})), "log_loss")
    assert np.isnan(single.f_statistic)
    assert np.isnan(single.p_value)


def test_rows_in_which_a_method_is_absent_are_not_ranked():
    scores = long_scores(pd.DataFrame({"a": [0.1, 0.2], "b": [0.2, 0.1]}, index=["x", "y"]))
    scores.loc[(scores["data"] == "y") & (scores["method"] == "b"), "log_loss"] = np.nan
    found = mean_ranks(scores, "log_loss")
    assert found.ranks.to_dict() == {"a": 1.0, "b": 2.0}
    assert list(found.left_out) == [("y", 4)]
    with pytest.raises(ValueError, match="2 methods have 0"):
        mean_ranks(scores[scores["data"] == "y"], "log_loss")
    with pytest.raises(ValueError, match="No scores of 'c'; there are a, b"):
        mean_ranks(scores, "log_loss", methods=["a", "c"])


def test_draws_of_one_set_can_be_ranked():
    scores = long_scores(pd.DataFrame({"a": [0.1], "b": [0.2]}), n_draws=6)
    assert len(mean_ranks(scores, "log_loss", rows=("draw",)).table) == 6


def test_table_keeps_the_order_and_leaves_gaps_where_draws_are_absent():
    table = pd.DataFrame({"b": [0.4, 0.2], "a": [0.3, 0.1]}, index=["y", "x"])
    scores = long_scores(table, n_draws=3)
    incomplete = scores[~((scores["data"] == "x") & (scores["method"] == "a") & (scores["draw"] == 2))]
    found = score_table(incomplete, "log_loss")
    assert list(found.columns) == ["b", "a"]
    assert list(found.index) == [("y", 4), ("x", 4)]
    np.testing.assert_allclose(found.to_numpy(), [[0.41, 0.31], [0.21, np.nan]])


def test_a_table_needs_its_columns():
    with pytest.raises(ValueError, match="no column 'data', 'auc'; they have method, n_labeled, group, draw"):
        score_table(pd.DataFrame(columns=["method", "n_labeled", "group", "draw"]), "auc")
