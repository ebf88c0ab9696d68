"""What the mixtures of dense views share: one table of all features, NaN where a value is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.base import MultiViewEstimator
from coview.exceptions import ViewError

__all__ = ["StackedViewsEstimator", "refuse_unseen"]


class StackedViewsEstimator(MultiViewEstimator):
    """Base of estimators that see all views as one table, in which any value may be missing; sparse views raise."""

    _allow_nan = True

    def _stacked(self, X: Any, *, reset: bool) -> NDArray[np.float64]:
        """All features of X, (n_samples, n_features_in), NaN where a view or a feature is missing."""
        table = self._validate_views(X, reset=reset).stacked()
        if reset:
            refuse_unseen(table, self.view_names_)
        return table

    def _feature_labels(self) -> list[str]:
        """What messages call each feature: its name in its view, or its number there."""
        labels = []
        for view, width in self.view_n_features_.items():
            names = self._view_feature_names[view] or [f"column {number}" for number in range(width)]
            labels += [f"{name} of view '{view}'" for name in names]
        return labels

    def _view_of_feature(self) -> NDArray[np.intp]:
        """Position of the view of each feature, (n_features_in_,)."""
        return np.repeat(np.arange(len(self.view_names_)), [self.view_n_features_[name] for name in self.view_names_])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def refuse_unseen(table: NDArray[np.float64], views: list[str]) -> None:
    """Raise ViewError where not a single value (n_samples, n_features) is observed: nothing could be learned from it."""
    if np.isnan(table).all():
        raise ViewError(
            f"Not one value is observed: all {len(table)} samples miss all features of {', '.join(map(repr, views))}. Give "
            "samples of which something is known, or check how the tables were read."
        )
