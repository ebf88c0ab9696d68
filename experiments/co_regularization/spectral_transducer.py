"""The spectral graph transducer (Joachims 2003), a rival of table 1: a cut of the graph of all samples that minds the labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.optimize import brentq
from scipy.sparse import csgraph

__all__ = ["COSTS", "SpectralGraph", "neighbor_weights"]

Array = NDArray[np.float64]

# Weight of the labels; the paper on the transducer takes 3,200 and 100 neighbors for text.
COSTS = (320.0, 3200.0, 32000.0, 320000.0)
_DIMENSIONS = 80


def neighbor_weights(rows: Any, n_neighbors: int) -> sparse.csr_array:
    """Cosines with the nearest neighbors, those of each sample scaled to a sum of one, made symmetric (n, n)."""
    cosines = np.array((rows @ rows.T).todense())
    lengths = np.sqrt(np.maximum(cosines.diagonal(), np.finfo(float).tiny))
    cosines /= lengths
    cosines /= lengths[:, None]
    np.fill_diagonal(cosines, -np.inf)
    order = np.argsort(-cosines, axis=1, kind="stable")[:, : min(n_neighbors, len(cosines) - 1)]
    near = np.maximum(np.take_along_axis(cosines, order, axis=1), 0.0)
    total = near.sum(axis=1, keepdims=True)
    near = near / np.where(total > 0.0, total, 1.0)
    starts = np.arange(len(order) + 1) * order.shape[1]
    directed = sparse.csr_array((near.ravel(), order.ravel(), starts), shape=cosines.shape)
    return sparse.csr_array(directed + directed.T)


class SpectralGraph:
    r"""The smooth vectors of a graph, and cuts in their span.

    Parameters
    ----------
    weights : sparse array of shape (n, n)

    Notes
    -----
    Of the largest connected part; samples outside have the score 0. V are the 80 eigenvectors of the normalized Laplacian after
    the first, with the eigenvalues replaced by the squares 1, 4, 9 ...
    A cut z = V w minimizes :math:`w^\top D w + c (V w - g)^\top C (V w - g)` with :math:`\|w\|^2 = n` (section 4 of the
    paper): g is :math:`\sqrt{l_- / l_+}` for positive labels and :math:`-\sqrt{l_+ / l_-}` for negative ones, C is
    :math:`l / (2 l_\pm)` at them.
    """

    def __init__(self, weights: Any) -> None:
        n = weights.shape[0]
        _, part = csgraph.connected_components(weights, directed=False)
        joined = np.flatnonzero(part == np.bincount(part).argmax())
        normalized = csgraph.laplacian(weights[joined][:, joined], normed=True).toarray()
        last = min(_DIMENSIONS, len(joined) - 1)
        self.vectors = np.zeros((n, last))
        self.vectors[joined] = linalg.eigh(normalized, subset_by_index=[0, last])[1][:, 1:]
        self._values = np.arange(1.0, last + 1.0) ** 2

    def cut(self, labeled: NDArray[np.intp], signs: Array, costs: Sequence[float] = COSTS) -> Array:
        """Scores of all samples (n_costs, n); those of one class alone are zero."""
        n_positive = int((signs > 0.0).sum())
        n_negative = len(signs) - n_positive
        if not n_positive or not n_negative:
            return np.zeros((len(costs), len(self.vectors)))
        goal = np.where(signs > 0.0, np.sqrt(n_negative / n_positive), -np.sqrt(n_positive / n_negative))
        weights = 0.5 * len(signs) / np.where(signs > 0.0, n_positive, n_negative)
        known = self.vectors[labeled]
        return np.array([self._one_cut(known, goal, cost * weights) for cost in costs])

    def _one_cut(self, known: Array, goal: Array, weights: Array) -> Array:
        curvature = np.diag(self._values) + known.T @ (weights[:, None] * known)
        values, vectors = linalg.eigh(curvature)
        pull = vectors.T @ (known.T @ (weights * goal))
        radius = float(len(self.vectors))

        def excess(shift: float) -> float:
            return float(np.sum((pull / (values - shift)) ** 2) - radius)

        # The root below the smallest eigenvalue is the minimum on the sphere.
        reach = float(np.linalg.norm(pull)) / np.sqrt(radius)
        low, high = values[0] - reach - 1.0, values[0] - 1e-12 * max(1.0, abs(values[0]))
        stuck = excess(high) <= 0.0  # no pull along the smoothest vector
        shift = high if stuck else float(brentq(excess, low, high, xtol=1e-12, rtol=1e-14))
        return np.asarray(self.vectors @ (vectors @ (pull / (values - shift))))
