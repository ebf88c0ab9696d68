"""Label-free covariances of a latent function over training samples and new ones, behind one face."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference._consensus import DenseConsensus, Experts
from coview.inference._feature_consensus import FeatureConsensus

__all__ = ["ConsensusPrior", "JointFeatures", "JointPrior", "MeanPrior", "Prior"]


@dataclass(frozen=True)
class MeanPrior:
    """The mean that the views imply, covariance ``K_s``, from Gram matrices or from features."""

    consensus: DenseConsensus | FeatureConsensus

    @cached_property
    def mean_diagonal(self) -> float:
        """Mean prior variance over all training samples."""
        return float(self.diagonal().mean())

    def columns(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """``K_s(:, rows)``."""
        if isinstance(self.consensus, DenseConsensus):
            return self.consensus.mean_covariance[:, rows]
        return self.consensus.rows(np.arange(len(self.consensus.presence))) @ self.consensus.rows(rows).T

    def block(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """``K_s(rows, rows)``."""
        if isinstance(self.consensus, DenseConsensus):
            return self.consensus.mean_covariance[np.ix_(rows, rows)]
        psi = self.consensus.rows(rows)
        return psi @ psi.T

    def diagonal(self) -> NDArray[np.float64]:
        """Diagonal of ``K_s``."""
        if isinstance(self.consensus, DenseConsensus):
            return np.diagonal(self.consensus.mean_covariance)
        return self.consensus.diagonal()

    def at(self, new: Any, rows: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean at new rows is a function of their views: shares times the views' experts."""
        if isinstance(self.consensus, FeatureConsensus):
            psi = self.consensus.map(new)
            return psi @ self.consensus.rows(rows).T, np.square(psi).sum(axis=1)
        experts, shares = self._experts(new, rows)
        cross = np.einsum("ij,jik->ik", shares, experts.crosses)
        return cross, np.einsum("ij,ijk,ik->i", shares, experts.covariances, shares)

    def contributions(self, new: Any, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Shares times each view's own covariance with the latent function."""
        experts, shares = self._experts(new, rows)
        return shares.T[:, :, None] * experts.crosses

    def _experts(self, new: Any, rows: NDArray[np.intp]) -> tuple[Experts, NDArray[np.float64]]:
        experts = self.consensus.experts(new, rows)
        return experts, self.consensus.weights.shares(experts.presence)


@dataclass(frozen=True)
class ConsensusPrior:
    """The consensus function of the papers, covariance ``K_c = K_s + diag(1 / W)``."""

    consensus: DenseConsensus | FeatureConsensus

    @cached_property
    def white(self) -> NDArray[np.float64]:
        """``1 / W`` (n_samples,), the part of the variance that no view explains."""
        return np.asarray(1.0 / (self.consensus.presence @ self.consensus.weights.precisions))

    @cached_property
    def mean_diagonal(self) -> float:
        """Mean prior variance over all training samples."""
        return float(self.diagonal().mean())

    def columns(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """``K_c(:, rows)``."""
        if isinstance(self.consensus, DenseConsensus):
            return self.consensus.consensus_covariance[:, rows]
        columns = self.consensus.rows(np.arange(len(self.consensus.presence))) @ self.consensus.rows(rows).T
        columns[rows, np.arange(rows.size)] += self.white[rows]
        return columns

    def block(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """``K_c(rows, rows)``."""
        if isinstance(self.consensus, DenseConsensus):
            return self.consensus.consensus_covariance[np.ix_(rows, rows)]
        psi = self.consensus.rows(rows)
        return psi @ psi.T + np.diag(self.white[rows])

    def diagonal(self) -> NDArray[np.float64]:
        """Diagonal of ``K_c``."""
        if isinstance(self.consensus, DenseConsensus):
            return np.diagonal(self.consensus.consensus_covariance)
        return self.consensus.diagonal() + self.white

    def experts(self, new: Any, rows: NDArray[np.intp]) -> Experts:
        """Each view's opinion of the consensus at new rows: its function plus noise of variance ``sigma_j^2``."""
        experts = self.consensus.experts(new, rows)
        noise = np.where(self.consensus.weights.finite, self.consensus.weights.variances, 0.0)
        return Experts(experts.presence, experts.crosses, experts.covariances + np.diag(noise))


@dataclass(frozen=True)
class JointFeatures:
    """Features of new samples under one joint kernel, (n_new, r), and their split by view (n_views, n_new, r)."""

    features: NDArray[np.float64]
    by_view: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class JointPrior:
    """One ordinary latent function over features of all views together, covariance ``Phi Phi^T``."""

    features: NDArray[np.float64]

    @cached_property
    def mean_diagonal(self) -> float:
        """Mean prior variance over all training samples."""
        return float(np.square(self.features).sum() / max(len(self.features), 1))

    def columns(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """``Phi Phi(rows)^T``."""
        return self.features @ self.features[rows].T

    def block(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """``Phi(rows) Phi(rows)^T``."""
        return self.features[rows] @ self.features[rows].T

    def diagonal(self) -> NDArray[np.float64]:
        """Squared lengths of the training features."""
        return np.asarray(np.square(self.features).sum(axis=1))

    def at(self, new: JointFeatures, rows: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Inner products of the new features."""
        return new.features @ self.features[rows].T, np.square(new.features).sum(axis=1)

    def contributions(self, new: JointFeatures, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Inner products of each view's part of the new features."""
        if new.by_view is None:
            raise ValueError("These features mix the views and have no part that belongs to one of them.")
        return new.by_view @ self.features[rows].T


Prior = MeanPrior | ConsensusPrior | JointPrior
"""Covariance of a latent function, free of labels, scale and bias: over training samples by ``columns``, ``block`` and
``diagonal``; at new samples by ``at`` (or, for the consensus function, by its ``experts``)."""
