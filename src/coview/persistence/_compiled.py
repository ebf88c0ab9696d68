"""What compiled code of scikit-learn follows without looking, looked at here: branches of trees, support vectors, neighbors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coview.persistence._problems import ModelFileError
from coview.persistence._trust import BOOSTED, MACHINES, NEIGHBORS, TREE

__all__ = ["OTHER", "PARTS", "check_compiled"]

#: Stands for the value of a part that is neither an array nor a plain value.
OTHER = object()
_MACHINE_PARTS = (
    *("support_", "_n_support", "_dual_coef_", "_intercept_", "_probA", "_probB", "support_vectors_"),
    *("shape_fit_", "n_features_in_", "kernel", "_sparse"),
)
#: Attributes that compiled code reads, of each class that has some.
PARTS: dict[str, tuple[str, ...]] = {
    TREE: ("nodes",),
    **dict.fromkeys(BOOSTED, ("n_features_in_", "_preprocessor")),
    **dict.fromkeys(MACHINES, _MACHINE_PARTS),
    **dict.fromkeys(NEIGHBORS, ("_fit_X", "_fit_method", "effective_metric_", "n_features_in_")),
}
# Distances of rows that need nothing but the rows.
_METRICS = {"chebyshev", "cityblock", "euclidean", "l1", "l2", "manhattan", "sqeuclidean"}
_TREE_KEYS = {"nodes", "binned_left_cat_bitsets", "raw_left_cat_bitsets"}
# Nodes as scikit-learn lays them out; it takes others over field by field, whatever their names.
_NODE = np.dtype(
    [
        ("value", np.float64),
        ("count", np.uint32),
        ("feature_idx", np.intp),
        ("num_threshold", np.float64),
        ("missing_go_to_left", np.uint8),
        ("left", np.uint32),
        ("right", np.uint32),
        ("gain", np.float64),
        ("depth", np.uint32),
        ("is_leaf", np.uint8),
        ("bin_threshold", np.uint8),
        ("is_categorical", np.uint8),
        ("bitset_idx", np.uint32),
    ]
)


def check_compiled(found: Sequence[tuple[str, set[str], Mapping[str, Any]]], what: str) -> None:
    """Raise unless whatever compiled code will follow leads to a place that there is.

    Parameters
    ----------
    found : sequence of (type, attributes, parts)
        Of each object in `PARTS`: its type, the names of all its attributes, and the values of its `PARTS`.
    what : str
        How messages call the file.
    """
    widths = [_width(keys, parts) for name, keys, parts in found if name in BOOSTED]
    for name, keys, parts in found:
        try:
            proper = _hides_nothing(name, keys) and _is_proper(name, parts, widths)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
            proper = False
        if not proper:
            kinds = {
                **dict.fromkeys(MACHINES, "support vector machine"),
                **dict.fromkeys(NEIGHBORS, "set of neighbors"),
            }
            kind = kinds.get(name, "tree")
            raise ModelFileError(
                f"{what} holds a {kind} whose parts do not fit together, which could crash the program when it predicts. "
                "Do not use this file."
            )


def _width(keys: set[str], parts: Mapping[str, Any]) -> int:
    """Number of columns that the trees of a boosted model are sure to get; none where something stands before them."""
    plain = "_preprocessor" in keys and parts["_preprocessor"] is None and "_in_fit" not in keys
    return parts["n_features_in_"] if plain and type(parts["n_features_in_"]) is int else 0


def _hides_nothing(name: str, keys: set[str]) -> bool:
    """Whether no attribute stands in the place of a method."""
    if name == TREE:
        return keys == _TREE_KEYS
    import sklearn.ensemble
    import sklearn.neighbors
    import sklearn.svm

    package = sklearn.svm if name in MACHINES else sklearn.neighbors if name in NEIGHBORS else sklearn.ensemble
    return not any(hasattr(getattr(package, name.rpartition(".")[2]), key) for key in keys)


def _is_proper(name: str, parts: Mapping[str, Any], widths: Sequence[int]) -> bool:
    if name == TREE:
        return _is_proper_tree(parts["nodes"], min(widths, default=0))
    if name in NEIGHBORS:
        return _are_proper_neighbors(parts)
    return name in BOOSTED or _is_proper_machine(parts, MACHINES[name])


def _is_proper_tree(nodes: Any, width: int) -> bool:
    """Whether every branch leads on, to a later node, and asks for a column that there is."""
    if nodes.dtype != _NODE or nodes.ndim != 1 or not nodes.size:
        return False
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    left, right = nodes["left"][inner].astype(np.int64), nodes["right"][inner].astype(np.int64)
    columns = nodes["feature_idx"][inner]
    forward = (left > inner) & (right > inner) & (left < nodes.size) & (right < nodes.size)
    return bool((forward & (columns >= 0) & (columns < width)).all() and not nodes["is_categorical"].any())


def _is_proper_machine(parts: Mapping[str, Any], classifies: bool) -> bool:
    """Whether arrays agree in their lengths and point inside each other; vectors are counted by class if it classifies."""
    support, counts, vectors = parts["support_"], parts["_n_support"], parts["support_vectors_"]
    n, k, pairs = support.size, counts.size, counts.size * (counts.size - 1) // 2
    n_rows, n_columns = parts["shape_fit_"]
    precomputed = parts["kernel"] == "precomputed"
    expected = (n_rows,) if precomputed else (n_columns, vectors.shape[1])
    return bool(
        parts["_sparse"] is False
        and support.ndim == counts.ndim == 1
        and k >= 2
        and (counts >= 0).all()
        and (counts.sum() == n if classifies else (counts == n).all())
        and parts["_dual_coef_"].shape == (k - 1, n)
        and parts["_intercept_"].shape == (pairs,)
        and all(parts[name].shape in ((0,), (pairs,)) for name in ("_probA", "_probB"))
        and (vectors.shape[0] == n or precomputed)
        and ((support >= 0) & (support < n_rows)).all()
        and all(width == parts["n_features_in_"] for width in expected)
    )


def _are_proper_neighbors(parts: Mapping[str, Any]) -> bool:
    """Whether the rows are as wide as those that will be compared with them, each with each, without a tree."""
    rows = parts["_fit_X"]
    return bool(
        parts["_fit_method"] == "brute"
        and parts["effective_metric_"] in _METRICS
        and rows.ndim == 2
        and rows.shape[1] == parts["n_features_in_"]
    )
