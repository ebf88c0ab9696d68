"""Pictures with one mark per sample: the map of samples, predicted against observed numbers; and coverage of intervals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from coview.report._looks import ClassLook
from coview.report._svg import LIGHT, canvas, inline_svg
from coview.report._words import shorten

__all__ = ["coverage_steps", "predicted_observed", "residual_scatter", "sample_map"]

# Beyond so many samples the bars of single intervals would only fill the picture.
_MOST_BARS = 300


def sample_map(
    places: pd.DataFrame, looks: Mapping[str, ClassLook], markers: Mapping[str, str], *, title: str, key: str,
    description: str, labels: tuple[str, str], words: Mapping[str, tuple[float, float]] | None = None,
) -> str:  # fmt: skip
    """Samples in two directions, colored by class, shaped by the views they have; hollow where the label is unknown.

    Parameters
    ----------
    places : DataFrame
        ``x``, ``y``, ``class`` (key of ``looks``), ``pattern`` (key of ``markers``), ``labeled`` (bool).
    looks : dict of str to ClassLook
    markers : dict of str to str
        Pattern of views -> shape.
    title, key, description : str
        Heading, id prefix and text alternative.
    labels : tuple of str
        Names of the two directions.
    words : dict of str to tuple of float, default=None
        What is written into the picture, and where.

    Returns
    -------
    svg : str
    """
    size = 5.2 if len(places) <= 400 else 3.8
    several = len(markers) > 1
    n_kinds, n_shapes = len(looks) + (not places["labeled"].all()), len(markers) * several
    columns = 2 if max(map(len, [*looks, *(markers if several else ())])) <= 26 else 1
    beside = columns == 2 and n_shapes > 0  # colors left, shapes right
    rows = max(n_kinds, n_shapes) if beside else -(-(n_kinds + n_shapes) // columns)
    with canvas(460, 390 + 18 * rows) as (figure, (axes,)):
        for labeled, face in ((False, False), (True, True)):  # labeled ones on top
            for (name, pattern), part in places[places["labeled"] == labeled].groupby(["class", "pattern"], sort=False):
                color = LIGHT[looks[str(name)].role]
                axes.plot(part["x"], part["y"], markers[str(pattern)], color=color, markersize=size, linestyle="",
                          markerfacecolor=color if face else "none", markeredgewidth=1.0, alpha=0.85)  # fmt: skip
        kinds = [
            *_handles(axes, {shorten(name, 26): (look.role, "o", True) for name, look in looks.items()}),
            *_handles(axes, {} if places["labeled"].all() else {"label not given": ("muted", "o", False)}),
        ]
        shapes = _handles(
            axes, {shorten(p, 40): ("muted", marker, True) for p, marker in markers.items()} if several else {}
        )
        if beside:
            blank = [Line2D([], [], linestyle="", label=" ") for _ in range(2 * rows - len(kinds) - len(shapes))]
            left = rows - len(kinds)
            handles = [*kinds, *blank[:left], *shapes, *blank[left:]]
        else:
            handles = [*kinds, *shapes]
        axes.set_xticks([])
        axes.set_yticks([])
        for word, (x, y) in (words or {}).items():
            axes.text(x, y, word, ha="center", va="center", fontsize=9, fontweight="bold", color=LIGHT["ink"],
                      bbox={"facecolor": LIGHT["paper"], "edgecolor": "none", "alpha": 0.7, "pad": 0.8})  # fmt: skip
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        axes.margins(0.04)
        axes.set_title(title)
        figure.legend(handles=handles, loc="outside lower left", ncols=columns, handletextpad=0.3, columnspacing=1.2)
        return inline_svg(figure, key=key, title=title, description=description)


def _handles(axes: Axes, entries: Mapping[str, tuple[str, str, bool]]) -> list[Artist]:
    """Marks for a legend: name -> color role, shape, filled or hollow."""
    return [
        axes.plot([], [], marker, color=LIGHT[role], linestyle="", label=name, markersize=6,
                  markerfacecolor=LIGHT[role] if filled else "none")[0]
        for name, (role, marker, filled) in entries.items()
    ]  # fmt: skip


def predicted_observed(samples: pd.DataFrame, *, title: str, name: str, key: str, description: str) -> str:
    """Predicted against observed numbers, with 90 % intervals where there are not too many.

    Parameters
    ----------
    samples : DataFrame
        ``observed``, ``predicted``, ``lower``, ``upper`` (NaN where none is stated).
    title, name, key, description : str
        Heading, name of the target, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    with canvas(400, 380) as (figure, (axes,)):
        ends = [
            float(samples[["observed", "predicted"]].min().min()),
            float(samples[["observed", "predicted"]].max().max()),
        ]
        axes.plot(ends, ends, color=LIGHT["muted"], linewidth=1.1, linestyle=(0, (4, 3)))
        if len(samples) <= _MOST_BARS and samples["lower"].notna().all():
            axes.vlines(samples["observed"], samples["lower"], samples["upper"], color=LIGHT["ours"], alpha=0.35,
                        linewidth=1.2)  # fmt: skip
        axes.plot(samples["observed"], samples["predicted"], "o", color=LIGHT["ours"], linestyle="", alpha=0.8,
                  markersize=4.6 if len(samples) <= 400 else 3.2)  # fmt: skip
        axes.locator_params(nbins=5)
        axes.set_xlabel(f"observed {shorten(name, 30)}")
        axes.set_ylabel(f"predicted {shorten(name, 30)}")
        axes.grid(True)
        axes.set_title(title)
        return inline_svg(figure, key=key, title=title, description=description)


