"""How well a tree of samples keeps known classes together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

__all__ = ["class_cophenetic_correlation", "dendrogram_purity"]

Array = NDArray[np.float64]


def dendrogram_purity(linkage: ArrayLike, labels_true: ArrayLike) -> float:
    r"""Mean share of a pair's class in the smallest subtree that holds the pair, over all pairs of the same class.

    Parameters
    ----------
    linkage : array-like of shape (n_samples - 1, 4)
        A binary tree as SciPy writes it; heights are not looked at.
    labels_true : array-like of shape (n_samples,)

    Returns
    -------
    purity : float
        Between 0 and 1; 1 if every class is a subtree. NaN where no class has two samples.

    Raises
    ------
    ValueError
        If the tree has another number of samples than there are labels, or a label is missing.

    Notes
    -----
    Heller and Ghahramani, "Bayesian Hierarchical Clustering" (2005). Counts of classes per subtree give all pairs at once:
    time and memory O(n_samples n_classes).

    Examples
    --------
    >>> from coview.metrics import dendrogram_purity
    >>> dendrogram_purity([[0, 1, 1.0, 2], [2, 3, 2.0, 3]], ["a", "b", "a"])
    0.6666666666666666
    """
    counts, children, codes = _class_counts(linkage, labels_true)
    n = len(codes)
    left, right = counts[children[:, 0]], counts[children[:, 1]]
    pairs = left * right  # of each class, that meet at a node
    sizes = counts[n:].sum(axis=1, keepdims=True)
    total = pairs.sum()
    return float((pairs * counts[n:] / sizes).sum() / total) if total > 0.0 else float("nan")


def class_cophenetic_correlation(linkage: ArrayLike, labels_true: ArrayLike) -> float:
    r"""Correlation, over all pairs of samples, of where a tree joins them with whether their classes differ.

    Parameters
    ----------
    linkage : array-like of shape (n_samples - 1, 4)
        A binary tree as SciPy writes it. Costs that need not grow toward the root are no heights, so a pair is as far apart as
        the number of samples in the smallest subtree that holds it.
    labels_true : array-like of shape (n_samples,)

    Returns
    -------
    correlation : float
        Between -1 and 1, large where the tree joins classes late; NaN where all pairs are of one kind.

    Raises
    ------
    ValueError
        If the tree has another number of samples than there are labels, or a label is missing.

    Notes
    -----
    Pearson's correlation of the two over the n (n - 1) / 2 pairs, from counts of classes per subtree: time and memory
    O(n_samples n_classes).

    Examples
    --------
    >>> from coview.metrics import class_cophenetic_correlation
    >>> round(class_cophenetic_correlation([[0, 1, 1.0, 2], [2, 3, 2.0, 3]], ["a", "a", "b"]), 6)
    1.0
    """
    counts, children, codes = _class_counts(linkage, labels_true)
    left, right = counts[children[:, 0]], counts[children[:, 1]]
    heights = counts[len(codes) :].sum(axis=1)
    pairs = left.sum(axis=1) * right.sum(axis=1)
    same = (left * right).sum(axis=1)
    total = pairs.sum()
    mean_height, share = (pairs @ heights) / total, (pairs - same).sum() / total
    covariance = ((pairs - same) @ heights) / total - mean_height * share
    spread = (pairs @ (heights - mean_height) ** 2) / total * share * (1.0 - share)
    return float(covariance / np.sqrt(spread)) if spread > 0.0 else float("nan")


def _class_counts(linkage: Any, labels_true: Any) -> tuple[Array, NDArray[np.intp], NDArray[np.intp]]:
    """Samples of each class below every node, leaves first; children of the nodes; numbers of the classes."""
    tree = np.asarray(linkage, dtype=np.float64)
    if tree.ndim != 2 or tree.shape[1] != 4:
        raise ValueError(
            f"linkage must have four columns, as scipy.cluster.hierarchy has them; got shape {tree.shape}."
        )
    classes = np.asarray(labels_true, dtype=object)
    missing = int(pd.isna(classes).sum())
    if missing:
        raise ValueError(f"{missing} of {len(classes)} classes in labels_true are missing, and pairs need both.")
    _, codes = np.unique(classes.astype(str), return_inverse=True)
    n = len(codes)
    if len(tree) != n - 1 or n < 2:
        raise ValueError(
            f"A linkage of {len(tree)} merges is a tree of {len(tree) + 1} samples, and labels_true has {n}; two at least."
        )
    children = tree[:, :2].astype(np.intp)
    counts = np.zeros((2 * n - 1, int(codes.max()) + 1))
    counts[np.arange(n), codes] = 1.0
    for i, (a, b) in enumerate(children):
        counts[n + i] = counts[a] + counts[b]
    return counts, children, codes
