"""Spectra of several views made to agree: by a penalty, by projecting one on another, by diffusion through neighbors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coview.inference._disagreement import inverse_roots, scaled
from coview.inference._nearest_rows import least_columns
from coview.linalg import largest_eigenpairs

__all__ = [
    "AffinityView",
    "balanced_coupling",
    "co_regularized_spectra",
    "co_trained_spectra",
    "fused_network",
    "shared_directions",
]

Array = NDArray[np.float64]
# Neighbors of this share of the samples or more: dense products are as fast.
_DENSE_SHARE = 1 / 12
# Columns multiplied at a time, so that they stay in the processor's cache.
_COLUMNS = 64


@dataclass(frozen=True)
class AffinityView:
    """Affinities of the samples that have a view.

    Attributes
    ----------
    affinity : ndarray of shape (n_with_view, n_with_view)
    places : ndarray of int of shape (n_with_view,)
        Their positions among all samples.
    """

    affinity: Array
    places: NDArray[np.intp]


def balanced_coupling(views: Sequence[AffinityView], n_components: int) -> float:
    r"""Weight at which agreement with the other views counts as much as a view's own affinities.

    Parameters
    ----------
    views : sequence of AffinityView
    n_components : int
        Eigenvectors that are to agree.

    Returns
    -------
    coupling : float
        For :func:`co_regularized_spectra`; 0 where there is one view.

    Notes
    -----
    The mean of the views' leading eigenvalues, the first of each, which is 1, left out, over the number of other views. Spaces
    that agree add up to that number per direction to a view's objective, and eigenvalues are a tenth for narrow affinities but a
    few thousandths for words at the median distance, which any fixed weight would outvote.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import AffinityView, balanced_coupling
    >>> pairs = AffinityView(np.kron(np.eye(2), np.ones((2, 2))) + 1.0, np.arange(4))
    >>> round(balanced_coupling([pairs, pairs, pairs], 2), 6)
    0.166667
    """
    if len(views) < 2:
        return 0.0
    means = []
    for view in views:
        L = _normalized(view.affinity)
        values = largest_eigenpairs(partial(np.matmul, L), len(L), min(n_components, len(L)))[0][:n_components]
        means.append(float(values[min(1, len(values) - 1) :].mean()))
    return max(float(np.mean(means)), 0.0) / (len(views) - 1)


def co_regularized_spectra(
    views: Sequence[AffinityView],
    n_samples: int,
    n_components: int,
    coupling: float,
    *,
    centroid: bool = False,
    n_iter: int = 5,
) -> tuple[list[Array], Array]:
    r"""Leading eigenvectors of every view that are also close to those of the others.

    Parameters
    ----------
    views : sequence of AffinityView
    n_samples, n_components : int
    coupling : float
        Weight of agreement beside the views' own normalized affinities, whose eigenvalues are at most 1.
    centroid : bool, default=False
        Whether views agree with a common set of directions instead of pair by pair.
    n_iter : int, default=5
        Rounds through the views.

    Returns
    -------
    spectra : list of ndarray of shape (n_with_view, n_components)
        Orthonormal columns.
    objective : ndarray of shape (n_iter + 1,)
        What the rounds increase, where no view is missing.

    Notes
    -----
    Kumar, Rai and Daume, "Co-regularized Multi-view Spectral Clustering" (2011): maximize
    :math:`\sum_v \mathrm{tr}(U_v^\top L_v U_v) + \lambda \sum_{v < w} \mathrm{tr}(U_v U_v^\top U_w U_w^\top)`, one view at a
    time, with :math:`L = D^{-1/2} A D^{-1/2}`; with a centroid the others are replaced by :math:`U_*`, the leading
    eigenvectors of :math:`\sum_v U_v U_v^\top`. Where a sample lacks the other view, that view's directions are what the
    view's own predict of them by least squares over the samples that have both, so that who has what is no direction to
    agree on; the rounds then need not increase the objective. Time O(n_iter n_views n^2 n_components).

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import AffinityView, co_regularized_spectra
    >>> pairs = AffinityView(np.kron(np.eye(2), np.ones((2, 2))), np.arange(4))
    >>> co_regularized_spectra([pairs, pairs], 4, 2, 0.5)[1].round(6)[-1]
    np.float64(5.0)
    """
    laplacians = [_normalized(view.affinity) for view in views]
    spectra = [_leading(L, n_components) for L in laplacians]
    center = _center(views, spectra, n_samples, n_components) if centroid else None
    objective = [_objective(views, laplacians, spectra, center, coupling, n_samples)]
    for _ in range(n_iter):
        for v, L in enumerate(laplacians):
            terms = _directions_met(views, spectra, center, v, n_samples)
            spectra[v] = _leading(L, n_components, terms, coupling)
        if center is not None:
            center = _center(views, spectra, n_samples, n_components)
        objective.append(_objective(views, laplacians, spectra, center, coupling, n_samples))
    return spectra, np.array(objective)


def co_trained_spectra(
    views: Sequence[AffinityView], n_samples: int, n_components: int, *, n_iter: int = 5
) -> list[Array]:
    r"""Leading eigenvectors of every view after its affinities were projected on those of the others.

    Parameters
    ----------
    views : sequence of AffinityView
    n_samples, n_components : int
    n_iter : int, default=5

    Returns
    -------
    spectra : list of ndarray of shape (n_with_view, n_components)

    Notes
    -----
    Kumar and Daume, "A Co-training Approach for Multi-view Spectral Clustering" (2011): in each round
    :math:`S_v = \mathrm{sym}(\sum_{w \ne v} U_w U_w^\top A_v)` and :math:`U_v` from :math:`S_v`, all views from those of the
    round before. Rows of samples that no other view has stay as they are. Time O(n_iter n_views^2 n^2 n_components).

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import AffinityView, co_trained_spectra
    >>> pairs = AffinityView(np.kron(np.eye(2), np.ones((2, 2))), np.arange(4))
    >>> U = co_trained_spectra([pairs, pairs], 4, 2)[0]
    >>> bool(np.allclose(U @ U.T, 0.5 * pairs.affinity))
    True
    """
    spectra = [_leading(_normalized(view.affinity), n_components) for view in views]
    for _ in range(n_iter if len(views) > 1 else 0):
        before = list(spectra)
        for v, view in enumerate(views):
            projected = np.zeros_like(view.affinity)
            met = np.zeros(len(view.places), dtype=bool)
            for w, other in enumerate(_elsewhere(views, before, v, n_samples)):
                U = other[view.places]
                projected += U @ (U.T @ view.affinity)
                met |= np.isin(view.places, views[w if w < v else w + 1].places)
            projected[~met] = view.affinity[~met]
            S = np.maximum(0.5 * (projected + projected.T), 0.0)
            spectra[v] = _leading(_normalized(S), n_components)
    return spectra


def shared_directions(
    views: Sequence[AffinityView],
    spectra: Sequence[Array],
    n_samples: int,
    n_components: int,
) -> Array:
    r"""Directions over all samples that the views' own span together.

    Parameters
    ----------
    views : sequence of AffinityView
    spectra : sequence of ndarray of shape (n_with_view, n_components)
    n_samples, n_components : int

    Returns
    -------
    directions : ndarray of shape (n_samples, n_components)
        Leading left singular vectors of the views' eigenvectors side by side, zero where a sample lacks the view; samples with
        few views weigh as much as those with all.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import AffinityView, shared_directions
    >>> view = AffinityView(np.eye(3), np.arange(3))
    >>> shared_directions([view], [np.eye(3)[:, :1]], 3, 1).tolist()
    [[1.0], [0.0], [0.0]]
    """
    beside = np.zeros((n_samples, sum(U.shape[1] for U in spectra)))
    count = np.zeros(n_samples)
    start = 0
    for view, U in zip(views, spectra, strict=True):
        beside[view.places, start : start + U.shape[1]] = U
        count[view.places] += 1.0
        start += U.shape[1]
    beside /= np.sqrt(np.maximum(count, 1.0))[:, None]
    U, _, _ = np.linalg.svd(beside, full_matrices=False)
    U = U[:, :n_components]
    signs = np.where(U[np.abs(U).argmax(axis=0), np.arange(U.shape[1])] < 0.0, -1.0, 1.0)
    return np.asarray(U * signs)


def fused_network(views: Sequence[AffinityView], n_samples: int, *, n_neighbors: int = 20, n_iter: int = 20) -> Array:
    r"""One network of the samples, by letting the views' networks diffuse through each other's neighbors.

    Parameters
    ----------
    views : sequence of AffinityView
    n_samples : int
    n_neighbors : int, default=20
        Whose affinities carry the diffusion in a view.
    n_iter : int, default=20

    Returns
    -------
    network : ndarray of shape (n_samples, n_samples)
        Symmetric, with zero diagonal; the mean of the views that two samples share, 0 where they share none.

    Notes
    -----
    Wang et al., "Similarity Network Fusion for Aggregating Data Types on a Genomic Scale" (2014): with :math:`P` the affinities
    with rows that sum to one half beside a diagonal of one half and :math:`S` those of the nearest neighbors with rows that sum
    to one, :math:`P_v \leftarrow S_v \bar P_{w \ne v} S_v^\top`, normalized again. Where no other view has both samples, a view
    keeps its own entry in place of the others'. Time O(n_iter n_views n^2 (n_neighbors + n_views)) by sparse products; with a
    twelfth of the samples as neighbors or more, dense ones. Memory two n x n matrices per view beside the affinities.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import AffinityView, fused_network
    >>> pairs = AffinityView(np.kron(np.eye(2), np.ones((2, 2))) + 0.01, np.arange(4))
    >>> W = fused_network([pairs, pairs], 4, n_neighbors=1)
    >>> bool(W[0, 1] > 10 * W[0, 2])
    True
    """
    status = [_half_diagonal(np.array(view.affinity)) for view in views]
    carriers = [_nearest_only(view.affinity, n_neighbors) for view in views]
    for _ in range(n_iter if len(views) > 1 else 0):
        status = [_diffused(views, status, carriers[v], v) for v in range(len(views))]
    total, shared = np.zeros((n_samples, n_samples)), np.zeros((n_samples, n_samples))
    for view, p in zip(views, status, strict=True):
        block = np.ix_(view.places, view.places)
        total[block] += 0.5 * (p + p.T)
        shared[block] += 1.0
    network = np.divide(total, shared, out=np.zeros_like(total), where=shared > 0.0)
    np.fill_diagonal(network, 0.0)
    return network


def _diffused(views: Sequence[AffinityView], status: Sequence[Array], carrier: Any, v: int) -> Array:
    """One view's network after a step through its neighbors."""
    others = _mean_of_others(views, status, v)
    # Transposed, which what follows does not see.
    moved = _times(carrier, _times(carrier, others).T)
    return _half_diagonal(moved + moved.T)


