"""What a user says about a graph, as its Laplacian."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from coview.graphs._affinity import knn_graph, rbf_graph
from coview.graphs._laplacian import check_symmetric, heat_penalty, laplacian

__all__ = ["graph_laplacian"]

_KNN = {"n_neighbors": 6, "metric": "euclidean", "mode": "or", "weights": "binary", "sigma": None}
_RBF = {"sigma": None, "metric": "euclidean"}
_LAPLACIAN = {"normalized": False, "power": 1}


def graph_laplacian(graph: Any, X: Any) -> Any:
    """Laplacian of the graph of one view.

    Parameters
    ----------
    graph : {"knn", "rbf"}, dict, or (ndarray or sparse matrix) of shape (n_samples, n_samples)
        Weights of the edges between the rows of X, or how to find them: a dict with "kind" ("knn", the default, or "rbf") and
        parameters of `knn_graph` (6 neighbors where nothing is said) or `rbf_graph`; or with "affinity", the weights, or
        "laplacian", the penalty itself. Beside them "normalized" and "power", as for `laplacian`, and "heat", the time of
        `heat_penalty`.
    X : ndarray or sparse matrix of shape (n_samples, n_features)

    Returns
    -------
    L : ndarray or sparse array of shape (n_samples, n_samples)

    Raises
    ------
    ValueError
        If the graph says what is not understood, or has another number of samples than X.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.graphs import graph_laplacian
    >>> graph_laplacian({"n_neighbors": 1}, np.array([[0.0], [1.0], [9.0]])).toarray().tolist()
    [[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]
    """
    if isinstance(graph, str):
        given: dict[str, Any] = {"kind": graph}
    elif isinstance(graph, Mapping):
        given = dict(graph)
    else:
        given = {"affinity": graph}
    if "laplacian" in given:
        _check_keys(given, {"laplacian", "heat"})
        L = check_symmetric(given["laplacian"], "A Laplacian")
    else:
        L = laplacian(_affinity(given, X), **{key: given.get(key, value) for key, value in _LAPLACIAN.items()})
    if L.shape[0] != X.shape[0]:
        raise ValueError(f"The graph joins {L.shape[0]} samples, but there are {X.shape[0]}.")
    return L if given.get("heat") is None else heat_penalty(L, given["heat"])


def _affinity(given: dict[str, Any], X: Any) -> Any:
    if "affinity" in given:
        _check_keys(given, {"affinity", "heat", *_LAPLACIAN})
        W = given["affinity"]
        return W if sparse.issparse(W) else np.asarray(W, dtype=np.float64)
    kind = given.get("kind", "knn")
    if kind not in ("knn", "rbf"):
        raise ValueError(f"The kind of a graph must be 'knn' or 'rbf'; got {kind!r}.")
    known = _KNN if kind == "knn" else _RBF
    _check_keys(given, {"kind", "heat", *known, *_LAPLACIAN})
    parameters = {key: given.get(key, value) for key, value in known.items()}
    return knn_graph(X, **parameters) if kind == "knn" else rbf_graph(X, **parameters)


def _check_keys(given: dict[str, Any], known: set[str]) -> None:
    unknown = sorted(set(map(str, given)) - known)
    if unknown:
        raise ValueError(f"A graph does not know {unknown}; known here: {sorted(known)}.")
