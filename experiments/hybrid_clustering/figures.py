"""Pictures of the trees of the phonemes and of how similar the parts of their splits are.

python experiments/hybrid_clustering/figures.py DATA [FOLDER]
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

mpl.use("agg")

import matplotlib.pyplot as plt
from scipy.cluster.hierarchy import dendrogram

sys.path.insert(0, str(Path(__file__).parents[1]))

from hybrid_clustering.tables import _VIEWS, phoneme_trees
from hybrid_clustering.trees import HYBRID, Tree, similarities

_COLORS = {"acoustic": "#0072b2", "next": "#d55e00", "articulatory": "#009e73", None: "#666666"}


def main(arguments: Sequence[str]) -> None:
    """Draw the trees and the histogram into the folder of the results."""
    data = Path(arguments[0])
    folder = Path(arguments[1]) if len(arguments) > 1 else Path(__file__).parent / "results"
    trees, blocks, classes, names = phoneme_trees(data)
    _draw_trees(trees["two views of the paper"], classes, names).savefig(folder / "trees.png", dpi=110)
    _draw_histogram(trees, blocks).savefig(folder / "similarity.png", dpi=110)
    print(folder / "trees.png", folder / "similarity.png")


def _draw_trees(trees: list[Tree], classes: pd.DataFrame, names: list[str]) -> plt.Figure:
    families = {family: f"C{i}" for i, family in enumerate(classes["family"].unique())}
    figure, panels = plt.subplots(1, len(trees), figsize=(3.4 * len(trees), 8.5), layout="constrained")
    for panel, tree in zip(panels, trees, strict=True):
        _draw_tree(panel, tree, classes, names, families)
    handles = [
        plt.Line2D([], [], marker="s", linestyle="", color=color, label=name) for name, color in families.items()
    ]
    handles += [
        plt.Line2D([], [], color=_COLORS[view], label=f"split by {view}") for view in _VIEWS["two views of the paper"]
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)
    return figure


def _draw_tree(panel: Axes, tree: Tree, classes: pd.DataFrame, names: list[str], families: dict[str, str]) -> None:
    """Heights are the ranks of sizes: costs of merges need not grow."""
    drawn = tree.linkage.copy()
    drawn[:, 2] = _levels(tree.linkage)
    n = len(drawn) + 1
    splits = tree.splits or [None] * (n - 1)
    dendrogram(
        drawn,
        labels=names,
        orientation="left",
        ax=panel,
        leaf_font_size=9,
        link_color_func=lambda node: _COLORS[splits[node - n]] if tree.name == HYBRID else "#666666",
    )
    for label in panel.get_yticklabels():
        label.set_color(families[classes["family"].to_numpy()[names.index(label.get_text())]])
    panel.set(title=tree.name, xticks=[])
    panel.spines[["top", "right", "bottom", "left"]].set_visible(False)


def _levels(linkage: np.ndarray) -> np.ndarray:
    """Longest way from each node down to a sample."""
    n = len(linkage) + 1
    depth = np.zeros(2 * n - 1)
    for i, (a, b) in enumerate(linkage[:, :2].astype(int)):
        depth[n + i] = 1 + max(depth[a], depth[b])
    return depth[n:]


def _draw_histogram(trees: dict[str, list[Tree]], blocks: dict[str, np.ndarray]) -> plt.Figure:
    """Figure 6: similarity of the parts at every split of more than two."""
    title = "two views of the paper"
    views = {name: blocks[name] for name in _VIEWS[title]}
    figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
    shown = [tree for tree in trees[title] if tree.name in (*views, HYBRID)]
    values = [similarities(tree, views, _VIEWS[title])["similarity"] for tree in shown]
    panel.hist(
        values, bins=np.linspace(0, 1, 11), label=[tree.name for tree in shown], color=["#0072b2", "#d55e00", "#333333"]
    )
    panel.set(xlabel="similarity of the two parts of a split (inverse goodness)", ylabel="splits")
    panel.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main(sys.argv[1:])
