"""Every cross-validation, every draw and every reason, each kept as soon as it is there.

``python experiments/multi_represented/runs.py DIR FILE [REPEATS]`` computes what FILE, of JSON lines, does not have yet.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from multi_represented.clusters import draw_of, reasons_of
from multi_represented.neighbors import repeat_of
from multi_represented.problems import NAMES, Problem, load

__all__ = ["run_all"]

#: What is done, on which data, and the number of the repeat.
Task = tuple[str, str, int]
SETTINGS = ("complete", "incomplete")


def run_all(
    data: Path, repeats: int, seed: int, jobs: int, echo: Callable[[str], None], kept: Path | None = None
) -> list[dict[str, Any]]:
    """Pieces with their ``task``, ``rows`` and ``seconds``; those in the file ``kept`` are not computed again."""
    problems = {name: load(name, data) for name in NAMES}
    pieces = [] if kept is None or not kept.is_file() else list(map(json.loads, kept.read_text("utf-8").splitlines()))
    done = {tuple(piece["task"]) for piece in pieces}
    tasks = [task for task in _tasks(repeats) if task not in done]
    runs = Parallel(n_jobs=jobs, return_as="generator")(delayed(_run)(task, problems[task[1]], seed) for task in tasks)
    for task, (rows, took) in zip(tasks, runs, strict=True):
        echo(f"{task[1]}, {task[0]}, {task[2]}: {took:.0f} s")
        pieces.append({"task": list(task), "seconds": round(took, 1), "rows": rows})
        if kept is not None:
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(pieces[-1]) + "\n")
    return pieces


def _tasks(repeats: int) -> list[Task]:
    """Reasons first, then all data repeat by repeat; all samples are draw 0, and no cross-validation."""
    tasks = [("reasons", name, 0) for name in NAMES] + [("clusters", name, 0) for name in NAMES]
    for repeat in range(repeats):
        for name in NAMES:
            tasks += [(setting, name, repeat) for setting in SETTINGS] + [("clusters", name, repeat + 1)]
    return tasks


def _run(task: Task, problem: Problem, seed: int) -> tuple[list[dict[str, Any]], float]:
    """One piece, and the seconds of processor time it took."""
    start = time.process_time()
    what, _, number = task
    if what == "reasons":
        rows = reasons_of(problem)
    elif what == "clusters":
        rows = draw_of(problem, number, seed)
    else:
        rows = repeat_of(problem, what, number, seed)
    return rows, time.process_time() - start


if __name__ == "__main__":
    run_all(Path(sys.argv[1]), int((sys.argv[3:] or ["20"])[0]), 0, 1, print, Path(sys.argv[2]))
