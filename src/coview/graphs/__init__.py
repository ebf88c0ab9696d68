"""Graphs of similar samples, and how unsmooth a function on them is."""

from coview.graphs._affinity import knn_graph, rbf_graph
from coview.graphs._laplacian import combined_laplacian, heat_kernel, heat_penalty, laplacian, restricted_laplacian
from coview.graphs._specification import graph_laplacian

__all__ = [
    "combined_laplacian",
    "graph_laplacian",
    "heat_kernel",
    "heat_penalty",
    "knn_graph",
    "laplacian",
    "rbf_graph",
    "restricted_laplacian",
]
