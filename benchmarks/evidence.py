"""Log marginal likelihood with its gradient, beside the value alone and scikit-learn's, and the search of a maximum.

    python benchmarks/evidence.py [n ...] [--repeats 3] [--output FILE]

Amplitude and width of an RBF kernel per view, view variances and noise are free. A fifth of the samples is labeled; then, for
two complete views of up to 2,000 samples, all of them. ``to value`` is the ratio to the value alone; ``memory`` that of a fit
and a gradient, as in fixed_fit. Repeats: one less beyond 2,000 samples, where
classes, which take as long, are left out.
"""

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from problems import WIDTH, Problem, classifier, regressor, table_kernel
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from timing import Row, command_line, in_matrices, peak_memory, repeats_at, rows_of, seconds

SIZES = (1000, 2000, 4000)
WARM = 800
LEAST_MEASURED = 500
MOST_LABELED = 2000
SEARCHED = 500
MODELS: dict[str, Callable[..., Any]] = {"regression": regressor, "classes": classifier}


def fitted(problem: Problem, kind: str, latent: str = "consensus", **parameters: Any) -> Any:
    """A model whose evidence can be asked for."""
    y = problem.target if kind == "regression" else problem.classes
    return MODELS[kind](kernel=ConstantKernel(1.0) * RBF(WIDTH), latent=latent, **parameters).fit(problem.views, y)


def gradient(n: int, n_views: int, missing: bool, kind: str) -> Callable[[], object]:
    """A fit and one value with its gradient, for `peak_memory`; one of 800 comes first."""
    small, problem = Problem.random(WARM, n_views, missing=missing), Problem.random(n, n_views, missing=missing)
    fitted(small, kind).log_marginal_likelihood(eval_gradient=True)
    return lambda: fitted(problem, kind).log_marginal_likelihood(eval_gradient=True)


def of_scikit_learn(problem: Problem, kind: str) -> Any:
    """Its Gaussian process on the table of the views."""
    table = np.nan_to_num(problem.table)
    kernel = ConstantKernel(1.0) * table_kernel(len(problem.views))
    if kind == "regression":
        return GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(table, problem.target)
    return GaussianProcessClassifier(kernel, optimizer=None).fit(table, problem.classes)


def one_shape(problem: Problem, shape: Row, repeats: int) -> Iterator[Row]:
    """Value and gradient of both kinds of labels."""
    all_labeled = problem.n_labeled == len(problem.signal)
    for kind in MODELS if len(problem.signal) <= MOST_LABELED else ["regression"]:
        model = fitted(problem, kind)
        theta = model.theta_ + 0.01
        names = [f"coview, {kind}: gradient", f"coview, {kind}: value"]
        works: dict[str, Callable[[], object]] = {
            names[0]: lambda model=model, theta=theta: model.log_marginal_likelihood(theta, eval_gradient=True),
            names[1]: lambda model=model, theta=theta: model.log_marginal_likelihood(theta),
        }
        if all_labeled:
            peer = of_scikit_learn(problem, kind)
            name = type(peer).__name__
            at = peer.kernel_.theta + 0.01
            works[f"{name}: gradient"] = lambda peer=peer, at=at: peer.log_marginal_likelihood(at, eval_gradient=True)
            works[f"{name}: value"] = lambda peer=peer, at=at: peer.log_marginal_likelihood(at)
        times = seconds(works, repeats)
        rows = rows_of({**shape, "labeled": problem.n_labeled}, names[0], times)
        for row in rows[::2]:
            row["to value"] = row["seconds"] / times[str(row["work"]).replace("gradient", "value")][0]
        yield from rows


def search(n: int) -> list[Row]:
    """The maximum over all parameters; every sample is labeled."""
    problem = Problem.random(n, 2, missing=False, n_labeled=n)
    kernel = ConstantKernel(1.0) * table_kernel(2)
    works = {
        "coview, regression: maximum": lambda: fitted(problem, "regression", hyperparameters="maximize"),
        "GaussianProcessRegressor: maximum": lambda: GaussianProcessRegressor(kernel, alpha=0.1).fit(
            problem.table, problem.target
        ),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of scikit-learn: a parameter ends at its bound
        times = seconds(works, 1)
    shape: Row = {"n": n, "views": 2, "missing": "no", "labeled": n}
    return rows_of(shape, "coview, regression: maximum", times)


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per shape and work; ``ratio`` is the median of coview's gradient over the row's."""
    for n in sizes:
        for n_views in (2, 3):
            for missing in (False, True):
                shape: Row = {"n": n, "views": n_views, "missing": "half" if missing else "no"}
                times = repeats_at(n, repeats, MOST_LABELED)
                rows = list(one_shape(Problem.random(n, n_views, missing=missing), shape, times))
                if n >= LEAST_MEASURED:
                    rows[0]["memory"] = in_matrices(
                        peak_memory("evidence", "gradient", n, n_views, missing, "regression"), n
                    )
                yield from rows
                if n <= MOST_LABELED and n_views == 2 and not missing:
                    yield from one_shape(Problem.random(n, 2, missing=False, n_labeled=n), shape, times)
        if n == min(sizes):
            yield from search(min(n, SEARCHED))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    return command_line(measure, SIZES, argv, "evidence")


if __name__ == "__main__":
    sys.exit(main())
