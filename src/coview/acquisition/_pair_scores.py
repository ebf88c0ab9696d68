"""Utilities of pairs of sample and view, by criterion, for models that give a posterior."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from coview.acquisition._densities import PossibleValues, ViewDensity, resolve_density
from coview.acquisition._feature_scores import FeatureScores, places_among
from coview.acquisition._gaussian_process import ConsensusScores, rests_on_consensus
from coview.acquisition._logistic import LogisticScores, held_views, too_few_together
from coview.acquisition._scored_model import ScoredModel

__all__ = ["CRITERIA", "UPDATING", "PairScores"]

Array = NDArray[np.float64]

CRITERIA = ("expected_entropy", "mutual_information", "mutual_information_bound", "variance", "a_optimality", "random")
# Those whose utilities change with what is measured before.
UPDATING = ("expected_entropy", "mutual_information", "a_optimality")

# Entropies that scoring all pairs may take, and how many pairs are scored in any case.
_ENTROPIES, _FEWEST = 200_000_000, 200


@dataclass(frozen=True)
class PairScores:
    """Pairs (n_pairs, 2) of sample and view that are to be scored, and how; see `view_utilities`."""

    scored: ScoredModel
    pairs: NDArray[np.intp]
    criterion: str
    expectation: str = "quadrature"
    density: Any = "auto"
    over: str = "all"
    n_draws: int = 5
    max_candidates: int | None = None
    seed: int = 0

    def utilities(self, among: NDArray[np.intp] | None = None) -> Array:
        """Utility of each pair (n_pairs,); with ``among``, NaN for all but some of these."""
        if not len(self.pairs):
            return np.zeros(0)
        if self.criterion == "random":
            return np.random.RandomState(self.seed).uniform(size=len(self.pairs))
        if not self._of_weights and not hasattr(self.scored.model, "consensus_posterior"):
            raise TypeError(
                f"Utilities of views need a model with a posterior, like BayesianCoTrainingClassifier; got "
                f"{type(self.scored.model).__name__}. criterion='random' works with any."
            )
        if self.criterion == "variance":
            if isinstance(self._scores, LogisticScores):
                return self._scores.variances()[self.pairs[:, 0]]
            posterior = self.scored.model.consensus_posterior()
            variances = np.full(len(self.scored.views), np.inf)
            variances[posterior.kept] = posterior.training()[1].sum(axis=1)
            return variances[self.pairs[:, 0]]
        utilities = np.full(len(self.pairs), np.nan)
        chosen = np.arange(len(self.pairs)) if among is None else among
        if self.criterion == "expected_entropy":
            chosen = self._preselected(self._entropy_scores, chosen)
        utilities[chosen] = self.score(chosen)
        return utilities

    def score(self, chosen: NDArray[np.intp]) -> Array:
        """Utilities of some of the pairs, after what was taken (n_chosen,)."""
        if isinstance(self._scores, LogisticScores) and self.criterion == "mutual_information_bound":
            return self._logistic_bound(self._scores, chosen)
        utilities = np.full(len(self.pairs), np.inf)
        place, over = self._places, self._places[self._over]
        known = chosen[place[self.pairs[chosen, 0]] >= 0]
        for view, mine, samples, possible in self._by_view(known):
            utilities[mine] = self._of_view(view, place[samples], possible, over)
        return utilities[chosen]

    def with_values(self, view: str, samples: NDArray[np.intp], certain: PossibleValues) -> Array:
        """By how much the total entropy falls where values are known, one for each sample (n_samples,)."""
        draws = np.arange(samples.size)[:, None] if certain.own else np.zeros((samples.size, 1), dtype=np.intp)
        return self._entropy_scores.expected_entropy(view, samples, certain, draws)

    @property
    def updates(self) -> bool:
        """Whether scores change with what is taken."""
        return self.criterion in UPDATING

    def branch(self) -> PairScores:
        """The same to go on from, apart from this."""
        other, scores = copy.copy(self), self._scores.branch()
        other.__dict__["_scores"] = scores
        return other

    def take(self, position: int) -> None:
        """Go on as if one pair had been measured, with the mean of what it may hold."""
        ((view, _, samples, possible),) = self._by_view(np.array([position]))
        place = self._places[samples[0]]
        if place >= 0:
            self._scores.take(view, int(place), possible.weights[0] @ possible.values)

    def _of_view(self, view: str, samples: NDArray[np.intp], possible: PossibleValues, over: NDArray[np.intp]) -> Array:
        if self.criterion == "expected_entropy":
            return self._entropy_scores.expected_entropy(view, samples, possible, self._draws(possible))
        if self.criterion == "mutual_information":
            return self._scores.information(view, samples, possible)
        if self.criterion == "a_optimality":
            return self._scores.variance_reduction(view, samples, possible, over)
        if not isinstance(self._scores, ConsensusScores):
            raise ValueError(
                "criterion='mutual_information_bound' is of the consensus function of exact kernels: fit the model with "
                "latent='consensus' and hyperparameters='fixed' or 'maximize'. criterion='mutual_information' is exact."
            )
        return self._scores.information_bound(view, samples, possible)

    def _logistic_bound(self, scores: LogisticScores, chosen: NDArray[np.intp]) -> Array:
        """From moments in closed form, or from the mean alone; NaN for samples without any view."""
        scored, utilities = self.scored, np.full(len(chosen), np.nan)
        density = resolve_density(self.density, scored.views, scored.labels, self.seed)
        point_mass = self.expectation == "point_mass"
        if not point_mass and density is not self.density:
            point_mass = too_few_together(scored.views, self.pairs)
        conditional = density.conditional(scored.views, *([scored.labels] if hasattr(density, "classes_") else []))
        for view, mine, samples, held in held_views(
            conditional, scored.views, self.pairs[chosen], point_mass=point_mass
        ):
            utilities[mine] = scores.information_bound(view, samples, held)
        return utilities

    @property
    def _of_weights(self) -> bool:
        """Whether the model has a posterior of weights, not of functions."""
        return hasattr(self.scored.model, "weight_posterior")

    @cached_property
    def _scores(self) -> ConsensusScores | FeatureScores | LogisticScores:
        if self._of_weights:
            return LogisticScores(self.scored)
        if self.criterion != "expected_entropy":
            posterior = self.scored.model.consensus_posterior()
            if rests_on_consensus(posterior):
                return ConsensusScores(posterior)
        return FeatureScores(self.scored, self.scored.model.consensus_posterior(features=True))

    @property
    def _entropy_scores(self) -> FeatureScores | LogisticScores:
        """The same where they are of classes of unlabeled samples."""
        if self.scored.labels is None:
            raise ValueError(
                "criterion='expected_entropy' is of classes; for regression use criterion='a_optimality', 'variance' or "
                "'mutual_information'."
            )
        if self.scored.labeled.all():
            raise ValueError(
                "criterion='expected_entropy' sums over unlabeled samples, and all are labeled. Add the samples to be "
                "predicted, or use criterion='mutual_information' or 'variance'."
            )
        return cast("FeatureScores | LogisticScores", self._scores)

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """Number of each sample in the scores (n_samples,); -1 where exact kernels leave a sample without views out."""
        n = len(self.scored.views)
        if not isinstance(self._scores, ConsensusScores):
            return np.arange(n)
        return places_among(np.flatnonzero(self.scored.views.presence.any(axis=1)), n)

    @cached_property
    def _held(self) -> ViewDensity:
        """What missing views may hold."""
        scored = self.scored
        density = resolve_density(self.density, scored.views, scored.labels, self.seed)
        return ViewDensity(density, scored.views, scored.labels, self.seed)

    def _by_view(
        self, chosen: NDArray[np.intp]
    ) -> list[tuple[str, NDArray[np.intp], NDArray[np.intp], PossibleValues]]:
        """Views, positions among the pairs, samples, and what the views may hold for them."""
        parts = []
        for j, view in enumerate(self.scored.views.names):
            mine = chosen[self.pairs[chosen, 1] == j]
            if mine.size:
                samples = self.pairs[mine, 0]
                parts.append((view, mine, samples, self._held.values(view, samples, expectation=self.expectation)))
        return parts

    @property
    def _over(self) -> NDArray[np.intp]:
        """Samples with a view that variances are summed over."""
        seen = self.scored.views.presence.any(axis=1)
        return np.flatnonzero(seen if self.over == "all" else seen & ~self.scored.labeled)

    def _draws(self, possible: PossibleValues) -> NDArray[np.intp]:
        return possible.draws(self.n_draws, np.random.RandomState(self.seed))

    def _preselected(self, scores: FeatureScores | LogisticScores, among: NDArray[np.intp]) -> NDArray[np.intp]:
        """Positions of those of some pairs that are worth the full score, all of them while they are few."""
        each = scores.others.size * self.n_draws * scores.n_functions
        room = self.max_candidates or max(_FEWEST, _ENTROPIES // max(each, 1))
        if among.size <= room:
            return among
        labeled = self.scored.labeled[self.pairs[among, 0]]
        first, second = among[labeled], among[~labeled]
        n_first = min(first.size, max(room // 2, room - second.size))
        chosen = np.random.RandomState(self.seed).permutation(first)[:n_first]
        own = np.full(len(self.pairs), -np.inf)
        for view, mine, samples, possible in self._by_view(second):
            own[mine] = scores.own_entropy(view, samples, possible, self._draws(possible))
        best = second[np.argsort(-own[second], kind="stable")[: room - n_first]]
        return np.sort(np.concatenate([chosen, best]))
