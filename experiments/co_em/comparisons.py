"""Means over the repetitions, differences on the same repetitions, and what the criterion would have chosen."""

from collections.abc import Hashable, Sequence
from math import comb
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import spearmanr
from scipy.stats import t as student_t

from .clusterings import CO_EM

__all__ = ["ALPHA", "KEYS", "best_starts", "summarize"]

KEYS = ["part", "data", "method", "start", "n_clusters", "n_views", "smoothing", "consensus"]
# Level of the paper's tests.
ALPHA = 0.01
_STARTS = 10
# Of bits; below is rounding.
_DECIMALS = 12


def summarize(scores: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Mean entropy of every setting, and its difference from the setting it is held against.

    Held against: in ``linked`` co-EM from the same kind of start with the same pseudo-count (1 for methods without); in
    ``empty rows`` co-EM to which they are absent; in ``splits`` one view less; in ``consensus`` a weight of 1. The difference
    is this setting less that one, repetition by repetition.

    Parameters
    ----------
    scores : sequence of dict
        `KEYS`, ``repeat``, ``bits`` and more.

    Returns
    -------
    summary : DataFrame
        `KEYS`, ``mean``, ``standard_error``, ``n``, ``sweeps``, ``difference``, ``difference_error``, ``p_value`` (paired t
        test, two-sided) and ``verdict``: "above" or "below" where p < `ALPHA`, else "even"; empty where there is nothing to
        compare with.
    """
    frame = pd.DataFrame(scores)
    runs = {key: rows.set_index("repeat") for key, rows in frame.groupby(KEYS, sort=False, dropna=False)}
    bits = {_plain(key): rows["bits"] for key, rows in runs.items()}
    summary = []
    for key, rows in runs.items():
        found = dict(zip(KEYS, key, strict=True))
        against = _plain(tuple(_reference(found).values()))
        reference = None if against == _plain(key) else bits.get(against)
        summary.append(
            found
            | {"mean": rows["bits"].mean(), "standard_error": rows["bits"].sem(), "n": len(rows)}
            | {"sweeps": rows["sweeps"].mean(), "clusters": rows["clusters"].mean()}
            | _difference(rows["bits"], reference)
        )
    return pd.DataFrame(summary)


def _reference(key: dict[Hashable, Any]) -> dict[Hashable, Any]:
    """The setting that another is held against, itself where there is none."""
    part = key["part"]
    if part == "splits":
        return key | {"n_views": key["n_views"] - 1}
    if part == "consensus":
        return key | {"consensus": "1"}
    n_views = 2 if key["data"] == "WebKB" else 3
    smoothing = 1.0 if np.isnan(key["smoothing"]) else key["smoothing"]
    return key | {"part": "linked", "method": CO_EM, "n_views": n_views, "smoothing": smoothing, "consensus": "1"}


def _plain(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """A key that equals itself: NaN as None."""
    return tuple(None if isinstance(value, float) and np.isnan(value) else value for value in key)


def _difference(bits: pd.Series, reference: pd.Series | None) -> dict[str, Any]:
    """Paired difference of the entropies, in bits."""
    nothing = {"difference": np.nan, "difference_error": np.nan, "p_value": np.nan, "verdict": ""}
    if reference is None:
        return nothing
    pairs = (bits - reference.reindex(bits.index)).round(_DECIMALS)
    p_value = _p_value(pairs)
    verdict = "" if np.isnan(p_value) else "even" if p_value >= ALPHA else "above" if pairs.mean() > 0 else "below"
    return {
        "difference": pairs.mean(),
        "difference_error": pairs.sem(),
        "p_value": p_value,
        "verdict": verdict,
    }


def _p_value(pairs: pd.Series) -> float:
    """Of a paired t test, two-sided; 1 where all differences are 0, NaN for one of them."""
    if len(pairs) < 2:
        return np.nan
    error = pairs.sem()
    if error == 0.0:
        return float(pairs.mean() == 0.0)
    return float(2.0 * student_t.sf(abs(pairs.mean()) / error, len(pairs) - 1))


def best_starts(scores: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Entropy of the best of ten starts by a measure that knows no classes, in expectation over which ten runs they are.

    Parameters
    ----------
    scores : sequence of dict
        Those of the part ``linked`` with a pseudo-count of 1 count.

    Returns
    -------
    chosen : DataFrame
        ``data``, ``method``, ``start``, ``n_clusters``, ``one_start``, then for the measures ``criterion`` and
        ``log_likelihood`` the entropy of the best of ten (bits) and ``MEASURE_rank``, the rank correlation of measure and
        entropy (negative where the measure knows which runs are good).
    """
    frame = pd.DataFrame(scores)
    frame = frame[(frame["part"] == "linked") & (frame["smoothing"] == 1.0)]
    keys = ["data", "method", "start", "n_clusters"]
    rows = []
    for key, runs in frame.groupby(keys, sort=False):
        row = dict(zip(keys, key, strict=True)) | {"one_start": runs["bits"].mean()}
        for measure in ("criterion", "log_likelihood"):
            ranked = runs.sort_values(measure, ascending=False)["bits"].to_numpy()
            row[measure] = float(_best_weights(len(ranked)) @ ranked)
            row[f"{measure}_rank"] = spearmanr(runs[measure], runs["bits"]).statistic if len(runs) > 2 else np.nan
        rows.append(row)
    return pd.DataFrame(rows)


def _best_weights(n_runs: int) -> NDArray[np.float64]:
    """Probability that the run of each rank is the best of `_STARTS` drawn without replacement."""
    drawn = min(_STARTS, n_runs)
    weights = [comb(n_runs - 1 - rank, drawn - 1) / comb(n_runs, drawn) for rank in range(n_runs)]
    return np.array(weights)
