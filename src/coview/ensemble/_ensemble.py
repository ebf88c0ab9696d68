"""Members and the rule by which what they say becomes one answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from coview.ensemble._members import Member, answer_of, local_accuracies
from coview.inference import accuracy_weights, mean_shares, product_shares, result_vector_votes, vote_counts
from coview.views import Views

__all__ = ["OF_PROBABILITIES", "OF_THE_PAST", "RULES", "Answers", "Ensemble"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

OF_PROBABILITIES = frozenset({"soft", "product", "modified_product"})
#: Rules that need to know what members said of training samples that they had not seen.
OF_THE_PAST = frozenset({"result_vector", "weighted", "local_accuracy"})
RULES = OF_PROBABILITIES | OF_THE_PAST | {"majority"}


@dataclass(frozen=True)
class Answers:
    """What members say of samples.

    Attributes
    ----------
    codes : ndarray of shape (n_samples, n_members)
        Numbers of classes, -1 where a member cannot judge.
    probabilities : ndarray of shape (n_samples, n_members, n_classes)
        NaN where a member cannot judge; no samples where the rule does not ask.
    accuracies : ndarray of shape (n_samples, n_members)
        How often each member is right about near training samples; no samples where the rule does not ask.
    """

    codes: Codes
    probabilities: Array
    accuracies: Array

    def of(self, chosen: Sequence[int]) -> Answers:
        """Those of some members."""
        return Answers(self.codes[:, chosen], self.probabilities[:, chosen], self.accuracies[:, chosen])


@dataclass(frozen=True)
class Ensemble:
    """Members, a rule, and what the rule remembers of the labeled training samples.

    Attributes
    ----------
    members : list of Member
    rule : str
        One of `RULES`.
    classes : ndarray of shape (n_classes,)
    shares : ndarray of shape (n_classes,)
        Of the classes among all labels.
    threshold : float
        Of the modified product.
    n_neighbors : int
        Of the local accuracy.
    said : ndarray of shape (n_labeled, n_members)
        What members say of the labeled samples without having seen them, -1 where they cannot judge.
    target : ndarray of shape (n_labeled,)
        What these samples are.
    training : Views or None
        The labeled samples, for the local accuracy.
    """

    members: list[Member]
    rule: str
    classes: NDArray[Any]
    shares: Array
    threshold: float
    n_neighbors: int
    said: Codes
    target: Codes
    training: Views | None

    def of(self, chosen: Sequence[int]) -> Ensemble:
        """The ensemble of some members."""
        return replace(self, members=[self.members[m] for m in chosen], said=self.said[:, chosen])

    def without_past(self, members: list[Member]) -> Ensemble:
        """Other members, of which nothing is remembered: rules that need it become a majority."""
        rule = "majority" if self.rule in OF_THE_PAST else self.rule
        return replace(
            self, members=members, rule=rule, said=np.empty((0, len(members)), dtype=np.int64), training=None
        )

    def answers(self, views: Views, n_jobs: int | None = None) -> Answers:
        """What the members say of samples."""
        asked = self.rule in OF_PROBABILITIES
        parts = Parallel(n_jobs=n_jobs)(
            delayed(answer_of)(member, views, self.classes, self.shares, probabilities=asked) for member in self.members
        )
        codes = np.full((len(views), len(self.members)), -1, dtype=np.int64)
        said = np.full((len(views) * asked, len(self.members), len(self.classes)), np.nan)
        for m, (rows, found, told) in enumerate(parts):
            codes[rows, m] = found
            if asked:
                said[rows, m] = told
        return Answers(codes, said, self._accuracies(views))

    def answers_left_out(self, probabilities: Array) -> Answers:
        """What the members said of the labeled samples without having seen them."""
        training = self.training
        near = (
            self._accuracies(training, without_self=True) if training is not None else np.empty((0, len(self.members)))
        )
        return Answers(self.said, probabilities, near)

    def _accuracies(self, views: Views, *, without_self: bool = False) -> Array:
        if self.rule != "local_accuracy" or self.training is None:
            return np.empty((0, len(self.members)))
        right = np.where(self.said >= 0, self.said == self.target[:, None], np.nan)
        columns = [
            local_accuracies(
                member.subset, views, self.training, right[:, m], self.n_neighbors, without_self=without_self
            )
            for m, member in enumerate(self.members)
        ]
        return np.column_stack(columns)

    def class_shares(self, answers: Answers, *, without_self: bool = False) -> Array:
        """Shares of the classes (n_samples, n_classes), zeros where no member can judge.

        ``without_self`` says that ``answers`` are those about the labeled samples, none of which may answer for itself.
        """
        if self.rule == "soft":
            return mean_shares(answers.probabilities)
        if self.rule in OF_PROBABILITIES:
            return product_shares(answers.probabilities, self.threshold if self.rule == "modified_product" else 0.0)
        votes = self._votes(answers, without_self=without_self)
        total = votes.sum(axis=1, keepdims=True)
        return np.asarray(votes / np.where(total > 0.0, total, 1.0))

    def _votes(self, answers: Answers, *, without_self: bool) -> Array:
        n_classes = len(self.classes)
        if self.rule == "result_vector":
            return result_vector_votes(answers.codes, self.said, self.target, n_classes, without_self=without_self)[0]
        if self.rule == "weighted":
            judged = self.said >= 0
            wrong = judged & (self.said != self.target[:, None])
            return vote_counts(
                answers.codes, n_classes, accuracy_weights(wrong.sum(axis=0), judged.sum(axis=0), n_classes)
            )
        if self.rule == "local_accuracy":
            near = np.where(answers.codes >= 0, np.nan_to_num(answers.accuracies), -1.0)
            best = near == near.max(axis=1, keepdims=True)
            return vote_counts(np.where(best, answers.codes, -1), n_classes)
        return vote_counts(answers.codes, n_classes)

    def error(self, answers: Answers, target: Codes, *, without_self: bool = False) -> float:
        """Share of samples judged wrongly; the most frequent class stands where nobody can judge."""
        shares = self.class_shares(answers, without_self=without_self)
        shares[~shares.any(axis=1)] = self.shares
        return float((shares.argmax(axis=1) != target).mean())
