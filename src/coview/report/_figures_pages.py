"""Pictures of the demonstration on web pages."""

from __future__ import annotations

import pandas as pd

from coview.report._figures_scores import BASELINE, OTHER, OURS_LOOK, Look
from coview.report._svg import LIGHT, canvas, inline_svg

__all__ = ["JUDGES", "breakeven_dots", "sureness"]

JUDGES: dict[str, Look] = {"page and link": OURS_LOOK, "page": BASELINE, "link": OTHER}


def breakeven_dots(summary: pd.DataFrame, *, title: str, key: str, description: str) -> str:
    """A row per method: its breakeven points by both views, by the page, by the link; the range of the draws by both.

    Parameters
    ----------
    summary : DataFrame
        ``method``, ``judged_by``, ``breakeven``, ``low``, ``high``; methods in the order of the rows, from above.
    title, key, description : str
        Heading, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    names = list(dict.fromkeys(summary["method"]))
    with canvas(520, 38 * len(names) + 110) as (figure, (axes,)):
        for judge, look in JUDGES.items():
            part = summary[summary["judged_by"] == judge].set_index("method").reindex(names)
            if look is OURS_LOOK:
                axes.hlines(range(len(names)), part["low"], part["high"], color=LIGHT["band"], linewidth=7)
            axes.plot(part["breakeven"], range(len(names)), linestyle="none", marker=look.marker, color=LIGHT[look.role],
                      markersize=6.5, label=f"by {judge}")  # fmt: skip
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(right=1.005)
        axes.set_xlabel("precision where it equals recall (bar: range of the draws, by both)")
        axes.grid(axis="both")
        axes.set_title(title)
        figure.legend(loc="outside lower left", ncols=3)
        return inline_svg(figure, key=key, title=title, description=description)


def sureness(predictions: pd.DataFrame, *, title: str, key: str, description: str) -> str:
    """How many pages got which probability, those that were wrong apart.

    Parameters
    ----------
    predictions : DataFrame
        ``p_course``, ``right``.
    title, key, description : str
        Heading, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    bins = [step / 20 for step in range(21)]
    parts = [predictions.loc[predictions["right"] == right, "p_course"] for right in (True, False)]
    with canvas(440, 300) as (figure, (axes,)):
        axes.hist(parts, bins=bins, stacked=True, color=[LIGHT["ours"], LIGHT["wrong"]], label=["right", "wrong"],
                  edgecolor=LIGHT["paper"])  # fmt: skip
        axes.set_xlim(0, 1)
        axes.set_xlabel("stated probability that the page is of a course")
        axes.set_ylabel("pages")
        axes.grid(axis="y")
        axes.set_title(title)
        figure.legend(loc="outside lower left", ncols=2)
        return inline_svg(figure, key=key, title=title, description=description)
