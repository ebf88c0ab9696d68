"""Patterns of few rows taken together: those with equally many observed features go through one stack of factors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coview.inference._gaussian_conditionals import condition_components
from coview.inference._missingness import MissingnessPattern
from coview.linalg import half_solve_rows

__all__ = ["PatternStack", "StackedComponents", "pattern_stacks"]

Array = NDArray[np.float64]

# A pattern with fewer observed values than this is worth less than the calls that it costs by itself.
_FEW_VALUES = 8192
# Numbers in one stack of matrices, for each component.
_STACK_SIZE = 1 << 17
# Up to this order, forward substitution in all matrices at once beats one call for each.
_SMALL_ORDER = 8
_LOG_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class PatternStack:
    """Patterns of G sets of o observed features, each with up to r rows; shorter ones are padded.

    Attributes
    ----------
    rows : ndarray of int of shape (G, r)
        Positions in the table; 0 where padded.
    valid : ndarray of shape (G, r)
        1 for rows, 0 for padding.
    values : ndarray of shape (G, r, o)
        Observed values; 0 for padding.
    observed, missing : ndarray of int of shape (G, o), (G, m)
    """

    rows: NDArray[np.intp]
    valid: Array
    values: Array
    observed: NDArray[np.intp]
    missing: NDArray[np.intp]


def pattern_stacks(
    patterns: Sequence[MissingnessPattern], values: Sequence[Array]
) -> tuple[list[int], list[PatternStack]]:
    """Patterns that stay by themselves, by position, and stacks of the others.

    Parameters
    ----------
    patterns : sequence of MissingnessPattern
    values : sequence of ndarray of shape (n_rows, n_observed)
        Observed values of each.

    Returns
    -------
    single : list of int
        Of many rows, or with nothing observed.
    stacks : list of PatternStack
    """
    single = [k for k, part in enumerate(values) if not part.shape[1] or part.size >= _FEW_VALUES]
    few = sorted(set(range(len(values))) - set(single), key=lambda k: (values[k].shape[1], len(values[k]), k))
    stacks, members = [], list[int]()
    for k in few:
        if members and not _fits(values[members[0]], values[k], len(members), len(patterns[k].missing)):
            stacks.append(_stack(members, patterns, values))
            members = []
        members.append(k)
    if members:
        stacks.append(_stack(members, patterns, values))
    return single, stacks


def _fits(first: Array, part: Array, n_members: int, n_missing: int) -> bool:
    """Whether a pattern has as many features as the first of a stack, not many more rows, and room in it."""
    n_features = part.shape[1] + n_missing
    size = (n_members + 1) * n_features * (len(part) + n_features)
    return part.shape[1] == first.shape[1] and len(part) <= 2 * len(first) and size <= _STACK_SIZE


def _stack(members: Sequence[int], patterns: Sequence[MissingnessPattern], values: Sequence[Array]) -> PatternStack:
    depth = max(len(values[k]) for k in members)
    rows = np.zeros((len(members), depth), dtype=np.intp)
    valid = np.zeros((len(members), depth))
    table = np.zeros((len(members), depth, values[members[0]].shape[1]))
    for g, k in enumerate(members):
        size = len(values[k])
        rows[g, :size], valid[g, :size], table[g, :size] = patterns[k].rows, 1.0, values[k]
    observed = np.stack([patterns[k].observed for k in members])
    return PatternStack(rows, valid, table, observed, np.stack([patterns[k].missing for k in members]))


class StackedComponents:
    """All components given the patterns of a stack.

    Parameters
    ----------
    stack : PatternStack
    means : ndarray of shape (n_components, n_features)
    covariances : ndarray of shape (n_components, n_features, n_features)
    """

    def __init__(self, stack: PatternStack, means: Array, covariances: Array) -> None:
        self.stack, self.means, self.covariances = stack, means, covariances
        self.lower = self._factors()  # (n_components, G, o, o)
        self._deviations = np.where(
            stack.valid[:, :, None] > 0.0, stack.values - means[:, stack.observed][:, :, None], 0.0
        )

    def _factors(self) -> Array:
        """Cholesky factors of the observed blocks, scaled to unit diagonal before they are factored."""
        stack = self.stack
        blocks = self.covariances[:, stack.observed[:, :, None], stack.observed[:, None, :]]
        variances = np.einsum("kgii->kgi", blocks)
        if (variances > 0.0).all():
            scales = np.sqrt(variances)
            blocks /= scales[..., None, :]
            blocks /= scales[..., :, None]
            try:
                return np.asarray(np.linalg.cholesky(blocks) * scales[..., :, None])
            except np.linalg.LinAlgError:
                pass  # one by one, where jitter helps or an error says which it is
        given = [
            condition_components(self.means, self.covariances, observed, missing)
            for observed, missing in zip(stack.observed, stack.missing, strict=True)
        ]
        return np.stack([[part.lower for part in parts] for parts in zip(*given, strict=True)])

    @property
    def size(self) -> int:
        """Numbers held."""
        return self.lower.size + self._deviations.size + self._solved.size

    @cached_property
    def _solved(self) -> Array:
        """``L^{-1}`` of deviations and of cross covariances, (n_components, G, r + m, o): one solve for both steps."""
        cross = self.covariances[:, self.stack.missing[:, :, None], self.stack.observed[:, None, :]]
        return _half_solve(self.lower, np.concatenate([self._deviations, cross], axis=2))

    def add_log_densities(self, log_densities: Array) -> None:
        """Add the log density of the observed features of each row to what stands there, (n_components, n_rows)."""
        whitened = self._solved[:, :, : self.stack.values.shape[1]]
        peaks = -np.log(np.einsum("kgii->kgi", self.lower)).sum(axis=2) - 0.5 * _LOG_TWO_PI * self.lower.shape[2]
        own = peaks[:, :, None] - 0.5 * np.einsum("kgri,kgri->kgr", whitened, whitened)
        there = self.stack.valid > 0.0
        log_densities[:, self.stack.rows[there]] += own[:, there]

    def moments(self, responsibilities: Array) -> tuple[Array, Array, Array]:
        """Expected moments of the completed rows.

        Parameters
        ----------
        responsibilities : ndarray of shape (n_components, n_rows)

        Returns
        -------
        counts : ndarray of shape (n_components,)
        shifts : ndarray of shape (n_components, n_features)
            Means as shifts from the old means.
        scatters : ndarray of shape (n_components, n_features, n_features)
            About these means.
        """
        weights = responsibilities[:, self.stack.rows] * self.stack.valid  # (n_components, G, r)
        completed, scatters = self._completed(weights.sum(axis=2))
        weights, completed = weights.reshape(len(weights), -1), completed.reshape(len(weights), -1, self.means.shape[1])
        counts = weights.sum(axis=1)
        shares = weights / np.where(counts > 0.0, counts, 1.0)[:, None]
        shifts = (shares[:, None] @ completed)[:, 0]
        completed -= shifts[:, None]
        completed *= np.sqrt(weights)[:, :, None]
        for scatter, rows in zip(scatters, completed, strict=True):
            scatter += rows.T @ rows
        return counts, shifts, scatters

    def _completed(self, counts: Array) -> tuple[Array, Array]:
        r"""Completed rows as deviations from the old means (n_components, G, r, p), and the sums of their covariances.

        With :math:`L^{-1}` of both deviations and cross covariances, ``z`` and ``H``, the missing part is ``H z``, and its
        covariance :math:`\Sigma_{mm} - H H^T`.
        """
        stack, deviations = self.stack, self._deviations
        n_components, depth, n_features = len(self.means), deviations.shape[2], self.means.shape[1]
        square = stack.missing[:, :, None], stack.missing[:, None, :]
        whitened, half = self._solved[:, :, :depth], self._solved[:, :, depth:]
        completed = np.empty((n_components, len(stack.rows), depth, n_features))
        g, r = np.arange(len(stack.rows))[:, None, None], np.arange(depth)[None, :, None]
        completed[:, g, r, stack.observed[:, None]] = deviations
        completed[:, g, r, stack.missing[:, None]] = whitened @ half.mT
        covariances = self.covariances[:, square[0], square[1]] - half @ half.mT
        covariances *= counts[:, :, None, None]
        places = (square[0] * n_features + square[1]).ravel()
        sums = [np.bincount(places, part.ravel(), minlength=n_features**2) for part in covariances]
        return completed, np.array(sums, dtype=np.float64).reshape(n_components, n_features, n_features)


def _half_solve(lower: Array, rows: Array) -> Array:
    """``L^{-1} x`` for rows x (n_components, G, n, o) of each pattern; new arrays."""
    order = lower.shape[-1]
    if order > _SMALL_ORDER:
        solved = np.array(rows, order="C")
        for place in np.ndindex(lower.shape[:2]):
            half_solve_rows(lower[place], solved[place])
        return solved
    columns = np.array(np.moveaxis(rows, -1, 0), order="C")  # (o, n_components, G, n)
    for i in range(order):
        if i:
            columns[i] -= np.einsum("jkgn,kgj->kgn", columns[:i], lower[:, :, i, :i])
        columns[i] /= lower[:, :, i, i, None]
    return np.moveaxis(columns, 0, -1)
