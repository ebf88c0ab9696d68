"""The kernel of several views once their functions are tied on the samples that have more than one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

from coview.inference._kernel_blocks import KernelBlock, KernelFeatures
from coview.inference._missingness import missingness_patterns
from coview.linalg import CholeskyFactor, as_dense, cholesky, conjugate_gradients

__all__ = ["ITERATIVE_FROM", "LARGEST_SYSTEM", "TiedKernels"]

Array = NDArray[np.float64]

# Largest order of a dense system: 3.2 GB for each matrix of it.
LARGEST_SYSTEM = 20_000
# Order from which systems of linear kernels are solved by products with the features, which are faster then.
ITERATIVE_FROM = 8_000
_NAME = "The system of the views"


@dataclass(frozen=True)
class TiedKernels:
    r"""Functions of several views whose norm also counts how much they differ.

    .. math:: \sum_v \gamma_v \|f_v\|^2 + \frac{\gamma_C}{n} \sum_{v<w} \sum_{i\ \mathrm{with\ both}} (f_v(x_i) - f_w(x_i))^2

    is a squared norm of :math:`(f_1, \ldots, f_m)` with a kernel of its own between (sample, view) pairs. What the views should
    be fitted to needs that kernel between labeled pairs only, which is found once for any loss.

    Attributes
    ----------
    kernels : sequence of KernelValues or KernelFeatures
        Of each view, between the samples that have it.
    presence : ndarray of bool, shape (n_samples, n_views)
    labeled : ndarray of bool, shape (n_samples,)
    ridge : ndarray of shape (n_views,)
        :math:`\gamma_v > 0`.
    coupling : float
        :math:`\gamma_C \ge 0`.
    agreeing : ndarray of bool, shape (n_samples,), default=None
        Samples on which the functions are tied; None for all.

    Notes
    -----
    With G the kernels over :math:`\gamma_v`, side by side, and T a row for each of the k - 1 contrasts between the k views of a
    sample, the kernel is :math:`G - G T^\top (I + T G T^\top)^{-1} T G`, one symmetric positive definite system with an unknown
    per contrast (n for two views), however singular the kernels are. Where all kernels are linear with fewer features p in all,
    it is :math:`X (I + X^\top T^\top T X)^{-1} X^\top` with X the features: O(n p^2 + p^3). Where both are large but
    all kernels are linear, conjugate gradients need products with the features only.
    """

    kernels: Sequence[KernelBlock]
    presence: NDArray[np.bool_]
    labeled: NDArray[np.bool_]
    ridge: Array
    coupling: float
    agreeing: NDArray[np.bool_] | None = None

    @cached_property
    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Labeled (sample, view) pairs, view by view: number of the labeled sample, and view (n_pairs,) each."""
        view, sample = np.nonzero(self.presence[self.labeled].T)
        return sample, view

    @cached_property
    def covariance(self) -> Array:
        """Kernel between labeled pairs (n_pairs, n_pairs)."""
        if self.in_features:
            return np.asarray(self.factor @ self.factor.T)
        between, solved = self._tied
        reduced = self._products(self._label_parts, self._label_parts) - between.T @ solved
        return np.asarray(0.5 * (reduced + reduced.T))

    @cached_property
    def factor(self) -> Array:
        """F with F F' that kernel (n_pairs, n_features), where all kernels are linear and narrow."""
        return self._feature_factor.half_solve(self.label_features.T).T

    @cached_property
    def in_features(self) -> bool:
        """Whether the features of all views are fewer than the contrasts, or than the labeled pairs."""
        n_pairs = len(self.pairs[0])
        bearable = ITERATIVE_FROM if n_pairs <= ITERATIVE_FROM else LARGEST_SYSTEM
        return bool(self.n_features < max(self.ties.shape[0], n_pairs) and self.n_features <= bearable)

    @property
    def n_features(self) -> float:
        """Of all views; infinite where a kernel is known by its values."""
        return sum(block.n_features if isinstance(block, KernelFeatures) else np.inf for block in self.kernels)

    def weights(self, pulls: Array) -> Array:
        """Weights of the features over the roots of the ridges (n_features, k), for coefficients over the labeled pairs."""
        return self._feature_factor.solve(self.label_features.T @ pulls)

    def by_view(self, weights: Array) -> list[Array]:
        """Weights of the features of each view (p_v, k)."""
        return [w / np.sqrt(ridge) for w, ridge in zip(self._split(weights), self.ridge, strict=True)]

    def expansion(self, pulls: Array, weights: Array | None) -> list[Array]:
        """Coefficients over the samples of each view (n_v, k), for those over the labeled pairs and, in features, weights."""
        if weights is None:
            return self._expansion(pulls, self._tied[1] @ pulls)
        parts = zip(self._tie_features, self._split(weights), strict=True)
        return self._expansion(pulls, sum(A @ w - np.outer(c, right @ w) for (A, c, right), w in parts))

    def _expansion(self, pulls: Array, tied: Any) -> list[Array]:
        """From coefficients over the labeled pairs and the ties."""
        parts = zip(self._label_parts, self._tie_parts, self.ridge, strict=True)
        return [np.asarray((labels.T @ pulls - ties.T @ tied) / ridge) for labels, ties, ridge in parts]

    def reached(self, weights: Array) -> NDArray[np.bool_]:
        """Views that a label reaches, by their own weight or through samples shared with such views (n_views,)."""
        own = self.presence[self.labeled].any(axis=0) & (weights > 0.0)
        tied = self._tied_presence
        shared = (tied.T.astype(np.float64) @ tied) * (self.coupling > 0.0)
        _, group = connected_components(sparse.csr_array(shared), directed=False)
        return np.asarray(np.isin(group, group[own]))

    @cached_property
    def ties(self) -> sparse.csr_array:
        """Contrasts between the views of each sample, weighted (n_ties, sum of n_v)."""
        n, m = self.presence.shape
        place = np.cumsum(self.presence, axis=0) - 1 + self._offsets[:-1]
        values, columns = [np.zeros(0)], [np.zeros(0, dtype=np.intp)]
        counts = [np.zeros(0, dtype=np.intp)]
        for pattern in missingness_patterns(self._tied_presence) if self.coupling > 0.0 and m > 1 else []:
            k = len(pattern.observed)
            if k > 1:
                contrasts = np.sqrt(self.coupling / n * k) * _helmert(k)
                values.append(np.tile(contrasts.ravel(), len(pattern.rows)))
                mine = place[np.ix_(pattern.rows, pattern.observed)]
                columns.append(np.repeat(mine[:, None], k - 1, axis=1).ravel())
                counts.append(np.full(len(pattern.rows) * (k - 1), k))
        ends = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
        parts = (np.concatenate(values), np.concatenate(columns), ends)
        return sparse.csr_array(parts, shape=(len(ends) - 1, self._offsets[-1]))

    @property
    def _tied_presence(self) -> NDArray[np.bool_]:
        """Views of each sample, none where the functions need not agree."""
        return self.presence if self.agreeing is None else self.presence & self.agreeing[:, None]

    @cached_property
    def _offsets(self) -> NDArray[np.intp]:
        return np.concatenate([[0], np.cumsum(self.presence.sum(axis=0))])

    @cached_property
    def _tie_parts(self) -> list[sparse.csr_array]:
        return self._parts(self.ties)

    @cached_property
    def _label_parts(self) -> list[sparse.csr_array]:
        """Selection of the labeled pairs."""
        places = np.flatnonzero(np.concatenate([self.labeled[has] for has in self.presence.T]))
        ones, ends = np.ones(len(places)), np.arange(len(places) + 1)
        return self._parts(sparse.csr_array((ones, places, ends), shape=(len(places), self._offsets[-1])))

    def _parts(self, rows: sparse.csr_array) -> list[sparse.csr_array]:
        """The columns of each view."""
        columns = rows.tocsc()
        return [columns[:, self._offsets[v] : self._offsets[v + 1]].tocsr() for v in range(len(self.ridge))]

    @cached_property
    def _tied(self) -> tuple[Array, Array]:
        """``T G`` at the labeled pairs, and its solution by ``I + T G T'`` (n_ties, n_pairs) each."""
        iterative = self.n_features < np.inf and self.ties.shape[0] > ITERATIVE_FROM
        if not iterative:
            _check_order(self.ties.shape[0], "ties between views")
        _check_order(len(self.pairs[0]), "labels by view")
        between = self._products(self._tie_parts, self._label_parts)
        if iterative:
            return between, conjugate_gradients(self._system_times, between, name=_NAME)
        system = self._products(self._tie_parts, self._tie_parts)
        system.flat[:: len(system) + 1] += 1.0
        return between, cholesky(system, name=_NAME).solve(between)

    def _system_times(self, vectors: Array) -> Array:
        """``(I + T G T') vectors``."""
        parts = zip(self._tie_parts, self.kernels, self.ridge, strict=True)
        return np.asarray(vectors + sum(T @ block.times(T.T @ vectors) / ridge for T, block, ridge in parts))

    def _products(self, left: list[sparse.csr_array], right: list[sparse.csr_array]) -> Array:
        """``left G right^T``."""
        total = np.zeros((left[0].shape[0], right[0].shape[0]))
        for v, ridge in enumerate(self.ridge):
            # A contrast or a label has one entry at most in the columns of a view.
            rows, columns = (np.flatnonzero(np.diff(part[v].indptr)) for part in (left, right))
            there = self.kernels[v].between(left[v].indices, right[v].indices) * (left[v].data / ridge)[:, None]
            there *= right[v].data
            if there.shape == total.shape:
                total += there
            else:
                total[np.ix_(rows, columns)] += there
        return total

    @cached_property
    def _tie_features(self) -> list[tuple[Any, Array, Array]]:
        """Contrasts of the features of each view, over the root of its ridge: ``A - c w'`` as (A, c, w)."""
        return [self._features(part, v) for v, part in enumerate(self._tie_parts)]

    @cached_property
    def label_features(self) -> Array:
        """Features of the labeled pairs, those of each view beside the others' (n_pairs, n_features)."""
        return np.asarray(linalg.block_diag(*self._label_blocks))

    @cached_property
    def _label_blocks(self) -> list[Array]:
        """Features of the labeled samples of each view (n_labeled_v, p_v), over the root of its ridge."""
        blocks = []
        for v, part in enumerate(self._label_parts):
            A, c, w = self._features(part[np.diff(part.indptr) > 0], v)
            dense = as_dense(A)
            blocks.append(dense - np.outer(c, w) if w.any() else dense)
        return blocks

    def labeled_system(self, prices: Array) -> Array:
        """`feature_system` with a price on the square of each labeled pair's value (n_features, n_features)."""
        system, start, pair = self.feature_system.copy(), 0, 0
        for block in self._label_blocks:
            priced = np.sqrt(prices[pair : pair + len(block)])[:, None] * block
            end = start + block.shape[1]
            system[start:end, start:end] += priced.T @ priced
            start, pair = end, pair + len(block)
        return system

    def _features(self, rows: sparse.csr_array, v: int) -> tuple[Any, Array, Array]:
        block: Any = self.kernels[v]
        scale = np.sqrt(self.ridge[v])
        return rows @ block.rows / scale, rows @ block.left, block.right / scale

    @cached_property
    def feature_system(self) -> Array:
        """``I + X' T' T X`` (n_features, n_features); only its lower triangle counts."""
        parts = self._tie_features
        ends = np.cumsum([0, *(len(w) for _, _, w in parts)])
        _check_order(int(ends[-1]), "features of the views")
        system = np.zeros((ends[-1], ends[-1]))
        for v, one in enumerate(parts):
            for w in range(v + 1):
                system[ends[v] : ends[v + 1], ends[w] : ends[w + 1]] = _crossed(one, parts[w])
        system.flat[:: len(system) + 1] += 1.0
        return system

    @cached_property
    def _feature_factor(self) -> CholeskyFactor:
        return cholesky(self.feature_system, name=_NAME)

    def _split(self, weights: Array) -> list[Array]:
        widths = [len(w) for _, _, w in self._tie_features]
        return np.split(weights, np.cumsum(widths)[:-1])


def _crossed(one: tuple[Any, Array, Array], other: tuple[Any, Array, Array]) -> Array:
    """``(A - c w')' (B - d u')``."""
    (A, c, w), (B, d, u) = one, other
    product = as_dense(A.T @ B)
    if u.any():
        product -= np.outer(A.T @ d - w * (c @ d), u)
    return product - np.outer(w, B.T @ c) if w.any() else product


def _check_order(order: int, what: str) -> None:
    if order > LARGEST_SYSTEM:
        raise ValueError(
            f"{order} {what} lead to a dense system of that order, {8e-9 * order**2:.0f} GB for each matrix of it; the limit is "
            f"{LARGEST_SYSTEM}. Leave some samples out, or use linear kernels on fewer features."
        )


def _helmert(k: int) -> Array:
    """Orthonormal contrasts of k values (k - 1, k)."""
    rows = np.tril(np.ones((k - 1, k)))
    position = np.arange(1, k)
    rows[position - 1, position] = -position
    return np.asarray(rows / np.sqrt(position * (position + 1.0))[:, None])
