"""Whether the record in a model file has the shape that `coview fit` gives it; whoever made the file may have made it up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coview.model_selection import PRIOR_NAMES, Evaluation
from coview.persistence import ModelFileError

__all__ = ["checked_evaluation", "checked_record"]

SCHEMA_VERSION = 1
_TEXT = ("task", "method", "target", "command")
_COUNTS = ("n_samples", "n_labeled")
# Lists and tables: what their entries are, and which whole numbers, texts and lists these must hold.
_TABLES: dict[str, tuple[type, type, dict[str, type]]] = {
    "verdict": (list, str, {}),
    "findings": (list, dict, {"message": str, "advice": str, "level": str, "ids": list}),
    "patterns": (list, dict, {"views": list, "n_samples": int, "n_labeled": int}),
    "views": (dict, dict, {"n_columns": int, "n_samples": int}),
    "guesses": (dict, dict, {}),
    "class_counts": (dict, int, {}),
    "versions": (dict, str, {}),
}


def checked_record(record: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The record, or an error that names the part that is damaged; parts may be missing."""
    record = record or {}
    version = record.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        raise ModelFileError(
            f"The model's record has schema version {version}, and this coview reads version {SCHEMA_VERSION}. "
            "Update coview, or fit the model again."
        )
    for name in _TEXT:
        _check(isinstance(record.get(name, ""), str), name)
    for name in _COUNTS:
        _check(type(record.get(name, 0)) is int, name)
    _check(record.get("task", "classification") in PRIOR_NAMES, "task")
    for name, (outer, inner, parts) in _TABLES.items():
        content = record.get(name) or outer()
        _check(isinstance(content, outer), name)
        for entry in content.values() if isinstance(content, dict) else content:
            _check(isinstance(entry, inner), name)
            _check(all(isinstance(entry.get(part, kind()), kind) for part, kind in parts.items()), name)
    for facts in (record.get("views") or {}).values():
        _check({"n_columns", "n_samples"} <= facts.keys(), "views")
    for pattern in record.get("patterns") or []:
        _check({"views", "n_samples"} <= pattern.keys(), "patterns")
    return record


def checked_evaluation(record: Mapping[str, Any]) -> Evaluation | None:
    """The evaluation in a record; None where nothing was evaluated."""
    content = record.get("evaluation")
    if not content:
        return None
    try:
        evaluation = Evaluation.from_dict(content)
        shapes = {values.shape for values in evaluation.predictions.values()}
        lengths = {len(evaluation.samples), len(evaluation.y), len(evaluation.folds), *(shape[0] for shape in shapes)}
        whole = len(lengths) == 1 and {"method", "metric", "mean", "se"} <= set(evaluation.scores.columns)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise _damaged("evaluation") from error
    _check(whole and evaluation.task == record.get("task", evaluation.task), "evaluation")
    _check(record.get("method") in evaluation.predictions and PRIOR_NAMES[evaluation.task] in evaluation.predictions,
           "evaluation")  # fmt: skip
    return evaluation


def _check(condition: bool, part: str) -> None:
    if not condition:
        raise _damaged(part)


def _damaged(part: str) -> ModelFileError:
    return ModelFileError(
        f"The record in the model's file is damaged: '{part}' is not what coview fit writes. Fit again."
    )
