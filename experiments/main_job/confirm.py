"""The default against the usual methods on every data set, the same label draws for all.

    python experiments/main_job/confirm.py --data DIR                   # everything, about an hour on one core
    python experiments/main_job/confirm.py --data DIR --methods baselines
    python experiments/main_job/confirm.py --data DIR --methods default --again
    python experiments/main_job/confirm.py --tables                     # tables from the scores that are there

Scores lie in results/scores, one CSV per data set; what is there is not fitted again, unless ``--again`` says so.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from confirm_tables import write_tables
from data_sets import Problem, all_problems
from rivals import DEFAULT, PRINTED, our_methods, simple_baselines
from threadpoolctl import threadpool_limits

from coview.metrics import probability_scores
from coview.model_selection import label_draws, resume_comparison

RESULTS = Path(__file__).parent / "results"


def run_problem(problem: Problem, options: argparse.Namespace) -> None:
    """Fit the chosen methods on every draw of one data set."""
    samples = problem.read(options.data)
    draws = [
        draw
        for n_labeled in problem.counts
        for draw in label_draws(samples.labels, n_labeled, n_draws=options.repeats, random_state=0)
    ]
    with TemporaryDirectory() as memory:
        ours = our_methods()
        groups = {
            "default": {DEFAULT: ours[DEFAULT]},
            "printed": {PRINTED: ours[PRINTED]},
            "baselines": simple_baselines(samples.views, extra=problem.extra, memory=memory),
        }
        methods = {name: method for group in options.methods for name, method in groups[group].items()}
        resume_comparison(
            options.output / "scores" / f"{problem.name}.csv",
            methods,
            samples.views,
            samples.labels,
            draws,
            scorer=probability_scores,
            on_error="record",
            again=tuple(methods) if options.again else (),
        )


def main() -> int:
    """Run the comparison, or make its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with a folder per data set (see coview.datasets.fetch)")
    parser.add_argument("--methods", nargs="+", choices=["default", "printed", "baselines"],
                        default=["baselines", "printed", "default"])  # fmt: skip
    parser.add_argument("--only", nargs="+", help="names of data sets; all if not given")
    parser.add_argument("--repeats", type=int, default=20, help="draws per number of labels")
    parser.add_argument("--again", action="store_true", help="fit the chosen methods again")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of scores and tables")
    parser.add_argument("--tables", action="store_true", help="write the tables of what is there, fit nothing")
    options = parser.parse_args()
    problems = all_problems()
    if options.only and (unknown := set(options.only) - {problem.name for problem in problems}):
        parser.error(f"no data set {', '.join(sorted(unknown))}; there are {', '.join(p.name for p in problems)}")
    if not options.tables:
        if options.data is None:
            parser.error("--data is needed to fit anything")
        (options.output / "scores").mkdir(parents=True, exist_ok=True)
        with threadpool_limits(limits=1):
            for problem in [p for p in problems if not options.only or p.name in options.only]:
                start = time.perf_counter()
                run_problem(problem, options)
                print(f"{problem.name}: {time.perf_counter() - start:.0f} s", flush=True)
    write_tables(problems, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
