"""What the talk says, as differences that can be tested here."""

from collections.abc import Callable, Mapping

import pandas as pd

from .clusters import BY_VIEW, COMBINED, names_of
from .clusters import SIDE as SIDE_CLUSTERS
from .comparisons import best_alone, best_representation, chosen_widths, of_draws, of_folds, words
from .neighbors import BEST_ALONE, EQUAL, FILLED, MAJORITY, MEASURED, SHARED, SIDE, SURE, SURE_MEASURED

__all__ = ["claims"]

_TESTED = (
    ("Comparability: distances added as measured are biased", "complete", SIDE, MEASURED),
    ("Comparability: votes need no common scale", "complete", SURE_MEASURED, SURE),
    ("Comparability: votes against distances added, both as measured", "complete", SURE_MEASURED, MEASURED),
    ("Votes against distances made comparable", "complete", SURE, SIDE),
    ("Weights by entropy against equal ones", "complete", SURE, EQUAL),
    ("Weights against a plain majority", "complete", SURE, MAJORITY),
    ("All representations against the best, by leave-one-out", "complete", SURE, BEST_ALONE),
    ("All representations against the best, in hindsight", "complete", SURE, None),
    ("Incomplete: all against the best, in hindsight", "incomplete", SURE, None),
    ("Incomplete: votes against means filled in", "incomplete", SURE, FILLED),
    ("Incomplete: votes against distances in what is shared", "incomplete", SURE, SHARED),
)


def claims(neighbors: pd.DataFrame, clusters: pd.DataFrame, views: Mapping[str, list[str]]) -> pd.DataFrame:
    """A row per statement, a column per data set."""
    rows = []
    for statement, setting, ours, others in _TESTED:
        found = {"statement": statement, "compared": f"{ours} − {others or 'best alone'}, accuracy"}
        for data in views:
            part = neighbors[(neighbors["data"] == data) & (neighbors["setting"] == setting)]
            other = best_alone(part) if others is None else others
            shown = f" ({other})" if others is None else ""
            found[data] = words(of_folds(part, ours, other, "accuracy")) + shown
        rows.append(found)
    for rule in (BY_VIEW, COMBINED):
        for choice in _SHOWN:
            chosen = chosen_widths(clusters, choice)
            for title, cell in _CLUSTER_CLAIMS.items():
                found = {"statement": title, "compared": f"ARI, widths {rule}, {choice}"}
                for data, names in views.items():
                    found[data] = cell(chosen[chosen["data"] == data], names, rule)
                rows.append(found)
    return pd.DataFrame(rows)


def _semantics(part: pd.DataFrame, names: list[str], rule: str) -> str:
    """Union less intersection, and which relation agrees best with the classes, in hindsight."""
    gap = of_draws(part, ("union", rule), ("intersection", rule), "ari")
    return f"{words(gap)}; best: {_best_relation(part, names, rule)}"


def _against_alone(part: pd.DataFrame, names: list[str], rule: str) -> str:
    best, alone = _best_relation(part, names, rule), best_representation(part, names)
    return f"{words(of_draws(part, (best, rule), (alone, BY_VIEW), 'ari'))} ({best} − {alone})"


def _against_side(part: pd.DataFrame, names: list[str], rule: str) -> str:
    best = _best_relation(part, names, rule)
    return f"{words(of_draws(part, (best, rule), (SIDE_CLUSTERS, BY_VIEW), 'ari'))} ({best})"


def _best_relation(part: pd.DataFrame, names: list[str], rule: str) -> str:
    every = part[(part["draw"] == 0) & (part["rule"] == rule) & part["method"].isin(names_of(len(names)).values())]
    return str(every.loc[every["ari"].idxmax(), "method"])


_SHOWN = ("auto", "most information", "best by the classes")
_CLUSTER_CLAIMS: dict[str, Callable[[pd.DataFrame, list[str], str], str]] = {
    "Semantics: union − intersection": _semantics,
    "Core objects by all representations: best relation − best representation": _against_alone,
    "The same against all side by side": _against_side,
}
