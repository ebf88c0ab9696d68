"""Fit with fixed parameters: exact co-training beside its LAPACK floor, scikit-learn's Gaussian processes and LabelSpreading.

    python benchmarks/fixed_fit.py [n ...] [--repeats 3] [--output FILE]

A fifth of the samples is labeled; then, for two complete views of up to 2,000 samples, all of them, which is what
scikit-learn's Gaussian processes are made for. ``memory`` is the peak of a fit in a process of its own, in matrices of n x n
numbers beside the data, from 500 samples on. Beyond 2,000 samples one repeat less, and no classes, which take as long.
"""

import sys
from collections.abc import Callable, Iterator, Sequence

import floors
from problems import (
    Problem,
    classifier,
    gaussian_process_classifier,
    gaussian_process_regressor,
    label_spreading,
    regressor,
)
from timing import Row, command_line, in_matrices, peak_memory, repeats_at, rows_of, seconds

SIZES = (1000, 2000, 4000)
WARM = 800
LEAST_MEASURED = 500
MOST_LABELED = 2000


def fit_one(n: int, n_views: int, missing: bool, latent: str) -> Callable[[], object]:
    """A fit for `peak_memory`; one of 800 comes first, so that modules and BLAS's own buffers are not counted."""
    small, problem = Problem.random(WARM, n_views, missing=missing), Problem.random(n, n_views, missing=missing)
    regressor(latent=latent).fit(small.views, small.target)
    return lambda: regressor(latent=latent).fit(problem.views, problem.target)


def few_labels(problem: Problem, shape: Row, repeats: int) -> list[Row]:
    """A fifth is labeled."""
    views, n_views = problem.views, len(problem.views)
    spreading, spread = label_spreading(n_views), problem.classes.copy()
    spread[problem.n_labeled :] = -1
    works = {
        "coview, regression": lambda: regressor().fit(views, problem.target),
        "LAPACK floor of it": floors.run(floors.fixed_fit(problem.presence, problem.n_labeled)),
        "coview, regression on the mean": lambda: regressor(latent="mean").fit(views, problem.target),
        "coview, classes": lambda: classifier().fit(views, problem.classes),
        "LabelSpreading": lambda: spreading.fit(problem.table, spread.astype(int)),
    }
    n = len(problem.table)
    if n > MOST_LABELED:
        del works["coview, classes"]
    rows = rows_of({**shape, "labeled": problem.n_labeled}, "coview, regression", seconds(works, repeats))
    if n < LEAST_MEASURED:
        return rows
    for row, latent in ((rows[0], "consensus"), (rows[2], "mean")):
        row["memory"] = in_matrices(
            peak_memory("fixed_fit", "fit_one", n, n_views, shape["missing"] == "half", latent), n
        )
    return rows


def all_labels(problem: Problem, shape: Row, repeats: int) -> list[Row]:
    """Everything is labeled."""
    views, table, n_views = problem.views, problem.table, len(problem.views)
    shape = {**shape, "labeled": problem.n_labeled}
    regression = {
        "coview, regression": lambda: regressor().fit(views, problem.target),
        "LAPACK floor of it": floors.run(floors.fixed_fit(problem.presence, problem.n_labeled)),
        "GaussianProcessRegressor": lambda: gaussian_process_regressor(n_views).fit(table, problem.target),
    }
    classes = {
        "coview, classes": lambda: classifier().fit(views, problem.classes),
        "GaussianProcessClassifier": lambda: gaussian_process_classifier(n_views).fit(table, problem.classes),
    }
    rows = rows_of(shape, "coview, regression", seconds(regression, repeats))
    return rows + rows_of(shape, "coview, classes", seconds(classes, repeats))


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per shape and work; ``ratio`` is coview's median over the row's."""
    for n in sizes:
        for n_views in (2, 3):
            for missing in (False, True):
                shape: Row = {"n": n, "views": n_views, "missing": "half" if missing else "no"}
                times = repeats_at(n, repeats, MOST_LABELED)
                yield from few_labels(Problem.random(n, n_views, missing=missing), shape, times)
                if n <= MOST_LABELED and n_views == 2 and not missing:
                    yield from all_labels(Problem.random(n, 2, missing=False, n_labeled=n), shape, times)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    return command_line(measure, SIZES, argv, "fixed_fit")


if __name__ == "__main__":
    sys.exit(main())
