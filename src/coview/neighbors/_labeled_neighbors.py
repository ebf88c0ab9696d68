"""What classifiers by neighbors keep of their training samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coview.base import LabeledClassifierMixin, MultiViewEstimator, check_answerable
from coview.labels import encode_labels
from coview.views import Views

__all__ = ["LabeledNeighbors"]


class LabeledNeighbors(LabeledClassifierMixin, MultiViewEstimator):
    """Base of classifiers that keep the training samples with their classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_shares_ : ndarray of shape (n_classes,)
        Of the classes among the training samples: the answer where nothing else is known.
    """

    classes_: NDArray[Any]
    class_shares_: NDArray[np.float64]
    _codes: NDArray[np.int64]
    _training: Views
    no_view: str

    def _keep(self, X: Any, y: Any) -> None:
        views, y = self._validate_views_target(X, y, reset=True)
        self._check_views(views)
        self.classes_, self._codes = encode_labels(y, allow_missing=False)
        self.class_shares_ = np.bincount(self._codes, minlength=len(self.classes_)) / len(self._codes)
        self._training = views

    def _new_views(self, X: Any) -> Views:
        """New samples; raises where one has no view and ``no_view`` is "raise"."""
        check_is_fitted(self, "classes_")
        views = self._validate_views(X, reset=False)
        self._check_views(views)
        return views

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _check_views(self, views: Views) -> None:
        """Every sample has a view, unless the shares of the classes may answer."""
        remedy = "Give them a view, leave them out, or set no_view='prior' for the shares of the classes."
        check_answerable(np.asarray(views.presence.any(axis=1)), views, self.no_view, remedy)
