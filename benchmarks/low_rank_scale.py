"""Low-rank fits to many samples: time, memory and growth beside the passes over the features that no method avoids.

    python benchmarks/low_rank_scale.py [n ...] [--repeats 3] [--output FILE]

Three views of 10 columns, complete or half missing, rank 100 each (linear views have rank 10), 1,000 labels, fixed
parameters; fit, which answers for all samples, and prediction of 10,000 new ones. Every case runs in a process of its own,
so that its peak memory is its own; the views, which the caller holds, are part of it. Floor: the feature maps of all samples
made once, and one symmetric product (syrk) of all features, in the same process. ``growth`` is the exponent of the time in
the number of samples since the size before. From 500,000 samples on nothing is repeated.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas
from sklearn.gaussian_process.kernels import RBF
from timing import Row, command_line, memory, seconds

from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.kernels import LandmarkFeatures, SpectralFeatures

SIZES = (20_000, 100_000, 1_000_000)
LATENTS, KERNELS, MISSING = ("mean", "consensus"), ("rbf", "linear"), ("none", "half")
N_VIEWS, N_COLUMNS, RANK, N_LABELS, N_NEW = 3, 10, 100, 1_000, 10_000
WIDTH = 4.0
BLOCK = 4_096
REPEATED = 500_000

Views = list[NDArray[np.float64]]


def random_problem(n: int, *, missing: bool, seed: int = 0) -> tuple[Views, NDArray[np.float64], Views]:
    """Views of n samples with a common cause, labels of some of them, and the views of new samples."""
    rng = np.random.default_rng(seed)
    cause = rng.standard_normal((n + N_NEW, 3))
    every = [np.tanh(cause @ rng.standard_normal((3, N_COLUMNS))) for _ in range(N_VIEWS)]
    views, new = [], []
    for view in every:
        view += 0.3 * rng.standard_normal(view.shape)
        views.append(view[:n].copy())
        new.append(view[n:].copy())
    y = np.full(n, np.nan)
    labeled = rng.choice(n, N_LABELS, replace=False)
    y[labeled] = cause[labeled, 0] > 0.0
    if missing:
        present = rng.random((n, N_VIEWS)) < 0.5
        present[np.arange(n), rng.integers(0, N_VIEWS, n)] = True
        for view, has in zip(views, present.T, strict=True):
            view[~has] = np.nan
    return views, y, new


def make_features(views: Views, kernel: str) -> None:
    """The features of all samples, block by block, as soon forgotten."""
    for view in views:
        rows = view[np.isfinite(view[:, 0])]
        features = (
            SpectralFeatures("linear", RANK, scale=False)
            if kernel == "linear"
            else LandmarkFeatures(RBF(WIDTH), RANK, 2 * RANK, scale=False)
        )
        features.fit(rows)
        for start in range(0, len(rows), BLOCK):
            features.transform(rows[start : start + BLOCK])


def sum_products(features: NDArray[np.float64], n: int) -> None:
    """One syrk over n rows, some of them again and again."""
    width = features.shape[1]
    total = np.zeros((width, width), order="F")
    for start in range(0, n, len(features)):
        part = features[: min(len(features), n - start)]
        total = blas.dsyrk(1.0, part.T, 1.0, total, lower=1, overwrite_c=1)


def one_case(n: int, latent: str, kernel: str, missing: str, repeats: int) -> Row:
    """One case, in this process."""
    views, y, new = random_problem(n, missing=missing == "half")
    model = BayesianCoTrainingClassifier(
        "linear" if kernel == "linear" else RBF(WIDTH),
        latent=latent,
        hyperparameters="fixed",
        approximation="low_rank",
        n_components=RANK,
        amplitude=4.0,
    )
    repeats = repeats if n < REPEATED else 1
    ours = seconds({"fit": lambda: model.fit(views, y), "predict": lambda: model.predict_proba(new)}, repeats)
    peak = memory("VmHWM")
    width = N_VIEWS * (N_COLUMNS if kernel == "linear" else RANK)
    features = np.random.default_rng(0).standard_normal((min(8 * BLOCK, n), width))
    works = {"maps": lambda: make_features(views, kernel), "syrk": lambda: sum_products(features, n)}
    least = seconds(works, repeats)
    total = ours["fit"][0] + ours["predict"][0]
    return {
        "latent": latent,
        "kernel": kernel,
        "missing": missing,
        "n": n,
        "fit": ours["fit"][0],
        "predict 10,000": ours["predict"][0],
        "spread": ours["fit"][2] - ours["fit"][1],
        "maps": least["maps"][0],
        "syrk": least["syrk"][0],
        "to floor": total / (least["maps"][0] + least["syrk"][0]),
        "to syrk": total / least["syrk"][0],
        "peak GiB": peak / 2**30,
    }


def in_child(*case: object) -> Row:
    """The same in a process of its own."""
    command = [sys.executable, str(Path(__file__)), "--one-case", json.dumps(case)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    done.check_returncode()
    row: Row = json.loads(done.stdout)
    return row


def measure(sizes: Sequence[int], repeats: int) -> Iterator[Row]:
    """A row per latent function, kernel, missing views and size."""
    for latent, kernel, missing in product(LATENTS, KERNELS, MISSING):
        before: tuple[int, float] | None = None
        for n in sorted(sizes):
            row = in_child(n, latent, kernel, missing, repeats)
            total = float(str(row["fit"])) + float(str(row["predict 10,000"]))
            row["growth"] = None if before is None else float(np.log(total / before[1]) / np.log(n / before[0]))
            before = n, total
            yield row


def main(argv: Sequence[str] | None = None) -> int:
    """By itself, or one case for the process that asks for it."""
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] == ["--one-case"]:
        print(json.dumps(one_case(*json.loads(argv[1]))))
        return 0
    return command_line(measure, SIZES, argv, "low_rank_scale: low-rank fits to many samples, in processor seconds")


if __name__ == "__main__":
    sys.exit(main())
