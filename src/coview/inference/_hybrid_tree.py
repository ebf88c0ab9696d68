"""Trees from the top: every node is split by the view that splits it best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coview.inference._bregman_k_means import bregman_k_means
from coview.inference._bregman_linkage import BregmanView, bregman_linkage

__all__ = ["HybridTree", "hybrid_tree"]

Array = NDArray[np.float64]
# A cost at or below this share of that of all samples has vanished.
_VANISHED = 1e-12


@dataclass(frozen=True)
class HybridTree:
    """Splits of a binary tree of samples, in SciPy's order: every node after its children.

    Attributes
    ----------
    children : ndarray of int of shape (n_samples - 1, 2)
        Numbers of the two children, the one with the smallest sample first; samples are 0 to n_samples - 1, splits follow.
    sizes : ndarray of int of shape (n_samples - 1,)
    views : ndarray of int of shape (n_samples - 1,)
        Position of the view that splits; -1 where no view has all members, so that all views split together.
    goodness : ndarray of shape (n_samples - 1, n_views)
        Of the best split in every view; NaN where a member lacks the view.
    gains : ndarray of shape (n_samples - 1,)
        What the split saves in its view, as a share of the cost of all samples there.
    """

    children: NDArray[np.intp]
    sizes: NDArray[np.intp]
    views: NDArray[np.intp]
    goodness: Array
    gains: Array


@dataclass
class _Split:
    members: NDArray[np.intp]
    parent: int
    view: int
    goodness: Array
    gain: float
    left: NDArray[np.bool_]  # (n_members,)


class _ViewTree:
    """A view's own tree of some samples; those below a node are one run of ``order``.

    Parameters
    ----------
    linkage : ndarray of shape (n_members - 1, 4)
    members : ndarray of int of shape (n_members,), increasing
    zero : float
        Merges that cost no more may have been made in the order of the samples.
    """

    def __init__(self, linkage: Array, members: NDArray[np.intp], zero: float) -> None:
        n = len(members)
        self.n_samples, self.zero = n, zero
        self.children: list[list[int]] = linkage[:, :2].astype(int).tolist()
        self.sizes: list[int] = [1] * n + linkage[:, 3].astype(int).tolist()
        self.least: list[float] = [np.inf] * n  # cost of a merge at or below the node
        for (first, second), cost in zip(self.children, linkage[:, 2].tolist(), strict=True):
            self.least.append(min(cost, self.least[first], self.least[second]))
        self.starts = [0] * (2 * n - 1)
        for i in reversed(range(n - 1)):
            first, second = self.children[i]
            self.starts[first] = self.starts[n + i]
            self.starts[second] = self.starts[n + i] + self.sizes[first]
        self.order = np.empty(n, dtype=np.intp)
        self.order[self.starts[:n]] = members

    def below(self, node: int) -> NDArray[np.intp]:
        """Samples below a node, increasing."""
        return np.sort(self.order[self.starts[node] : self.starts[node] + self.sizes[node]])


@dataclass
class _Branch:
    """A node of a view's own tree."""

    tree: _ViewTree
    node: int

    def branches(self) -> list[_Branch]:
        """Of its two children."""
        return [_Branch(self.tree, child) for child in self.tree.children[self.node - self.tree.n_samples]]


@dataclass
class _Part:
    """Samples that are still together; ``branches`` are the views' own trees of them, where these are known."""

    members: NDArray[np.intp]
    parent: int
    branches: list[_Branch | None]


# The best cut of a part in a view, (n_members,), and the branch that it cuts.
Cut = tuple[NDArray[np.bool_], _Branch | None]
Splitter = Callable[[BregmanView, NDArray[np.intp]], Cut]


def hybrid_tree(
    views: Sequence[BregmanView], splitter: str = "ward", random_state: np.random.RandomState | None = None
) -> HybridTree:
    r"""Split the samples in two by the view whose split is best, and each part again, down to single samples.

    Parameters
    ----------
    views : sequence of BregmanView
    splitter : {"ward", "kmeans"}, default="ward"
        How a view cuts a node in two: the last merge of its agglomeration, or k-means with its divergence.
    random_state : RandomState, default=None
        For k-means.

    Returns
    -------
    tree : HybridTree

    Raises
    ------
    ValueError
        If samples of a node fall in groups that share no view.

    Notes
    -----
    Gupta and Dasgupta, section 4.2. A split is as good as :math:`cost(X) / (cost(X_1) + cost(X_2))`; 1 where the view sees no
    difference at all, infinite where only the parts have none; ties go to the first view. A view that a member lacks does
    not take part in splitting its node. A view whose own tree falls into just the two parts that are made keeps it for both: the
    merges within a part do not depend on the other. Time O(n_views n^2 n_features) for the root by ``"ward"``, and for each level
    of a balanced tree half of the one above at most.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import BregmanView, bregman_divergence, hybrid_tree
    >>> squared = bregman_divergence("sqeuclidean")
    >>> rough = BregmanView(np.array([[0.0], [0.1], [5.0]]), squared)
    >>> hybrid_tree([rough]).children.tolist()
    [[0, 1], [3, 2]]
    """
    n = len(views[0].rows)
    totals = np.array([view.divergence.cost(view.rows[~np.isnan(view.rows).any(axis=1)]) for view in views])
    cut = _splitters(splitter, random_state)
    splits: list[_Split] = []
    parts = [_Part(np.arange(n), -1, [None] * len(views))] if n > 1 else []
    while parts:
        part = parts.pop()
        split, cuts = _best_split(views, part, totals, cut)
        splits.append(split)
        for members in (part.members[split.left], part.members[~split.left]):
            if len(members) > 1:
                parts.append(_Part(members, len(splits) - 1, [_branch_of(own, members) for own in cuts]))
    return _in_order(splits, n, len(views))


