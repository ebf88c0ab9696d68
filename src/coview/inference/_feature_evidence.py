"""Evidence of labels under a low-rank consensus, and its derivative by everything that the consensus is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coview.inference._factored_covariance import FactoredCovariance
from coview.inference._feature_consensus import FeatureConsensus
from coview.inference._feature_rows import row_slices
from coview.inference._feature_sums import FeatureSums, stacked_by_pattern
from coview.inference._label_gradient import factor_gradients, noise_gradients
from coview.inference._labeled_covariance import labeled_covariance
from coview.inference._laplace import LaplaceFit, laplace_fit
from coview.inference._pair_weights import signed_pairs, variance_gradient
from coview.inference._priors import ConsensusPrior, MeanPrior
from coview.inference._regression import FactoredRegressionFit, RegressionFit, regression_fit
from coview.inference._signed_squares import SignedSquares

__all__ = ["FeatureEvidence", "FeatureGradient"]


@dataclass(frozen=True)
class FeatureEvidence:
    """Log marginal likelihood of labels of ``g = b + s m`` under a prior that is made of features.

    Attributes
    ----------
    prior : MeanPrior or ConsensusPrior
        Of a `FeatureConsensus`.
    sums : FeatureSums
        Those that the consensus was made from.
    rows : ndarray of shape (n_labeled,)
    targets : ndarray of shape (K, n_labeled)
        Labels -1 and +1 of each latent function, or one row of real targets.
    amplitude : float or None
        Mean prior variance ``A``, so that ``s^2 = A / mean diagonal``; None: ``s = 1``.
    bias_variance : float
    noise_variance : float or None
        None for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import (
    ...     FeatureConsensus, FeatureEvidence, HeldFeatures, MeanPrior, ViewWeights, feature_sums
    ... )
    >>> held = HeldFeatures([np.array([[1.0], [2.0], [0.5]])], np.ones((3, 1), dtype=bool))
    >>> sums = feature_sums(held)
    >>> prior = MeanPrior(FeatureConsensus.of(held, ViewWeights.of(1.0, 1), sums))
    >>> labels = np.array([[0.5, 1.2]])
    >>> evidence = FeatureEvidence(prior, sums, np.array([0, 1]), labels, None, 0.0, 0.1)
    >>> round(evidence.value, 4), evidence.gradient().log_amplitudes().round(4)
    (-1.7061, array([-0.3285]))
    """

    prior: MeanPrior | ConsensusPrior
    sums: FeatureSums
    rows: NDArray[np.intp]
    targets: NDArray[np.float64]
    amplitude: float | None
    bias_variance: float
    noise_variance: float | None

    @property
    def consensus(self) -> FeatureConsensus:
        """The consensus of the prior."""
        if not isinstance(self.prior.consensus, FeatureConsensus):
            raise TypeError("A prior of Gram matrices is not made of features.")
        return self.prior.consensus

    @property
    def _rescaled(self) -> bool:
        return self.amplitude is not None and self.prior.mean_diagonal > 0.0

    @property
    def scale(self) -> float:
        """``s^2``."""
        return self.amplitude / self.prior.mean_diagonal if self.amplitude is not None and self._rescaled else 1.0

    @cached_property
    def fit(self) -> LaplaceFit | RegressionFit | FactoredRegressionFit:
        """The fit to the labels, in the smaller of the two spaces."""
        covariance = labeled_covariance(self.prior, self.rows, np.array([self.scale]), self.bias_variance)
        if self.noise_variance is not None:
            return regression_fit(covariance, self.targets[0], np.array([self.noise_variance]))
        return laplace_fit(covariance.take(np.zeros(len(self.targets), dtype=np.intp)), self.targets)

    @property
    def value(self) -> float:
        """Log marginal likelihood in nats, summed over the latent functions."""
        return float(self.fit.log_marginal_likelihoods.sum())

    def gradient(self) -> FeatureGradient:
        """Its derivative; O(R^3 + n_labeled R^2), and O(n_labeled^2 R) where there are fewer labels than features."""
        consensus, scale = self.consensus, self.scale
        psi = consensus.rows(self.rows)
        product, on_diagonal, by_noise = self._by_covariance(psi)
        factor = consensus.factor
        whole = float((product * psi).sum())
        if isinstance(self.prior, ConsensusPrior):
            whole += float(on_diagonal @ self.prior.white[self.rows])
        by_mean = -scale * whole / self.prior.mean_diagonal if self._rescaled else 0.0
        inner = psi.T @ product
        if factor is None:
            inverse = np.eye(len(inner))
            by_shared = product
        else:
            inverse = factor.inverse()
            by_shared = factor.half_solve(product.T, transposed=True).T
            inner = factor.half_solve(factor.half_solve(inner, transposed=True).T, transposed=True)
        by_precision = -0.5 * scale * (inner + inner.T) - by_mean * (inverse @ consensus.mean_outer @ inverse)
        return FeatureGradient(
            evidence=self,
            by_precision=by_precision,
            by_outer=by_mean * inverse,
            by_shared=2.0 * scale * by_shared,
            by_white=scale * on_diagonal,
            by_mean=by_mean,
            by_log_noise=by_noise * (self.noise_variance or 0.0),
        )

    def _by_covariance(self, psi: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """``Q Psi`` and the diagonal of Q, the derivative by the covariance of the labels, and that by the noise variance."""
        if not isinstance(self.fit, RegressionFit) and isinstance(self.fit.covariance, FactoredCovariance):
            by_factors = factor_gradients(self.fit).sum(axis=0)[:, : psi.shape[1]]
            noise = 0.0 if isinstance(self.fit, LaplaceFit) else float(noise_gradients(self.fit).sum())
            # The white part of the consensus function is no feature, so its labels are never fitted in their space.
            return by_factors / np.sqrt(self.scale), np.zeros(len(psi)), noise
        if isinstance(self.fit, FactoredRegressionFit):
            raise TypeError("A regression fit of features has a covariance of features.")
        Q = SignedSquares.total(self.fit.evidence_gradients())
        noise = 0.0 if isinstance(self.fit, LaplaceFit) else Q.trace()
        product = Q.positive.T @ (Q.positive @ psi) - Q.negative.T @ (Q.negative @ psi)
        return product, Q.diagonal(), noise


@dataclass(frozen=True)
class FeatureGradient:
    """Derivative of an evidence by what its consensus is made of, and what follows from it for parameters and features.

    Attributes
    ----------
    evidence : FeatureEvidence
    by_precision, by_outer : ndarray of shape (R, R), symmetric
        By ``P_w`` and by ``H^T H / n``.
    by_shared : ndarray of shape (n_labeled, R)
        By the rows of ``H`` of the labeled samples.
    by_white : ndarray of shape (n_labeled,)
        By the noise of the labeled samples about the mean, where labels attach to the consensus function.
    by_mean : float
        By the mean prior variance.
    by_log_noise : float
        By the logarithm of the noise variance.
    """

    evidence: FeatureEvidence
    by_precision: NDArray[np.float64]
    by_outer: NDArray[np.float64]
    by_shared: NDArray[np.float64]
    by_white: NDArray[np.float64]
    by_mean: float
    by_log_noise: float

    @property
    def _by_sum(self) -> NDArray[np.float64]:
        """By ``H^T H``."""
        return self.by_outer / max(len(self.evidence.consensus.presence), 1)

    @cached_property
    def _view_sums(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """``phi_ij^T D[j, k] phi_ik`` summed by pattern for both matrices (n_patterns, n_views, n_views)."""
        sums = self.evidence.sums
        if not self.by_mean:
            by_precision = sums.view_sums(self.by_precision)
            return by_precision, np.zeros_like(by_precision)
        return sums.view_sums(self.by_precision), sums.view_sums(self._by_sum)

    @cached_property
    def _by_shares(self) -> NDArray[np.float64]:
        """Shares of the labeled samples times the derivative by them (n_labeled, n_views)."""
        consensus = self.evidence.consensus
        weighted = consensus.shared_rows(self.evidence.rows) * self.by_shared
        return np.stack([weighted[:, here].sum(axis=1) for here in consensus.view_columns], axis=1)

    def log_variances(self) -> NDArray[np.float64]:
        """By the logarithms of the view variances (n_views,), zero for infinite ones; no pass over samples."""
        evidence, consensus = self.evidence, self.evidence.consensus
        weights, patterns = consensus.weights, evidence.sums.patterns
        gradient = variance_gradient(weights, patterns.presence, *self._view_sums)
        shares = weights.shares(consensus.presence[evidence.rows])
        by_labeled = self._by_shares - shares * self._by_shares.sum(axis=1, keepdims=True)
        gradient = gradient - np.where(weights.finite, by_labeled.sum(axis=0), 0.0)
        if isinstance(evidence.prior, ConsensusPrior):
            # d (1 / W_i) / d log sigma_j^2 = c_ij / W_i
            on_labeled = self.by_white * evidence.prior.white[evidence.rows]
            gradient = gradient + on_labeled @ shares
            total = patterns.presence @ weights.precisions
            everywhere = self.by_mean * patterns.counts / (patterns.counts.sum() * total)
            gradient = gradient + everywhere @ weights.shares(patterns.presence)
        return np.asarray(gradient)

    def log_amplitudes(self) -> NDArray[np.float64]:
        """By the logarithms of factors of the views' kernels (n_views,); no pass over samples."""
        patterns, weights = self.evidence.sums.patterns, self.evidence.consensus.weights
        by_precision, by_sum = self._view_sums
        shares = weights.shares(patterns.presence)
        pairs = signed_pairs(weights, patterns.presence) * by_precision
        outer = shares[:, :, None] * shares[:, None, :] * by_sum
        return np.asarray((pairs + outer).sum(axis=(0, 2)) + 0.5 * self._by_shares.sum(axis=0))

    def feature_blocks(self) -> Iterator[tuple[slice, list[NDArray[np.float64]], list[NDArray[np.float64]]]]:
        """By the features of training samples, block by block: rows, features and derivatives (n_block_j, r_j) of each view.

        One product per pattern of views, O(R^2) per sample.
        """
        consensus, patterns = self.evidence.consensus, self.evidence.sums.patterns
        widths = np.array(consensus.training.widths, dtype=np.intp)
        columns = consensus.view_columns
        for block in row_slices(len(consensus.presence)):
            presence, features = consensus.presence[block], consensus.training.take(block)
            derivatives = [np.empty(part.shape) for part in features]
            places = np.cumsum(presence, axis=0) - 1
            for p, mine, stacked in stacked_by_pattern(features, presence, patterns, block):
                views = np.flatnonzero(patterns.presence[p]).tolist()
                products = stacked @ self._pattern_matrix(p)
                stops = np.cumsum(widths[views])
                for j, stop in zip(views, stops, strict=True):
                    derivatives[j][places[mine, j]] = products[:, stop - widths[j] : stop]
            self._add_labeled(derivatives, block, places, columns)
            yield block, features, derivatives

    def _pattern_matrix(self, p: int) -> NDArray[np.float64]:
        """What features of a sample are multiplied by (R_p, R_p), views as its pattern has them."""
        consensus, patterns = self.evidence.consensus, self.evidence.sums.patterns
        held = patterns.presence[p]
        widths = np.array(consensus.training.widths, dtype=np.intp)
        kept = np.flatnonzero(np.repeat(held, widths))
        shares = consensus.weights.shares(held[None])[0]
        pairs = signed_pairs(consensus.weights, held[None])[0]

        def spread(factors: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.repeat(np.repeat(factors[np.ix_(held, held)], widths[held], axis=0), widths[held], axis=1)

        grid = np.ix_(kept, kept)
        matrix = 2.0 * spread(pairs) * self.by_precision[grid]
        if self.by_mean:
            matrix += 2.0 * spread(np.outer(shares, shares)) * self._by_sum[grid]
        return np.asarray(matrix)

    def _add_labeled(
        self,
        derivatives: list[NDArray[np.float64]],
        block: slice,
        places: NDArray[np.intp],
        columns: list[slice],
    ) -> None:
        """Add what the labeled samples of a block say of their own features."""
        rows, consensus = self.evidence.rows, self.evidence.consensus
        inside = np.flatnonzero((rows >= block.start) & (rows < block.stop))
        presence = consensus.presence[rows[inside]]
        shares = consensus.weights.shares(presence)
        for j, here in enumerate(columns):
            mine = np.flatnonzero(presence[:, j])
            own = shares[mine, j, None] * self.by_shared[inside[mine], here]
            derivatives[j][places[rows[inside[mine]] - block.start, j]] += own
