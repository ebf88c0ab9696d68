"""The clusterings of section 3 of de Sa: pages with both views, and pages of which many have one."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from coview import Views
from coview.cluster import CoRegularizedSpectralClustering, MultiViewKMeans, MultiViewSpectralClustering
from coview.datasets import fetch
from coview.inference import nearest_rows
from coview.metrics import cluster_entropy
from coview.mixture import CoEMMixture

__all__ = ["KINDS", "PAIRED", "Pages", "complete_scores", "load_pages", "paired_scores", "source_scores", "widths_of"]

Codes = NDArray[np.intp]

N_CLUSTERS = 6
# Shares of the pages that keep both views.
PAIRED = (0.9, 0.7, 0.5, 0.3, 0.1)
KINDS = ("both", "text only", "anchor only")
_N_INIT = 10


@dataclass(frozen=True)
class Pages:
    """Pages that have words and anchor words.

    Attributes
    ----------
    counts, blocks : dict of str to sparse array
        Counts of words; tf-idf at unit length.
    labels : ndarray of shape (n_pages,)
    """

    counts: Mapping[str, sparse.csr_array]
    blocks: Mapping[str, sparse.csr_array]
    labels: NDArray[Any]


def load_pages(data: Path) -> Pages:
    """WebKB, six classes, pages with anchor text."""
    bunch = fetch("webkb6", data)
    counts = {name: sparse.csr_array(bunch.views[name]) for name in ("text", "anchor")}
    has = np.logical_and.reduce([np.asarray(block.sum(axis=1)).ravel() > 0 for block in counts.values()])
    counts = {name: block[has] for name, block in counts.items()}
    blocks = {name: sparse.csr_array(TfidfTransformer().fit_transform(block)) for name, block in counts.items()}
    return Pages(counts, blocks, bunch.target.to_numpy()[has])


def widths_of(pages: Pages, seed: int) -> dict[str, float]:
    """Widths by which each view clusters itself most tightly; no class is looked at."""
    found = {}
    for name, block in pages.blocks.items():
        model = MultiViewSpectralClustering(N_CLUSTERS, affinity="sum", sigma="search", n_init=2, random_state=seed)
        found[name] = float(model.fit(Views({name: block})).sigmas_[name])
    return found


def complete_scores(pages: Pages, widths: Mapping[str, float], repeat: int, seed: int) -> Iterator[dict[str, Any]]:
    """Entropies where all pages have both views, one start of each method."""
    rng = np.random.RandomState([seed, repeat])
    views = Views(dict(pages.blocks))
    parameters = {"n_init": _N_INIT, "random_state": rng.randint(2**31)}
    models: dict[str, Any] = {
        "JOINT": MultiViewSpectralClustering(N_CLUSTERS, affinity="joint", sigma=dict(widths), **parameters),
        "SUM": MultiViewSpectralClustering(N_CLUSTERS, affinity="sum", sigma=dict(widths), **parameters),
        "sM-D, rows of the text": MultiViewSpectralClustering(
            N_CLUSTERS, sigma=dict(widths), paired_rows="text", **parameters
        ),
        "sM-D, mean rows": MultiViewSpectralClustering(N_CLUSTERS, sigma=dict(widths), **parameters),
        "co-regularized spectra": CoRegularizedSpectralClustering(N_CLUSTERS, sigma=dict(widths), **parameters),
        "k-means, both views": MultiViewKMeans(N_CLUSTERS, geometry="spherical", **parameters),
    }
    labels = {name: model.fit(views).labels_ for name, model in models.items()}
    for name, block in pages.blocks.items():
        one = Views({name: block})
        spectral = MultiViewSpectralClustering(N_CLUSTERS, affinity="sum", sigma=widths[name], **parameters)
        labels[f"spectral, {name}"] = spectral.fit(one).labels_
        labels[f"k-means, {name}"] = MultiViewKMeans(N_CLUSTERS, geometry="spherical", **parameters).fit(one).labels_
    for name, kept in {"co-EM, multinomials": list(pages.counts), "EM, multinomials, text": ["text"]}.items():
        words = Views({view: pages.counts[view] for view in kept})
        mixture = CoEMMixture(
            N_CLUSTERS, distributions="multinomial", n_init=1, random_state=parameters["random_state"]
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*is left without samples.*")
            labels[name] = mixture.fit(words).predict(words)
    for name, found in labels.items():
        yield {"part": "complete", "method": name, "repeat": repeat, "entropy": cluster_entropy(pages.labels, found)}


def paired_scores(
    pages: Pages, widths: Mapping[str, float], share: float, repeat: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Entropies by kind of page where a share of them keeps both views, and half of the others each view."""
    n = len(pages.labels)
    rng = np.random.RandomState([seed, repeat, round(100 * share)])
    order = rng.permutation(n)
    n_paired = round(share * n)
    kind = np.empty(n, dtype=int)
    kind[order[:n_paired]] = 0
    kind[order[n_paired : n_paired + (n - n_paired) // 2]] = 1
    kind[order[n_paired + (n - n_paired) // 2 :]] = 2
    parameters = {"n_init": _N_INIT, "random_state": rng.randint(2**31)}
    presence = np.column_stack([kind != 2, kind != 1])
    views = Views(dict(pages.blocks), presence=presence)
    model = MultiViewSpectralClustering(N_CLUSTERS, sigma=dict(widths), paired_rows="text", **parameters)
    labels = {"sM-D": model.fit(views).labels_, "A": _alternative_a(pages, widths, kind, parameters)}
    labels["B"] = _alternative_b(pages, widths, kind, parameters)
    for method, found in labels.items():
        for number, name in enumerate(KINDS):
            rows = kind == number
            entropy = cluster_entropy(pages.labels[rows], found[rows])
            yield {
                "part": "paired",
                "method": method,
                "share": share,
                "kind": name,
                "repeat": repeat,
                "entropy": entropy,
            }


def _alternative_a(pages: Pages, widths: Mapping[str, float], kind: Codes, parameters: dict[str, Any]) -> Codes:
    """JOINT on the paired pages; the others go with the nearest of these in their view."""
    paired = np.flatnonzero(kind == 0)
    model = MultiViewSpectralClustering(N_CLUSTERS, affinity="joint", sigma=dict(widths), **parameters)
    labels = np.empty(len(kind), dtype=np.intp)
    labels[paired] = model.fit(Views({name: block[paired] for name, block in pages.blocks.items()})).labels_
    for number, name in ((1, "text"), (2, "anchor")):
        rows = np.flatnonzero(kind == number)
        nearest, _ = nearest_rows(pages.blocks[name][rows], pages.blocks[name][paired], 1)
        labels[rows] = labels[paired][nearest[:, 0]]
    return labels


def _alternative_b(pages: Pages, widths: Mapping[str, float], kind: Codes, parameters: dict[str, Any]) -> Codes:
    """Each view by itself; paired pages as their text says."""
    labels = np.empty(len(kind), dtype=np.intp)
    for name, lacks, reported in (("anchor", 1, (2,)), ("text", 2, (0, 1))):
        rows = np.flatnonzero(kind != lacks)
        model = MultiViewSpectralClustering(N_CLUSTERS, affinity="sum", sigma=widths[name], **parameters)
        found = model.fit(Views({name: pages.blocks[name][rows]})).labels_
        wanted = np.isin(kind[rows], reported)
        labels[rows[wanted]] = found[wanted]
    return labels


def source_scores(data: Path, repeat: int, seed: int) -> Iterator[dict[str, Any]]:
    """Stories of three newspapers, most of which lack one or two of them."""
    bunch = fetch("three_sources", data)
    names = list(bunch.views.names)
    blocks = {name: TfidfTransformer().fit_transform(sparse.csr_array(bunch.views[name])) for name in names}
    whole = {}
    for name, block in blocks.items():
        rows = bunch.views.rows(name)
        place = sparse.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), (len(bunch.views), len(rows)))
        whole[name] = sparse.csr_array(place @ block)
    views = Views(whole, presence=np.asarray(bunch.views.presence))
    rng = np.random.RandomState([seed, repeat])
    parameters = {"n_init": _N_INIT, "random_state": rng.randint(2**31)}
    models: dict[str, Any] = {
        "sM-D": MultiViewSpectralClustering(N_CLUSTERS, **parameters),
        "SUM": MultiViewSpectralClustering(N_CLUSTERS, affinity="sum", **parameters),
        "JOINT": MultiViewSpectralClustering(N_CLUSTERS, affinity="joint", **parameters),
        "co-regularized spectra": CoRegularizedSpectralClustering(N_CLUSTERS, **parameters),
        "k-means": MultiViewKMeans(N_CLUSTERS, geometry="spherical", **parameters),
    }
    truth = bunch.target.to_numpy()
    for name, model in models.items():
        entropy = cluster_entropy(truth, model.fit(views).labels_)
        yield {"part": "sources", "method": name, "repeat": repeat, "entropy": entropy}
