"""What one more view of one sample does to a posterior on features: changes of rank two at most, all candidates at once.

With w ~ N(0, P^{-1}), latent values ``x_i^T w`` (``x_i = s h_i`` and a constant for the bias) and sites of the labels, measuring
features phi of view j for sample i adds ``c z z^T`` to P, where z has phi in its block minus ``h_i``, and moves ``h_i`` to
``h_i + rho z``: rho is the share of the view in the mean of the sample, ``c = rho W_i``. A labeled sample's site moves with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from coview.inference._feature_consensus import FeatureConsensus
from coview.linalg import cholesky

__all__ = ["LabelSites", "MeasurementEffects", "MeasurementPosterior", "Measurements"]

Array = NDArray[np.float64]

# From a mode nearby, full Newton steps converge in a few.
_MAX_STEPS, _TOLERANCE = 30, 1e-9


@dataclass(frozen=True)
class LabelSites:
    """Likelihoods of the labels, one row per latent function and one column per sample; zero where unlabeled.

    Attributes
    ----------
    targets : ndarray of shape (K, n_samples)
        -1 and +1, or real targets.
    labeled : ndarray of shape (n_samples,), dtype=bool
    gradients, curvatures : ndarray of shape (K, n_samples)
        Of the log likelihoods at the mode, the latter with a minus.
    noise_variance : float or None
        Of regression; None for logistic likelihoods.
    """

    targets: Array
    labeled: NDArray[np.bool_]
    gradients: Array
    curvatures: Array
    noise_variance: float | None = None

    def at(self, k: int, samples: NDArray[np.intp], latent: Array) -> tuple[Array, Array]:
        """Gradients and curvatures of a latent function's sites at other latent values; zero where unlabeled."""
        targets = self.targets[k, samples]
        if self.noise_variance is not None:
            gradients = (targets - latent) / self.noise_variance
            curvatures = np.full(latent.shape, 1.0 / self.noise_variance)
        else:
            gradients, curvatures = targets * expit(-targets * latent), expit(latent) * expit(-latent)
        labeled = self.labeled[samples]
        return np.where(labeled, gradients, 0.0), np.where(labeled, curvatures, 0.0)


@dataclass(frozen=True)
class Measurements:
    """Values that views may take, one per row.

    Attributes
    ----------
    samples : ndarray of shape (n,)
    view : int
    features : ndarray of shape (n, r_j)
    """

    samples: NDArray[np.intp]
    view: int
    features: Array


