"""Spectral embedding that minimizes disagreement between views, and of one affinity matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from coview.linalg import as_dense, largest_eigenpairs

__all__ = [
    "SpectralEmbedding",
    "affinity_embedding",
    "disagreement_embedding",
    "inverse_roots",
    "mean_of_rows",
    "scaled",
    "unit_rows",
]

Array = NDArray[np.float64]

# Up to so many rows in each of two views all singular values are found at once.
_DENSE_LIMIT = 400
# Directions beyond those asked for, to see where the eigenvalues fall.
_FURTHER = 10


@dataclass(frozen=True)
class SpectralEmbedding:
    r"""Leading eigenvectors of a normalized graph, and what places new nodes among them.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Eigenvalues (for two views, singular values), decreasing; at least as many as components, where there are.
    vectors : list of ndarray of shape (n_nodes of a part, n_components)
        Eigenvectors, cut into the parts of the graph (one per view); zero rows for nodes that are similar to nothing.
    carriers : list of ndarray of shape (n_links, n_components)
        By part: affinities of a new node with the links of its part, times this, is its eigenvector row.
    carried_degrees : list of ndarray of shape (n_links,)
        By part: the same for its degree.
    """

    values: Array
    vectors: list[Array]
    carriers: list[Array]
    carried_degrees: list[Array]

    def rows(self, part: int) -> Array:
        """Rows of the training nodes of a part at unit length; zero rows stay zero."""
        return unit_rows(self.vectors[part])

    def new_rows(self, part: int, affinities: Any) -> Array:
        r"""Rows of new nodes by their affinities (n_new, n_links) with the links of their part (Nyström), at unit length.

        A training node seen again gets its own row.
        """
        degrees = np.asarray(affinities @ self.carried_degrees[part])
        return unit_rows(np.asarray(affinities @ self.carriers[part]) * inverse_roots(degrees)[:, None])


def disagreement_embedding(affinities: Sequence[Any], n_components: int) -> SpectralEmbedding:
    r"""Embed the rows of every view so that linked rows of different views agree.

    Parameters
    ----------
    affinities : sequence of ndarray or sparse array of shape (n_nodes of the view, n_links)
        Affinities of a view's rows with the links: the samples through which views are compared. A column is zero where the link
        lacks the view. With all samples as links it is the view's affinity matrix, 1 on its diagonal.
    n_components : int

    Returns
    -------
    embedding : SpectralEmbedding
        One part per view.

    Raises
    ------
    ValueError
        If the graph has fewer directions than components.

    Notes
    -----
    de Sa, "Spectral Clustering with Two Views" (2005), equations (1) and (2): with :math:`W = A_1 A_2^\top` over the links, the
    singular vectors of :math:`D_r^{-1/2} W D_c^{-1/2}`. More views are joined by the matrix of all blocks :math:`A_u A_v^\top`,
    :math:`u \ne v`, with nothing on its diagonal, which for two views is the same. The blocks are never formed where there are
    more than 400 nodes: a product with the matrix takes O(n_nodes n_links), a few hundred of them give the eigenvectors. Memory
    is that of the affinities.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import disagreement_embedding
    >>> blocks = np.kron(np.eye(2), np.ones((2, 2)))
    >>> disagreement_embedding([blocks, blocks], 2).values.round(6)[:2]
    array([1., 1.])
    """
    graph = _Blocks(affinities)
    two = len(affinities) == 2
    if two and max(graph.counts) <= _DENSE_LIMIT:
        values, vectors = graph.singular_pairs(n_components)
    else:
        values, vectors = largest_eigenpairs(graph.product, sum(graph.counts), n_components, _FURTHER)
    _check_rank(values, n_components)
    vectors = np.where(np.concatenate(graph.scales)[:, None] > 0.0, vectors, 0.0)
    parts = _split(vectors * (np.sqrt(2.0) if two else 1.0), graph.counts)
    links = [part * scale[:, None] for part, scale in zip(parts, graph.scales, strict=True)]
    # (n_links, n_components)
    spread = [np.asarray(a.T @ link) for a, link in zip(graph.affinities, links, strict=True)]
    total = np.sum(spread, axis=0)
    carriers = [(total - own) / values[:n_components] for own in spread]
    return SpectralEmbedding(values, parts, carriers, [graph.reach(v) for v in range(len(affinities))])


class _Blocks:
    """The matrix of all blocks A_u A_v' between views, normalized, known by its products."""

    def __init__(self, affinities: Sequence[Any]) -> None:
        self.affinities = list(affinities)
        self.counts = [a.shape[0] for a in self.affinities]
        self.sums = [np.asarray(a.sum(axis=0), dtype=np.float64).ravel() for a in self.affinities]
        self.total = np.sum(self.sums, axis=0)
        self.scales = [inverse_roots(np.asarray(a @ self.reach(v))) for v, a in enumerate(self.affinities)]

    def reach(self, v: int) -> Array:
        """What other views have at each link: affinities with the links times it is a node's degree (n_links,)."""
        return np.asarray(self.total - self.sums[v]) if len(self.affinities) > 2 else self.sums[1 - v]

    def product(self, x: Array) -> Array:
        """The normalized matrix times columns over all nodes."""
        pieces = [part * scale[:, None] for part, scale in zip(_split(x, self.counts), self.scales, strict=True)]
        carried = [np.asarray(a.T @ piece) for a, piece in zip(self.affinities, pieces, strict=True)]
        total = np.sum(carried, axis=0)
        back = [np.asarray(a @ (total - own)) for a, own in zip(self.affinities, carried, strict=True)]
        return np.vstack([part * scale[:, None] for part, scale in zip(back, self.scales, strict=True)])

    def singular_pairs(self, k: int) -> tuple[Array, Array]:
        """Singular values of the one block of two views, and the vectors of both sides one above the other, of length 1."""
        block = as_dense(self.affinities[0] @ self.affinities[1].T)
        U, values, Vt = svd(scaled(block, *self.scales), full_matrices=False, check_finite=False)
        return values, np.vstack([U[:, :k], Vt[:k].T]) / np.sqrt(2.0)


