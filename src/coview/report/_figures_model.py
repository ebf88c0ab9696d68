"""Pictures of one model: scores of methods, confusion, confidence by class, features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from coview.report._figures_scores import Look
from coview.report._looks import ClassLook
from coview.report._svg import LIGHT, canvas, inline_svg
from coview.report._words import shorten

__all__ = ["confidence_bars", "confusion_map", "feature_bars", "method_scores"]


def method_scores(
    scores: pd.DataFrame, looks: Mapping[str, Look], other: Look, *, title: str, axis: str, key: str, description: str
) -> str:
    """One score of several methods with two standard errors, a method per row, its name above its mark.

    Parameters
    ----------
    scores : DataFrame
        ``method``, ``mean``, ``se``, top to bottom.
    looks : dict of str to Look
        Methods with a look of their own; the first one's mean is continued as a line.
    other : Look
        Look of all others.
    title, axis, key, description : str
        Heading, label of the axis, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    with canvas(340, 33 * len(scores) + 66) as (figure, (axes,)):
        axes.axvline(scores["mean"].iloc[0], color=LIGHT["muted"], linewidth=1, linestyle=(0, (4, 3)))
        low, high = _range(scores)
        for row, (method, mean, se) in enumerate(scores[["method", "mean", "se"]].itertuples(index=False)):
            look = looks.get(method, other)
            bar = None if pd.isna(se) else 2 * se
            axes.errorbar(mean, row + 0.14, xerr=bar, fmt=look.marker, color=LIGHT[look.role], elinewidth=1.4,
                          markersize=5.5, capsize=2.5)  # fmt: skip
            axes.text(low, row - 0.24, shorten(method, 44), va="center", fontsize=8.6, bbox=_PLATE)
            axes.axhline(row + 0.46, color=LIGHT["rule"], linewidth=0.6)
        axes.set_ylim(len(scores) - 0.5, -0.6)
        axes.set_xlim(low, high)
        axes.locator_params(axis="x", nbins=5)
        axes.set_yticks([])
        axes.set_xlabel(axis)
        axes.grid(axis="x")
        axes.spines["left"].set_visible(False)
        axes.set_title(title)
        return inline_svg(figure, key=key, title=title, description=description)


# Behind text, so that grid lines do not run through it.
_PLATE = {"facecolor": LIGHT["paper"], "edgecolor": "none", "pad": 0.8}


def _range(scores: pd.DataFrame) -> tuple[float, float]:
    """Ends of the axis around all marks with their bars."""
    bars = 2 * scores["se"].fillna(0.0)
    low, high = float((scores["mean"] - bars).min()), float((scores["mean"] + bars).max())
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 0.05
    return low - margin, high + margin


