"""Co-regularized learners beside the linear system as printed, and beside scikit-learn on the features side by side.

    python benchmarks/co_regularized.py [n ...] [--repeats 3] [--output FILE]

Two views of 20 features, two classes. Few labels: 100 of the n samples, with RBF kernels; beside the block system of 2n unknowns
of the paper, its kernels included, up to 4,000 samples. All labels: scikit-learn's KernelRidge and SVC with the RBF kernel of the
40 features, n labels, as they cannot use samples without one. Linear kernels: 300 features a view, beside Ridge on all labels.
Ours hold leave-one-out scores of all labels (Co-RLS) or those of five folds (Co-SVC) as well.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.svm import SVC
from timing import Row, command_line, repeats_at, rows_of, seconds

from coview.kernels import gram
from coview.semi_supervised import CoRegularizedLeastSquaresClassifier, CoRegularizedSVC

SIZES = (1000, 2000, 4000, 8000)
LARGEST_PRINTED = 4000
N_LABELED, WIDTH, WIDE, RIDGE = 100, 20, 300, 0.01
KERNEL = ConstantKernel(1.0) * RBF(4.0)


@dataclass(frozen=True)
class Problem:
    """Views, the class of each sample as -1 and 1, and who is labeled."""

    views: list[NDArray[np.float64]]
    signs: NDArray[np.float64]
    labeled: NDArray[np.bool_]

    @property
    def labels(self) -> NDArray[np.float64]:
        """Classes, NaN where there is no label."""
        return np.where(self.labeled, self.signs, np.nan)


def problem(n: int, width: int, n_labeled: int) -> Problem:
    """Two views that each tell the classes apart, more or less."""
    rng = np.random.default_rng(0)
    signs = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    views = [0.15 * signs[:, None] + rng.normal(size=(n, width)) for _ in range(2)]
    return Problem(views, signs, np.arange(n) < n_labeled)


def printed(data: Problem) -> Callable[[], object]:
    """Kernels and the block system of the paper, by a general solver."""

    def work() -> object:
        n, n_labeled = len(data.signs), data.labeled.sum()
        first, second = (gram(KERNEL, X) for X in data.views)
        J = data.labeled / n_labeled
        system = np.empty((2 * n, 2 * n))
        for k, (own, other) in enumerate(((first, second), (second, first))):
            rows, there = slice(k * n, (k + 1) * n), slice((1 - k) * n, (2 - k) * n)
            system[rows, rows] = (J + 1.0 / n)[:, None] * own
            system[rows, there] = other / -n
        system.flat[:: 2 * n + 1] += RIDGE
        return np.linalg.solve(system, np.tile(J * data.signs, 2))

    return work


def machines(n: int) -> list[tuple[str, dict[str, Callable[[], object]]]]:
    """Works by the name of the first of them, which is ours."""
    few, many = problem(n, WIDTH, N_LABELED), problem(n, WIDE, n)
    beside = np.hstack(few.views)
    squares = {"Co-RLS": lambda: CoRegularizedLeastSquaresClassifier(KERNEL, ridge=RIDGE).fit(few.views, few.labels)}
    if n <= LARGEST_PRINTED:
        squares["printed system"] = printed(few)
    squares["KernelRidge, all labels"] = lambda: KernelRidge(alpha=1.0, kernel="rbf", gamma=1 / 32).fit(
        beside, few.signs
    )
    hinge = {
        "Co-SVC": lambda: CoRegularizedSVC(KERNEL, ridge=RIDGE).fit(few.views, few.labels),
        "SVC, all labels": lambda: SVC(gamma=1 / 32).fit(beside, few.signs),
    }
    linear = {
        "Co-RLS, linear, all labels": lambda: CoRegularizedLeastSquaresClassifier("linear").fit(
            many.views, many.labels
        ),
        "Ridge, all labels": lambda: Ridge(fit_intercept=False).fit(np.hstack(many.views), many.signs),
    }
    return [(next(iter(works)), works) for works in (squares, hinge, linear)]


def measure(sizes: Sequence[int], repeats: int) -> Iterator[Row]:
    """One row per size and work."""
    for n in sizes:
        for ours, works in machines(n):
            yield from rows_of({"n": n}, ours, seconds(works, repeats_at(n, repeats, 2000)))


def main(argv: Sequence[str] | None = None) -> int:
    return command_line(
        measure, SIZES, argv, "co_regularized: views drawn together, beside dense and one-table learners"
    )


if __name__ == "__main__":
    raise SystemExit(main())
