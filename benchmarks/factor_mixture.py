"""Factor mixtures: iterations beside the matrix products that they cannot do without, and scikit-learn's FactorAnalysis.

    python benchmarks/factor_mixture.py [n ...] [--repeats 3] [--output FILE]

Three iterations and the likelihood after them, on 5,000 features with 10 factors; complete rows, or the second half of the
features missing in every other row. The floor: per component and iteration three products of (n x 5,000) by (5,000 x 10)
numbers, a fourth where the noise is learned, and two for the last likelihood. FactorAnalysis has one component and noise of
its own for each feature; each iteration begins with a singular value decomposition, here the randomized one. Then the
synthetic problem of the paper, 874 rows of two features, three components: seconds of a hundred iterations.
"""

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from sklearn.decomposition import FactorAnalysis
from sklearn.exceptions import ConvergenceWarning
from timing import Row, command_line, rows_of, seconds

from coview.inference import FactorData, FactorParameters, factor_em

SIZES = (500, 2000)
N_FEATURES, N_FACTORS = 5000, 10
ITERATIONS = 3


def wide(n: int, n_components: int, missing: bool) -> tuple[np.ndarray, FactorParameters]:
    """Rows of a factor model, and a start."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(n, N_FACTORS)) @ rng.normal(size=(N_FACTORS, N_FEATURES)) + rng.normal(
        size=(n, N_FEATURES)
    )
    start = FactorParameters(
        np.full(n_components, 1.0 / n_components),
        table[:n_components].copy(),
        rng.normal(size=(n_components, N_FEATURES, N_FACTORS)),
        1.0,
        np.ones((n_components, 0)),
    )
    if missing:
        table[1::2, N_FEATURES // 2 :] = np.nan
    return table, start


def iterate(table: np.ndarray, start: FactorParameters, learn: bool) -> Callable[[], object]:
    """The iterations, the rows sorted before."""
    data = FactorData.of(table)
    return lambda: factor_em(data, start, tol=0.0, max_iter=ITERATIONS, noise_floor=1e-6 if learn else None)


def products(table: np.ndarray, n_components: int, learn: bool) -> Callable[[], object]:
    """The matrix products of the iterations, per pattern of missing features."""
    rng = np.random.default_rng(0)
    complete = ~np.isnan(table).any(axis=1)
    parts = (
        [table[complete]]
        if complete.all()
        else [table[complete], np.ascontiguousarray(table[~complete, : N_FEATURES // 2])]
    )
    loadings = [rng.normal(size=(part.shape[1], N_FACTORS)) for part in parts]
    factors = [rng.normal(size=(len(part), N_FACTORS)) for part in parts]

    results = [np.zeros(part.shape) for part in parts]  # written before, so that no page of memory is new

    def multiply() -> None:
        for iteration in range(ITERATIONS + 1):
            for part, A, m, result in zip(parts, loadings, factors, results, strict=True):
                for _ in range(n_components):
                    _ = part @ A, np.matmul(m, A.T, out=result)
                    if iteration < ITERATIONS:
                        _ = part.T @ m
                    if iteration < ITERATIONS and learn:
                        np.matmul(m, A.T, out=result)

    return multiply


def factor_analysis(table: np.ndarray) -> Callable[[], object]:
    """As many iterations of scikit-learn's single component."""

    def fit() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            FactorAnalysis(N_FACTORS, max_iter=ITERATIONS, tol=0.0, random_state=0).fit(table)

    return fit


def synthetic() -> Callable[[], object]:
    """A hundred iterations on three Gaussians in two views, half of the rows without the second, the others without label."""
    rng = np.random.default_rng(0)
    component = rng.integers(3, size=874)
    table = np.array([[5.0, 10.0], [5.0, 5.0], [0.0, 0.0]])[component] + np.sqrt(2.0) * rng.normal(size=(874, 2))
    start = FactorParameters(
        np.full(3, 1 / 3), table[-3:].copy(), rng.normal(size=(3, 2, 2)), 1.0, rng.dirichlet(np.ones(2), 3)
    )
    table[:437, 1] = np.nan
    codes = np.where(np.arange(874) < 437, (component > 0).astype(int), -1)
    data = FactorData.of(table, codes)
    return lambda: factor_em(data, start, tol=0.0, max_iter=100)


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per shape and work; ``ratio`` is coview's median over the row's."""
    for n in sizes:
        for n_components, missing, learn in ((1, False, False), (1, True, False), (5, False, False), (5, False, True)):
            table, start = wide(n, n_components, missing)
            works = {
                "coview": iterate(table, start, learn),
                "its products": products(table, n_components, learn),
            }
            if n_components == 1 and not missing:
                works["FactorAnalysis"] = factor_analysis(table)
            shape: Row = {
                "n": n,
                "features": N_FEATURES,
                "components": n_components,
                "missing": "half a view" if missing else "no",
            }
            yield from rows_of({**shape, "noise": "learned" if learn else "fixed"}, "coview", seconds(works, repeats))
    tiny: Row = {"n": 874, "features": 2, "components": 3, "missing": "a view", "noise": "fixed"}
    yield from rows_of(tiny, "coview, 100 iterations", seconds({"coview, 100 iterations": synthetic()}, repeats))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    return command_line(measure, SIZES, argv, "factor_mixture")


if __name__ == "__main__":
    sys.exit(main())
