"""Consensus of views given their Gram matrices: prior covariances, exact experts for new rows, their combination."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coview.exceptions import NotPositiveDefiniteError, ViewError
from coview.inference._pooling import Pool, PoolingStep, pool_views, project, pull_back
from coview.inference._shares import ViewWeights, rows_without_view
from coview.inference._signed_squares import SignedSquares
from coview.linalg import CholeskyFactor, cholesky

__all__ = ["DenseConsensus", "Experts", "NewGrams", "combine_experts"]


@dataclass(frozen=True)
class NewGrams:
    """Kernel values of new samples.

    Attributes
    ----------
    presence : ndarray of shape (n_new, n_views), dtype=bool
    crosses : sequence of ndarray of shape (n_new with the view, n_training with the view)
    diagonals : sequence of ndarray of shape (n_new with the view,)
    """

    presence: NDArray[np.bool_]
    crosses: Sequence[NDArray[np.float64]]
    diagonals: Sequence[NDArray[np.float64]]


@dataclass(frozen=True)
class Experts:
    """What each view alone says about new samples, before any label.

    Attributes
    ----------
    presence : ndarray of shape (n_new, n_views), dtype=bool
        Views that count: present in the new sample and somewhere in training.
    crosses : ndarray of shape (n_views, n_new, k)
        Prior covariance of ``f_j(x*)`` with the latent function at k training rows; zero where the view is absent.
    covariances : ndarray of shape (n_new, n_views, n_views)
        Prior covariance between the ``f_j(x*)``; zero where absent.
    """

    presence: NDArray[np.bool_]
    crosses: NDArray[np.float64]
    covariances: NDArray[np.float64]


@dataclass(frozen=True)
class DenseConsensus:
    """Prior of the consensus function and of the views' mean, from one Gram matrix per view.

    Labels play no part: one object serves every label set, class and repeat.

    Attributes
    ----------
    grams : sequence of ndarray of shape (n_j, n_j)
        Gram matrix of each view over the samples that have it, in increasing order.
    weights : ViewWeights
    presence : ndarray of shape (n_samples, n_views), dtype=bool
    differentiable : bool, default=False
        Whether what `evidence_gradients` needs is kept: two more matrices per view.
    """

    grams: Sequence[NDArray[np.float64]]
    weights: ViewWeights
    presence: NDArray[np.bool_]
    differentiable: bool = False

    @cached_property
    def rows(self) -> list[NDArray[np.intp]]:
        """Positions of the samples that have each view."""
        return [np.flatnonzero(column) for column in self.presence.T]

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """Views that some sample has (n_views,)."""
        return np.asarray(self.presence.any(axis=0))

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Share of each view in the mean of each sample (n_samples, n_views)."""
        return self.weights.shares(self.presence)

    @cached_property
    def _active(self) -> list[int]:
        """Views that tie samples together: seen, and of finite variance."""
        return [int(j) for j in np.flatnonzero(self.seen & self.weights.finite)]

    @cached_property
    def factors(self) -> list[CholeskyFactor | None]:
        """Cholesky factors of ``K_j + sigma_j^2 I``; None where the variance is infinite or nobody has the view."""
        factors: list[CholeskyFactor | None] = [None] * len(self.grams)
        for j in self._active:
            shifted = np.array(self.grams[j], dtype=np.float64)
            shifted.flat[:: shifted.shape[0] + 1] += self.weights.variances[j]
            hint = f"Raise view_variances of view {j} or check that its kernel is valid."
            factors[j] = cholesky(shifted, name=f"The Gram matrix of view {j} plus its variance", hint=hint)
        return factors

    def precision(self) -> NDArray[np.float64]:
        """``Lambda_c``, the sum over views of ``(K_j + sigma_j^2 I)^{-1}`` on the rows that have the view; O(sum n_j^3)."""
        n = len(self.presence)
        total = np.zeros((n, n))
        for j in self._active:
            inverse = self._factor(j).inverse()
            if self.rows[j].size == n:
                total += inverse
            else:
                total[np.ix_(self.rows[j], self.rows[j])] += inverse
        return total

    @cached_property
    def _pooled(self) -> tuple[Pool, list[PoolingStep]]:
        """Views of finite variance, pooled over the samples that have one."""
        try:
            return self._pool(keep_steps=self.differentiable)
        except NotPositiveDefiniteError:
            _ = self.factors  # an invalid Gram matrix is named before the pool it went into
            raise

    def _pool(self, *, keep_steps: bool) -> tuple[Pool, list[PoolingStep]]:
        grams, rows = [self.grams[j] for j in self._active], [self.rows[j] for j in self._active]
        return pool_views(grams, rows, self.weights.variances[self._active], keep_steps=keep_steps)

    @cached_property
    def white(self) -> NDArray[np.float64]:
        """``1 / W`` (n_samples,), the noise of the consensus about the mean; 0 where no view of finite variance is."""
        total = self.presence @ self.weights.precisions
        return np.asarray(np.divide(1.0, total, out=np.zeros_like(total), where=total > 0.0))

    @property
    def consensus_covariance(self) -> NDArray[np.float64]:
        """``K_c = K_s + diag(1 / W)``, prior covariance of the consensus function (n_samples, n_samples), made anew."""
        empty = rows_without_view(self.presence)
        if empty.size:
            raise ViewError(
                f"Every sample must have a view; row(s) {_few(empty)} have none, so the prior of the consensus is improper "
                "there. Drop these rows, or fit with no_view='prior'."
            )
        if not self.weights.finite[self.seen].all():
            raise ViewError(
                "The consensus function needs finite view variances; use the mean of the views for infinite ones."
            )
        total = self.mean_covariance.copy()
        total.flat[:: len(total) + 1] += self.white
        return total

    @cached_property
    def mean_covariance(self) -> NDArray[np.float64]:
        """``K_s``, prior covariance of the mean that the views imply (n_samples, n_samples).

        Views of finite variance are pooled one by one; those of infinite variance add ``C_j E_j K_j E_j^T C_j``.
        """
        empty = rows_without_view(self.presence)
        if empty.size:
            raise ViewError(
                f"Every sample must have a view; row(s) {_few(empty)} have none, so their mean is undefined. Drop these "
                "rows, or fit with no_view='prior'."
            )
        n = len(self.presence)
        if self._active and self._pooled[0].rows.size == n:
            return self._pooled[0].covariance
        total = np.zeros((n, n))
        if self._active:
            tied = self._pooled[0].rows
            total[np.ix_(tied, tied)] = self._pooled[0].covariance
        for j in (int(view) for view in np.flatnonzero(self.seen & ~self.weights.finite)):
            share = self.shares[self.rows[j], j]
            total[np.ix_(self.rows[j], self.rows[j])] += np.outer(share, share) * self.grams[j]
        return total

    def side_information(self, j: int) -> NDArray[np.float64]:
        """``C_j``, prior covariance of ``f_j`` given that the views agree (n_j, n_j); needs no inverse of ``K_j``."""
        A = self._smoother(j)
        inner = self.consensus_covariance[np.ix_(self.rows[j], self.rows[j])]
        return np.asarray(self.weights.variances[j] * A + A @ inner @ A.T)

    def evidence_gradients(
        self, rows: NDArray[np.intp], Q: SignedSquares, diagonal: float = 0.0
    ) -> Iterator[tuple[int, SignedSquares]]:
        """Derivative of a function of ``K_c`` or ``K_s`` with respect to each ``K_j + sigma_j^2 I``.

        Parameters
        ----------
        rows : ndarray of shape (k,)
        Q : SignedSquares of k columns
            Derivative with respect to ``K_c(rows, rows)``.
        diagonal : float, default=0.0
            Derivative with respect to each diagonal entry of ``K_c``, on top.

        Yields
        ------
        view, gradient : int, SignedSquares of n_j columns
            ``U Q U^T + diagonal U_all U_all^T`` with ``U = Gamma_j E_j^T K_c(:, rows)``, over the samples that a finite view
            ties; for infinite variances with respect to ``K_j``, ``C_j E_j^T (Q + diagonal I) E_j C_j``. Views that nobody has
            are left out.

        Notes
        -----
        The steps of the pooling are taken back, O(k n_j^2) per view, or O(n n_j^2) with a ``diagonal``.
        """
        n = len(self.presence)
        columns = rows
        if diagonal:
            columns = np.arange(n)
            Q = _with_diagonal(Q, rows, diagonal, n)
        p = len(Q.positive)
        stacked = np.vstack([Q.positive, Q.negative])
        if self._active:
            tied, steps = self._kept
            known = np.isin(columns, tied)
            places = np.searchsorted(tied, columns[known])
            for j, factors in pull_back(steps, np.ascontiguousarray(stacked[:, known]), places, tied.size):
                yield self._active[j], SignedSquares(factors[:p], factors[p:])
        for j in (int(view) for view in np.flatnonzero(self.seen & ~self.weights.finite)):
            factors = np.zeros((len(stacked), n))
            factors[:, columns] = stacked * self.shares[columns, j]
            factors = factors[:, self.rows[j]]
            yield j, SignedSquares(factors[:p], factors[p:])

    def experts(self, new: NewGrams, rows: NDArray[np.intp]) -> Experts:
        """What each view says about new rows, against the latent function at training ``rows``.

        Covariances with the consensus function are those with the mean: it is the mean plus noise that no view knows of.
        The first call pools the views once more and keeps the steps, O(n^3); then O(n_new n_j^2) and less per view.
        """
        presence = new.presence & self.seen
        n_new, n_views = presence.shape
        crosses = np.zeros((n_views, n_new, rows.size))
        covariances = np.zeros((n_new, n_views, n_views))
        known: dict[int, list[NDArray[np.float64]]] = {}
        for j in (int(view) for view in np.flatnonzero(presence.any(axis=0))):
            here = np.flatnonzero(presence[:, j])
            covariances[here, j, j] = new.diagonals[j]
            if self.weights.finite[j]:
                tied = np.isin(rows, self._kept[0])
                places = np.searchsorted(self._kept[0], rows[tied])
                known[j], cross = project(self._kept[1], self._active.index(j), new.crosses[j], places)
                crosses[j][np.ix_(here, tied)] = cross
            else:
                labeled = np.isin(rows, self.rows[j])
                places = np.searchsorted(self.rows[j], rows[labeled])
                crosses[j][np.ix_(here, labeled)] = new.crosses[j][:, places] * self.shares[rows[labeled], j]
        for j, left in known.items():
            for k, right in known.items():
                if j <= k:
                    both = presence[:, j] & presence[:, k]
                    mine, theirs = both[presence[:, j]], both[presence[:, k]]
                    shared = sum(_row_products(a, b, mine, theirs) for a, b in zip(left, right, strict=False))
                    covariances[both, j, k] -= shared
                    if j != k:
                        covariances[both, k, j] = covariances[both, j, k]
            covariances[:, j, j] = np.maximum(covariances[:, j, j], 0.0)
        return Experts(presence, crosses, covariances)

    @cached_property
    def _kept(self) -> tuple[NDArray[np.intp], list[PoolingStep]]:
        """Samples that finite views tie, and the steps that pooled them, kept from the first need on."""
        pool, steps = self._pooled
        if len(steps) < len(self._active) - 1:
            steps = self._pool(keep_steps=True)[1]
        return pool.rows, steps

    def _smoother(self, j: int) -> NDArray[np.float64]:
        """``A_j = K_j (K_j + sigma_j^2 I)^{-1}``, symmetric (n_j, n_j)."""
        A = self._factor(j).solve(np.asarray(self.grams[j], dtype=np.float64))
        return 0.5 * (A + A.T)

    def _factor(self, j: int) -> CholeskyFactor:
        factor = self.factors[j]
        if factor is None:
            raise ViewError(f"View {j} has no finite variance or no samples.")
        return factor


