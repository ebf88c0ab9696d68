"""Small random consensus problems and the joint Gaussian that answers every question about them by brute force."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coview.inference import DenseConsensus, FeatureConsensus, HeldFeatures, NewFeatures, NewGrams, ViewWeights


@dataclass
class Problem:
    """Features of training rows and new rows per view; kernels are their inner products."""

    presence: np.ndarray
    features: list[np.ndarray]
    new_presence: np.ndarray
    new_features: list[np.ndarray]
    variances: np.ndarray
    factors: np.ndarray | None = None

    @property
    def weights(self):
        return ViewWeights.of(self.variances, len(self.features), self.factors)

    @property
    def grams(self):
        return [block @ block.T for block in self.features]

    @property
    def dense(self):
        return DenseConsensus(self.grams, self.weights, self.presence)

    @property
    def low_rank(self):
        return FeatureConsensus.of(HeldFeatures(self.features, self.presence), self.weights)

    @property
    def new_grams(self):
        crosses = [new @ old.T for new, old in zip(self.new_features, self.features, strict=True)]
        return NewGrams(self.new_presence, crosses, [np.square(new).sum(axis=1) for new in self.new_features])

    @property
    def new_rows(self):
        return NewFeatures(self.new_presence, self.new_features)


def random_presence(rng, n, m, share=0.6):
    presence = rng.random((n, m)) < share
    lost = np.flatnonzero(~presence.any(axis=1))
    presence[lost, rng.integers(m, size=lost.size)] = True
    return presence


def random_problem(seed, *, n=9, widths=(12, 14, 13), variances=(0.3, 1.0, 0.1), presence=None, n_new=4, factors=None):
    """Widths of at least n + n_new make the kernels positive definite over training and new rows."""
    rng = np.random.default_rng(seed)
    m = len(widths)
    presence = random_presence(rng, n, m) if presence is None else np.asarray(presence)
    new_presence = random_presence(rng, n_new, m)
    features, new_features = [], []
    for j, width in enumerate(widths):
        features.append(rng.normal(size=(presence[:, j].sum(), width)) / np.sqrt(width))
        new_features.append(rng.normal(size=(new_presence[:, j].sum(), width)) / np.sqrt(width))
    return Problem(presence, features, new_presence, new_features, np.asarray(variances, dtype=float), factors)


@dataclass
class Joint:
    """Covariance of (f_c, every view's function at training and new rows) from the factor graph, with index maps."""

    covariance: np.ndarray
    consensus: np.ndarray
    training: list[np.ndarray]
    new: list[np.ndarray]

    def block(self, rows, columns):
        return self.covariance[np.ix_(rows, columns)]


def brute_force(problem):
    """Invert the whole precision: Gaussian-process priors of the views, and a spring from each view to the consensus."""
    n = len(problem.presence)
    size, training, new = n, [], []
    for old, fresh in zip(problem.features, problem.new_features, strict=True):
        training.append(np.arange(size, size + len(old)))
        new.append(np.arange(size + len(old), size + len(old) + len(fresh)))
        size += len(old) + len(fresh)
    precision = np.zeros((size, size))
    for j, variance in enumerate(problem.variances):
        stacked = np.concatenate([problem.features[j], problem.new_features[j]])
        here = np.concatenate([training[j], new[j]])
        precision[np.ix_(here, here)] += np.linalg.inv(stacked @ stacked.T)
        rows = np.flatnonzero(problem.presence[:, j])
        precision[rows, rows] += 1 / variance
        precision[training[j], training[j]] += 1 / variance
        precision[rows, training[j]] -= 1 / variance
        precision[training[j], rows] -= 1 / variance
    return Joint(np.linalg.inv(precision), np.arange(n), training, new)


def mean_map(problem, joint):
    """The mean of the views of each training row as a map of all latent values."""
    w = 1 / problem.variances
    shares = problem.presence * w / (problem.presence @ w)[:, None]
    matrix = np.zeros((len(problem.presence), len(joint.covariance)))
    for j, places in enumerate(joint.training):
        rows = np.flatnonzero(problem.presence[:, j])
        matrix[rows, places] = shares[rows, j]
    return matrix
