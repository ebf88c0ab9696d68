"""The rounds of co-training on arrays: pool, who learns what from whom, when to stop; which view gives which label."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["ClassRounds", "LabelingHistory", "NumberRounds", "Rounds", "Rules", "merge_nominations", "nominate"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Rows = NDArray[np.intp]
#: Scores of candidates (one column per class) by the learner of a view, taught by the labels given; None where it cannot learn.
Score = Callable[[int, Codes, Rows], Array | None]
#: Numbers for candidates by the learner of a view, and how sure it is of each; None where it has no labels.
Judge = Callable[[int, Array, Rows], tuple[Array, Array] | None]


@dataclass(frozen=True)
class Rules:
    """How a round goes.

    Attributes
    ----------
    counts : ndarray of shape (n_classes,), or of shape (1,) for numbers
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
    """Labels given, one entry per view that asked for it: round (from 1), view, sample, class or number, and score."""

    rounds: Codes = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    views: Codes = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    samples: Codes = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    labels: NDArray[Any] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    confidences: Array = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of_view(cls, number: int, view: int, found: tuple[Rows, NDArray[Any], Array]) -> LabelingHistory:
        """Nominations of one view: samples, labels and scores."""
        samples, labels, confidences = found
        rounds, views = (np.full(samples.size, value, dtype=np.int64) for value in (number, view))
        return cls(rounds, views, samples.astype(np.int64), labels, confidences)

    def where(self, kept: NDArray[Any]) -> LabelingHistory:
        """The entries of a mask, or in an order."""
        return LabelingHistory(*(getattr(self, name)[kept] for name in self.__dataclass_fields__))

    def joined(self, other: LabelingHistory) -> LabelingHistory:
        """These entries, then others."""
        if not self.samples.size:
            return other
        names = self.__dataclass_fields__
        return LabelingHistory(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))

    def table(self, view_names: Sequence[str], labels: NDArray[Any]) -> pd.DataFrame:
        """The entries with names of views, and labels as they are to be shown."""
        names = np.array(view_names, dtype=object)
        columns = {"round": self.rounds, "view": names[self.views], "sample": self.samples, "label": labels}
        return pd.DataFrame(columns | {"confidence": self.confidences})


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
        able = np.flatnonzero(column > threshold)
        if able.size > count > 0:
            # only what is as high as the last one wanted has to be sorted
            able = able[column[able] >= np.partition(column[able], -count)[-count]]
        best = able[np.lexsort((candidates[able], -column[able]))[:count]]
        samples.append(candidates[best])
        codes.append(np.full(best.size, code, dtype=np.int64))
        confidences.append(column[best])
    return np.concatenate(samples), np.concatenate(codes), np.concatenate(confidences)


def merge_nominations(nominations: LabelingHistory, *, skip_conflicts: bool) -> LabelingHistory:
    """Nominations of classes without contradictions, ordered by sample and view.

    Of different labels for a sample the one with the highest score stays, none of them where these are equal or where
    conflicts are skipped.
    """
    where, position = np.unique(nominations.samples, return_inverse=True)
    best = np.full(where.size, -np.inf)
    np.maximum.at(best, position, nominations.confidences)
    leading = nominations.confidences == best[position]
    counted = np.ones(leading.size, dtype=bool) if skip_conflicts else leading
    lowest, highest = np.full(where.size, np.iinfo(np.int64).max), np.full(where.size, -1, dtype=np.int64)
    np.minimum.at(lowest, position[counted], nominations.labels[counted])
    np.maximum.at(highest, position[counted], nominations.labels[counted])
    kept = (lowest == highest)[position] & (nominations.labels == lowest[position])
    kept_ones = nominations.where(kept)
    return kept_ones.where(np.lexsort((kept_ones.views, kept_ones.samples)))


