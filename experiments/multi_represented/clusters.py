"""Dense regions in every representation, in all side by side, and of samples that are near in some of them.

Distances are found once for all widths; ``tests/cli/test_reproduce_multi_represented.py`` holds the clusters against those of
the estimator.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.stats import entropy
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, silhouette_samples

from .problems import Array, Problem, squares_of, standardized

__all__ = [
    "AUTO",
    "BY_VIEW",
    "COMBINED",
    "MIN_SAMPLES",
    "QUANTILES",
    "SIDE",
    "clusters_of",
    "combined_distance",
    "distances_of",
    "draw_of",
    "names_of",
    "reasons_of",
]

MIN_SAMPLES = 5
QUANTILES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
#: The quantile that `MultiRepresentedDBSCAN` takes unless told.
AUTO = 0.9
SHARE_DRAWN = 0.8
# A distance that differs from a width by rounding only is within it.
_SLACK = 1.0 + 1e-12

SIDE = "side by side, balanced"
#: Widths from the neighbors within each representation, or from the neighbors by all of them together.
BY_VIEW, COMBINED = "by representation", "combined"


def draw_of(problem: Problem, draw: int, seed: int) -> list[dict[str, Any]]:
    """Every method with every width, on all samples (draw 0) or on some drawn at random."""
    if draw:
        rng = np.random.default_rng([seed, draw])
        size = round(SHARE_DRAWN * len(problem.codes))
        problem = problem.some(np.sort(rng.choice(len(problem.codes), size, replace=False)))
    tables = distances_of(problem)
    side = tables.pop(SIDE)
    facts = {"part": "clusters", "data": problem.name, "draw": draw}
    rows = []
    for method, rule, quantile, near in _relations(tables, side):
        found = clusters_of(near)
        rows.append(
            {**facts, "method": method, "rule": rule, "quantile": quantile, **_scores(problem.codes, found, side)}
        )
    return rows


def distances_of(problem: Problem) -> dict[str, Array]:
    """Distances within each representation, features standardized, and in all of them, none larger than the other."""
    every = np.arange(len(problem.codes))
    squares = {name: squares_of(standardized(block, every), every) for name, block in problem.blocks.items()}
    side = sum(squares[name] / block.shape[1] for name, block in problem.blocks.items())
    return {name: np.sqrt(table) for name, table in squares.items()} | {SIDE: np.sqrt(side)}


def names_of(n_views: int) -> dict[int, str]:
    """What the relations are called by the number of representations in which samples must be near."""
    between = {t: f"near in at least {t}" for t in range(2, n_views)}
    return {1: "union", **between, n_views: "intersection"}


def _relations(tables: Mapping[str, Array], side: Array) -> Iterator[tuple[str, str, float, NDArray[np.bool_]]]:
    """Method, rule of the widths, quantile, and who is near whom (n_samples, n_samples)."""
    reach = {name: _reach(table) for name, table in tables.items()}
    names = names_of(len(tables))
    for quantile in QUANTILES:
        count = np.zeros(side.shape, dtype=np.int8)
        for name, table in tables.items():
            near = table <= np.quantile(reach[name], quantile) * _SLACK
            count += near
            yield name, BY_VIEW, quantile, near
        for t, method in names.items():
            yield method, BY_VIEW, quantile, count >= t
    every = [(SIDE, BY_VIEW, side)]
    every += [(method, COMBINED, combined_distance(tables, t)) for t, method in names.items()]
    for method, rule, table in every:
        own = _reach(table)
        for quantile in QUANTILES:
            yield method, rule, quantile, table <= np.quantile(own, quantile) * _SLACK


def combined_distance(tables: Mapping[str, Array], t: int) -> Array:
    """Distance (n_samples, n_samples) within which samples are near in t representations.

    Distances in a representation are measured by the median of the distances from the ``MIN_SAMPLES``-th neighbor.
    """
    scaled = np.stack([table / np.median(_reach(table)) for table in tables.values()])
    scaled.partition(t - 1, axis=0)
    return scaled[t - 1]


def _reach(table: Array) -> Array:
    """Distance of each sample from its ``MIN_SAMPLES``-th neighbor, itself the first."""
    return np.partition(table, MIN_SAMPLES - 1, axis=1)[:, MIN_SAMPLES - 1]


def clusters_of(near: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Clusters of DBSCAN by a symmetric relation, -1 for noise; border samples join the first cluster near."""
    core = near.sum(axis=1) >= MIN_SAMPLES
    labels = np.full(len(near), -1, dtype=np.intp)
    if core.any():
        within = connected_components(sparse.csr_array(near[np.ix_(core, core)]), directed=False)[1]
        _, first, inverse = np.unique(within, return_index=True, return_inverse=True)
        found = np.argsort(np.argsort(first))[inverse]
        border = np.flatnonzero(~core & near[:, core].any(axis=1))
        labels[border] = np.where(near[np.ix_(border, core)], found, len(near)).min(axis=1, initial=len(near))
        labels[core] = found
    return labels


