"""The rounds of co-training on arrays: which view labels what, when views contradict each other, who learns from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CoTraining", "LabelingHistory", "Rules", "merge_nominations", "nominate"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Rows = NDArray[np.intp]
#: Scores of candidates (one column per class) by the learner of a view, taught by the labels given; None where it cannot learn.
Score = Callable[[int, Codes, Rows], Array | None]


@dataclass(frozen=True)
class Rules:
    """How a round goes.

    Attributes
    ----------
    counts : ndarray of shape (n_classes,)
        Most nominations of a view for each class.
    threshold : float
        A score must be larger to be a nomination.
    cross : bool
        A sample joins the labeled sets of the other views only.
    skip_conflicts : bool
        Contradicting nominations are dropped; otherwise the most confident one counts.
    n_rounds : int
    pool_size : int or None
        None for all unlabeled samples.
    """

    counts: NDArray[np.int64]
    threshold: float = 0.0
    cross: bool = False
    skip_conflicts: bool = False
    n_rounds: int = 30
    pool_size: int | None = None


@dataclass(frozen=True)
class LabelingHistory:
    """Labels given, one entry per view that asked for it: round (from 1), view, sample, class and score."""

    rounds: Codes = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    views: Codes = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    samples: Codes = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    codes: Codes = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    confidences: Array = field(default_factory=lambda: np.zeros(0))

    def where(self, kept: NDArray[Any]) -> LabelingHistory:
        """The entries of a mask, or in an order."""
        return LabelingHistory(*(getattr(self, name)[kept] for name in self.__dataclass_fields__))

    def joined(self, other: LabelingHistory) -> LabelingHistory:
        """These entries, then others."""
        names = self.__dataclass_fields__
        return LabelingHistory(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))


def nominate(scores: Array, candidates: Rows, counts: NDArray[np.int64], threshold: float) -> tuple[Rows, Codes, Array]:
    """Samples that a view labels: of each class the highest scores beyond the threshold, among equal ones the first samples.

    Parameters
    ----------
    scores : ndarray of shape (n_candidates, n_classes)
    candidates : ndarray of shape (n_candidates,)
        Positions of the samples.
    counts : ndarray of shape (n_classes,)
    threshold : float

    Returns
    -------
    samples, codes, confidences : ndarray of shape (n_nominations,)
    """
    samples, codes, confidences = [], [], []
    for code, count in enumerate(counts):
        column = scores[:, code]
        order = np.lexsort((candidates, -column))[:count]
        best = order[column[order] > threshold]
        samples.append(candidates[best])
        codes.append(np.full(best.size, code, dtype=np.int64))
        confidences.append(column[best])
    return np.concatenate(samples), np.concatenate(codes), np.concatenate(confidences)


def merge_nominations(nominations: LabelingHistory, *, skip_conflicts: bool) -> LabelingHistory:
    """Nominations without contradictions, ordered by sample and view.

    Of different labels for a sample the one with the highest score stays, none of them where these are equal or where
    conflicts are skipped.
    """
    where, position = np.unique(nominations.samples, return_inverse=True)
    best = np.full(where.size, -np.inf)
    np.maximum.at(best, position, nominations.confidences)
    leading = nominations.confidences == best[position]
    counted = np.ones(leading.size, dtype=bool) if skip_conflicts else leading
    lowest, highest = np.full(where.size, np.iinfo(np.int64).max), np.full(where.size, -1, dtype=np.int64)
    np.minimum.at(lowest, position[counted], nominations.codes[counted])
    np.maximum.at(highest, position[counted], nominations.codes[counted])
    kept = (lowest == highest)[position] & (nominations.codes == lowest[position])
    kept_ones = nominations.where(kept)
    return kept_ones.where(np.lexsort((kept_ones.views, kept_ones.samples)))


class CoTraining:
    """Co-training under way (Blum and Mitchell 1998, table 1; Yu et al. 2011, section 6.1 for ``cross``).

    Parameters
    ----------
    score : callable
        ``score(view, codes, rows)``: scores (n_rows, n_classes) of the learner that was taught the codes (n_samples,), -1
        where unlabeled; None where it cannot be taught by them.
    presence : ndarray of shape (n_samples, n_views), dtype=bool
    codes : ndarray of shape (n_samples,)
        Class of each labeled sample, -1 for the others.
    order : ndarray of int
        Unlabeled samples in the order in which they enter the pool.
    rules : Rules

    Attributes
    ----------
    labels : ndarray of shape (n_views, n_samples)
        What each view learns from.
    history : LabelingHistory
    pool : ndarray of int
    n_rounds : int
        Rounds that gave labels.
    stop_reason : str
        Empty while it goes on; "n_rounds", "all_labeled", "not_confident" or "contradictions".
    """

    def __init__(self, score: Score, presence: NDArray[np.bool_], codes: Codes, order: Rows, rules: Rules) -> None:
        self._score, self._presence, self._rules = score, presence, rules
        self.labels = np.where(presence.T, codes, -1)
        self.history = LabelingHistory()
        size = len(order) if rules.pool_size is None else rules.pool_size
        self.pool, self._waiting, self._size = order[:size], order[size:], size
        self.n_rounds = 0
        self.stop_reason = ""

    def step(self) -> bool:
        """One round; False where co-training has come to an end."""
        if not self.pool.size:
            self.stop_reason = "all_labeled"
        elif self.n_rounds >= self._rules.n_rounds:
            self.stop_reason = "n_rounds"
        if self.stop_reason:
            return False
        nominations = self._nominations()
        added = merge_nominations(nominations, skip_conflicts=self._rules.skip_conflicts)
        if not added.samples.size:
            # Nothing changes any more: without a new label the next round would be the same.
            self.stop_reason = "contradictions" if nominations.samples.size else "not_confident"
            return False
        self._add(added)
        return True

    def _nominations(self) -> LabelingHistory:
        """What all views would label, by learners that know nothing of each other's nominations."""
        found = LabelingHistory()
        n_views = self._presence.shape[1]
        for view in range(n_views):
            able = self._presence[self.pool, view]
            if self._rules.cross:
                # A sample that no other view has would leave the pool and teach nobody.
                able &= self._presence[self.pool].sum(axis=1) > 1
            candidates = self.pool[able]
            scores = self._score(view, self.labels[view], candidates) if candidates.size else None
            if scores is None:
                continue
            samples, codes, confidences = nominate(scores, candidates, self._rules.counts, self._rules.threshold)
            rounds, views = (np.full(samples.size, number, dtype=np.int64) for number in (self.n_rounds + 1, view))
            found = found.joined(LabelingHistory(rounds, views, samples.astype(np.int64), codes, confidences))
        return found

    def _add(self, added: LabelingHistory) -> None:
        """Give the labels to the views, and fill the pool up."""
        for view in range(self._presence.shape[1]):
            told = added.where(added.views != view) if self._rules.cross else added
            has = self._presence[told.samples, view]
            self.labels[view, told.samples[has]] = told.codes[has]
        self.history = self.history.joined(added)
        self.n_rounds += 1
        left = self.pool[~np.isin(self.pool, added.samples)]
        wanted = self._size - left.size
        self.pool, self._waiting = np.concatenate([left, self._waiting[:wanted]]), self._waiting[wanted:]

    def take_back(self, n_rounds: int) -> None:
        """Undo the labels of the rounds after ``n_rounds``."""
        late = self.history.where(self.history.rounds > n_rounds)
        self.labels[:, late.samples] = -1
        self.history = self.history.where(self.history.rounds <= n_rounds)
        self.n_rounds = n_rounds
