"""The graphs that a Laplacian learner is given, as one penalty per view."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coview.exceptions import ViewError
from coview.graphs import combined_laplacian, graph_laplacian, restricted_laplacian
from coview.views import Views, numbers_per_view

__all__ = ["joint_laplacian", "own_laplacians", "restricted"]

Array = NDArray[np.float64]

WITH_CONCATENATION = "mean_with_concatenation"
_CONCATENATION = "concatenation"


def own_laplacians(
    graph: Any, views: Views, without_features: Collection[str] = ()
) -> tuple[list[Any], list[NDArray[np.bool_]]]:
    """Laplacian of each view's graph, and which samples it joins.

    Parameters
    ----------
    graph : str, dict, matrix, or list or dict of these by view
    views : Views
    without_features : collection of str, default=()
        Views of which kernel values are known instead of features: their graphs must be given.

    Returns
    -------
    laplacians : list of (ndarray or sparse array)
    joined : list of ndarray of bool, shape (n_samples,)
    """
    given = _graph_per_view(graph, list(views.names))
    return _laplacians(given, views, without_features)


def joint_laplacian(graph: Any, graph_weights: Any, views: Views, without_features: Collection[str] = ()) -> Any:
    """The convex combination of the Laplacians of all views, over all samples; parameters as for `own_laplacians`.

    A view that nobody has takes no part: the weights of the others are scaled to a sum of one.
    """
    names = list(views.names)
    concatenated = isinstance(graph_weights, str)
    if concatenated and graph_weights != WITH_CONCATENATION:
        raise ValueError(f"graph_weights must be numbers or {WITH_CONCATENATION!r}; got {graph_weights!r}.")
    given = _graph_per_view(graph, [*names, _CONCATENATION] if concatenated else names)
    weights = None if concatenated else _convex_weights(graph_weights, names)
    used = [v for v, name in enumerate(names) if len(views.rows(name))]
    there = views.select([names[v] for v in used])
    parts, joined = _laplacians([given[v] for v in used], there, without_features)
    if concatenated:
        L, rows = _of_all_features(given[-1], there, without_features)
        parts.append(L)
        joined.append(rows)
    elif weights is not None:
        weights = _shared_out(weights, used, names)
    return combined_laplacian(parts, weights, presence=np.column_stack(joined))


def _of_all_features(graph: Any, views: Views, without_features: Collection[str]) -> tuple[Any, NDArray[np.bool_]]:
    """Laplacian of the graph of all features side by side, and which samples it joins: those with all views, or all."""
    if _order_of(graph) == len(views):
        return graph_laplacian(graph, np.empty((len(views), 0))), np.ones(len(views), dtype=bool)
    complete = np.asarray(views.presence.all(axis=1))
    for name in views.names:
        _check_recipe(graph, name, without_features)
    return graph_laplacian(graph, _side_by_side(views[complete])), complete


def _shared_out(weights: Array, used: list[int], names: list[str]) -> Array:
    """Weights of the views that somebody has."""
    kept = weights[used]
    if len(used) == len(names) or weights.min() < 0.0:  # refused where they are combined
        return kept
    if kept.sum() <= 0.0:
        lost = [names[v] for v in range(len(names)) if v not in used]
        raise ViewError(f"graph_weights give everything to views that no sample has: {lost}. Weigh another view.")
    return np.asarray(kept / kept.sum() * weights.sum())


def restricted(L: Any, joined: NDArray[np.bool_], kept: NDArray[np.bool_]) -> Any:
    """A Laplacian over the samples that it joins, for functions on those of a view."""
    return L if np.array_equal(joined, kept) else restricted_laplacian(L, kept[joined])


def _check_recipe(graph: Any, name: str, without_features: Collection[str]) -> None:
    """Raises where neighbors would be looked for among kernel values."""
    if name in without_features and _order_of(graph) is None:
        raise ValueError(
            f"The graph of view {name!r} cannot be found from its features: kernel='precomputed' gives kernel values "
            f"instead. Pass the graph's weights, or {{'laplacian': L}}, as graph; got {graph!r}."
        )


def _laplacians(
    given: list[Any], views: Views, without_features: Collection[str]
) -> tuple[list[Any], list[NDArray[np.bool_]]]:
    parts, joined = [], []
    for name, one in zip(views.names, given, strict=True):
        _check_recipe(one, name, without_features)
        rows = np.zeros(len(views), dtype=bool)
        rows[views.rows(name)] = True
        if _order_of(one) == len(views) != rows.sum():  # also joins samples without the view
            parts.append(graph_laplacian(one, np.empty((len(views), 0))))
            rows[:] = True
        else:
            parts.append(graph_laplacian(one, views[name]))
        joined.append(rows)
    return parts, joined


def _order_of(graph: Any) -> int | None:
    """Number of samples that given values join; None for a recipe."""
    if isinstance(graph, Mapping):
        values = graph.get("affinity", graph.get("laplacian"))
        return None if values is None else _order_of(values)
    if sparse.issparse(graph):
        return int(graph.shape[0])
    return None if isinstance(graph, str) else len(graph)


def _graph_per_view(graph: Any, names: list[str]) -> list[Any]:
    """One for all, a list by position, or a dict by name."""
    if isinstance(graph, Mapping) and graph and set(graph) <= set(names):
        if set(graph) != set(names):
            raise ViewError(f"graph must name every one of {names}; it names {list(graph)}.")
        return [graph[name] for name in names]
    if isinstance(graph, list | tuple) and not all(isinstance(row, list | tuple) for row in graph):
        if len(graph) != len(names):
            raise ViewError(f"graph must have one entry for each of {names}; got {len(graph)}.")
        return list(graph)
    return [graph] * len(names)


def _convex_weights(weights: Any, names: list[str]) -> Array | None:
    """One weight per graph; a single number is the weight of the second of two."""
    if weights is None:
        return None
    alone = not isinstance(weights, Mapping) and len(names) == 2 and np.size(weights) == 1
    if isinstance(weights, Real) or alone:
        if not alone:
            raise ValueError(f"graph_weights must be one number per view ({len(names)}); got {weights!r}.")
        alpha = float(np.asarray(weights, dtype=np.float64).reshape(()))
        return np.array([1.0 - alpha, alpha])
    return numbers_per_view(weights, names, "graph_weights")


def _side_by_side(views: Views) -> Any:
    """The features of all views; sparse where one is."""
    blocks = [views[name] for name in views.names]
    if any(map(sparse.issparse, blocks)):
        return sparse.csr_array(sparse.hstack(blocks))
    return np.hstack(blocks)
