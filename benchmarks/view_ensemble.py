"""Ensembles of unions of views beside the bare fits that they are made of.

    python benchmarks/view_ensemble.py [n ...] [--repeats 3] [--output FILE]

Six views of 20 features, 27 classes, as the proteins of the experiments: 63 unions. Hyperplane neighbors with leave-one-out
of one pair of parameters (`HyperplaneKNeighborsClassifierCV`), and naive Bayes in ten folds; beside them the same fits, left-out
predictions, and three predictions of the training samples, in a loop. ``ratio`` is the time of the ensemble over that of the
bare fits: above 1, the ensemble takes longer.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from timing import Row, command_line, repeats_at, rows_of, seconds

from coview import Views
from coview.ensemble import ViewEnsembleClassifier
from coview.neighbors import HyperplaneKNeighborsClassifierCV

SIZES = (311, 1_000, 3_000)
N_VIEWS, N_FEATURES, N_CLASSES, N_FOLDS, N_CHOSEN = 6, 20, 27, 10, 3
NEIGHBORS = HyperplaneKNeighborsClassifierCV([5], [1.0])


def problem(n: int) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.int64]]:
    """Classes that differ a little in every view."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % N_CLASSES
    middles = rng.normal(size=(N_VIEWS, N_CLASSES, N_FEATURES))
    return {f"v{v}": middles[v][y] + 2.0 * rng.normal(size=(n, N_FEATURES)) for v in range(N_VIEWS)}, y


def bare(tables: dict[str, NDArray[np.float64]], y: NDArray[np.int64], base: Any) -> Callable[[], object]:
    """Fits of all unions, what they say of left-out samples, and of the training samples."""
    names = list(tables)
    unions = [subset for size in range(1, len(names) + 1) for subset in combinations(names, size)]
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)

    def work() -> None:
        for subset in unions:
            table = np.hstack([tables[name] for name in subset])
            fitted = clone(base).fit(table, y)
            if base is not NEIGHBORS:  # they have left each other out in the fit
                cross_val_predict(base, table, y, cv=folds)
            if subset in unions[:N_CHOSEN]:
                fitted.predict(table)

    return work


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per number of samples and work."""
    for n in sizes:
        tables, y = problem(n)
        views = Views(tables)
        for name, base in (("hyperplanes", NEIGHBORS), ("naive Bayes", GaussianNB())):
            for selection in ("cv", "forward"):
                model = ViewEnsembleClassifier(base, selection=selection, cv="auto" if base is NEIGHBORS else N_FOLDS)
                ours = f"ensemble of {name}, {selection}"
                works = {
                    ours: lambda model=model, views=views, y=y: clone(model).fit(views, y),
                    f"63 bare fits of {name}": bare(tables, y, base),
                }
                yield from rows_of({"n": n}, ours, seconds(works, repeats_at(n, repeats, 1_000)))


def main(argv: Sequence[str] | None = None) -> int:
    return command_line(measure, SIZES, argv, "view_ensemble: unions of six views beside bare fits of the same")


if __name__ == "__main__":
    raise SystemExit(main())