class Rounds(ABC):
    """Co-training under way (Blum and Mitchell 1998, table 1; Yu et al. 2011, section 6.1 for ``cross``).

    Parameters
    ----------
    presence : ndarray of shape (n_samples, n_views), dtype=bool
    given : ndarray of shape (n_samples,)
        Class or number of each labeled sample, ``unlabeled`` for the others.
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
        Empty while it goes on; "n_rounds", "all_labeled", "not_confident", "contradictions" or "validation".
    """

    #: What stands for no label.
    unlabeled: float

    def __init__(self, presence: NDArray[np.bool_], given: NDArray[Any], order: Rows, rules: Rules) -> None:
        self._presence, self._rules = presence, rules
        self.labels = np.where(presence.T, given, np.asarray(self.unlabeled, dtype=given.dtype))
        self.history = LabelingHistory()
        size = len(order) if rules.pool_size is None else rules.pool_size
        self.pool, self._waiting, self._size = order[:size], order[size:], size
        self.n_rounds = 0
        self.stop_reason = ""

    @abstractmethod
    def _choose(self) -> tuple[LabelingHistory, str]:
        """What this round labels; where that is nothing, why."""

    def _candidates(self, view: int) -> Rows:
        """Samples of the pool that the view may label."""
        able = self._presence[self.pool, view]
        if self._rules.cross:
            # A sample that no other view has would leave the pool and teach nobody.
            able &= self._presence[self.pool].sum(axis=1) > 1
        return np.asarray(self.pool[able])

    def step(self) -> bool:
        """One round; False where co-training has come to an end."""
        if not self.pool.size:
            self.stop_reason = "all_labeled"
        elif self.n_rounds >= self._rules.n_rounds:
            self.stop_reason = "n_rounds"
        if self.stop_reason:
            return False
        added, reason = self._choose()
        if not added.samples.size:
            # Nothing changes any more: without a new label the next round would be the same.
            self.stop_reason = reason
            return False
        self._add(added)
        return True

    def run(self, quality: Callable[[], float] | None, patience: int) -> None:
        """All rounds; with a quality until it has not risen for so many rounds, and back to the last round that was best."""
        if quality is None:
            while self.step():
                pass
            return
        best, gained, last_best = quality(), 0, 0
        while not self.stop_reason and self.step():
            found = quality()
            if found > best:
                best, gained = found, self.n_rounds
            elif self.n_rounds - gained >= patience:
                self.stop_reason = "validation"
            if found == best:
                last_best = self.n_rounds
        self._take_back(last_best)

    def _add(self, added: LabelingHistory) -> None:
        """Give the labels to the views, and fill the pool up."""
        for view in range(self._presence.shape[1]):
            told = added.where(added.views != view) if self._rules.cross else added
            has = self._presence[told.samples, view]
            self.labels[view, told.samples[has]] = told.labels[has]
        self.history = self.history.joined(added)
        self.n_rounds += 1
        left = self.pool[~np.isin(self.pool, added.samples)]
        wanted = self._size - left.size
        self.pool, self._waiting = np.concatenate([left, self._waiting[:wanted]]), self._waiting[wanted:]

    def _take_back(self, n_rounds: int) -> None:
        """Undo the labels of the rounds after ``n_rounds``."""
        late = self.history.where(self.history.rounds > n_rounds)
        self.labels[:, late.samples] = self.unlabeled
        self.history = self.history.where(self.history.rounds <= n_rounds)
        self.n_rounds = n_rounds


class ClassRounds(Rounds):
    """Co-training of classifiers.

    Parameters
    ----------
    score : callable
        ``score(view, codes, rows)``: scores (n_rows, n_classes) of the learner that was taught the codes (n_samples,), -1
        where unlabeled; None where it cannot be taught by them.
    presence, given, order, rules
        As `Rounds` has them.
    """

    unlabeled = -1

    def __init__(self, score: Score, presence: NDArray[np.bool_], given: Codes, order: Rows, rules: Rules) -> None:
        super().__init__(presence, given, order, rules)
        self._score = score

    def _choose(self) -> tuple[LabelingHistory, str]:
        """By learners that know nothing of each other's nominations, then without contradictions."""
        found = LabelingHistory()
        for view in range(self._presence.shape[1]):
            candidates = self._candidates(view)
            scores = self._score(view, self.labels[view], candidates) if candidates.size else None
            if scores is not None:
                chosen = nominate(scores, candidates, self._rules.counts, self._rules.threshold)
                found = found.joined(LabelingHistory.of_view(self.n_rounds + 1, view, chosen))
        added = merge_nominations(found, skip_conflicts=self._rules.skip_conflicts)
        return added, "contradictions" if found.samples.size else "not_confident"


class NumberRounds(Rounds):
    """Co-training of regressors.

    Parameters
    ----------
    judge : callable
        ``judge(view, numbers, rows)``: predictions (n_rows,) by the learner that was taught the numbers (n_samples,), NaN where
        unlabeled, and how sure it is of each; None where it cannot be taught by them.
    presence, given, order, rules
        As `Rounds` has them; ``rules.counts`` has one entry.
    """

    unlabeled = np.nan

    def __init__(self, judge: Judge, presence: NDArray[np.bool_], given: Array, order: Rows, rules: Rules) -> None:
        super().__init__(presence, given, order, rules)
        self._judge = judge

    def _choose(self) -> tuple[LabelingHistory, str]:
        """The surest first, every sample once; views know nothing of each other's nominations."""
        wanted = LabelingHistory()
        for view in range(self._presence.shape[1]):
            candidates = self._candidates(view)
            found = self._judge(view, self.labels[view], candidates) if candidates.size else None
            if found is not None:
                sure = found[1] > self._rules.threshold
                chosen = candidates[sure], found[0][sure], found[1][sure]
                wanted = wanted.joined(LabelingHistory.of_view(self.n_rounds + 1, view, chosen))
        wanted = wanted.where(np.lexsort((wanted.views, wanted.samples, -wanted.confidences)))
        added = wanted.where(np.array(self._in_turn(wanted), dtype=np.intp))
        return added.where(np.lexsort((added.views, added.samples))), "not_confident"

    def _in_turn(self, wanted: LabelingHistory) -> list[int]:
        """Numbers of the entries that count, in their order: as many as each view may have, every sample once."""
        left = dict.fromkeys(range(self._presence.shape[1]), int(self._rules.counts[0]))
        taken: dict[int, int] = {}
        for number, (view, sample) in enumerate(zip(wanted.views.tolist(), wanted.samples.tolist(), strict=True)):
            if left[view] and sample not in taken:
                taken[sample] = number
                left[view] -= 1
        return list(taken.values())
