"""The experiments of the two papers on active sensing, with a verdict on what they say.

Run from a checkout with ``coview reproduce active-sensing --data DIR``; README.md beside this file says what came out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from active_sensing_main.tables import reproduce as reproduce_main
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from .claims import claims_table
from .layout import error_text, gain_text, markdown, when_text
from .problems import TOYS, Problem, load_problems
from .runs import (
    BASELINES,
    BOUND_POINT,
    ENTROPY,
    INFORMATION,
    PAPERS,
    PER_COST,
    POINT,
    RANDOM,
    RANDOM_PATHS,
    UNLABELED,
    VARIANCE,
    Setting,
    baselines,
    curves,
)
from .summaries import LASTING, LEVEL, at_each_step, gains

__all__ = ["SENSITIVITY", "Task", "assemble", "reproduce", "tasks"]

Task = tuple[Problem, Setting, tuple[str, ...]]

_MAIN = (RANDOM, VARIANCE, INFORMATION, ENTROPY)
_WITH_BOUND = (RANDOM, VARIANCE, INFORMATION, BOUND_POINT, ENTROPY)
_TOY = (RANDOM, VARIANCE, INFORMATION, POINT, BOUND_POINT, ENTROPY)
#: Other choices for one of the studies; the papers say that the comparison is not sensitive to them.
SENSITIVITY = (
    Setting("views less alike (variance 1)", ratio=1.0),
    Setting("amplitude 100", amplitude=100.0),
    Setting("mixture without classes", labels=False),
    Setting("mean of views, amplitude 10, variance 10", latent="mean", amplitude=10.0, ratio=1.0),
)
#: Acquisitions of these.
_SHORT = 30
_SENSITIVE = {"heart, 78 patients": SENSITIVITY, "nsclc": SENSITIVITY[-1:]}

_NOTE = f"""\
AUC on the unlabeled samples, mean over the runs. *Gain*: mean over the curve of the paired difference from random, ±
its standard error (random: the mean of {RANDOM_PATHS} orders in each run); *ahead* or *behind* where a paired two-sided
t test over the runs says so at {LEVEL:g}, else *even*. Gains of the log score are of the mean log probability of the
true class, in nats (more is better). *First*: the acquisition after which a criterion is significantly ahead of random
for the first time; *lasting*: from which on it is for {LASTING} in a row; *ahead/behind*: the shares of acquisitions
after which it significantly is. Nothing is corrected for the number of tests."""


def tasks(data: Path) -> list[Task]:
    """What is run: study, setting, criteria."""
    problems = {problem.name: problem for problem in load_problems(data)}
    criteria = {
        "nsclc": (*_WITH_BOUND, UNLABELED),
        "nsclc, radiomics": _MAIN,
        "ncctg": _WITH_BOUND,
        "heart, 78 patients": _WITH_BOUND,
        "breast": (*_MAIN, PER_COST),
    }
    papers: list[Task] = [(toy, PAPERS, _TOY) for toy in TOYS]
    papers += [(problems[name], PAPERS, chosen) for name, chosen in criteria.items()]
    others: list[Task] = [
        (replace(problems[name], n_steps=_SHORT), setting, _MAIN)
        for name, settings in _SENSITIVE.items()
        for setting in settings
    ]
    return papers + others


def reproduce(data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]) -> dict[str, Any]:
    """Acquire hidden views one after the other by every criterion, from the same starts.

    Parameters
    ----------
    data : Path
        Folder of the data sets.
    repeats : int
        Runs of every study; the papers have 20. Of the toy three times as many.
    seed : int
        Of samples, labels, hidden views and random choices.
    jobs : int
        Runs worked on at the same time.
    echo : callable
        Takes lines about the progress.

    Returns
    -------
    result : dict
        ``tables`` (Markdown), ``summary`` (a row per study, setting, criterion and acquisition), ``scores`` (a row per run and
        criterion), ``gains`` (a row per criterion and score), ``baselines`` (a row per run), ``seconds`` (by study and setting).
    """
    tables, levels, seconds = [], [], {}
    with threadpool_limits(1):
        for task in tasks(data):
            started = time.perf_counter()
            found, around = run_task(task, repeats, seed, jobs)
            tables.append(found)
            levels.append(around)
            name = f"{task[0].name}, {task[1].name}"
            seconds[name] = round(time.perf_counter() - started, 1)
            echo(f"{name}: {seconds[name]:.0f} s")
    result = assemble(tasks(data), pd.concat(tables), pd.concat(levels))
    main = main_part(data, repeats=repeats, seed=seed, jobs=jobs, echo=echo)
    if main:
        result["tables"] += f"\n\n{main['tables']}"
        seconds |= main.get("seconds", {})
    return result | {"main": main, "seconds": seconds}


def main_part(data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]) -> dict[str, Any]:
    """The library's own model on patients of Cleveland and on handwritten digits."""
    result: dict[str, Any] = reproduce_main(data, repeats=repeats, seed=seed, jobs=jobs, echo=echo)
    return result


