"""Expected values over all pairs of rows with missing features: by pair of patterns, or many small patterns at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coview.kernels._expected_rows import ExpectedRows, RowStack, count_rows, one_thread_where_small
from coview.linalg import mirror_upper

__all__ = ["PairValue", "expected_pairs"]

# Patterns of at most so many rows are met in stacks, where numpy loops over pairs of patterns; others pair by pair.
_FEW_ROWS = 4
# Pairs of patterns per stacked call: few enough to stay in cache, and to be alike in how much is missing.
_BATCH = 32
# Numbers that padded covariances may hold.
_STACK_NUMBERS = 8_000_000


class PairValue(Protocol):
    """Kernel whose expected value splits into observed features and those that one of the two rows misses.

    All arrays have a leading axis of pairs. ``outside`` is what :meth:`between` gives for the features that both rows
    have. ``X`` and ``Y`` are conditional means of the other ones, ``P`` and ``Q`` the conditional covariances.
    """

    def between(self, X: NDArray[np.float64], Y: NDArray[np.float64]) -> NDArray[np.float64]:
        """What features without uncertainty contribute: (pairs, n, s), (pairs, m, s) -> (pairs, n, m)."""

    def values(
        self,
        outside: NDArray[np.float64],
        X: NDArray[np.float64],
        P: NDArray[np.float64],
        Y: NDArray[np.float64],
        Q: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Expected values for one component of each side: (pairs, n, s), (pairs, s, s), ... -> (pairs, n, m)."""


def expected_pairs(
    value: PairValue, left: Sequence[ExpectedRows], right: Sequence[ExpectedRows] | None = None
) -> NDArray[np.float64]:
    """Expected kernel values between two sets of rows, every pair as two different objects.

    Parameters
    ----------
    value : PairValue
    left, right : sequence of ExpectedRows
        Together they hold each row once; ``right=None`` takes left with itself and computes half of the pairs.

    Returns
    -------
    K : ndarray of shape (n_left, n_right)
        Symmetric if ``right`` is None, its diagonal that of two independent draws.
    """
    symmetric = right is None
    right = left if right is None else right
    K = np.empty((count_rows(left), count_rows(right)))
    if not K.size:
        return K
    few_left, many_left = _split(left)
    few_right, many_right = _split(right)
    with one_thread_where_small(left[0].means.shape[2]):
        _pair_by_pair(value, many_left, many_right, K, symmetric=symmetric)
        _pair_by_pair(value, many_left, few_right, K, mirrored=symmetric)
        if not symmetric:
            _pair_by_pair(value, few_left, many_right, K)
        _in_stacks(value, few_left, few_right, K, symmetric=symmetric)
    return mirror_upper(K) if symmetric else K


def _split(parts: Sequence[ExpectedRows]) -> tuple[list[ExpectedRows], list[ExpectedRows]]:
    """Patterns of few rows, by what they miss, and the others."""
    few = [part for part in parts if len(part.rows) <= _FEW_ROWS]
    return sorted(few, key=lambda part: len(part.missing)), [part for part in parts if len(part.rows) > _FEW_ROWS]


def _pair_by_pair(
    value: PairValue,
    left: Sequence[ExpectedRows],
    right: Sequence[ExpectedRows],
    K: NDArray[np.float64],
    *,
    symmetric: bool = False,
    mirrored: bool = False,
) -> None:
    """Fill the blocks of all pairs of patterns, or of each pair once."""
    for i, one in enumerate(left):
        for other in right[i:] if symmetric else right:
            block = _block(value, one, other)
            K[np.ix_(one.rows, other.rows)] = block
            if mirrored or (symmetric and other is not one):
                K[np.ix_(other.rows, one.rows)] = block.T


def _block(value: PairValue, one: ExpectedRows, other: ExpectedRows) -> NDArray[np.float64]:
    """Expected values between the rows of two patterns, (n_one, n_other)."""
    union = np.union1d(one.missing, other.missing)
    shared = np.setdiff1d(np.arange(one.means.shape[2]), union, assume_unique=True)
    outside = value.between(one.means[:1, :, shared], other.means[:1, :, shared])[0]
    P, Q = _widened(one, union), _widened(other, union)
    if not len(union):
        return np.asarray(value.values(outside[None], one.means[:, :, union], P, other.means[:, :, union], Q)[0])
    block = np.zeros(outside.shape)
    others = [other.active(b) for b in range(len(Q))]
    for a in range(len(P)):
        here = one.active(a)
        X = one.means[a][np.ix_(here, union)]
        for b, there in enumerate(others):
            if not len(here) or not len(there):
                continue
            where = np.ix_(here, there)
            Y = other.means[b][np.ix_(there, union)]
            part = value.values(outside[where][None], X[None], P[a : a + 1], Y[None], Q[b : b + 1])[0]
            block[where] += one.weights[a, here, None] * part * other.weights[b, there]
    return block