def _times(carrier: Any, matrix: Array) -> Array:
    if not sparse.issparse(carrier):
        return np.asarray(carrier @ matrix)
    result = np.empty(matrix.shape)
    for start in range(0, matrix.shape[1], _COLUMNS):
        part = slice(start, start + _COLUMNS)
        result[:, part] = carrier @ np.ascontiguousarray(matrix[:, part])
    return result


def _mean_of_others(views: Sequence[AffinityView], status: Sequence[Array], v: int) -> Array:
    """Mean of the other views' networks over the samples of one; its own where no other knows both samples."""
    places = views[v].places
    total, known = np.zeros_like(status[v]), np.zeros((len(places), len(views)))
    for w, view in enumerate(views):
        if w == v:
            continue
        common, mine, theirs = np.intersect1d(places, view.places, assume_unique=True, return_indices=True)
        known[mine, w] = 1.0
        if len(common) == len(places) == len(view.places) and np.array_equal(mine, theirs):
            total += status[w]
        else:
            total[np.ix_(mine, mine)] += status[w][np.ix_(theirs, theirs)]
    if known.sum() == known.size - len(places):
        total /= len(views) - 1
        return total
    count = known @ known.T
    return np.asarray(np.divide(total, count, out=np.array(status[v]), where=count > 0.0))


