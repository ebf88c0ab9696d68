"""Functions of several views, drawn together on the samples that have both: least squares and hinge losses, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference._kernel_blocks import expansion, given_weights
from coview.inference._quadratic_program import Curvature, DenseCurvature, FactoredCurvature, solve_box_program
from coview.inference._tied_kernels import TiedKernels
from coview.linalg import cholesky

__all__ = ["CoRegularizedViews", "ViewCoefficients"]

Array = NDArray[np.float64]

_NAME = "The system of the labels"
# Columns of leave-one-out work at once.
_CHUNK = 2048


@dataclass(frozen=True)
class ViewCoefficients:
    r"""Functions :math:`f_v(x) = \sum_i a_v[i] k_v(x, x_i)`.

    Attributes
    ----------
    dual : list of ndarray of shape (n_v, n_targets)
        :math:`a_v`, over the samples that have the view.
    fitted, held_out : ndarray of shape (n_labeled, n_views, n_targets)
        Values at the labeled samples, by functions that have seen their labels and by functions that have not; NaN where there
        is none.
    objective : ndarray of shape (n_targets,)
    weights : list of ndarray of shape (p_v, n_targets), or None
        Of the features, where the fit was in their space; with tiny ridges more accurate than what follows from ``dual``.
    n_iter : int
        Steps of the quadratic programs, most of any; 1 where none was needed.
    """

    dual: list[Array]
    fitted: Array
    held_out: Array
    objective: Array
    weights: list[Array] | None = None
    n_iter: int = 1

    def given_kernels(self, tied: TiedKernels) -> tuple[list[Array], list[Array] | None, Array]:
        """Coefficients and weights of the kernels with their constants, and the constants that come back (n_views, k)."""
        parts = [expansion(block, a) for block, a in zip(tied.kernels, self.dual, strict=True)]
        dual, constants = [a for a, _ in parts], np.array([constant for _, constant in parts])
        if self.weights is None:
            return dual, None, constants
        pairs: Any = zip(tied.kernels, self.weights, strict=True)
        found = [given_weights(block, w) for block, w in pairs]
        return dual, [w for w, _ in found], np.array([constant for _, constant in found])

    def values(self, tied: TiedKernels) -> Array:
        """Functions at all samples (n_samples, n_views, n_targets), NaN where a sample lacks the view."""
        table = np.full((*tied.presence.shape, len(self.objective)), np.nan)
        blocks: Any = tied.kernels
        for v, (block, a) in enumerate(zip(blocks, self.dual, strict=True)):
            table[tied.presence[:, v], v] = block.times(a) if self.weights is None else block.weighted(self.weights[v])
        return table


@dataclass(frozen=True)
class CoRegularizedViews:
    r"""Views, each with a kernel, whose functions are to fit labels and one another.

    The functions minimize

    .. math:: \sum_v \frac{\mu_v}{l} \sum_{i\ \mathrm{labeled}} V(y_i, f_v(x_i)) + \sum_v \gamma_v \|f_v\|^2
              + \frac{\gamma_C}{n} \sum_{v<w} \sum_{i\ \mathrm{with\ both}} (f_v(x_i) - f_w(x_i))^2

    Attributes
    ----------
    tied : TiedKernels
        Kernels, presence, labels, ridge and coupling.
    view_weights : ndarray of shape (n_views,)
        :math:`\mu_v \ge 0`; a view with 0 learns from the others alone.

    Notes
    -----
    All terms but the losses are one squared norm [1]_, so both losses are those of a single machine on a kernel between the l
    labeled (sample, view) pairs: one factorization of order l (or of the number of features, where that is less) serves all
    targets, and least squares all samples left out in turn.

    References
    ----------
    .. [1] V. Sindhwani, P. Niyogi, M. Belkin, "A co-regularization approach to semi-supervised learning with multiple views",
       ICML workshop on learning with multiple views, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import CoRegularizedViews, TiedKernels, kernel_block
    >>> x = np.array([[-1.0], [2.0], [1.0]])
    >>> kernels = [kernel_block(None, x), kernel_block(x @ x.T)]
    >>> labeled = np.array([True, False, True])
    >>> tied = TiedKernels(kernels, np.ones((3, 2), dtype=bool), labeled, np.array([0.5, 0.5]), 1.0)
    >>> found = CoRegularizedViews(tied, np.ones(2)).least_squares(np.array([[-1.0], [1.0]]))
    >>> found.fitted[:, :, 0].round(3).tolist()
    [[-0.667, -0.667], [0.667, 0.667]]
    """

    tied: TiedKernels
    view_weights: Array

    def least_squares(self, targets: Array) -> ViewCoefficients:
        """Squared loss, :math:`V = (y - f)^2`.

        Parameters
        ----------
        targets : ndarray of shape (n_labeled, n_targets)

        Returns
        -------
        coefficients : ViewCoefficients
            ``held_out`` in closed form: each label is taken back in turn, its sample stays in the ties, l stays.
        """
        sample, _ = self.tied.pairs
        y = targets[sample]
        roots = np.sqrt(self._prices)[:, None]
        weights: Array | None = None
        if self.tied.in_features and self.tied.n_features < len(y):
            X = self.tied.label_features
            factor = cholesky(self.tied.labeled_system(self._prices), name=_NAME)
            weights = factor.solve(X.T @ (self._prices[:, None] * y))
            fitted = X @ weights
            pulls = self._prices[:, None] * (y - fitted)
            remaining = _FromFactor(factor.half_solve(X.T))
        else:
            S = self.tied.covariance
            system = roots * S * roots.T
            system.flat[:: len(system) + 1] += 1.0
            factor = cholesky(system, name=_NAME)
            pulls = roots * factor.solve(roots * y)
            fitted = S @ pulls
            remaining = _FromFactor(factor.half_solve(roots * S), S)
        held_out = self._left_out(y, fitted, remaining)
        return self._coefficients(pulls, weights, fitted, held_out, (y * pulls).sum(axis=0))

    def hinge(
        self, signs: Array, codes: NDArray[np.int64], *, tol: float = 1e-12, max_iter: int = 100, n_folds: int = 5
    ) -> ViewCoefficients:
        """Hinge loss, :math:`V = (1 - y f)_+`.

        Parameters
        ----------
        signs : ndarray of shape (n_labeled, n_targets)
            -1 and 1.
        codes : ndarray of shape (n_labeled,)
            Classes, which are dealt to the folds one by one, by the mean of their kernel values: the order of the samples
            means nothing.
        tol : float, default=1e-12
        max_iter : int, default=100
            Of the quadratic programs.
        n_folds : int, default=5
            For ``held_out``: the labels of a fold are taken back, its samples stay in the ties, l stays. 0 for none.

        Returns
        -------
        coefficients : ViewCoefficients
            ``held_out`` is NaN where the other folds hold labels of one class only.

        Warns
        -----
        ConvergenceWarning
            If the steps were not enough.
        """
        sample, _ = self.tied.pairs
        everyone = np.ones(len(codes), dtype=bool)
        pulls, objective, n_iter = self._hinge_pulls(signs, everyone, tol, max_iter)
        fitted = self._values_at_pairs(pulls)
        held_out = np.full(fitted.shape, np.nan)
        folds = self._folds(codes, n_folds) if n_folds else np.full(len(codes), -1)
        for fold in np.unique(folds[folds >= 0]):
            kept = folds != fold
            if len(np.unique(codes[kept])) > 1:
                other = self._hinge_pulls(signs, kept, tol, max_iter)[0]
                left = ~kept[sample]
                held_out[left] = self._values_at_pairs(other)[left]
        return self._coefficients(pulls, None, fitted, held_out, objective, n_iter)

    @cached_property
    def _prices(self) -> Array:
        """Price of a loss at each labeled pair (n_pairs,)."""
        return self.view_weights[self.tied.pairs[1]] / max(int(self.tied.labeled.sum()), 1)

    def _hinge_pulls(
        self, signs: Array, kept: NDArray[np.bool_], tol: float, max_iter: int
    ) -> tuple[Array, Array, int]:
        """Coefficients over the labeled pairs, with the labels of some samples only, and objective."""
        sample, _ = self.tied.pairs
        used = np.flatnonzero(kept[sample] & (self._prices > 0.0))
        pulls, objective, n_iter = np.zeros((len(sample), signs.shape[1])), np.zeros(signs.shape[1]), 1
        for k, column in enumerate(signs.T):
            mine = column[sample[used]]
            solved = solve_box_program(
                self._curvature(used, mine), -np.ones(len(used)), self._prices[used], tol=tol, max_iter=max_iter
            )
            pulls[used, k] = 0.5 * mine * solved.x
            objective[k], n_iter = -solved.objective, max(n_iter, solved.n_iter)
        return pulls, objective, n_iter

    def _curvature(self, used: NDArray[np.intp], signs: Array) -> Curvature:
        if self.tied.in_features and self.tied.n_features < len(used):
            return FactoredCurvature(np.sqrt(0.5) * signs[:, None] * self.tied.factor[used])
        return DenseCurvature(0.5 * self.tied.covariance[np.ix_(used, used)] * np.outer(signs, signs))

    def _values_at_pairs(self, pulls: Array) -> Array:
        """Functions at the labeled pairs, from coefficients over them."""
        if self.tied.in_features:
            return np.asarray(self.tied.factor @ (self.tied.factor.T @ pulls))
        return np.asarray(self.tied.covariance @ pulls)

    def _folds(self, codes: NDArray[np.int64], n_folds: int) -> NDArray[np.intp]:
        sample, _ = self.tied.pairs
        ones = np.ones((len(sample), 1))
        means = np.bincount(sample, weights=self._values_at_pairs(ones)[:, 0], minlength=len(codes))
        folds = np.empty(len(codes), dtype=np.intp)
        for c in np.unique(codes):
            members = np.flatnonzero(codes == c)
            folds[members[np.argsort(means[members], kind="stable")]] = np.arange(len(members)) % n_folds
        return folds

    def _left_out(self, y: Array, fitted: Array, remaining: _FromFactor) -> Array:
        r"""Values at each pair without the label of its sample.

        With R what is left of the kernel once all labels are known and D the prices, the values of a sample's pairs fall by
        :math:`R (I - D R)^{-1} D (y - f)`.
        """
        sample, _ = self.tied.pairs
        order = np.argsort(sample, kind="stable")
        held_out = fitted.copy()
        counts = np.bincount(sample)
        starts = np.cumsum(counts) - counts
        for size in np.unique(counts[counts > 0]):
            members = order[starts[counts == size][:, None] + np.arange(size)]  # (n_samples of that many views, size)
            for start in range(0, len(members), _CHUNK):
                at = members[start : start + _CHUNK]
                R = remaining.blocks(at)
                priced = self._prices[at][:, :, None] * R
                pull = self._prices[at][:, :, None] * (y[at] - fitted[at])
                held_out[at] = fitted[at] - R @ np.linalg.solve(np.eye(size) - priced, pull)
        return held_out

    def _coefficients(
        self, pulls: Array, weights: Array | None, fitted: Array, held_out: Array, objective: Array, n_iter: int = 1
    ) -> ViewCoefficients:
        """From coefficients over the labeled pairs, and weights of the features where they are known already."""
        if weights is None and self.tied.in_features:
            weights = self.tied.weights(pulls)
        dual = self.tied.expansion(pulls, weights)
        by_view = None if weights is None else self.tied.by_view(weights)
        return ViewCoefficients(dual, self._by_sample(fitted), self._by_sample(held_out), objective, by_view, n_iter)

    def _by_sample(self, values: Array) -> Array:
        """Values at pairs as (n_labeled, n_views, n_targets), NaN where there is no pair."""
        sample, view = self.tied.pairs
        table = np.full((int(self.tied.labeled.sum()), len(self.tied.ridge), values.shape[1]), np.nan)
        table[sample, view] = values
        return table


@dataclass(frozen=True)
class _FromFactor:
    """The matrix ``H' H``, or ``S - H' H``, of which small blocks on the diagonal are wanted."""

    H: Array
    S: Array | None = None

    def blocks(self, at: NDArray[np.intp]) -> Array:
        """Blocks of the pairs ``at`` (n_blocks, size) as (n_blocks, size, size)."""
        columns = self.H[:, at]
        products = np.einsum("kij,kil->ijl", columns, columns, optimize=True)
        if self.S is None:
            return np.asarray(products)
        return np.asarray(self.S[at[:, :, None], at[:, None, :]] - products)
