"""Co-EM on sparse counts: one sweep beside one sparse product for each expectation and maximization step.

    python benchmarks/co_em.py [n ...] [--repeats 5] [--output FILE]

Counts with the shape and density of WebKB's pages and anchor texts (4,518 pages, 22,720 words and 889 anchor words, 105 and
6 different ones on a page, four pages in ten with an anchor text), drawn from 6 multinomials. Sweeps with full consensus,
a shared prior and the sequential schedule; the seconds of a run of 20 sweeps less those of its start, divided by 20. Floor:
for every view one product of its counts with a matrix of 6 columns, and one of their transpose with another.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from timing import Row, command_line, rows_of, seconds

from coview.inference import CoEM, MultinomialComponents, ViewSamples, random_responsibilities

SIZES = (4_518, 20_000)
N_COMPONENTS, N_SWEEPS = 6, 20
WIDTHS, LENGTHS, SHARES = (22_720, 889), (135, 3), (1.0, 0.44)


def random_counts(n: int, width: int, mean_length: int, rng: np.random.Generator) -> sparse.csr_array:
    """Documents of one of six word distributions, long-tailed as words are."""
    rank = np.arange(1, width + 1)
    theta = np.array([rng.permutation(1.0 / rank) for _ in range(N_COMPONENTS)]) + 2.0 / rank
    theta /= theta.sum(axis=1, keepdims=True)
    component = rng.integers(0, N_COMPONENTS, n)
    length = rng.poisson(mean_length, n) + 1
    rows = np.repeat(np.arange(n), length)
    words = np.empty(len(rows), dtype=np.int32)
    for j in range(N_COMPONENTS):
        own = component[rows] == j
        words[own] = rng.choice(width, own.sum(), p=theta[j])
    counts = sparse.coo_array((np.ones(len(rows)), (rows.astype(np.int32), words)), shape=(n, width)).tocsr()
    counts.sum_duplicates()
    return counts


def problem(n: int, seed: int = 0) -> tuple[CoEM, NDArray[np.float64]]:
    """The views of n pages, and a start."""
    rng = np.random.default_rng(seed)
    views = []
    for width, length, share in zip(WIDTHS, LENGTHS, SHARES, strict=True):
        rows = np.sort(rng.choice(n, int(share * n), replace=False))
        views.append(ViewSamples(rows, random_counts(len(rows), width, length, rng), MultinomialComponents(1.0)))
    return CoEM(tuple(views), n), random_responsibilities(n, N_COMPONENTS, np.random.RandomState(seed))


def sweeps(engine: CoEM, start: NDArray[np.float64]) -> Callable[[], object]:
    """Sweeps from a start that is made beforehand."""
    begun = engine.start(start)

    def work() -> None:
        state = begun
        for sweep in range(N_SWEEPS):
            state, _ = engine.step(state, sweep)

    return work


def products(engine: CoEM) -> Callable[[], object]:
    """The floor: two sparse products per view and sweep."""
    columns = [np.ones((view.data.shape[1], N_COMPONENTS)) for view in engine.views]
    weights = [np.ones((view.data.shape[0], N_COMPONENTS)) for view in engine.views]
    transposed = [view.data.T for view in engine.views]

    def work() -> None:
        for _ in range(N_SWEEPS):
            for view, other, right, left in zip(engine.views, transposed, columns, weights, strict=True):
                view.data @ right
                other @ left

    return work


def measure(sizes: Sequence[int], repeats: int) -> Iterator[Row]:
    """One row per size and work."""
    for n in sizes:
        engine, start = problem(n)
        stored = sum(view.data.nnz for view in engine.views)
        works = {"co-EM, 20 sweeps": sweeps(engine, start), "sparse products": products(engine)}
        yield from rows_of({"n": n, "stored counts": stored}, "co-EM, 20 sweeps", seconds(works, repeats))


def main(argv: Sequence[str] | None = None) -> int:
    return command_line(measure, SIZES, argv, "co_em: multinomial co-EM against one sparse product per step")


if __name__ == "__main__":
    raise SystemExit(main())
