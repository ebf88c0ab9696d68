"""Labels as a campaign takes them: of the type of those known, never a mark for a missing one."""

from __future__ import annotations

import math
import numbers
import warnings
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_classifier

from coview.labels import encode_labels, encode_targets, labeled_rows, target_values

__all__ = ["Targets", "target_settings"]


def target_settings(model: Any) -> dict[str, Any]:
    """What a model says of its target, as JSON holds it: keywords of `Targets`."""
    if not is_classifier(model):
        return {"classifier": False}
    missing_label, classes = getattr(model, "missing_label", "auto"), getattr(model, "classes", None)
    unmarked = missing_label is None or (pd.api.types.is_scalar(missing_label) and pd.isna(missing_label))
    return {
        "classifier": True,
        "missing_label": None if unmarked else missing_label,
        "classes": None if classes is None else np.asarray(classes).tolist(),
    }


class Targets:
    """The target at the start of a campaign.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    classifier : bool
        Whether labels are classes.
    missing_label, classes : object, default="auto" and None
        As in `encode_labels`.

    Attributes
    ----------
    values : ndarray of shape (n_samples,)
    labeled : ndarray of shape (n_samples,), dtype=bool
    """

    def __init__(self, y: Any, *, classifier: bool, missing_label: Any = "auto", classes: Any = None) -> None:
        values = target_values(y)
        self.values = _plain_objects(values) if values.dtype.kind in "USO" else values
        self._declared = None if classes is None else list(classes)
        self._classes: list[Any] | None = None
        if classifier:
            self.labeled = labeled_rows(values, missing_label=missing_label, classes=classes)
            self._classes = encode_labels(values, missing_label=missing_label, classes=classes)[0].tolist()
        else:
            self.labeled = ~np.isnan(encode_targets(values))
        self._marks = [item for item in pd.unique(self.values[~self.labeled]) if not pd.isna(item)]

    def checked(self, label: Any) -> Any:
        """A label as it is kept: text, a number or a truth value of Python, of the type of the other labels."""
        plain = label.item() if isinstance(label, np.generic) else label
        if plain is None or (pd.api.types.is_scalar(plain) and pd.isna(plain)) or plain in self._marks:
            raise ValueError(f"label must not be missing; got {label!r}. Take back a label with undo().")
        if self._classes is None:
            return _number(plain)
        if _kind(plain) != _kind(self._classes[0]):
            raise ValueError(
                f"label must be {_kind(self._classes[0])} like the others ({_shown(self._classes)}); got {label!r}."
            )
        if plain in self._classes:
            return self._classes[self._classes.index(plain)]
        return self._of_new_class(plain)

    def _of_new_class(self, label: Any) -> Any:
        """A label that no sample had: an error where all classes are declared, otherwise a warning."""
        near = get_close_matches(str(label), [str(item) for item in self._classes or []], n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        if self._declared is not None:
            raise ValueError(f"label must be one of {_shown(self._declared)}; got {label!r}.{hint}")
        if isinstance(label, float) and not label.is_integer():
            raise ValueError(f"label must be a class; got the number {label!r} with a fraction.")
        warnings.warn(f"{label!r} is a class that no sample had at the start.{hint}", UserWarning, stacklevel=5)
        return int(label) if self.values.dtype.kind in "iu" else label

    def with_labels(self, told: dict[int, Any]) -> NDArray[Any]:
        """The target with labels (row to label) in their places (n_samples,)."""
        values = self.values.copy()
        for row, label in told.items():
            values[row] = label
        return values


def _plain_objects(values: NDArray[Any]) -> NDArray[Any]:
    """Labels as Python's own text and numbers, of which told ones are."""
    plain = np.empty(len(values), dtype=object)
    plain[:] = [value.item() if isinstance(value, np.generic) else value for value in values]
    return plain


def _number(label: Any) -> float:
    if isinstance(label, str) or not isinstance(label, numbers.Real) or not math.isfinite(label):
        raise ValueError(f"label must be a finite number; got {label!r}.")
    return float(label)


def _kind(label: Any) -> str:
    if isinstance(label, str):
        return "text"
    if isinstance(label, bool):
        return "a truth value"
    return "a number" if isinstance(label, numbers.Real) else f"a {type(label).__name__}"


def _shown(classes: list[Any]) -> str:
    return ", ".join(map(repr, classes[:8])) + (", …" if len(classes) > 8 else "")