def _half_diagonal(affinity: Array) -> Array:
    """Rows that sum to one half off the diagonal, and a diagonal of one half, in place."""
    np.fill_diagonal(affinity, 0.0)
    sums = affinity.sum(axis=1, keepdims=True)
    affinity /= np.where(sums > 0.0, 2.0 * sums, 1.0)
    np.fill_diagonal(affinity, 0.5)
    return affinity


def _nearest_only(affinity: Array, k: int) -> Any:
    """The largest entries of each row, its own included, with rows that sum to one; sparse where they are few."""
    n = len(affinity)
    keep = min(k + 1, n)
    nearest = np.sort(least_columns(-affinity, keep), axis=1)
    values = np.take_along_axis(affinity, nearest, axis=1)
    sums = values.sum(axis=1, keepdims=True)
    shares = np.divide(values, sums, out=np.zeros_like(values), where=sums > 0.0)
    result = sparse.csr_array((shares.ravel(), nearest.ravel(), keep * np.arange(n + 1)), shape=(n, n))
    return result if keep < n * _DENSE_SHARE else result.toarray()


def _normalized(affinity: Array) -> Array:
    scale = inverse_roots(affinity.sum(axis=1))
    return scaled(affinity, scale, scale)


def _leading(L: Array, k: int, terms: Sequence[Array] = (), coupling: float = 0.0) -> Array:
    """Leading eigenvectors of L plus coupling times the projections U U'."""

    def product(x: Array) -> Array:
        return np.asarray(L @ x + coupling * sum((U @ (U.T @ x) for U in terms), np.zeros_like(x)))

    return largest_eigenpairs(product, len(L), k)[1]


