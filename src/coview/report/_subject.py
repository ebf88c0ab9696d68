"""What a report on a fitted model is about: the model, its record, its evaluation, and predictions for data given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import pandas as pd
from sklearn.pipeline import Pipeline

from coview.model_selection import ALONE, PRIOR_NAMES, Evaluation
from coview.report._given import Given, answer
from coview.report._record import checked_evaluation, checked_record
from coview.report._words import shorten

__all__ = ["Subject", "make_subject"]


class _Saved(Protocol):
    """What is asked of a loaded model file."""

    model: Any
    manifest: Mapping[str, Any]
    record: Mapping[str, Any]


@dataclass(frozen=True)
class Subject:
    """Everything that the sections draw on.

    Attributes
    ----------
    model : fitted Pipeline
        An encoder (or ``"passthrough"``, where the estimator takes views as they are), then an estimator.
    manifest, record : mapping
        What the model file says about itself.
    evaluation : Evaluation or None
    given : Given or None
        Predictions for data; None for a report on the model alone.
    """

    model: Any
    manifest: Mapping[str, Any]
    record: Mapping[str, Any]
    evaluation: Evaluation | None
    given: Given | None

    @property
    def encoder(self) -> Any:
        """The first step; None where there is none."""
        return None if self.model[0] == "passthrough" else self.model[0]

    @property
    def estimator(self) -> Any:
        """The last step."""
        return self.model[-1]

    @property
    def regression(self) -> bool:
        """Whether numbers are predicted."""
        if "task" in self.record:
            return bool(self.record["task"] == "regression")
        return not hasattr(self.estimator, "classes_")

    @property
    def target(self) -> str:
        """Name of what is predicted."""
        return shorten(self.record.get("target") or "the label", 80)

    @property
    def method(self) -> str:
        """Name of the method."""
        return str(self.record.get("method") or type(self.estimator).__name__)

    @property
    def classes(self) -> list[str]:
        """Classes as text, in the order of the probabilities; none for regression."""
        return [str(name) for name in getattr(self.estimator, "classes_", [])]

    @property
    def views(self) -> list[str]:
        """Names of the views."""
        return list(self.record.get("views") or getattr(self.encoder or self.estimator, "view_names_", []))

    @property
    def trust(self) -> pd.DataFrame | None:
        """Shares of the views that some sample has; None where the method does not assess them."""
        table = getattr(self.estimator, "view_trust_", None)
        return None if table is None else table[table["share"].notna()]

    @property
    def explains(self) -> bool:
        """Whether the model says what each view contributes."""
        return hasattr(self.estimator, "explain") and hasattr(self.estimator, "similarity")

    @property
    def prior(self) -> str:
        """Name of the prediction that looks at no view."""
        return PRIOR_NAMES["regression" if self.regression else "classification"]

    @property
    def alone(self) -> list[str]:
        """Rows of the method fitted to one view."""
        names = [] if self.evaluation is None else list(self.evaluation.predictions)
        return [name for name in (f"{view}{ALONE}" for view in self.views) if name in names]

    @property
    def simple(self) -> list[str]:
        """Other methods that were evaluated beside the one reported."""
        names = [] if self.evaluation is None else list(self.evaluation.predictions)
        return [name for name in names if name not in {self.method, self.prior, *self.alone}]


def make_subject(saved: _Saved, table_set: Any | None) -> Subject:
    """Take the model apart and ask it about the data.

    Parameters
    ----------
    saved : SavedModel
    table_set : TableSet or None

    Returns
    -------
    subject : Subject
    """
    record = checked_record(saved.record)
    model = saved.model
    if not isinstance(model, Pipeline):
        model = Pipeline([("encode", "passthrough"), ("model", model)])
    evaluation = checked_evaluation(record)
    subject = Subject(model, saved.manifest or {}, record, evaluation, None)
    if table_set is None:
        return subject
    trained = set() if evaluation is None else set(evaluation.samples)
    return replace(subject, given=answer(model, table_set, trained=trained, regression=subject.regression))
