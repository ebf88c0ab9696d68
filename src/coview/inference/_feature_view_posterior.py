"""Posterior of one view's function at some samples, in the space of its features, and what a penalty on it says of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coview.exceptions import NotPositiveDefiniteError
from coview.linalg import CholeskyFactor, cholesky

__all__ = ["FeatureSlope", "FeatureViewPosterior"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FeatureViewPosterior:
    r"""What `DenseViewPosterior` is, for the prior covariance :math:`\Phi \Phi^T + \epsilon I`: O(p r^2), nothing of p x p.

    Attributes
    ----------
    features : ndarray of shape (p, r)
        :math:`\Phi`.
    jitter : float
        :math:`\epsilon`; positive where a divergence is asked for.
    noise : float
    labeled : ndarray of shape (p,), dtype=bool
    targets : ndarray of shape (p, C)
    name : str

    Notes
    -----
    With :math:`g_i = \sigma^2 / (\sigma^2 + \epsilon)` where a value is given, else 1, and
    :math:`M = I + \Phi^T D \Phi / (\sigma^2 + \epsilon) = R R^T`, without any subtraction:
    :math:`\Sigma = \epsilon\,\mathrm{diag}(g) + F F^T`, :math:`F = \mathrm{diag}(g) \Phi R^{-T}`.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import FeatureViewPosterior
    >>> posterior = FeatureViewPosterior(np.eye(2), 0.5, 0.5, np.array([True, False]), np.array([[2.0], [0.0]]))
    >>> posterior.means.ravel(), posterior.variances
    (array([1.5, 0. ]), array([0.375, 1.5  ]))
    """

    features: Array
    jitter: float
    noise: float
    labeled: NDArray[np.bool_]
    targets: Array
    name: str = "The covariance of a view"

    @cached_property
    def _shares(self) -> Array:
        """G (p,)."""
        return np.where(self.labeled, self.noise / (self.noise + self.jitter), 1.0)

    @cached_property
    def inner(self) -> CholeskyFactor:
        """R, of the precision of the weights of the features."""
        known = self.features if self.labeled.all() else self.features[self.labeled]
        M = known.T @ known
        M /= self.noise + self.jitter
        M.flat[:: len(M) + 1] += 1.0
        return cholesky(M, name=self.name)

    @cached_property
    def _prior(self) -> CholeskyFactor:
        """Factor of ``Phi^T Phi + epsilon I``."""
        if not self.jitter > 0.0:
            raise NotPositiveDefiniteError(
                f"{self.name} has the rank of its features, so that its divergence from another view is infinite; got a "
                f"jitter of {self.jitter}. Raise jitter, or use approximation='exact'."
            )
        N = self.features.T @ self.features
        N.flat[:: len(N) + 1] += self.jitter
        return cholesky(N, name=self.name)

    @cached_property
    def _directions(self) -> Array:
        """Q (p, r), ``K^{-1} = (I - Q Q^T) / epsilon``."""
        return self._prior.half_solve(self.features.T).T

    @cached_property
    def solved_features(self) -> Array:
        """``K^{-1} Phi`` (p, r)."""
        return self._prior.solve(self.features.T).T

    @cached_property
    def shrunk_features(self) -> Array:
        """``(K + sigma^2 I)^{-1} Phi`` (p, r), where all samples have values."""
        return self.inner.solve(self.features.T).T / (self.noise + self.jitter)

    @cached_property
    def columns(self) -> Array:
        """F (p, r)."""
        return self._shares[:, None] * self.inner.half_solve(self.features.T).T

    @cached_property
    def scaled_targets(self) -> Array:
        """``D y / sigma^2`` (p, C)."""
        return np.where(self.labeled[:, None], self.targets, 0.0) / self.noise

    @cached_property
    def means(self) -> Array:
        """Posterior means (p, C)."""
        return self.apply(self.scaled_targets)

    @cached_property
    def variances(self) -> Array:
        """Posterior variances (p,)."""
        return np.asarray(self.jitter * self._shares + np.square(self.columns).sum(axis=1))

    @cached_property
    def log_det(self) -> float:
        """Logarithm of the determinant of the posterior covariance."""
        p, r = self.features.shape
        prior = (p - r) * np.log(self.jitter) + self._prior.log_det
        return float(prior - self.labeled.sum() * np.log1p(self.jitter / self.noise) - self.inner.log_det)

    def covariance(self) -> Array:
        """Posterior covariance (p, p), for callers that want all of it."""
        return np.asarray(np.diag(self.jitter * self._shares) + self.columns @ self.columns.T)

    def apply(self, X: Array) -> Array:
        """Posterior covariance times X."""
        return self.jitter * self._shares[:, None] * X + self.columns @ (self.columns.T @ X)

    def prior_solve(self, X: Array) -> Array:
        """``K^{-1} X``."""
        return np.asarray((X - self._directions @ (self._directions.T @ X)) / self.jitter)

    def gain(self, X: Array) -> Array:
        """``K^{-1} Sigma X``; where all samples have values that is ``sigma^2 (K + sigma^2 I)^{-1} X``."""
        if not self.labeled.all():
            return self.prior_solve(self.apply(X))
        shrunk = X - self.shrunk_features @ (self.features.T @ X)
        return np.asarray(self.noise / (self.noise + self.jitter) * shrunk)

    def gained_features(self) -> Array:
        """``Sigma K^{-1} Phi`` (p, r)."""
        return self.noise * self.shrunk_features if self.labeled.all() else self.apply(self.solved_features)

    def precision(self, X: Array) -> Array:
        """Inverse of the posterior covariance, times X."""
        return self.prior_solve(X) + self.labeled[:, None] * X / self.noise

    def crossing(self, other: FeatureViewPosterior) -> tuple[float, Array]:
        """``tr(K^{-1} Sigma_other)``, and ``Q^T F_other`` (r, r_other); O(p r^2)."""
        Q = self._directions
        crossed = Q.T @ other.columns
        left = np.square(other.columns).sum() - np.square(crossed).sum()
        white = other.jitter * (other._shares @ (1.0 - np.square(Q).sum(axis=1)))
        return float(left + white) / self.jitter, crossed

    def log_evidence(self) -> float:
        """Log density of the values given, over all C functions, in nats; all samples must have values."""
        n, n_functions = self.targets.shape
        variance = self.noise + self.jitter
        weights, residuals = self._fit()
        squares = np.square(residuals).sum() / variance + np.square(weights).sum()
        log_det = n * np.log(variance) + self.inner.log_det
        return float(-0.5 * (squares + n_functions * (log_det + n * np.log(2.0 * np.pi))))

    def _fit(self) -> tuple[Array, Array]:
        """Mean weights (r, C) and residuals (p, C), where all samples have values."""
        weights = self.inner.solve(self.features.T @ self.targets / (self.noise + self.jitter))
        return weights, self.targets - self.features @ weights

    @property
    def predictive_factor(self) -> CholeskyFactor:
        """Factor by which features of new samples are halved, ``|half phi|^2`` being their variance."""
        return self.inner

    @property
    def predictive_weights(self) -> Array:
        """Weights (r, C) of features of new samples in their means, where all samples have values."""
        return self._fit()[0]

    @property
    def duals(self) -> Array:
        """``(K + sigma^2 I)^{-1} y`` (p, C), where all samples have values."""
        return self._fit()[1] / (self.noise + self.jitter)

    def restricted(self, kept: NDArray[np.bool_]) -> FeatureViewPosterior:
        """The posterior at some of the samples, given their values only."""
        if kept.all():
            return self
        return replace(self, features=self.features[kept], labeled=self.labeled[kept], targets=self.targets[kept])

    def slope(self) -> FeatureSlope:
        """Where derivatives of a scalar by the features and the noise are gathered."""
        return FeatureSlope(self)


@dataclass
class FeatureSlope:
    """Derivatives of a scalar by the features and the noise of a `FeatureViewPosterior`, term by term; O(p r^2) each.

    Attributes
    ----------
    posterior : FeatureViewPosterior
    """

    posterior: FeatureViewPosterior
    _half: Array = field(init=False)
    _by_log_noise: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self._half = np.zeros_like(self.posterior.features)  # derivative by K, times the features

    def add_evidence(self, weight: float) -> None:
        """``weight`` times the log density of the values given."""
        own = self.posterior
        variance, (n, n_functions) = own.noise + own.jitter, own.targets.shape
        dual = own.duals
        gained = own.shrunk_features
        self._half += (0.5 * weight) * (dual @ (dual.T @ own.features) - n_functions * gained)
        trace = n / variance - np.vdot(gained, own.features) / variance
        self._by_log_noise += 0.5 * weight * own.noise * float(np.square(dual).sum() - n_functions * trace)

    def add_covariances(
        self, other: FeatureViewPosterior, weight: float, here: tuple[float, Array], there: tuple[float, Array]
    ) -> None:
        """``weight / 2`` times ``tr(Sigma_2^{-1} Sigma_1) + tr(Sigma_1^{-1} Sigma_2)``."""
        own = self.posterior
        gained = own.gain(other.precision(own.gained_features()))
        self._half += (0.5 * weight) * (gained - own.prior_solve(other.apply(own.solved_features)))
        total = _sandwich_trace(own, other, there[1].T)
        self._by_log_noise += 0.5 * weight / own.noise * float(total - other.variances[own.labeled].sum())

    def add_difference(self, weight: float, difference: Array, precise: Array) -> None:
        """``weight / 2`` times ``d^T (Sigma_1^{-1} + Sigma_2^{-1}) d`` for ``d = mu_1 - mu_2`` (p, C).

        ``precise`` is ``(Sigma_1^{-1} + Sigma_2^{-1}) d``.
        """
        own = self.posterior
        moved = own.apply(precise)
        left, right, solved = (own.prior_solve(X) for X in (moved, own.means, difference))
        outer = left @ (right.T @ own.features) + right @ (left.T @ own.features)
        self._half += (0.5 * weight) * (outer - solved @ (solved.T @ own.features))
        residuals = np.where(own.labeled[:, None], own.means - own.targets, 0.0)
        by_covariance = float(np.square(difference[own.labeled]).sum())
        self._by_log_noise += weight / own.noise * (float((moved * residuals).sum()) - 0.5 * by_covariance)

    def folded(self) -> tuple[Array, float]:
        """Derivatives by the features (p, r) and by the logarithm of the noise."""
        return 2.0 * self._half, self._by_log_noise

    @staticmethod
    def placed(known: Array | None, part: Array, kept: NDArray[np.bool_]) -> Array:
        """Add what was found of some samples to what is known of all; None is nothing yet."""
        if kept.all() and known is None:
            return part
        total = np.zeros((len(kept), part.shape[1])) if known is None else known
        total[kept] += part
        return total


def _sandwich_trace(own: FeatureViewPosterior, other: FeatureViewPosterior, crossed: Array) -> float:
    """Sum over the labeled samples of the diagonal of ``Sigma_1 Sigma_2^{-1} Sigma_1``; ``crossed`` is ``F_1^T Q_2``."""
    known, F = own.labeled, own.columns
    weight = 1.0 / other.jitter  # of the unlabeled samples in the diagonal part of Sigma_2^{-1}
    inner = F[known].T @ F[known]
    outer = weight * (F[~known].T @ F[~known]) if not known.all() else 0.0
    weight += 1.0 / other.noise  # of the labeled ones
    white = own.jitter * own.noise / (own.noise + own.jitter)
    Q = other._directions[known]
    both = crossed if known.all() else F[known].T @ Q
    total = white * weight * (white * known.sum() + 2.0 * np.trace(inner)) + np.vdot(weight * inner + outer, inner)
    moved = white**2 * np.square(Q).sum() + 2.0 * white * np.vdot(both, crossed) + np.vdot(crossed, inner @ crossed)
    return float(total - moved / other.jitter)
