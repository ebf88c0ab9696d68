"""Clusters of several views beside scikit-learn's spectral clustering and k-means, and SciPy's Ward.

    python benchmarks/clustering.py [n ...] [--repeats 3] [--output FILE]

Two views of ten features, five groups. Spectral: minimizing disagreement on all samples, and through 500 landmarks, beside
scikit-learn's SpectralClustering of one view (and mvlearn's of both, where installed: up to 2,000 samples, as it inverts
matrices), k-means included. K-means: beside KMeans on one table. Up to 5,000 samples: views made to agree, beside one
SpectralClustering for each; agglomeration by Bregman divergences beside SciPy's ``ward`` on the same rows; trees split by the
best view beside ``ward`` of both views at every node. ``growth`` is the power of n by which time grew from the size before.
``ratio`` is the time of a work over that of the first of its kind, above 1 where coview is slower.
"""

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType

import numpy as np
from scipy.cluster.hierarchy import linkage
from sklearn.cluster import KMeans, SpectralClustering
from timing import Row, Work, command_line, repeats_at, seconds

from coview.cluster import (
    BregmanAgglomerativeClustering,
    CoRegularizedSpectralClustering,
    CoTrainingSpectralClustering,
    HybridHierarchicalClustering,
    MultiViewKMeans,
    MultiViewSpectralClustering,
)

SIZES = (2_000, 5_000, 10_000)
N_GROUPS, N_FEATURES, SIGMA = 5, 10, 3.0
DIVERGENCES = ("sqeuclidean", "kl", "itakura_saito", "exponential", "logistic")
LARGEST = 5_000
LARGEST_OF_MVLEARN = 2_000


def problem(n: int) -> list[np.ndarray]:
    """Two views of the same groups, of numbers between 0 and 1 less the ends."""
    rng = np.random.default_rng(0)
    group = np.arange(n) % N_GROUPS
    rows = [3.0 * np.eye(N_FEATURES)[group] + rng.normal(size=(n, N_FEATURES)) for _ in range(2)]
    return [1.0 / (1.0 + np.exp(-block)) for block in rows]


def mvlearn_clusters(n: int) -> ModuleType | None:
    """mvlearn's clustering, where it is installed with all that it imports, and up to the size that it bears."""
    if n > LARGEST_OF_MVLEARN:
        return None
    try:
        return import_module("mvlearn.cluster")
    except ImportError:
        return None


def width_of(rows: np.ndarray) -> float:
    """Median distance of some rows."""
    return float(np.median(np.linalg.norm(rows[:500, None] - rows[None, :500], axis=2)))


def spectral_works(n: int) -> dict[str, Work]:
    """Coview's and the peers', by name."""
    views = problem(n)
    width = width_of(views[0])
    ours = partial(MultiViewSpectralClustering, N_GROUPS, sigma=width, n_init=10, random_state=0)
    gamma = 1.0 / (2.0 * width**2)
    peer = SpectralClustering(N_GROUPS, gamma=gamma, n_init=10, random_state=0)
    works: dict[str, Work] = {
        "SpectralClustering of one view": lambda: peer.fit(views[0]),
        "minimizing disagreement": lambda: ours().fit(views),
        "through 500 landmarks": lambda: ours(n_landmarks=500).fit(views),
    }
    if (peers := mvlearn_clusters(n)) is not None:
        other = peers.MultiviewSpectralClustering(N_GROUPS, gamma=gamma, n_init=10, random_state=0)
        works["mvlearn, both views"] = lambda: other.fit(views)
    return works


def agreeing_works(n: int) -> dict[str, Work]:
    """Ten rounds of co-regularization and five of co-training, beside one SpectralClustering for each view."""
    views = problem(n)
    width = width_of(views[0])
    gamma = 1.0 / (2.0 * width**2)
    peer = SpectralClustering(N_GROUPS, gamma=gamma, n_init=10, random_state=0)
    known = {"sigma": width, "n_init": 10, "random_state": 0}
    works: dict[str, Work] = {
        "SpectralClustering of each view": lambda: [peer.fit(view) for view in views],
        "co-regularized": lambda: CoRegularizedSpectralClustering(N_GROUPS, **known).fit(views),
        "co-trained": lambda: CoTrainingSpectralClustering(N_GROUPS, **known).fit(views),
    }
    if (peers := mvlearn_clusters(n)) is not None:
        other = peers.MultiviewCoRegSpectralClustering(N_GROUPS, gamma=gamma, n_init=10, random_state=0)
        works["mvlearn, co-regularized"] = lambda: other.fit(views)
    return works


def means_works(n: int) -> dict[str, Work]:
    """K-means of one table in which views count alike, and of the views."""
    views = problem(n)
    table = np.hstack([(view - view.mean(axis=0)) / np.sqrt(view.var(axis=0).sum()) for view in views])
    works: dict[str, Work] = {
        "KMeans of one table": lambda: KMeans(N_GROUPS, n_init=10, random_state=0).fit(table),
        "k-means of views": lambda: MultiViewKMeans(N_GROUPS, n_init=10, random_state=0).fit(views),
    }
    if (peers := mvlearn_clusters(n)) is not None:
        works["mvlearn, k-means"] = lambda: peers.MultiviewKMeans(N_GROUPS, n_init=10, random_state=0).fit(views)
    return works


def tree_works(n: int) -> dict[str, Work]:
    """SciPy's Ward, and every divergence on the same rows."""
    rows = problem(n)[0]
    works: dict[str, Work] = {"SciPy's ward": lambda: linkage(rows, "ward")}
    for name in DIVERGENCES:
        works[name] = partial(BregmanAgglomerativeClustering(N_GROUPS, divergence=name).fit, rows)
    return works


def hybrid_works(n: int) -> dict[str, Work]:
    """Trees split by the best view, beside SciPy's Ward of both views at all nodes of the first of them."""
    views = problem(n)
    known = HybridHierarchicalClustering(N_GROUPS).fit(views)
    nodes = [node.members for node in known.tree_.walk() if not node.is_leaf]
    return {
        "ward at every node": lambda: [linkage(view[members], "ward") for members in nodes for view in views],
        "hybrid, by ward": lambda: HybridHierarchicalClustering(N_GROUPS).fit(views),
        "hybrid, by k-means": lambda: HybridHierarchicalClustering(N_GROUPS, splitter="kmeans", random_state=0).fit(
            views
        ),
    }


KINDS = {"spectral": spectral_works, "k-means": means_works}
UP_TO_5000 = {"agreeing": agreeing_works, "tree": tree_works, "hybrid": hybrid_works}


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per number of samples and work."""
    before: dict[str, tuple[int, float]] = {}
    for n in sizes:
        for kind, works_at in (KINDS | (UP_TO_5000 if n <= LARGEST else {})).items():
            works = works_at(n)
            times = seconds(works, repeats_at(n, repeats, 2_000))
            peer = times[next(iter(works))][0]
            for name, (median, least, most) in times.items():
                past = before.get(name)
                growth = np.log(median / past[1]) / np.log(n / past[0]) if past and past[0] != n and past[1] else None
                before[name] = (n, median)
                yield {
                    "n": n,
                    "kind": kind,
                    "work": name,
                    "seconds": median,
                    "least": least,
                    "most": most,
                    "ratio": median / peer if peer else None,
                    "growth": growth,
                }


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    return command_line(measure, SIZES, argv, "clustering")


if __name__ == "__main__":
    sys.exit(main())
