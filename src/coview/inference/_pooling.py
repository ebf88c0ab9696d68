"""Views pooled one after another: the covariance of the mean that they imply, and derivatives through it.

A view is a Gaussian function plus noise of its variance. Asking two of them to agree conditions both on a difference of zero,
and leaves ``f = m + e``: a mean of the two functions, ``m``, and noise that is independent of it. So the pooled views are one
more such view, and the next is pooled with it. Nothing is inverted, and no view needs to have all samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coview.exceptions import NotPositiveDefiniteError
from coview.linalg import (
    JITTER_SHARES,
    factor_lower_in_place,
    half_solve_rows,
    mirror_upper,
    subtract_row_products,
)

__all__ = ["Pool", "PoolingStep", "pool_views", "project", "pull_back"]

# Rows per pass over a large matrix: what stays in a processor's cache.
_STRIP = 64
# Rows per product of matrices: enough to take BLAS's full speed.
_PRODUCT_ROWS = 256


@dataclass(frozen=True)
class Pool:
    """Views pooled so far.

    Attributes
    ----------
    rows : ndarray of shape (k,)
        Samples that have one of them, in increasing order.
    covariance : ndarray of shape (k, k), C-ordered
        Prior covariance of their mean.
    precisions : ndarray of shape (k,)
        Summed precisions of the views that each sample has; ``1 / precisions`` is the variance of the noise.
    """

    rows: NDArray[np.intp]
    covariance: NDArray[np.float64]
    precisions: NDArray[np.float64]


@dataclass(frozen=True)
class PoolingStep:
    """One view pooled with those before it; positions count in the union of their samples.

    Attributes
    ----------
    view : int
    before, added : ndarray of intp
        Where the samples of the pool before, and those of the view, stand in the union (k,).
    here, there : ndarray of shape (o,)
        Where the samples of both stand among those of the pool before, and among those of the view.
    shares, new_shares : ndarray of shape (k,)
        The mean as a sum: so much of the mean before, so much of the view.
    lower : ndarray of shape (o, o)
        Cholesky factor L of the covariance of the difference at the samples of both.
    half_gains : ndarray of shape (k, o)
        ``X L^{-T}`` for the covariance X of the mean with the difference.
    """

    view: int
    before: NDArray[np.intp]
    added: NDArray[np.intp]
    here: NDArray[np.intp]
    there: NDArray[np.intp]
    shares: NDArray[np.float64]
    new_shares: NDArray[np.float64]
    lower: NDArray[np.float64]
    half_gains: NDArray[np.float64]


@dataclass(frozen=True)
class _Blend:
    """How the mean at the samples of both is written (o,).

    ``m = u m_before + v f - d e`` with ``u + v = 1`` and e the noise of the difference, of variance tau: every u is true once
    the difference is zero. The u of the least prior variance is taken, so that a view of large values, or of large noise,
    takes no digits from the other.
    """

    u: NDArray[np.float64]
    v: NDArray[np.float64]
    d: NDArray[np.float64]
    noise: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        noise_before: NDArray[np.float64],
        variance: float,
        before: NDArray[np.float64],
        own: NDArray[np.float64],
        jitter: float,
    ) -> _Blend:
        """From the noise of the pool and of the view and the diagonals of their covariances; e has the jitter too."""
        noise = noise_before + variance
        share, new_share = variance / noise, noise_before / noise
        before, own = np.maximum(before, 0.0), np.maximum(own, 0.0)
        if jitter:
            noise = noise + jitter * float(np.mean(before + own + noise))
        d = (share * before - new_share * own) / (before + own + noise)
        return cls(share - d, new_share + d, d, noise)


def pool_views(
    grams: Sequence[NDArray[np.float64]],
    rows: Sequence[NDArray[np.intp]],
    variances: NDArray[np.float64],
    *,
    keep_steps: bool = False,
) -> tuple[Pool, list[PoolingStep]]:
    """Pool views of finite variance; the largest is taken first.

    Parameters
    ----------
    grams : sequence of ndarray of shape (n_j, n_j)
    rows : sequence of ndarray of shape (n_j,)
        Samples that have each view, in increasing order.
    variances : ndarray of shape (n_views,)
        View variances.
    keep_steps : bool, default=False
        Whether to give the steps, which hold two matrices each.

    Returns
    -------
    pool : Pool
    steps : list of PoolingStep
        Empty without ``keep_steps``.

    Raises
    ------
    NotPositiveDefiniteError
        If the difference of views has an indefinite covariance at the largest jitter.

    Notes
    -----
    With o samples of both, k of either: time ``o^3 / 3 + o^2 k + o k^2`` per view, half of the products by symmetry. Memory
    beside the Gram matrices: two (k, k) matrices where all have the same samples, else those of (o, o) and (k, o) and the
    result. Exact for any mixture of scales: the error is that of the smaller covariance.
    """
    for j, gram in enumerate(grams):
        if not np.isfinite(gram).all():
            raise NotPositiveDefiniteError(f"The Gram matrix of view {j} must be finite; it holds NaN or infinity.")
    order = sorted(range(len(grams)), key=lambda j: -rows[j].size)
    for share in JITTER_SHARES:
        try:
            return _pool_in_order(order, grams, rows, variances, share, keep_steps)
        except NotPositiveDefiniteError as caught:
            failure = caught
    raise failure


def _pool_in_order(
    order: Sequence[int],
    grams: Sequence[NDArray[np.float64]],
    rows: Sequence[NDArray[np.intp]],
    variances: NDArray[np.float64],
    jitter: float,
    keep_steps: bool,
) -> tuple[Pool, list[PoolingStep]]:
    first = order[0]
    pool = Pool(rows[first], np.array(grams[first], order="C"), np.full(rows[first].size, 1.0 / variances[first]))
    steps = []
    for j in order[1:]:
        if keep_steps or not np.array_equal(rows[j], pool.rows):
            pool, step = _pool_overlapping(pool, j, grams[j], rows[j], float(variances[j]), jitter)
            if keep_steps:
                steps.append(step)
            del step  # its matrices are not needed beside those of the next
        else:
            pool = _pool_alike(pool, j, grams[j], float(variances[j]), jitter)
    return pool, steps


def _pool_alike(pool: Pool, view: int, gram: NDArray[np.float64], variance: float, jitter: float) -> Pool:
    """Pool a view of the same samples within the matrix of the pool and one more.

    Triangles are used apart: the difference is factored below the diagonal, the mean is updated on and above it.
    """
    covariance = pool.covariance
    ours, theirs = np.diagonal(covariance), np.diagonal(gram)
    blend = _Blend.of(1.0 / pool.precisions, variance, ours, theirs, jitter)
    u, v = blend.u, blend.v
    gains = np.empty_like(covariance)
    diagonal = np.square(u) * ours + np.square(v) * theirs + np.square(blend.d) * blend.noise
    for strip in _strips(len(gram)):
        before, own = covariance[strip], gram[strip]
        np.multiply(before, u[strip, None], out=gains[strip])
        gains[strip] -= own * v[strip, None]
        mean = before[:, strip.start :] * (u[strip, None] * u[strip.start :])
        mean += own[:, strip.start :] * (v[strip, None] * v[strip.start :])
        before[:, : strip.stop] += own[:, : strip.stop]
        square = before[:, strip]
        before[:, strip.stop :] = mean[:, len(square) :]
        square[...] = np.tril(square) + np.triu(mean[:, : len(square)], 1)
    covariance.flat[:: len(gram) + 1] += blend.noise
    gains.flat[:: len(gram) + 1] -= blend.d * blend.noise
    _factor(covariance, view)
    half_solve_rows(covariance, gains)
    covariance.flat[:: len(gram) + 1] = diagonal
    subtract_row_products(covariance, gains)
    return Pool(pool.rows, mirror_upper(covariance), pool.precisions + 1.0 / variance)


def _pool_overlapping(
    pool: Pool, view: int, gram: NDArray[np.float64], rows: NDArray[np.intp], variance: float, jitter: float
) -> tuple[Pool, PoolingStep]:
    """Pool a view of other samples; those of one side only keep their mean there and learn through their covariances."""
    union = np.union1d(pool.rows, rows)
    shared, here, there = np.intersect1d(pool.rows, rows, assume_unique=True, return_indices=True)
    before, added, both = (np.searchsorted(union, part) for part in (pool.rows, rows, shared))
    covariance = pool.covariance
    ours, theirs = np.diagonal(covariance)[here], np.diagonal(gram)[there]
    blend = _Blend.of(1.0 / pool.precisions[here], variance, ours, theirs, jitter)
    shares, new_shares = np.zeros(union.size), np.zeros(union.size)
    shares[before], new_shares[added] = 1.0, 1.0
    shares[both], new_shares[both] = blend.u, blend.v

    lower = covariance[np.ix_(here, here)]
    lower += gram[np.ix_(there, there)]
    lower.flat[:: here.size + 1] += blend.noise
    _factor(lower, view)
    gains = np.zeros((union.size, here.size))
    for strip in _strips(pool.rows.size):
        gains[before[strip]] = covariance[strip].take(here, axis=1) * shares[before[strip], None]
    for strip in _strips(rows.size):
        gains[added[strip]] -= gram[strip].take(there, axis=1) * new_shares[added[strip], None]
    gains[both, np.arange(both.size)] -= blend.d * blend.noise
    half_solve_rows(lower, gains)

    if union.size > pool.rows.size:
        covariance = np.zeros((union.size, union.size))
        covariance[np.ix_(before, before)] = pool.covariance
    # only what is on and above the diagonal counts from here on
    for strip in _strips(union.size):
        covariance[strip, strip.start :] *= shares[strip, None] * shares[strip.start :]
    for strip in _strips(rows.size):
        own = gram[strip, strip.start :] * new_shares[added[strip.start :]]
        own *= new_shares[added[strip], None]
        covariance[added[strip, None], added[strip.start :]] += own
    covariance[both, both] += np.square(blend.d) * blend.noise
    mirror_upper(subtract_row_products(covariance, gains))
    precisions = np.zeros(union.size)
    precisions[before] = pool.precisions
    precisions[added] += 1.0 / variance
    step = PoolingStep(view, before, added, here, there, shares, new_shares, lower, gains)
    return Pool(union, covariance, precisions), step


def _strips(n: int) -> Iterator[slice]:
    """Slices of some rows each."""
    return (slice(start, min(start + _STRIP, n)) for start in range(0, n, _STRIP))


def _factor(matrix: NDArray[np.float64], view: int) -> None:
    if info := factor_lower_in_place(matrix):
        raise NotPositiveDefiniteError(
            f"The covariance of the difference of view {view} and the views before it must be positive definite; it is not at "
            f"row {info - 1}. Raise view_variances or check that the kernels are valid."
        )


def pull_back(
    steps: Sequence[PoolingStep], rows: NDArray[np.float64], columns: NDArray[np.intp], size: int
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Factors of derivatives, from the pooled covariance back to every view.

    Parameters
    ----------
    steps : sequence of PoolingStep
    rows : ndarray of shape (p, n_columns)
        V where the derivative of a function with respect to the pooled covariance is ``V^T V``, or a signed sum of such.
    columns : ndarray of shape (n_columns,)
        Positions among the pooled samples; the derivative is zero elsewhere.
    size : int
        Number of pooled samples.

    Yields
    ------
    view, rows : int, ndarray of shape (p, n_j)
        The same for the Gram matrix of each view plus its variance, last pooled first.

    Notes
    -----
    With Z the gains, ``V (v + Z)`` for the view and ``V (u - Z)`` for the pool before; O(p k o + p o^2) per view.
    """
    full = np.zeros((len(rows), size))
    full[:, columns] = rows
    for place, step in enumerate(reversed(steps)):
        gains = _product(rows, _picked(step.half_gains.T, columns).T) if place == 0 else full @ step.half_gains
        half_solve_rows(step.lower, gains, transposed=True)
        own = _picked(full, step.added) * step.new_shares[step.added]
        _add(own, step.there, gains)
        yield step.view, own
        full = _picked(full, step.before) * step.shares[step.before]
        _add(full, step.here, np.negative(gains, out=gains))
    yield _first(steps), full


