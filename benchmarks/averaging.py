"""The default, an average over a grid of settings: fit and prediction of 10,000 new samples, beside scikit-learn.

    python benchmarks/averaging.py [n ...] [--repeats 3] [--output FILE]

Up to 200 samples are labeled. scikit-learn's Gaussian processes know those alone and maximize their evidence; LabelSpreading
knows all samples and averages over nothing. Repeats: one less beyond 1,000 samples and another beyond 2,000.
"""

import sys
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from problems import N_FEATURES, Problem, label_spreading, table_kernel
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel
from timing import Row, command_line, repeats_at, rows_of, seconds

from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor

SIZES = (1000, 2000, 4000)
N_LABELED = 200
N_NEW = 10_000
OFTEN = 1000


def one_shape(problem: Problem, shape: Row, repeats: int) -> Iterator[Row]:
    """Fit, then prediction."""
    n_views, labeled = len(problem.views), slice(problem.n_labeled)
    table = np.nan_to_num(problem.table)
    spread = problem.classes.copy()
    spread[problem.n_labeled :] = -1
    kernel = ConstantKernel(1.0) * table_kernel(n_views)
    classes, regression = BayesianCoTrainingClassifier(), BayesianCoTrainingRegressor()
    theirs = GaussianProcessClassifier(kernel), GaussianProcessRegressor(kernel, alpha=0.1)
    spreading = label_spreading(n_views)
    known, target = table[labeled], problem.target[labeled]
    fits = {
        "coview, classes": lambda: classes.fit(problem.views, problem.classes),
        "coview, regression": lambda: regression.fit(problem.views, problem.target),
        "GaussianProcessClassifier": lambda: theirs[0].fit(known, problem.classes[labeled]),
        "GaussianProcessRegressor": lambda: theirs[1].fit(known, target),
        "LabelSpreading": lambda: spreading.fit(table, spread.astype(int)),
    }
    new = Problem.random(N_NEW, n_views, missing=False, seed=1)
    predictions = {
        "coview, classes": lambda: classes.predict_proba(new.views),
        "coview, regression": lambda: regression.predict(new.views, return_std=True),
        "GaussianProcessClassifier": lambda: theirs[0].predict_proba(new.table),
        "GaussianProcessRegressor": lambda: theirs[1].predict(new.table, return_std=True),
        "LabelSpreading": lambda: spreading.predict_proba(new.table),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of scikit-learn: a parameter ends at its bound
        for task, works in (("fit", fits), (f"predict {N_NEW:,}", predictions)):
            full = {**shape, "labeled": problem.n_labeled, "task": task}
            yield from rows_of(full, "coview, classes", seconds(works, repeats_at(len(table), repeats, OFTEN)))


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per shape, task and work; ``ratio`` is the median of coview's classifier over the row's."""
    np.seterr(divide="ignore", invalid="ignore")  # far from every label, LabelSpreading divides zero by zero
    for n in sizes:
        for n_views in (2, 3):
            for missing in (False, True):
                shape: Row = {"n": n, "views": n_views, "missing": "half" if missing else "no", "columns": N_FEATURES}
                problem = Problem.random(n, n_views, missing=missing, n_labeled=min(N_LABELED, n // 2))
                yield from one_shape(problem, shape, repeats)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    return command_line(measure, SIZES, argv, "averaging")


if __name__ == "__main__":
    sys.exit(main())
