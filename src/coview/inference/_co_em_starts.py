"""Where co-EM starts: one matrix of responsibilities for all views, so that their components correspond."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from coview.inference._co_em import ViewSamples
from coview.inference._component_distributions import MultinomialComponents

__all__ = ["clustered_responsibilities", "comparable_rows", "labeled_responsibilities", "random_responsibilities"]

Array = NDArray[np.float64]

# A start need not be a fixed point of k-means.
_CLUSTERING_ROUNDS = 30
# From this share of stored values on, k-means is faster on a dense matrix.
_DENSE_FROM = 0.3


def random_responsibilities(n_samples: int, n_components: int, random_state: RandomState) -> Array:
    """Every sample wholly in a component drawn at random; never uniform, which is a fixed point of EM.

    Parameters
    ----------
    n_samples, n_components : int
    random_state : RandomState

    Returns
    -------
    responsibilities : ndarray of shape (n_samples, n_components)
    """
    return _indicators(random_state.permutation(np.arange(n_samples) % n_components), n_components)


def comparable_rows(views: Sequence[ViewSamples], n_samples: int) -> Array | sparse.csr_array:
    """Rows for k-means: every view of about the same weight, the multinomial ones together; zeros where a sample lacks a view.

    Parameters
    ----------
    views : sequence of ViewSamples
    n_samples : int

    Returns
    -------
    rows : ndarray or csr_array of shape (n_samples, n_columns)
    """
    counted = [v for v, view in enumerate(views) if isinstance(view.distribution, MultinomialComponents)]
    parts = [view.distribution.comparable(view.data) for view in views]
    if not any(map(sparse.issparse, parts)):
        return np.hstack([_at_full_height(part, view.rows, n_samples) for part, view in zip(parts, views, strict=True)])
    tall = [_placed(part, view.rows, n_samples) for part, view in zip(parts, views, strict=True)]
    others = [part for v, part in enumerate(tall) if v not in counted]
    if counted:
        # one unit row over all of them: a view of two links must not weigh as much as one of a hundred words
        others.append(normalize(sparse.hstack([tall[v] for v in counted], format="csr")))
    rows = sparse.csr_array(sparse.hstack(others, format="csr"))
    if rows.nnz > _DENSE_FROM * rows.shape[0] * rows.shape[1]:
        return np.asarray(rows.toarray())
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)  # k-means takes no others
    return rows


def clustered_responsibilities(rows: Array | sparse.csr_array, n_components: int, random_state: RandomState) -> Array:
    """Every sample wholly in its cluster of one run of k-means.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n_samples, n_columns)
        Of :func:`comparable_rows`.
    n_components : int
    random_state : RandomState

    Returns
    -------
    responsibilities : ndarray of shape (n_samples, n_components)
    """
    return _indicators(_clusters(rows, n_components, random_state), n_components)


def labeled_responsibilities(
    rows: Array | sparse.csr_array,
    codes: NDArray[np.int64],
    component_classes: NDArray[np.intp],
    random_state: RandomState,
) -> Array:
    """Every sample wholly in a component of its class, or of the class whose labeled samples have the nearest mean.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n_samples, n_columns)
        Of :func:`comparable_rows`.
    codes : ndarray of shape (n_samples,), dtype=int64
        Number of the class, -1 where unlabeled; at least one label.
    component_classes : ndarray of shape (n_components,), dtype=intp
        Class of each component. Those of one class share its samples by k-means.
    random_state : RandomState

    Returns
    -------
    responsibilities : ndarray of shape (n_samples, n_components)
    """
    labeled = codes >= 0
    classes = np.where(labeled, codes, _nearest_class(rows, codes))
    components = np.empty(len(codes), dtype=np.intp)
    for code in np.unique(classes):
        own, members = np.flatnonzero(component_classes == code), np.flatnonzero(classes == code)
        n_clusters = min(len(own), len(members))
        components[members] = own[_clusters(rows[members], n_clusters, random_state) if n_clusters > 1 else 0]
    return _indicators(components, len(component_classes))


def _at_full_height(values: Array, rows: NDArray[np.intp], n_samples: int) -> Array:
    tall = np.zeros((n_samples, values.shape[1]))
    tall[rows] = values
    return tall


def _placed(values: Any, rows: NDArray[np.intp], n_samples: int) -> sparse.csr_array:
    """The same for a sparse matrix, or a dense one beside sparse ones."""
    place = sparse.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(n_samples, len(rows)))
    return sparse.csr_array(place @ sparse.csr_array(values))


def _nearest_class(rows: Array | sparse.csr_array, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number of the class with the nearest mean of labeled samples, (n_samples,)."""
    labeled = np.flatnonzero(codes >= 0)
    seen, place = np.unique(codes[labeled], return_inverse=True)
    shares = _indicators(place, len(seen))
    shares /= shares.sum(axis=0)
    means = np.asarray(rows[labeled].T @ shares)  # (n_columns, n_seen)
    nearest = ((means**2).sum(axis=0) - 2.0 * np.asarray(rows @ means)).argmin(axis=1)
    return np.asarray(seen[nearest])


def _clusters(rows: Array | sparse.csr_array, n_clusters: int, random_state: RandomState) -> NDArray[np.intp]:
    clustering = KMeans(n_clusters, n_init=1, max_iter=_CLUSTERING_ROUNDS, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: some stay empty
        return np.asarray(clustering.fit_predict(rows))


def _indicators(labels: NDArray[np.integer], n_components: int) -> Array:
    responsibilities = np.zeros((len(labels), n_components))
    responsibilities[np.arange(len(labels)), labels] = 1.0
    return responsibilities