def combine_experts(
    covariances: NDArray[np.float64], presence: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Generalized least squares of the views' opinions: the exact consensus at new rows.

    Parameters
    ----------
    covariances : ndarray of shape (n_new, n_views, n_views)
        ``T``, posterior covariance of the views' latent functions at the new row, plus the view variances on the diagonal.
    presence : ndarray of shape (n_new, n_views), dtype=bool
        Each row has a view at least.

    Returns
    -------
    weights : ndarray of shape (n_new, n_views)
        ``T^{-1} 1 / (1^T T^{-1} 1)``, zero for absent views: the consensus is their weighted mean.
    variances : ndarray of shape (n_new,)
        ``1 / (1^T T^{-1} 1)``.
    """
    both = presence[:, :, None] & presence[:, None, :]
    T = np.where(both, covariances, np.eye(presence.shape[1]))
    ones = presence.astype(np.float64)
    solved = np.linalg.solve(T, ones[:, :, None])[:, :, 0] * ones
    total = solved.sum(axis=1)
    return solved / total[:, None], 1.0 / total


def _row_products(
    a: NDArray[np.float64], b: NDArray[np.float64], mine: NDArray[np.bool_], theirs: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Inner products of rows of a and b, of some of them each."""
    if not mine.all():
        a = a[mine]
    if not theirs.all():
        b = b[theirs]
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _with_diagonal(Q: SignedSquares, rows: NDArray[np.intp], diagonal: float, n: int) -> SignedSquares:
    """Q on some of n samples, plus a multiple of the identity on all of them."""
    positive, negative = np.zeros((len(Q.positive), n)), np.zeros((len(Q.negative), n))
    positive[:, rows], negative[:, rows] = Q.positive, Q.negative
    root = np.sqrt(abs(diagonal)) * np.eye(n)
    if diagonal > 0.0:
        return SignedSquares(np.vstack([positive, root]), negative)
    return SignedSquares(positive, np.vstack([negative, root]))


def _few(rows: NDArray[np.intp], limit: int = 5) -> str:
    """The first positions, for a message."""
    text = ", ".join(str(row) for row in rows[:limit])
    return text + (f", ... ({rows.size} in all)" if rows.size > limit else "")
