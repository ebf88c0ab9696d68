"""Active acquisition of labels and of features with two sensors, each query chosen on what the last one told.

Run from a checkout with ``coview reproduce active-features-and-labels --data DIR``; README.md here says what came out.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from .claims import claims_table
from .problems import Problem, load_problems
from .runs import PARTS, run

__all__ = ["reproduce"]

TRIALS = 100
_NOTE = f"""\
Each repetition has its own objects, gaps and labels at the start. AUC after all queries, mean over the repetitions; beside
it the mean of {TRIALS} random trials from the same starts and their standard deviation within a start (the band of the paper),
the mean percentile of the rule among them, and what it gains over their mean, ± the standard error over the repetitions.
*wins* or *loses*: more than two standard errors; else *even*. *Remaining*: the objects without a label, as in the paper (whom
labels are asked for leaves this set, so rules differ in what is left to them). *New*: 300 objects that cannot be asked about."""


def reproduce(data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]) -> dict[str, Any]:
    """Run every part on both data sets.

    Parameters
    ----------
    data : Path
        Folder of the data sets.
    repeats : int
        Starts per data set: objects, gaps and first labels are drawn anew.
    seed : int
        Of the starts and of the random trials.
    jobs : int
        Parts worked on at the same time.
    echo : callable
        Takes lines about the progress.

    Returns
    -------
    result : dict
        ``tables`` (Markdown), ``summary`` (a row per data set, part, rule and measure), ``scores`` (a row per repetition, too),
        ``found`` (positives by number of labels), ``roc`` (mean curves), ``seconds`` (by data set and part).
    """
    problems = load_problems(data)
    tasks = [(problem, part, repeat) for problem in problems for part in PARTS for repeat in range(repeats)]
    scores: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    roc: list[dict[str, Any]] = []
    seconds: dict[str, float] = {}
    with threadpool_limits(1):
        done = Parallel(n_jobs=jobs, return_as="generator")(delayed(_timed)(*task, seed) for task in tasks)
        for (problem, part, repeat), (rows, took) in zip(tasks, done, strict=True):
            scores += rows["scores"]
            found += rows["found"]
            roc += rows["roc"]
            name = f"{problem.name}, {part}"
            seconds[name] = seconds.get(name, 0.0) + took
            if repeat == repeats - 1:
                echo(f"{name}: {seconds[name]:.0f} s")
    summary = _summary(pd.DataFrame(scores))
    tables = [
        _NOTE,
        *(_table(problem, summary) for problem in problems),
        _found_table(found),
        claims_table(summary, _mean_found(found)),
    ]
    return {
        "tables": "\n\n".join(tables),
        "summary": summary.to_dict(orient="records"),
        "scores": scores,
        "found": _mean_found(found),
        "roc": _mean_roc(roc),
        "seconds": {name: round(took, 1) for name, took in seconds.items()},
    }


def _timed(problem: Problem, part: str, repeat: int, seed: int) -> tuple[dict[str, list[dict[str, Any]]], float]:
    start = time.perf_counter()
    return run(problem, part, repeat, seed, TRIALS), time.perf_counter() - start


def _summary(scores: pd.DataFrame) -> pd.DataFrame:
    """Means over the repetitions, and the gain over random trials with its standard error."""
    scores = scores.assign(gain=scores["auc"] - scores["random"])
    groups = scores.groupby(["data", "part", "rule", "measure"], sort=False)
    columns = ["start", "auc", "random", "random_sd", "percentile", "gain"]
    summary = groups[[*columns, "queries", "labels_asked", "of_labeled", "positives"]].mean()
    summary["gain_error"], summary["n"] = groups["gain"].sem(), groups.size()
    summary = summary.reset_index()
    summary["verdict"] = [_verdict(row.gain, row.gain_error) for row in summary.itertuples()]
    return summary


def _verdict(gain: float, error: float) -> str:
    """A word for a paired difference; empty where there is no deviation to measure it by."""
    if np.isnan(error):
        return ""
    return "even" if abs(gain) <= 2.0 * error else "wins" if gain > 0.0 else "loses"


def _table(problem: Problem, summary: pd.DataFrame) -> str:
    """A row per part, rule and measure."""
    heads = ["queries", "rule", "on", "start", "after", "random", "percentile", "gain", ""]
    lines = [heads, ["---"] * len(heads)]
    for row in summary[summary["data"] == problem.name].itertuples():
        chance = f"{row.random:.3f} ± {row.random_sd:.3f}"
        error = "" if np.isnan(row.gain_error) else f" ± {row.gain_error:.3f}"
        figures = [f"{row.start:.3f}", f"{row.auc:.3f}", chance, f"{row.percentile:.0f}", f"{row.gain:+.3f}{error}"]
        lines.append([PARTS[row.part].title, row.rule, row.measure, *figures, row.verdict])
    return f"## {problem.title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _found_table(found: list[dict[str, Any]]) -> str:
    """Positives among the objects whose label was asked for."""
    heads = ["data", "rule", *(f"{k} labels" for k in (10, 25, 50, 100))]
    lines = [heads, ["---"] * len(heads)]
    for row in _mean_found(found):
        counts = row["found"]
        lines.append([row["data"], row["rule"], *(f"{counts[min(k, len(counts)) - 1]:.1f}" for k in (10, 25, 50, 100))])
    return "## Positives found while asking for labels\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _mean_found(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row per data set and rule."""
    groups: dict[tuple[str, str], list[list[float]]] = {}
    for row in found:
        groups.setdefault((row["data"], row["rule"]), []).append(row["found"])
    return [
        {"data": data, "rule": rule, "found": np.mean(curves, axis=0).round(3).tolist()}
        for (data, rule), curves in groups.items()
    ]


def _mean_roc(roc: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row per data set, part and rule; ``sd`` is the mean over the starts of the deviation within one."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in roc:
        groups.setdefault((row["data"], row["part"], row["rule"]), []).append(row)
    return [
        {"data": data, "part": part, "rule": rule}
        | {key: np.mean([row[key] for row in rows], axis=0).round(4).tolist() for key in ("tpr", "sd")}
        for (data, part, rule), rows in groups.items()
    ]
