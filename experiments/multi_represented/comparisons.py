"""Differences of methods on the same folds and draws, and whether they are more than chance."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.stats import t as student

from .clusters import AUTO, BY_VIEW, SHARE_DRAWN
from .neighbors import ALONE, N_FOLDS, SURE

__all__ = [
    "CHOICES",
    "MEASURES",
    "CellRow",
    "chosen_widths",
    "cluster_summary",
    "difference",
    "neighbor_summary",
    "words",
]

CellRow = dict[str, object]

ALPHA = 0.05
MEASURES = ("accuracy", "f1")
AGREEMENTS = ("ari", "nmi", "noise", "n_clusters")
#: Ways of choosing the quantile of the widths; the last one by the classes.
CHOICES = ("auto", "most clusters", "silhouette", "most information", "best by the classes")
_CRITERIA = dict(zip(CHOICES[1:], ("n_clusters", "silhouette", "information", "ari"), strict=True))


def difference(ours: pd.Series, others: pd.Series, variance_factor: float, mean: float | None = None) -> CellRow:
    """A paired difference with its standard error, and whether it is below or above zero.

    ``variance_factor`` times the variance of the differences is that of their mean, as they share samples: for folds of
    repeated cross-validation 1/n + (test samples)/(training samples) of Nadeau and Bengio (2003), for draws without replacement
    (drawn)/(left out), the jackknife. ``mean`` is the difference to judge where it is not that of the draws.
    """
    gaps = (ours - others).to_numpy()
    value = float(gaps.mean()) if mean is None else mean
    if len(gaps) < 2:
        return {"difference": value, "difference_error": np.nan, "p": np.nan, "verdict": ""}
    error = float(np.sqrt(variance_factor * gaps.var(ddof=1)))
    p = 2.0 * float(student.sf(abs(value) / error, len(gaps) - 1)) if error > 0.0 else float(value == 0.0)
    verdict = "even" if not p < ALPHA else "above" if value > 0.0 else "below"
    return {"difference": value, "difference_error": error, "p": p, "verdict": verdict}


def words(found: CellRow) -> str:
    """A difference in a table."""
    spread = "" if np.isnan(found["difference_error"]) else f" ± {found['difference_error']:.3f}"  # type: ignore[call-overload]
    return f"{found['difference']:+.3f}{spread} {found['verdict']}".strip()


def of_folds(part: pd.DataFrame, ours: str, others: str, measure: str) -> CellRow:
    """The difference of two methods over the folds of one data set and setting."""
    folds = part[part["fold"].notna()].set_index(["repeat", "fold"])
    pair = [folds.loc[(folds["method"] == method).to_numpy(), measure] for method in (ours, others)]
    return difference(*pair, 1.0 / len(pair[0]) + 1.0 / (N_FOLDS - 1))


def best_alone(part: pd.DataFrame) -> str:
    """The representation that is most often right, in hindsight."""
    alone = part[part["method"].str.endswith(ALONE) & part["fold"].isna()]
    return str(alone.groupby("method", sort=False)["accuracy"].mean().idxmax())


def neighbor_summary(scores: pd.DataFrame) -> pd.DataFrame:
    """Means of every method, and its difference from multi-represented nearest neighbors."""
    rows = []
    for (data, setting), part in scores.groupby(["data", "setting"], sort=False):
        pooled = part[part["fold"].isna()].groupby("method", sort=False)
        for method, own in pooled:
            for measure in MEASURES:
                against = {} if method == SURE else {"against": SURE, **of_folds(part, method, SURE, measure)}
                facts = {"part": "neighbors", "data": data, "setting": setting, "method": method, "measure": measure}
                rows.append({**facts, "value": own[measure].mean(), **against})
    return pd.DataFrame(rows)


def chosen_widths(scores: pd.DataFrame, choice: str) -> pd.DataFrame:
    """The row of the chosen quantile for every data set, draw, method and rule; of equal ones the wider."""
    if choice == "auto":
        return scores[scores["quantile"] == AUTO]
    ordered = scores.sort_values([_CRITERIA[choice], "quantile"], kind="stable")
    return ordered.groupby(["data", "draw", "method", "rule"], sort=False).tail(1).sort_index()


def of_draws(part: pd.DataFrame, ours: tuple[str, str], others: tuple[str, str], measure: str) -> CellRow:
    """The difference of two pairs of method and rule on all samples, with an error by the draws."""
    draws = part.set_index("draw")
    pair = [
        draws.loc[((draws["method"] == method) & (draws["rule"] == rule)).to_numpy(), measure]
        for method, rule in (ours, others)
    ]
    whole = float(pair[0].loc[0] - pair[1].loc[0])
    return difference(*(own.drop(0) for own in pair), SHARE_DRAWN / (1.0 - SHARE_DRAWN), whole)


def best_representation(part: pd.DataFrame, methods: Iterable[str]) -> str:
    """The representation whose clusters agree best with the classes, in hindsight."""
    alone = part[(part["draw"] == 0) & part["method"].isin(list(methods))]
    return str(alone.loc[alone["ari"].idxmax(), "method"])


def cluster_summary(scores: pd.DataFrame, views: dict[str, list[str]]) -> pd.DataFrame:
    """All samples by every choice, and the difference of agreements from the best single representation."""
    rows = []
    for choice in CHOICES:
        for data, part in chosen_widths(scores, choice).groupby("data", sort=False):
            best = best_representation(part, views[str(data)])
            for _, own in part[part["draw"] == 0].iterrows():
                pair = (own["method"], own["rule"])
                for measure in AGREEMENTS:
                    facts = {"part": "clusters", "data": data, "method": pair[0], "rule": pair[1], "choice": choice}
                    row = {**facts, "quantile": own["quantile"], "measure": measure, "value": own[measure]}
                    if measure in ("ari", "nmi") and pair[0] != best:
                        row |= {"against": best, **of_draws(part, pair, (best, BY_VIEW), measure)}
                    rows.append(row)
    return pd.DataFrame(rows)