def affinity_embedding(affinity: Any, n_components: int) -> SpectralEmbedding:
    r"""Embed the samples of one affinity matrix by the leading eigenvectors of :math:`D^{-1/2} A D^{-1/2}`.

    Parameters
    ----------
    affinity : ndarray or sparse array of shape (n_samples, n_samples)
        Symmetric, not negative; with zeros on its diagonal, as the method of Ng, Jordan and Weiss has it.
    n_components : int

    Returns
    -------
    embedding : SpectralEmbedding
        Of one part, whose links are the samples.

    Raises
    ------
    ValueError
        If the graph has fewer directions than components.

    Notes
    -----
    Ng, Jordan and Weiss (2002). Dense up to 400 samples, beyond that by products with the matrix, a few hundred of them.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import affinity_embedding
    >>> pairs = np.kron(np.eye(2), 1.0 - np.eye(2))
    >>> affinity_embedding(pairs, 2).values.round(6)[:2]
    array([1., 1.])
    """
    n = affinity.shape[0]
    scale = inverse_roots(np.asarray(affinity.sum(axis=0), dtype=np.float64).ravel())[:, None]
    values, vectors = largest_eigenpairs(
        lambda x: np.asarray(scale * (affinity @ (scale * x))), n, n_components, _FURTHER
    )
    # Zeros on the diagonal make eigenvalues negative where samples are few; only those that vanish have no direction.
    _check_rank(np.abs(values[:n_components]), n_components)
    vectors = np.where(scale > 0.0, vectors, 0.0)
    carrier = vectors * scale / values[:n_components]
    return SpectralEmbedding(values, [vectors], [carrier], [np.ones(n)])


def inverse_roots(degrees: Array) -> Array:
    """One over the root of each degree; 0 where it is 0."""
    return np.asarray(np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0.0))


def scaled(matrix: Array, left: Array, right: Array) -> Array:
    """A dense matrix with each row and each column scaled."""
    return np.asarray(matrix * left[:, None] * right)


def mean_of_rows(parts: Sequence[Array], presence: NDArray[np.bool_]) -> Array:
    """Mean of the rows that a sample has in its views; rows of zeros tell nothing and do not count.

    Parameters
    ----------
    parts : sequence of ndarray of shape (n_with_view, n_components)
        One per view.
    presence : ndarray of shape (n_samples, n_views)

    Returns
    -------
    rows : ndarray of shape (n_samples, n_components)
        Zero where no view tells anything.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import mean_of_rows
    >>> presence = np.array([[True, True], [True, False]])
    >>> mean_of_rows([np.array([[1.0], [3.0]]), np.array([[2.0]])], presence).tolist()
    [[1.5], [3.0]]
    """
    total, count = np.zeros((len(presence), parts[0].shape[1])), np.zeros((len(presence), 1))
    for part, has in zip(parts, presence.T, strict=True):
        told = part.any(axis=1)
        places = np.flatnonzero(has)[told]
        total[places] += part[told]
        count[places] += 1.0
    return np.asarray(total / np.maximum(count, 1.0))


def unit_rows(rows: Array) -> Array:
    """Rows at unit length; those that are zero stay zero.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_components)

    Returns
    -------
    rows : ndarray of shape (n_rows, n_components)

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import unit_rows
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0.0))


def _check_rank(values: Array, n_components: int) -> None:
    rank = int((values > 1e-12 * max(values[0], 0.0)).sum()) if len(values) else 0
    if rank < n_components:
        raise ValueError(
            f"The affinities tell {rank} directions apart, and {n_components} are asked for. Ask for fewer clusters, or narrow "
            "sigma so that samples differ."
        )


def _split(x: Array, counts: Sequence[int]) -> list[Array]:
    return np.split(x, np.cumsum(counts)[:-1])
