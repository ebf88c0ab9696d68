"""Pictures of the data and of a fitted model: presence, probabilities, trust, agreement, reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.patches import Patch
from numpy.typing import NDArray

from coview.report._svg import LIGHT, canvas, inline_svg
from coview.report._words import shorten


def presence_map(patterns: pd.DataFrame, views: Sequence[str], *, plural: str, key: str, description: str) -> str:
    """Views as rows, samples as columns sorted by pattern, observed blocks filled.

    Parameters
    ----------
    patterns : DataFrame
        One row per pattern: a boolean column per view, ``n`` samples, ``first`` (samples before this pattern).
    views : sequence of str
        Views, top to bottom.
    plural, key, description : str
        Word for the samples, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    return pattern_map(
        patterns[list(views)].to_numpy(dtype=bool), patterns["n"].tolist(), views, plural=plural, key=key,
        description=description,
    )  # fmt: skip


def pattern_map(
    observed: NDArray[np.bool_], counts: Sequence[int], views: Sequence[str], *, plural: str, key: str,
    description: str, n_rarer: int = 0,
) -> str:  # fmt: skip
    """Views as rows, samples as columns in the order of their patterns, observed blocks filled.

    Parameters
    ----------
    observed : ndarray of shape (n_patterns, n_views), dtype=bool
        Patterns, left to right.
    counts : sequence of int
        Samples of each.
    views : sequence of str
        Views, top to bottom.
    plural, key, description : str
        Word for the samples, id prefix and text alternative.
    n_rarer : int, default=0
        Samples of patterns that are not drawn, hatched at the right end.

    Returns
    -------
    svg : str
    """
    starts = np.cumsum([0, *counts]).tolist()
    total = starts[-1] + n_rarer
    with canvas(420, 46 * len(views) // (1 + (len(views) > 4)) + 74) as (figure, (axes,)):
        for row in range(len(views)):
            for seen, role in ((True, "ours"), (False, "missing")):
                spans = [(starts[i], counts[i]) for i in np.flatnonzero(observed[:, row] == seen).tolist()]
                axes.broken_barh(spans, (row - 0.36, 0.72), facecolors=LIGHT[role], edgecolors="none")
            if n_rarer:
                axes.broken_barh([(starts[-1], n_rarer)], (row - 0.36, 0.72), facecolors=LIGHT["paper"],
                                 edgecolors=LIGHT["printed"], hatch="////", linewidth=0.5)  # fmt: skip
        for first, n in zip(starts, counts, strict=False):
            if len(counts) <= 20 or n > total / 60:  # many thin ones would drown in their borders
                axes.axvline(first, color=LIGHT["paper"], linewidth=0.8)
            if n > total / 15:
                axes.text(first + n / 2, -0.52, str(n), ha="center", va="bottom", fontsize=8.5, color=LIGHT["muted"])
        axes.set_yticks(range(len(views)), [shorten(view) for view in views])
        axes.set_ylim(len(views) - 0.5, -0.9 if len(views) < 5 else -1.1)
        axes.set_xlim(0, total)
        axes.set_xticks([0, total], ["1", str(total)])
        axes.set_xlabel(f"{plural}, grouped by which views they have")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        handles = [Patch(color=LIGHT["ours"], label="observed"), Patch(color=LIGHT["missing"], label="missing")]
        if n_rarer:
            handles.append(
                Patch(facecolor=LIGHT["paper"], edgecolor=LIGHT["printed"], hatch="////", label="rarer patterns")
            )
        figure.legend(handles=handles, loc="outside upper left", ncols=3 if n_rarer else 2)
        return inline_svg(figure, key=key, title="Presence map", description=description)


def probability_ribbon(
    samples: pd.DataFrame, classes: Mapping[str, str], *, title: str, key: str, description: str
) -> str:
    """Predicted probabilities as stacked columns, one per sample, surest first; errors are marked above.

    Parameters
    ----------
    samples : DataFrame
        One row per sample in drawing order: a probability column per class and a boolean ``right``.
    classes : dict of str to str
        Class -> color role, bottom to top.
    title, key, description : str
        Heading, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    edges = np.arange(len(samples) + 1)
    with canvas(350, 232) as (figure, (axes,)):
        bottom = np.zeros(len(samples) + 1)
        for name, role in classes.items():
            top = bottom + np.append(samples[name].to_numpy(), samples[name].iloc[-1])
            axes.fill_between(edges, bottom, top, step="post", facecolor=LIGHT[role], edgecolor="none", label=name)
            bottom = top
        wrong = np.flatnonzero(~samples["right"].to_numpy(dtype=bool))
        size = 5 if len(samples) < 200 else 3.4
        axes.plot(wrong + 0.5, np.full(len(wrong), 1.055), "x", color=LIGHT["wrong"], markersize=size, mew=size / 3.4)
        axes.set_xlim(0, len(samples))
        axes.set_ylim(0, 1.1)
        axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
        axes.set_xticks([0.5, len(samples) - 0.5], ["surest", "least sure"])
        axes.set_ylabel("probability")
        axes.set_title(title)
        figure.legend(loc="outside lower left", ncols=len(classes), handlelength=1.2, columnspacing=1.2)
        return inline_svg(figure, key=key, title=title, description=description)


def view_trust(trust: pd.DataFrame, equal_share: float, *, title: str, key: str, description: str) -> str:
    """Share of each view in the predictions with its interval, beside the share all views would have if equal.

    Parameters
    ----------
    trust : DataFrame
        Indexed by view: ``share``, ``lower``, ``upper``, ``n_samples``, as in ``view_trust_``.
    equal_share : float
        One over the number of views.
    title, key, description : str
        Heading, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    with canvas(400, 40 * len(trust) + 92) as (figure, (axes,)):
        rows = np.arange(len(trust))
        axes.axvline(equal_share, color=LIGHT["muted"], linestyle=(0, (4, 3)), linewidth=1.1)
        axes.text(equal_share + 0.008, -0.62, "equal shares", color=LIGHT["muted"], fontsize=8.5, va="center")
        axes.hlines(rows, trust["lower"], trust["upper"], color=LIGHT["ours"], linewidth=5, alpha=0.35)
        axes.plot(trust["share"], rows, "o", color=LIGHT["ours"], markersize=8)
        axes.set_yticks(
            rows, [f"{shorten(view)}\n(n = {n})" for view, n in zip(trust.index, trust["n_samples"], strict=True)]
        )
        axes.set_ylim(len(trust) - 0.5, -0.9)
        # Shares of many views are small.
        axes.set_xlim(0, max(0.72 if len(trust) <= 6 else 3 * equal_share, float(trust["upper"].max()) * 1.04))
        axes.set_xlabel("share of the view (points), 90 % interval (bars)")
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_title(title)
        return inline_svg(figure, key=key, title=title, description=description)


def agreement_bars(weights: pd.DataFrame, *, title: str, key: str, description: str) -> str:
    """Weight of the settings in which views agree, add up, or share one spectrum, as stacked bars.

    Parameters
    ----------
    weights : DataFrame
        One row per bar (its index is the label), one column per kind of setting; rows sum to one.
    title, key, description : str
        Heading, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    roles = ("ours", "class-3", "missing", "class-2")
    hatches = ("", "///", "", "\\\\")
    with canvas(400, 38 * len(weights) + 96) as (figure, (axes,)):
        rows = np.arange(len(weights))
        start = np.zeros(len(weights))
        for kind, role, hatch in zip(weights.columns, roles, hatches, strict=False):
            width = weights[kind].to_numpy()
            axes.barh(
                rows, width, 0.62, left=start, facecolor=LIGHT[role], hatch=hatch, edgecolor=LIGHT["paper"], label=kind
            )
            start = start + width
        axes.set_yticks(rows, weights.index)
        axes.set_ylim(len(weights) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        axes.set_xlabel("weight in the average")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_title(title)
        figure.legend(loc="outside lower left", ncols=3, handlelength=1.4, columnspacing=1.2)
        return inline_svg(figure, key=key, title=title, description=description)


def reasons(
    contributions: pd.DataFrame, labels: Mapping[str, str], *, title: str, key: str, description: str, axis: str
) -> str:
    """How far each view pushes one sample's prediction, for several samples.

    Parameters
    ----------
    contributions : DataFrame
        One row per sample, one column per view; positive values speak for the first class of the sample's label.
    labels : dict
        Sample -> text beside its bars.
    title, key, description : str
        Heading, id prefix and text alternative.
    axis : str
        Label of the horizontal axis.

    Returns
    -------
    svg : str
    """
    n_views = contributions.shape[1]
    step = 0.8 / n_views
    with canvas(420, max(26 * n_views // 2, 36) * len(contributions) + 110) as (figure, (axes,)):
        rows = np.arange(len(contributions))
        looks = list(zip(_VIEW_ROLES, _HATCHES, strict=True))[:n_views]
        for j, (view, (role, hatch)) in enumerate(zip(contributions.columns, looks, strict=True)):
            axes.barh(
                rows + (j - (n_views - 1) / 2) * step, contributions[view], step * 0.86, facecolor=LIGHT[role],
                hatch=hatch, edgecolor=LIGHT["paper"], linewidth=0.4, label=shorten(view),
            )  # fmt: skip
        axes.axvline(0, color=LIGHT["muted"], linewidth=1)
        axes.set_yticks(rows, [labels[sample] for sample in contributions.index])
        axes.set_ylim(len(contributions) - 0.45, -0.55)
        limit = max(1e-3, float(np.nanmax(np.abs(contributions.to_numpy())))) * 1.08
        axes.set_xlim(-limit, limit)
        axes.set_xlabel(axis)
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_title(title)
        figure.legend(
            loc="outside lower left", ncols=n_views if n_views <= 4 else 3, handlelength=1.4, columnspacing=1.2
        )
        return inline_svg(figure, key=key, title=title, description=description)


_VIEW_ROLES = ("class-1", "class-2", "class-3", "ours", "baseline", "printed", "wrong", "ink")
_HATCHES = ("", "///", "\\\\\\", "|||", "---", "", "xxx", "...")


def presence_patterns(presence: NDArray[np.bool_], views: Sequence[str]) -> pd.DataFrame:
    """Patterns of observed views, most frequent first, as :func:`presence_map` takes them."""
    table = pd.DataFrame(presence, columns=list(views)).value_counts().rename("n").reset_index()
    table = table.sort_values(["n", *views], ascending=False, ignore_index=True)
    table["first"] = table["n"].cumsum().shift(fill_value=0)
    return table
