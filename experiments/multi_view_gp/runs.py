"""Every method on every data set and split, with the results of a split kept as soon as they are there.

``python experiments/multi_view_gp/runs.py DIR FILE`` computes what FILE, of JSON lines, does not have yet.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import train_test_split

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from multi_view_gp.methods import PARTS
from multi_view_gp.problems import Problem, load_problems

__all__ = ["REPEATS", "run_all"]

REPEATS, TRAINED = 5, 0.6


def run_all(
    problems: Sequence[Problem],
    repeats: int,
    seed: int,
    jobs: int,
    echo: Callable[[str], None],
    kept: Path | None = None,
) -> list[dict[str, Any]]:
    """Rows of data set, repeat, part, method and accuracy; parts in the file ``kept`` are not computed again."""
    rows = _read(kept)
    done = {(row["part"], row["data"], row["repeat"]) for row in rows}
    every = product(PARTS, range(repeats), problems)
    tasks = [task for task in every if (task[0], task[2].name, task[1]) not in done]
    runs = Parallel(n_jobs=jobs, return_as="generator")(delayed(_run)(*task, seed) for task in tasks)
    for (part, repeat, problem), (found, took) in zip(tasks, runs, strict=True):
        echo(f"{problem.name}, {part}, split {repeat + 1} of {repeats}: {took:.0f} s")
        rows += found
        if kept is not None:
            with kept.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in found)
    return rows


def _read(kept: Path | None) -> list[dict[str, Any]]:
    if kept is None or not kept.is_file():
        return []
    return [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]


def _run(part: str, repeat: int, problem: Problem, seed: int) -> tuple[list[dict[str, Any]], float]:
    """One part on one split, the same for all parts, and the seconds of processor time it took."""
    start = time.process_time()
    number = 1000 * seed + repeat
    train, test = train_test_split(np.arange(len(problem.labels)), train_size=TRAINED, random_state=number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of searches cut short, of views emptied
        rows = list(PARTS[part](problem, train, test, number))
    return [{"data": problem.name, "repeat": repeat, "part": part, **row} for row in rows], time.process_time() - start


if __name__ == "__main__":
    run_all(load_problems(Path(sys.argv[1])), REPEATS, 0, 1, print, Path(sys.argv[2]))