@dataclass(frozen=True)
class MeasurementEffects:
    """Effect of each of n measurements on one latent function, from one Newton step.

    Attributes
    ----------
    directions : ndarray of shape (n, q)
        Whitened z.
    own : ndarray of shape (n, q)
        Whitened ``x_i`` as it was.
    steps : ndarray of shape (n, 2)
        Change of the mode along the covariances with ``x_i`` and z.
    losses : ndarray of shape (n, 2, 2)
        What the covariances with ``x_i`` and z take from variances.
    log_dets : ndarray of shape (n,)
        Change of the log determinant of the posterior precision.
    own_mean, own_variance : ndarray of shape (n,)
        Latent moments of the sample itself afterwards, without its label's share in its own noise.
    own_noise : ndarray of shape (n,)
        What of this variance no view explains.
    """

    directions: Array
    own: Array
    steps: Array
    losses: Array
    log_dets: Array
    own_mean: Array
    own_variance: Array
    own_noise: Array

    def elsewhere(self, whitened: Array, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Moments afterwards of other samples, given whitened features (n_other, q) and moments: (n_other, n) each."""
        first, second = whitened @ self.own.T, whitened @ self.directions.T
        moved = mean[:, None] + self.steps[:, 0] * first + self.steps[:, 1] * second
        return moved, np.maximum(variance[:, None] - self._fall(first, second), 0.0)

    def fall(self, whitened: Array) -> Array:
        """What other samples lose of their variances (n_other, n)."""
        return self._fall(whitened @ self.own.T, whitened @ self.directions.T)

    def _fall(self, first: Array, second: Array) -> Array:
        B = self.losses
        fall = first * (B[:, 0, 0] * first + 2.0 * B[:, 0, 1] * second)
        fall += B[:, 1, 1] * second * second
        return np.asarray(fall)


@dataclass(frozen=True)
class MeasurementPosterior:
    """Posterior of K latent functions on features, ready to be asked what measurements would do.

    Attributes
    ----------
    consensus : FeatureConsensus
    scale, bias_variance : float
        ``g = b + s m``.
    sites : LabelSites
    own_noise : ndarray of shape (n_samples,)
        Variance of what no view explains of the latent value: ``s^2 / W_i`` for the consensus function, 0 for the mean.
    presence : ndarray of shape (n_samples, n_views), dtype=bool
    shared : ndarray of shape (n_samples, R)
        ``h_i``.
    precision : ndarray of shape (R, R)
        ``P``.
    """

    consensus: FeatureConsensus
    scale: float
    bias_variance: float
    sites: LabelSites
    own_noise: Array
    presence: NDArray[np.bool_]
    shared: Array
    precision: Array

    @classmethod
    def of(
        cls,
        consensus: FeatureConsensus,
        kept: NDArray[np.intp],
        scale: float,
        bias_variance: float,
        sites: LabelSites,
        *,
        of_mean: bool,
    ) -> MeasurementPosterior:
        """The posterior of the mean that the views imply, or of the consensus function.

        ``kept`` says where the samples of ``consensus`` stand among all; others have no view.
        """
        n = sites.labeled.size
        presence, shared, noise = (
            np.zeros((n, len(consensus.seen)), dtype=bool),
            np.zeros((n, consensus.n_features)),
            np.zeros(n),
        )
        presence[kept], shared[kept] = consensus.presence, consensus.shared_rows(slice(None))
        if not of_mean:
            noise[kept] = scale / (consensus.presence @ consensus.weights.precisions)
        return cls(consensus, scale, bias_variance, sites, noise, presence, shared, consensus.precision)

    @cached_property
    def features(self) -> Array:
        """``x_i`` (n_samples, R + 1)."""
        constant = np.full((len(self.shared), 1), np.sqrt(self.bias_variance))
        return np.concatenate([np.sqrt(self.scale) * self.shared, constant], axis=1)

    @cached_property
    def _prior(self) -> Array:
        R = len(self.precision)
        prior = np.eye(R + 1)
        prior[:R, :R] = self.precision
        return prior

    @cached_property
    def _whitening(self) -> tuple[list[Array], list[Array]]:
        """``L^{-1}`` of each posterior precision ``A = L L^T``, and ``L^T`` times each mode."""
        X = self.features[self.sites.labeled]
        prior = cholesky(self._prior, name="The precision of the view features")
        inverses, modes = [], []
        for k, gradients in enumerate(self.sites.gradients[:, self.sites.labeled]):
            curvatures = self._through_noise(self.sites.curvatures[k], self.own_noise)[self.sites.labeled]
            factor = cholesky(self._prior + (X.T * curvatures) @ X, name="The posterior precision of the view features")
            inverses.append(factor.half_inverse())
            modes.append(factor.lower.T @ prior.solve(X.T @ gradients))
        return inverses, modes

    def whitened(self, k: int, samples: NDArray[np.intp]) -> Array:
        """Features whose inner products are posterior covariances of latent function k (n, R + 1)."""
        return np.asarray(self.features[samples] @ self._whitening[0][k].T)

    def moments(self, k: int, samples: NDArray[np.intp]) -> tuple[Array, Array]:
        """Mean and variance of latent function k at samples whose labels are not known (n,)."""
        whitened = self.whitened(k, samples)
        variance = np.einsum("ij,ij->i", whitened, whitened) + self.own_noise[samples]
        return whitened @ self._whitening[1][k], variance

    def effects(self, k: int, measured: Measurements, *, refit: bool = True) -> MeasurementEffects:
        """What each measurement does to latent function k; O(n R^2).

        Without ``refit`` sites keep their curvatures, as in the papers' mutual information.
        """
        samples = measured.samples
        inverse, mode = (part[k] for part in self._whitening)
        rho, c, noise = self._shares(measured)
        r = np.sqrt(self.scale) * rho
        here = self.consensus.view_columns[measured.view]
        R = len(self.precision)
        directions = measured.features @ inverse[:, here].T - self.shared[samples] @ inverse[:, :R].T
        own = self.whitened(k, samples)
        along, before = directions @ mode, own @ mode
        left_over = self.own_noise[samples] * self.sites.gradients[k, samples]
        gradients, curvatures = self.sites.at(k, samples, before + r * along + left_over)
        if not refit:
            curvatures = self.sites.curvatures[k, samples]
        phi = self._through_noise(curvatures, noise)
        gradients = (curvatures * left_over + gradients) / (1.0 + noise * curvatures)
        M = np.empty((len(samples), 2, 2))
        M[:, 0, 0] = phi - self._through_noise(self.sites.curvatures[k, samples], self.own_noise[samples])
        M[:, 0, 1] = M[:, 1, 0] = phi * r
        M[:, 1, 1] = phi * r * r + c
        pull = np.stack([gradients - self.sites.gradients[k, samples], r * gradients - c * along], axis=1)
        U = np.stack([own, directions], axis=1)
        Q = U @ U.mT
        return _newton(U, Q, M, pull, np.stack([np.ones_like(r), r], axis=1), before + r * along, noise)

    def information(self, k: int, measured: Measurements) -> Array:
        """Change of the log determinant of the precision of what is inferred, over two, in nats (n,).

        Of the functions of the views; for the consensus function, of that function alone: the change of
        ``log det(Lambda_c + Phi)``.
        """
        half = 0.5 * self.effects(k, measured, refit=False).log_dets
        samples = measured.samples
        if not self.own_noise.any():
            return np.asarray(half)
        _, _, noise = self._shares(measured)
        sites = self.sites.curvatures[k, samples]
        # log(W + s^2 phi) afterwards minus before; without any view W is 0 and the consensus may be anything
        noise_before = np.where(self.own_noise[samples] > 0.0, self.own_noise[samples], np.inf)
        half += 0.5 * (np.log1p(noise * sites) - np.log(noise)) + np.where(
            np.isfinite(noise_before), 0.5 * (np.log(noise_before) - np.log1p(self.own_noise[samples] * sites)), np.inf
        )
        return np.asarray(half - 0.5 * np.log1p(self._novelty(measured)))

    def variance_reduction(self, k: int, measured: Measurements, over: NDArray[np.intp]) -> Array:
        """What the posterior variances of latent function k lose, summed over some samples, sites held fixed (n,).

        A labeled sample keeps ``1 / (1 + u phi)`` of its own noise u, and the square of that of what its views explain.
        """
        effects = self.effects(k, measured, refit=False)
        whitened = self.whitened(k, over)
        sites, noise = self.sites.curvatures[k], self.own_noise
        kept = 1.0 / (1.0 + noise[over] * sites[over])
        explained = np.einsum("ij,ij->i", whitened, whitened)
        fall = effects.fall(whitened) * np.square(kept)[:, None]
        place = np.full(len(self.presence), -1)
        place[over] = np.arange(over.size)
        own = place[measured.samples]
        inside = np.flatnonzero(own >= 0)
        mine, samples = own[inside], measured.samples[inside]
        before = kept[mine] * (kept[mine] * explained[mine] + noise[samples])
        left = 1.0 / (1.0 + effects.own_noise[inside] * sites[samples])
        spread = effects.own_variance[inside] - effects.own_noise[inside]
        fall[mine, inside] = before - left * (left * spread + effects.own_noise[inside])
        return np.asarray(fall.sum(axis=0))

    def after(self, measured: Measurements) -> MeasurementPosterior:
        """The posterior with one value measured, its mode searched again (``measured`` holds one row); O(n_labeled R^2 + R^3)."""
        (sample,), j = measured.samples, measured.view
        rho, c, noise = self._shares(measured)
        z = -self.shared[sample]
        z[self.consensus.view_columns[j]] += measured.features[0]
        presence, shared, own_noise = self.presence.copy(), self.shared.copy(), self.own_noise.copy()
        presence[sample, j] = True
        shared[sample] += rho[0] * z
        own_noise[sample] = noise[0]
        precision = self.precision + c[0] * np.outer(z, z)
        moved = replace(self, presence=presence, shared=shared, own_noise=own_noise, precision=precision)
        return replace(moved, sites=moved._refitted())

    def _refitted(self) -> LabelSites:
        """Sites at the mode, by Newton steps on weights and own noises together."""
        rows = np.flatnonzero(self.sites.labeled)
        X, noise = self.features[rows], self.own_noise[rows]
        prior = cholesky(self._prior, name="The precision of the view features")
        gradients, curvatures = self.sites.gradients.copy(), self.sites.curvatures.copy()
        for k in range(len(gradients)):
            left_over = noise * gradients[k, rows]
            latent = X @ prior.solve(X.T @ gradients[k, rows])
            for _ in range(_MAX_STEPS):
                g, phi = self.sites.at(k, rows, latent + left_over)
                through = self._through_noise(phi, noise)
                pull = (phi * left_over + g) / (1.0 + noise * phi)
                factor = cholesky(
                    self._prior + (X.T * through) @ X, name="The posterior precision of the view features"
                )
                moved = X @ factor.solve(X.T @ (through * latent + pull))
                step = np.abs(moved - latent).max(initial=0.0)
                left_over, latent = noise * (pull - through * (moved - latent)), moved
                if step <= _TOLERANCE * max(1.0, np.abs(latent).max(initial=0.0)):
                    break
            gradients[k, rows], curvatures[k, rows] = self.sites.at(k, rows, latent + left_over)
        return replace(self.sites, gradients=gradients, curvatures=curvatures)

    def _novelty(self, measured: Measurements) -> Array:
        """``phi^T (sigma_j^2 I + Phi_j^T Phi_j)^{-1} phi`` (n,)."""
        j, features = measured.view, self._of_view(measured.view)
        variance = self.consensus.weights.variances[j]
        factor = cholesky(features.T @ features + variance * np.eye(features.shape[1]))
        half = factor.half_solve(np.ascontiguousarray(measured.features.T))
        return np.asarray(np.einsum("in,in->n", half, half))

    def _of_view(self, j: int) -> Array:
        """Features of the samples that have view j: their part of ``h_i`` without its share."""
        rows = np.flatnonzero(self.presence[:, j])
        shares = self.consensus.weights.shares(self.presence[rows])[:, j]
        held = rows[shares > 0.0]
        return np.asarray(self.shared[held, self.consensus.view_columns[j]] / shares[shares > 0.0, None])

    def _shares(self, measured: Measurements) -> tuple[Array, Array, Array]:
        """``rho``, c and the own noise afterwards, of each measurement."""
        weights = self.consensus.weights
        after = self.presence[measured.samples]
        total = after @ weights.precisions
        after[:, measured.view] = True
        rho = weights.shares(after)[:, measured.view]
        if not self.own_noise.any():
            return rho, rho * total, np.zeros(len(rho))
        return rho, rho * total, self.scale / (total + weights.precisions[measured.view])

    @staticmethod
    def _through_noise(curvatures: Array, noise: Array) -> Array:
        """Precisions of sites that see the features through noise."""
        return np.asarray(curvatures / (1.0 + noise * curvatures))


def _newton(U: Array, Q: Array, M: Array, pull: Array, end: Array, before: Array, noise: Array) -> MeasurementEffects:
    """One Newton step in the span of ``x_i`` and z: ``A' = A + U M U^T``, by the 2 x 2 matrices ``I + M Q``."""
    D = np.eye(2) + M @ Q
    determinants = D[:, 0, 0] * D[:, 1, 1] - D[:, 0, 1] * D[:, 1, 0]
    adjugates = np.stack([D[:, 1, 1], -D[:, 0, 1], -D[:, 1, 0], D[:, 0, 0]], axis=1).reshape(-1, 2, 2)
    inverse = adjugates / determinants[:, None, None]
    steps, losses = (inverse @ pull[:, :, None])[:, :, 0], inverse @ M
    toward = (Q @ end[:, :, None])[:, :, 0]  # covariances of x_i' with x_i and z
    mean = before + np.einsum("ij,ij->i", steps, toward)
    spread = np.einsum("ij,ij->i", end, toward) - np.einsum("ij,ijk,ik->i", toward, losses, toward)
    return MeasurementEffects(
        U[:, 1], U[:, 0], steps, losses, np.log(determinants), mean, np.maximum(spread, 0.0) + noise, noise
    )
