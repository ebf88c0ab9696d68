"""Binary trees of samples, as SciPy writes them: cuts, members, Newick."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

__all__ = ["HierarchyMixin", "TreeNode", "labels_of_groups", "members_of_nodes", "newick_of_linkage"]

Array = NDArray[np.float64]


class HierarchyMixin:
    """What every tree in ``linkage_`` can be asked; a subclass says which nodes a cut leaves in ``_nodes_of_cut``."""

    linkage_: Array

    def _nodes_of_cut(self, n_clusters: int) -> list[int]:
        raise NotImplementedError

    def labels_at(self, n_clusters: int) -> NDArray[np.intp]:
        """Labels of the training samples where the tree is cut into another number of clusters; nothing is fitted again.

        Parameters
        ----------
        n_clusters : int
            At most the number of samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Numbered by first appearance.

        Raises
        ------
        ValueError
            If there are fewer samples than clusters, or ``n_clusters`` is below 1.
        """
        check_is_fitted(self, "linkage_")
        n = len(self.linkage_) + 1
        if not 1 <= n_clusters <= n:
            raise ValueError(f"n_clusters must lie between 1 and the number of samples, {n}; got {n_clusters}.")
        members = members_of_nodes(self.linkage_)
        return labels_of_groups([members[node] for node in self._nodes_of_cut(n_clusters)], n)

    def to_newick(self, names: Sequence[Any] | None = None) -> str:
        """The tree in Newick notation, which programs for drawing trees read.

        Parameters
        ----------
        names : sequence of str, default=None
            Of the samples, in their order; None numbers them from 0.

        Returns
        -------
        newick : str
            Without branch lengths: the costs of merges are no heights, they need not grow toward the root.
        """
        check_is_fitted(self, "linkage_")
        return newick_of_linkage(self.linkage_, names)


@dataclass(frozen=True)
class TreeNode:
    """A node of a hybrid tree.

    Attributes
    ----------
    members : ndarray of int
        Positions of the samples below it, increasing.
    view : str or None
        View that splits it; None at a leaf, and where no view alone could split.
    goodness : float
        Cost of the node over the cost of its two children, in the view that splits; NaN where there is none.
    goodness_per_view : dict of str to float
        The same in every view; NaN in views that a member lacks.
    left, right : TreeNode or None
        The left child holds the first member.
    """

    members: NDArray[np.intp]
    view: str | None = None
    goodness: float = np.nan
    goodness_per_view: dict[str, float] | None = None
    left: TreeNode | None = None
    right: TreeNode | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether it holds one sample."""
        return self.left is None

    def walk(self) -> Iterator[TreeNode]:
        """Yield the node and all below it, each before its children, the left ones first."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            if node.left is not None and node.right is not None:
                stack += [node.right, node.left]


def members_of_nodes(linkage: Array) -> list[NDArray[np.intp]]:
    """Samples below every node of a linkage, leaves first, each increasing; memory up to O(n^2) for a chain."""
    n = len(linkage) + 1
    members = [np.array([i], dtype=np.intp) for i in range(n)]
    for a, b in linkage[:, :2].astype(np.intp):
        members.append(np.sort(np.concatenate([members[a], members[b]])))
    return members


def labels_of_groups(groups: Sequence[NDArray[np.intp]], n_samples: int) -> NDArray[np.intp]:
    """Labels of groups of positions, numbered by first appearance."""
    labels = np.empty(n_samples, dtype=np.intp)
    for number, group in enumerate(sorted(groups, key=lambda group: group.min())):
        labels[group] = number
    return labels


def newick_of_linkage(linkage: Array, names: Sequence[Any] | None = None) -> str:
    """Text of the tree, the child with the first sample to the left."""
    n = len(linkage) + 1
    if names is not None and len(names) != n:
        raise ValueError(f"names must hold one entry per sample ({n}); got {len(names)}.")
    parts = [_quoted(str(i if names is None else names[i])) for i in range(n)]
    first = list(range(n))
    for a, b in linkage[:, :2].astype(int):
        left, right = (a, b) if first[a] < first[b] else (b, a)
        parts.append(f"({parts[left]},{parts[right]})")
        first.append(first[left])
        parts[a] = parts[b] = ""
    return parts[-1] + ";"


def _quoted(name: str) -> str:
    """A label that Newick would misread goes into quotes."""
    if name and not any(character in "()[]{}/\\,;:='\" \t\n" for character in name):
        return name
    return "'" + name.replace("'", "''") + "'"
