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
Splitter = Callable[[BregmanView], NDArray[np.bool_]]
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
    not take part in splitting its node. Time O(n_views n^2 n_features) for the root by ``"ward"``, and for each level of a
    balanced tree half of the one above.

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
    totals = np.array([_cost(view, np.flatnonzero(~np.isnan(view.rows).any(axis=1))) for view in views])
    cut = _splitters(splitter, random_state)
    splits: list[_Split] = []
    parts: list[tuple[NDArray[np.intp], int]] = [(np.arange(n), -1)] if n > 1 else []
    while parts:
        members, parent = parts.pop()
        split, left = _best_split(views, members, parent, totals, cut)
        splits.append(split)
        parts += [(child, len(splits) - 1) for child in (members[left], members[~left]) if len(child) > 1]
    return _in_order(splits, n, len(views))


def _splitters(splitter: str, random_state: np.random.RandomState | None) -> Splitter:
    rng = random_state or np.random.RandomState(0)

    def ward(view: BregmanView) -> NDArray[np.bool_]:
        return _last_merge(bregman_linkage([view]))

    def kmeans(view: BregmanView) -> NDArray[np.bool_]:
        left = bregman_k_means(view.rows, 2, view.divergence, rng) == 0
        return left if left.any() and not left.all() else np.arange(len(left)) < max(1, len(left) // 2)

    if splitter not in ("ward", "kmeans"):
        raise ValueError(f"splitter must be 'ward' or 'kmeans'; got {splitter!r}.")
    return ward if splitter == "ward" else kmeans


def _best_split(
    views: Sequence[BregmanView], members: NDArray[np.intp], parent: int, totals: Array, cut: Splitter
) -> tuple[_Split, NDArray[np.bool_]]:
    goodness = np.full(len(views), np.nan)
    best, side, gain = -1, np.zeros(0, dtype=bool), 0.0
    for j, view in enumerate(views):
        rows = view.rows[members]
        if np.isnan(rows).any():
            continue
        left = cut(BregmanView(rows, view.divergence))
        whole = _vanishing(_cost(view, members), totals[j])
        parts = _vanishing(_cost(view, members[left]) + _cost(view, members[~left]), totals[j])
        goodness[j] = 1.0 if whole == 0.0 else np.inf if parts == 0.0 else whole / parts
        if best < 0 or goodness[j] > goodness[best]:
            best, side, gain = j, left, (whole - parts) / totals[j] if totals[j] > 0.0 else 0.0
    if best < 0:
        subset = [BregmanView(view.rows[members], view.divergence, view.weight) for view in views]
        side = _last_merge(bregman_linkage(subset))
    return _Split(members, parent, best, goodness, gain), side


def _cost(view: BregmanView, members: NDArray[np.intp]) -> float:
    return view.divergence.cost(view.rows[members])


def _vanishing(cost: float, total: float) -> float:
    return 0.0 if cost <= _VANISHED * total else cost


def _last_merge(linkage: Array) -> NDArray[np.bool_]:
    """Which samples lie below the first child of the root."""
    n = len(linkage) + 1
    left = np.zeros(n, dtype=bool)
    stack = [int(linkage[-1, 0])]
    while stack:
        node = stack.pop()
        if node < n:
            left[node] = True
        else:
            stack += linkage[node - n, :2].astype(int).tolist()
    return left


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
