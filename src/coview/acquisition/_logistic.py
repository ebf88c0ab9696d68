"""Scores of measurements for co-regularized logistic regression: information about its weights, entropy of its predictions."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coview.acquisition._densities import PossibleValues
from coview.acquisition._scored_model import ScoredModel
from coview.inference import (
    HeldView,
    LogisticChange,
    LogisticPosterior,
    certain_view_information,
    expected_curvature,
    expected_smoothness,
    logistic_change,
    logistic_label_information,
    logistic_view_information,
    most_probable_weights,
    one_against_rest_entropies,
)
from coview.views import Views

__all__ = ["LogisticScores", "held_views", "too_few_together"]

Array = NDArray[np.float64]

# Numbers that a block of measurements may hold: whitened features of each, or effects on each sample.
_BLOCK_NUMBERS = 4_000_000


class LogisticScores:
    """Scores by changes of low rank of the precision of the weights.

    Scores of several classifiers, one against rest, are added up; entropies are those of the classes.

    Parameters
    ----------
    scored : ScoredModel
        Of CoRegularizedLogisticRegression.
    """

    def __init__(self, scored: ScoredModel) -> None:
        views, model = scored.views, scored.model
        self._views, self._labeled, self._signs = views, scored.labeled, _signs(scored)
        self._posteriors: tuple[LogisticPosterior, ...] = model.weight_posterior()
        self.n_functions = len(self._posteriors)
        d = len(self._posteriors[0].weights)
        self._priors = np.array(np.broadcast_to(model.prior_precision_, (self.n_functions, d, d)))
        self._constant, self._everywhere = self._posteriors[0].constants, model.agreement_over == "all"
        self._rows = [views.rows(name) for name in views.names]
        self._blocks = [self._with_constant(_dense(views[name])) for name in views.names]
        self.presence = views.presence.copy()
        # of views that nobody has neither the model nor a density knows anything
        self._seen = {name: bool(views.rows(name).size) for name in views.names}

    @property
    def others(self) -> NDArray[np.intp]:
        """Unlabeled samples that have a view."""
        return np.flatnonzero(~self._labeled & self.presence.any(axis=1))

    def label_information(self) -> Array:
        """Information of the label of each sample about the weights (n_samples,)."""
        n = len(self.presence)
        parts = [logistic_label_information(each, self._blocks, self._rows, n) for each in self._posteriors]
        return np.asarray(np.sum(parts, axis=0))

    def variances(self) -> Array:
        """Posterior variance of the log odds of each sample (n_samples,); infinite without views."""
        total = np.zeros(len(self.presence))
        for posterior in self._posteriors:
            total += np.square(self._predictors(posterior)[0]).sum(axis=1)
        total[~self.presence.any(axis=1)] = np.inf
        return total

    def information(self, view: str, samples: NDArray[np.intp], possible: PossibleValues) -> Array:
        """Mutual information of the view of each sample and the weights, in nats; NaN for samples without any view."""
        if not self._seen[view]:
            return np.zeros(samples.size)
        total = np.zeros(samples.size)
        for block, at in self._blocks_of(samples, possible, 0):
            for k in range(self.n_functions):
                gain = self._change(k, view, samples[block], at, possible)[0].information.reshape(at.shape)
                total[block] += np.einsum("cv,cv->c", possible.weights[block], gain)
        total[~self.presence[samples].any(axis=1)] = np.nan
        return total

    def information_bound(
        self, view: str, samples: NDArray[np.intp], held: HeldView, *, quadrature: bool = True
    ) -> Array:
        """Jensen's bound of it, equations (14), (20), (21)."""
        if not self._seen[view]:
            return np.zeros(samples.size)
        v, total = self._views.names.index(view), np.zeros(samples.size)
        full = held.with_constant() if self._constant else held
        p, labeled = held.means.shape[2], self._labeled[samples]
        for posterior in self._posteriors:
            agreement = self._agreement(posterior, v, samples)
            known, _ = self._known(posterior, v, samples)
            if held.certain and not posterior.smoothness[v]:
                total += certain_view_information(posterior, v, full.mean(), known, agreement, labeled)
                continue
            own = agreement.sum(axis=1)[:, None, None] * full.second_moment()
            own[labeled] += expected_curvature(
                full[labeled], posterior.weights[posterior.places[v]], quadrature=quadrature
            )
            if posterior.smoothness[v]:
                own[:, :p, :p] += posterior.smoothness[v] * expected_smoothness(
                    held, self._blocks[v][:, :p], posterior.kernel_variances[v], normalized=posterior.normalized
                )
            total += logistic_view_information(posterior, v, known, agreement, full.mean(), own)
        return total

    def variance_reduction(
        self, view: str, samples: NDArray[np.intp], possible: PossibleValues, over: NDArray[np.intp]
    ) -> Array:
        """Expected fall of the variance of the log odds summed over the samples ``over``."""
        if not self._seen[view]:
            return np.zeros(samples.size)
        total = np.zeros(samples.size)
        place = _places(over, len(self.presence))
        for block, at in self._blocks_of(samples, possible, over.size):
            mine = np.repeat(place[samples[block]], at.shape[1])
            inside = np.flatnonzero(mine >= 0)
            for k, posterior in enumerate(self._posteriors):
                change, own, _ = self._change(k, view, samples[block], at, possible)
                whitened = self._predictors(posterior)[0][over]
                fall = change.elsewhere(whitened)[1]
                after = np.square(own).sum(axis=1) - change.at(own)[1]
                fall[mine[inside], inside] = np.square(whitened).sum(axis=1)[mine[inside]] - after[inside]
                gain = fall.sum(axis=0).reshape(at.shape)
                total[block] += np.einsum("cv,cv->c", possible.weights[block], gain)
        return total

    def own_entropy(
        self, view: str, samples: NDArray[np.intp], possible: PossibleValues, draws: NDArray[np.intp]
    ) -> Array:
        """Expected fall of the entropy of each sample's own class (n_samples,)."""
        if not self._seen[view]:
            return np.zeros(samples.size)
        result = np.zeros(samples.size)
        for block, at in self._blocks_of(samples, possible, 0, draws):
            moments = self._own_moments([self._change(k, view, samples[block], at, possible) for k in self._each])
            result[block] = one_against_rest_entropies(*moments).reshape(at.shape).mean(axis=1)
        return np.asarray(self._entropies(samples) - result)

    def expected_entropy(
        self, view: str, samples: NDArray[np.intp], possible: PossibleValues, draws: NDArray[np.intp]
    ) -> Array:
        """Expected fall of the total entropy of unlabeled predictions after one step, in nats (n_samples,).

        ``draws`` (n_samples, n_draws) are positions of equally probable values.
        """
        if not self._seen[view]:
            return np.zeros(samples.size)
        result, others = np.zeros(samples.size), self.others
        before, place = self._entropies(others).sum(), _places(others, len(self.presence))
        known = [tuple(part[others] for part in self._predictors(posterior)) for posterior in self._posteriors]
        for block, at in self._blocks_of(samples, possible, others.size * self.n_functions, draws):
            changes = [self._change(k, view, samples[block], at, possible) for k in self._each]
            means, variances = self._moved(changes, known)
            mine = np.repeat(place[samples[block]], at.shape[1])
            inside = np.flatnonzero(mine >= 0)
            own = self._own_moments(changes)
            means[:, mine[inside], inside], variances[:, mine[inside], inside] = (part[:, inside] for part in own)
            after = one_against_rest_entropies(means, variances).sum(axis=0)
            result[block] = before - after.reshape(at.shape).mean(axis=1)
        alone = np.flatnonzero(~self.presence[samples].any(axis=1) & ~self._labeled[samples])
        if alone.size:  # their own entropy is not among the others'
            result[alone] += self.own_entropy(view, samples[alone], possible, draws[alone])
        return result

    def take(self, view: str, sample: int, value: Array) -> None:
        """Go on as if ``value`` (p_j,) had been measured; the mode is searched again."""
        if not self._seen[view]:
            return
        v, x = self._views.names.index(view), self._with_constant(np.asarray(value)[None])
        samples = np.array([sample])
        for k, posterior in enumerate(self._posteriors):
            agreement = self._agreement(posterior, v, samples)[0]
            apart = np.zeros((len(agreement), len(posterior.weights)))
            for a in np.flatnonzero(agreement):
                apart[a, posterior.places[a]] = self._blocks[a][np.searchsorted(self._rows[a], sample)]
                apart[a, posterior.places[v]] = -x[0]
            self._priors[k] += (apart.T * agreement) @ apart
            if posterior.smoothness[v]:
                rough = posterior.rough_directions(v, x, self._blocks[v])[0]
                self._priors[k, posterior.places[v], posterior.places[v]] += rough.T @ rough
        at = int(np.searchsorted(self._rows[v], sample))
        self._rows[v] = np.insert(self._rows[v], at, sample)
        self._blocks[v] = np.insert(self._blocks[v], at, x[0], axis=0)
        self.presence[sample, v] = True
        self._posteriors = tuple(self._refitted(k) for k in self._each)

    def branch(self) -> LogisticScores:
        """Scores that go on from here by themselves."""
        other = copy.copy(self)
        other._priors, other.presence = self._priors.copy(), self.presence.copy()
        other._rows, other._blocks = list(self._rows), list(self._blocks)
        return other

    def _refitted(self, k: int) -> LogisticPosterior:
        old, kept = self._posteriors[k], [self._labeled[rows] for rows in self._rows]
        blocks = [block[here] for block, here in zip(self._blocks, kept, strict=True)]
        signs = [self._signs[k, rows[here]] for rows, here in zip(self._rows, kept, strict=True)]
        weights, precision = most_probable_weights(self._priors[k], old.places, blocks, signs, old.weights)
        return replace(old, weights=weights, precision=precision)

    @property
    def _each(self) -> range:
        return range(self.n_functions)

    def _with_constant(self, values: Array) -> Array:
        return np.hstack([values, np.ones((len(values), 1))]) if self._constant else values

    def _agreement(self, posterior: LogisticPosterior, view: int, samples: NDArray[np.intp]) -> Array:
        """Precision of agreement with each view of the samples (n, n_views)."""
        there = self.presence[samples].astype(np.float64)
        there[:, view] = 0.0
        agrees = np.ones(samples.size) if self._everywhere else 1.0 - self._labeled[samples]
        return np.asarray(posterior.agreement * there * agrees[:, None])

    def _known(self, posterior: LogisticPosterior, view: int, samples: NDArray[np.intp]) -> tuple[Array, Array]:
        """Whitened features (n, n_views, d) and log odds (n, n_views) of the other views that the samples have."""
        whitened = np.zeros((samples.size, len(self._rows), len(posterior.weights)))
        odds = np.zeros(whitened.shape[:2])
        for a, (rows, block) in enumerate(zip(self._rows, self._blocks, strict=True)):
            mine = np.flatnonzero(self.presence[samples, a])
            if a != view and mine.size:
                features = block[np.searchsorted(rows, samples[mine])]
                whitened[mine, a], odds[mine, a] = posterior.whitened(a, features), posterior.log_odds(a, features)
        return whitened, odds

    def _change(
        self, k: int, view: str, samples: NDArray[np.intp], at: NDArray[np.intp], possible: PossibleValues
    ) -> tuple[LogisticChange, Array, Array]:
        """Change of a posterior by values (n, n_values) of each sample; whitened features and log odds of the sample then."""
        posterior, v, times = self._posteriors[k], self._views.names.index(view), at.shape[1]
        features = self._with_constant(possible.values[at.ravel()])
        known, odds = self._known(posterior, v, samples)
        kept = np.flatnonzero((known != 0.0).any(axis=(0, 2)))  # views that some of the samples have
        known, odds = (np.repeat(part, times, axis=0) for part in (known[:, kept], odds[:, kept]))
        change = logistic_change(
            posterior,
            v,
            features,
            known=known,
            odds=odds,
            agreement=np.repeat(self._agreement(posterior, v, samples)[:, kept], times, axis=0),
            signs=np.repeat(self._signs[k, samples], times),
            seen=self._blocks[v],
        )
        count = np.repeat(self.presence[samples].sum(axis=1) + 1.0, times)
        whitened = (known.sum(axis=1) + posterior.whitened(v, features)) / count[:, None]
        return change, whitened, (odds.sum(axis=1) + posterior.log_odds(v, features)) / count

    def _own_moments(self, changes: list[tuple[LogisticChange, Array, Array]]) -> tuple[Array, Array]:
        """Moments of the log odds of each measured sample, after its measurement (K, n) each."""
        moved = [(change.at(own), own, odds) for change, own, odds in changes]
        means = [odds + step for (step, _), _, odds in moved]
        variances = [np.square(own).sum(axis=1) - fall for (_, fall), own, _ in moved]
        return np.stack(means), np.maximum(np.stack(variances), 0.0)

    def _moved(
        self, changes: list[tuple[LogisticChange, Array, Array]], known: list[tuple[Array, ...]]
    ) -> tuple[Array, Array]:
        """Moments of the log odds of other samples after each measurement (K, n_others, n) each."""
        means, variances = list[Array](), list[Array]()
        for (change, _, _), (whitened, odds) in zip(changes, known, strict=True):
            step, fall = change.elsewhere(whitened)
            means.append(odds[:, None] + step)
            variances.append(np.maximum(np.square(whitened).sum(axis=1)[:, None] - fall, 0.0))
        return np.stack(means), np.stack(variances)

    def _predictors(self, posterior: LogisticPosterior) -> tuple[Array, Array]:
        """Whitened features (n_samples, d) and log odds (n_samples,), means over the views that samples have."""
        whitened, odds = np.zeros((len(self.presence), len(posterior.weights))), np.zeros(len(self.presence))
        for v, (rows, block) in enumerate(zip(self._rows, self._blocks, strict=True)):
            whitened[rows] += posterior.whitened(v, block)
            odds[rows] += posterior.log_odds(v, block)
        count = np.maximum(self.presence.sum(axis=1), 1)
        return whitened / count[:, None], odds / count

    def _entropies(self, samples: NDArray[np.intp]) -> Array:
        """Entropy of the class of each sample as it is; samples without a view may be of any."""
        moments = []
        for posterior in self._posteriors:
            whitened, odds = self._predictors(posterior)
            moments.append((odds[samples], np.square(whitened[samples]).sum(axis=1)))
        means, variances = (np.stack(part) for part in zip(*moments, strict=True))
        entropies = one_against_rest_entropies(means, variances)
        entropies[~self.presence[samples].any(axis=1)] = np.log(max(self.n_functions, 2))
        return entropies

    def _blocks_of(
        self, samples: NDArray[np.intp], possible: PossibleValues, numbers: int, draws: NDArray[np.intp] | None = None
    ) -> Iterator[tuple[slice, NDArray[np.intp]]]:
        """Samples some at a time, and the positions of the values of each: the draws, or all that they may take."""
        n, k = (possible.weights if draws is None else draws).shape
        each = max(numbers, (self.presence.shape[1] + 2) * len(self._posteriors[0].weights))
        step = max(1, _BLOCK_NUMBERS // max(k * each, 1))
        for start in range(0, n, step):
            block = slice(start, min(start + step, n))
            if draws is not None:
                yield block, draws[block]
            else:
                own = np.arange(block.start, block.stop)[:, None] * k if possible.own else 0
                yield block, np.broadcast_to(own + np.arange(k), (block.stop - block.start, k))


def held_views(
    conditional: Any, views: Views, pairs: NDArray[np.intp], *, point_mass: bool
) -> Iterator[tuple[str, NDArray[np.intp], NDArray[np.intp], HeldView]]:
    """What a view may hold for samples with the same views: its name, positions among the pairs, samples, moments.

    Samples without any view are left out.
    """
    ends = dict(zip(views.names, np.cumsum(list(views.n_features.values())), strict=True))
    means, mixing = conditional.means, conditional.weights
    _, group = np.unique(np.column_stack([pairs[:, 1], views.presence[pairs[:, 0]]]), axis=0, return_inverse=True)
    for number in range(group.max(initial=-1) + 1):
        mine = np.flatnonzero(group.ravel() == number)
        samples, view = pairs[mine, 0], views.names[pairs[mine[0], 1]]
        if not views.presence[samples[0]].any():
            continue
        columns = np.arange(ends[view] - views.n_features[view], ends[view])
        row = conditional[int(samples[0])]
        inside = np.searchsorted(row.missing, columns)
        held = HeldView(mixing[samples], means[samples][:, :, columns], row.covariances[:, inside[:, None], inside])
        yield view, mine, samples, held.point_mass() if point_mass else held


def too_few_together(views: Views, pairs: NDArray[np.intp]) -> bool:
    """Whether some pair of views that is asked about has fewer samples in common than features; warns of it.

    Warns
    -----
    UserWarning
    """
    held, widths = views.presence.astype(np.intp), np.array(list(views.n_features.values()))
    together = held.T @ held
    for j in np.intersect1d(pairs[:, 1], np.flatnonzero(held.any(axis=0))):
        for a in np.flatnonzero(views.presence[pairs[pairs[:, 1] == j, 0]].any(axis=0)):
            if together[a, j] < widths[a] + widths[j]:
                warnings.warn(
                    f"Only {together[a, j]} samples have both '{views.names[a]}' and '{views.names[j]}', which have "
                    f"{widths[a] + widths[j]} features: too few for a density. Utilities rest on the mean of what a view may "
                    "hold (expectation='point_mass'). Give a density with known parameters, or fewer features.",
                    UserWarning,
                    stacklevel=6,
                )
                return True
    return False


def _dense(block: Any) -> Array:
    return np.asarray(block.toarray() if sparse.issparse(block) else block, dtype=np.float64)


def _signs(scored: ScoredModel) -> Array:
    """-1 and +1 of each classifier, 0 where unlabeled (K, n_samples)."""
    classes = scored.model.classes_
    positives = classes[1:] if len(classes) == 2 else classes
    signs = np.where(scored.labels == np.asarray(positives, dtype=object)[:, None], 1.0, -1.0)
    signs[:, ~scored.labeled] = 0.0
    return signs


def _places(samples: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """Where each of n samples stands among some, -1 elsewhere."""
    place = np.full(n, -1)
    place[samples] = np.arange(samples.size)
    return place
