"""Tables 1 and 2 of "Bayesian Co-Training" on the paper's data, beside what it printed.

Run from a checkout with ``coview reproduce bayesian-co-training --data DIR``; README.md beside this file says what came out.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score

from .methods import PARTS, Answer, Draw
from .problems import DATASETS, Problem, load_problem

__all__ = ["reproduce"]

_PUBLISHED_REPEATS = 20
# Differences from this many standard errors on count.
_CLEAR = 2.0
_NOTE = f"""\
Mean ± standard deviation over the repetitions. Verdict: our mean less the published one in standard errors of their
difference; *reached* within {_CLEAR:g} of them, else *below* or *above*. "Empty rows": how a row without links is read.
"Label AUC" is the area under the curve of the predicted labels, (true positive rate + true negative rate) / 2."""


def reproduce(data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]) -> dict[str, Any]:
    """Run every method on every label draw of both data sets.

    Parameters
    ----------
    data : Path
        Folder of the data sets.
    repeats : int
        Label draws per number of labels; the paper has 20.
    seed : int
        Of the draws.
    jobs : int
        Parts worked on at the same time.
    echo : callable
        Takes lines about the progress.

    Returns
    -------
    result : dict
        ``tables`` (Markdown), ``summary`` (a row per method, number of labels and score, with verdict), ``scores`` (a row per
        method and draw), ``seconds`` (by data set and part).
    """
    problems = [load_problem(name, data) for name in DATASETS]
    scores: list[dict[str, Any]] = []
    seconds: dict[str, float] = {}
    tasks = [(problem, part, reading) for problem in problems for part in PARTS for reading in PARTS[part][1] or ("",)]
    runs = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_run)(problem, part, reading, repeats, seed) for problem, part, reading in tasks
    )
    for (problem, part, reading), (rows, took) in zip(tasks, runs, strict=True):
        name = ", ".join(filter(None, (problem.name, part, reading)))
        echo(f"{name}: {took:.0f} s")
        scores += rows
        seconds[name] = round(took, 1)
    summary = _summary(scores, problems)
    tables = "\n\n".join([_NOTE, *(_tables_of(problem, summary) for problem in problems)])
    return {"tables": tables, "summary": summary.to_dict(orient="records"), "scores": scores, "seconds": seconds}


def _run(problem: Problem, part: str, reading: str, repeats: int, seed: int) -> tuple[list[dict[str, Any]], float]:
    """Scores of one part of the methods, and the seconds it took."""
    start = time.perf_counter()
    draws = [
        Draw(size, repeat, rows)
        for size, choices in problem.draws(repeats, seed).items()
        for repeat, rows in enumerate(choices)
    ]
    method, readings = PARTS[part]
    answers = method(problem, draws, reading) if readings else method(problem, draws)
    return [_scored(answer, problem) for answer in answers], time.perf_counter() - start


def _scored(answer: Answer, problem: Problem) -> dict[str, Any]:
    """Scores on the unlabeled samples; what ties with the threshold is called positive, as the paper must have done."""
    hidden = np.ones(problem.positive.size, dtype=bool)
    hidden[answer.draw.rows] = False
    true, score = problem.positive[hidden], answer.score[hidden]
    called = score >= answer.threshold
    return {
        "data": problem.name,
        "method": answer.method,
        "empty_rows": answer.reading,
        "against": answer.against,
        "labels": _setting(answer.draw.size),
        "repeat": answer.draw.repeat,
        "auc": float(roc_auc_score(true, score)),
        "f1": float(f1_score(true, called, zero_division=0.0)),
        "label_auc": float(balanced_accuracy_score(true, called)),
        "called_positive": float(called.mean()),
    }


def _setting(size: tuple[int, int]) -> str:
    return f"+{size[0]}/-{size[1]}"


def _summary(scores: Sequence[dict[str, Any]], problems: Sequence[Problem]) -> pd.DataFrame:
    """Mean and deviation of every score beside the published ones, with a verdict on each."""
    frame = pd.DataFrame(scores)
    keys = ["data", "method", "empty_rows", "against", "labels"]
    long = frame.melt(id_vars=keys, value_vars=["auc", "f1", "label_auc", "called_positive"], var_name="metric")
    summary = long.groupby([*keys, "metric"], sort=False)["value"].agg(mean="mean", sd="std", n="count").reset_index()
    printed = pd.concat([problem.published.assign(data=problem.name) for problem in problems])
    printed["labels"] = printed["setting"].str.removeprefix("labels ")
    printed = printed.rename(columns={"method": "against", "value": "published", "sd": "published_sd"})
    summary = summary.merge(
        printed[["data", "against", "labels", "metric", "published", "published_sd"]],
        how="left",
        on=["data", "against", "labels", "metric"],
    )
    error = np.sqrt(summary["sd"] ** 2 / summary["n"] + summary["published_sd"] ** 2 / _PUBLISHED_REPEATS)
    summary["standard_errors"] = (summary["mean"] - summary["published"]) / error
    summary["verdict"] = summary["standard_errors"].map(verdict)
    return summary


def verdict(standard_errors: float) -> str:
    """A word for the distance from a published mean; empty where there is none, or no deviation to measure it by."""
    if np.isnan(standard_errors):
        return ""
    if abs(standard_errors) <= _CLEAR:
        return "reached"
    return "above" if standard_errors > 0 else "below"


def _tables_of(problem: Problem, summary: pd.DataFrame) -> str:
    """One Markdown table per number of labels."""
    heads = ["method", "empty rows", "AUC", "published", "verdict", "F1", "published", "verdict", "label AUC"]
    parts = [f"## {problem.title}"]
    for size in problem.sizes:
        chosen = summary[(summary["data"] == problem.name) & (summary["labels"] == _setting(size))]
        lines = [" | ".join(heads), " | ".join("---" for _ in heads)]
        for (method, reading), rows in chosen.groupby(["method", "empty_rows"], sort=False):
            cells = rows.set_index("metric")
            lines.append(" | ".join([str(method), str(reading), *_cells(cells, "auc"), *_cells(cells, "f1")]))
            lines[-1] += f" | {_number(cells.loc['label_auc'])}"
        parts.append(f"### {_setting(size)}\n\n" + "\n".join(f"| {line} |" for line in lines))
    return "\n\n".join(parts)


def _cells(rows: pd.DataFrame, metric: str) -> list[str]:
    row = rows.loc[metric]
    published = f"{row['published']:.3f} ± {row['published_sd']:.3f}"
    judged = f"{row['verdict']} ({row['standard_errors']:+.1f})" if row["verdict"] else ""
    return [_number(row), published, judged]


def _number(row: pd.Series) -> str:
    return f"{row['mean']:.3f}" if np.isnan(row["sd"]) else f"{row['mean']:.3f} ± {row['sd']:.3f}"
