"""Means over draws, and differences on the same draws."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

__all__ = ["paired_differences", "score_table", "summarize_scores"]


def summarize_scores(scores: pd.DataFrame, *, metrics: Sequence[str]) -> pd.DataFrame:
    """Mean and standard error of every score over the draws.

    Parameters
    ----------
    scores : DataFrame
        As in :class:`Comparison`.
    metrics : sequence of str
        Score columns.

    Returns
    -------
    summary : DataFrame
        One row per method, number of labels, group and score: ``mean``, ``standard_error`` (NaN for one draw),
        ``n_draws``.

    Examples
    --------
    >>> import pandas as pd
    >>> from coview.model_selection import summarize_scores
    >>> scores = pd.DataFrame({"method": "m", "n_labeled": 4, "group": "all", "draw": [0, 1], "auc": [0.8, 0.6]})
    >>> summarize_scores(scores, metrics=["auc"])[["mean", "standard_error"]].round(2).values.tolist()
    [[0.7, 0.1]]
    """
    keys = ["method", "n_labeled", "group"]
    long = scores.melt(id_vars=[*keys, "draw"], value_vars=list(metrics), var_name="metric")
    grouped = long.groupby([*keys, "metric"], sort=False)["value"]
    return grouped.agg(mean="mean", standard_error="sem", n_draws="count").reset_index()


def paired_differences(scores: pd.DataFrame, *, reference: str, metrics: Sequence[str] = ("log_loss",)) -> pd.DataFrame:
    """Difference of every method from a reference on the same draws.

    Parameters
    ----------
    scores : DataFrame
        As in :class:`Comparison`.
    reference : str
        The method that is subtracted.
    metrics : sequence of str, default=("log_loss",)
        Score columns.

    Returns
    -------
    differences : DataFrame
        One row per other method, number of labels, group and score: ``mean`` of (method - reference) over the draws
        that both have, ``standard_error`` of that mean, ``low`` and ``high`` two of them away from it, ``n_draws``.

    Examples
    --------
    >>> import pandas as pd
    >>> from coview.model_selection import paired_differences
    >>> scores = pd.DataFrame({"method": ["a", "a", "b", "b"], "n_labeled": 4, "group": "all",
    ...                        "draw": [0, 1, 0, 1], "auc": [0.8, 0.6, 0.9, 0.8]})
    >>> paired_differences(scores, reference="a", metrics=["auc"])[["method", "mean"]].round(2).values.tolist()
    [['b', 0.15]]
    """
    if reference not in set(scores["method"]):
        raise ValueError(f"No scores of the reference {reference!r}; methods are {sorted(set(scores['method']))}.")
    keys = ["n_labeled", "group", "draw"]
    base = scores[scores["method"] == reference][[*keys, *metrics]]
    others = scores[scores["method"] != reference]
    pairs = others.merge(base, on=keys, suffixes=("", "_reference"), validate="many_to_one")
    for metric in metrics:
        pairs[metric] = pairs[metric] - pairs[f"{metric}_reference"]
    summary = summarize_scores(pairs, metrics=metrics)
    reach = 2 * summary["standard_error"]
    return summary.assign(low=summary["mean"] - reach, high=summary["mean"] + reach)


def score_table(
    scores: pd.DataFrame, metric: str, *, rows: Sequence[str] = ("data", "n_labeled"), group: str = "all"
) -> pd.DataFrame:
    """Mean score of every method on every data set: one row per data set, one column per method.

    Parameters
    ----------
    scores : DataFrame
        As in :class:`Comparison`, of several data sets below each other with a column that names them.
    metric : str
        Score column.
    rows : sequence of str, default=("data", "n_labeled")
        Columns whose combinations are the rows; scores are averaged over all others.
    group : str, default="all"
        Group of samples.

    Returns
    -------
    table : DataFrame
        Rows and methods in their first order. NaN where a method lacks a draw that another method has: means over
        different draws do not compare.

    Examples
    --------
    >>> import pandas as pd
    >>> from coview.model_selection import score_table
    >>> scores = pd.DataFrame({"data": "d", "method": ["a", "a", "b"], "n_labeled": 4, "group": "all",
    ...                        "draw": [0, 1, 0], "auc": [0.8, 0.6, 0.9]})
    >>> score_table(scores, "auc").loc[("d", 4)].tolist()
    [0.7, nan]
    """
    absent = [name for name in (*rows, "method", metric) if name not in scores.columns]
    if absent:
        raise ValueError(
            f"scores have no column {', '.join(map(repr, absent))}; they have {', '.join(scores.columns)}."
        )
    part = scores[scores["group"] == group]
    means, counts = (
        part.pivot_table(index=list(rows), columns="method", values=metric, aggfunc=what, sort=False).reindex(
            columns=part["method"].unique()
        )
        for what in ("mean", "count")
    )
    return means.where(counts.eq(counts.max(axis=1), axis=0))
