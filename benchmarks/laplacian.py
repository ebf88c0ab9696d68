"""Co-Laplacian learners of two views beside a dense solve of the printed system and scikit-learn's SVC on the labeled samples.

    python benchmarks/laplacian.py [n ...] [--repeats 3] [--output FILE]

Two views of 10 features, 40 of the samples labeled; RBF kernels, graphs of 6 neighbors. "printed system" takes the Gram matrices
and the Laplacian as they are, solves (J K / l + gamma_A I + gamma_I L K) a = J y / l for both views and has no graph to find,
nor probabilities; "graphs" finds the neighbors of both views. SVC does not see unlabeled samples. The rows of documents have
24,000 sparse words in a view and linear kernels. ``peak`` is the memory of the fit in n x n matrices.
"""

import sys
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import linalg, sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.gaussian_process.kernels import RBF
from sklearn.svm import SVC
from timing import Row, Work, command_line, in_matrices, peak_memory, repeats_at, rows_of, seconds

from coview.graphs import combined_laplacian, knn_graph, laplacian
from coview.semi_supervised import CoLaplacianLeastSquaresClassifier, CoLaplacianSVC

SIZES = (1000, 2000, 4000, 8000)
N_LABELED, N_FEATURES, N_WORDS = 40, 10, 24_000
OFTEN = 2000
WIDTH, AMBIENT, INTRINSIC = 4.0, 0.01, 0.1
MODELS = {"least squares": CoLaplacianLeastSquaresClassifier, "SVM": CoLaplacianSVC}


def problem(n: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Two views of two classes, NaN for those unknown."""
    rng = np.random.default_rng(0)
    sign = np.where(np.arange(n) % 2, 1.0, -1.0)
    views = {name: 0.5 * sign[:, None] + rng.normal(size=(n, N_FEATURES)) for name in ("a", "b")}
    return views, np.where(np.arange(n) < N_LABELED, sign, np.nan)


def documents(n: int) -> tuple[dict[str, sparse.csr_array], np.ndarray]:
    """Two views of sparse words: 40 on each page, a tenth of them of its class."""
    rng = np.random.default_rng(0)
    sign = np.where(np.arange(n) % 2, 1.0, -1.0)
    views = {}
    for name in ("a", "b"):
        words = rng.integers(N_WORDS, size=(n, 40))
        words[:, :4] = 2 * rng.integers(200, size=(n, 4)) + (sign[:, None] > 0)
        starts = np.arange(n + 1) * 40
        rows = sparse.csr_array((np.ones(40 * n), words.ravel(), starts), shape=(n, N_WORDS))
        rows.sum_duplicates()
        views[name] = rows
    return views, np.where(np.arange(n) < N_LABELED, sign, np.nan)


def fit(kind: str, n: int) -> Work:
    """A fit, for its memory."""
    views, y = problem(n)
    return lambda: model(kind).fit(views, y)


def fit_documents(kind: str, n: int) -> Work:
    """The same on documents."""
    views, y = documents(n)
    return lambda: model(kind, linear=True).fit(views, y)


def model(kind: str, *, linear: bool = False) -> CoLaplacianLeastSquaresClassifier | CoLaplacianSVC:
    """With both prices and the width that the printed system has."""
    graph = {"n_neighbors": 6, "metric": "cosine" if linear else "euclidean"}
    kernel = "linear" if linear else RBF(WIDTH)
    return MODELS[kind](kernel, gamma_ambient=AMBIENT, gamma_intrinsic=INTRINSIC, graph=graph)


def joint(views: dict[str, np.ndarray]) -> sparse.csr_array:
    """The Laplacian of both views."""
    return combined_laplacian([laplacian(knn_graph(rows, 6)) for rows in views.values()])


def kernel(rows: np.ndarray) -> np.ndarray:
    """Values of the RBF kernel."""
    return np.exp(-squareform(pdist(rows, "sqeuclidean")) / (2.0 * WIDTH**2))


def printed(grams: Sequence[np.ndarray], L: sparse.csr_array, y: np.ndarray) -> list[np.ndarray]:
    """Coefficients of both views."""
    known = ~np.isnan(y)
    found = []
    for K in grams:
        system = INTRINSIC * (L @ K)
        system[known] += K[known] / known.sum()
        system.flat[:: len(K) + 1] += AMBIENT
        found.append(linalg.solve(system, np.where(known, y, 0.0) / known.sum(), overwrite_a=True, check_finite=False))
    return found


def one_size(n: int, repeats: int) -> list[Row]:
    """Both learners and what stands beside them."""
    views, y = problem(n)
    grams, L, known = [kernel(rows) for rows in views.values()], joint(views), ~np.isnan(y)
    works: dict[str, Work] = {f"fit, {kind}": lambda kind=kind: model(kind).fit(views, y) for kind in MODELS}
    works |= {
        "graphs": lambda: joint(views),
        "printed system": lambda: printed(grams, L, y),
        "SVC, labeled samples": lambda: [SVC(gamma=0.5 / WIDTH**2).fit(X[known], y[known]) for X in views.values()],
    }
    times = seconds(works, repeats_at(n, repeats, OFTEN))
    rows = rows_of({"n": n, "features": f"2 x {N_FEATURES}"}, "fit, least squares", times)
    for row in rows[:2]:
        row["peak"] = in_matrices(peak_memory("laplacian", "fit", str(row["work"]).removeprefix("fit, "), n), n)
    return rows


def of_documents(n: int, repeats: int) -> list[Row]:
    """Sparse words."""
    views, y = documents(n)
    works: dict[str, Work] = {
        f"fit, {kind}": lambda kind=kind: model(kind, linear=True).fit(views, y) for kind in MODELS
    }
    times = seconds(works, repeats_at(n, repeats, OFTEN))
    rows = rows_of({"n": n, "features": f"2 x {N_WORDS:,} sparse"}, "fit, least squares", times)
    for row in rows:
        kind = str(row["work"]).removeprefix("fit, ")
        row["peak"] = in_matrices(peak_memory("laplacian", "fit_documents", kind, n), n)
    return rows


def measure(sizes: Sequence[int] = SIZES, repeats: int = 3) -> Iterator[Row]:
    """One row per size and work; ``ratio`` is the median of the fit by least squares over the row's."""
    for n in sizes:
        yield from one_size(n, repeats)
        yield from of_documents(n, repeats)


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print the table."""
    return command_line(measure, SIZES, argv, "laplacian: Co-Laplacian learners beside the printed system and SVC")


if __name__ == "__main__":
    sys.exit(main())
