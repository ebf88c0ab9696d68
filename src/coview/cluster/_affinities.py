"""How similar samples are in a view: Gaussian widths, neighbors, given matrices; in training and for new samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.gaussian_process.kernels import Kernel
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.neighbors import NearestNeighbors

from coview.exceptions import ViewError
from coview.graphs import knn_graph
from coview.inference import affinity_embedding
from coview.kernels import gram, median_distance, squared_distances
from coview.views import plain_rows, rows_from_plain

__all__ = ["ViewAffinity", "fit_affinity"]

Array = NDArray[np.float64]

# The width of a sample is its distance from that neighbor (Zelnik-Manor and Perona).
_LOCAL_NEIGHBOR = 7
# The width of a pair is this share of the mean of three distances: of either from so many neighbors, and between them
# (Wang et al.).
_PAIR_SHARE, _PAIR_NEIGHBORS = 0.5, 20
# Affinities below zero by less than this are rounding.
_ROUNDING = 1e-12
# Widths tried by "search", as shares of the median distance.
_WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0)
# So narrow a width is passed over that for this share of the samples all others together count less than the sample itself: a few
# of them fall off as clusters of their own, which are tight and say nothing.
_LONELY = 0.05


@dataclass(frozen=True)
class ViewAffinity:
    """Affinities in one view.

    Attributes
    ----------
    kind : str
        ``"rbf"``, ``"cosine"``, ``"pairwise"``, ``"nearest_neighbors"``, ``"precomputed"`` or ``"kernel"``.
    rows : ndarray or sparse array of shape (n_with_view, n_features)
        Training samples that have the view; of ``"precomputed"``, their affinities.
    widths : ndarray of shape (1,) or (n_with_view,)
        Of the Gaussian, one for all samples or one for each.
    n_neighbors : int
    kernel : kernel object or callable, or None
    """

    kind: str
    rows: Any
    widths: Array
    n_neighbors: int = 0
    kernel: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "rows": plain_rows(self.rows)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, rows=rows_from_plain(state["rows"]))

    def training(self) -> Any:
        """Affinities between the training samples, 1 on the diagonal unless given otherwise."""
        if self.kind == "precomputed":
            return self.rows
        if self.kind == "nearest_neighbors":
            graph = knn_graph(self.rows, self.n_neighbors, weights="heat", sigma=float(self.widths[0]))
            return sparse.csr_array(graph + sparse.eye_array(graph.shape[0]))
        if self.kind == "cosine":
            return _not_negative(cosine_similarity(self.rows))
        if self.kind == "kernel":
            return _not_negative(gram(self.kernel, self.rows))
        if self.kind == "pairwise":
            return _pairwise_gaussian(squared_distances(self.rows, self.rows), self.widths, self.widths)
        return _gaussian(squared_distances(self.rows, self.rows), self.widths, self.widths)

    def to_training(self, new: Any) -> Any:
        """Affinities of new rows with the training samples (n_new, n_with_view)."""
        if self.kind == "precomputed":
            return new
        if self.kind == "nearest_neighbors" and not new.shape[0]:
            return sparse.csr_array((0, self.rows.shape[0]))
        if self.kind == "nearest_neighbors":
            k = min(self.n_neighbors, self.rows.shape[0])
            distances, nearest = NearestNeighbors(n_neighbors=k).fit(self.rows).kneighbors(new)
            values = np.exp(-(distances**2) / (2.0 * self.widths[0] ** 2)).ravel()
            starts = np.arange(0, k * len(nearest) + 1, k)
            return sparse.csr_array((values, nearest.ravel(), starts), shape=(len(nearest), self.rows.shape[0]))
        if self.kind == "cosine":
            return (
                _not_negative(cosine_similarity(new, self.rows)) if new.shape[0] else np.zeros((0, self.rows.shape[0]))
            )
        if self.kind == "kernel":
            return _not_negative(gram(self.kernel, new, self.rows))
        squares = squared_distances(new, self.rows)
        if self.kind == "pairwise":
            return _pairwise_gaussian(squares, _mean_widths(squares, skip=0), self.widths)
        if len(self.widths) == 1:
            return _gaussian(squares, self.widths, self.widths)
        return _gaussian(squares, _local_widths(squares, skip=0), self.widths)


def fit_affinity(
    view: Any,
    kernel: Any,
    sigma: Any,
    n_neighbors: int,
    name: str,
    n_clusters: int,
    random_state: np.random.RandomState,
) -> ViewAffinity:
    """The affinity of a view by what the user said of it; raises where that cannot be meant."""
    if isinstance(kernel, str) and kernel == "precomputed":
        return ViewAffinity("precomputed", _checked_matrix(view, name), np.ones(1))
    if isinstance(kernel, Kernel) or (callable(kernel) and not isinstance(kernel, str)):
        return ViewAffinity("kernel", view, np.ones(1), kernel=kernel)
    if kernel == "cosine":
        return ViewAffinity("cosine", view, np.ones(1))
    if kernel not in ("rbf", "nearest_neighbors"):
        raise ValueError(
            f"kernel of view {name!r} must be 'rbf', 'cosine', 'nearest_neighbors', 'precomputed', a kernel object or a "
            f"callable; got {kernel!r}."
        )
    widths = _widths(view, sigma, name, n_clusters, random_state)
    if kernel == "nearest_neighbors" and len(widths) > 1:
        raise ValueError(f"sigma={sigma!r} is for kernel='rbf'; give nearest neighbors one width.")
    if isinstance(sigma, str) and sigma == "pairwise":
        return ViewAffinity("pairwise", view, widths)
    return ViewAffinity(kernel, view, widths, n_neighbors)


def _widths(view: Any, sigma: Any, name: str, n_clusters: int, random_state: np.random.RandomState) -> Array:
    if sigma is None:
        return np.array([median_distance(view, random_state)])
    if isinstance(sigma, str):
        if sigma == "local":
            return _local_widths(squared_distances(view, view), skip=1)
        if sigma == "pairwise":
            return _mean_widths(squared_distances(view, view), skip=1)
        if sigma == "search":
            return np.array([_searched_width(view, n_clusters, random_state)])
        raise ValueError(
            f"sigma of view {name!r} must be a number, None, 'local', 'pairwise' or 'search'; got {sigma!r}."
        )
    width = float(sigma)
    if not (np.isfinite(width) and width > 0.0):
        raise ValueError(f"sigma of view {name!r} must be positive and finite; got {sigma!r}.")
    return np.array([width])


def _local_widths(squares: Array, *, skip: int) -> Array:
    """Distance of each row from its seventh neighbor; the sample itself is left out in training."""
    if not squares.shape[1]:
        return np.ones(len(squares))
    nth = min(_LOCAL_NEIGHBOR - 1 + skip, squares.shape[1] - 1)
    return _positive(np.sqrt(np.partition(squares, nth, axis=1)[:, nth]))


def _mean_widths(squares: Array, *, skip: int) -> Array:
    """Mean distance of each row from its twenty nearest; the sample itself is left out in training."""
    if squares.shape[1] <= skip:
        return np.ones(len(squares))
    last = min(_PAIR_NEIGHBORS + skip, squares.shape[1])
    nearest = np.sqrt(np.partition(squares, last - 1, axis=1)[:, :last])
    return _positive(nearest.sum(axis=1) / (last - skip))


def _positive(widths: Array) -> Array:
    """The least of the others where a width is zero."""
    positive = widths[widths > 0.0]
    return np.asarray(np.where(widths > 0.0, widths, positive.min() if len(positive) else 1.0))


def _searched_width(view: Any, n_clusters: int, random_state: np.random.RandomState) -> float:
    """The width whose own clustering of the view is tightest (Ng, Jordan and Weiss): least distance from the centers."""
    median = median_distance(view, random_state)
    squares = squared_distances(view, view)
    best, least = median, np.inf
    for width in median * np.array(_WIDTHS):
        affinity = np.exp(squares / (-2.0 * width**2))
        np.fill_diagonal(affinity, 0.0)
        if np.quantile(affinity.sum(axis=1), _LONELY) < 1.0:
            continue
        try:
            rows = affinity_embedding(affinity, n_clusters).rows(0)
        except ValueError:  # so narrow that fewer directions are left
            continue
        looseness = float(KMeans(n_clusters, n_init=5, random_state=random_state.randint(2**31 - 1)).fit(rows).inertia_)
        if looseness < least * (1.0 - 1e-9):
            best, least = float(width), looseness
    return float(best)


def _gaussian(squares: Array, left: Array, right: Array) -> Array:
    """Affinities in the place of the squared distances, which are gone then."""
    squares /= -2.0 * left[:, None]
    squares /= right[None, :]
    return np.asarray(np.exp(squares, out=squares))


def _pairwise_gaussian(squares: Array, left: Array, right: Array) -> Array:
    """Affinities whose width is half the mean of both rows' widths and of their distance."""
    widths = np.sqrt(squares)
    widths += left[:, None]
    widths += right[None, :]
    widths *= _PAIR_SHARE / 3.0
    widths *= widths
    squares /= -2.0 * widths
    return np.asarray(np.exp(squares, out=squares))


def _not_negative(values: Array) -> Array:
    if values.size and values.min() < -_ROUNDING:
        raise ValueError(
            f"Affinities must not be negative; the kernel gives {float(values.min()):.3g}. Choose another one."
        )
    return np.maximum(values, 0.0, out=values)


def _checked_matrix(matrix: Any, name: str) -> Any:
    given = matrix if sparse.issparse(matrix) else np.asarray(matrix, dtype=np.float64)
    if given.shape[0] != given.shape[1]:
        raise ViewError(
            f"The affinities of view {name!r} must be a square matrix over its samples; got shape {given.shape}."
        )
    gap = abs(given - given.T)
    if gap.max() > 1e-8 * abs(given).max():
        raise ViewError(
            f"The affinities of view {name!r} are not symmetric: entries differ by up to {float(gap.max()):.3g}."
        )
    if given.min() < 0.0:
        raise ViewError(f"The affinities of view {name!r} must not be negative; the least is {float(given.min()):.3g}.")
    return given
