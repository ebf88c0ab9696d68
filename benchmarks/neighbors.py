"""Neighbors in several views beside scikit-learn's.

    python benchmarks/neighbors.py [n ...] [--repeats 3] [--output FILE]

Hyperplane neighbors (5 per class, ten classes, 20 features, 1,000 new samples) beside KNeighborsClassifier with 5 and, as every
class is searched, 50 neighbors, brute force as coview does; up to 10,000 samples. DBSCAN of three views of two features beside
three times scikit-learn's DBSCAN of one. ``ratio`` is the time of a work over that of its peer, above 1 where coview is slower.
"""

import sys
from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.cluster import DBSCAN
from sklearn.neighbors import KNeighborsClassifier
from timing import Row, Work, command_line, repeats_at, seconds

from coview.cluster import MultiRepresentedDBSCAN
from coview.neighbors import HyperplaneKNeighborsClassifier, MultiRepresentedKNeighborsClassifier

SIZES = (2_000, 10_000, 100_000)
N_CLASSES, N_FEATURES, N_NEW = 10, 20, 1_000
LARGEST_TABLE = 10_000


def neighbor_works(n: int) -> dict[str, Work]:
    """Fit and prediction of new samples."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % N_CLASSES
    X = 2.0 * np.eye(N_FEATURES)[y] + rng.normal(size=(n, N_FEATURES))
    new = 2.0 * np.eye(N_FEATURES)[y[:N_NEW]] + rng.normal(size=(min(n, N_NEW), N_FEATURES))
    return {
        "KNeighborsClassifier, 50": lambda: KNeighborsClassifier(50, algorithm="brute").fit(X, y).predict(new),
        "KNeighborsClassifier, 5": lambda: KNeighborsClassifier(5, algorithm="brute").fit(X, y).predict(new),
        "hyperplanes": lambda: HyperplaneKNeighborsClassifier(5).fit(X, y).predict(new),
        "multi-represented": lambda: MultiRepresentedKNeighborsClassifier(5).fit(X, y).predict(new),
    }


def density_works(n: int) -> dict[str, Work]:
    """Widths that give every sample some ten neighbors in a view."""
    rng = np.random.default_rng(0)
    views = [rng.uniform(size=(n, 2)) for _ in range(3)]
    eps = float(np.sqrt(10.0 / (np.pi * n)))

    def peers() -> None:
        for view in views:
            DBSCAN(eps=eps, min_samples=5).fit(view)

    return {
        "three times DBSCAN": peers,
        "union": lambda: MultiRepresentedDBSCAN(eps, 5).fit(views),
        "intersection": lambda: MultiRepresentedDBSCAN(eps, 5, combine="intersection").fit(views),
        "two of three": lambda: MultiRepresentedDBSCAN(eps, 5, combine=2).fit(views),
    }


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per number of samples and work."""
    for n in sizes:
        kinds = [("DBSCAN", density_works(n))] + ([("neighbors", neighbor_works(n))] if n <= LARGEST_TABLE else [])
        for kind, works in kinds:
            times = seconds(works, repeats_at(n, repeats, 10_000))
            peer = times[next(iter(works))][0]
            for name, (median, least, most) in times.items():
                ratio = median / peer if peer else None
                yield {
                    "n": n,
                    "kind": kind,
                    "work": name,
                    "seconds": median,
                    "least": least,
                    "most": most,
                    "ratio": ratio,
                }


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    return command_line(measure, SIZES, argv, "neighbors")


if __name__ == "__main__":
    sys.exit(main())
