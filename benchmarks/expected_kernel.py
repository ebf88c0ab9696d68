"""Expected RBF kernel: all pairs by pattern beside a loop over pairs of rows, and beside the RBF kernel of completed rows.

    python benchmarks/expected_kernel.py [n ...] [--repeats 3] [--output FILE]

Rows of 50 features from three components, a quarter of the features missing: in 20 patterns, then (up to 500 samples) each
row in its own. "no overlap" has components far apart, so that each row belongs to about one; with "overlap" all of them
count for every row. The loop takes, for each pair of rows and of components with responsibilities above 1e-12, one solve and
one determinant over the features that one of the two misses, on conditionals that are given; its seconds are those of a
subset of 40 rows, times the number of pairs.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from timing import Row, command_line, repeats_at, rows_of, seconds

from coview.impute import expected_polynomial_kernel, expected_rbf_kernel
from coview.kernels import ExpectedRows, expected_rows
from coview.mixture import IncompleteGaussianMixture

SIZES = (500, 2000)
N_FEATURES = 50
N_COMPONENTS = 3
N_PATTERNS = 20
MOST_PATTERNS = 500
SUBSET = 40
OFTEN = 1000
NEGLIGIBLE = 1e-12
GAMMA = 0.5 / N_FEATURES


@dataclass(frozen=True)
class Problem:
    """Rows with holes, and the mixture that they come from."""

    table: np.ndarray
    mixture: IncompleteGaussianMixture

    @classmethod
    def random(cls, n: int, n_patterns: int, spread: float) -> "Problem":
        """Row i has pattern i modulo their number."""
        rng = np.random.default_rng(0)
        means = spread * rng.normal(size=(N_COMPONENTS, N_FEATURES))
        roots = rng.normal(size=(N_COMPONENTS, N_FEATURES, N_FEATURES)) / np.sqrt(N_FEATURES)
        covariances = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(N_FEATURES)
        labels = rng.integers(N_COMPONENTS, size=n)
        noise = np.einsum("nij,nj->ni", np.linalg.cholesky(covariances)[labels], rng.normal(size=(n, N_FEATURES)))
        table = means[labels] + noise
        holes = rng.random((n_patterns, N_FEATURES)) < 0.25
        table[holes[np.arange(n) % n_patterns]] = np.nan
        weights = np.full(N_COMPONENTS, 1.0 / N_COMPONENTS)
        return cls(table, IncompleteGaussianMixture.from_parameters(weights, means, covariances))

    def subset(self) -> list[ExpectedRows]:
        """Some rows from all over the table, one by one, given what they have."""
        mixture, chosen = self.mixture, np.linspace(0, len(self.table) - 1, SUBSET).astype(int)
        parameters = mixture.weights_, mixture.means_, mixture.covariances_
        return [expected_rows(self.table[[row]], *parameters)[0] for row in chosen]


def loop(rows: Sequence[ExpectedRows]) -> np.ndarray:
    """The kernel of each pair of rows by itself."""
    K = np.eye(len(rows))
    for i, one in enumerate(rows):
        for j in range(i):
            K[i, j] = K[j, i] = one_pair(one, rows[j])
    return K


def one_pair(one: ExpectedRows, other: ExpectedRows) -> float:
    """Expected value for two rows, all components."""
    union = np.union1d(one.missing, other.missing)
    shared = np.setdiff1d(np.arange(N_FEATURES), union)
    places = np.searchsorted(union, one.missing), np.searchsorted(union, other.missing)
    value = 0.0
    for a, P in enumerate(one.covariances):
        for b, Q in enumerate(other.covariances):
            if min(one.weights[a, 0], other.weights[b, 0]) <= NEGLIGIBLE:
                continue
            M = np.eye(len(union))
            M[np.ix_(places[0], places[0])] += 2.0 * GAMMA * P
            M[np.ix_(places[1], places[1])] += 2.0 * GAMMA * Q
            difference = one.means[a, 0] - other.means[b, 0]
            distance = np.square(difference[shared]).sum() + difference[union] @ np.linalg.solve(M, difference[union])
            determinant = np.linalg.slogdet(M)[1]
            value += one.weights[a, 0] * other.weights[b, 0] * np.exp(-GAMMA * distance - 0.5 * determinant)
    return value


def one_shape(problem: Problem, shape: Row, repeats: int) -> list[Row]:
    """All works on one problem; the loop's seconds are extrapolated."""
    table, mixture, n = problem.table, problem.mixture, len(problem.table)
    subset = problem.subset()
    chosen = np.linspace(0, n - 1, SUBSET).astype(int)
    ours = expected_rbf_kernel(table[chosen], mixture=mixture, gamma=GAMMA)
    np.testing.assert_allclose(ours, loop(subset), rtol=1e-9, atol=1e-14)
    completed = mixture.impute(table)
    works = {
        "coview, RBF": lambda: expected_rbf_kernel(table, mixture=mixture, gamma=GAMMA),
        "coview, polynomial of degree 3": lambda: expected_polynomial_kernel(table, mixture=mixture),
        "loop over pairs of rows": lambda: loop(subset),
        "RBF kernel of completed rows": lambda: rbf_kernel(completed, gamma=GAMMA),
    }
    times = seconds(works, repeats_at(n, repeats, OFTEN))
    pairs = n * (n - 1) / (SUBSET * (SUBSET - 1))
    times["loop over pairs of rows"] = tuple(pairs * taken for taken in times["loop over pairs of rows"])
    return rows_of(shape, "coview, RBF", times)


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per shape and work; ``ratio`` is the median of the expected RBF kernel over the row's."""
    for n in sizes:
        for n_patterns in (N_PATTERNS, n) if n <= MOST_PATTERNS else (N_PATTERNS,):
            for name, spread in (("no overlap", 1.0), ("overlap", 0.05)):
                shape: Row = {"n": n, "patterns": n_patterns, "columns": N_FEATURES, "components": name}
                yield from one_shape(Problem.random(n, n_patterns, spread), shape, repeats)


def main(argv: Sequence[str] | None = None) -> int:
    """Run this benchmark by itself."""
    return command_line(measure, SIZES, argv, "expected_kernel: missing features integrated out of an RBF kernel")


if __name__ == "__main__":
    sys.exit(main())