def _splitters(splitter: str, random_state: np.random.RandomState | None) -> Splitter:
    rng = random_state or np.random.RandomState(0)

    def ward(view: BregmanView, members: NDArray[np.intp]) -> Cut:
        tree = _ViewTree(bregman_linkage([view]), members, _VANISHED * view.divergence.cost(view.rows))
        return _cut_of(_Branch(tree, 2 * len(members) - 2), members)

    def kmeans(view: BregmanView, members: NDArray[np.intp]) -> Cut:
        left = bregman_k_means(view.rows, 2, view.divergence, rng) == 0
        return left if left.any() and not left.all() else np.arange(len(left)) < max(1, len(left) // 2), None

    if splitter not in ("ward", "kmeans"):
        raise ValueError(f"splitter must be 'ward' or 'kmeans'; got {splitter!r}.")
    return ward if splitter == "ward" else kmeans


def _best_split(
    views: Sequence[BregmanView], part: _Part, totals: Array, cut: Splitter
) -> tuple[_Split, list[_Branch | None]]:
    goodness = np.full(len(views), np.nan)
    branches: list[_Branch | None] = [None] * len(views)
    best, side, gain = -1, np.zeros(0, dtype=bool), 0.0
    for j, view in enumerate(views):
        rows = view.rows[part.members]
        if np.isnan(rows).any():
            continue
        left, branches[j] = _cut(BregmanView(rows, view.divergence), part, j, cut)
        whole = _vanishing(view.divergence.cost(rows), totals[j])
        parts = _vanishing(view.divergence.cost(rows[left]) + view.divergence.cost(rows[~left]), totals[j])
        goodness[j] = 1.0 if whole == 0.0 else np.inf if parts == 0.0 else whole / parts
        if best < 0 or goodness[j] > goodness[best]:
            best, side, gain = j, left, (whole - parts) / totals[j] if totals[j] > 0.0 else 0.0
    if best < 0:
        subset = [BregmanView(view.rows[part.members], view.divergence, view.weight) for view in views]
        tree = _ViewTree(bregman_linkage(subset), part.members, np.inf)
        side, _ = _cut_of(_Branch(tree, 2 * len(part.members) - 2), part.members)
    return _Split(part.members, part.parent, best, goodness, gain, side), branches


def _cut(view: BregmanView, part: _Part, j: int, cut: Splitter) -> Cut:
    if len(part.members) == 2:
        return np.array([True, False]), None
    branch = part.branches[j]
    return cut(view, part.members) if branch is None else _cut_of(branch, part.members)


def _cut_of(branch: _Branch, members: NDArray[np.intp]) -> Cut:
    """Which members are below the first child."""
    left = np.zeros(len(members), dtype=bool)
    left[np.searchsorted(members, branch.tree.below(branch.branches()[0].node))] = True
    return left, branch


def _branch_of(cut: _Branch | None, members: NDArray[np.intp]) -> _Branch | None:
    """What a view's own tree says of one of the parts, where the view cuts off just that."""
    for branch in cut.branches() if cut is not None else []:
        tree, node = branch.tree, branch.node
        if tree.least[node] > tree.zero and np.array_equal(tree.below(node), members):
            return branch
    return None


def _vanishing(cost: float, total: float) -> float:
    return 0.0 if cost <= _VANISHED * total else cost


def _in_order(splits: list[_Split], n: int, n_views: int) -> HybridTree:
    """Splits by size, so that children come before their parents."""
    sizes = np.array([len(split.members) for split in splits], dtype=np.intp)
    order = np.argsort(sizes, kind="stable")
    number = np.empty(len(splits), dtype=np.intp)
    number[order] = n + np.arange(len(splits))
    # The children of a split: splits of which it is the parent, and samples of its own that none of these holds.
    children: list[list[tuple[int, int]]] = [[] for _ in splits]
    for i, split in enumerate(splits):
        if split.parent >= 0:
            children[split.parent].append((int(split.members[0]), int(number[i])))
    for i, split in enumerate(splits):
        alone = split.members
        for _, child in children[i]:
            alone = np.setdiff1d(alone, splits[order[child - n]].members, assume_unique=True)
        children[i] += [(int(m), int(m)) for m in alone]
    pairs = np.array([[node for _, node in sorted(children[i])] for i in order], dtype=np.intp).reshape(-1, 2)
    return HybridTree(
        pairs,
        sizes[order],
        np.array([splits[i].view for i in order], dtype=np.intp),
        np.array([splits[i].goodness for i in order]).reshape(-1, n_views),
        np.array([splits[i].gain for i in order]),
    )
