"""Web pages with words and anchor words: clusters cut from trees, held against the classes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coview.cluster import BregmanAgglomerativeClustering, HybridHierarchicalClustering
from coview.datasets import fetch
from coview.inference import bregman_divergence
from coview.metrics import cluster_entropy

__all__ = ["CUTS", "MOST_WORDS", "pages", "scores_of"]

Array = NDArray[np.float64]

CUTS = (6, 12, 24)
# Pages of one draw, and words of each view: means of clusters are dense.
N_PAGES, MOST_WORDS = 400, 300


def pages(data: Path) -> tuple[dict[str, Array], NDArray[Any]]:
    """Counts of the most frequent words of pages that have anchor words too, and their classes."""
    bunch = fetch("webkb6", data)
    blocks = {name: sparse.csr_array(bunch.views[name]) for name in ("text", "anchor")}
    frequent = {}
    for name, block in blocks.items():
        order = np.argsort(-np.asarray((block > 0).sum(axis=0)).ravel(), kind="stable")[:MOST_WORDS]
        frequent[name] = sparse.csr_array(block[:, np.sort(order)])
    has = np.logical_and.reduce([np.asarray(block.sum(axis=1)).ravel() > 0 for block in frequent.values()])
    return {name: block[has].toarray() for name, block in frequent.items()}, bunch.target.to_numpy()[has]


def distributions(counts: Array) -> Array:
    """Shares of the words of each page, a tenth of a count added to every word."""
    smoothed = counts + 0.1
    return smoothed / smoothed.sum(axis=1, keepdims=True)


def scores_of(views: dict[str, Array], labels: NDArray[Any], repeat: int, seed: int) -> Iterator[dict[str, Any]]:
    """Entropies of the classes inside clusters, for one draw of pages."""
    rng = np.random.default_rng([seed, repeat])
    rows = np.sort(rng.choice(len(labels), min(N_PAGES, len(labels)), replace=False))
    drawn = {name: distributions(block[rows]) for name, block in views.items()}
    truth = labels[rows]
    totals = {name: bregman_divergence("kl").cost(block) for name, block in drawn.items()}
    models = {name: BregmanAgglomerativeClustering(divergence="kl").fit(block) for name, block in drawn.items()}
    weights = {name: 1.0 / total for name, total in totals.items()}
    models["sum of the views' costs"] = BregmanAgglomerativeClustering(divergence="kl", view_weights=weights).fit(drawn)
    for splitter in ("ward", "kmeans"):
        name = f"hybrid, {splitter}"
        models[name] = HybridHierarchicalClustering(divergences="kl", splitter=splitter, random_state=repeat).fit(drawn)
    for name, model in models.items():
        for k in CUTS:
            entropy = cluster_entropy(truth, model.labels_at(k))
            yield {"part": "pages", "tree": name, "n_clusters": k, "repeat": repeat, "entropy": entropy}
    for k in CUTS:
        chance = cluster_entropy(truth, rng.permutation(models["text"].labels_at(k)))
        yield {"part": "pages", "tree": "chance", "n_clusters": k, "repeat": repeat, "entropy": chance}