def run_task(task: Task, repeats: int, seed: int, jobs: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Curves and baselines of all runs of one study."""
    problem, setting, criteria = task
    runs = Parallel(n_jobs=jobs)(
        delayed(_run)(problem, setting, criteria, repeat, seed) for repeat in range(problem.runs * repeats)
    )
    name = {"study": problem.name, "setting": setting.name}
    found, around = (pd.concat(part, ignore_index=True).assign(**name) for part in zip(*runs, strict=True))
    return found, around


def _run(
    problem: Problem, setting: Setting, criteria: Sequence[str], repeat: int, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    trial = problem.trial(repeat, seed)
    rows = [
        {"repeat": repeat, "baseline": name, "auc": auc, "log_score": log_score}
        for name, (auc, log_score) in baselines(problem, trial, setting).items()
    ]
    return curves(problem, trial, setting, criteria, repeat), pd.DataFrame(rows)


def assemble(done: Sequence[Task], found: pd.DataFrame, around: pd.DataFrame) -> dict[str, Any]:
    """Summaries and tables, as `reproduce` returns them."""
    steps = at_each_step(found)
    won = gains(found, steps)
    tables = [_NOTE, "## What the papers say", claims_table(found, steps, won, around)]
    for problem, setting, _ in done:
        if setting is PAPERS:
            tables += [
                f"## {problem.title}",
                _study_table(problem, setting, steps, won),
                _levels(problem, setting, around),
            ]
    tables += [f"## Other settings, {_SHORT} acquisitions", _sensitivity_table(done, found[found["step"] <= _SHORT])]
    end = found.groupby(["study", "setting", "criterion", "repeat"], sort=False)
    scores = (
        end[["auc", "log_score"]].mean().add_suffix("_mean").join(end[["auc", "log_score"]].last().add_suffix("_end"))
    )
    return {
        "tables": "\n\n".join(tables),
        "summary": pd.concat([steps, _baseline_rows(around)]).round(6).to_dict(orient="records"),
        "scores": scores.reset_index().round(6).to_dict(orient="records"),
        "gains": won.astype(object).where(won.notna(), None).to_dict(orient="records"),
        "baselines": around.astype(object).where(around.notna(), None).to_dict(orient="records"),
    }


def _baseline_rows(around: pd.DataFrame) -> pd.DataFrame:
    """Baselines in the form of `at_each_step`, at step 0."""
    groups = around.rename(columns={"baseline": "criterion"}).groupby(["study", "setting", "criterion"], sort=False)
    means, errors = groups[["auc", "log_score"]].mean(), groups[["auc", "log_score"]].sem().add_suffix("_error")
    return means.join(errors).join(groups["auc"].count().rename("runs")).assign(step=0).reset_index()


def _study_table(problem: Problem, setting: Setting, steps: pd.DataFrame, won: pd.DataFrame) -> str:
    """AUC after some acquisitions, and the gains, by criterion."""
    of_study = _of(steps, problem, setting)
    last = int(of_study["step"].max())
    shown = [step for step in (0, 5, 10, 16, 20, 30, 34, 40, 50, 60) if step < last] + [last]
    heads = ["", *map(str, shown), "gain, AUC", "gain, log score", "first; lasting; ahead/behind (AUC)"]
    lines = []
    for criterion, rows in of_study.groupby("criterion", sort=False):
        levels = rows.set_index("step")["auc"]
        cells = [f"{levels[step]:.3f}" for step in shown]
        own = _of(won, problem, setting)
        own = own[own["criterion"] == criterion].set_index("score")
        cells += (
            ["", "", ""]
            if own.empty
            else [gain_text(own.loc["auc"]), gain_text(own.loc["log_score"]), when_text(own.loc["auc"])]
        )
        lines.append([str(criterion), *cells])
    return markdown(heads, lines)


def _levels(problem: Problem, setting: Setting, around: pd.DataFrame) -> str:
    """What the same labels give without choosing anything."""
    own = _of(around, problem, setting)
    parts = []
    for name in BASELINES:
        values = own.loc[own["baseline"] == name, "auc"]
        known = values.dropna()
        if known.empty:
            parts.append(f"{name}: too few in every run")
            continue
        short = f" ({len(known)} of {len(values)} runs)" if len(known) < len(values) else ""
        parts.append(f"{name} {known.mean():.3f}{error_text(known.sem())}{short}")
    return f"At the start, AUC: {'; '.join(parts)}."


def _sensitivity_table(done: Sequence[Task], found: pd.DataFrame) -> str:
    """The same studies under other settings, as far as all of them go."""
    steps = at_each_step(found)
    won = gains(found, steps)
    heads = [
        "study",
        "setting",
        "start",
        "random at the end",
        *(f"gain of {name}, AUC" for name in _MAIN[1:]),
        "log score of the last",
    ]
    lines = []
    for problem, setting, _ in done:
        if problem.name not in _SENSITIVE:
            continue
        levels = _of(steps, problem, setting)
        levels = levels[levels["criterion"] == RANDOM].sort_values("step")["auc"]
        own = _of(won, problem, setting).set_index(["criterion", "score"])
        cells = [gain_text(own.loc[(name, "auc")]) for name in _MAIN[1:]]
        ends = [f"{levels.iloc[0]:.3f}", f"{levels.iloc[-1]:.3f}"]
        lines.append([problem.name, setting.name, *ends, *cells, gain_text(own.loc[(ENTROPY, "log_score")])])
    return markdown(heads, lines)


def _of(rows: pd.DataFrame, problem: Problem, setting: Setting) -> pd.DataFrame:
    return rows[(rows["study"] == problem.name) & (rows["setting"] == setting.name)]