def _widened(part: ExpectedRows, features: NDArray[np.intp]) -> NDArray[np.float64]:
    """Conditional covariances over features that include the missing ones, (n_components, s, s)."""
    wide = np.zeros((len(part.covariances), len(features), len(features)))
    own = np.searchsorted(features, part.missing)
    wide[:, own[:, None], own] = part.covariances
    return wide


def _in_stacks(
    value: PairValue,
    left: Sequence[ExpectedRows],
    right: Sequence[ExpectedRows],
    K: NDArray[np.float64],
    *,
    symmetric: bool,
) -> None:
    """Fill the pairs of patterns with few rows: one of them against a batch of the others at a time."""
    if not left or not right:
        return
    p, depth = right[0].means.shape[2], max(len(part.weights) for part in right)
    step = max(1, _STACK_NUMBERS // (depth * max(p, 1) ** 2))
    for start in range(0, len(right), step):
        stack = RowStack.of(right[start : start + step])
        for i, one in enumerate(left):
            first = max(0, i - start) if symmetric else 0
            if first < len(stack.rows):
                _against_stack(value, one, stack, np.arange(first, len(stack.rows)), K, mirrored=symmetric)


def _against_stack(
    value: PairValue,
    one: ExpectedRows,
    stack: RowStack,
    others: NDArray[np.intp],
    K: NDArray[np.float64],
    *,
    mirrored: bool,
) -> None:
    """Fill the pairs of one pattern with some patterns of a stack."""
    missing = stack.missing[others]
    missing[:, one.missing] = True
    widths = missing.sum(axis=1)
    order = np.argsort(widths, kind="stable")
    others, missing, widths = others[order], missing[order], widths[order]
    full = RowStack.of([one])
    for start in range(0, len(others), _BATCH):
        batch = slice(start, start + _BATCH)
        # features that one of the two misses come first; up to the widest pair, others fill the rest with certainty
        features = np.argsort(~missing[batch], axis=1, kind="stable")
        values = _stack_values(value, full, stack, others[batch], features, int(widths[batch].max()))
        rows = stack.rows[others[batch]]
        there = np.broadcast_to(rows[:, None, :], values.shape)
        here = np.broadcast_to(one.rows[None, :, None], values.shape)
        known = there >= 0
        K[here[known], there[known]] = values[known]
        if mirrored:
            K[there[known], here[known]] = values[known]


def _stack_values(
    value: PairValue,
    one: RowStack,
    stack: RowStack,
    others: NDArray[np.intp],
    features: NDArray[np.intp],
    width: int,
) -> NDArray[np.float64]:
    """Expected values of one pattern with a batch of others, (n_others, n_rows, n_rows of the others)."""
    uncertain, certain = features[:, :width], features[:, width:]
    # what both have is the same for every component
    outside = value.between(
        one.means[0, 0].T[certain].transpose(0, 2, 1),
        np.take_along_axis(stack.means[others, 0], certain[:, None, :], axis=2),
    )  # (n_others, n_rows, n_rows of the others)
    components = np.flatnonzero(one.counts[0])
    owners, partners = np.nonzero(stack.counts[others])  # one entry per component that counts
    X, P = _gathered(one, np.zeros(len(others), dtype=np.intp), components[:, None], uncertain)
    Y, Q = _gathered(stack, others[owners], partners, uncertain[owners])
    shape = (len(components), len(owners))
    terms = value.values(
        _flat(outside[owners], shape),
        _flat(X[:, owners], shape),
        _flat(P[:, owners], shape),
        _flat(Y, shape),
        _flat(Q, shape),
    ).reshape(*shape, *outside.shape[1:])
    total = np.einsum("abij,ai->bij", terms, one.weights[0, components])
    total *= stack.weights[others[owners], partners][:, None, :]
    # every pattern has a component that counts, so no group is empty
    return np.asarray(np.add.reduceat(total, np.searchsorted(owners, np.arange(len(others))), axis=0))


def _gathered(
    stack: RowStack, patterns: NDArray[np.intp], components: NDArray[np.intp], features: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means and covariances of components over some features each, (..., n_rows, s) and (..., s, s)."""
    p, s = stack.means.shape[3], features.shape[1]
    places = patterns * stack.means.shape[1] + components  # (...,), positions among all components of all patterns
    cells = (features[:, :, None] * p + features[:, None, :]).reshape(len(features), s * s)
    # `take` from one flat array is several times faster than indexing by three arrays
    covariances = stack.covariances.ravel().take(places[..., None] * (p * p) + cells)
    rows = places[..., None] * stack.means.shape[2] + np.arange(stack.means.shape[2])
    means = stack.means.ravel().take(rows[..., None] * p + features[:, None, :])
    return means, covariances.reshape(*places.shape, s, s)


def _flat(values: NDArray[np.float64], shape: tuple[int, int]) -> NDArray[np.float64]:
    """Values of all pairs of components along one axis, repeated where they do not depend on the first one."""
    rest = values.shape[-2:]
    return np.broadcast_to(values, (*shape, *rest)).reshape(shape[0] * shape[1], *rest)