def _scores(truth: NDArray[np.int64], found: NDArray[np.intp], side: Array) -> dict[str, float]:
    """Noise is a cluster of its own in measures of agreement and in the information, and counts 0 in the silhouette.

    ``information``: entropy of the labels in bits; 0 where all samples are noise, or all are one cluster.
    """
    clustered = np.flatnonzero(found >= 0)
    n_clusters = int(found.max()) + 1
    silhouette = 0.0
    if 1 < n_clusters < len(clustered):
        within = side[np.ix_(clustered, clustered)]
        silhouette = float(silhouette_samples(within, found[clustered], metric="precomputed").sum() / len(found))
    return {
        "ari": float(adjusted_rand_score(truth, found)),
        "nmi": float(normalized_mutual_info_score(truth, found)),
        "noise": float((found < 0).mean()),
        "n_clusters": n_clusters,
        "silhouette": silhouette,
        "information": float(entropy(np.unique(found, return_counts=True)[1], base=2)),
    }


def reasons_of(problem: Problem) -> list[dict[str, Any]]:
    """What the distances of a representation are like, and how much representations agree on who is near.

    ``variation``: deviation of all distances by their mean. ``width``: the automatic one by the median distance.
    ``pairs``: share of the pairs within it. ``pure``: share of one class among these, and ``nearest``, among the four nearest.
    ``agreement``: share of its four nearest neighbors that are so in another representation, too, in the mean.
    """
    tables = distances_of(problem)
    same = problem.codes[:, None] == problem.codes
    pairs = np.triu_indices(len(problem.codes), 1)
    nearest = {name: _nearest(table) for name, table in tables.items()}
    rows = []
    for name, table in tables.items():
        values = table[pairs]
        width = np.quantile(_reach(table), AUTO) * _SLACK
        near = values <= width
        own = nearest[name]
        others = [nearest[other] for other in tables if other not in (name, SIDE)]
        rows.append(
            {
                "part": "reasons",
                "data": problem.name,
                "method": name,
                "variation": float(values.std() / values.mean()),
                "width": float(width / np.median(values)),
                "pairs": float(near.mean()),
                "pure": float(same[pairs][near].mean()),
                "nearest": float(same[own].mean()),
                "chance": float(same[pairs].mean()),
                "agreement": float(np.mean([(own & other).sum() / own.sum() for other in others])),
            }
        )
    return rows


def _nearest(table: Array) -> NDArray[np.bool_]:
    """Who is among the nearest of each sample, itself not."""
    others = table.copy()
    np.fill_diagonal(others, np.inf)
    found = np.argsort(others, axis=1, kind="stable")[:, : MIN_SAMPLES - 1]
    result = np.zeros(table.shape, dtype=bool)
    np.put_along_axis(result, found, True, axis=1)
    return result