def residual_scatter(samples: pd.DataFrame, *, title: str, key: str, description: str) -> str:
    """Observed minus predicted against predicted.

    Parameters
    ----------
    samples : DataFrame
        ``predicted``, ``residual``.
    title, key, description : str
        Heading, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    with canvas(400, 380) as (figure, (axes,)):
        axes.axhline(0, color=LIGHT["muted"], linewidth=1.1, linestyle=(0, (4, 3)))
        axes.plot(samples["predicted"], samples["residual"], "o", color=LIGHT["ours"], linestyle="", alpha=0.8,
                  markersize=4.6 if len(samples) <= 400 else 3.2)  # fmt: skip
        limit = float(samples["residual"].abs().max()) * 1.08 or 1.0
        axes.set_ylim(-limit, limit)
        axes.locator_params(nbins=5)
        axes.set_xlabel("predicted")
        axes.set_ylabel("observed minus predicted")
        axes.grid(True)
        axes.set_title(title)
        return inline_svg(figure, key=key, title=title, description=description)


def coverage_steps(table: pd.DataFrame, *, title: str, key: str, description: str) -> str:
    """Share of targets inside stated intervals, against what the intervals promise, with 95 % intervals.

    Parameters
    ----------
    table : DataFrame
        From :func:`coview.metrics.coverage_table`.
    title, key, description : str
        Heading, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    with canvas(330, 320) as (figure, (axes,)):
        axes.plot([0, 1], [0, 1], color=LIGHT["muted"], linewidth=1, linestyle=(0, (4, 3)))
        axes.vlines(table["level"], table["share_low"], table["share_high"], color=LIGHT["ours"], linewidth=1.5)
        axes.plot(table["level"], table["share"], "o-", color=LIGHT["ours"])
        axes.set_xlim(-0.01, 1.01)
        axes.set_ylim(-0.01, 1.02)
        ticks = np.array([0.0, 0.5, 1.0])
        axes.set_xticks(ticks, ["0", "50 %", "100 %"])
        axes.set_yticks(ticks, ["0", "50 %", "100 %"])
        axes.set_xlabel("stated probability of the interval")
        axes.set_ylabel("targets inside")
        axes.grid(True)
        axes.set_title(title)
        return inline_svg(figure, key=key, title=title, description=description)
