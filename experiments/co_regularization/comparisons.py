"""Settings chosen as the paper chose them and without a test set; means over the draws; pairs of methods on the same draws."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student_t

from .full_labels import INNER
from .problems import LINK, PAGE
from .published import published

__all__ = ["ALPHA", "CLAIMS", "claims", "per_repeat", "summarize"]

# Level of the paired tests.
ALPHA = 0.01
# What counts as level with a published mean: so many standard errors of the difference of two means like ours, or a point.
_ERRORS, _POINT = 2.0 * np.sqrt(2.0), 1.0
_CELL = ["data", "draws", "method", "column"]
# What the paper says: this method is above that one, in these columns.
CLAIMS = (
    ("Co-RLS", "Co-trained RLS", (LINK, PAGE)),
    ("Co-LapRLS 1", "LapRLS", (LINK, PAGE)),
    ("Co-LapRLS 2", "LapRLS", (LINK, PAGE)),
    ("Co-LapSVM 1", "LapSVM", (LINK, PAGE)),
    ("Co-LapSVM 2", "LapSVM", (LINK, PAGE)),
    ("Co-LapRLS 2", "Co-RLS", (LINK, PAGE)),
    ("Co-LapSVM 2", "Co-trained SVM", (LINK, PAGE)),
    ("LapRLS", "RLS (12)", (LINK, PAGE)),
    ("LapSVM", "SVM (12)", (LINK, PAGE)),
    ("Co-SVM", "Co-RLS", (LINK, PAGE)),
)


def per_repeat(scores: pd.DataFrame) -> pd.DataFrame:
    """Breakeven points of every cell and repetition under both choices.

    Parameters
    ----------
    scores : DataFrame
        Of `runs.run`.

    Returns
    -------
    chosen : DataFrame
        ``data, draws, method, column, repeat``, ``best`` (by the setting with the best mean over all draws: the choice of the
        paper, which sees the labels of the test), ``honest`` (mean over the settings that tell most pairs of labels apart that
        were left out, for this draw), ``setting`` (the best one) and, for table 2, ``test`` (new pages, by that setting).
    """
    frames = []
    for key, rows in scores.groupby(_CELL, sort=False):
        fixed = rows[rows["setting"] != INNER]
        means = fixed.groupby("setting", sort=False)["breakeven"].mean()
        best = fixed[fixed["setting"] == means.idxmax()].set_index("repeat")
        honest = _honest(rows).reindex(best.index)
        frame = pd.DataFrame({"best": best["breakeven"], "honest": honest, "setting": means.idxmax()})
        frame["test"] = best.get("test", np.nan)
        frames.append(frame.reset_index().assign(**dict(zip(_CELL, key, strict=True))))
    return pd.concat(frames, ignore_index=True)[[*_CELL, "repeat", "best", "honest", "test", "setting"]]


def _honest(rows: pd.DataFrame) -> pd.Series:
    inner = rows[rows["setting"] == INNER]
    if len(inner):
        return inner.set_index("repeat")["breakeven"]
    known = rows[rows["held_out"].notna()]
    most = known.groupby("repeat")["held_out"].transform("max")
    return known[known["held_out"] >= most - 1e-9].groupby("repeat")["breakeven"].mean()


def summarize(chosen: pd.DataFrame) -> pd.DataFrame:
    """Means and standard errors of every cell beside the published one.

    Returns
    -------
    summary : DataFrame
        ``data, draws, method, column, n``; ``best``, ``honest`` and ``test`` with their standard errors ``..._error``;
        ``setting``; ``published`` and ``verdict`` on ``best``: "above", "level" or "below", empty where nothing is published.
    """
    rows = []
    for key, part in chosen.groupby(_CELL, sort=False):
        row: dict[str, Any] = dict(zip(_CELL, key, strict=True)) | {"n": len(part)}
        for name in ("best", "honest", "test"):
            row |= {name: part[name].mean(), f"{name}_error": part[name].sem()}
        of_paper = None if part["test"].notna().any() else published(row["method"], row["column"])
        row |= {"setting": part["setting"].iloc[0], "published": np.nan if of_paper is None else of_paper}
        rows.append(row | {"verdict": _verdict(row["best"] - row["published"], row["best_error"])})
    return pd.DataFrame(rows)


def _verdict(difference: float, error: float) -> str:
    if np.isnan(difference):
        return ""
    limit = max(_POINT, 0.0 if np.isnan(error) else _ERRORS * error)
    return "level" if abs(difference) <= limit else "above" if difference > 0.0 else "below"


def claims(chosen: pd.DataFrame, draws: Sequence[str]) -> pd.DataFrame:
    """Differences of methods on the same draws.

    Returns
    -------
    claims : DataFrame
        ``draws, above, below, column, paper`` (the published difference), then for both choices the mean difference, ``p`` of a
        paired t test (two-sided) and a verdict: "holds" or "reversed" where p < `ALPHA`, else "even".
    """
    rows = []
    for drawn in draws:
        part = chosen[chosen["draws"] == drawn]
        for above, below, columns in CLAIMS:
            for column in columns:
                pair = [_series(part, method, column) for method in (above, below)]
                if any(found.empty for found in pair):
                    continue
                figures = [published(method, column) for method in (above, below)]
                paper = np.nan if None in figures else figures[0] - figures[1]
                row = {"draws": drawn, "above": above, "below": below, "column": column, "paper": paper}
                for choice in ("best", "honest"):
                    row |= _difference(pair[0][choice] - pair[1][choice], choice)
                rows.append(row)
    return pd.DataFrame(rows)


def _series(chosen: pd.DataFrame, method: str, column: str) -> pd.DataFrame:
    part = chosen[(chosen["method"] == method) & (chosen["column"] == column) & chosen["test"].isna()]
    return part.set_index("repeat")[["best", "honest"]]


def _difference(pairs: pd.Series, name: str) -> dict[str, Any]:
    """Mean, p-value and verdict over the repetitions that both have."""
    known = pairs.dropna()
    error = known.sem() if len(known) > 1 else np.nan
    mean = known.mean()
    p = float(2.0 * student_t.sf(abs(mean) / error, len(known) - 1)) if error > 0.0 else np.nan
    verdict = "" if np.isnan(p) else "even" if p >= ALPHA else "holds" if mean > 0.0 else "reversed"
    return {name: mean, f"{name}_p": p, f"{name}_verdict": verdict}
