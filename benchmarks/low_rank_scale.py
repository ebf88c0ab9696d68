"""Low-rank fits to many samples: time, memory and growth beside the passes over the features that no method avoids.

    python benchmarks/low_rank_scale.py [n ...] [--kernels rbf linear] [--missing none half] [--latents mean consensus]

Three views of 10 columns, rank 100 each, 1,000 labels, fixed parameters. Every case runs in a process of its own, so that
its peak memory is its own; the views, which the caller holds, are part of it. Floor: the feature maps of all samples made
once, and one symmetric product (syrk) of n x 300 features, by the same libraries in the same process. Seconds are those of
the processor over all threads, which another program beside does not lengthen; the clock's stand beside them. BLAS threads:
OMP_NUM_THREADS, one where it is not set.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

SIZES = (20_000, 100_000, 1_000_000)
KERNELS, MISSING, LATENTS = ("rbf", "linear"), ("none", "half"), ("mean", "consensus")
N_VIEWS, N_COLUMNS, RANK, N_LABELS, N_NEW = 3, 10, 100, 1_000, 10_000
BLOCK = 4_096


def seconds(work: Callable[[], object], repeats: int = 1) -> tuple[float, float]:
    """Processor and clock seconds of some work, the least of a few repeats."""
    measured = []
    for _ in range(repeats):
        clock, processor = time.perf_counter(), time.process_time()
        work()
        measured.append((time.process_time() - processor, time.perf_counter() - clock))
    return min(measured)


def peak_gib() -> float:
    """Most memory that this process has held so far, in GiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**30 if sys.platform == "darwin" else peak / 2**20


def problem(n: int, missing: str, seed: int = 0) -> tuple[list[Any], Any, list[Any]]:
    """Views of n samples with a common cause, labels of some of them, and the views of new samples."""
    import numpy as np

    rng = np.random.default_rng(seed)
    cause = rng.standard_normal((n + N_NEW, 3))
    views = []
    for _ in range(N_VIEWS):
        view = np.tanh(cause @ rng.standard_normal((3, N_COLUMNS)))
        view += 0.3 * rng.standard_normal(view.shape)
        views.append(view)
    y = np.full(n, np.nan)
    labeled = rng.choice(n, N_LABELS, replace=False)
    y[labeled] = cause[labeled, 0] > 0.0
    new = [view[n:].copy() for view in views]
    views = [view[:n].copy() for view in views]
    if missing == "half":
        present = rng.random((n, N_VIEWS)) < 0.5
        present[np.arange(n), rng.integers(0, N_VIEWS, n)] = True
        for view, has in zip(views, present.T, strict=True):
            view[~has] = np.nan
    return views, y, new