def _picked(matrix: NDArray[np.float64], columns: NDArray[np.intp]) -> NDArray[np.float64]:
    """Columns in increasing order; the matrix itself where they are all."""
    return matrix if columns.size == matrix.shape[1] else matrix.take(columns, axis=1)


def _add(matrix: NDArray[np.float64], columns: NDArray[np.intp], part: NDArray[np.float64]) -> None:
    """Add to columns in increasing order, without an index where they are all."""
    if columns.size == matrix.shape[1]:
        matrix += part
    else:
        matrix[:, columns] += part


def _product(rows: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """``rows @ matrix``; blocks of rows that end in zeros, as those of a triangle do, take less."""
    result = np.empty((len(rows), matrix.shape[1]))
    for start in range(0, len(rows), _PRODUCT_ROWS):
        block = slice(start, start + _PRODUCT_ROWS)
        used = np.flatnonzero(rows[block].any(axis=0))
        width = int(used[-1]) + 1 if used.size else 0
        np.matmul(rows[block, :width], matrix[:width], out=result[block])
    return result


def project(
    steps: Sequence[PoolingStep], view: int, cross: NDArray[np.float64], columns: NDArray[np.intp]
) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
    """New values of a view's function against what pooling has asked of the training samples.

    Parameters
    ----------
    steps : sequence of PoolingStep
    view : int
    cross : ndarray of shape (n_new, n_j)
        Kernel values of the view between new samples and its training samples.
    columns : ndarray of shape (n_columns,)
        Positions among the pooled samples.

    Returns
    -------
    known : list of ndarray of shape (n_new, o)
        Per step, from the last to the first that the view has part in: the covariance with the difference there, whitened.
        Prior covariances of new values less the products of these are those once the views have been asked to agree.
    covariances : ndarray of shape (n_new, n_columns)
        With the mean of the pooled views at the columns, once they have.

    Notes
    -----
    O(n_new o (o + 2 k)) per step; the last one, whose mean is wanted at the columns only, O(n_new o (o + 2 n_columns)).
    """
    known: list[NDArray[np.float64]] = []
    current = cross if view == _first(steps) else None  # covariance with the mean of the views so far
    for step in steps:
        if current is None and step.view != view:
            continue
        spread = np.zeros((len(cross), step.shares.size))
        if current is None:
            whitened = -cross.take(step.there, axis=1)
            spread[:, step.added] = cross * step.new_shares[step.added]
        else:
            whitened = current.take(step.here, axis=1)
            spread[:, step.before] = current * step.shares[step.before]
        known.insert(0, half_solve_rows(step.lower, whitened))
        if step is steps[-1]:
            current = spread.take(columns, axis=1) - whitened @ step.half_gains[columns].T
        else:
            current = spread
            current -= whitened @ step.half_gains.T
    if current is None:
        raise ValueError(f"View {view} is not among the pooled ones.")
    return known, current if steps else current.take(columns, axis=1)


def _first(steps: Sequence[PoolingStep]) -> int:
    """The view that no step pooled with others."""
    return sum(range(len(steps) + 1)) - sum(step.view for step in steps)
