"""Trees of gradient boosting: scikit-learn follows their branches without looking, so they are looked at here."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np

from coview.persistence._problems import ModelFileError

__all__ = ["check_tree"]

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
