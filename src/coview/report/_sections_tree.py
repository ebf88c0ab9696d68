"""The tree of a clustering on a page: its upper splits, and which view made them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from coview.report._figures_clusters import DrawnNode, split_tree, view_looks
from coview.report._html import Picture, Section
from coview.report._sections_clusters import Clusters
from coview.report._tables import Columns, Table
from coview.report._words import counted, listed, shorten

__all__ = ["tree_section"]

_DRAWN_LEAVES, _ALL_LEAVES = 36, 48  # leaves of a part of the tree; samples up to which all of it is drawn
TOGETHER = "all views together"


def tree_section(clusters: Clusters) -> Section | None:
    """The upper splits; None for methods without a tree."""
    model = clusters.model
    if not hasattr(model, "linkage_") or len(model.linkage_) < 2:
        return None
    n = len(model.linkage_) + 1
    leaves = n if n <= _ALL_LEAVES else _DRAWN_LEAVES
    groups = model.labels_at(leaves)
    splits = getattr(model, "split_views_", None)
    order, inner = _upper_nodes(model.linkage_, groups)
    nodes = _drawn(clusters, order, inner, splits)
    looks = view_looks(clusters.views.names) if splits is not None else {}
    svg = split_tree(
        nodes, looks, title="The tree" if leaves == n else f"The tree down to {leaves} groups", key="tree",
        description=_reading(nodes, splits is not None),
    )  # fmt: skip
    text = (
        "Lengths mean nothing: every split is one step further left than the splits below it. Leaves are samples, or groups that "
        "are split no further here, with the cluster they belong to."
    )
    if splits is not None and not clusters.views.presence.all():
        text += (
            " A view can split only groups whose samples all have it, so a view that many lack splits late or never."
        )
    table = _split_table(model, [node - n for node in inner], splits)
    picture = Picture("How the samples split.", _reading(nodes, splits is not None), (svg,), table)
    return Section("tree", "The tree", (text,), (picture,))


def _reading(nodes: list[DrawnNode], by_view: bool) -> str:
    made = [node for node in nodes if node.children]
    if not by_view:
        return f"{counted(len(made), 'split')}, each the cheapest merge of two groups over all views together."
    counts = pd.Series([node.view or TOGETHER for node in made]).value_counts()
    words = listed([f"{view} {count}" for view, count in counts.items()], 6)
    return f"The first split is made by {nodes[-1].view or TOGETHER}. Splits by view: {words}."


def _upper_nodes(linkage: Any, groups: Any) -> tuple[list[tuple[int, int]], list[int]]:
    """Leaves of the drawn tree in order (node, group), and the nodes above them, children before parents."""
    n = len(linkage) + 1
    group = [*groups.tolist(), *[-1] * (n - 1)]
    children = linkage[:, :2].astype(int).tolist()
    first = [*range(n), *[0] * (n - 1)]
    for i, (a, b) in enumerate(children):
        group[n + i] = group[a] if group[a] == group[b] else -1
        first[n + i] = min(first[a], first[b])
    leaves, inner, stack = [], [], [2 * n - 2]
    while stack:
        node = stack.pop()
        if group[node] >= 0:
            leaves.append((node, group[node]))
            continue
        inner.append(node)
        stack += sorted(children[node - n], key=lambda child: -first[child])
    return leaves, sorted(inner)


def _drawn(
    clusters: Clusters, leaves: list[tuple[int, int]], inner: list[int], splits: list[str | None] | None
) -> list[DrawnNode]:
    """Places of the nodes."""
    linkage = clusters.model.linkage_
    n = len(linkage) + 1
    groups = clusters.model.labels_at(len(leaves))
    number: dict[int, int] = {}
    nodes: list[DrawnNode] = []
    for place, (node, group) in enumerate(leaves):
        members = np.flatnonzero(groups == group)
        own = sorted(set(clusters.labels[members].tolist()))
        who = shorten(clusters.views.index[members[0]], 24) if len(members) == 1 else counted(len(members), "sample")
        where = f"cluster {own[0]}" if len(own) == 1 else f"{len(own)} clusters"
        number[node] = len(nodes)
        nodes.append(DrawnNode(0, float(place), text=f"{who}, {where}"))
    for node in inner:
        below = tuple(number[child] for child in linkage[node - n, :2].astype(int).tolist())
        parts = [nodes[child] for child in below]
        number[node] = len(nodes)
        view = "" if splits is None else splits[node - n] or ""
        level, place_ = 1 + max(part.level for part in parts), sum(part.place for part in parts) / 2
        nodes.append(DrawnNode(level, place_, below, view=view))
    return nodes


def _split_table(model: Any, rows: list[int], splits: list[str | None] | None) -> Table:
    """The drawn splits from the top: size, parts, and what speaks for them."""
    n = len(model.linkage_) + 1
    order = rows[::-1]
    sizes = [1] * n + model.linkage_[:, 3].astype(int).tolist()
    parts = [sorted((sizes[int(c)] for c in model.linkage_[row, :2]), reverse=True) for row in order]
    frame = pd.DataFrame({"n": [sizes[n + row] for row in order], "parts": [f"{a:,} and {b:,}" for a, b in parts]})
    columns: Columns = {"n": ("samples", ",d"), "parts": ("into", "")}
    if splits is None:
        frame["cost"] = model.linkage_[order, 2]
        columns["cost"] = ("cost that it saves", ".4g")
    else:
        frame["view"] = [splits[row] or TOGETHER for row in order]
        columns["view"] = ("split by", "")
        goodness = model.goodness_.iloc[order].reset_index(drop=True)
        for j, view in enumerate(goodness.columns):
            frame[f"g{j}"] = goodness[view]
            columns[f"g{j}"] = (f"goodness in {view}", ".3g")
    return Table.from_frame(frame, "The splits that are drawn, from the top", columns, scroll=len(frame) > 12)
