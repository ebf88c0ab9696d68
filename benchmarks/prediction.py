"""Predict 10,000 new samples with all their views: beside the LAPACK floor and scikit-learn's models of the same data.

    python benchmarks/prediction.py [n ...] [--repeats 3] [--output FILE]

A fifth of the n training samples is labeled. scikit-learn's Gaussian processes know those alone, LabelSpreading all samples.
The first call of coview's exact models, which pools the views once more, comes before the clock starts. Repeats: one less
beyond 500 samples and another beyond 1,000; classes up to 1,000, since they take as long as regression.
"""

import sys
from collections.abc import Iterator, Sequence

import floors
import numpy as np
from problems import (
    Problem,
    classifier,
    gaussian_process_classifier,
    gaussian_process_regressor,
    label_spreading,
    regressor,
)
from timing import Row, command_line, repeats_at, rows_of, seconds

SIZES = (1000, 2000, 4000)
N_NEW = 10_000
OFTEN = 500
MOST_CLASSES = 1000
BLOCK = 1_000


def one_shape(problem: Problem, shape: Row, repeats: int) -> list[Row]:
    """All models of one training set."""
    n_views, labeled = len(problem.views), slice(problem.n_labeled)
    new = Problem.random(N_NEW, n_views, missing=False, seed=1)
    table, known = problem.table, problem.table[labeled]
    spread = problem.classes.copy()
    spread[problem.n_labeled :] = -1
    regression = regressor().fit(problem.views, problem.target)
    classes = classifier().fit(problem.views, problem.classes)
    theirs = gaussian_process_regressor(n_views).fit(known, problem.target[labeled])
    their_classes = gaussian_process_classifier(n_views).fit(known, problem.classes[labeled])
    spreading = label_spreading(n_views).fit(table, spread.astype(int))
    for model in (regression, classes):
        model.predict([view[:10] for view in new.views])
    works = {
        "coview, regression": lambda: regression.predict(new.views, return_std=True),
        "LAPACK floor of it": floors.run(floors.prediction(problem.presence, problem.n_labeled, N_NEW, BLOCK)),
        "coview, classes": lambda: classes.predict_proba(new.views),
        "GaussianProcessRegressor": lambda: theirs.predict(new.table, return_std=True),
        "GaussianProcessClassifier": lambda: their_classes.predict_proba(new.table),
        "LabelSpreading": lambda: spreading.predict_proba(new.table),
    }
    if len(table) > MOST_CLASSES:
        del works["coview, classes"]
    return rows_of(
        {**shape, "labeled": problem.n_labeled},
        "coview, regression",
        seconds(works, repeats_at(len(table), repeats, OFTEN)),
    )


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per shape and work; ``ratio`` is the median of coview's regression over the row's."""
    np.seterr(divide="ignore", invalid="ignore")  # far from every label, LabelSpreading divides zero by zero
    for n in sizes:
        for n_views in (2, 3):
            for missing in (False, True):
                shape: Row = {"n": n, "views": n_views, "missing": "half" if missing else "no"}
                yield from one_shape(Problem.random(n, n_views, missing=missing), shape, repeats)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    return command_line(measure, SIZES, argv, "prediction")


if __name__ == "__main__":
    sys.exit(main())
