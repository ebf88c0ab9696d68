"""EM of Gaussian mixtures: complete rows beside scikit-learn's GaussianMixture, then 1 to 1,000 patterns of missing features.

    python benchmarks/gaussian_mixture.py [n ...] [--repeats 3] [--output FILE]

50 features, 5 components. ``seconds`` are those of a fit of 20 iterations from the same start, by 20. With
patterns, every row lacks about a third of its features; ``growth`` is the time beside that of one such pattern for as many
rows, ``doubled`` beside the same patterns for half as many rows.
"""

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from timing import Row, command_line, rows_of, seconds

from coview.mixture import IncompleteGaussianMixture

SIZES = (20_000, 40_000)
N_FEATURES, N_COMPONENTS, N_ITERATIONS = 50, 5, 20
PATTERNS = (1, 10, 100, 1000)


def table(n: int, n_patterns: int = 0) -> np.ndarray:
    """Rows of a mixture, (n, N_FEATURES); without a third of their features in so many patterns, 0 for complete rows."""
    rng = np.random.default_rng(0)
    centers = 1.5 * rng.normal(size=(N_COMPONENTS, N_FEATURES))
    turn = np.linalg.qr(rng.normal(size=(N_FEATURES, N_FEATURES)))[0] * rng.uniform(0.5, 1.5, N_FEATURES)
    X = centers[rng.integers(N_COMPONENTS, size=n)] + rng.normal(size=(n, N_FEATURES)) @ turn
    if n_patterns:
        X[(rng.random((n_patterns, N_FEATURES)) < 1 / 3)[np.arange(n) % n_patterns]] = np.nan
    return X


def start() -> dict[str, np.ndarray]:
    """Weights and means that both begin with."""
    means = np.random.default_rng(1).normal(size=(N_COMPONENTS, N_FEATURES))
    return {"weights_init": np.full(N_COMPONENTS, 1 / N_COMPONENTS), "means_init": means}


def quietly(fit: Callable[[np.ndarray], object], X: np.ndarray) -> Callable[[], object]:
    """A fit that does not say that it has not converged."""

    def work() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return fit(X)

    return work


def ours(X: np.ndarray, kind: str = "full") -> Callable[[], object]:
    """So many iterations of coview's mixture."""
    settings = {"covariance_type": kind, "max_iter": N_ITERATIONS}
    variances = np.full((N_COMPONENTS, N_FEATURES), 2.0)
    model = IncompleteGaussianMixture(N_COMPONENTS, covariances_init=variances, **settings, **start())
    return quietly(model.fit, X)


def theirs(X: np.ndarray, kind: str = "full") -> Callable[[], object]:
    """So many iterations of scikit-learn's."""
    variances = np.full((N_COMPONENTS, N_FEATURES), 0.5)
    precisions = variances if kind == "diag" else np.stack([np.diag(row) for row in variances])
    # what it would start from is replaced by what is given: the cheapest way there
    settings = {"max_iter": N_ITERATIONS, "tol": 0.0, "init_params": "random_from_data", "random_state": 0}
    settings["covariance_type"] = kind
    return quietly(GaussianMixture(N_COMPONENTS, precisions_init=precisions, **settings, **start()).fit, X)


def per_iteration(rows: list[Row]) -> list[Row]:
    """Seconds of a fit as seconds of an iteration."""
    for row in rows:
        row |= {name: float(row[name]) / N_ITERATIONS for name in ("seconds", "least", "most")}
    return rows


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per number of rows and patterns; ``ratio`` is coview's median over the row's."""
    before: dict[int, float] = {}
    for n in sizes:
        X = table(n)
        for kind in ("full", "diag"):
            name = "coview, complete rows"
            times = seconds({name: ours(X, kind), "GaussianMixture": theirs(X, kind)}, repeats)
            yield from per_iteration(rows_of({"n": n, "covariance": kind, "patterns": 1}, name, times))
        taken = seconds({str(count): ours(table(n, count)) for count in PATTERNS}, repeats)
        for count in PATTERNS:
            name = str(count)
            (row,) = per_iteration(
                rows_of({"n": n, "covariance": "full", "patterns": count}, name, {name: taken[name]})
            )
            row["work"], row["ratio"] = "coview, a third missing", None
            row["growth"] = taken[name][0] / taken[str(PATTERNS[0])][0]
            row["doubled"] = taken[name][0] / before[count] if count in before else None
            yield row
        before = {count: taken[str(count)][0] for count in PATTERNS} if 2 * n in sizes else {}


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    return command_line(measure, SIZES, argv, "gaussian_mixture")


if __name__ == "__main__":
    sys.exit(main())
