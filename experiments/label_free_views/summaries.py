"""Means over draws and splits, published figures beside them, and a verdict on each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from . import synthetic
from .mixtures import CHOSEN, CHOSEN_DIRECT, COMPONENTS, DIRECT_MIXTURE, MIXTURE, NOISE_VARIANCES
from .problems import DIGITS, SYNTHETIC
from .rivals import DIRECT

__all__ = ["CLEAR", "paired", "summarize", "verdict"]

# Differences from this many standard errors on count.
CLEAR = 2.0

# Percent correct and its deviation, tables 1 and 2 of the paper: rows are noise variances, columns numbers of components.
_TABLES = {
    MIXTURE: (
        ((55.7, 7.2), (54.9, 5.5), (53.0, 3.8), (50.2, 3.8)),
        ((49.1, 4.5), (57.4, 5.8), (53.6, 3.5), (53.4, 3.2)),
        ((53.4, 6.2), (55.3, 4.5), (52.5, 1.0), (49.1, 5.2)),
    ),
    DIRECT_MIXTURE: (
        ((70.1, 6.0), (69.1, 1.8), (73.8, 5.8), (70.4, 7.1)),
        ((68.3, 5.7), (68.7, 3.4), (72.8, 3.4), (69.4, 2.9)),
        ((70.8, 2.8), (68.5, 4.3), (69.4, 5.0), (68.7, 2.2)),
    ),
}
_DISCRIMINATIVE = 0.7283
_KEYS = ["part", "method", "tested_on", "components", "factors", "noise_variance"]


def summarize(scores: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A row per part, method, views to test on and setting.

    Parameters
    ----------
    scores : sequence of dict
        ``part, method, tested_on, components, factors, noise_variance, repeat, accuracy``.

    Returns
    -------
    summary : DataFrame
        The keys, ``mean, sd, n, published, published_sd, standard_errors, verdict``. A published deviation over a number of
        trials that is not known counts in full.
    """
    # the number of components that was chosen differs from split to split
    settings = [{**row, "components": None} if row["method"] in (CHOSEN, CHOSEN_DIRECT) else row for row in scores]
    frame = pd.DataFrame({key: pd.Series([row[key] for row in settings], dtype=object) for key in _KEYS})
    frame["accuracy"] = [row["accuracy"] for row in scores]
    grouped = frame.groupby(_KEYS, sort=False, dropna=False)["accuracy"]
    summary = grouped.agg(mean="mean", sd="std", n="count").reset_index()
    summary[_KEYS] = summary[_KEYS].astype(object).where(summary[_KEYS].notna(), None)
    return judged(summary)


def judged(summary: pd.DataFrame) -> pd.DataFrame:
    """Means with the published ones beside them, the distance in standard errors, and a verdict."""
    published = _published()
    rows = [published.get(tuple(row), (np.nan, np.nan, 1)) for row in summary[_KEYS].itertuples(index=False)]
    summary["published"], summary["published_sd"] = [row[0] for row in rows], [row[1] for row in rows]
    trials = np.array([row[2] for row in rows], dtype=float)
    error = np.sqrt(summary["sd"] ** 2 / summary["n"] + summary["published_sd"] ** 2 / trials)
    difference = summary["mean"] - summary["published"]
    # with one component neither deviates: equal is equal
    with np.errstate(divide="ignore", invalid="ignore"):
        summary["standard_errors"] = np.where(np.abs(difference) < 1e-6, 0.0, difference / error)
    summary["verdict"] = summary["standard_errors"].map(verdict)
    return summary


def _published() -> dict[tuple[Any, ...], tuple[float, float, int]]:
    """Mean, deviation and number of trials by part, method, views, components, factors and noise variance."""
    figures: dict[tuple[Any, ...], tuple[float, float, int]] = {
        (SYNTHETIC, scenario, "z", *setting): value for (scenario, *setting), value in synthetic.REFERENCE.items()
    }
    for method, table in _TABLES.items():
        for noise, cells in zip(NOISE_VARIANCES, table, strict=True):
            for n_components, (percent, deviation) in zip(COMPONENTS, cells, strict=True):
                figures[(DIGITS, method, "image", n_components, 10, noise)] = (percent / 100, deviation / 100, 1)
    figures[(DIGITS, DIRECT, "image", None, None, None)] = (_DISCRIMINATIVE, np.nan, 1)
    return figures


def verdict(standard_errors: float) -> str:
    """A word for the distance from a published mean; empty where there is none, or no deviation to measure it by."""
    if np.isnan(standard_errors):
        return ""
    if abs(standard_errors) <= CLEAR:
        return "reached"
    return "above" if standard_errors > 0 else "below"


def paired(scores: Sequence[Mapping[str, Any]], part: str, tested_on: str) -> pd.DataFrame:
    """The chosen mixture against every method that has no setting of the grid, over the same splits.

    Returns
    -------
    differences : DataFrame
        Index method; ``mean`` and ``sd`` of the method, ``difference`` of the mixture from it and its standard ``error``.
    """
    rows = [row for row in scores if row["part"] == part and row["tested_on"] == tested_on]
    rows = [row for row in rows if row["components"] is None or row["method"] in (CHOSEN, CHOSEN_DIRECT)]
    wide = pd.DataFrame(rows).pivot_table(index="repeat", columns="method", values="accuracy")
    wide = wide[list(dict.fromkeys(row["method"] for row in rows))]
    ahead = wide[[CHOSEN]].to_numpy() - wide
    error = ahead.std() / np.sqrt(len(ahead))
    return pd.DataFrame({"mean": wide.mean(), "sd": wide.std(), "difference": ahead.mean(), "error": error})
