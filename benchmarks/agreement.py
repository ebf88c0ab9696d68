"""Learners whose views must agree: every ratio in one run, to general solvers, bare refits, and scikit-learn's models.

    python benchmarks/agreement.py [n ...] [--repeats 3] [--output FILE]

SVM-2K has 500 to 1,000 labeled samples of two views (5 and 8 features, RBF kernels, no probabilities). "cvxpy, Clarabel" solves
the dual program as it is printed, Cholesky factors of both kernel matrices given; without cvxpy and Clarabel its row says so.
"Cholesky factors" are as many factors of order 2n as the fit has steps; SVC is a machine per view, trained apart. ``objective``
shows that all solve the same program.

The rest is that of co_training_rounds.py, co_regularized.py, laplacian.py and posterior_consistency.py. ``ratio`` is the
median of our fit over the row's.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec

import co_regularized
import co_training_rounds
import floors
import laplacian
import numpy as np
import posterior_consistency
from sklearn.gaussian_process.kernels import RBF
from sklearn.svm import SVC
from timing import Row, Work, command_line, repeats_at, rows_of, seconds

from coview.svm import SVM2K

SIZES = (500, 1000, 2000, 4000, 8000)
# The general solver takes minutes beyond.
LARGEST_PROGRAM = 1000
OFTEN = 2000
COST, TIE, EPSILON, WIDTH = 1.0, 0.1, 0.1, 3.0
PEER = "cvxpy, Clarabel"
# With the most samples of each: beyond, a run takes many minutes.
OTHERS = {co_training_rounds: 20_000, co_regularized: 8000, laplacian: 8000, posterior_consistency: 2000}


@dataclass(frozen=True)
class Tied:
    """Two views of two classes, all labeled."""

    n: int

    @cached_property
    def signs(self) -> np.ndarray:
        """Class of each sample, -1 or 1."""
        return np.where(np.random.default_rng(0).integers(2, size=self.n) == 1, 1.0, -1.0)

    @cached_property
    def views(self) -> list[np.ndarray]:
        """Noise, and the class in every column."""
        rng = np.random.default_rng(1)
        return [0.7 * self.signs[:, None] + rng.normal(size=(self.n, width)) for width in (5, 8)]

    def model(self) -> SVM2K:
        """Fitted."""
        model = SVM2K(RBF(WIDTH), C=COST, D=TIE, epsilon=EPSILON, probability=False)
        return model.fit(self.views, self.signs)

    def linear(self) -> SVM2K:
        """With linear kernels, of rank 5 and 8."""
        model = SVM2K("linear", C=COST, D=TIE, epsilon=EPSILON, probability=False)
        return model.fit(self.views, self.signs)

    def machines(self) -> list[SVC]:
        """One per view, apart."""
        return [SVC(C=COST, gamma=0.5 / WIDTH**2).fit(X, self.signs) for X in self.views]

    def general(self) -> Callable[[], float]:
        """The dual program, built anew and solved; its value."""
        import cvxpy

        factors = [np.linalg.cholesky(RBF(WIDTH)(X) + 1e-10 * np.eye(self.n)) for X in self.views]

        def work() -> float:
            alphas, delta = [cvxpy.Variable(self.n) for _ in self.views], cvxpy.Variable(self.n)
            ties = (-delta, delta)
            g = [cvxpy.multiply(self.signs, a) + tie for a, tie in zip(alphas, ties, strict=True)]
            norms = sum(cvxpy.sum_squares(L.T @ v) for L, v in zip(factors, g, strict=True))
            value = sum(cvxpy.sum(a) for a in alphas) - EPSILON * cvxpy.norm1(delta) - 0.5 * norms
            limits = [bound for a in alphas for bound in (a >= 0.0, a <= COST)]
            limits += [cvxpy.abs(delta) <= TIE, *(cvxpy.sum(v) == 0.0 for v in g)]
            return float(cvxpy.Problem(cvxpy.Maximize(value), limits).solve(solver=cvxpy.CLARABEL))

        return work


def tied_machines(n: int, repeats: int) -> list[Row]:
    """SVM-2K and what stands beside it."""
    problem = Tied(n)
    model = problem.model()
    works: dict[str, Work] = {"SVM-2K": problem.model}
    installed = find_spec("cvxpy") is not None and find_spec("clarabel") is not None
    general = problem.general() if installed else None
    if general is not None:
        works[PEER] = general
    works |= {
        "Cholesky factors": floors.run([floors.factor(2 * n)] * model.n_iter_),
        "SVC, views apart": problem.machines,
        "SVM-2K, linear kernels": problem.linear,
    }
    rows = rows_of({"n": n, "part": "SVM-2K"}, "SVM-2K", seconds(works, repeats_at(n, repeats, OFTEN)))
    rows[0] |= {"objective": model.objective_, "note": f"{model.n_iter_} steps"}
    if general is None:
        return [*rows, {"n": n, "part": "SVM-2K", "work": PEER, "note": "not installed: pip install cvxpy clarabel"}]
    rows[1]["objective"] = general()
    return rows


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per size and work."""
    for n in sizes:
        if n <= LARGEST_PROGRAM:
            yield from tied_machines(n, repeats)
        for part in (part for part, largest in OTHERS.items() if n <= largest):
            for row in part.measure([n], repeats):
                yield {"n": n, "part": part.__name__} | row


def main(argv: Sequence[str] | None = None) -> int:
    """Run this benchmark by itself."""
    return command_line(measure, SIZES, argv, "agreement: SVM-2K beside a general solver, co-training beside refits")


if __name__ == "__main__":
    sys.exit(main())
