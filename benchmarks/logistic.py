"""Co-regularized logistic regression on sensors of 420 and 9 features beside scikit-learn's LogisticRegression.

    python benchmarks/logistic.py [n ...] [--repeats 3] [--output FILE]

Three fifths of the samples have both sensors, the others one of them; all, or 100, are labeled. The peer has the labeled samples
as one table of 429 features, gaps filled by means, the same ridge, and its own solver (lbfgs) and tolerance. "posterior" adds
the precision of the weights. The rows of scores use the model with 100 labels, fitted beforehand, and a density of independent
features: all missing views, or all labels. ``ratio`` is the fit over the row.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression
from timing import Row, command_line, repeats_at, rows_of, seconds

from coview import Views
from coview.acquisition import label_utilities, view_utilities
from coview.linear_model import CoRegularizedLogisticRegression
from coview.mixture import ClassConditionalGaussianMixture

SIZES = (1000, 4000)
WIDTHS = (420, 9)
FEW = 100
OFTEN = 2000


@dataclass(frozen=True)
class Problem:
    """Views with gaps, the same as one filled table, and classes."""

    views: Views
    table: np.ndarray
    codes: np.ndarray

    @classmethod
    def random(cls, n: int) -> "Problem":
        """Two classes; features of a sensor share a few directions, as bands of a spectrum do."""
        rng = np.random.default_rng(0)
        codes = rng.integers(2, size=n)
        kind = rng.choice(3, size=n, p=[0.6, 0.2, 0.2])
        presence = np.column_stack([kind != 2, kind != 1])
        tables = []
        for width in WIDTHS:
            shared = rng.normal(size=(n, 8)) @ rng.normal(size=(8, width)) + rng.normal(size=(n, width))
            tables.append((shared + 0.5 * rng.normal(size=width) * codes[:, None]) / 3.0)
        filled = [np.where(seen[:, None], t, t[seen].mean(axis=0)) for t, seen in zip(tables, presence.T, strict=True)]
        return cls(Views(tables, presence=presence), np.hstack(filled), codes)

    def labels(self, n_labeled: int) -> np.ndarray:
        """Known classes, NaN for the others."""
        return np.where(np.arange(len(self.codes)) < n_labeled, self.codes, np.nan)


def one_shape(n: int, n_labeled: int, repeats: int) -> list[Row]:
    """A fit and its peer; with few labels the scores of what to ask next, too."""
    problem = Problem.random(n)
    y, model = problem.labels(n_labeled), CoRegularizedLogisticRegression()
    peer = LogisticRegression(C=1.0, max_iter=1000)
    works = {
        "fit": lambda: model.fit(problem.views, y),
        "LogisticRegression, one table": lambda: peer.fit(problem.table[:n_labeled], problem.codes[:n_labeled]),
        "fit and posterior": lambda: model.fit(problem.views, y).posterior_precision_,
    }
    if n_labeled < n:
        fitted = CoRegularizedLogisticRegression().fit(problem.views, y)
        density = ClassConditionalGaussianMixture(covariance_type="diag", random_state=0).fit(problem.views, y)

        def score(criterion: str, expectation: str) -> None:
            options = {"criterion": criterion, "expectation": expectation, "density": density}
            view_utilities(fitted, problem.views, y, **options)

        works |= {
            "bound, mean put in": lambda: score("mutual_information_bound", "point_mass"),
            "bound": lambda: score("mutual_information_bound", "quadrature"),
            "mutual information, 512 values": lambda: score("mutual_information", "quadrature"),
            "expected entropy": lambda: score("expected_entropy", "quadrature"),
            "labels, mutual information": lambda: label_utilities(fitted, problem.views, y),
        }
    times = seconds(works, repeats_at(n, repeats, OFTEN))
    missing = int((~problem.views.presence).sum())
    shape: Row = {"n": n, "labels": n_labeled, "features": "420 + 9", "missing": missing}
    return rows_of(shape, "fit", times)


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per shape and work; ``ratio`` is the median of our fit over the row's."""
    for n in sizes:
        for n_labeled in (n, min(FEW, n // 2)):
            yield from one_shape(n, n_labeled, repeats)


def main(argv: Sequence[str] | None = None) -> int:
    """Run this benchmark by itself."""
    return command_line(measure, SIZES, argv, "logistic: views of 420 and 9 features, and what to ask next")


if __name__ == "__main__":
    sys.exit(main())
