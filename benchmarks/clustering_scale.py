"""Spectral clustering of many samples: through landmarks, and by sparse affinities of nearest neighbors.

    python benchmarks/clustering_scale.py [n ...] [--repeats 1] [--output FILE]

Two views, ten groups: of 20 numbers, or of 60 words out of 20,000 (TF-IDF, sparse). The peer finds ten neighbors of every sample
in both views, and clusters nothing: ``ratio`` is the fit's time over its. ``predict`` is of 10,000 new samples; ``memory`` the
peak of fit and prediction in GiB, beyond the data; ``agreement`` the adjusted Rand index with the groups.
"""

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from timing import Row, Work, command_line, peak_memory, seconds

from coview.cluster import MultiViewSpectralClustering

SIZES = (10_000, 50_000)
N_GROUPS, N_NEW, N_FEATURES, N_WORDS, LENGTH = 10, 10_000, 20, 20_000, 60
AFFINITIES: dict[str, dict[str, Any]] = {
    "500 landmarks": {"n_landmarks": 500},
    "10 neighbors": {"kernel": "nearest_neighbors"},
}


def numbers(n: int, seed: int) -> list[Any]:
    """Two views of groups with centers of their own."""
    rng = np.random.default_rng(seed)
    centers = 2.0 * np.random.default_rng(1).normal(size=(2, N_GROUPS, N_FEATURES))
    return [center[np.arange(n) % N_GROUPS] + rng.normal(size=(n, N_FEATURES)) for center in centers]


def words(n: int, seed: int) -> list[Any]:
    """Two views of words, half of them common to all groups."""
    rng = np.random.default_rng(seed)
    common = 1.0 / np.arange(1, N_WORDS + 1)
    views = []
    for v in range(2):
        own = np.random.default_rng(5 + v).dirichlet(np.full(N_WORDS, 0.02), size=N_GROUPS)
        drawn = np.empty((n, LENGTH), dtype=np.intp)
        for c in range(N_GROUPS):
            rows = np.arange(c, n, N_GROUPS)
            drawn[rows] = rng.choice(N_WORDS, (len(rows), LENGTH), p=0.5 * own[c] + 0.5 * common / common.sum())
        counts = sparse.csr_array(
            (np.ones(n * LENGTH), drawn.ravel(), np.arange(0, n * LENGTH + 1, LENGTH)), (n, N_WORDS)
        )
        counts.sum_duplicates()
        views.append(sparse.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts)))
    return views


DATA = {"numbers": numbers, "words": words}


def both(n: int, data: str, affinity: str) -> Work:
    """Fit and prediction."""
    views, new = DATA[data](n, 0), DATA[data](N_NEW, 7)
    return lambda: model(affinity).fit(views).predict(new)


def model(affinity: str) -> MultiViewSpectralClustering:
    return MultiViewSpectralClustering(N_GROUPS, random_state=0, **AFFINITIES[affinity])


def neighbors_of(views: list[Any]) -> Work:
    """What affinities of ten neighbors need."""
    return lambda: [NearestNeighbors(n_neighbors=10).fit(view).kneighbors(return_distance=False) for view in views]


def measure(sizes: Sequence[int] = SIZES, repeats: int = 1) -> Iterator[Row]:
    """One row per number of samples, kind of data and of affinity."""
    for n in sizes:
        for data, make in DATA.items():
            views, new = make(n, 0), make(N_NEW, 7)
            peer = seconds({"peer": neighbors_of(views)}, repeats)["peer"][0]
            for affinity in AFFINITIES:
                ours = model(affinity)
                times = seconds({"fit": partial(ours.fit, views), "predict": partial(ours.predict, new)}, repeats)
                memory = peak_memory("clustering_scale", "both", n, data, affinity)
                yield {
                    "n": n,
                    "data": data,
                    "affinity": affinity,
                    "fit": times["fit"][0],
                    "predict": times["predict"][0],
                    "neighbors": peer,
                    "ratio": times["fit"][0] / peer if peer else None,
                    "memory": None if memory is None else memory / 2**30,
                    "agreement": float(adjusted_rand_score(np.arange(n) % N_GROUPS, ours.labels_)),
                }


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    return command_line(measure, SIZES, argv, "clustering_scale")


if __name__ == "__main__":
    sys.exit(main())
