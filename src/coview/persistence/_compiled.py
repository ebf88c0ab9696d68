"""What compiled code of scikit-learn follows without looking, looked at here: branches of trees, support vectors."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coview.persistence._problems import ModelFileError

__all__ = ["MACHINE_PARTS", "check_machine", "check_tree"]

#: Attributes of a fitted support vector machine that its compiled code reads.
MACHINE_PARTS = (
    *("support_", "_n_support", "_dual_coef_", "_intercept_", "_probA", "_probB", "support_vectors_"),
    *("shape_fit_", "n_features_in_", "kernel", "_sparse"),
)
_FIELDS = ("left", "right", "feature_idx", "is_leaf", "is_categorical")


def check_tree(content: bytes, widths: Sequence[int], what: str) -> None:
    """Raise unless every branch of a stored tree leads on, to a later node, and asks for a column that there is.

    Parameters
    ----------
    content : bytes
        The nodes as an ``.npy`` file, its header checked.
    widths : sequence of int
        Numbers of columns of the boosted models in the file.
    what : str
        How messages call the file.
    """
    nodes = np.load(io.BytesIO(content), allow_pickle=False)
    names = nodes.dtype.names or ()
    if nodes.ndim != 1 or not nodes.size or not widths or any(field not in names for field in _FIELDS):
        raise ModelFileError(f"{what} is damaged: a tree of its model has no proper nodes.")
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    left, right = nodes["left"][inner].astype(np.int64), nodes["right"][inner].astype(np.int64)
    columns = nodes["feature_idx"][inner]
    forward = (left > inner) & (right > inner) & (left < nodes.size) & (right < nodes.size)
    known = (columns >= 0) & (columns < min(widths))
    if not (forward & known).all() or nodes["is_categorical"].any():
        raise ModelFileError(
            f"{what} holds a tree whose branches lead nowhere, which could crash the program when it predicts. "
            "Do not use this file."
        )


def check_machine(parts: Mapping[str, Any], classifies: bool, what: str) -> None:
    """Raise unless the arrays of a stored support vector machine agree in their lengths and point inside each other.

    Parameters
    ----------
    parts : mapping
        Values of `MACHINE_PARTS`.
    classifies : bool
        Whether vectors are counted by class.
    what : str
        How messages call the file.
    """
    try:
        proper = _is_proper_machine(parts, classifies)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        proper = False
    if not proper:
        raise ModelFileError(
            f"{what} holds a support vector machine whose parts do not fit together, which could crash the program when it "
            "predicts. Do not use this file."
        )


def _is_proper_machine(parts: Mapping[str, Any], classifies: bool) -> bool:
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
