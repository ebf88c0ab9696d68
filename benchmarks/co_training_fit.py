"""Exact co-training fit beside the LAPACK calls that its mathematics needs, as ratios in one run.

    python benchmarks/co_training_fit.py [n ...]

Floor: per view one Cholesky factor and its inverse, then one factor and inverse of the consensus precision and one of the
labeled block (complete views: parallel sums instead). Set OMP_NUM_THREADS to fix the BLAS threads. Three repeats, medians.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack
from sklearn.gaussian_process.kernels import RBF

from coview.gaussian_process import BayesianCoTrainingRegressor

REPEATS = 3


def median_seconds(work: Callable[[], object]) -> float:
    """Median wall-clock seconds of a few repeats."""
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


def floor(n_per_view: list[int], n: int, n_labeled: int) -> None:
    """The factorizations of one fit on well-conditioned matrices of the same orders."""
    for order in [*n_per_view, n, n_labeled]:
        matrix = np.asfortranarray(np.eye(order) * 2.0 + 1.0 / order)
        factor, _ = lapack.dpotrf(matrix, lower=1, overwrite_a=1)
        if order != n_labeled:
            lapack.dpotri(factor, lower=1, overwrite_c=1)


def main() -> None:
    """Print one line per shape."""
    rng = np.random.default_rng(0)
    print("     n  views  missing  fit [s]  floor [s]  ratio")
    for n in [int(arg) for arg in sys.argv[1:]] or [500, 1000, 2000]:
        for n_views in (2, 3):
            for missing in (False, True):
                views = [rng.standard_normal((n, 5)) for _ in range(n_views)]
                if missing:
                    for j, view in enumerate(views[1:], start=1):
                        view[j % 2 :: 2] = np.nan
                y = np.where(np.arange(n) < n // 5, rng.standard_normal(n), np.nan)
                counts = [int(np.isfinite(view[:, 0]).sum()) for view in views]
                model = BayesianCoTrainingRegressor(
                    RBF(2.0),
                    latent="consensus",
                    hyperparameters="fixed",
                    approximation="exact",
                    view_variances=0.1,
                    noise_variance=0.1,
                )
                fit = median_seconds(lambda model=model, views=views, y=y: model.fit(views, y))
                bare = median_seconds(lambda counts=counts, n=n: floor(counts, n, n // 5))
                print(f"{n:6d}  {n_views:5d}  {missing!s:>7}  {fit:7.2f}  {bare:9.2f}  {fit / bare:5.1f}")


if __name__ == "__main__":
    main()
