"""Functions of several views, drawn together on the samples that have both: least squares and hinge losses, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coview.inference._missingness import missingness_patterns
from coview.inference._quadratic_program import DenseCurvature, solve_box_program
from coview.linalg import CholeskyFactor, cholesky

__all__ = ["CoRegularizedViews", "ViewCoefficients"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ViewCoefficients:
    r"""Functions :math:`f_v(x) = \sum_i a_v[i] k_v(x, x_i)`.

    Attributes
    ----------
    dual : list of ndarray of shape (n_v,) or (n_v, n_targets)
        :math:`a_v`, over the samples that have the view.
    values : list of ndarray of the same shapes
        :math:`f_v` at them.
    objective : float or ndarray of shape (n_targets,)
    """

    dual: list[Array]
    values: list[Array]
    objective: Any


@dataclass(frozen=True)
class CoRegularizedViews:
    r"""Views, each with a kernel, whose functions are to fit labels and one another.

    The functions minimize

    .. math:: \sum_v \frac{\mu_v}{l} \sum_{i\ \mathrm{labeled}} V(y_i, f_v(x_i)) + \sum_v \gamma_v \|f_v\|^2
              + \frac{\gamma_C}{n} \sum_{v<w} \sum_{i\ \mathrm{with\ both}} (f_v(x_i) - f_w(x_i))^2

    Attributes
    ----------
    grams : sequence of ndarray of shape (n_v, n_v), or None
        Kernel values between the samples that have view v. None: linear kernels on ``features``.
    features : sequence of (ndarray or sparse matrix) of shape (n_v, p_v), or None
        With linear kernels: their rows, for a solution with one unknown per feature.
    presence : ndarray of bool, shape (n_samples, n_views)
    labeled : ndarray of bool, shape (n_samples,)
    view_weights, ridge : ndarray of shape (n_views,)
        :math:`\mu_v \ge 0` and :math:`\gamma_v > 0`.
    coupling : float
        :math:`\gamma_C \ge 0`.

    Notes
    -----
    All terms but the norms are squares of ``rows @ f``: a row for each view of a labeled sample, and k - 1 contrasts for a
    sample with k views. With G the kernels over :math:`\gamma_v`, side by side, one symmetric positive definite system of
    that many unknowns is left, :math:`(I + C G C^\top) z = d`, however singular the kernels are; O((n m)^2) memory, for two
    views O(n^2).
    """

    grams: Sequence[Array] | None
    features: Sequence[Any] | None
    presence: NDArray[np.bool_]
    labeled: NDArray[np.bool_]
    view_weights: Array
    ridge: Array
    coupling: float

    def least_squares(self, targets: Array) -> ViewCoefficients:
        """Squared loss. ``targets`` (n_samples, n_targets); those of unlabeled samples are not read."""
        label_rows = [self._label_rows(v) * np.sqrt(self._label_weight(v)) for v in range(len(self.ridge))]
        rows = sparse.vstack([self.ties, *label_rows], format="csr")
        wanted = [np.zeros((self.ties.shape[0], targets.shape[1]))]
        for v in range(len(self.ridge)):
            wanted.append(np.sqrt(self._label_weight(v)) * targets[self._labeled_with(v)])
        aims = np.concatenate(wanted)
        solved = self._solve(self._parts(rows), aims)
        return self._coefficients(self._parts(rows), solved, (aims * solved).sum(axis=0))

    def hinge(self, signs: Array, *, tol: float, max_iter: int) -> ViewCoefficients:
        """Hinge loss for signs (n_samples,) of -1 and 1; those of unlabeled samples are not read."""
        selected = [self._label_rows(v) for v in range(len(self.ridge))]
        labels = sparse.vstack(selected, format="csr")
        signs = np.concatenate([signs[self._labeled_with(v)] for v in range(len(self.ridge))])
        limits = np.concatenate([np.full(rows.shape[0], self._label_weight(v)) for v, rows in enumerate(selected)])
        ties, label_parts = self._parts(self.ties), self._parts(labels)
        between = self._products(ties, label_parts)
        half = self._tie_factor.half_solve(between)
        covariance = self._products(label_parts, label_parts) - half.T @ half
        program = solve_box_program(
            DenseCurvature(0.5 * covariance * np.outer(signs, signs)),
            -np.ones(len(signs)),
            limits,
            tol=tol,
            max_iter=max_iter,
        )
        pulls = 0.5 * (signs * program.x)[:, None]
        rows = sparse.vstack([self.ties, labels], format="csr")
        solved = np.concatenate([-self._tie_factor.solve(between @ pulls), pulls])
        found = self._coefficients(self._parts(rows), solved, None)
        return ViewCoefficients([a[:, 0] for a in found.dual], [f[:, 0] for f in found.values], -program.objective)

    @cached_property
    def ties(self) -> sparse.csr_array:
        """Contrasts between the views of each sample, weighted (n_ties, sum of n_v)."""
        n, m = self.presence.shape
        offsets = np.concatenate([[0], np.cumsum(self.presence.sum(axis=0))])
        place = np.cumsum(self.presence, axis=0) - 1 + offsets[:-1]
        values, columns = [np.zeros(0)], [np.zeros(0, dtype=np.intp)]
        counts = [np.zeros(0, dtype=np.intp)]
        if self.coupling > 0.0 and m > 1:
            for pattern in missingness_patterns(self.presence):
                k = len(pattern.observed)
                if k > 1:
                    contrasts = np.sqrt(self.coupling / n * k) * _helmert(k)
                    values.append(np.tile(contrasts.ravel(), len(pattern.rows)))
                    mine = place[np.ix_(pattern.rows, pattern.observed)]
                    columns.append(np.repeat(mine[:, None], k - 1, axis=1).ravel())
                    counts.append(np.full(len(pattern.rows) * (k - 1), k))
        ends = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
        parts = (np.concatenate(values), np.concatenate(columns), ends)
        return sparse.csr_array(parts, shape=(len(ends) - 1, offsets[-1]))

    @cached_property
    def _tie_factor(self) -> CholeskyFactor:
        ties = self._parts(self.ties)
        return cholesky(np.eye(self.ties.shape[0]) + self._products(ties, ties), name="The system of the views")

    def _labeled_with(self, v: int) -> NDArray[np.bool_]:
        return np.asarray(self.labeled & self.presence[:, v])

    def _label_weight(self, v: int) -> float:
        return float(self.view_weights[v] / max(self.labeled.sum(), 1))

    def _label_rows(self, v: int) -> sparse.csr_array:
        """Selection of the labeled samples of one view (n_labeled_v, sum of n_v)."""
        offsets = np.concatenate([[0], np.cumsum(self.presence.sum(axis=0))])
        mine = np.flatnonzero(self.labeled[self.presence[:, v]]) + offsets[v]
        ones, ends = np.ones(len(mine)), np.arange(len(mine) + 1)
        return sparse.csr_array((ones, mine, ends), shape=(len(mine), offsets[-1]))

    def _parts(self, rows: sparse.csr_array) -> list[sparse.csr_array]:
        """The columns of each view."""
        offsets = np.concatenate([[0], np.cumsum(self.presence.sum(axis=0))])
        return [rows[:, offsets[v] : offsets[v + 1]] for v in range(len(self.ridge))]

    def _times_kernel(self, v: int, vectors: Any) -> Array:
        """Kernel of view v times columns (n_v, k)."""
        if self.grams is not None:
            return np.asarray(self.grams[v] @ vectors)
        block = self.features[v]  # type: ignore[index]
        product = block @ (block.T @ vectors)
        return product.toarray() if sparse.issparse(product) else np.asarray(product)

    def _products(self, left: list[sparse.csr_array], right: list[sparse.csr_array]) -> Array:
        """``left G right^T`` with G the kernels over the ridges."""
        total = np.zeros((left[0].shape[0], right[0].shape[0]))
        for v, ridge in enumerate(self.ridge):
            if right[v].nnz and left[v].nnz:
                total += left[v] @ (self._times_kernel(v, right[v].T.tocsc()) / ridge)
        return total

    def _solve(self, parts: list[sparse.csr_array], aims: Array) -> Array:
        """``(I + C G C^T)^{-1} aims``, in the smaller of two spaces."""
        if self.features is not None and sum(block.shape[1] for block in self.features) < len(aims):
            scaled = [C @ X / np.sqrt(ridge) for C, X, ridge in zip(parts, self.features, self.ridge, strict=True)]
            design = np.hstack([part.toarray() if sparse.issparse(part) else np.asarray(part) for part in scaled])
            inner = design.T @ design
            inner.flat[:: len(inner) + 1] += 1.0
            factor = cholesky(inner, name="The system of the views")
            return np.asarray(aims - design @ factor.solve(design.T @ aims))
        outer = self._products(parts, parts)
        outer.flat[:: len(outer) + 1] += 1.0
        return cholesky(outer, name="The system of the views").solve(aims)

    def _coefficients(self, parts: list[sparse.csr_array], solved: Array, objective: Any) -> ViewCoefficients:
        dual = [C.T @ solved / ridge for C, ridge in zip(parts, self.ridge, strict=True)]
        return ViewCoefficients(dual, [self._times_kernel(v, a) for v, a in enumerate(dual)], objective)


def _helmert(k: int) -> Array:
    """Orthonormal contrasts of k values (k - 1, k)."""
    rows = np.tril(np.ones((k - 1, k)))
    position = np.arange(1, k)
    rows[position - 1, position] = -position
    return np.asarray(rows / np.sqrt(position * (position + 1.0))[:, None])
