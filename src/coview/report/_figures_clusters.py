"""Pictures of clusters: sizes, agreement of clusterings, falls of the spectrum, and a tree with the view of every split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from coview.report._looks import ClassLook
from coview.report._svg import LIGHT, canvas, inline_svg
from coview.report._words import shorten

__all__ = ["DrawnNode", "agreement_matrix", "cluster_sizes", "gap_bars", "split_tree", "view_looks"]

_VIEW_ROLES = ("class-1", "class-2", "class-3", "ours", "baseline", "wrong")
_VIEW_MARKERS = ("o", "s", "^", "D", "v", "P")
_TOGETHER = ("muted", "X")


def view_looks(views: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Color role and shape of every view; with more than six views colors return with other shapes."""
    n = len(_VIEW_ROLES)
    return {view: (_VIEW_ROLES[j % n], _VIEW_MARKERS[(j + j // n) % n]) for j, view in enumerate(views)}


def cluster_sizes(
    sizes: Mapping[str, int], looks: Mapping[str, ClassLook], *, title: str, key: str, description: str
) -> str:
    """Samples of every cluster as bars.

    Parameters
    ----------
    sizes : dict of str to int
        Cluster -> samples, top to bottom.
    looks : dict of str to ClassLook
        Of every cluster.
    title, key, description : str
        Heading, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    with canvas(400, 24 * len(sizes) + 76) as (figure, (axes,)):
        rows = range(len(sizes))
        for row, (name, size) in enumerate(sizes.items()):
            look = looks[name]
            axes.barh(row, size, 0.7, facecolor=LIGHT[look.role], hatch=look.hatch, edgecolor=LIGHT["paper"])
            axes.text(size, row, f" {size:,}", va="center", fontsize=8.5)
        axes.set_yticks(rows, [shorten(name) for name in sizes])
        axes.set_ylim(len(sizes) - 0.4, -0.6)
        axes.set_xlim(0, 1.12 * max(sizes.values()))
        axes.locator_params(axis="x", nbins=5, integer=True)
        axes.set_xlabel("samples")
        axes.tick_params(axis="y", length=0)
        axes.set_title(title)
        return inline_svg(figure, key=key, title=title, description=description)


def agreement_matrix(agreement: pd.DataFrame, *, title: str, key: str, description: str) -> str:
    """Adjusted Rand index of every two clusterings, as numbers on squares that are the darker the larger it is.

    Parameters
    ----------
    agreement : DataFrame of shape (n_clusterings, n_clusterings)
        NaN where two share too few samples.
    title, key, description : str
        Heading, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    n = len(agreement)
    names = [shorten(name, 16) for name in agreement.index]
    values = agreement.to_numpy(dtype=np.float64)
    with canvas(min(560, 150 + 56 * n), 120 + 34 * n) as (figure, (axes,)):
        for i, j in np.ndindex(n, n):
            value = float(values[i, j])
            known = np.isfinite(value)
            axes.add_patch(
                _square(j, i, LIGHT["ours"] if known else LIGHT["missing"], max(value, 0.0) if known else 1.0)
            )
            # Dark squares carry light text in both themes of the page.
            color = LIGHT["paper"] if known and value > 0.6 else LIGHT["ink"]
            axes.text(j, i, f"{value:.2f}" if known else "none", ha="center", va="center", fontsize=8.5, color=color)
        axes.set_xlim(-0.5, n - 0.5)
        axes.set_ylim(n - 0.5, -0.5)
        axes.set_xticks(range(n), names, rotation=35, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(n), names)
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_title(title)
        return inline_svg(figure, key=key, title=title, description=description)


def _square(column: int, row: int, color: str, strength: float) -> Rectangle:
    return Rectangle((column - 0.47, row - 0.47), 0.94, 0.94, facecolor=color, edgecolor="none", alpha=strength)


def gap_bars(gaps: pd.Series, chosen: int, *, title: str, key: str, description: str) -> str:
    """Falls of the spectrum by number of clusters, the chosen one filled, the others hatched.

    Parameters
    ----------
    gaps : Series
        By number of clusters.
    chosen : int
        Number that was taken.
    title, key, description : str
        Heading, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    with canvas(400, 230) as (figure, (axes,)):
        for number, gap in zip(gaps.index.tolist(), gaps.tolist(), strict=True):
            taken = number == chosen
            axes.bar(number, gap, 0.7, facecolor=LIGHT["ours" if taken else "printed"], hatch="" if taken else "///",
                     edgecolor=LIGHT["paper"])  # fmt: skip
        axes.set_xticks(gaps.index.tolist())
        axes.set_xlabel("number of clusters")
        axes.set_ylabel("eigengap")
        axes.locator_params(axis="y", nbins=5)
        axes.grid(axis="y")
        axes.set_title(title)
        return inline_svg(figure, key=key, title=title, description=description)


@dataclass(frozen=True)
class DrawnNode:
    """A node of a tree that is drawn.

    Attributes
    ----------
    level : int
        0 for leaves, else one more than the higher of its children.
    place : float
        Position across: that of a leaf, or the middle of the children.
    children : tuple of int
        Numbers of the two children; empty for leaves.
    text : str
        Of a leaf.
    view : str
        View that splits it; "" for all views together and for leaves.
    """

    level: int
    place: float
    children: tuple[int, ...] = ()
    text: str = ""
    view: str = ""


def split_tree(
    nodes: Sequence[DrawnNode], looks: Mapping[str, tuple[str, str]], *, title: str, key: str, description: str
) -> str:
    """A tree from left to right; every split has the color and shape of the view that makes it.

    Parameters
    ----------
    nodes : sequence of DrawnNode
        Children before parents, the root last.
    looks : dict of str to (str, str)
        View -> color role and shape; empty where all views split together.
    title, key, description : str
        Heading, id prefix and text alternative.

    Returns
    -------
    svg : str
    """
    leaves = [node for node in nodes if not node.children]
    used = [view for view in looks if any(node.view == view for node in nodes)]
    together = bool(looks) and any(node.children and not node.view for node in nodes)
    with canvas(560, 17 * len(leaves) + 70 + 20 * bool(used)) as (figure, (axes,)):
        for node in nodes:
            if not node.children:
                axes.text(0.15, node.place, node.text, va="center", fontsize=8)
                continue
            role, marker = looks.get(node.view, _TOGETHER)
            for child in (nodes[c] for c in node.children):
                axes.plot([-node.level, -node.level, -child.level], [node.place, child.place, child.place],
                          color=LIGHT[role], linewidth=1.5, solid_capstyle="round")  # fmt: skip
            if looks:
                axes.plot(-node.level, node.place, marker, color=LIGHT[role], markersize=6, zorder=3)
        for view, (role, marker) in [(view, looks[view]) for view in used] + [("all views", _TOGETHER)] * together:
            axes.plot([], [], marker, color=LIGHT[role], linestyle="-", label=shorten(view))
        top = nodes[-1].level
        axes.set_xlim(-top - 0.03 * top, 0.62 * top + 0.5)
        axes.set_ylim(len(leaves) - 0.4, -0.6)
        axes.set_axis_off()
        axes.set_title(title)
        if used or together:
            figure.legend(loc="outside lower left", ncols=4, columnspacing=1.2)
        return inline_svg(figure, key=key, title=title, description=description)
