"""One classifier for the union of some views: its fit, its answers, and what it says of samples left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from coview.ensemble._subsets import union_of_views
from coview.inference import nearest_rows
from coview.views import Views
from coview.viewwise import (
    calibrated_log_probabilities,
    calibration_of,
    fitted_learner,
    has_probabilities,
    label_codes,
    out_of_fold_codes,
    out_of_fold_probabilities,
    seeded,
    stratified_folds,
)

__all__ = [
    "LeftOut",
    "Member",
    "answer_of",
    "error_of_codes",
    "fit_members",
    "leave_out",
    "local_accuracies",
    "seeded_by_subset",
]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

_FOLDS = 10


@dataclass(frozen=True)
class Member:
    """A classifier of the samples that have all views of a subset.

    Attributes
    ----------
    subset : tuple of str
    estimator : fitted estimator
    template : estimator
        What it is a copy of.
    known : ndarray of shape (n_seen,)
        Numbers of the classes that it has seen, in the order of its own ``classes_``.
    calibration : ndarray of shape (n_classes, 2) or None
        Platt's sigmoids, where it has no probabilities and they are asked for.
    """

    subset: tuple[str, ...]
    estimator: Any
    template: Any
    known: Codes
    calibration: Array | None


@dataclass(frozen=True)
class LeftOut:
    """What members say of the labeled samples without having seen them.

    Attributes
    ----------
    codes : ndarray of shape (n_samples, n_members)
        -1 where a member cannot judge, and for samples without label.
    probabilities : ndarray of shape (n_samples, n_members, n_classes)
        NaN there; no samples where nobody asks.
    """

    codes: Codes
    probabilities: Array


def seeded_by_subset(
    template: Any, subsets: Sequence[tuple[str, ...]], random_state: Any
) -> dict[tuple[str, ...], Any]:
    """A copy of the estimator for each subset, with a seed where it has none."""
    copies = seeded({str(number): template for number in range(len(subsets))}, random_state)
    return dict(zip(subsets, copies.values(), strict=True))


def fit_members(
    templates: Mapping[tuple[str, ...], Any],
    views: Views,
    codes: Codes,
    classes: NDArray[Any],
    *,
    probabilities: bool,
    n_jobs: int | None,
) -> list[Member]:
    """Estimators fitted to the labeled samples that have a subset, for those subsets where two classes have labels."""
    fitted = Parallel(n_jobs=n_jobs)(
        delayed(_fit_member)(template, views, subset, codes, classes, probabilities=probabilities)
        for subset, template in templates.items()
    )
    return [member for member in fitted if member is not None]


def _fit_member(
    template: Any, views: Views, subset: tuple[str, ...], codes: Codes, classes: NDArray[Any], *, probabilities: bool
) -> Member | None:
    rows, table = union_of_views(views, subset)
    learner = None if table is None else fitted_learner(template, table, codes[rows], classes)
    if learner is None:
        return None
    calibration = None
    if probabilities and not has_probabilities(learner[0]):
        given = np.flatnonzero(codes[rows] >= 0)
        calibration = calibration_of(template, table[given], codes[rows][given], classes)
    return Member(subset, learner[0], template, learner[1], calibration)


def leave_out(
    members: Sequence[Member],
    views: Views,
    codes: Codes,
    cv: Any,
    random_state: Any,
    *,
    n_jobs: int | None,
    **asked: Any,
) -> LeftOut:
    """Left-out answers of all members; ``asked`` is for `_left_out_of`."""
    folds = _folds_of(codes, cv, random_state)
    alone = cv in ("auto", "leave_one_out")
    found = Parallel(n_jobs=n_jobs)(
        delayed(_left_out_of)(member, views, codes, None if alone and _leaves_out(member.estimator) else folds, **asked)
        for member in members
    )
    codes_by_member, probabilities = zip(*found, strict=True)
    return LeftOut(np.stack(codes_by_member, axis=1), np.stack(probabilities, axis=1))


def _leaves_out(estimator: Any) -> bool:
    """Whether a fitted estimator knows what it would say of each training sample without it; not asked, since that may cost."""
    return hasattr(type(estimator), "loo_labels_") or "loo_labels_" in vars(estimator)


def _left_out_of(
    member: Member,
    views: Views,
    codes: Codes,
    folds: Codes | None,
    *,
    classes: NDArray[Any],
    shares: Array,
    probabilities: bool,
) -> tuple[Codes, Array]:
    """Codes and probabilities by fits without each sample: the estimator's own leave-one-out where ``folds`` is None."""
    rows, table = union_of_views(views, member.subset)
    found = np.full(len(views), -1, dtype=np.int64)
    said = np.full((len(views) * probabilities, len(classes)), np.nan)
    if folds is None:
        labeled = rows[codes[rows] >= 0]
        found[labeled] = label_codes(member.estimator.loo_labels_, classes)
        if probabilities:
            said[labeled] = 0.0
            said[np.ix_(labeled, member.known)] = member.estimator.loo_probabilities_
        return found, said
    asked: dict[str, Any] = {"classes": classes, "shares": shares}
    if probabilities:
        said[rows] = out_of_fold_probabilities(member.template, table, codes[rows], folds[rows], **asked)
        found[rows] = np.where(codes[rows] >= 0, np.nan_to_num(said[rows]).argmax(axis=1), -1)
    else:
        found[rows] = out_of_fold_codes(member.template, table, codes[rows], folds[rows], **asked)
    return found, said


