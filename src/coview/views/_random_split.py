"""Features dealt at random, for views of one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from coview.exceptions import ViewError
from coview.views._block import Block, read_only

__all__ = ["deal_features", "view_names"]


def view_names(n_views: int, names: Sequence[str] | None) -> list[str]:
    """Names of the new views, as many as asked for and different."""
    wanted = [f"view_{j}" for j in range(n_views)] if names is None else [str(name) for name in names]
    if len(wanted) != n_views or len(set(wanted)) < n_views:
        raise ViewError(f"random_split into {n_views} views needs as many different names; got {wanted}.")
    return wanted


def deal_features(block: Block, n_views: int, random_state: Any) -> list[Block]:
    """Blocks that share the columns of one, their numbers as equal as can be, each in the old order."""
    if not isinstance(n_views, int | np.integer) or not 1 <= n_views <= block.n_features:
        raise ViewError(
            f"random_split needs n_views between 1 and the number of features, {block.n_features}; got {n_views!r}."
        )
    order = check_random_state(random_state).permutation(block.n_features)
    return [_columns_of(block, np.sort(order[j::n_views])) for j in range(n_views)]


def _columns_of(block: Block, columns: NDArray[np.intp]) -> Block:
    labels = None if block.columns is None else block.columns[columns]
    return Block(read_only(block.values[:, columns]), None, labels)
