"""Evidence of several views, less what their posteriors say differently of the same samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference._dense_view_posterior import DenseSlope, DenseViewPosterior
from coview.inference._feature_view_posterior import FeatureSlope, FeatureViewPosterior

__all__ = ["ConsistencyValue", "PosteriorConsistency", "gaussian_divergences"]

Array = NDArray[np.float64]
ViewPosterior = DenseViewPosterior | FeatureViewPosterior


@dataclass(frozen=True)
class ConsistencyValue:
    """What `PosteriorConsistency` found.

    Attributes
    ----------
    objective : float
        In nats; smaller is better.
    log_evidences : ndarray of shape (n_views,)
        Log marginal likelihood of the labels by each view, in nats, over all functions.
    divergences : ndarray of shape (n_views, n_views)
        ``KL(p_i || p_j)`` in nats, over all functions; NaN for pairs that are not tied.
    slopes : list of tuple, or None
        Per view the derivative of the objective by its covariance, as ``folded`` of its posterior's slope gives it over all
        samples of the view, and by the logarithm of its noise.
    """

    objective: float
    log_evidences: Array
    divergences: Array
    slopes: list[tuple[Array, float]] | None


@dataclass(frozen=True)
class PosteriorConsistency:
    r"""The objective of multi-view Gaussian processes with posterior consistency.

    Attributes
    ----------
    rows : sequence of ndarray of shape (n_j,)
        Samples that have view j, increasing.
    labeled : ndarray of shape (n_samples,), dtype=bool
    targets : ndarray of shape (n_samples, C)
        Of C functions that share covariances; what unlabeled samples hold does not count.
    weights : ndarray of shape (n_views,)
        :math:`a_j`.
    consistency : ndarray of shape (n_views, n_views)
        :math:`b_{ij}`, symmetric, read above the diagonal.
    subset : ndarray of shape (n_samples,), dtype=bool, default=None
        Samples whose posteriors are compared; None for all.

    Notes
    -----
    Equations (12) and (13) of [1]_:
    :math:`-\sum_j a_j \log p(y | X_j) + \sum_{i<j} b_{ij} [\mathrm{KL}(p_i \| p_j) + \mathrm{KL}(p_j \| p_i)]`. The posteriors of
    a pair are those given the samples of the subset that have both views, and their labels: that is (13) for missing views.
    Log-determinants cancel in the sum. A value is about seven steps of O(n^3) for two complete views, the gradient by every
    entry of their covariances another eleven.

    References
    ----------
    .. [1] Q. Liu, S. Sun, "Multi-view regularized Gaussian processes", PAKDD, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import DenseViewPosterior, PosteriorConsistency
    >>> y, known = np.array([[1.0], [-1.0]]), np.ones(2, dtype=bool)
    >>> views = [DenseViewPosterior(a * np.eye(2), 1.0, known, y) for a in (1.0, 2.0)]
    >>> problem = PosteriorConsistency([np.arange(2)] * 2, known, y, np.full(2, 0.5), np.ones((2, 2)))
    >>> problem.evaluate(views).divergences.round(3)
    array([[0.   , 0.079],
           [0.101, 0.   ]])
    """

    rows: Sequence[NDArray[np.intp]]
    labeled: NDArray[np.bool_]
    targets: Array
    weights: Array
    consistency: Array
    subset: NDArray[np.bool_] | None = None

    def evaluate(self, views: Sequence[Any], *, gradient: bool = False) -> ConsistencyValue:
        """The objective, with its derivatives if wanted, in one pass.

        Parameters
        ----------
        views : sequence of DenseViewPosterior or FeatureViewPosterior
            Over all samples of each view.
        gradient : bool, default=False

        Returns
        -------
        value : ConsistencyValue

        Raises
        ------
        NotPositiveDefiniteError
            If a covariance of a tied view is singular.
        """
        m = len(views)
        pieces = _Pieces(views, self.rows, gradient)
        evidences, divergences = np.zeros(m), np.full((m, m), np.nan)
        for j in range(m):
            divergences[j, j] = 0.0
            evidences[j] = pieces.evidence(j, self.labeled, -self.weights[j])
        penalty = 0.0
        for i, j in combinations(range(m), 2):
            if self.consistency[i, j]:
                both = pieces.pair(i, j, self.subset, self.consistency[i, j])
                divergences[i, j], divergences[j, i] = both
                penalty += self.consistency[i, j] * sum(both)
        objective = float(penalty - self.weights @ evidences)
        return ConsistencyValue(objective, evidences, divergences, pieces.slopes() if gradient else None)


@dataclass
class _Pieces:
    """Posteriors over parts of the views, made once each, and their slopes."""

    views: Sequence[Any]
    rows: Sequence[NDArray[np.intp]]
    gradient: bool
    _made: dict[tuple[int, bytes], tuple[Any, Any, NDArray[np.bool_]]] = field(default_factory=dict)

    def part(self, j: int, kept: NDArray[np.bool_]) -> tuple[Any, DenseSlope | FeatureSlope | Any]:
        """The posterior of view j given some of its samples (n_j,), and its slope."""
        key = (j, kept.tobytes())
        if key not in self._made:
            posterior = self.views[j].restricted(kept)
            self._made[key] = posterior, posterior.slope() if self.gradient else None, kept
        return self._made[key][:2]

    def evidence(self, j: int, labeled: NDArray[np.bool_], weight: float) -> float:
        """Log evidence of view j; its slope gets ``weight`` times it."""
        posterior, slope = self.part(j, labeled[self.rows[j]])
        if slope is not None and weight:
            slope.add_evidence(weight)
        return float(posterior.log_evidence())

    def pair(self, i: int, j: int, subset: NDArray[np.bool_] | None, weight: float) -> tuple[float, float]:
        """The two divergences of a pair; slopes get ``weight`` times their sum."""
        kept = [np.isin(self.rows[a], self.rows[b], assume_unique=True) for a, b in ((i, j), (j, i))]
        if subset is not None:
            kept = [part & subset[self.rows[a]] for part, a in zip(kept, (i, j), strict=True)]
        if not kept[0].any():
            return 0.0, 0.0
        (first, slope_i), (second, slope_j) = self.part(i, kept[0]), self.part(j, kept[1])
        here, there = first.crossing(second), second.crossing(first)
        difference = first.means - second.means
        precise = first.precision(difference), second.precision(difference)
        if self.gradient:
            scale = weight * difference.shape[1]
            slope_i.add_covariances(second, scale, here, there)
            slope_j.add_covariances(first, scale, there, here)
            slope_i.add_difference(weight, difference, precise[0] + precise[1])
            slope_j.add_difference(weight, -difference, -(precise[0] + precise[1]))
        return gaussian_divergences(first, second, (here[0], there[0]))

    def slopes(self) -> list[tuple[Array, float]]:
        """Over all samples of every view."""
        totals: dict[int, tuple[Array, float]] = {}
        for (j, _), (_, slope, kept) in self._made.items():
            part, by_part = slope.folded()
            known, by_log_noise = totals.get(j, (None, 0.0))
            totals[j] = slope.placed(known, part, kept), by_log_noise + by_part
        return [totals[j] for j in range(len(self.views))]


def gaussian_divergences(
    first: ViewPosterior, second: ViewPosterior, traces: tuple[float, float]
) -> tuple[float, float]:
    """``KL(first || second)`` and ``KL(second || first)`` in nats, over all functions.

    Parameters
    ----------
    first, second : DenseViewPosterior or FeatureViewPosterior
        Of the same p samples.
    traces : tuple of float
        ``tr(K_1^{-1} Sigma_2)`` and ``tr(K_2^{-1} Sigma_1)``.

    Returns
    -------
    divergences : tuple of float

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import DenseViewPosterior, gaussian_divergences
    >>> views = [DenseViewPosterior(a * np.eye(1), 1.0, np.array([True]), np.zeros((1, 1))) for a in (1.0, 3.0)]
    >>> tuple(round(value, 4) for value in gaussian_divergences(*views, (0.75, 0.5 / 3.0)))
    (0.0361, 0.0473)
    """
    p, n_functions = first.targets.shape
    difference, known = first.means - second.means, first.labeled
    log_ratio = second.log_det - first.log_det
    divergences = []
    for one, two, trace, sign in ((first, second, traces[1], 1.0), (second, first, traces[0], -1.0)):
        total = trace + one.variances[known].sum() / two.noise + sign * log_ratio - p
        quadratic = float(np.vdot(difference, two.precision(difference)))
        divergences.append(0.5 * (n_functions * float(total) + quadratic))
    return divergences[0], divergences[1]
