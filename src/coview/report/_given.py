"""A fitted model's answers for data given to the report."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from coview.inspection import prediction_table
from coview.metrics import probability_scores, regression_scores
from coview.views import AlignedTables, Views, resolve_presence, select_known, take_rows

__all__ = ["Given", "answer"]


@dataclass(frozen=True)
class Given:
    """Predictions for the samples given, and their labels where there are some.

    Attributes
    ----------
    model : Pipeline
    tables : AlignedTables
        The samples that have a view, with the views and columns that the model knows.
    presence : ndarray of shape (n_samples, n_views), dtype=bool
    answers : DataFrame
        By sample id: ``predicted``, ``probability`` or ``sd``, ``lower``, ``upper``; ``views``, those observed;
        ``label`` (text, or a number; missing where unknown); ``trained``, whether the evaluation had the label.
    probabilities : ndarray of shape (n_samples, n_classes), or None for regression
    unanswered : tuple of str
        Samples without any view that the model knows.
    scores : dict or None
        Over the labeled samples whose label was not in training; None where there are none.
    n_scored : int
    n_foreign : int
        Labels of classes that the model does not know; not scored.
    notes : tuple of str
        What was left aside to make the data fit the model.
    """

    model: Any
    tables: AlignedTables
    presence: NDArray[np.bool_]
    answers: pd.DataFrame
    probabilities: NDArray[np.float64] | None
    unanswered: tuple[str, ...]
    scores: dict[str, float] | None
    n_scored: int
    n_foreign: int
    notes: tuple[str, ...] = ()

    @property
    def n_labeled(self) -> int:
        """Samples with a label."""
        return int(self.answers["label"].notna().sum())

    @property
    def n_trained(self) -> int:
        """Labeled samples whose label the evaluation had too."""
        return int((self.answers["label"].notna() & self.answers["trained"]).sum())

    def encoded(self, rows: ArrayLike) -> Views:
        """Some samples as the last step of the model takes them."""
        part = take_rows(self.tables, rows)
        views = self.model[:-1].transform(part)
        return views if isinstance(views, Views) else Views(views)


def answer(model: Any, table_set: Any, *, trained: AbstractSet[str], regression: bool) -> Given:
    """Predict every sample that has a view.

    Parameters
    ----------
    model : fitted Pipeline
    table_set : TableSet
    trained : set of str
        Ids of samples whose label was in training.
    regression : bool

    Returns
    -------
    given : Given
    """
    known, notes = _known_part(model[0], table_set)
    has_view = np.asarray(resolve_presence(known).any(axis=1))
    unanswered = tuple(str(name) for name in known.ids[np.flatnonzero(~has_view)])
    tables = known if has_view.all() else take_rows(known, np.flatnonzero(has_view))
    answers = prediction_table(model, tables)
    probabilities = None
    if not regression:
        n_classes = len(model[-1].classes_)
        probabilities = answers.iloc[:, 2 : 2 + n_classes].to_numpy(dtype=np.float64)
        answers = answers[["predicted", "probability", "views"]].assign(predicted=answers["predicted"].astype(str))
    answers["label"] = _labels(table_set, answers.index, regression=regression)
    answers["trained"] = answers.index.isin(list(trained))
    scores, n_scored, n_foreign = _score(model[-1], answers, probabilities)
    presence = resolve_presence(tables)
    return Given(model, tables, presence, answers, probabilities, unanswered, scores, n_scored, n_foreign, notes)


def _known_part(first: Any, table_set: Any) -> tuple[AlignedTables, tuple[str, ...]]:
    """The views and columns that the model knows, and what was left aside."""
    if first == "passthrough":
        return table_set.to_tables(), ()
    tables, findings = select_known(table_set.to_tables(), first.view_names_, first.view_feature_names_)
    return tables, tuple(f"{finding.message} {finding.advice}".strip() for finding in findings)


def _labels(table_set: Any, index: pd.Index, *, regression: bool) -> Any:
    """Labels of the samples, missing where unknown; classes as text."""
    if table_set.labels is None:
        return np.full(len(index), np.nan if regression else None, dtype=float if regression else object)
    labels = table_set.labels.reindex(index)
    if regression:
        return pd.to_numeric(labels, errors="coerce").to_numpy(dtype=float)
    return np.array([None if pd.isna(label) else str(label) for label in labels], dtype=object)


def _score(
    model: Any, answers: pd.DataFrame, probabilities: NDArray[np.float64] | None
) -> tuple[dict[str, float] | None, int, int]:
    """Scores over the labels that training did not have; how many these are, and how many name an unknown class."""
    fresh = (answers["label"].notna() & ~answers["trained"]).to_numpy()
    foreign = np.zeros(len(answers), dtype=bool)
    classes = [str(name) for name in getattr(model, "classes_", [])]
    if probabilities is not None:
        foreign = fresh & ~answers["label"].isin(classes).to_numpy()
    rows = np.flatnonzero(fresh & ~foreign)
    if not rows.size:
        return None, 0, int(foreign.sum())
    part = answers.iloc[rows]
    if probabilities is None:
        scores = regression_scores(part["label"].astype(float), part["predicted"], part["sd"])
    else:
        scores = probability_scores(part["label"].to_numpy(dtype=str), probabilities[rows], classes=classes)
    return scores, rows.size, int(foreign.sum())
