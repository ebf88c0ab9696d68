"""Trees of the same samples from one view, from all views at once, and from the view that splits best."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster.hierarchy import to_tree

from coview.cluster import BregmanAgglomerativeClustering, HybridHierarchicalClustering
from coview.inference import bregman_divergence

__all__ = ["HYBRID", "Tree", "build", "similarities"]

Array = NDArray[np.float64]

HYBRID = "hybrid"


@dataclass(frozen=True)
class Tree:
    """A tree, and what its splits are worth.

    Attributes
    ----------
    name : str
    linkage : ndarray of shape (n_samples - 1, 4)
    model : estimator
    splits : list of str or None
        The view that made each split, for the hybrid tree.
    """

    name: str
    linkage: Array
    model: BregmanAgglomerativeClustering | HybridHierarchicalClustering
    splits: list[str | None]


def build(views: Mapping[str, Array], divergences: Mapping[str, str], *, splitter: str = "ward") -> list[Tree]:
    """Ward's tree of each view, of their weighted sum, of all features side by side, and the hybrid tree.

    Costs of views are made comparable by their total in the sum, and columns by their deviation side by side.
    """
    trees = []
    for name, block in views.items():
        model = BregmanAgglomerativeClustering(divergence=divergences[name]).fit(block)
        trees.append(Tree(name, model.linkage_, model, []))
    totals = {name: bregman_divergence(divergences[name]).cost(block) for name, block in views.items()}
    summed = BregmanAgglomerativeClustering(
        divergence=dict(divergences), view_weights={name: 1.0 / total for name, total in totals.items()}
    ).fit(dict(views))
    trees.append(Tree("sum of the views' costs", summed.linkage_, summed, []))
    beside = BregmanAgglomerativeClustering().fit(np.hstack([_standardized(block) for block in views.values()]))
    trees.append(Tree("features side by side", beside.linkage_, beside, []))
    mixed = HybridHierarchicalClustering(divergences=dict(divergences), splitter=splitter, random_state=0).fit(
        dict(views)
    )
    return [*trees, Tree(HYBRID, mixed.linkage_, mixed, mixed.split_views_)]


def similarities(tree: Tree, views: Mapping[str, Array], divergences: Mapping[str, str]) -> pd.DataFrame:
    """Similarity of the two parts of every split, the inverse of its goodness: in the view of the tree, or in the best.

    Splits of pairs, whose parts have no cost, are left out, as they say nothing (0 in every tree).
    """
    n = len(tree.linkage) + 1
    rows = []
    for node in to_tree(tree.linkage, rd=True)[1][n:]:
        whole, first, second = (sorted(part.pre_order()) for part in (node, node.left, node.right))
        if len(whole) < 3:
            continue
        own = [tree.name] if tree.name in views else list(views)
        values = []
        for name in own:
            divergence, block = bregman_divergence(divergences[name]), views[name]
            total = divergence.cost(block[whole])
            parts = divergence.cost(block[first]) + divergence.cost(block[second])
            values.append(parts / total if total > 0.0 else 1.0)
        rows.append({"tree": tree.name, "size": len(whole), "similarity": min(values)})
    return pd.DataFrame(rows)


def _standardized(block: Array) -> Array:
    deviation = block.std(axis=0)
    return (block - block.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0) / np.sqrt(block.shape[1])