def _elsewhere(views: Sequence[AffinityView], spectra: Sequence[Array], v: int, n: int) -> list[Array]:
    """Eigenvectors of the other views over all samples, zero where a sample lacks the view."""
    result = []
    for w, (view, U) in enumerate(zip(views, spectra, strict=True)):
        if w != v:
            full = np.zeros((n, U.shape[1]))
            full[view.places] = U
            result.append(full)
    return result


def _directions_met(
    views: Sequence[AffinityView], spectra: Sequence[Array], center: Array | None, v: int, n: int
) -> list[Array]:
    """What a view is to agree with, over its samples, orthonormal: the other views' directions or the common ones."""
    places = views[v].places
    if center is not None:
        return [_orthonormal(center[places])]
    result = []
    for w, other in enumerate(_elsewhere(views, spectra, v, n)):
        rows = other[places]
        both = np.isin(places, views[w if w < v else w + 1].places)
        if not both.all():
            predicted = np.linalg.lstsq(spectra[v][both], rows[both], rcond=None)[0]
            rows[~both] = spectra[v][~both] @ predicted
            rows = _orthonormal(rows)
        result.append(rows)
    return result


def _center(views: Sequence[AffinityView], spectra: Sequence[Array], n: int, k: int) -> Array:
    """The directions over all samples whose rows come nearest to every view's, a sample's over the views that it has."""
    count = np.bincount(np.concatenate([view.places for view in views]), minlength=n)
    directions = shared_directions(views, spectra, n, k)
    return directions if (count == len(views)).all() else directions / np.sqrt(np.maximum(count, 1.0))[:, None]


def _orthonormal(columns: Array) -> Array:
    """A basis of what the columns span, without directions that are rounding."""
    U, singular, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(U[:, singular > 1e-10 * singular.max(initial=0.0)])


def _objective(
    views: Sequence[AffinityView],
    laplacians: Sequence[Array],
    spectra: Sequence[Array],
    center: Array | None,
    coupling: float,
    n: int,
) -> float:
    own = sum(float(np.einsum("ij,ij->", U, L @ U)) for L, U in zip(laplacians, spectra, strict=True))
    agreement = 0.0
    for v in range(len(views)):
        others = _directions_met(views, spectra, center, v, n)
        agreement += sum(float((np.asarray(spectra[v].T @ other) ** 2).sum()) for other in others)
    return own + coupling * agreement * (1.0 if center is not None else 0.5)
