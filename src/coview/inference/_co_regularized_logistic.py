"""The Gaussian prior of co-regularized logistic regression, in the space of features or in the smaller one of samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances

from coview.exceptions import NotPositiveDefiniteError
from coview.linalg import CholeskyFactor, as_dense, cholesky

__all__ = [
    "LogisticPrior",
    "LogisticViews",
    "PriorPrecisions",
    "factored_precision",
    "gaussian_affinity",
    "weight_precision",
]

Array = NDArray[np.float64]

# Views of fewer features are not worth a change of coordinates.
_NARROW = 32
_SINGULAR = (
    "The posterior precision of the weights must be positive definite; some direction of the weights has neither a label nor a "
    "prior. Give every feature a positive ridge (and intercepts a positive intercept_ridge)."
)


@dataclass(frozen=True)
class PriorPrecisions:
    """The hyper-parameters lambda of the prior.

    Attributes
    ----------
    ridge : ndarray of shape (n_weights,)
        One for each weight.
    agreement : float
        Of squared differences between views.
    smoothness : ndarray of shape (n_views,)
        Of squared differences between similar samples.
    """

    ridge: Array
    agreement: float
    smoothness: Array


def gaussian_affinity(values: Any, variance: float, *, normalized: bool) -> Array:
    r"""Gaussian affinity between the samples of one view, equation (19) of Krishnapuram et al.

    Parameters
    ----------
    values : ndarray or csr_array of shape (n, p)
    variance : float
        :math:`\kappa`, in squared units of the features.
    normalized : bool
        The density :math:`N(x_i \mid x_j, \kappa I)`, or its ratio to that at distance 0.

    Returns
    -------
    affinity : ndarray of shape (n, n)
    """
    squared = euclidean_distances(values, squared=True) if sparse.issparse(values) else _squared_distances(values)
    squared *= -0.5 / variance
    if normalized:
        squared -= 0.5 * values.shape[1] * np.log(2.0 * np.pi * variance)
    return np.asarray(np.exp(squared, out=squared))


def _squared_distances(values: Array) -> Array:
    """By products where rows are long, by differences where they are short, which is exact for close rows far from zero."""
    if values.shape[1] > _NARROW:
        return np.asarray(euclidean_distances(values - values.mean(axis=0), squared=True))
    squared = np.zeros((len(values), len(values)))
    for column in values.T:
        squared += np.square(column[:, None] - column)
    return squared


@dataclass(frozen=True)
class _Coordinates:
    """Coordinates beta of the weights w = T beta, and the features in them.

    For a view of more features than samples ``T = diag(ridge)^{-1} P^T`` with ``P P^T`` in the metric of the ridge equal to the
    identity, so that ``X T`` has as many columns as the rank of X and beta has ridge 1: nothing is lost, as weights outside are
    zero at the mode and independent of all data.
    """

    blocks: tuple[Array, ...]
    lifts: tuple[Array | None, ...]  # P (r_v, d_v); None: the features themselves
    ridge: Array
    feature_ridge: Array

    @cached_property
    def slices(self) -> list[slice]:
        """Where the coordinates of each view stand."""
        ends = np.cumsum([block.shape[1] for block in self.blocks])
        return [slice(end - block.shape[1], end) for end, block in zip(ends, self.blocks, strict=True)]

    @property
    def widths(self) -> list[int]:
        """Number of weights of each view."""
        return [block.shape[1] if P is None else P.shape[1] for block, P in zip(self.blocks, self.lifts, strict=True)]

    def weights(self, beta: Array) -> Array:
        """Weights (d,) of coordinates (r,)."""
        parts = [
            beta[part] if P is None else P.T @ beta[part] / own
            for part, P, own in zip(self.slices, self.lifts, self._ridges(), strict=True)
        ]
        return np.concatenate(parts)

    def coordinates(self, weights: Array) -> Array:
        """The reverse, for weights of the space; others are projected."""
        parts = np.split(weights, np.cumsum(self.widths)[:-1])
        return np.concatenate([w if P is None else P @ w for w, P in zip(parts, self.lifts, strict=True)])

    def _ridges(self) -> list[Array]:
        return np.split(self.feature_ridge, np.cumsum(self.widths)[:-1])


@dataclass(frozen=True)
class LogisticViews:
    """Views of samples for logistic regressions that share a prior.

    Attributes
    ----------
    blocks : tuple of ndarray or csr_array of shape (n_v, d_v)
        Features of the samples that have each view, a constant column among them where there is an intercept.
    rows : tuple of ndarray of shape (n_v,)
        Positions of these samples, in increasing order.
    n_samples : int
    agreeing : ndarray of shape (n_samples,), dtype=bool
        Samples whose views are to agree.
    affinities : tuple of (ndarray of shape (n_v, n_v) or None)
        Of the smoothness of each view.
    """

    blocks: tuple[Any, ...]
    rows: tuple[NDArray[np.intp], ...]
    n_samples: int
    agreeing: NDArray[np.bool_]
    affinities: tuple[Array | None, ...]

    @cached_property
    def widths(self) -> list[int]:
        """Number of weights of each view."""
        return [int(block.shape[1]) for block in self.blocks]

    @cached_property
    def _wide(self) -> list[bool]:
        return [block.shape[1] > max(block.shape[0], _NARROW) for block in self.blocks]

    @cached_property
    def _usable(self) -> tuple[Any, ...]:
        """The blocks, sparse only where they have more features than samples."""
        return tuple(
            block if wide and sparse.issparse(block) else as_dense(block)
            for block, wide in zip(self.blocks, self._wide, strict=True)
        )

    def _coordinates(self, ridge: Array) -> _Coordinates:
        blocks, lifts, ridges = list[Array](), list[Array | None](), list[Array]()
        own = np.split(ridge, np.cumsum(self.widths)[:-1])
        for block, wide, part in zip(self._usable, self._wide, own, strict=True):
            reduced, P = _in_row_space(block, part) if wide and (part > 0.0).all() else (as_dense(block), None)
            blocks.append(reduced)
            lifts.append(P)
            ridges.append(part if P is None else np.ones(len(P)))
        return _Coordinates(tuple(blocks), tuple(lifts), np.concatenate(ridges), ridge)

    def _terms(self, coordinates: _Coordinates) -> tuple[Array, list[Array | None]]:
        """Matrices C and Delta_v of equation (5) in the coordinates; those of the features are made once."""
        if all(P is None for P in coordinates.lifts):
            return self._feature_terms
        return self._new_terms(coordinates.blocks)

    @cached_property
    def _feature_terms(self) -> tuple[Array, list[Array | None]]:
        return self._new_terms(tuple(as_dense(block) for block in self._usable))

    def _new_terms(self, blocks: Sequence[Array]) -> tuple[Array, list[Array | None]]:
        smoothness = [
            None if K is None else _smoothness_matrix(block, K)
            for block, K in zip(blocks, self.affinities, strict=True)
        ]
        return self._agreement_matrix(blocks), smoothness

    @cached_property
    def _shared(self) -> NDArray[np.intp]:
        """How many views each sample has that are to agree with each other (n_samples,); 0 where none are."""
        held = np.zeros(self.n_samples, dtype=np.intp)
        for rows in self.rows:
            held[rows] += 1
        return np.where(self.agreeing & (held > 1), held, 0)

    def _agreement_matrix(self, blocks: Sequence[Array]) -> Array:
        """C of equation (2), over all pairs of views: ``sum_i sum_{a<b} (w_a^T x_ia - w_b^T x_ib)^2 = w^T C w``."""
        shared, kept, places = self._shared, list[Array](), list[NDArray[np.intp]]()
        for block, rows in zip(blocks, self.rows, strict=True):
            here = shared[rows] > 0
            kept.append(block[here])
            places.append(rows[here])
        m = len(blocks)
        parts: list[list[Array]] = [[np.zeros((0, 0))] * m for _ in range(m)]
        for a in range(m):
            parts[a][a] = (kept[a].T * (shared[places[a]] - 1.0)) @ kept[a]
            for b in range(a + 1, m):
                _, at_a, at_b = np.intersect1d(places[a], places[b], assume_unique=True, return_indices=True)
                parts[a][b] = -kept[a][at_a].T @ kept[b][at_b]
                parts[b][a] = parts[a][b].T
        return np.block(parts)

    def values(self, weights: Array) -> list[Array]:
        """``X_v w_v`` of each view (n_v,)."""
        parts = np.split(weights, np.cumsum(self.widths)[:-1])
        return [np.asarray(block @ w) for block, w in zip(self.blocks, parts, strict=True)]

    def disagreement(self, values: Sequence[Array]) -> float:
        """``w^T C w`` from the values of the views."""
        table = np.zeros((self.n_samples, len(values)))
        held = np.zeros(table.shape, dtype=bool)
        for j, (rows, f) in enumerate(zip(self.rows, values, strict=True)):
            table[rows, j], held[rows, j] = f, True
        kept = self._shared > 0
        table, held, count = table[kept], held[kept], self._shared[kept]
        deviations = np.where(held, table - (table.sum(axis=1) / np.maximum(count, 1))[:, None], 0.0)
        return float(count @ np.square(deviations).sum(axis=1))

    def roughness(self, values: Sequence[Array]) -> Array:
        """``w_v^T Delta_v w_v`` of each view (n_views,) from their values; 0 where it has no affinity."""
        rough = np.zeros(len(values))
        for j, (f, K) in enumerate(zip(values, self.affinities, strict=True)):
            if K is not None and f.size:
                f = f - f.mean()
                rough[j] = max(float(K.sum(axis=1) @ np.square(f) - f @ K @ f), 0.0)
        return rough

    def ranks(self) -> tuple[int, NDArray[np.intp]]:
        """Numerical ranks of C and of each Delta_v."""
        # with ridge 1 the coordinates are an isometry, which keeps singular values
        agreement, smoothness = self._terms(self._coordinates(np.ones(sum(self.widths))))
        own = [0 if D is None or not D.any() else int(np.linalg.matrix_rank(D)) for D in smoothness]
        return int(np.linalg.matrix_rank(agreement)) if agreement.any() else 0, np.array(own, dtype=np.intp)

    def prior(self, precisions: PriorPrecisions) -> LogisticPrior:
        """The prior of equation (5)."""
        coordinates = self._coordinates(precisions.ridge)
        agreement, smoothness = self._terms(coordinates)
        part = precisions.agreement * agreement if precisions.agreement else np.zeros_like(agreement)
        for where, D, weight in zip(coordinates.slices, smoothness, precisions.smoothness, strict=True):
            if D is not None and weight:
                part[where, where] += weight * D
        return LogisticPrior(self.rows, self.n_samples, coordinates, part)


@dataclass(frozen=True)
class LogisticPrior:
    """Gaussian prior of the weights of all views, with mean zero.

    Attributes
    ----------
    rows : tuple of ndarray of shape (n_v,)
        Positions of the samples that have each view.
    n_samples : int
    coordinates : object
        In which the weights are sought.
    part : ndarray of shape (r, r)
        The precision in these coordinates, without the ridge.
    """

    rows: tuple[NDArray[np.intp], ...]
    n_samples: int
    coordinates: _Coordinates
    part: Array

    @cached_property
    def precision(self) -> Array:
        """Precision of the coordinates (r, r)."""
        precision = self.part.copy()
        precision.flat[:: len(precision) + 1] += self.coordinates.ridge
        return precision

    def labeled_blocks(self, labeled: NDArray[np.bool_]) -> tuple[list[Array], list[NDArray[np.intp]]]:
        """Features of the labeled samples of each view, in coordinates, and their positions."""
        kept = [labeled[rows] for rows in self.rows]
        blocks = [block[here] for block, here in zip(self.coordinates.blocks, kept, strict=True)]
        return blocks, [rows[here] for rows, here in zip(self.rows, kept, strict=True)]

    def with_likelihood(self, blocks: Sequence[Array], curvatures: Sequence[Array], start: Array) -> Array:
        """``start + blockdiag(X_v^T W_v X_v)``, equation (7)."""
        total = start.copy()
        for where, block, curvature in zip(self.coordinates.slices, blocks, curvatures, strict=True):
            total[where, where] += (block.T * curvature) @ block
        return total


def weight_precision(ridge: Array, part: Array, widths: Sequence[int], lifts: Sequence[Array | None]) -> Array:
    """Precision of the weights from its part in coordinates.

    Parameters
    ----------
    ridge : ndarray of shape (d,)
    part : ndarray of shape (r, r)
        What the ridge lacks of the precision, in the coordinates of a prior.
    widths : sequence of int
        Number of weights of each view.
    lifts : sequence of (ndarray of shape (r_v, d_v) or None)
        ``prior.coordinates.lifts``: the coordinates of each view; None where they are its features.

    Returns
    -------
    precision : ndarray of shape (d, d)
    """
    precision = _lifted(_lifted(part, widths, lifts).T, widths, lifts)
    precision.flat[:: len(precision) + 1] += ridge
    return precision


def _lifted(part: Array, widths: Sequence[int], lifts: Sequence[Array | None]) -> Array:
    """Columns (k, r) of coordinates as columns (k, d) of weights."""
    blocks, start = list[Array](), 0
    for width, P in zip(widths, lifts, strict=True):
        end = start + (width if P is None else len(P))
        blocks.append(part[:, start:end] if P is None else part[:, start:end] @ P)
        start = end
    return np.hstack(blocks)


def factored_precision(precision: Array) -> CholeskyFactor:
    """Cholesky factor of a precision of weights; raises where some direction is left open."""
    factor = cholesky(precision, name="The precision of the weights", max_jitter=0.0, hint=_SINGULAR)
    pivots = np.square(np.diagonal(factor.lower))
    if pivots.size and (pivots <= 8.0 * len(pivots) * np.finfo(np.float64).eps * np.diagonal(precision)).any():
        raise NotPositiveDefiniteError(_SINGULAR)
    return factor


def _smoothness_matrix(block: Array, affinity: Array) -> Array:
    """``Delta = sum_{i>j} K_ij (x_i - x_j)(x_i - x_j)^T``, by the Laplacian of K, which knows no constants."""
    if not len(block):
        return np.zeros((block.shape[1], block.shape[1]))
    centered = block - block.mean(axis=0)
    product = affinity.sum(axis=1)[:, None] * centered - affinity @ centered
    matrix = centered.T @ product
    return np.asarray(0.5 * (matrix + matrix.T))


def _in_row_space(block: Any, ridge: Array) -> tuple[Array, Array]:
    """Features in coordinates of the row space (n, r), and P (r, d): eigenvectors of ``X diag(ridge)^{-1} X^T``."""
    scaled = block.multiply(1.0 / ridge).tocsr() if sparse.issparse(block) else block / ridge
    gram = as_dense(scaled @ block.T)
    values, vectors = np.linalg.eigh(gram)
    kept = values > max(len(gram), 1) * np.finfo(np.float64).eps * max(float(values.max(initial=0.0)), 0.0)
    roots = np.sqrt(values[kept])
    return vectors[:, kept] * roots, np.asarray(block.T @ (vectors[:, kept] / roots)).T
