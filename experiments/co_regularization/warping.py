"""Kernels that know the unlabeled samples: warped by graphs of one view or several, or tied to another view."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from coview.graphs import combined_laplacian, knn_graph, laplacian
from coview.kernels import warped_kernel

from .problems import BOTH, LINK, PAGE

__all__ = [
    "COUPLINGS",
    "GRAPHS",
    "JOINT",
    "RATIOS",
    "graph_name",
    "laplacians",
    "penalty",
    "tied_kernels",
    "warped_kernels",
]

Array = NDArray[np.float64]

# Neighbors by cosine, whether degrees are divided out, and the power of the Laplacian.
GRAPHS = ((10, False, 1), (50, False, 1), (200, True, 5))
# gamma_I over gamma_A.
RATIOS = (1.0, 10.0, 1e2, 1e4)
# gamma_C over gamma.
COUPLINGS = (1.0, 10.0, 1e2, 1e3, 1e4, 1e5)
# Which Laplacians are averaged: alpha = 0.5, and the mean of three.
JOINT: Mapping[str, tuple[str, ...]] = {"Lap": (), "Co-Lap 1": (LINK, PAGE), "Co-Lap 2": (LINK, PAGE, BOTH)}


def laplacians(features: Mapping[str, Any], n_neighbors: int, normalized: bool, power: int) -> dict[str, Array]:
    """Laplacian of the graph of each view (n, n): edges weigh as much as the cosine, the mean degree is one."""
    found = {}
    for name, rows in features.items():
        weights = knn_graph(rows, n_neighbors, metric="cosine", weights="cosine").toarray()
        found[name] = laplacian(weights / weights.sum(axis=1).mean(), normalized=normalized, power=power)
    return found


def graph_name(n_neighbors: int, normalized: bool, power: int) -> str:
    """In words."""
    return f"{n_neighbors} neighbors{', normalized' if normalized else ''}{f', power {power}' if power > 1 else ''}"


def penalty(kind: str, view: str, parts: Mapping[str, Array]) -> Array:
    """The Laplacian that a learner of a view uses."""
    return np.asarray(combined_laplacian([parts[name] for name in JOINT[kind] or (view,)]))


def warped_kernels(gram: Array, L: Array) -> Iterator[tuple[float, Array]]:
    """Ratio of the gammas, and the kernel (n, n)."""
    for ratio in RATIOS:
        yield ratio, warped_kernel(gram, laplacian=L, gamma_intrinsic=ratio)


def tied_kernels(grams: Mapping[str, Array], centered: bool) -> Iterator[tuple[float, Array]]:
    r"""Ratio of the coupling, and the kernel (2 n, 2 n) of the functions of both views, those of the first view first.

    Co-regularization is a graph, too: one that joins the two views of each sample,
    :math:`\frac{\gamma_C}{n} \sum_i (f_1(x_i) - f_2(x_i))^2 = f^\top M f`.
    """
    blocks = [_centered(grams[view]) if centered else grams[view] for view in (LINK, PAGE)]
    n = len(blocks[0])
    whole = linalg.block_diag(*blocks)
    tie = np.kron(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.eye(n)) / n
    for ratio in COUPLINGS:
        yield ratio, warped_kernel(whole, ratio * tie)


def _centered(gram: Array) -> Array:
    means = gram.mean(axis=0)
    return np.asarray(gram - means - means[:, None] + means.mean())
