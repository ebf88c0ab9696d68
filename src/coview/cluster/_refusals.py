"""What clusterings ask of samples and views: something to be placed by, and something to be told apart by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from coview.base import check_answerable
from coview.exceptions import ViewError
from coview.linalg import as_dense
from coview.views import Views, some

__all__ = [
    "check_enough_samples",
    "check_has_view",
    "count_different",
    "is_constant",
    "refuse_constant_views",
    "refuse_few_different",
    "refuse_unlinked_views",
]


def check_enough_samples(n_samples: int, n_clusters: int, *, least: int = 1) -> None:
    """Raise where there are fewer samples than clusters, or than the method needs."""
    if n_samples < n_clusters:
        raise ValueError(
            f"n_samples={n_samples} is too few for n_clusters={n_clusters}: ask for {n_samples} or fewer clusters."
        )
    if n_samples < least:
        raise ValueError(f"n_samples={n_samples} is too few: samples are compared with each other, {least} at least.")


def check_has_view(views: Views) -> None:
    """Raise unless every sample has a view: without one, nothing says where it belongs."""
    has = np.asarray(views.presence.any(axis=1))
    check_answerable(has, views, "raise", "Leave them out.", usable="to be placed by")


def count_different(views: Views, enough: int) -> int:
    """Number of different samples, by rows and by the views that they have; counting stops at ``enough``."""
    own = [np.cumsum(has) - 1 for has in np.asarray(views.presence).T]
    blocks = [views[name] for name in views.names]
    seen: set[Any] = set()
    for i, has in enumerate(np.asarray(views.presence)):
        seen.add(tuple(_key(blocks[v], int(own[v][i])) for v in np.flatnonzero(has)) + tuple(has.tolist()))
        if len(seen) >= enough:
            break
    return len(seen)


def _key(block: Any, i: int) -> Any:
    """What equal rows have in common."""
    row = as_dense(block[[i]])
    return (row + 0.0).tobytes()  # 0 and -0 are the same


def refuse_unlinked_views(views: Views) -> None:
    """Raise where some views are had by other samples than the rest, so that no sample links them."""
    presence = np.asarray(views.presence, dtype=np.intp)
    seen = np.flatnonzero(presence.any(axis=0))
    n_groups, group = connected_components(presence[:, seen].T @ presence[:, seen], directed=False)
    if n_groups > 1:
        names = np.array(views.names, dtype=object)[seen]
        here, there = (some(names[part]) for part in (group == group[0], group != group[0]))
        raise ViewError(
            f"No sample has a view of {here} and one of {there}, so nothing says which clusters in one are those in the other. "
            "Cluster the samples of each group by themselves, or add samples that have views of both."
        )


def refuse_few_different(views: Views, n_clusters: int) -> None:
    """Raise where there are fewer different samples than clusters."""
    n_different = count_different(views, n_clusters)
    if n_different < n_clusters:
        raise ValueError(
            f"Only {n_different} of {len(views)} samples are different, fewer than n_clusters={n_clusters}, and samples that are "
            "the same cannot be told apart. Ask for fewer clusters."
        )


def is_constant(block: Any) -> bool:
    """Whether several samples have a view, and all the same row."""
    return block.shape[0] > 1 and all(_key(block, i) == _key(block, 0) for i in range(1, block.shape[0]))


def refuse_constant_views(views: Views, names: Iterable[str]) -> None:
    """Raise where a view has the same row for everybody."""
    for name in names:
        if is_constant(views[name]):
            raise ViewError(
                f"View {name!r} has the same row for all {len(views.rows(name))} samples that have it, so it tells no clusters "
                "apart. Leave it out."
            )
