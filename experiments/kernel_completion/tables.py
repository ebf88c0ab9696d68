"""Kernel matrices completed in seven ways: the classifiers trained on them, and their distance to the true kernel.

Run from a checkout with ``coview reproduce kernel-completion --data DIR``; README.md beside this file says what came out.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from .completion import CONDITIONAL, EXPECTED, METHODS, TRUE, UNCONDITIONAL, Completion
from .diagnosis import diagnose, diagnosis_table
from .machine import decision_values
from .problems import Problem, load_problems
from .synthetic import distance, synthetic_distances, synthetic_summary, synthetic_table

__all__ = ["reproduce"]

# Differences from this many standard errors on count.
_CLEAR = 2.0
_NOTE = f"""\
Mean over the trials; in brackets what the expected kernel gains over the method (a positive difference is in its favor: more
AUC, less distance), ± the standard error of the paired differences, and the verdict: *wins* or *loses* from {_CLEAR:g} of
them on, else *even*. The trials share one data set: the standard errors speak of other partitions and gaps, not of other data."""

# Table 2 of the paper: sensors whose data are not public.
PUBLISHED = {
    "as area A, 32 % missing": {EXPECTED: 0.6865, CONDITIONAL: 0.5604, UNCONDITIONAL: 0.6305},
    "as area B, 17 % missing": {EXPECTED: 0.6579, CONDITIONAL: 0.5355, UNCONDITIONAL: 0.6171},
}


def reproduce(data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]) -> dict[str, Any]:
    """Run every method on the same trials of every data set, and on random mixtures.

    Parameters
    ----------
    data : Path
        Folder of the data sets.
    repeats : int
        Trials per data set and way of missing: rows, training rows and gaps are drawn anew.
    seed : int
        Of the trials.
    jobs : int
        Parts worked on at the same time.
    echo : callable
        Takes lines about the progress.

    Returns
    -------
    result : dict
        ``tables`` (Markdown), ``summary`` (a row per data set, setting, method and metric), ``scores`` (a row per trial and
        method), ``synthetic`` (a row per mixture, method and share), ``diagnosis``, ``seconds`` (by data set and setting).
    """
    problems = load_problems(data)
    tasks = [(problem, setting) for problem in problems for setting in problem.settings]
    scores: list[dict[str, Any]] = []
    seconds: dict[str, float] = {}
    with threadpool_limits(1):  # many small matrices: more threads than one only wait for each other
        runs = Parallel(n_jobs=jobs, return_as="generator")(
            delayed(_run)(problem, setting, repeats, seed) for problem, setting in tasks
        )
        for (problem, setting), (rows, took) in zip(tasks, runs, strict=True):
            name = f"{problem.name}, {setting}"
            echo(f"{name}: {took:.0f} s")
            scores += rows
            seconds[name] = round(took, 1)
        synthetic = synthetic_summary(synthetic_distances(seed, echo))
        diagnosis = diagnose(problems, repeats, seed, echo)
    return {**_results(problems, scores, synthetic, diagnosis), "seconds": seconds}


def _results(
    problems: list[Problem], scores: list[dict[str, Any]], synthetic: pd.DataFrame, diagnosis: list[dict[str, Any]]
) -> dict[str, Any]:
    """Tables and rows of what was computed."""
    summary = _summary(scores)
    tables = [
        _NOTE,
        *(_tables_of(problem, summary) for problem in problems),
        _published_table(summary),
        synthetic_table(synthetic),
        diagnosis_table(diagnosis),
    ]
    return {
        "tables": "\n\n".join(tables),
        "summary": summary.to_dict(orient="records"),
        "scores": scores,
        "synthetic": synthetic.to_dict(orient="records"),
        "diagnosis": diagnosis,
    }


def _run(problem: Problem, setting: str, repeats: int, seed: int) -> tuple[list[dict[str, Any]], float]:
    """Scores of all methods in every trial of one setting, and the seconds it took."""
    start = time.perf_counter()
    rows = [row for repeat in range(repeats) for row in _trial(problem, setting, repeat, seed)]
    return rows, time.perf_counter() - start


def _trial(problem: Problem, setting: str, repeat: int, seed: int) -> list[dict[str, Any]]:
    """Scores of all methods in one trial."""
    trial = problem.trial(setting, repeat, seed)
    completion = Completion(trial.table, trial.complete, problem.mixture, repeat)
    truth = None if trial.complete is None else completion.truth()
    matrices = dict(completion.matrices())
    if truth is not None:
        matrices[TRUE] = truth
    test = np.setdiff1d(np.arange(len(trial.table)), trial.train)
    rows = []
    for name, matrix in matrices.items():
        values, ridge = decision_values(matrix, trial.train, trial.positive, repeat)
        rows.append(
            {
                "data": problem.name,
                "setting": setting,
                "repeat": repeat,
                "method": name,
                "auc": float(roc_auc_score(trial.positive[test], values[test])),
                "distance": np.nan if truth is None or name == TRUE else distance(matrix, truth),
                "ridge": ridge,
                "components": len(completion.mixture.weights_),
            }
        )
    return rows


def _summary(scores: list[dict[str, Any]]) -> pd.DataFrame:
    """Mean of every method, and what the expected kernel gains over it in the same trials."""
    long = pd.DataFrame(scores).melt(
        id_vars=["data", "setting", "method", "repeat"], value_vars=["auc", "distance"], var_name="metric"
    )
    long = long.dropna(subset=["value"])
    keys = ["data", "setting", "metric"]
    own = long[long["method"] == EXPECTED].set_index([*keys, "repeat"])["value"]
    gain = own.reindex(pd.MultiIndex.from_frame(long[[*keys, "repeat"]])).to_numpy() - long["value"].to_numpy()
    long["gain"] = np.where(long["metric"] == "auc", gain, -gain)
    groups = long.groupby([*keys, "method"], sort=False)
    summary = groups.agg(mean=("value", "mean"), sd=("value", "std"), n=("value", "size"), gain=("gain", "mean"))
    summary["gain_error"] = groups["gain"].sem()
    summary = summary.reset_index()
    same = summary["method"] == EXPECTED
    summary.loc[same, ["gain", "gain_error"]] = np.nan
    summary["verdict"] = [_verdict(row.gain, row.gain_error) for row in summary.itertuples()]
    return summary


def _verdict(gain: float, error: float) -> str:
    """A word for a paired difference; empty where there is none, or no deviation to measure it by."""
    if np.isnan(gain) or np.isnan(error):
        return ""
    if abs(gain) <= _CLEAR * error:
        return "even"
    return "wins" if gain > 0 else "loses"


def _tables_of(problem: Problem, summary: pd.DataFrame) -> str:
    """A table of AUC and, where the truth is known, one of distances."""
    parts = [f"## {problem.title}"]
    of_data = summary[summary["data"] == problem.name]
    for metric, name in (("auc", "AUC"), ("distance", "Relative Frobenius distance to the true kernel")):
        chosen = of_data[(of_data["metric"] == metric)].set_index(["setting", "method"])
        if chosen.empty:
            continue
        methods = [method for method in (*METHODS, TRUE) if method in chosen.index.unique("method")]
        lines = [" | ".join(["", *problem.settings]), " | ".join("---" for _ in range(len(problem.settings) + 1))]
        lines += [
            " | ".join([method, *(_cell(chosen.loc[(setting, method)]) for setting in problem.settings)])
            for method in methods
        ]
        parts += [f"**{name}**", "\n".join(f"| {line} |" for line in lines)]
    return "\n\n".join(parts)


def _cell(row: pd.Series) -> str:
    """A mean with what the expected kernel gains over it."""
    if np.isnan(row["gain"]):
        return f"{row['mean']:.3f}"
    if np.isnan(row["gain_error"]):
        return f"{row['mean']:.3f} ({row['gain']:+.3f})"
    return f"{row['mean']:.3f} ({row['gain']:+.3f} ± {row['gain_error']:.3f}, {row['verdict']})"


def _published_table(summary: pd.DataFrame) -> str:
    """Table 2 of the paper beside the land mines here: levels cannot agree, orders could."""
    heads = ["gaps", "compared with", "AUC gained here", "gained in the paper", "verdict"]
    lines = [" | ".join(heads), " | ".join("---" for _ in heads)]
    chosen = summary[(summary["data"] == "landmine") & (summary["metric"] == "auc")].set_index(["setting", "method"])
    for setting, printed in PUBLISHED.items():
        for method in (CONDITIONAL, UNCONDITIONAL):
            row = chosen.loc[(setting, method)]
            word = {"wins": "same order", "loses": "opposite order", "even": "no clear difference"}.get(
                row["verdict"], ""
            )
            error = "" if np.isnan(row["gain_error"]) else f" ± {row['gain_error']:.3f}"
            gains = (f"{row['gain']:+.3f}{error}", f"{printed[EXPECTED] - printed[method]:+.3f}")
            lines.append(" | ".join([setting, method, *gains, word]))
    note = (
        "Other data: the paper has two sensors (EOIR, SAR) of nine features over two areas, 100 trials, and printed 0.687, "
        "0.560, 0.631 (A) and 0.658, 0.536, 0.617 (B) for its kernel, conditional and unconditional mean."
    )
    return "\n\n".join(["## Table 2 of the paper", note, "\n".join(f"| {line} |" for line in lines)])
