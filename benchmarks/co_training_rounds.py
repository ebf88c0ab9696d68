"""Co-training beside what it cannot do without: the fits of 50 rounds, and the scores of the samples that were left.

    python benchmarks/co_training_rounds.py [n ...] [--repeats 3] [--output FILE]

Two views of 100 features, logistic regression, 20 labels, two samples per view and round; a pool of 500, or all samples, dense
rows and sparse ones. "bare fits" are those of scikit-learn to the labels that every round had, "fits and scores" also score as
many samples as were looked at; ``ratio`` is coview's median over the row's.
"""

import sys
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from timing import Row, Work, command_line, rows_of, seconds

from coview.semi_supervised import CoTrainingClassifier

SIZES = (2_000, 20_000)
N_FEATURES, N_LABELED, N_ROUNDS = 100, 20, 50
KINDS = {"dense, pool": (1.0, 500), "dense": (1.0, None), "sparse": (0.05, None)}
TEMPLATE = LogisticRegression(max_iter=1000)


def problem(n: int, density: float) -> tuple[dict[str, object], np.ndarray]:
    """Two views that tell two classes, sparse where the density is below 1, and labels of which most are missing (-1)."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 2
    views = {}
    for name in ("a", "b"):
        rows = (2 * truth[:, None] - 1) * rng.uniform(0.0, 0.4, N_FEATURES) + rng.normal(size=(n, N_FEATURES))
        shown = rng.random((n, N_FEATURES)) < density
        views[name] = rows if density == 1.0 else sparse.csr_array(np.where(shown, rows, 0.0))
    return views, np.where(np.arange(n) < N_LABELED, truth, -1)


def fitted(views: dict[str, object], y: np.ndarray, pool: int | None) -> CoTrainingClassifier:
    """So many rounds of coview."""
    model = CoTrainingClassifier(
        TEMPLATE, n_positive=1, n_negative=1, n_rounds=N_ROUNDS, pool_size=pool, random_state=0
    )
    return model.fit(views, y)


def refits(views: dict[str, object], y: np.ndarray, pool: int | None, *, scores: bool) -> Work:
    """The same fits without co-training: what each view learned from in every round."""
    history = fitted(views, y, pool).labeling_history_
    labels, known = y.copy(), []
    for number in range(1, N_ROUNDS + 1):
        known.append((np.flatnonzero(labels >= 0), labels.copy()))
        given = history[history["round"] == number]
        labels[given["sample"]] = given["label"]

    def work() -> None:
        for rows, codes in known:
            for block in views.values():
                learner = clone(TEMPLATE).fit(block[rows], codes[rows])
                if scores:
                    learner.decision_function(block[np.flatnonzero(codes < 0)[:pool]])

    return work


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per number of samples, kind of rows and work."""
    for n in sizes:
        for kind, (density, pool) in KINDS.items():
            views, y = problem(n, density)
            works: dict[str, Work] = {
                "co-training": partial(fitted, views, y, pool),
                "bare fits": refits(views, y, pool, scores=False),
                "fits and scores": refits(views, y, pool, scores=True),
            }
            yield from rows_of({"n": n, "rows": kind}, "co-training", seconds(works, repeats))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    return command_line(measure, SIZES, argv, "co_training_rounds")


if __name__ == "__main__":
    sys.exit(main())