def confusion_map(counts: pd.DataFrame, *, title: str, key: str, description: str) -> str:
    """Shares of each true class by predicted class as a heat map, counts written in.

    Parameters
    ----------
    counts : DataFrame
        One row per true class, one column per predicted class.
    title, key, description : str
        Heading, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    n, cells = len(counts), counts.to_numpy()
    names = [shorten(name, 16) for name in counts.index]
    shares = cells / np.maximum(cells.sum(axis=1, keepdims=True), 1)
    side = min(460, 150 + 46 * n if n <= 7 else 460)
    with canvas(side, side - 10) as (figure, (axes,)):
        for i, j in np.ndindex(n, n):
            axes.add_patch(_cell(i, j, float(shares[i, j])))
            if cells[i, j] and n <= 14:
                axes.text(j, i, f"{cells[i, j]:,}", ha="center", va="center", fontsize=9 if n <= 8 else 7.5,
                          color=LIGHT["paper" if shares[i, j] > 0.55 else "ink"])  # fmt: skip
        every = range(n) if n <= 24 else range(0, n, n // 24 + 1)
        small = 8.5 if n <= 14 else 7
        axes.set_xticks(every, [names[i] for i in every], rotation=0 if _short(names) else 90, fontsize=small)
        axes.set_yticks(every, [names[i] for i in every], fontsize=small)
        axes.set_xlim(-0.5, n - 0.5)
        axes.set_ylim(n - 0.5, -0.5)
        axes.set_xlabel("predicted")
        axes.set_ylabel("true")
        axes.set_aspect("equal")
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_title(title)
        return inline_svg(figure, key=key, title=title, description=description)


def _cell(row: int, column: int, share: float) -> Rectangle:
    """One cell, the darker the larger its share of the row; the frame keeps empty cells visible."""
    return Rectangle(
        (column - 0.5, row - 0.5),
        1,
        1,
        facecolor=(LIGHT["ours"], round(share, 2)),
        edgecolor=LIGHT["rule"],
        linewidth=0.7,
    )


def _short(names: Sequence[str]) -> bool:
    """Whether names fit side by side below the columns."""
    return max(map(len, names)) * len(names) <= 44


def confidence_bars(counts: pd.DataFrame, *, title: str, axis: str, key: str, description: str) -> str:
    """Predictions of each class by stated confidence, as stacked bars.

    Parameters
    ----------
    counts : DataFrame
        One row per class, one column per range of confidence, surest first.
    title, axis, key, description : str
        Heading, label of the axis, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    looks = (("ours", ""), ("class-2", "///"), ("printed", "..."))
    with canvas(420, min(26 * len(counts), 640) + 106) as (figure, (axes,)):
        rows = np.arange(len(counts))
        start = np.zeros(len(counts))
        for name, (role, hatch) in zip(counts.columns, looks, strict=False):
            width = counts[name].to_numpy(dtype=float)
            axes.barh(
                rows, width, 0.66, left=start, facecolor=LIGHT[role], hatch=hatch, edgecolor=LIGHT["paper"], label=name
            )
            start = start + width
        axes.set_yticks(rows, [shorten(name, 22) for name in counts.index], fontsize=8.5 if len(counts) <= 24 else 7)
        axes.set_ylim(len(counts) - 0.5, -0.5)
        axes.set_xlim(0, max(1.0, float(start.max())) * 1.02)
        axes.locator_params(axis="x", nbins=5, integer=True)
        axes.set_xlabel(axis)
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_title(title)
        figure.legend(loc="outside lower left", ncols=3, handlelength=1.4, columnspacing=1.2)
        return inline_svg(figure, key=key, title=title, description=description)


def feature_bars(
    features: pd.DataFrame, looks: Mapping[str, ClassLook], *, title: str, axis: str, key: str, description: str
) -> str:
    """Association of the strongest features of one view, name above bar.

    Parameters
    ----------
    features : DataFrame
        ``feature``, ``association``, ``class`` (what positive values speak for; a key of ``looks``), strongest first.
    looks : dict of str to ClassLook
    title, axis, key, description : str
        Heading, label of the axis, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    with canvas(340, 33 * len(features) + 70 + 22 * (len(looks) > 1)) as (figure, (axes,)):
        named: set[str] = set()
        for row, (feature, value, name) in enumerate(
            features[["feature", "association", "class"]].itertuples(index=False)
        ):
            look = looks[name]
            label = None if name in named or len(looks) == 1 else shorten(name, 18)
            named.add(name)
            axes.barh(row + 0.2, value, 0.36, facecolor=LIGHT[look.role], hatch=look.hatch, edgecolor=LIGHT["paper"],
                      label=label)  # fmt: skip
            axes.text(-0.99, row - 0.22, shorten(feature, 46), va="center", fontsize=8.6, bbox=_PLATE)
        axes.axvline(0, color=LIGHT["muted"], linewidth=1)
        axes.set_ylim(len(features) - 0.45, -0.6)
        axes.set_xlim(-1, 1)
        axes.set_xticks([-1, -0.5, 0, 0.5, 1], ["\N{MINUS SIGN}1", "\N{MINUS SIGN}0.5", "0", "0.5", "1"])
        axes.set_yticks([])
        axes.set_xlabel(axis)
        axes.grid(axis="x")
        axes.spines["left"].set_visible(False)
        axes.set_title(title)
        if len(looks) > 1:
            figure.legend(loc="outside lower left", ncols=3, handlelength=1.2, columnspacing=1.0)
        return inline_svg(figure, key=key, title=title, description=description)
