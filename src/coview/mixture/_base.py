"""What the mixtures of dense views share: one table of all features, NaN where a value is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.base import MultiViewEstimator

__all__ = ["StackedViewsEstimator"]


class StackedViewsEstimator(MultiViewEstimator):
    """Base of estimators that see all views as one table, in which any value may be missing; sparse views raise."""

    _allow_nan = True

    def _stacked(self, X: Any, *, reset: bool) -> NDArray[np.float64]:
        """All features of X, (n_samples, n_features_in), NaN where a view or a feature is missing."""
        return self._validate_views(X, reset=reset).stacked()

    def _view_of_feature(self) -> NDArray[np.intp]:
        """Position of the view of each feature, (n_features_in_,)."""
        return np.repeat(np.arange(len(self.view_names_)), [self.view_n_features_[name] for name in self.view_names_])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
