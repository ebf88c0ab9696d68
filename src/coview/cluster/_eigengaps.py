"""How many clusters there may be, by the falls in the spectrum of a graph of all views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from coview.cluster._spectral import MultiViewSpectralClustering
from coview.views import Views

__all__ = ["eigengaps"]


def eigengaps(
    X: Any,
    *,
    max_clusters: int = 10,
    affinity: str = "sum",
    kernel: Any = "rbf",
    sigma: Any = "local",
    max_samples: int = 2000,
    random_state: Any = None,
) -> pd.Series:
    r"""Falls between neighboring eigenvalues of the graph of all views: the largest suggests a number of clusters.

    Parameters
    ----------
    X : Views or anything that Views takes
        Samples, each with a view at least.
    max_clusters : int, default=10
        Largest number looked at; fewer where there are not that many samples.
    affinity : {"sum", "joint", "co_training", "minimizing_disagreement"}, default="sum"
        How the views are joined, as in :class:`MultiViewSpectralClustering`.
    kernel, sigma : default="rbf" and "local"
        Affinity in a view, as there.
    max_samples : int, default=2000
        Of more samples a random choice of so many is looked at.
    random_state : int, RandomState or None, default=None
        For that choice.

    Returns
    -------
    gaps : Series
        By number of clusters, from 2 on; ``gaps.idxmax()`` is the suggestion.

    Raises
    ------
    ValueError
        If there are fewer than three samples or ``max_clusters`` is below 2.

    Notes
    -----
    With k separate groups the normalized graph has the eigenvalue 1 k times (Ng, Jordan and Weiss, 2002; von Luxburg, 2007,
    section 8.3). A suggestion, not a test: one group is never suggested, and where all gaps are small nothing speaks for any
    number. Time O(n^2 n_features), memory O(n^2) numbers per view, for n = min(n_samples, max_samples).

    Examples
    --------
    >>> import numpy as np
    >>> from coview.cluster import eigengaps
    >>> rng = np.random.default_rng(0)
    >>> group = 6.0 * np.eye(3)[np.arange(60) % 3]
    >>> views = {"sight": group + rng.normal(size=(60, 3)), "sound": group + rng.normal(size=(60, 3))}
    >>> int(eigengaps(views, random_state=0).idxmax())
    3
    """
    views = X if isinstance(X, Views) else Views(X)
    n_samples = len(views)
    if n_samples < 3 or max_clusters < 2:
        raise ValueError(
            "A number of clusters can be looked for among three samples or more, and from 2 on; got "
            f"{n_samples} samples and max_clusters={max_clusters}."
        )
    random_state = check_random_state(random_state)
    if n_samples > max_samples:
        views = views[np.sort(random_state.choice(n_samples, max_samples, replace=False))]
    most = min(max_clusters, len(views) - 1)
    model = MultiViewSpectralClustering(
        most + 1, affinity=affinity, kernel=kernel, sigma=sigma, n_init=1, random_state=random_state
    ).fit(views)
    return pd.Series(model.eigengaps_[1:most], index=pd.RangeIndex(2, most + 1, name="n_clusters"), name="gap")
