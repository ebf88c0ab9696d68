"""Pictures of how good predictions are: curves, calibration, label counts, paired differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from coview.report._svg import LIGHT, canvas, inline_svg


@dataclass(frozen=True)
class Look:
    """Color role, line style and marker of a method; each is unique, so none relies on color alone."""

    role: str
    line: Any
    marker: str


OURS_LOOK = Look("ours", "-", "o")
BASELINE = Look("baseline", (0, (5, 2)), "s")
PRINTED_LOOK = Look("printed", (0, (1, 1.6)), "^")
OTHER = Look("class-2", (0, (6, 2, 1, 2)), "D")


def score_curves(
    curves: Mapping[str, pd.DataFrame], looks: Mapping[str, Look], *, title: str, key: str, description: str,
    legend: bool, diagonal: bool,
) -> str:  # fmt: skip
    """ROC or precision-recall curves of several methods, with the range over repetitions behind the first.

    Parameters
    ----------
    curves : dict of str to DataFrame
        Method -> curve from :mod:`coview.metrics`; the first two columns are drawn.
    looks : dict of str to Look
    title, key, description : str
        Heading, id prefix and text alternative.
    legend, diagonal : bool
        Whether to name the lines, and to draw the line of chance.

    Returns
    -------
    svg : str
    """
    with canvas(330, 300 + 40 * legend) as (figure, (axes,)):
        if diagonal:
            axes.plot([0, 1], [0, 1], color=LIGHT["rule"], linewidth=1.2)
        for number, (name, curve) in enumerate(curves.items()):
            look, (x, y) = looks[name], curve.columns[:2]
            if number == 0:
                axes.fill_between(curve[x], curve["low"], curve["high"], facecolor=LIGHT["band"], edgecolor="none")
            axes.plot(curve[x], curve[y], color=LIGHT[look.role], linestyle=look.line, label=name)
            axes.set_xlabel(x.replace("_", " "))
            axes.set_ylabel(y.replace("_", " "))
        _unit_square(axes)
        axes.set_title(title)
        if legend:
            figure.legend(loc="outside lower left", ncols=1, handlelength=3)
        return inline_svg(figure, key=key, title=title, description=description)


def calibration(table: pd.DataFrame, look: Look, *, title: str, key: str, description: str) -> str:
    """Observed accuracy against stated confidence with 95 % intervals, counts below.

    Parameters
    ----------
    table : DataFrame
        From :func:`coview.metrics.reliability_table`.
    look : Look
    title, key, description : str
        Heading, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    with canvas(330, 350, strip=0.28) as (figure, (axes, counts)):
        axes.plot([0, 1], [0, 1], color=LIGHT["muted"], linewidth=1, linestyle=(0, (4, 3)))
        center = table["confidence"]
        axes.vlines(center, table["accuracy_low"], table["accuracy_high"], color=LIGHT[look.role], linewidth=1.4)
        axes.plot(center, table["accuracy"], color=LIGHT[look.role], linestyle=look.line, marker=look.marker)
        _unit_square(axes)
        axes.set_ylabel("share that was right")
        axes.set_title(title)
        counts.bar(table["low"], table["n"], table["high"] - table["low"], align="edge", facecolor=LIGHT[look.role],
                   edgecolor=LIGHT["paper"])  # fmt: skip
        counts.set_yticks([0, int(table["n"].max())])
        counts.set_ylabel("count", labelpad=2)
        counts.set_xlabel("stated confidence")
        return inline_svg(figure, key=key, title=title, description=description)


def learning_curve(
    summary: pd.DataFrame,
    looks: Mapping[str, Look],
    *,
    title: str,
    key: str,
    description: str,
    score: str,
    floor: float = 0.0,
) -> str:
    """One score against the number of labels for several methods, bars of two standard errors.

    Parameters
    ----------
    summary : DataFrame
        ``method``, ``n_labeled``, ``mean``, ``standard_error``.
    looks : dict of str to Look
        Methods to draw, in this order.
    title, key, description, score : str
        Heading, id prefix, text alternative and label of the vertical axis.
    floor : float, default=0
        Where the vertical axis starts.

    Returns
    -------
    svg : str
    """
    with canvas(400, 330) as (figure, (axes,)):
        counts = sorted(set(summary["n_labeled"]))
        position = {count: i for i, count in enumerate(counts)}
        shifts = np.linspace(-0.09, 0.09, max(len(looks), 2))
        for shift, (name, look) in zip(shifts, looks.items(), strict=False):
            part = summary[summary["method"] == name].sort_values("n_labeled")
            x = part["n_labeled"].map(position) + shift
            axes.errorbar(x, part["mean"], 2 * part["standard_error"], color=LIGHT[look.role], linestyle=look.line,
                          marker=look.marker, label=name, elinewidth=1.2, capsize=2.5)  # fmt: skip
        axes.set_xticks(range(len(counts)), [str(count) for count in counts])
        axes.set_xlim(-0.35, len(counts) - 0.65)
        axes.set_ylim(bottom=floor)
        axes.set_xlabel("labeled samples")
        axes.set_ylabel(score)
        axes.grid(axis="y")
        axes.set_title(title)
        figure.legend(loc="outside lower left", ncols=1, handlelength=3.2)
        return inline_svg(figure, key=key, title=title, description=description)


