"""Objective of posterior consistency with its gradient, beside the value alone and scikit-learn's evidences of the views.

    python benchmarks/posterior_consistency.py [n ...] [--repeats 3] [--output FILE]

Amplitude and width of an RBF kernel per view and a noise variance per view are free, all samples have a label. ``to value`` is
the ratio to the value alone (at most 2.5 is aimed at); scikit-learn has the evidence of each view and compares no
posteriors. "features" are 50 per view, of a linear kernel, at ten times as many samples.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from problems import WIDTH, Problem
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct
from timing import Row, command_line, repeats_at, rows_of, seconds

from coview.gaussian_process import PosteriorConsistencyGPClassifier

SIZES = (300, 1000, 2000)
COLUMNS, TIMES_AS_MANY = 50, 10
OFTEN = 1000


def fitted(views: Any, labels: Any, kernel: Any, **parameters: Any) -> PosteriorConsistencyGPClassifier:
    """A model whose objective can be asked for."""
    model = PosteriorConsistencyGPClassifier(kernel, jitter=1e-3, hyperparameters="fixed", **parameters)
    return model.fit(views, labels)


def one_shape(model: PosteriorConsistencyGPClassifier, peers: Sequence[Any], shape: Row, repeats: int) -> Iterator[Row]:
    """Value and gradient, ours and of the peers together."""
    theta = model.theta_ + 0.01
    works: dict[str, Callable[[], object]] = {
        "coview: gradient": lambda: model.objective(theta, eval_gradient=True),
        "coview: value": lambda: model.objective(theta),
    }
    if peers:
        places = [peer.kernel_.theta + 0.01 for peer in peers]
        pairs = list(zip(peers, places, strict=True))
        works["GaussianProcessRegressor per view: gradient"] = lambda: [
            peer.log_marginal_likelihood(at, eval_gradient=True) for peer, at in pairs
        ]
        works["GaussianProcessRegressor per view: value"] = lambda: [
            peer.log_marginal_likelihood(at) for peer, at in pairs
        ]
    times = seconds(works, repeats)
    rows = rows_of(shape, "coview: gradient", times)
    for row in rows[::2]:
        row["to value"] = row["seconds"] / times[str(row["work"]).replace("gradient", "value")][0]
    yield from rows


def on_matrices(n: int, n_views: int, repeats: int) -> Iterator[Row]:
    """Exact kernels."""
    problem = Problem.random(n, n_views, missing=False, n_labeled=n)
    kernel = ConstantKernel(1.0) * RBF(WIDTH)
    model = fitted(problem.views, problem.classes, kernel)
    targets = np.where(problem.classes == problem.classes.max(), 1.0, -1.0)
    peers = [GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(X, targets) for X in problem.views]
    yield from one_shape(model, peers, {"n": n, "views": n_views, "form": "matrices"}, repeats)


def on_features(n: int, repeats: int) -> Iterator[Row]:
    """Linear kernels."""
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(n, COLUMNS)) / np.sqrt(COLUMNS) for _ in range(2)]
    labels = (blocks[0].sum(axis=1) + blocks[1].sum(axis=1) > 0.0).astype(np.int64)
    kernel = ConstantKernel(1.0) * DotProduct(0, "fixed")
    model = fitted(blocks, labels, kernel, approximation="low_rank")
    yield from one_shape(model, [], {"n": n, "views": 2, "form": "features"}, repeats)


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per shape and work; ``ratio`` is the median of coview's gradient over the row's."""
    for n in sizes:
        for n_views in (2, 3):
            yield from on_matrices(n, n_views, repeats_at(n, repeats, OFTEN))
        yield from on_features(TIMES_AS_MANY * n, repeats_at(n, repeats, OFTEN))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    return command_line(measure, SIZES, argv, "posterior_consistency")


if __name__ == "__main__":
    sys.exit(main())
