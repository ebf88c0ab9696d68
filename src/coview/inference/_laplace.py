"""Laplace approximation for the logistic likelihood: mode, evidence, gradient, leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from coview.linalg import invert_lower, solve_positive_definite

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
    covariances : ndarray of shape (n_members, n, n)
        Prior covariance of the latent function at the labeled samples.
    targets : ndarray of shape (n_members, n)
        Labels -1 and +1.
    modes : ndarray of shape (n_members, n)
        Posterior modes.
    """

    covariances: NDArray[np.float64]
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
    def _half_factor(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """``L^{-1}`` of ``B = I + Phi^{1/2} K Phi^{1/2} = L L^T`` (eigenvalues of B are at least 1), and log det B."""
        root = np.sqrt(self.curvatures)
        lower = np.asarray(np.linalg.cholesky(_site_matrix(self.covariances, root)), dtype=np.float64)
        log_det = 2.0 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        return invert_lower(lower), log_det

    @cached_property
    def log_marginal_likelihoods(self) -> NDArray[np.float64]:
        """Laplace evidence of each member, ``sum log logistic(y f) - g f / 2 - log det B / 2``, in nats."""
        fit = log_expit(self.targets * self.modes).sum(axis=1)
        penalty = np.einsum("bi,bi->b", self.gradients, self.modes)
        return np.asarray(fit - 0.5 * penalty - 0.5 * self._half_factor[1])

    def variance_factor(self) -> NDArray[np.float64]:
        """``L^{-1} Phi^{1/2}`` (n_members, n, n): the posterior variance at x is ``k(x, x) - |factor k(l, x)|^2``."""
        return self._half_factor[0] * np.sqrt(self.curvatures)[:, None, :]

    def leave_one_out(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of each labeled latent value without its own label's site, in closed form.

        ``v_-i = S_ii / (B^{-1})_ii`` has none of the cancellation of ``1 / (1 / S_ii - phi_i)``; ``f_-i = f_i - v_-i g_i``.
        """
        inverse_diagonal = np.square(self._half_factor[0]).sum(axis=1)
        reduced = self.variance_factor() @ self.covariances
        variances = np.diagonal(self.covariances, axis1=1, axis2=2) - np.square(reduced).sum(axis=1)
        variances = np.maximum(variances, 0.0) / inverse_diagonal
        return self.modes - variances * self.gradients, variances

    def evidence_gradients(self) -> NDArray[np.float64]:
        """Derivative of the evidence with respect to the covariance of the labeled samples.

        Returns
        -------
        gradients : ndarray of shape (n_members, n, n), symmetric
            ``sum(gradients[b] * dK)`` is the change of the evidence of member b; the part through the mode is included.
        """
        factor = self.variance_factor()
        sites = np.swapaxes(factor, 1, 2) @ factor  # (K + Phi^{-1})^{-1}
        g = self.gradients
        reduced = factor @ self.covariances
        variances = np.diagonal(self.covariances, axis1=1, axis2=2) - np.square(reduced).sum(axis=1)
        q = -0.5 * variances * self.curvatures * (1.0 - 2.0 * expit(self.modes))
        # df/dtheta = (I + K Phi)^{-1} dK g, hence q^T df/dtheta = p^T dK g with p = (I + Phi K)^{-1} q
        p = q - np.einsum("bij,bjk,bk->bi", sites, self.covariances, q)
        outer = g[:, :, None] * (0.5 * g + p)[:, None, :]
        return np.asarray(0.5 * (outer + np.swapaxes(outer, 1, 2)) - 0.5 * sites)


def laplace_fit(covariances: NDArray[np.float64], targets: NDArray[np.float64]) -> LaplaceFit:
    """Posterior modes of a stack of latent Gaussian models with logistic likelihoods.

    Parameters
    ----------
    covariances : ndarray of shape (n_members, n, n)
        Prior covariance of the latent function at the labeled samples, positive semi-definite.
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
    Newton's method on ``B = I + Phi^{1/2} K Phi^{1/2}`` with step halving until the step is below 1e-10 of the mode
    or below its rounding (Rasmussen and Williams, 2006, algorithm 3.1). Time O(n^3) per member and step; members that have
    converged leave the stack.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import laplace_fit
    >>> fit = laplace_fit(np.array([[[4.0]]]), np.array([[1.0]]))
    >>> fit.modes.round(4), fit.log_marginal_likelihoods.round(4)
    (array([[1.0426]]), array([-0.7236]))
    """
    n_members, n = targets.shape
    weights = np.zeros((n_members, n))  # f = K a
    modes = np.zeros((n_members, n))
    active = np.arange(n_members)
    for _ in range(_MAX_NEWTON_STEPS):
        if not active.size or not n:
            return LaplaceFit(covariances, targets, modes)
        K = covariances if active.size == n_members else covariances[active]
        step = _newton_step(K, targets[active], weights[active], modes[active])
        weights[active], moved = step
        change = np.abs(moved - modes[active]).max(axis=1)
        scale = np.maximum(np.abs(moved).max(axis=1), 1.0)
        # f = K a is rounded itself: |K| |a| is at most this, as |K_ij| <= sqrt(K_ii K_jj)
        root = np.sqrt(np.maximum(np.diagonal(K, axis1=1, axis2=2), 0.0))
        rounding = root.max(axis=1) * (root * np.abs(weights[active])).sum(axis=1)
        modes[active] = moved
        active = active[~(change <= _TOLERANCE * scale + _ROUNDING * rounding)]
    raise RuntimeError(
        f"The Laplace mode was not found in {_MAX_NEWTON_STEPS} Newton steps for {active.size} of {n_members} latent "
        "functions. Check that the kernels are finite and positive semi-definite."
    )


def _site_matrix(K: NDArray[np.float64], root: NDArray[np.float64]) -> NDArray[np.float64]:
    """``I + Phi^{1/2} K Phi^{1/2}`` for each member."""
    B = root[:, :, None] * K * root[:, None, :]
    n = root.shape[1]
    B[:, np.arange(n), np.arange(n)] += 1.0
    return B


def _newton_step(
    K: NDArray[np.float64], y: NDArray[np.float64], a: NDArray[np.float64], f: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """One damped Newton step of every member: new weights and new latent values."""
    phi = expit(f) * expit(-f)
    root = np.sqrt(phi)
    b = phi * f + y * expit(-y * f)
    inner = root * np.einsum("bij,bj->bi", K, b)
    full = b - root * solve_positive_definite(_site_matrix(K, root), inner[:, :, None])[:, :, 0]
    step_a = full - a
    step_f = np.einsum("bij,bj->bi", K, full) - f
    objective = log_expit(y * f).sum(axis=1) - 0.5 * np.einsum("bi,bi->b", a, f)
    size = np.ones(len(f))
    for _ in range(_MAX_HALVINGS):
        trial_a, trial_f = a + size[:, None] * step_a, f + size[:, None] * step_f
        reached = log_expit(y * trial_f).sum(axis=1) - 0.5 * np.einsum("bi,bi->b", trial_a, trial_f)
        worse = reached < objective - 1e-10 * (1.0 + np.abs(objective))
        if not worse.any():
            break
        size[worse] *= 0.5
    return trial_a, trial_f
