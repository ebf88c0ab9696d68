"""Utilities of all missing views at once beside one factorization for each candidate and value.

    python benchmarks/acquisition.py [n ...] [--repeats 3] [--output FILE]

Three views of two features, half of them missing, 40 labels, RBF kernels, labels on the consensus function; the model and a
density of two components are fitted beforehand. "refactored" rebuilds the precision of the consensus function for a candidate
and a value that its view may hold and factors it, as the papers write it; its seconds are those of a few candidates, times the
number of candidates and of values (the means of the components). The ratio of the first row to it is what is saved. "expected
entropy" is the default criterion: five values for each candidate and the predictions of all unlabeled samples after each.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.gaussian_process.kernels import RBF
from timing import Row, command_line, repeats_at, rows_of, seconds

from coview import Views
from coview.acquisition import view_utilities
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.mixture import ClassConditionalGaussianMixture

SIZES = (500, 2000)
N_VIEWS = 3
N_LABELS = 40
VIEW_VARIANCE = 0.2
FEW = 3
OFTEN = 1000


@dataclass(frozen=True)
class Problem:
    """Data, fitted model, fitted density."""

    views: Views
    y: np.ndarray
    model: BayesianCoTrainingClassifier
    density: ClassConditionalGaussianMixture

    @classmethod
    def random(cls, n: int) -> "Problem":
        """Two classes; every sample has a view."""
        rng = np.random.default_rng(0)
        codes = rng.integers(2, size=n)
        presence = rng.random((n, N_VIEWS)) < 0.5
        presence[np.arange(n), rng.integers(N_VIEWS, size=n)] = True
        tables = [rng.normal(size=(n, 2)) + 1.5 * codes[:, None] for _ in range(N_VIEWS)]
        views = Views(tables, presence=presence)
        y = np.where(np.arange(n) < N_LABELS, codes, np.nan)
        kernels = [RBF(1.0)] * N_VIEWS
        model = BayesianCoTrainingClassifier(
            kernels, view_variances=VIEW_VARIANCE, latent="consensus", hyperparameters="fixed", approximation="exact"
        ).fit(views, y)
        return cls(views, y, model, ClassConditionalGaussianMixture(random_state=0).fit(views, y))

    def refactored(self, candidates: np.ndarray) -> list[float]:
        """Information of one value for each of some candidates, each by itself."""
        n, kernel = len(self.views), RBF(1.0)
        curvatures = np.zeros(n)
        posterior = self.model.consensus_posterior()
        curvatures[posterior.labeled] = posterior.curvatures[0]
        parts = []
        for name in self.views.names:
            K = kernel(self.views[name])
            parts.append(np.linalg.inv(K + VIEW_VARIANCE * np.eye(len(K))))
        precision = np.diag(curvatures)
        for name, part in zip(self.views.names, parts, strict=True):
            precision[np.ix_(self.views.rows(name), self.views.rows(name))] += part
        before = np.linalg.slogdet(precision)[1]
        found = []
        for sample, j in candidates:
            name = self.views.names[j]
            rows = np.append(self.views.rows(name), sample)
            mean = self.density.means_[0, 2 * j : 2 * j + 2]
            K = kernel(np.vstack([self.views[name], mean]))
            updated = precision.copy()
            updated[np.ix_(rows[:-1], rows[:-1])] -= parts[j]
            updated[np.ix_(rows, rows)] += np.linalg.inv(K + VIEW_VARIANCE * np.eye(len(K)))
            found.append(0.5 * (2.0 * np.log(np.diagonal(np.linalg.cholesky(updated))).sum() - before))
        return found


def one_shape(n: int, repeats: int) -> list[Row]:
    """All works on one problem; the seconds of "refactored" are extrapolated."""
    problem = Problem.random(n)
    pairs = np.argwhere(~problem.views.presence)
    few = pairs[np.linspace(0, len(pairs) - 1, FEW).astype(int)]

    def score(criterion: str, expectation: str) -> None:
        view_utilities(
            problem.model,
            problem.views,
            problem.y,
            criterion=criterion,
            expectation=expectation,
            density=problem.density,
        )

    works = {
        "mutual information, point masses": lambda: score("mutual_information", "point_mass"),
        "refactored, point masses": lambda: problem.refactored(few),
        "mutual information, 512 values": lambda: score("mutual_information", "quadrature"),
        "variance": lambda: score("variance", "point_mass"),
        "expected entropy": lambda: score("expected_entropy", "quadrature"),
    }
    times = seconds(works, repeats_at(n, repeats, OFTEN))
    base = seconds({"nothing": lambda: problem.refactored(few[:0])}, 1)["nothing"][0]
    values = len(problem.density.weights_)
    factor = len(pairs) * values / FEW
    times["refactored, point masses"] = tuple(
        max(taken - base, 0.0) * factor for taken in times["refactored, point masses"]
    )
    shape: Row = {"n": n, "views": N_VIEWS, "candidates": len(pairs), "values": values}
    return rows_of(shape, "mutual information, point masses", times)


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per shape and work; ``ratio`` is the median of mutual information at point masses over the row's."""
    for n in sizes:
        yield from one_shape(n, repeats)


def main(argv: Sequence[str] | None = None) -> int:
    """Run this benchmark by itself."""
    return command_line(measure, SIZES, argv, "acquisition: utilities of all missing views at once")


if __name__ == "__main__":
    sys.exit(main())
