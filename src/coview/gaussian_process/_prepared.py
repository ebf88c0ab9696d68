"""Views with everything that does not depend on labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.base import names_from_plain, plain_names
from coview.gaussian_process._prior_bank import PriorBank
from coview.views import Views

__all__ = ["SEEN_IN_FIT", "PreparedViews", "spread"]

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

    def __getstate__(self) -> dict[str, Any]:
        return {
            "views": self.views,
            "kept": self.kept,
            "bank": self.bank.learnt(),
            "seen_in_fit": plain_names(self.seen_in_fit),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        views, kept = state["views"], state["kept"]
        blocks = [views[name] for name in views.names]
        bank = PriorBank.restored(state["bank"], views.names, blocks, views.presence[kept], kept, views.n_samples)
        values = {"views": views, "kept": kept, "bank": bank, "seen_in_fit": names_from_plain(state["seen_in_fit"])}
        for name, value in values.items():
            object.__setattr__(self, name, value)


def spread(values: NDArray[np.float64], rows: NDArray[np.intp], n: int, empty: float) -> NDArray[np.float64]:
    """Values of some samples spread over all, ``empty`` elsewhere."""
    if rows.size == n:
        return values
    filled = np.full((n, *values.shape[1:]), empty)
    filled[rows] = values
    return filled
