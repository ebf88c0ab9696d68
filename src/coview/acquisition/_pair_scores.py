"""Utilities of pairs of sample and view, by criterion, for models that give a posterior."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.acquisition._densities import PossibleValues, ViewDensity, resolve_density
from coview.acquisition._feature_scores import FeatureScores
from coview.acquisition._gaussian_process import ConsensusScores, rests_on_consensus
from coview.acquisition._scored_model import ScoredModel

__all__ = ["CRITERIA", "PairScores"]

Array = NDArray[np.float64]

CRITERIA = ("expected_entropy", "mutual_information", "mutual_information_bound", "variance", "a_optimality", "random")

# Entropies that scoring all pairs may take, and how many pairs are scored in any case.
_ENTROPIES, _FEWEST = 200_000_000, 200


@dataclass(frozen=True)
class PairScores:
    """Pairs (n_pairs, 2) of sample and view that are to be scored, and how; see `view_utilities`."""

    scored: ScoredModel
    pairs: NDArray[np.intp]
    criterion: str
    expectation: str
    density: Any
    over: str
    n_draws: int
    max_candidates: int | None
    seed: int

    def utilities(self) -> Array:
        """Utility of each pair (n_pairs,)."""
        if not len(self.pairs):
            return np.zeros(0)
        if self.criterion == "random":
            return np.random.RandomState(self.seed).uniform(size=len(self.pairs))
        if not hasattr(self.scored.model, "consensus_posterior"):
            raise TypeError(
                f"Utilities of views need a model with a posterior, like BayesianCoTrainingClassifier; got "
                f"{type(self.scored.model).__name__}. criterion='random' works with any."
            )
        if self.criterion == "expected_entropy":
            return self._expected_entropy()
        posterior = self.scored.model.consensus_posterior()
        if self.criterion == "variance":
            variances = np.full(len(self.scored.views), np.inf)
            variances[posterior.kept] = posterior.training()[1].sum(axis=1)
            return variances[self.pairs[:, 0]]
        return self._of_consensus(posterior) if rests_on_consensus(posterior) else self._of_features()

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

    def _of_consensus(self, posterior: Any) -> Array:
        """Of exact kernels; a sample without any view may be anything, so that any value tells infinitely much."""
        place = np.full(len(self.scored.views), -1)
        place[posterior.kept] = np.arange(posterior.kept.size)
        utilities = np.full(len(self.pairs), np.inf)
        scores, known = ConsensusScores(posterior), np.flatnonzero(place[self.pairs[:, 0]] >= 0)
        for view, mine, samples, possible in self._by_view(known):
            if self.criterion == "mutual_information":
                utilities[mine] = scores.information(view, place[samples], possible)
            elif self.criterion == "mutual_information_bound":
                utilities[mine] = scores.information_bound(view, place[samples], possible)
            else:
                utilities[mine] = scores.variance_reduction(view, place[samples], possible, place[self._over])
        return utilities

    def _of_features(self) -> Array:
        if self.criterion == "mutual_information_bound":
            raise ValueError(
                "criterion='mutual_information_bound' is of the consensus function of exact kernels: fit the model with "
                "latent='consensus' and hyperparameters='fixed' or 'maximize'. criterion='mutual_information' is exact."
            )
        scores = FeatureScores(self.scored, self.scored.model.consensus_posterior(features=True))
        utilities = np.zeros(len(self.pairs))
        for view, mine, samples, possible in self._by_view(np.arange(len(self.pairs))):
            if self.criterion == "mutual_information":
                utilities[mine] = scores.information(view, samples, possible)
            else:
                utilities[mine] = scores.variance_reduction(view, samples, possible, self._over)
        return utilities

    def _expected_entropy(self) -> Array:
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
        scores = FeatureScores(self.scored, self.scored.model.consensus_posterior(features=True))
        utilities = np.full(len(self.pairs), np.nan)
        for view, mine, samples, possible in self._by_view(self._preselected(scores)):
            utilities[mine] = scores.expected_entropy(view, samples, possible, self._draws(possible))
        return utilities

    def _draws(self, possible: PossibleValues) -> NDArray[np.intp]:
        return possible.draws(self.n_draws, np.random.RandomState(self.seed))

    def _preselected(self, scores: FeatureScores) -> NDArray[np.intp]:
        """Positions of the pairs that are worth the full score, all of them while they are few."""
        each = scores.others.size * self.n_draws * scores.n_functions
        room = self.max_candidates or max(_FEWEST, _ENTROPIES // max(each, 1))
        if len(self.pairs) <= room:
            return np.arange(len(self.pairs))
        labeled = self.scored.labeled[self.pairs[:, 0]]
        first, second = np.flatnonzero(labeled), np.flatnonzero(~labeled)
        n_first = min(first.size, max(room // 2, room - second.size))
        chosen = np.random.RandomState(self.seed).permutation(first)[:n_first]
        own = np.full(len(self.pairs), -np.inf)
        for view, mine, samples, possible in self._by_view(second):
            own[mine] = scores.own_entropy(view, samples, possible, self._draws(possible))
        best = second[np.argsort(-own[second], kind="stable")[: room - n_first]]
        return np.sort(np.concatenate([chosen, best]))
