"""A model fitted to the data at hand, and which pairs or samples can be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.labels import encode_labels, encode_targets, target_values
from coview.views import Views

__all__ = ["ScoredModel", "seed_of"]


@dataclass(frozen=True)
class ScoredModel:
    """A fitted model with its data.

    Attributes
    ----------
    model : estimator
        Fitted to just these data, if it was asked for.
    views : Views
    y : ndarray of shape (n_samples,)
        As given, in the order of the samples.
    labels : ndarray of object of shape (n_samples,) or None
        Classes, None where unlabeled; None as a whole for regression.
    labeled : ndarray of shape (n_samples,), dtype=bool
    """

    model: Any
    views: Views
    y: NDArray[Any]
    labels: NDArray[Any] | None
    labeled: NDArray[np.bool_]

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, *, fit: bool = True) -> ScoredModel:
        """The model as it is where it was fitted to X and y, otherwise a clone of it fitted to them if it is needed."""
        views = (X if isinstance(X, Views) else Views(X, view_columns=getattr(model, "view_columns", None))).as_floats()
        if isinstance(y, pd.Series):
            y = views.align(y)
        y = target_values(y)
        if len(y) != len(views):
            raise ValueError(f"y must have one entry per sample; got {len(y)} for {len(views)} samples.")
        if is_classifier(model):
            missing_label, classes = getattr(model, "missing_label", "auto"), getattr(model, "classes", None)
            known, codes = encode_labels(y, missing_label=missing_label, classes=classes)
            labels = np.full(len(y), None, dtype=object)
            labels[codes >= 0] = known[codes[codes >= 0]]
            labeled = codes >= 0
        else:
            labels, labeled = None, ~np.isnan(encode_targets(y))
        if fit and not _was_fitted_to(model, views, y):
            model = clone(model).set_params(**({"view_columns": None} if hasattr(model, "view_columns") else {}))
            model.fit(views, y)
        return cls(model, views, y, labels, labeled)


def _was_fitted_to(model: Any, views: Views, y: NDArray[Any]) -> bool:
    """Whether a model was fitted to these data; one that does not say is taken at its word where it is fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    if hasattr(model, "was_fitted_to"):
        return bool(model.was_fitted_to(views, y))
    if not hasattr(model, "consensus_posterior"):
        return True
    posterior = model.consensus_posterior()
    return bool(posterior.views == views and pd.Series(posterior.y).equals(pd.Series(y)))


def seed_of(random_state: Any) -> int:
    """A seed from ``random_state``; None stands for 0, so that the same data give the same answer."""
    if random_state is None:
        return 0
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
