"""All benchmarks, or some, in one run: tables on the screen, and in files with ``--output``.

    python benchmarks/run.py [NAME ...] [--n N ...] [--repeats R] [--full] [--output FILE ...]

Without NAME: fixed_fit, evidence, prediction and averaging; low_rank_scale, which is long, and those of the mixtures
(gaussian_mixture, factor_mixture, co_em, expected_kernel), acquisition, logistic, campaign, co_regularized, laplacian,
agreement, posterior_consistency, clustering, clustering_scale, neighbors and view_ensemble run when they are named. Without
sizes each takes its smallest, in about two minutes in all, with ``--full`` all of its own. ``--output`` writes .json, .csv or
.md by the ending of the name, anew after each benchmark.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import agreement
import averaging
import campaign
import clustering
import clustering_scale
import co_em
import co_regularized
import evidence
import expected_kernel
import factor_mixture
import fixed_fit
import gaussian_mixture
import laplacian
import logistic
import low_rank_scale
import posterior_consistency
import prediction
import timing
import view_ensemble

import acquisition
import neighbors

USUAL = {"fixed_fit": fixed_fit, "evidence": evidence, "prediction": prediction, "averaging": averaging}
MIXTURES = {
    "gaussian_mixture": gaussian_mixture,
    "factor_mixture": factor_mixture,
    "co_em": co_em,
    "expected_kernel": expected_kernel,
}
MEASURING = {"acquisition": acquisition, "logistic": logistic, "campaign": campaign}
AGREEING = {"co_regularized": co_regularized, "laplacian": laplacian, "agreement": agreement}
GROUPING = {
    "clustering": clustering,
    "clustering_scale": clustering_scale,
    "neighbors": neighbors,
    "view_ensemble": view_ensemble,
}
POSTERIORS = {"posterior_consistency": posterior_consistency}
BENCHMARKS = {**USUAL, "low_rank_scale": low_rank_scale, **MIXTURES, **MEASURING, **AGREEING, **POSTERIORS, **GROUPING}


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """What to run."""
    parser = argparse.ArgumentParser(description="Measure coview beside LAPACK and scikit-learn.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--n", nargs="+", type=int, help="numbers of samples")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--full", action="store_true", help="every size of every benchmark")
    parser.add_argument("--output", nargs="+", type=Path, default=[], help=".json, .csv or .md files")
    chosen = parser.parse_args(argv)
    if unknown := [name for name in chosen.names if name not in BENCHMARKS]:
        parser.error(f"there is no {', '.join(unknown)}; the benchmarks are {', '.join(BENCHMARKS)}")
    return chosen


def main(argv: Sequence[str] | None = None) -> int:
    """Run them one after the other."""
    chosen = parsed(argv)
    about = timing.environment()
    print("\n".join(f"{key}: {value}" for key, value in about.items()), flush=True)
    tables: dict[str, list[timing.Row]] = {}
    for name in chosen.names or USUAL:
        sizes = chosen.n or (BENCHMARKS[name].SIZES if chosen.full else BENCHMARKS[name].SIZES[:1])
        print(f"\n{name}", flush=True)
        tables[name] = list(BENCHMARKS[name].measure(sizes, chosen.repeats))
        print("\n".join(timing.text_table(tables[name])), flush=True)
        for path in chosen.output:
            timing.write(path, about, tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
