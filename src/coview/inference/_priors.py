"""Label-free covariances of a latent function over training samples and new ones, behind one face."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference._consensus import DenseConsensus, Experts
from coview.inference._feature_consensus import FeatureConsensus
from coview.inference._feature_rows import FeatureRows, HeldFeatures, row_slices

__all__ = ["ConsensusPrior", "JointFeatures", "JointPrior", "MeanPrior", "Prior"]


@dataclass(frozen=True)
class MeanPrior:
    """The mean that the views imply, covariance ``K_s``, from Gram matrices or from features."""

    consensus: DenseConsensus | FeatureConsensus

    @property
    def n_samples(self) -> int:
        """Training samples."""
        return len(self.consensus.presence)

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

    def features(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Features of training samples (n_rows, n_features)."""
        return _with_features(self.consensus).rows(rows)

    def plain_rows(self, block: slice) -> NDArray[np.float64]:
        """What a linear map, see `through_plain`, makes the features of a block of training samples from (n_block, q)."""
        return _with_features(self.consensus).shared_rows(block)

    def plain(self, new: Any) -> NDArray[np.float64]:
        """The same of new rows (n_new, q)."""
        return _with_features(self.consensus).shared(new)

    def through_plain(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """A matrix (p, n_features) that acts on features, as one that acts on `plain` ones: no row needs its features."""
        factor = _with_features(self.consensus).factor
        return matrix if factor is None else factor.half_solve(matrix.T, transposed=True).T

    def plain_parts(self, new: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """`plain` features of new rows times ``weights`` (q, K) as a sum over views (n_views, n_new, K)."""
        plain = self.plain(new)
        return np.stack([plain[:, here] @ weights[here] for here in _with_features(self.consensus).view_columns])

    def columns(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """``K_s(:, rows)``."""
        if isinstance(self.consensus, DenseConsensus):
            return self.consensus.mean_covariance[:, rows]
        return _feature_columns(self.consensus, rows)

    def at_training(self, block: slice, rows: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """``K_s(block, rows)`` and the diagonal over the block."""
        if isinstance(self.consensus, DenseConsensus):
            K = self.consensus.mean_covariance[block]
            return K[:, rows], np.diagonal(self.consensus.mean_covariance)[block]
        psi = self.consensus.rows(block)
        return psi @ self.features(rows).T, np.einsum("ij,ij->i", psi, psi)

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
            psi = self.consensus.map(new)
            return psi @ self.features(rows).T, np.einsum("ij,ij->i", psi, psi)
        experts, shares = self._experts(new, rows)
        cross = np.einsum("ij,jik->ik", shares, experts.crosses)
        return cross, np.einsum("ij,ijk,ik->i", shares, experts.covariances, shares)

    def contributions(self, new: Any, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Shares times each view's own covariance with the latent function (n_views, n_new, n_rows)."""
        if isinstance(self.consensus, FeatureConsensus):
            return self.plain_parts(new, self.through_plain(self.features(rows)).T)
        experts, shares = self._experts(new, rows)
        return shares.T[:, :, None] * experts.crosses

    def _experts(self, new: Any, rows: NDArray[np.intp]) -> tuple[Experts, NDArray[np.float64]]:
        experts = self.consensus.experts(new, rows)
        return experts, self.consensus.weights.shares(experts.presence)


def _with_features(consensus: DenseConsensus | FeatureConsensus) -> FeatureConsensus:
    if isinstance(consensus, DenseConsensus):
        raise TypeError("A prior of Gram matrices has no features.")
    return consensus


def _feature_columns(consensus: FeatureConsensus, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """``K_s(:, rows)``, block by block: features of all samples never stand together."""
    columns = np.empty((len(consensus.presence), rows.size))
    psi = consensus.rows(rows).T
    for block in row_slices(len(columns)):
        columns[block] = consensus.rows(block) @ psi
    return columns


@dataclass(frozen=True)
class ConsensusPrior:
    """The consensus function of the papers, covariance ``K_c = K_s + diag(1 / W)``."""

    consensus: DenseConsensus | FeatureConsensus

    @property
    def n_samples(self) -> int:
        """Training samples."""
        return len(self.consensus.presence)

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
            columns = self.consensus.mean_covariance[:, rows]
        else:
            columns = _feature_columns(self.consensus, rows)
        columns[rows, np.arange(rows.size)] += self.white[rows]
        return columns

    def block(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """``K_c(rows, rows)``."""
        block = MeanPrior(self.consensus).block(rows)
        block.flat[:: rows.size + 1] += self.white[rows]
        return block

    def at_training(self, block: slice, rows: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """``K_c(block, rows)`` and the diagonal over the block, of Gram matrices."""
        if isinstance(self.consensus, FeatureConsensus):
            raise TypeError("Features give the posterior of the consensus function by themselves.")
        cross, variances = MeanPrior(self.consensus).at_training(block, rows)
        inside = np.flatnonzero((rows >= block.start) & (rows < block.stop))
        cross[rows[inside] - block.start, inside] += self.white[rows[inside]]
        return cross, variances + self.white[block]

    def diagonal(self) -> NDArray[np.float64]:
        """Diagonal of ``K_c``."""
        return MeanPrior(self.consensus).diagonal() + self.white

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


class MeanSquares:
    """Mean square of each feature over the training samples, taken when it is first asked for."""

    def __init__(self, training: FeatureRows) -> None:
        self._training = training

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Of all features (r,)."""
        total = np.zeros(self._training.widths[0])
        for block in row_slices(len(self._training.presence)):
            (features,) = self._training.take(block)
            total += np.einsum("ij,ij->j", features, features)
        return total / max(len(self._training.presence), 1)


@dataclass(frozen=True)
class JointPrior:
    """One ordinary latent function over features of all views together, covariance ``Phi Phi^T``.

    Attributes
    ----------
    training : FeatureRows
        Features of the training samples, as of one view that all of them have.
    mean_squares : MeanSquares
        Of these features and perhaps of more behind them.
    """

    training: FeatureRows
    mean_squares: MeanSquares

    @classmethod
    def of(cls, training: FeatureRows | NDArray[np.float64]) -> JointPrior:
        """The prior of features given as rows of one view, or as one array (n_samples, r)."""
        if isinstance(training, np.ndarray):
            training = HeldFeatures([training], np.ones((len(training), 1), dtype=bool))
        return cls(training, MeanSquares(training))

    def truncated(self, n_components: int) -> JointPrior:
        """The same with the leading ``n_components`` features."""
        return JointPrior(self.training.truncated(n_components), self.mean_squares)

    @property
    def mean_diagonal(self) -> float:
        """Mean prior variance over all training samples."""
        return float(self.mean_squares.values[: self.n_features].sum())

    @property
    def n_samples(self) -> int:
        """Training samples."""
        return len(self.training.presence)

    @property
    def n_features(self) -> int:
        """Width of the features."""
        return self.training.widths[0]

    def features(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Features of training samples (n_rows, n_features)."""
        return self.training.take(rows)[0]

    def plain_rows(self, block: slice) -> NDArray[np.float64]:
        """Features of a block of training samples."""
        return self.training.take(block)[0]

    def plain(self, new: JointFeatures) -> NDArray[np.float64]:
        """Features of new rows (n_new, n_features)."""
        return new.features

    def through_plain(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """The matrix itself: features are the plain ones."""
        return matrix

    def plain_parts(self, new: JointFeatures, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Each view's part of the new features times ``weights`` (r, K): (n_views, n_new, K)."""
        if new.by_view is None:
            raise ValueError("These features mix the views and have no part that belongs to one of them.")
        return np.asarray(new.by_view @ weights)

    def columns(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """``Phi Phi(rows)^T``."""
        columns = np.empty((self.n_samples, rows.size))
        for block in row_slices(self.n_samples):
            columns[block] = self.at_training(block, rows)[0]
        return columns

    def at_training(self, block: slice, rows: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """``Phi(block) Phi(rows)^T`` and the squared lengths of the block's features."""
        features = self.plain_rows(block)
        return features @ self.features(rows).T, np.einsum("ij,ij->i", features, features)

    def block(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """``Phi(rows) Phi(rows)^T``."""
        features = self.features(rows)
        return features @ features.T

    def diagonal(self) -> NDArray[np.float64]:
        """Squared lengths of the training features."""
        parts = [np.square(self.plain_rows(block)).sum(axis=1) for block in row_slices(self.n_samples)]
        return np.concatenate([np.zeros(0), *parts])

    def at(self, new: JointFeatures, rows: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Inner products of the new features."""
        return new.features @ self.features(rows).T, np.einsum("ij,ij->i", new.features, new.features)

    def contributions(self, new: JointFeatures, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Inner products of each view's part of the new features."""
        return self.plain_parts(new, self.features(rows).T)


Prior = MeanPrior | ConsensusPrior | JointPrior
"""Covariance of a latent function, free of labels, scale and bias: over training samples by ``columns``, ``block`` and
``diagonal``; at new samples by ``at`` (or, for the consensus function, by its ``experts``)."""
