"""Where co-EM starts: one matrix of responsibilities for all views, so that their components correspond."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from coview.inference._co_em import ViewSamples

__all__ = ["clustered_responsibilities", "comparable_rows", "random_responsibilities"]

Array = NDArray[np.float64]

# A start need not be a fixed point of k-means.
_CLUSTERING_ROUNDS = 30


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
    """Rows for k-means, every view of about the same weight; zeros where a sample lacks a view.

    Parameters
    ----------
    views : sequence of ViewSamples
    n_samples : int

    Returns
    -------
    rows : ndarray or csr_array of shape (n_samples, n_columns)
    """
    parts = []
    for view in views:
        part = sparse.csr_array(view.distribution.comparable(view.data))
        place = sparse.csr_array(
            (np.ones(len(view.rows)), (view.rows, np.arange(len(view.rows)))), shape=(n_samples, len(view.rows))
        )
        parts.append(place @ part)
    rows = sparse.hstack(parts, format="csr")
    return rows.toarray() if rows.nnz > 0.3 * rows.shape[0] * rows.shape[1] else rows


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
    clustering = KMeans(n_components, n_init=1, max_iter=_CLUSTERING_ROUNDS, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: some stay empty
        labels = clustering.fit_predict(rows)
    return _indicators(labels, n_components)


def _indicators(labels: NDArray[np.integer], n_components: int) -> Array:
    responsibilities = np.zeros((len(labels), n_components))
    responsibilities[np.arange(len(labels)), labels] = 1.0
    return responsibilities
