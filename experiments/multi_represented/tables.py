"""Nearest neighbors and dense regions of multi-represented objects: what the talk says of them, tested.

Run from a checkout with ``coview reproduce multi-represented --data DIR``; README.md beside this file says what came out.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .claims import claims
from .clusters import AUTO, BY_VIEW, MIN_SAMPLES, QUANTILES, SIDE
from .comparisons import CHOICES, MEASURES, cluster_summary, neighbor_summary, words
from .neighbors import GRID, N_FOLDS, SHARE_REMOVED
from .runs import run_all

__all__ = ["assemble", "reproduce"]

_NOTE = f"""\
Neighbors: {N_FOLDS}-fold cross-validation, stratified; accuracy and macro F1 over all samples, mean over the repeats. All methods
vote by 1/d², and choose the number of neighbors from {", ".join(map(str, GRID))} by leave-one-out within the
training folds. In brackets the difference from "multi-represented" in the mean over folds ± its standard error as folds share
training samples (Nadeau and Bengio); "below" and "above" where p < 0.05. Incomplete: {100 * SHARE_REMOVED:.0f} % of the
cells of samples and representations removed at random, anew in every repeat.

Clusters: {MIN_SAMPLES} neighbors make a core. Widths are the same quantile, in every representation, of the distances from
the last of these ("by representation"), or the same multiple of the medians of these distances such that the quantile is
met by the neighbors that count ("combined"). "Auto": quantile {AUTO:g}. "Most clusters", "silhouette" and "most information":
of the quantiles {QUANTILES[0]:g} to {QUANTILES[-1]:g} that with most clusters, with the largest sum of silhouettes in all
representations side by side, noise counting 0, or with the largest entropy of the labels; no class is seen. "Best by the
classes": the quantile of the largest adjusted Rand index, an upper bound. Noise is a cluster of its own in ARI, NMI and the
entropy. Differences are from the best single representation of the column, in hindsight; standard errors by draws of 80 % of
the samples (jackknife)."""


def reproduce(data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]) -> dict[str, Any]:
    """Classify and cluster the objects.

    Parameters
    ----------
    data : Path
        Folder of the data sets.
    repeats : int
        Cross-validations, and draws of samples to be clustered beside all of them.
    seed : int
        Of folds, of removed cells and of draws.
    jobs : int
        Cross-validations and draws worked on at the same time.
    echo : callable
        Takes lines about the progress.

    Returns
    -------
    result : dict
        ``tables`` (Markdown), ``summary`` (a row per method and measure), ``scores`` (a row per fold of a repeat, per width of a
        draw), ``claims``, ``reasons`` (distances of the representations), ``seconds``.
    """
    return assemble(run_all(data, repeats, seed, jobs, echo))


def assemble(pieces: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Summary and tables of all pieces, as `reproduce` returns them."""
    scores = pd.DataFrame([row for piece in pieces for row in piece["rows"]])
    parts = {name: part.dropna(axis=1, how="all") for name, part in scores.groupby("part")}
    reasons = parts["reasons"]
    views = {
        str(data): [name for name in part["method"] if name != SIDE]
        for data, part in reasons.groupby("data", sort=False)
    }
    summaries = [neighbor_summary(parts["neighbors"]), cluster_summary(parts["clusters"], views), _long(reasons)]
    summary = pd.concat(summaries, ignore_index=True)
    stated = claims(parts["neighbors"], parts["clusters"], views)
    tables = [_NOTE, "## What the talk says, as differences\n\n" + _markdown(stated)]
    for data in views:
        for setting, title in (("complete", "complete"), ("incomplete", "incomplete")):
            part = summaries[0][(summaries[0]["data"] == data) & (summaries[0]["setting"] == setting)]
            tables.append(f"## Neighbors: {data}, {title}\n\n" + _neighbor_table(part))
    tables += [
        f"## Clusters: {data}\n\n" + _cluster_table(summaries[1][summaries[1]["data"] == data]) for data in views
    ]
    tables.append("## Distances of the representations\n\n" + _reason_table(reasons))
    return {
        "tables": "\n\n".join(tables),
        "summary": _rows(summary),
        "scores": _rows(scores),
        "claims": _rows(stated),
        "reasons": _rows(reasons),
        "seconds": {" ".join(map(str, piece["task"])): piece["seconds"] for piece in pieces},
    }


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """One dict per row, None where a cell says nothing."""
    return table.astype(object).where(table.notna(), None).to_dict(orient="records")


def _long(reasons: pd.DataFrame) -> pd.DataFrame:
    """A row per measure of the distances."""
    return reasons.melt(id_vars=["part", "data", "method"], var_name="measure")


def _neighbor_table(part: pd.DataFrame) -> str:
    rows = []
    for method, own in part.groupby("method", sort=False):
        row = {"method": method}
        for measure in MEASURES:
            found = own[own["measure"] == measure].iloc[0]
            gap = f" ({words(found)})" if pd.notna(found["difference"]) else ""
            row[measure] = f"{found['value']:.3f}{gap}"
        rows.append(row)
    return _markdown(pd.DataFrame(rows))


def _cluster_table(part: pd.DataFrame) -> str:
    """Methods by choices: ARI and its verdict, NMI, noise, clusters, quantile."""
    rows = []
    for (method, rule), own in part.groupby(["method", "rule"], sort=False):
        row = {"method": method, "widths": "" if rule == BY_VIEW and not _has_both(part, method) else rule}
        for choice in CHOICES:
            cells = own[own["choice"] == choice].set_index("measure")
            ari = cells.loc["ari"]
            gap = f" ({words(ari)})" if pd.notna(ari["difference"]) else ""
            noise, n = cells.loc["noise", "value"], int(cells.loc["n_clusters", "value"])
            text = f"ARI {ari['value']:.3f}{gap}, NMI {cells.loc['nmi', 'value']:.3f}, noise {100 * noise:.0f} %, {n} clusters"
            row[choice] = text if choice == "auto" else f"{text}, at {ari['quantile']:g}"
        rows.append(row)
    return _markdown(pd.DataFrame(rows))


def _has_both(part: pd.DataFrame, method: str) -> bool:
    return len(part.loc[part["method"] == method, "rule"].unique()) > 1


def _reason_table(reasons: pd.DataFrame) -> str:
    titles = {
        "data": "data",
        "method": "representation",
        "variation": "deviation of distances by their mean",
        "width": "auto width by the median distance",
        "pairs": "pairs within it",
        "pure": "of these, of one class",
        "nearest": "of the four nearest, of one class",
        "chance": "of all pairs, of one class",
        "agreement": "of the four nearest, so elsewhere",
    }
    shown = reasons[list(titles)].rename(columns=titles)
    return _markdown(shown.map(lambda value: f"{value:.3f}" if isinstance(value, float) else value))


def _markdown(table: pd.DataFrame) -> str:
    lines = [" | ".join(table.columns), " | ".join("---" for _ in table.columns)]
    lines += [" | ".join("" if value is np.nan else str(value) for value in row) for row in table.to_numpy()]
    return "\n".join(f"| {line} |" for line in lines)
