"""Clusters of several views beside scikit-learn's spectral clustering and SciPy's Ward.

    python benchmarks/clustering.py [n ...] [--repeats 3] [--output FILE]

Two views of ten features, five groups. Spectral: minimizing disagreement on all samples, and through 500 landmarks, beside
scikit-learn's SpectralClustering of one view (and mvlearn's of both, where installed), k-means included. Trees, up to 5,000
samples: agglomeration by Bregman divergences beside SciPy's ``ward`` on the same rows; ``growth`` is the power of n by which the
time grew from the size before. ``ratio`` is the time of a work over that of its peer, above 1 where coview is slower.
"""

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.util import find_spec

import numpy as np
from scipy.cluster.hierarchy import linkage
from sklearn.cluster import SpectralClustering
from timing import Row, Work, command_line, repeats_at, seconds

from coview.cluster import BregmanAgglomerativeClustering, MultiViewSpectralClustering

SIZES = (2_000, 5_000, 10_000)
N_GROUPS, N_FEATURES, SIGMA = 5, 10, 3.0
DIVERGENCES = ("sqeuclidean", "kl", "itakura_saito", "exponential", "logistic")
LARGEST_TREE = 5_000


def problem(n: int) -> list[np.ndarray]:
    """Two views of the same groups, of numbers between 0 and 1 less the ends."""
    rng = np.random.default_rng(0)
    group = np.arange(n) % N_GROUPS
    rows = [3.0 * np.eye(N_FEATURES)[group] + rng.normal(size=(n, N_FEATURES)) for _ in range(2)]
    return [1.0 / (1.0 + np.exp(-block)) for block in rows]


def spectral_works(n: int) -> dict[str, Work]:
    """Coview's and the peers', by name."""
    views = problem(n)
    width = float(np.median(np.linalg.norm(views[0][:500, None] - views[0][None, :500], axis=2)))
    ours = partial(MultiViewSpectralClustering, N_GROUPS, sigma=width, n_init=10, random_state=0)
    gamma = 1.0 / (2.0 * width**2)
    peer = SpectralClustering(N_GROUPS, gamma=gamma, n_init=10, random_state=0)
    works: dict[str, Work] = {
        "SpectralClustering of one view": lambda: peer.fit(views[0]),
        "minimizing disagreement": lambda: ours().fit(views),
        "through 500 landmarks": lambda: ours(n_landmarks=500).fit(views),
    }
    if find_spec("mvlearn") is not None and n <= SIZES[0]:
        from mvlearn.cluster import MultiviewSpectralClustering

        other = MultiviewSpectralClustering(N_GROUPS, gamma=gamma, n_init=10, random_state=0)
        works["mvlearn, both views"] = lambda: other.fit(views)
    return works


def tree_works(n: int) -> dict[str, Work]:
    """SciPy's Ward, and every divergence on the same rows."""
    rows = problem(n)[0]
    works: dict[str, Work] = {"SciPy's ward": lambda: linkage(rows, "ward")}
    for name in DIVERGENCES:
        works[name] = partial(BregmanAgglomerativeClustering(N_GROUPS, divergence=name).fit, rows)
    return works


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per number of samples and work."""
    before: dict[str, tuple[int, float]] = {}
    for n in sizes:
        kinds = [("spectral", spectral_works(n))] + ([("tree", tree_works(n))] if n <= LARGEST_TREE else [])
        for kind, works in kinds:
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
