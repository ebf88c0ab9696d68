"""What labels and views would tell of the weights of logistic regressions of several views, and how they would move them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax

from coview.inference._co_regularized_logistic import factored_precision
from coview.inference._entropies import predictive_entropies
from coview.inference._logistic_normal import moderated_logit
from coview.linalg import CholeskyFactor

__all__ = [
    "LogisticChange",
    "LogisticPosterior",
    "certain_view_information",
    "logistic_change",
    "logistic_label_information",
    "logistic_view_information",
    "one_against_rest_entropies",
]

Array = NDArray[np.float64]

_BISECTIONS = 60
_BLOCK = 1 << 22


@dataclass(frozen=True)
class LogisticPosterior:
    """Gaussian about the most probable weights of one classifier per view, Laplace's approximation.

    Attributes
    ----------
    weights : ndarray of shape (d,)
        Of all views, one after the other; with an intercept the constant of a view stands after its features.
    precision : ndarray of shape (d, d)
    widths : tuple of int
        Number of weights of each view.
    agreement : float
        Prior precision of the difference between the log odds of two views of a sample.
    smoothness : ndarray of shape (n_views,)
        Prior precision of the difference between the log odds of two samples in a view, times their affinity.
    kernel_variances : ndarray of shape (n_views,)
        Of the affinities, in squared units of the features.
    normalized : bool
        Whether affinities are densities.
    constants : bool
        Whether the last feature of each view is a constant.
    """

    weights: Array
    precision: Array
    widths: tuple[int, ...]
    agreement: float
    smoothness: Array
    kernel_variances: Array
    normalized: bool
    constants: bool

    @cached_property
    def places(self) -> list[slice]:
        """Where the weights of each view stand."""
        ends = np.cumsum(self.widths)
        return [slice(int(end - width), int(end)) for end, width in zip(ends, self.widths, strict=True)]

    @cached_property
    def factor(self) -> CholeskyFactor:
        """Cholesky factor L of the precision."""
        return factored_precision(self.precision)

    @cached_property
    def _halves(self) -> list[Array]:
        """Columns of ``L^{-1}`` of each view (d, d_v)."""
        half = self.factor.half_solve(np.eye(len(self.precision), order="F"))
        return [half[:, place] for place in self.places]

    def whitened(self, view: int, features: Array) -> Array:
        """``L^{-1} x`` of features (n, d_v) of one view, (n, d): products of these are posterior covariances."""
        return np.asarray(features @ self._halves[view].T)

    def log_odds(self, view: int, features: Array) -> Array:
        """Of features (n, d_v) of one view (n,)."""
        return np.asarray(features @ self.weights[self.places[view]])

    def rough_directions(self, view: int, features: Array, seen: Array) -> Array:
        """Directions in the weights of one view whose squares are what each sample adds to the smoothness.

        Parameters
        ----------
        view : int
        features : ndarray of shape (n, d_v)
        seen : ndarray of shape (n_seen, d_v)
            The samples that have the view.

        Returns
        -------
        directions : ndarray of shape (n, d_v, d_v)
            Rows r with ``sum r r^T = lambda_0 sum_j K(x, x_j)(x - x_j)(x - x_j)^T``.
        """
        added = np.empty((len(features), features.shape[1], features.shape[1]))
        variance = self.kernel_variances[view]
        size = max(1, _BLOCK // max(seen.size, 1))
        p = self.widths[view] - self.constants if self.normalized else 0
        for start in range(0, len(features), size):
            apart = features[start : start + size, None] - seen
            log_affinity = -0.5 * np.square(apart).sum(axis=2) / variance - 0.5 * p * np.log(2.0 * np.pi * variance)
            weighted = apart * np.exp(log_affinity)[:, :, None]
            added[start : start + size] = self.smoothness[view] * (weighted.swapaxes(1, 2) @ apart)
        values, vectors = np.linalg.eigh(added)
        return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, :, None] * vectors.swapaxes(1, 2))


@dataclass(frozen=True)
class LogisticChange:
    """What n measurements would change of a posterior, each by itself, in coordinates in which its precision is the identity.

    Attributes
    ----------
    directions : ndarray of shape (n, r, d)
        H, so that ``I + H^T H`` is the precision after a measurement.
    gradient : ndarray of shape (n, r)
        Of the log posterior at the old mode, ``H^T gradient``.
    """

    directions: Array
    gradient: Array

    @cached_property
    def _gram(self) -> Array:
        H = self.directions
        return np.asarray(np.eye(H.shape[1]) + H @ H.swapaxes(1, 2))

    @cached_property
    def information(self) -> Array:
        """``log |I + H^T H| / 2`` in nats (n,)."""
        return np.asarray(0.5 * np.linalg.slogdet(self._gram)[1])

    @cached_property
    def step(self) -> Array:
        """To the new mode (n, d)."""
        along = np.linalg.solve(self._gram, self.gradient[:, :, None])
        return np.asarray((along.swapaxes(1, 2) @ self.directions)[:, 0])

    @cached_property
    def _roots(self) -> Array:
        """Rows (n, r, d) whose squares are the fall of the covariance."""
        L = np.linalg.cholesky(self._gram)
        if L.shape[1] == 1:
            return np.asarray(self.directions / L)
        return np.asarray(np.linalg.solve(L, self.directions))

    def elsewhere(self, whitened: Array) -> tuple[Array, Array]:
        """Change of the means and fall of the variances of log odds with whitened features (N, d), each (N, n)."""
        fall = np.zeros((len(whitened), len(self.step)))
        for r in range(self.directions.shape[1]):
            fall += np.square(whitened @ self._roots[:, r].T)
        return whitened @ self.step.T, fall

    def at(self, whitened: Array) -> tuple[Array, Array]:
        """The same for features (n, d) that belong to each measurement, each (n,)."""
        along = np.einsum("nd,nd->n", self.step, whitened)
        return along, np.square(np.einsum("nrd,nd->nr", self._roots, whitened)).sum(axis=1)


def logistic_change(
    posterior: LogisticPosterior,
    view: int,
    features: Array,
    *,
    known: Array,
    odds: Array,
    agreement: Array,
    signs: Array,
    seen: Array,
) -> LogisticChange:
    """What measurements of one view change of a posterior.

    Parameters
    ----------
    posterior : LogisticPosterior
    view : int
    features : ndarray of shape (n, d_v)
        Measured values, a constant last where there is one.
    known : ndarray of shape (n, m, d)
        Whitened features of other views of the samples, 0 where they lack one.
    odds : ndarray of shape (n, m)
        Log odds of these views.
    agreement : ndarray of shape (n, m)
        Precision of agreement with them, 0 where there is none.
    signs : ndarray of shape (n,)
        -1 or +1 for labeled samples, 0 for others.
    seen : ndarray of shape (n_seen, d_v)
        The samples that have the view, for the smoothness.

    Returns
    -------
    change : LogisticChange

    Notes
    -----
    Terms of the prior are quadratic, and the mode with them exact. The label of a labeled sample now counts for this view, too:
    its site lies where it is most probable, given the old sites of all other labels.
    """
    x, f = posterior.whitened(view, features), posterior.log_odds(view, features)
    roots = np.sqrt(agreement)
    directions = [roots[:, :, None] * (known - x[:, None])]
    gradients = [-roots * (odds - f[:, None])]
    if posterior.smoothness[view] > 0.0:
        rough = posterior.rough_directions(view, features, seen)
        directions.append(posterior.whitened(view, rough.reshape(-1, features.shape[1])).reshape(*rough.shape[:2], -1))
        gradients.append(-(rough @ posterior.weights[posterior.places[view]]))
    prior = LogisticChange(np.concatenate(directions, axis=1), np.concatenate(gradients, axis=1))
    if not signs.any():
        return prior
    moved, fallen = prior.at(x)
    mean, variance = f + moved, np.einsum("nd,nd->n", x, x) - fallen
    after = _mode_with_label(mean, np.maximum(variance, 0.0), signs)
    curvature = np.where(signs != 0.0, np.maximum(expit(after) * expit(-after), 1e-300), 0.0)
    root = np.sqrt(curvature)
    slope = np.where(signs != 0.0, signs * expit(-signs * after), 0.0) + curvature * (after - f)
    own = np.divide(slope, root, out=np.zeros_like(slope), where=root > 0.0)
    return LogisticChange(
        np.concatenate([prior.directions, (root[:, None] * x)[:, None]], axis=1),
        np.concatenate([prior.gradient, own[:, None]], axis=1),
    )


def _mode_with_label(mean: Array, variance: Array, signs: Array) -> Array:
    """Most probable log odds under a Gaussian and a label: ``z - z_0 = variance sigma(-z)`` for the margin z, by bisection."""
    start = signs * mean
    low, high = start, start + variance
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        below = middle - start < variance * expit(-middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(signs * 0.5 * (low + high))


def logistic_label_information(
    posterior: LogisticPosterior, blocks: Sequence[Array], rows: Sequence[NDArray[np.intp]], n_samples: int
) -> Array:
    """Information of the label of each sample about the weights of all views, equation (15) of Krishnapuram et al.

    Parameters
    ----------
    posterior : LogisticPosterior
    blocks : sequence of ndarray of shape (n_v, d_v)
    rows : sequence of ndarray of shape (n_v,)
        Positions of the samples that have each view.
    n_samples : int

    Returns
    -------
    information : ndarray of shape (n_samples,)
        ``log det(I + X Delta^-1 X^T) / 2`` over the views of a sample, each row times the root of ``p (1 - p)``; in nats. One
        factorization, O(d^2) per sample.
    """
    information, size = np.zeros(n_samples), max(1, _BLOCK // (len(posterior.weights) * len(blocks)))
    for start in range(0, n_samples, size):
        half = np.zeros((min(size, n_samples - start), len(blocks), len(posterior.weights)))
        for v, (block, here) in enumerate(zip(blocks, rows, strict=True)):
            part = slice(*np.searchsorted(here, [start, start + size]))
            f = posterior.log_odds(v, block[part])
            half[here[part] - start, v] = posterior.whitened(v, block[part]) * np.sqrt(expit(f) * expit(-f))[:, None]
        information[start : start + len(half)] = LogisticChange(half, np.zeros(half.shape[:2])).information
    return information


def logistic_view_information(
    posterior: LogisticPosterior, view: int, known: Array, agreement: Array, mean: Array, own: Array
) -> Array:
    """Jensen's bound of the information of one view of each sample about the weights, equations (14), (20), (21).

    Parameters
    ----------
    posterior : LogisticPosterior
    view : int
        The view to be measured.
    known : ndarray of shape (n, m, d)
        Whitened features of other views of the samples, 0 where they lack one.
    agreement : ndarray of shape (n, m)
        Precision of agreement with each of them, 0 where there is none.
    mean : ndarray of shape (n, d_v)
        Expected features of the view.
    own : ndarray of shape (n, d_v, d_v)
        Expected increment of the block of the view.

    Returns
    -------
    information : ndarray of shape (n,), in nats

    Notes
    -----
    The increment of the precision lives on the features that are known and on the block of the view: determinants of order
    ``d_v + m`` are enough, O((d_v + m)^3) per sample.
    """
    n, k = agreement.shape
    p = mean.shape[1]
    units = posterior.whitened(view, np.eye(p))
    information, size = np.empty(n), max(1, _BLOCK // (k + p) ** 2)
    for start in range(0, n, size):
        part = slice(start, min(start + size, n))
        strength = agreement[part]
        G = np.empty((len(strength), k + p, k + p))
        G[:, :k, :k] = known[part] @ known[part].swapaxes(1, 2)
        G[:, :k, k:] = known[part] @ units.T
        G[:, k:, :k] = G[:, :k, k:].swapaxes(1, 2)
        G[:, k:, k:] = units @ units.T
        B = np.zeros_like(G)
        B[:, np.arange(k), np.arange(k)] = strength
        B[:, :k, k:] = -strength[:, :, None] * mean[part][:, None]
        B[:, k:, :k] = B[:, :k, k:].swapaxes(1, 2)
        B[:, k:, k:] = own[part]
        information[part] = 0.5 * np.linalg.slogdet(np.eye(k + p) + B @ G)[1]
    return information


def certain_view_information(
    posterior: LogisticPosterior,
    view: int,
    features: Array,
    known: Array,
    agreement: Array,
    labeled: NDArray[np.bool_],
) -> Array:
    """The same for features (n, d_v) that are certain and no smoothness: a change of low rank, O(m d d_v) per sample."""
    information = np.empty(len(features))
    size = max(1, _BLOCK // (known.shape[1] * known.shape[2]))
    for start in range(0, len(features), size):
        part = slice(start, start + size)
        x, f = posterior.whitened(view, features[part]), posterior.log_odds(view, features[part])
        slope = np.where(labeled[part], np.sqrt(expit(f) * expit(-f)), 0.0)
        apart = np.sqrt(agreement[part])[:, :, None] * (known[part] - x[:, None])
        directions = np.concatenate([apart, (slope[:, None] * x)[:, None]], axis=1)
        information[part] = LogisticChange(directions, np.zeros(directions.shape[:2])).information
    return information


def one_against_rest_entropies(means: Array, variances: Array) -> Array:
    """Entropy of the class of each sample, from moments of log odds.

    Parameters
    ----------
    means, variances : ndarray of shape (K, ...)
        K = 1 for two classes, otherwise one classifier per class, whose probabilities are scaled to sum to one.

    Returns
    -------
    entropies : ndarray of shape (...), in nats
    """
    if len(means) == 1:
        return predictive_entropies(means, variances)
    log_p = log_softmax(log_expit(moderated_logit(means, variances)), axis=0)
    return np.asarray(-np.einsum("k...,k...->...", np.exp(log_p), log_p))
