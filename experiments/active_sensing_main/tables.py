"""Active sensing with the default model, against random choice, with what an earlier study of the same data found beside it.

Part of ``coview reproduce active-sensing``; README.md beside this file says what came out.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from coview.acquisition import Simulation

from .problems import PROBLEMS
from .runs import ENTROPY, INFORMATION, PER_COST, RANDOM, VARIANCE, run

__all__ = ["REFERENCE", "assemble", "reproduce"]

_LEVEL = 0.05
#: Gains over random of the prototype (AUC, its error, log loss, its error), 20 seeds, a smaller grid of settings.
REFERENCE = {
    ("Cleveland, 30 labels", ENTROPY): (0.008, 0.003, -0.030, 0.005),
    ("Cleveland, 30 labels", INFORMATION): (-0.005, 0.004, 0.007, 0.005),
    ("Cleveland, 30 labels", VARIANCE): (-0.001, 0.003, 0.005, 0.004),
    ("Cleveland, 100 labels", ENTROPY): (0.007, 0.003, -0.013, 0.005),
    ("Cleveland, 100 labels", INFORMATION): (0.004, 0.002, -0.004, 0.003),
    ("Cleveland, 100 labels", VARIANCE): (0.002, 0.002, -0.002, 0.003),
    ("mfeat, 30 labels", ENTROPY): (0.032, 0.006, -0.030, 0.004),
    ("mfeat, 30 labels", INFORMATION): (-0.004, 0.004, 0.005, 0.002),
    ("mfeat, 30 labels", VARIANCE): (-0.003, 0.004, 0.005, 0.002),
}
_NOTE = f"""\
Samples without label, AUC and log loss (nats). Half of all pairs of sample and view are hidden at the start; rounds of 20
(40) pairs, one pair of a sample in a round, the model fitted anew after each. *Few candidates*: twice the pairs of a
round are scored, half of them of labeled samples. *Gain*: criterion minus random, averaged over
the curve, paired by repeat, ± standard error; *better*, *worse* by a two-sided paired t test at {_LEVEL:g}, else *even*."""


def reproduce(
    data: Path,
    *,
    repeats: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    echo: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Run all problems.

    Parameters
    ----------
    data : Path
        Folder of the data, with ``mfeat`` in it.
    repeats : int, default=None
        None: 20.
    seed : int, default=0
    jobs : int, default=None
    echo : callable, default=print
        What is told meanwhile.

    Returns
    -------
    results : dict
        ``tables`` (Markdown), ``summary`` (gains), ``scores`` (curves) and ``everything`` (nothing hidden), lists of rows.
    """
    repeats = 20 if repeats is None else repeats
    with threadpool_limits(1):  # many small matrices: more threads than one only wait for each other
        tasks = [(problem, repeat) for problem in PROBLEMS for repeat in range(repeats)]
        runs = Parallel(n_jobs=jobs, return_as="generator")(
            delayed(run)(problem, data, repeat, seed) for problem, repeat in tasks
        )
        found = []
        for (problem, repeat), one in zip(tasks, runs, strict=True):
            echo(f"{problem.title}: repeat {repeat + 1} of {repeats}")
            found.append(one)
    return assemble(pd.concat([curves for curves, _ in found]), pd.concat([full for _, full in found]))


def assemble(curves: pd.DataFrame, everything: pd.DataFrame) -> dict[str, Any]:
    """Tables and rows of what was computed.

    Parameters
    ----------
    curves, everything : DataFrame
        Of `runs.run`, all problems and repeats.
    """
    gains, levels = [], []
    for problem, part in curves.groupby("problem", sort=False):
        simulation = Simulation(part.drop(columns="problem"))
        gains.append(simulation.against(RANDOM).assign(problem=problem, along="number"))
        if PER_COST in set(part["criterion"]):
            gains.append(simulation.against(RANDOM, along="cost").assign(problem=problem, along="money"))
        levels.append(_levels(str(problem), simulation, everything[everything["problem"] == problem]))
    summary = pd.concat(gains, ignore_index=True)
    tables = "\n\n".join([_NOTE, _gain_table(summary), "Start, end of the curves, and with nothing hidden:", *levels])
    return {
        "tables": tables,
        "summary": summary.to_dict(orient="records"),
        "scores": curves.to_dict(orient="records"),
        "everything": everything.to_dict(orient="records"),
    }


def _gain_table(summary: pd.DataFrame) -> str:
    heads = "| data | along | criterion | AUC | earlier | log loss | earlier | ahead from |\n|---|---|---|---|---|---|---|---|"
    lines = [heads]
    for (problem, along, criterion), part in summary.groupby(["problem", "along", "criterion"], sort=False):
        auc, score = (part[part["score"] == name].iloc[0] for name in ("auc", "log_score"))
        earlier = REFERENCE.get((problem, criterion)) if along == "number" else None
        first = score["first_significant_step"]
        cells = [
            _gain(auc, 1.0),
            "" if earlier is None else f"{earlier[0]:+.3f} ± {earlier[1]:.3f}",
            _gain(score, -1.0),
            "" if earlier is None else f"{earlier[2]:+.3f} ± {earlier[3]:.3f}",
            "never" if pd.isna(first) else f"{first:.0f}",
        ]
        lines.append(f"| {problem} | {along} | {criterion} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _gain(row: pd.Series, sign: float) -> str:
    """A gain with its error and verdict; ``sign`` turns log scores into losses."""
    if pd.isna(row["p"]):
        return f"{sign * row['gain']:+.3f}"
    word = "even" if row["p"] >= _LEVEL else "better" if row["gain"] > 0 else "worse"
    return f"{sign * row['gain']:+.3f} ± {row['standard_error']:.3f} {word}"


def _levels(problem: str, simulation: Simulation, everything: pd.DataFrame) -> str:
    lines = [f"| {problem} | AUC, start | AUC, end | log loss, start | log loss, end |\n|---|---|---|---|---|"]
    tables = {name: simulation.summary(name) for name in ("auc", "log_score")}
    for criterion in simulation.curves["criterion"].unique():
        cells = []
        for name, sign in (("auc", 1.0), ("log_score", -1.0)):
            curve = tables[name][tables[name]["criterion"] == criterion].sort_values("n_measured")["mean"].to_numpy()
            cells += [f"{sign * curve[0]:.3f}", f"{sign * curve[-1]:.3f}"]
        lines.append(f"| {criterion} | " + " | ".join(cells) + " |")
    full = everything[["auc", "log_score"]].mean()
    lines.append(f"| nothing hidden | | {full['auc']:.3f} | | {-full['log_score']:.3f} |")
    return "\n".join(lines)
