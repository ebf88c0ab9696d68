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
        if isinstance(self.consensus, FeatureConsensus):
            return self.consensus.mean_diagonal
        return float(self.diagonal().mean())

    @property
    def n_features(self) -> int | None:
        """Number of features whose inner products are ``K_s``; None where it is given by Gram matrices."""
        return None if isinstance(self.consensus, DenseConsensus) else self.consensus.n_features

    def features(self, rows: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """Features of training samples (n_rows, n_features), of all of them without ``rows``."""
        return _with_features(self.consensus).rows(rows)

    def new_features(self, new: Any) -> NDArray[np.float64]:
        """Features of new rows (n_new, n_features)."""
        return _with_features(self.consensus).map(new)

    def new_features_by_view(self, new: Any) -> NDArray[np.float64]:
        """Summands of the features of new rows, one per view (n_views, n_new, n_features)."""
        presence, stacked = _with_features(self.consensus).expert_rows(new)
        return self.consensus.weights.shares(presence).T[:, :, None] * stacked

    def columns(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """``K_s(:, rows)``."""
        if isinstance(self.consensus, DenseConsensus):
            return self.consensus.mean_covariance[:, rows]
        return self.features() @ self.features(rows).T

    def block(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """``K_s(rows, rows)``."""
        if isinstance(self.consensus, DenseConsensus):
            return self.consensus.mean_covariance[np.ix_(rows, rows)]
        psi = self.features(rows)
        return psi @ psi.T

    def diagonal(self) -> NDArray[np.float64]:
        """Diagonal of ``K_s``."""
        if isinstance(self.consensus, DenseConsensus):
            return np.diagonal(self.consensus.mean_covariance)
        return self.consensus.diagonal()

    def at(self, new: Any, rows: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean at new rows is a function of their views: shares times the views' experts."""
        if isinstance(self.consensus, FeatureConsensus):
            psi = self.new_features(new)
            return psi @ self.features(rows).T, np.square(psi).sum(axis=1)
        experts, shares = self._experts(new, rows)
        cross = np.einsum("ij,jik->ik", shares, experts.crosses)
        return cross, np.einsum("ij,ijk,ik->i", shares, experts.covariances, shares)

    def contributions(self, new: Any, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Shares times each view's own covariance with the latent function (n_views, n_new, n_rows)."""
        if isinstance(self.consensus, FeatureConsensus):
            return self.new_features_by_view(new) @ self.features(rows).T
        experts, shares = self._experts(new, rows)
        return shares.T[:, :, None] * experts.crosses

    def _experts(self, new: Any, rows: NDArray[np.intp]) -> tuple[Experts, NDArray[np.float64]]:
        experts = self.consensus.experts(new, rows)
        return experts, self.consensus.weights.shares(experts.presence)


def _with_features(consensus: DenseConsensus | FeatureConsensus) -> FeatureConsensus:
    if isinstance(consensus, DenseConsensus):
        raise TypeError("A prior of Gram matrices has no features.")
    return consensus


@dataclass(frozen=True)
class ConsensusPrior:
    """The consensus function of the papers, covariance ``K_c = K_s + diag(1 / W)``."""

    consensus: DenseConsensus | FeatureConsensus

    @property
    def n_features(self) -> None:
        """None: the white part is not made of features."""
        return None

    @cached_property
    def white(self) -> NDArray[np.float64]:
        """``1 / W`` (n_samples,), the part of the variance that no view explains."""
        return np.asarray(1.0 / (self.consensus.presence @ self.consensus.weights.precisions))

    @cached_property
    def mean_diagonal(self) -> float:
        """Mean prior variance over all training samples."""
        if isinstance(self.consensus, FeatureConsensus):
            return self.consensus.mean_diagonal + float(self.white.mean())
        return float(self.diagonal().mean())

    def columns(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """``K_c(:, rows)``."""
        if isinstance(self.consensus, DenseConsensus):
            return self.consensus.consensus_covariance[:, rows]
        columns = self.consensus.rows() @ self.consensus.rows(rows).T
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

    training: NDArray[np.float64]

    @cached_property
    def mean_diagonal(self) -> float:
        """Mean prior variance over all training samples."""
        return float(np.square(self.training).sum() / max(len(self.training), 1))

    @property
    def n_features(self) -> int:
        """Width of the features."""
        return int(self.training.shape[1])

    def features(self, rows: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """Features of training samples (n_rows, n_features), of all of them without ``rows``."""
        return self.training if rows is None else self.training[rows]

    def new_features(self, new: JointFeatures) -> NDArray[np.float64]:
        """Features of new rows (n_new, n_features)."""
        return new.features

    def new_features_by_view(self, new: JointFeatures) -> NDArray[np.float64]:
        """Summands of the features of new rows, one per view (n_views, n_new, n_features)."""
        if new.by_view is None:
            raise ValueError("These features mix the views and have no part that belongs to one of them.")
        return new.by_view

    def columns(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """``Phi Phi(rows)^T``."""
        return self.training @ self.training[rows].T

    def block(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """``Phi(rows) Phi(rows)^T``."""
        return self.training[rows] @ self.training[rows].T

    def diagonal(self) -> NDArray[np.float64]:
        """Squared lengths of the training features."""
        return np.asarray(np.square(self.training).sum(axis=1))

    def at(self, new: JointFeatures, rows: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Inner products of the new features."""
        return new.features @ self.training[rows].T, np.square(new.features).sum(axis=1)

    def contributions(self, new: JointFeatures, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Inner products of each view's part of the new features."""
        return self.new_features_by_view(new) @ self.training[rows].T


Prior = MeanPrior | ConsensusPrior | JointPrior
"""Covariance of a latent function, free of labels, scale and bias: over training samples by ``columns``, ``block`` and
``diagonal``; at new samples by ``at`` (or, for the consensus function, by its ``experts``)."""
