"""Support vector machines of several views whose outputs are tied: the dual program of SVM-2K and its structured solve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from coview.inference._quadratic_program import Curvature, DenseCurvature, FactoredCurvature, solve_box_program
from coview.linalg import cholesky, incomplete_cholesky

__all__ = ["TiedMachines", "TiedSolution"]

Array = NDArray[np.float64]

# Programs up to this size are solved as they are, with less rounding; larger ones through their structure.
_DENSE = 600
# Kernel matrices whose ranks sum to at most this share of their rows enter by factors.
_LOW_RANK = 0.3
# A residual of this share is rounding.
_SOLVED = 1e-14
# Corrections of a solution by its residual: diagonals span many powers of ten near the end of the interior point method.
_REFINEMENTS = 2


@dataclass(frozen=True)
class TiedSolution:
    r"""Functions :math:`f_v(x) = \sum_i a_v[i] k_v(x, x_i) + b_v`.

    Attributes
    ----------
    dual : list of ndarray of shape (n_v,)
        :math:`a_v`, over the samples that have the view.
    intercepts : ndarray of shape (n_views,)
        :math:`b_v`; NaN for a view of which no label says anything.
    objective : float
        Of the primal program.
    n_iter : int
        Steps of the interior point method, over all programs.
    """

    dual: list[Array]
    intercepts: Array
    objective: float
    n_iter: int


@dataclass(frozen=True)
class TiedMachines:
    r"""A support vector machine per view, with a linear price on the outputs of two views that differ.

    The functions minimize

    .. math:: \sum_v \tfrac12 \|w_v\|^2 + \sum_v C_v \sum_{i\ \mathrm{labeled}} (1 - y_i f_v(x_i))_+
              + D \sum_{v<w} \sum_{i\ \mathrm{with\ both}} (|f_v(x_i) - f_w(x_i)| - \epsilon)_+

    Attributes
    ----------
    grams : sequence of ndarray of shape (n_v, n_v)
        Kernel values between the samples that have view v.
    presence : ndarray of bool, shape (n_samples, n_views)
    costs : ndarray of shape (n_views,)
        :math:`C_v \ge 0`.
    tie : float
        :math:`D \ge 0`.
    epsilon : float
        :math:`\epsilon \ge 0`.

    Notes
    -----
    With two views and labels for all, SVM-2K [1]_. The dual has one variable per label and view and two per sample and pair
    of views, which enter the objective only through the coefficients :math:`a_v`: a step of the interior point method factors
    one matrix with a row per sample and view, O((n m)^3 / 3) time and O((n m)^2) memory; where the ranks r of the kernel
    matrices are small together, as of linear kernels of few features, O(n m r^2) and O(n m r). Views that no chain of ties joins
    are solved apart. Where the labels that such views meet are of one class, the constant of that class has no loss, and no norm.

    References
    ----------
    .. [1] J. Farquhar, D. Hardoon, H. Meng, J. Shawe-Taylor, S. Szedmak, "Two view learning: SVM-2K, theory and practice",
       NIPS 18, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import TiedMachines
    >>> x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> machines = TiedMachines([x @ x.T, x @ x.T], np.ones((4, 2), dtype=bool), np.ones(2), 1.0, 0.0)
    >>> solution = machines.solve(np.array([-1.0, -1.0, 1.0, 1.0]), np.ones(4, dtype=bool))
    >>> [float((x.T @ a).round(6)[0]) for a in solution.dual], abs(solution.intercepts).round(6).tolist()
    ([1.0, 1.0], [0.0, 0.0])
    """

    grams: Sequence[Array]
    presence: NDArray[np.bool_]
    costs: Array
    tie: float
    epsilon: float

    def solve(
        self, signs: Array, labeled: NDArray[np.bool_], *, tol: float = 1e-10, max_iter: int = 100
    ) -> TiedSolution:
        """Solve for labels.

        Parameters
        ----------
        signs : ndarray of shape (n_samples,)
            -1 and 1; those of unlabeled samples are not read. Unlabeled samples are in the ties only.
        labeled : ndarray of bool, shape (n_samples,)
        tol : float, default=1e-10
            Largest gap and residuals of the program, relative.
        max_iter : int, default=100
            Steps of the interior point method.

        Returns
        -------
        solution : TiedSolution

        Warns
        -----
        ConvergenceWarning
            If the steps were not enough.
        """
        dual = [np.zeros(len(gram)) for gram in self.grams]
        intercepts, objective, n_iter = np.full(len(self.grams), np.nan), 0.0, 0
        for group in self._groups:
            met = self.presence[:, group[self.costs[group] > 0.0]].any(axis=1) & labeled
            classes = np.unique(signs[met])
            if len(classes) == 1:
                intercepts[group] = classes[0]
            elif len(classes) == 2:
                program = self._group(group).program(signs, labeled)
                solved = program.solve(self.epsilon, tol, max_iter)
                objective, n_iter = objective + solved.objective, n_iter + solved.n_iter
                intercepts[group] = solved.intercepts
                for v, a in zip(group, solved.dual, strict=True):
                    dual[v] = a
        return TiedSolution(dual, intercepts, objective, n_iter)

    @property
    def _groups(self) -> list[NDArray[np.intp]]:
        """Views joined by ties."""
        shared = (self.presence.T.astype(float) @ self.presence) * (self.tie > 0.0)
        count, group = connected_components(sparse.csr_array(shared), directed=False)
        return [np.flatnonzero(group == g) for g in range(count)]

    @cached_property
    def factors(self) -> list[Array] | None:
        """Factors (n_v, rank) of the kernel matrices, where they are of low rank; None where not."""
        left = int(_LOW_RANK * sum(map(len, self.grams)))
        found = []
        for K in self.grams:
            factor = _exact_factor(K, left)
            if factor is None:
                return None
            found.append(factor)
            left -= factor.shape[1]
        return found

    def _group(self, views: NDArray[np.intp]) -> TiedMachines:
        if len(views) == len(self.grams):
            return self
        return TiedMachines(
            [self.grams[v] for v in views], self.presence[:, views], self.costs[views], self.tie, self.epsilon
        )

    def program(self, signs: Array, labeled: NDArray[np.bool_]) -> _Program:
        """The dual program: which rows its variables belong to."""
        m = len(self.grams)
        losses = [np.flatnonzero(labeled & self.presence[:, v] & (self.costs[v] > 0.0)) for v in range(m)]
        pairs = [(v, w) for v, w in combinations(range(m), 2) if self.tie > 0.0]
        ties = [np.flatnonzero(self.presence[:, v] & self.presence[:, w]) for v, w in pairs]
        return _Program(self, signs, losses, pairs, ties)


@dataclass(frozen=True)
class _Program:
    """Variables: alpha of each view and label, then beta+ and beta- of each pair of views and sample."""

    machines: TiedMachines
    signs: Array
    losses: list[NDArray[np.intp]]
    pairs: list[tuple[int, int]]
    ties: list[NDArray[np.intp]]

    def solve(self, epsilon: float, tol: float, max_iter: int) -> TiedSolution:
        """By the interior point method; intercepts are multipliers of the equations ``sum(a_v) = 0``."""
        n_alpha, n_beta = sum(map(len, self.losses)), 2 * sum(map(len, self.ties))
        costs = np.repeat(self.machines.costs, [len(rows) for rows in self.losses])
        upper = np.concatenate([costs, np.full(n_beta, self.machines.tie)])
        c = np.concatenate([-np.ones(n_alpha), np.full(n_beta, epsilon)])
        mixing = np.eye(len(self.losses))
        mixing[0] = 1.0  # ties cancel in the sum over views, which tells the common part of the intercepts apart
        program = solve_box_program(
            self._curvature, c, upper, equations=mixing @ self._sums.toarray(), tol=tol, max_iter=max_iter
        )
        dual = np.split(self._map @ program.x, self._offsets[1:-1])
        intercepts = -mixing.T @ program.multipliers if self.pairs else np.array([self._middle_intercept(dual[0])])
        return TiedSolution(dual, intercepts, -program.objective, program.n_iter)

    @property
    def _curvature(self) -> Curvature:
        """``S^T K S`` in the form that is the fastest to solve."""
        if self._map.shape[1] <= _DENSE:
            return DenseCurvature(self._curved(self._map.toarray()))
        factors = self.machines.factors
        if factors is None:
            return self
        return FactoredCurvature(np.asarray((self._map.T @ sparse.block_diag(factors, format="csr")).toarray()))

    def _middle_intercept(self, a: Array) -> float:
        """Of one machine alone: the middle of all that have the least loss, one unless every label is at a bound.

        The loss falls by one label less from one :math:`y_i - f(x_i)` to the next, and is flat after as many as are positive.
        """
        samples = self.losses[0]
        signs = self.signs[samples]
        kinks = np.sort(signs - (self.machines.grams[0] @ a)[self._place[samples, 0]])
        n_positive = int((signs > 0.0).sum())
        return float(0.5 * (kinks[n_positive - 1] + kinks[n_positive]))

    def times(self, x: Array) -> Array:
        """``S^T K S x``."""
        return self._curved(self._map @ x)

    def plus(self, diagonal: Array) -> Callable[[Array], Array]:
        r"""Solver of :math:`S^\top K S + \Theta`.

        With :math:`S \Theta^{-1} S^\top = V V^\top`, sample by sample, the coefficients :math:`g = S x` are
        :math:`V (I + V^\top K V)^{-1} V^{-1} S \Theta^{-1} r`, and :math:`x = \Theta^{-1} (r - S^\top K g)`.
        """
        inverse = 1.0 / diagonal
        root = self._root(inverse)
        V = self._spread(root)
        factor = cholesky(self._inner(root), name="The matrix of the tied machines")
        weights = inverse[:, None]

        def once(r: Array) -> Array:
            g = V @ factor.solve(self._unmixed(root, self._map @ (weights * r)))
            return np.asarray(weights * (r - self._curved(g)))

        def solve(r: Array) -> Array:
            x = once(r)
            for _ in range(_REFINEMENTS):
                rest = r - diagonal[:, None] * x - self._curved(self._map @ x)
                if np.abs(rest).max() <= _SOLVED * np.abs(r).max():
                    break
                x = x + once(rest)
            return x

        return solve

    def _inner(self, root: Array) -> Array:
        r""":math:`I + V^\top K V`, its lower triangle, view by view and block by block of V."""
        inner = np.eye(int(self._offsets[-1]))
        for v, K in enumerate(self.machines.grams):
            samples = np.flatnonzero(self.machines.presence[:, v])
            parts = []  # of the columns of V that belong to each view up to this one
            for u in range(v + 1):
                used = np.flatnonzero(root[samples, v, u])
                at = self._place[samples[used], u]
                parts.append((_run(used), _run(at), root[samples[used], v, u]))
            for u, (mine, rows, scale) in enumerate(parts):
                for other, columns, factor in parts[: u + 1]:
                    block = K[mine][:, other] * factor
                    block *= scale[:, None]
                    if isinstance(rows, slice) and isinstance(columns, slice):
                        inner[rows, columns] += block
                    else:
                        inner[np.ix_(self._numbers[rows], self._numbers[columns])] += block
        return inner

    @cached_property
    def _numbers(self) -> NDArray[np.intp]:
        return np.arange(int(self._offsets[-1]))

    def _curved(self, g: Array) -> Array:
        """``S^T K g``."""
        parts = np.split(g, self._offsets[1:-1])
        return np.asarray(
            self._map.T @ np.concatenate([K @ a for K, a in zip(self.machines.grams, parts, strict=True)])
        )

    @cached_property
    def _offsets(self) -> NDArray[np.intp]:
        return np.concatenate([[0], np.cumsum(self.machines.presence.sum(axis=0))])

    @cached_property
    def _place(self) -> NDArray[np.intp]:
        """Position of each sample and view among the coefficients (n_samples, n_views)."""
        return np.asarray(np.cumsum(self.machines.presence, axis=0) - 1 + self._offsets[:-1], dtype=np.intp)

    @cached_property
    def _map(self) -> Any:
        """S: coefficients from variables (sum of n_v, n_variables)."""
        rows, columns, values = [], [], []
        start = 0
        for v, samples in enumerate(self.losses):
            rows.append(self._place[samples, v])
            columns.append(start + np.arange(len(samples)))
            values.append(self.signs[samples])
            start += len(samples)
        for (v, w), samples in zip(self.pairs, self.ties, strict=True):
            for sign in (-1.0, 1.0):
                for view, direction in ((v, sign), (w, -sign)):
                    rows.append(self._place[samples, view])
                    columns.append(start + np.arange(len(samples)))
                    values.append(np.full(len(samples), direction))
                start += len(samples)
        entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        return sparse.csr_array(entries, shape=(int(self._offsets[-1]), start))

    @cached_property
    def _sums(self) -> Any:
        """Sum of the coefficients of each view, from variables."""
        of_view = np.repeat(np.arange(len(self.losses)), np.diff(self._offsets))
        ones = np.ones(len(of_view))
        adder = sparse.csr_array((ones, (of_view, np.arange(len(of_view)))), shape=(len(self.losses), len(of_view)))
        return adder @ self._map

    def _root(self, inverse: Array) -> Array:
        r"""Lower triangular V of each sample, :math:`V V^\top = S \Theta^{-1} S^\top` (n_samples, n_views, n_views).

        The matrix is a graph Laplacian of the views with ties as edges, plus the losses on its diagonal: it is eliminated
        view by view on edges and losses, which stay positive, without a subtraction.
        """
        n, m = self.machines.presence.shape
        own, edges = np.zeros((n, m)), np.zeros((n, m, m))
        parts = np.split(inverse, np.cumsum([*map(len, self.losses), *np.repeat([*map(len, self.ties)], 2)])[:-1])
        for v, samples in enumerate(self.losses):
            own[samples, v] = parts[v]
        for k, ((v, w), samples) in enumerate(zip(self.pairs, self.ties, strict=True)):
            both = parts[m + 2 * k] + parts[m + 2 * k + 1]
            edges[samples, v, w] = edges[samples, w, v] = both
        root = np.zeros((n, m, m))
        for v in range(m):
            later = slice(v + 1, m)
            pivot = own[:, v] + edges[:, v, later].sum(axis=1)
            safe = np.where(pivot > 0.0, pivot, 1.0)
            root[:, v, v] = np.sqrt(pivot)
            root[:, later, v] = -edges[:, v, later] / np.sqrt(safe)[:, None]
            share = edges[:, v, later] / safe[:, None]
            own[:, later] += own[:, [v]] * share
            edges[:, later, later] += share[:, :, None] * edges[:, v, None, later]
            edges[:, range(m), range(m)] = 0.0
        return root

    def _spread(self, root: Array) -> Any:
        """V as one sparse matrix (sum of n_v, sum of n_v)."""
        sample, row, column = np.nonzero(root)
        entries = (root[sample, row, column], (self._place[sample, row], self._place[sample, column]))
        return sparse.csr_array(entries, shape=(int(self._offsets[-1]), int(self._offsets[-1])))

    def _unmixed(self, root: Array, z: Array) -> Array:
        """``V^{-1} z`` for columns z (sum of n_v, k) in the range of V."""
        result = np.zeros_like(z)
        for v in range(self.machines.presence.shape[1]):
            samples = np.flatnonzero(root[:, v, v])
            at = self._place[samples, v]
            left = z[at]
            for u in range(v):
                tied = root[samples, v, u][:, None]
                left = left - tied * result[np.where(tied[:, 0] != 0.0, self._place[samples, u], 0)]
            result[at] = left / root[samples, v, v][:, None]
        return result


def _exact_factor(K: Array, n_components: int) -> Array | None:
    """``F`` with ``F F^T`` equal to K up to rounding, of that many columns at most; None where there is none."""
    if n_components < 1:
        return None
    found = incomplete_cholesky(lambda i: K[:, i], np.diagonal(K), n_components, rtol=1e-13)
    scale = float(np.abs(np.diagonal(K)).max(initial=0.0))
    probe = np.cos(np.arange(len(K)))  # a matrix that is not positive shows here, and where the columns were too few
    apart = float(np.abs(K @ probe - found.factor @ (found.factor.T @ probe)).max(initial=0.0))
    return found.factor if apart <= 1e-12 * max(scale, 1e-300) * len(K) else None


def _run(positions: NDArray[np.intp]) -> slice | NDArray[np.intp]:
    """The same positions as a slice where they follow each other: no copy is made then."""
    if len(positions) and positions[-1] - positions[0] == len(positions) - 1:
        return slice(int(positions[0]), int(positions[-1]) + 1)
    return positions