def difference_forest(
    live: pd.DataFrame, stored: pd.DataFrame | None, *, title: str, key: str, description: str, limit: float
) -> str:
    """Paired differences from coview with two standard errors, a method per row, its name above its marks.

    Parameters
    ----------
    live, stored : DataFrame
        ``method``, ``mean``, ``standard_error``; the rows of ``stored`` give the order where it is present.
    title, key, description : str
        Heading, id prefix and text alternative.
    limit : float
        Largest difference drawn; beyond it an arrow and the number stand.

    Returns
    -------
    svg : str
    """
    names = list(live["method"] if stored is None else stored["method"])
    with canvas(340, 34 * len(names) + 104) as (figure, (axes,)):
        axes.axvline(0, color=LIGHT["ink"], linewidth=1.1)
        for row, name in enumerate(names):
            axes.text(0.012 * limit, row - 0.26, name, va="center", fontsize=8.4, bbox=_PLATE)
            axes.axhline(row + 0.42, color=LIGHT["rule"], linewidth=0.6)
        now = f"{int(live['n_draws'].max())} draws, made now"
        if stored is None:
            _marks(axes, live, names, BASELINE, now, offset=0.05, edge=limit)
        else:
            kept = f"{int(stored['n_draws'].max())} draws, stored"
            _marks(axes, stored, names, OURS_LOOK, kept, offset=0.02, edge=limit)
            _marks(axes, live, names, BASELINE, now, offset=0.22, edge=limit, arrows=False)
        axes.set_ylim(len(names) - 0.55, -0.6)
        axes.set_xlim(-0.4 * limit, limit)
        axes.set_yticks([])
        axes.set_xlabel("log loss minus coview's (right: coview better)")
        axes.grid(axis="x")
        axes.spines["left"].set_visible(False)
        axes.set_title(title)
        figure.legend(loc="outside lower left", ncols=2)
        return inline_svg(figure, key=key, title=title, description=description)


# Behind text, so that grid lines do not run through it.
_PLATE: Any = {"facecolor": LIGHT["paper"], "edgecolor": "none", "pad": 0.8}


def _marks(
    axes: Axes, differences: pd.DataFrame, names: list[str], look: Look, label: str, *, offset: float, edge: float,
    arrows: bool = True,
) -> None:  # fmt: skip
    """Points with two standard errors; what lies beyond the edge becomes a number beside an arrow."""
    part = differences.set_index("method").reindex(names)
    mean, error = part["mean"].to_numpy(), 2 * part["standard_error"].to_numpy()
    rows = np.arange(len(names))
    inside = mean < 0.93 * edge
    axes.errorbar(mean[inside], rows[inside] + offset, xerr=error[inside], fmt=look.marker, color=LIGHT[look.role],
                  elinewidth=1.3, markersize=4.2, label=label)  # fmt: skip
    beyond = ~inside & np.isfinite(mean)
    for value, row in zip(mean[beyond], rows[beyond] + 0.12, strict=True):
        at = (0.87 if arrows else 0.7) * edge
        axes.text(at, row, f"{value:.2f}", va="center", ha="right", fontsize=8, color=LIGHT[look.role])
        if arrows:
            arrow = {"arrowstyle": "->", "color": LIGHT["muted"]}
            axes.annotate("", (edge, row), (0.88 * edge, row), arrowprops=arrow)


def confidence_steps(
    tables: Mapping[str, pd.DataFrame], looks: Mapping[str, Look], *, title: str, key: str, description: str
) -> str:
    """How often each method states how much confidence.

    Parameters
    ----------
    tables : dict of str to DataFrame
        Method -> :func:`coview.metrics.reliability_table` of the same samples.
    looks : dict of str to Look
    title, key, description : str
        Heading, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    edges = np.linspace(0, 1, 11)
    with canvas(400, 300) as (figure, (axes,)):
        for name, table in tables.items():
            look = looks[name]
            heights = np.zeros(10)
            heights[(table["low"] * 10).round().astype(int)] = table["n"]
            axes.stairs(heights, edges, color=LIGHT[look.role], linestyle=look.line, linewidth=2, label=name)
        axes.set_xlim(0, 1)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("probability of the predicted class")
        axes.set_ylabel("predictions")
        axes.grid(axis="y")
        axes.set_title(title)
        figure.legend(loc="outside lower left", ncols=1, handlelength=3)
        return inline_svg(figure, key=key, title=title, description=description)


def _unit_square(axes: Axes) -> None:
    """Both axes from 0 to 1 with few ticks."""
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.02)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.grid(True)