def floor(views: Sequence[Any], kernel: str, repeats: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Seconds of the feature maps of all samples, and of one syrk over n x 300 numbers."""
    import numpy as np
    from scipy.linalg import blas
    from sklearn.gaussian_process.kernels import RBF

    from coview.kernels import LandmarkFeatures, SpectralFeatures

    held = [view[np.isfinite(view[:, 0])] for view in views]

    def maps() -> None:
        for rows in held:
            if kernel == "linear":
                features: Any = SpectralFeatures("linear", RANK, scale=False).fit(rows)
            else:
                features = LandmarkFeatures(RBF(4.0), RANK, 2 * RANK, scale=False).fit(rows)
            for start in range(0, len(rows), BLOCK):
                features.transform(rows[start : start + BLOCK])

    width = N_VIEWS * (min(N_COLUMNS, RANK) if kernel == "linear" else RANK)
    features = np.random.default_rng(0).standard_normal((min(8 * BLOCK, len(views[0])), width))

    def syrk() -> None:
        total = np.zeros((width, width), order="F")
        for start in range(0, len(views[0]), len(features)):
            part = features[: min(len(features), len(views[0]) - start)]
            blas.dsyrk(1.0, part.T, 1.0, total, lower=1, overwrite_c=1)

    return seconds(maps, repeats), seconds(syrk, repeats)


def measure(n: int, kernel: str, missing: str, latent: str) -> dict[str, Any]:
    """One case, in this process."""
    from sklearn.gaussian_process.kernels import RBF
    from threadpoolctl import threadpool_info

    from coview.gaussian_process import BayesianCoTrainingClassifier

    views, y, new = problem(n, missing)
    repeats = 3 if n <= 50_000 else 1
    before = peak_gib()
    model = BayesianCoTrainingClassifier(
        "linear" if kernel == "linear" else RBF(4.0),
        latent=latent,
        hyperparameters="fixed",
        approximation="low_rank",
        n_components=RANK,
        amplitude=4.0,
    )
    fit = seconds(lambda: model.fit(views, y), repeats)
    predict = seconds(lambda: model.predict_proba(new), repeats)
    peak = peak_gib()
    maps, syrk = floor(views, kernel, repeats)
    threads = {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}
    return {
        "n": n,
        "kernel": kernel,
        "missing": missing,
        "latent": latent,
        "fit_cpu_s": fit[0],
        "fit_s": fit[1],
        "predict_10000_cpu_s": predict[0],
        "predict_10000_s": predict[1],
        "peak_gib": peak,
        "data_gib": before,
        "maps_cpu_s": maps[0],
        "syrk_cpu_s": syrk[0],
        "ratio_to_floor": (fit[0] + predict[0]) / (maps[0] + syrk[0]),
        "ratio_to_syrk": (fit[0] + predict[0]) / syrk[0],
        "blas_threads": max(threads, default=1),
    }


def in_child(n: int, kernel: str, missing: str, latent: str) -> dict[str, Any]:
    """The same in a process of its own."""
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    case = json.dumps([n, kernel, missing, latent])
    command = [sys.executable, os.path.abspath(__file__), "--one-case", case]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def rows(
    sizes: Sequence[int] = SIZES,
    kernels: Sequence[str] = KERNELS,
    missing: Sequence[str] = MISSING,
    latents: Sequence[str] = LATENTS,
) -> Iterator[dict[str, Any]]:
    """One row per case, sizes last; ``exponent`` is the growth of fit and prediction since the size before."""
    import numpy as np

    for latent, kernel, lost in product(latents, kernels, missing):
        previous: dict[str, Any] | None = None
        for n in sorted(sizes):
            row = in_child(n, kernel, lost, latent)
            row["exponent"] = None
            if previous is not None:
                grown = (row["fit_cpu_s"] + row["predict_10000_cpu_s"]) / (
                    previous["fit_cpu_s"] + previous["predict_10000_cpu_s"]
                )
                row["exponent"] = float(np.log(grown) / np.log(n / previous["n"]))
            previous = row
            yield row


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line per case, and all of them as JSON with ``--json FILE``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=KERNELS)
    parser.add_argument("--missing", nargs="+", choices=MISSING, default=MISSING)
    parser.add_argument("--latents", nargs="+", choices=LATENTS, default=LATENTS)
    parser.add_argument("--json", help="also write the rows to this file")
    parser.add_argument("--one-case", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.one_case:
        print(json.dumps(measure(*json.loads(options.one_case))))
        return 0
    print(
        "latent     kernel  missing        n  fit [s]  clock  predict  peak GiB   maps   syrk  /floor  /syrk  exponent"
    )
    found = []
    for row in rows(options.sizes, options.kernels, options.missing, options.latents):
        found.append(row)
        growth = "" if row["exponent"] is None else f"{row['exponent']:.2f}"
        print(
            f"{row['latent']:9}  {row['kernel']:6}  {row['missing']:7}  {row['n']:7d}  {row['fit_cpu_s']:7.2f}  "
            f"{row['fit_s']:5.1f}  {row['predict_10000_cpu_s']:7.2f}  {row['peak_gib']:8.2f}  {row['maps_cpu_s']:5.2f}  "
            f"{row['syrk_cpu_s']:5.2f}  {row['ratio_to_floor']:6.2f}  {row['ratio_to_syrk']:5.1f}  {growth:>8}",
            flush=True,
        )
    print(f"BLAS threads: {found[-1]['blas_threads']}" if found else "nothing asked for")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
