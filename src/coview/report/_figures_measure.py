"""Pictures of what measurements are worth: scores against what was measured or spent."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from coview.report._figures_scores import Look
from coview.report._svg import LIGHT, canvas, inline_svg

__all__ = ["measurement_curves", "money_bar"]

_BAND = 0.16
_MONEY_ROLES = {"spent": "ours", "ordered": "class-3", "left": "missing"}


def measurement_curves(
    curves: pd.DataFrame,
    looks: Mapping[str, Look],
    *,
    title: str,
    key: str,
    description: str,
    score: str,
    axis: str,
    everything: float,
) -> str:
    """Mean score of several criteria against number or money, two standard errors around the first and the last.

    Parameters
    ----------
    curves : DataFrame
        ``criterion, at, mean, standard_error``.
    looks : dict of str to Look
        Criteria to draw, in this order.
    title, key, description : str
        Heading, id prefix and text alternative.
    score, axis : str
        Labels of the axes.
    everything : float
        Score with everything measured; drawn as a line where it is near, NaN for none.

    Returns
    -------
    svg : str
    """
    with canvas(400, 350) as (figure, (axes,)):
        for number, (name, look) in enumerate(looks.items()):
            part = curves[curves["criterion"] == name].sort_values("at")
            around = 2.0 * part["standard_error"]
            if number in (0, len(looks) - 1):
                axes.fill_between(
                    part["at"], part["mean"] - around, part["mean"] + around, facecolor=LIGHT[look.role],
                    edgecolor="none", alpha=_BAND,
                )  # fmt: skip
            marks = max(len(part) // 6, 1)
            axes.plot(
                part["at"], part["mean"], color=LIGHT[look.role], linestyle=look.line, marker=look.marker,
                markevery=marks, label=name,
            )  # fmt: skip
        low, high = axes.get_ylim()
        if low < everything < high + 0.5 * (high - low):
            axes.axhline(everything, color=LIGHT["muted"], linewidth=1, linestyle=(0, (4, 3)))
            axes.annotate(
                "everything measured", (0.01, everything), xycoords=("axes fraction", "data"), xytext=(0, 3),
                textcoords="offset points", fontsize=8, color=LIGHT["muted"],
            )  # fmt: skip
        axes.set_xlabel(axis)
        axes.set_ylabel(score)
        axes.grid(axis="y")
        axes.set_title(title)
        figure.legend(loc="outside lower left", ncols=2, handlelength=3.2)
        return inline_svg(figure, key=key, title=title, description=description)


def money_bar(parts: Mapping[str, float], *, title: str, key: str, description: str) -> str:
    """Sums of money as one bar, from left to right.

    Parameters
    ----------
    parts : dict of str to float
        Name of each part -> sum: ``spent``, ``ordered`` and, with a budget, ``left``.
    title, key, description : str
        Heading, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    with canvas(420, 104) as (figure, (axes,)):
        start = 0.0
        for name, value in parts.items():
            axes.barh(0, value, left=start, height=0.6, color=LIGHT[_MONEY_ROLES[name]], label=f"{name} {value:,.6g}")
            start += value
        axes.set_xlim(0, start or 1.0)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.locator_params(axis="x", nbins=5)
        figure.legend(loc="outside upper left", ncols=len(parts), handlelength=1.2)
        return inline_svg(figure, key=key, title=title, description=description)
