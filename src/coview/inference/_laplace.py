"""Laplace approximation for the logistic likelihood: mode, evidence, gradient, leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from coview.inference._dense_covariance import DenseCovariance, DenseSites, stacked_product
from coview.inference._factored_covariance import FactoredSites
from coview.inference._labeled_covariance import LabeledCovariance
from coview.inference._signed_squares import SignedSquares

__all__ = ["LaplaceFit", "laplace_fit"]

_MAX_NEWTON_STEPS = 100
_TOLERANCE = 1e-10
_ROUNDING = 4.0 * np.finfo(np.float64).eps
_MAX_HALVINGS = 30


@dataclass(frozen=True)
class LaplaceFit:
    """Gaussian approximations to the posteriors of latent functions at the labeled samples.

    One approximation per member of a stack; ``n`` is the number of labeled samples.

    Attributes
    ----------
    covariance : DenseCovariance or FactoredCovariance
        Prior covariances of the latent functions at the labeled samples.
    targets : ndarray of shape (n_members, n)
        Labels -1 and +1.
    modes : ndarray of shape (n_members, n)
        Posterior modes.
    """

    covariance: LabeledCovariance
    targets: NDArray[np.float64]
    modes: NDArray[np.float64]

    @cached_property
    def gradients(self) -> NDArray[np.float64]:
        """Gradient of the log likelihood at the mode, ``y logistic(-y f)``; the mode everywhere is ``K(:, l) g``."""
        return np.asarray(self.targets * expit(-self.targets * self.modes))

    @cached_property
    def curvatures(self) -> NDArray[np.float64]:
        """Negative second derivative of the log likelihood at the mode, ``phi = eta (1 - eta)``."""
        return np.asarray(expit(self.modes) * expit(-self.modes))

    @cached_property
    def coordinates(self) -> NDArray[np.float64]:
        """Coordinates of the modes (n_members, n_coordinates)."""
        return self._sites.coordinates(self.modes, self.gradients)

    @cached_property
    def _sites(self) -> DenseSites | FactoredSites:
        return self.covariance.given(self.curvatures)

    @property
    def variance_factors(self) -> NDArray[np.float64]:
        """What turns covariances with the labeled samples, or features, into posterior variances; see the sites."""
        return self._sites.variance_factors

    @cached_property
    def log_marginal_likelihoods(self) -> NDArray[np.float64]:
        """Laplace evidence of each member, ``sum log logistic(y f) - g f / 2 - log det B / 2``, in nats."""
        fit = log_expit(self.targets * self.modes).sum(axis=1)
        penalty = np.einsum("bi,bi->b", self.gradients, self.modes)
        return np.asarray(fit - 0.5 * penalty - 0.5 * self._sites.log_dets)

    def leave_one_out(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of each labeled latent value without its own label's site, in closed form.

        ``f_-i = f_i - v_-i g_i`` with the variance ``v_-i`` without the site.
        """
        variances = self._sites.left_out_variances()
        return self.modes - variances * self.gradients, variances

    def evidence_gradients(self) -> list[SignedSquares]:
        """Derivative of each member's evidence with respect to its covariance matrix of the labeled samples (n, n).

        The part through the mode is included: ``(g h^T + h g^T) / 2 - (K + Phi^{-1})^{-1} / 2`` with ``h = g / 2 + p``.

        Raises
        ------
        TypeError
            If the covariances are given by factors.
        """
        if not isinstance(self.covariance, DenseCovariance):
            raise TypeError("Evidence gradients are taken with respect to matrices; this fit has factors of them.")
        F = self.variance_factors  # F^T F = (K + Phi^{-1})^{-1}
        q = -0.5 * self._sites.variances * self.curvatures * (1.0 - 2.0 * expit(self.modes))
        # df/dtheta = (I + K Phi)^{-1} dK g, hence q^T df/dtheta = p^T dK g with p = (I + Phi K)^{-1} q
        p = q - stacked_product(np.swapaxes(F, 1, 2), stacked_product(F, self.covariance.latent(q)))
        sides = zip(self.gradients, 0.5 * self.gradients + p, np.sqrt(0.5) * F, strict=True)
        return [SignedSquares.of_product(g, h, half) for g, h, half in sides]


def laplace_fit(covariance: LabeledCovariance, targets: NDArray[np.float64]) -> LaplaceFit:
    """Posterior modes of a stack of latent Gaussian models with logistic likelihoods.

    Parameters
    ----------
    covariance : DenseCovariance or FactoredCovariance
        Prior covariances of n_members latent functions at n labeled samples.
    targets : ndarray of shape (n_members, n)
        Labels -1 and +1.

    Returns
    -------
    fit : LaplaceFit

    Raises
    ------
    RuntimeError
        If a mode is not found in 100 damped Newton steps.

    Notes
    -----
    Newton's method on ``B = I + Phi^{1/2} K Phi^{1/2}``, or on ``A = I + G^T Phi G`` for ``K = G G^T``, with step halving
    until the step is below 1e-10 of the mode or below its rounding (Rasmussen and Williams, 2006, algorithm 3.1). Time O(n^3),
    or O(n q^2) with q features, per member and step; members that have converged leave the stack.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import DenseCovariance, laplace_fit
    >>> fit = laplace_fit(DenseCovariance(np.array([[[4.0]]])), np.array([[1.0]]))
    >>> fit.modes.round(4), fit.log_marginal_likelihoods.round(4)
    (array([[1.0426]]), array([-0.7236]))
    """
    n_members, n = targets.shape
    coordinates = np.zeros((n_members, covariance.n_coordinates))
    modes = np.zeros((n_members, n))
    active = np.arange(n_members)
    for _ in range(_MAX_NEWTON_STEPS):
        if not active.size or not n:
            return LaplaceFit(covariance, targets, modes)
        prior = covariance if active.size == n_members else covariance.take(active)
        step = _newton_step(prior, targets[active], coordinates[active], modes[active])
        coordinates[active], moved = step
        change = np.abs(moved - modes[active]).max(axis=1)
        scale = np.maximum(np.abs(moved).max(axis=1), 1.0)
        modes[active] = moved
        rounding = prior.rounding(coordinates[active])
        active = active[~(change <= _TOLERANCE * scale + _ROUNDING * rounding)]
    raise RuntimeError(
        f"The Laplace mode was not found in {_MAX_NEWTON_STEPS} Newton steps for {active.size} of {n_members} latent "
        "functions. Check that the kernels are finite and positive semi-definite."
    )


def _newton_step(
    prior: LabeledCovariance, y: NDArray[np.float64], u: NDArray[np.float64], f: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """One damped Newton step of every member: new coordinates and new latent values."""
    step_u = prior.newton_step(expit(f) * expit(-f), y * expit(-y * f), u, f)
    step_f = prior.latent(u + step_u) - f
    objective = log_expit(y * f).sum(axis=1) - 0.5 * prior.penalties(u, f)
    size = np.ones(len(f))
    for _ in range(_MAX_HALVINGS):
        trial_u, trial_f = u + size[:, None] * step_u, f + size[:, None] * step_f
        reached = log_expit(y * trial_f).sum(axis=1) - 0.5 * prior.penalties(trial_u, trial_f)
        worse = reached < objective - 1e-10 * (1.0 + np.abs(objective))
        if not worse.any():
            break
        size[worse] *= 0.5
    return trial_u, trial_f
