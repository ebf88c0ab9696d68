"""Views with everything that does not depend on labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.gaussian_process._prior_bank import PriorBank
from coview.views import Views

__all__ = ["SEEN_IN_FIT", "PreparedViews"]

# What an estimator remembers of its input.
SEEN_IN_FIT = ("n_features_in_", "feature_names_in_", "view_names_", "view_n_features_", "_view_feature_names")


@dataclass(frozen=True)
class PreparedViews:
    """Views with their kernels, features and priors, which do not depend on labels.

    ``fit`` takes it in place of the views: repeats, label sets and classes then share the work.

    Attributes
    ----------
    views : Views
    kept : ndarray of shape (n_kept,)
        Positions of the samples that have a view.
    bank : PriorBank
    seen_in_fit : dict
        What an estimator remembers of the input: names and widths of views and features.
    """

    views: Views
    kept: NDArray[np.intp]
    bank: PriorBank
    seen_in_fit: dict[str, Any] = field(repr=False)

    def __len__(self) -> int:
        return self.views.n_samples
