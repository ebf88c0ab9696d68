"""Views as the Bregman clusterings need them: dense rows in the domain of their divergences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.cluster._refusals import check_has_view
from coview.exceptions import ViewError
from coview.inference import BregmanDivergence, BregmanView, bregman_divergence
from coview.views import Views, numbers_per_view, some, value_per_view

__all__ = ["bregman_views", "rows_in_domain"]


def bregman_views(views: Views, divergences: Any, weights: Any, *, what: str = "divergence") -> list[BregmanView]:
    """One ``BregmanView`` per view, all of full height; raises where rows are sparse or outside the domain."""
    check_has_view(views)
    found = []
    chosen = value_per_view(divergences, views.names, what)
    given = numbers_per_view(1.0 if weights is None else weights, views.names, "view_weights", positive=True)
    for name, divergence, weight in zip(views.names, chosen, given.tolist(), strict=True):
        measure = bregman_divergence(divergence)
        block = rows_in_domain(views, name, measure)
        rows_of_all = np.full((views.n_samples, block.shape[1]), np.nan)
        rows_of_all[views.rows(name)] = block
        found.append(BregmanView(rows_of_all, measure, weight))
    return found


def rows_in_domain(views: Views, name: str, measure: BregmanDivergence) -> NDArray[np.float64]:
    """Rows of a view; raises where they are sparse or outside the domain of its divergence."""
    block = np.asarray(_dense(views, name), dtype=np.float64)
    outside = ~measure.allowed(block)
    if outside.any():
        rows = np.flatnonzero(outside.any(axis=1))
        value = block[rows[0]][outside[rows[0]]][0]
        raise ViewError(
            f"The divergence {measure.name!r} is defined for {measure.domain or 'finite numbers'}; view {name!r} has "
            f"{int(outside.sum())} other entries, in samples {some(views.index[views.rows(name)[rows]])}, the first "
            f"{float(value):.6g}. Shift or rescale the view, or choose another divergence for it."
        )
    return block


def _dense(views: Views, name: str) -> NDArray[np.float64]:
    block = views[name]
    if hasattr(block, "toarray"):
        raise ViewError(
            f"View {name!r} is sparse, and clusters by Bregman divergences have dense means. Make it dense with toarray() if "
            "that fits, or reduce it, say with sklearn.decomposition.TruncatedSVD or NMF."
        )
    return np.asarray(block)