def _folds_of(codes: Codes, cv: Any, random_state: Any) -> Codes:
    """The fold in which each labeled sample is left out, -1 for the others."""
    labeled = codes >= 0
    if cv == "leave_one_out":
        return np.where(labeled, np.cumsum(labeled) - 1, -1)
    if cv == "auto":
        return stratified_folds(codes, _FOLDS, random_state, balanced=True)
    return stratified_folds(codes, min(cv, int(labeled.sum())), random_state)


def error_of_codes(said: Codes, codes: Codes, shares: Array) -> float:
    """Share of labeled samples judged wrongly; the most frequent class stands where nothing is said."""
    labeled = codes >= 0
    told = np.where(said < 0, shares.argmax(), said)
    return float((told[labeled] != codes[labeled]).mean())


def answer_of(
    member: Member, views: Views, classes: NDArray[Any], shares: Array, *, probabilities: bool
) -> tuple[NDArray[np.intp], Codes, Array | None]:
    """Samples that a member can judge, the classes it names, and their probabilities if asked for."""
    rows, table = union_of_views(views, member.subset)
    if table is None:
        return rows, np.empty(0, dtype=np.int64), np.empty((0, len(classes)))
    found = label_codes(member.estimator.predict(table), classes)
    if not probabilities:
        return rows, found, None
    logs = calibrated_log_probabilities(member.estimator, table, member.known, shares, member.calibration)
    return rows, found, np.exp(logs)


def local_accuracies(
    subset: tuple[str, ...], new: Views, training: Views, right: Array, n_neighbors: int, *, without_self: bool = False
) -> Array:
    """How often a member is right about the training samples next to each new one, in the views of the member.

    Parameters
    ----------
    subset : tuple of str
    new, training : Views
    right : ndarray of shape (n_training,)
        1 where the member judges the left-out sample rightly, 0 where wrongly, NaN where it has not been asked.
    n_neighbors : int
    without_self : bool, default=False
        Whether ``new`` is ``training``.

    Returns
    -------
    accuracies : ndarray of shape (n_new,)
        NaN for samples without these views; 0 where there is nobody to compare with.
    """
    result = np.full(len(new), np.nan)
    rows, table = union_of_views(new, subset)
    known_rows, known = union_of_views(training, subset)
    if table is None:
        return result
    result[rows] = 0.0
    asked = np.flatnonzero(~np.isnan(right[known_rows]))
    if not asked.size:
        return result
    neighbors, _ = nearest_rows(table, known[asked], n_neighbors + without_self)
    neighbors = known_rows[asked][neighbors]
    counted = np.ones(neighbors.shape, dtype=bool)
    if without_self:
        counted = neighbors != rows[:, None]
        # a sample that is not its own neighbor, since equal ones stand before it, has one too many
        counted[counted.all(axis=1) & (neighbors.shape[1] > n_neighbors), -1] = False
    result[rows] = (right[neighbors] * counted).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
    return result
