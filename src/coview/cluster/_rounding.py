"""From rows of an embedding to clusters: k-means from many starts, signs, samples whose cluster is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from coview.inference import MeansView, multi_view_k_means

__all__ = ["Rounding", "first_appearance", "fit_rounding"]

Array = NDArray[np.float64]


class Rounding:
    """Centers of clusters among unit rows, or the sign of their second entry.

    Parameters
    ----------
    centers : ndarray of shape (n_clusters, n_components), or None
        None: by sign.
    """

    def __init__(self, centers: Array | None) -> None:
        self.centers = centers

    def labels(self, rows: Array) -> NDArray[np.intp]:
        """Number of the nearest center; -1 for rows of zeros."""
        found = (
            (rows[:, 1] < 0.0).astype(np.intp)
            if self.centers is None
            else ((rows[:, None] - self.centers[None]) ** 2).sum(axis=2).argmin(axis=1)
        )
        return np.asarray(np.where((rows == 0.0).all(axis=1), -1, found), dtype=np.intp)


def fit_rounding(
    rows: Array,
    n_clusters: int,
    rounding: str,
    n_init: int,
    random_state: np.random.RandomState,
    anchors: NDArray[np.intp],
) -> tuple[Rounding, NDArray[np.intp]]:
    """Clusters of unit rows, and their labels; zero rows get -1.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_components)
    n_clusters : int
    rounding : {"kmeans", "sign"}
    n_init : int
        Starts of k-means; the tightest result stays.
    random_state : RandomState
    anchors : ndarray of int of shape (n_samples,)
        Cluster of the samples whose cluster is known, -1 elsewhere: they stay there.

    Returns
    -------
    rounding : Rounding
    labels : ndarray of shape (n_samples,)
    """
    placed = ~(rows == 0.0).all(axis=1)
    if rounding == "sign":
        if n_clusters != 2:
            raise ValueError(
                f"rounding='sign' makes two clusters, and n_clusters is {n_clusters}. Use rounding='kmeans'."
            )
        found = Rounding(None)
        return found, found.labels(rows)
    if int(placed.sum()) < n_clusters:
        raise ValueError(f"{int(placed.sum())} samples are similar to any other, fewer than n_clusters={n_clusters}.")
    labels = np.full(len(rows), -1, dtype=np.intp)
    if (anchors >= 0).any():
        centers, labels[placed] = _anchored(rows[placed], n_clusters, anchors[placed], n_init, random_state)
        return Rounding(centers), labels
    model = KMeans(n_clusters, n_init=n_init, random_state=random_state.randint(2**31 - 1)).fit(rows[placed])
    order, labels[placed] = first_appearance(model.labels_, n_clusters)
    return Rounding(np.asarray(model.cluster_centers_[order], dtype=np.float64)), labels


def first_appearance(labels: NDArray[np.intp], n_clusters: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Old numbers in the order in which they appear (absent ones last), and the labels with their new numbers."""
    seen = labels[np.sort(np.unique(labels, return_index=True)[1])]
    order = np.concatenate([seen, np.setdiff1d(np.arange(n_clusters), seen)]).astype(np.intp)
    number = np.empty(n_clusters, dtype=np.intp)
    number[order] = np.arange(n_clusters)
    return order, number[labels]


def _anchored(
    rows: Array, k: int, anchors: NDArray[np.intp], n_init: int, random_state: np.random.RandomState
) -> tuple[Array, NDArray[np.intp]]:
    """K-means in which anchored rows stay; clusters without an anchor start from rows drawn at random."""
    view, n = MeansView(rows, np.arange(len(rows))), len(rows)
    lacking = np.setdiff1d(np.arange(k), anchors)
    runs = []
    for _ in range(n_init if len(lacking) else 1):
        start = np.zeros((k, rows.shape[1]))
        for c in lacking:
            start[c] = rows[random_state.randint(n)]
        runs.append(multi_view_k_means([view], n, k, random_state, centers=[start], known=anchors))
    best = min(runs, key=lambda run: run.cost)
    return best.centers[0], best.labels
