"""Scores of measurements for Bayesian co-training on features: information, variances, entropy of the predictions."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.acquisition._densities import PossibleValues
from coview.acquisition._scored_model import ScoredModel
from coview.inference import LabelSites, MeanPrior, MeasurementPosterior, Measurements, predictive_entropies

__all__ = ["FeatureScores", "places_among"]

Array = NDArray[np.float64]

# Numbers that a block of measurements may hold: features of each, or effects on each sample.
_BLOCK_NUMBERS = 2_000_000


class FeatureScores:
    """Scores by changes of rank two of a posterior on features.

    Scores of several latent functions, one against rest, are added up; entropies are those of the classes.

    Parameters
    ----------
    scored : ScoredModel
    posterior : ConsensusPosterior
        With features of each view.
    """

    def __init__(self, scored: ScoredModel, posterior: Any) -> None:
        self._names: list[str] = posterior.names
        self._features = posterior.view_features
        self._temperature: float = posterior.temperature
        self._seen: NDArray[np.bool_] = posterior.presence.any(axis=0)
        latent, kept = posterior.latent, posterior.kept
        n, rows, K = len(scored.views), kept[posterior.labeled], len(posterior.targets)
        gradients, curvatures = np.zeros((K, n)), np.zeros((K, n))
        gradients[:, rows], curvatures[:, rows] = latent.gradients, posterior.curvatures
        noise = None if posterior.classifies else float(1.0 / posterior.curvatures[0, 0])
        sites = LabelSites(_targets(scored, posterior), scored.labeled, gradients, curvatures, noise)
        self.n_classes = max(K, 2)
        self.n_functions = K
        self._posterior = MeasurementPosterior.of(
            posterior.prior.consensus,
            kept,
            latent.scale,
            latent.bias_variance,
            sites,
            of_mean=isinstance(posterior.prior, MeanPrior),
        )
        #: unlabeled samples that have a view
        self.others = np.flatnonzero(~scored.labeled & scored.views.presence.any(axis=1))

    def information(self, view: str, samples: NDArray[np.intp], possible: PossibleValues) -> Array:
        """Mutual information of the view of each sample and the functions (or the consensus function), in nats."""
        total = np.zeros(samples.size)
        if not self._seen[self._names.index(view)]:
            return total
        features = self._features(view, possible.values)
        q = features.shape[1] + self._posterior.features.shape[1]
        for block, at in self._blocks(possible, q):
            measured = self._measured(view, samples[block], at, features)
            for k in range(self.n_functions):
                gain = self._posterior.information(k, measured).reshape(at.shape)
                weights = possible.weights[block]
                # infinite for samples without any view, also where a value has no weight
                total[block] += np.einsum("cv,cv->c", weights, np.where(weights > 0.0, gain, 0.0))
        return total

    def variance_reduction(
        self, view: str, samples: NDArray[np.intp], possible: PossibleValues, over: NDArray[np.intp]
    ) -> Array:
        """Expected fall of the variance of the latent function summed over the samples ``over``, in squared latent units."""
        total = np.zeros(samples.size)
        if not self._seen[self._names.index(view)]:
            return total
        features = self._features(view, possible.values)
        for block, at in self._blocks(possible, over.size):
            measured = self._measured(view, samples[block], at, features)
            for k in range(self.n_functions):
                gain = self._posterior.variance_reduction(k, measured, over).reshape(at.shape)
                total[block] += np.einsum("cv,cv->c", possible.weights[block], gain)
        return total

    def take(self, view: str, sample: int, value: Array) -> None:
        """Go on as if ``value`` (p_j,) had been measured."""
        if self._seen[self._names.index(view)]:
            features = self._features(view, value[None])
            measured = Measurements(np.array([sample]), self._names.index(view), features)
            self._posterior = self._posterior.after(measured)
            self.others = np.flatnonzero(~self._posterior.sites.labeled & self._posterior.presence.any(axis=1))

    def covariance_roots(self) -> tuple[Array, Array]:
        """Rows (K, n_samples, R + 1) whose inner products are covariances of latent functions, and variances (K, n_samples)."""
        everybody = np.arange(len(self._posterior.presence))
        roots = np.stack([self._posterior.whitened(k, everybody) for k in range(self.n_functions)])
        return roots, np.square(roots).sum(axis=2) + self._posterior.own_noise

    def branch(self) -> FeatureScores:
        """Scores that go on from here by themselves."""
        return copy.copy(self)  # what `take` changes it replaces

    def own_entropy(
        self, view: str, samples: NDArray[np.intp], possible: PossibleValues, draws: NDArray[np.intp]
    ) -> Array:
        """Expected fall of the entropy of each sample's own class (n_samples,)."""
        if not self._seen[self._names.index(view)]:
            return np.zeros(samples.size)
        measured = self._measured(view, samples, draws, self._features(view, possible.values))
        effects = [self._posterior.effects(k, measured) for k in range(self.n_functions)]
        means = np.stack([effect.own_mean for effect in effects])
        variances = np.stack([effect.own_variance for effect in effects])
        after = predictive_entropies(means, variances, self._temperature).reshape(draws.shape).mean(axis=1)
        return np.asarray(self._entropies(samples) - after)

    def expected_entropy(
        self, view: str, samples: NDArray[np.intp], possible: PossibleValues, draws: NDArray[np.intp]
    ) -> Array:
        """Expected fall of the total entropy of unlabeled predictions after one Newton step, in nats (n_samples,).

        ``draws`` (n_samples, n_draws) are positions of equally probable values.
        """
        result = np.zeros(samples.size)
        if not self._seen[self._names.index(view)]:
            return result
        features = self._features(view, possible.values)
        K, others = self.n_functions, self.others
        known = [(self._posterior.whitened(k, others), *self._posterior.moments(k, others)) for k in range(K)]
        before = self._entropies(others)
        place = places_among(others, len(self._posterior.presence))
        step = max(1, _BLOCK_NUMBERS // max(K * others.size * draws.shape[1], 1))
        for start in range(0, samples.size, step):
            block = slice(start, start + step)
            measured = self._measured(view, samples[block], draws[block], features)
            effects = [self._posterior.effects(k, measured) for k in range(K)]
            moments = [effect.elsewhere(*part) for effect, part in zip(effects, known, strict=True)]
            means, variances = (np.stack(part) for part in zip(*moments, strict=True))  # (K, n_others, n_measured)
            mine = place[measured.samples]
            inside = np.flatnonzero(mine >= 0)
            means[:, mine[inside], inside] = [effect.own_mean[inside] for effect in effects]
            variances[:, mine[inside], inside] = [effect.own_variance[inside] for effect in effects]
            after = predictive_entropies(means, variances, self._temperature).sum(axis=0)
            result[block] = before.sum() - after.reshape(-1, draws.shape[1]).mean(axis=1)
        return result + self._of_unseen(view, samples, possible, draws)

    def _of_unseen(
        self, view: str, samples: NDArray[np.intp], possible: PossibleValues, draws: NDArray[np.intp]
    ) -> Array:
        """Of unlabeled samples without any view their own entropy alone, which is not among the others'."""
        fall = np.zeros(samples.size)
        sites = self._posterior.sites
        alone = np.flatnonzero(~self._posterior.presence[samples].any(axis=1) & ~sites.labeled[samples])
        if alone.size:
            fall[alone] = self.own_entropy(view, samples[alone], possible, draws[alone])
        return fall

    def _entropies(self, samples: NDArray[np.intp]) -> Array:
        """Entropy of the class of each sample as it is; samples without a view may be of any."""
        moments = [self._posterior.moments(k, samples) for k in range(self.n_functions)]
        means, variances = (np.stack(part) for part in zip(*moments, strict=True))
        entropies = predictive_entropies(means, variances, self._temperature)
        entropies[~self._posterior.presence[samples].any(axis=1)] = np.log(self.n_classes)
        return entropies

    def _measured(
        self, view: str, samples: NDArray[np.intp], values: NDArray[np.intp], features: Array
    ) -> Measurements:
        """Every sample (n,) with each of its values (n, k)."""
        return Measurements(np.repeat(samples, values.shape[1]), self._names.index(view), features[values.ravel()])

    def _blocks(self, possible: PossibleValues, numbers: int) -> Iterator[tuple[slice, NDArray[np.intp]]]:
        """Samples some at a time, and the positions of the values of each."""
        n, k = possible.weights.shape
        step = max(1, _BLOCK_NUMBERS // max(k * numbers, 1))
        for start in range(0, n, step):
            block = slice(start, min(start + step, n))
            own = np.arange(block.start, block.stop)[:, None] * k if possible.own else 0
            yield block, np.broadcast_to(own + np.arange(k), (block.stop - block.start, k))


def places_among(samples: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """Where each of n samples stands among some, -1 elsewhere."""
    place = np.full(n, -1)
    place[samples] = np.arange(samples.size)
    return place


def _targets(scored: ScoredModel, posterior: Any) -> Array:
    """-1 and +1 of each latent function, or real targets, of all samples (K, n_samples); zero where unlabeled."""
    targets = np.zeros((len(posterior.targets), len(scored.views)))
    if scored.labels is not None:
        known = scored.labels[scored.labeled]
        classes = scored.model.classes_
        positives = classes[1:] if len(targets) == 1 else classes
        targets[:, scored.labeled] = np.where(known == np.asarray(positives, dtype=object)[:, None], 1.0, -1.0)
    targets[:, posterior.kept[posterior.labeled]] = posterior.targets
    return targets
