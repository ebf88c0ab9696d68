"""All clusterings of coview, of other libraries where they are installed, and what one would do without, on five data sets.

Run from a checkout with ``coview reproduce clustering-comparison --data DIR --repeats 5``; README.md beside this file says what
came out. Scores are kept in ``results/scores`` as they come, and a run that was stopped goes on where it was.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from coview.model_selection import mean_ranks

from .methods import METHODS, SINGLE_VIEWS
from .pieces import BEST_VIEW, FOLDER, LONG, MEAN_VIEW, MEASURES, MOST_REPEATS, kept, run_set
from .problems import COMPLETE, CONDITIONS, DATASETS, REMOVED

__all__ = ["assemble", "reproduce"]

_TITLES = {"nmi": "NMI", "ari": "ARI", "entropy": "entropy"}
_RISES = {"nmi": True, "ari": True, "entropy": False}
# Standard errors by which the best of a cell must be ahead.
_CLEAR = 2.0
_FEW = " and ".join(f"{most} repeats on {name}" for name, most in MOST_REPEATS.items())
_TIMES = {1: "once", 2: "twice"}
_LONG_RUNS = ", ".join(f"one of more than {seconds:g} s {_TIMES[times]}" for seconds, times in LONG.items())
_NOTE = f"""\
Normalized mutual information (NMI) and adjusted Rand index (ARI) of the clusters with the classes, higher is better; entropy of
the classes inside clusters in bits, lower is better. As many clusters as classes, DBSCAN excepted; samples in no cluster count as
one more. Means over the repeats, which differ in starts and, where views are removed, in what is removed. A method without
anything random is run once on data that do not change; {_LONG_RUNS};
at most {_FEW}. In bold the best of a column, and what is not {_CLEAR:g} standard errors of the paired differences behind it.
"{BEST_VIEW}" knows the classes: it stands outside, and is no method."""


def reproduce(data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]) -> dict[str, Any]:
    """Run every method on every data set under every condition.

    Parameters
    ----------
    data : Path
        Folder of the data sets.
    repeats : int
        Starts, and draws of what is removed.
    seed : int
        Of the draws.
    jobs : int
        Data sets worked on at the same time.
    echo : callable
        Takes lines about the progress.

    Returns
    -------
    result : dict
        ``tables`` (Markdown), ``summary`` (a row per data set, condition and method), ``scores`` (a row per repeat), ``seconds``
        (by data set), ``absent`` (methods that could not run, and why).
    """
    folder = FOLDER / f"seed-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    echo(f"Scores are kept in {folder}; delete it to begin anew.")
    runs = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_timed)(name, data, folder, repeats, seed) for name in DATASETS
    )
    seconds = {}
    for name, took in zip(DATASETS, runs, strict=True):
        echo(f"{name}: {took:.0f} s")
        seconds[name] = round(took, 1)
    absent = {method.name: method.absent for method in METHODS if method.absent}
    return assemble(kept(folder, list(DATASETS), repeats), absent) | {"seconds": seconds, "absent": absent}


def _timed(name: str, data: Path, folder: Path, repeats: int, seed: int) -> float:
    start = time.process_time()
    run_set(name, data, folder, repeats, seed, echo=lambda line: None)
    return time.process_time() - start


def assemble(rows: list[dict[str, Any]], absent: dict[str, str]) -> dict[str, Any]:
    """Summary and tables of the scores, as `reproduce` returns them."""
    scores = pd.DataFrame(rows)
    order = [name for name in _order() if name in set(scores["method"])]
    place = {name: number for number, name in enumerate(order)}
    scores = scores.sort_values("method", key=lambda names: names.map(place), kind="stable")
    summary = _summary(scores)
    tables = [
        _NOTE,
        _means(summary, order),
        _ranks(scores, order),
        *(_cells(summary, order, measure) for measure in MEASURES),
    ]
    tables += [_density(summary), _times(summary, order), _left_out(scores, order, absent)]
    return {
        "tables": "\n\n".join(filter(None, tables)),
        "summary": _plain(summary),
        "scores": _plain(scores),
    }


def _order() -> list[str]:
    names: list[str] = []
    for method in METHODS:
        names += [BEST_VIEW, MEAN_VIEW] if method.name == SINGLE_VIEWS else [method.name]
    return names


def _plain(table: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.astype(object).where(table.notna(), None).to_dict(orient="records")
    return rows


def _cell_order(scores: pd.DataFrame) -> list[tuple[str, str]]:
    here = set(zip(scores["data"], scores["condition"], strict=True))
    return [(data, condition) for data in DATASETS for condition in CONDITIONS[data] if (data, condition) in here]


def _summary(scores: pd.DataFrame) -> pd.DataFrame:
    """Means, errors, and whether a method is behind the best of its cell."""
    rows = []
    for data, condition in _cell_order(scores):
        part = scores[(scores["data"] == data) & (scores["condition"] == condition)]
        behind = {measure: _behind(part, measure) for measure in MEASURES}
        for name, mine in part.groupby("method", sort=False):
            row = {"data": data, "condition": condition, "method": name, "n": int(mine["nmi"].notna().sum())}
            for measure in MEASURES:
                row |= {measure: mine[measure].mean(), f"{measure}_error": mine[measure].sem()}
                row |= {f"{measure}_verdict": behind[measure].get(name, "failed")}
            row |= {"n_clusters": mine["n_clusters"].mean(), "noise": mine["noise"].mean()}
            rows.append(row | {"processor_seconds": mine["seconds"].median()})
    return pd.DataFrame(rows)


def _behind(part: pd.DataFrame, measure: str) -> dict[str, str]:
    """A word for every method: best, level with the best by paired differences, or behind; one run stands for all repeats."""
    wide = part.pivot_table(index="repeat", columns="method", values=measure, sort=False)
    single = wide.columns[wide.notna().sum() == 1]
    wide[single] = wide[single].bfill().ffill()
    signed = wide if _RISES[measure] else -wide
    best = signed.drop(columns=BEST_VIEW, errors="ignore").mean().idxmax()
    words = {}
    for name in signed.columns:
        gaps = (signed[best] - signed[name]).dropna()
        error = gaps.sem() if len(gaps) > 1 else np.inf
        level = bool(gaps.mean() <= _CLEAR * (error if np.isfinite(error) else 0.0))
        words[name] = "outside" if name == BEST_VIEW else "best" if name == best else "level" if level else "behind"
    return words


def _ranks(scores: pd.DataFrame, order: list[str]) -> str:
    """Mean ranks over data sets and conditions, of the methods that ran everywhere; by kind of condition, too."""
    parts = {
        "all": scores,
        "complete": scores[scores["condition"] == "complete"],
        "views missing": scores[scores["condition"] != "complete"],
    }
    columns, notes = {}, []
    for title, part in parts.items():
        for measure in ("nmi", "ari"):
            known = part.groupby(["data", "condition", "method"], sort=False)[measure].mean().dropna().reset_index()
            cells = known["method"].value_counts()
            everywhere = [name for name in order if name != BEST_VIEW and cells.get(name, 0) == cells.max()]
            if len(everywhere) < 2:
                continue
            found = mean_ranks(
                known.assign(draw=0, group="all"),
                measure,
                methods=everywhere,
                rows=("data", "condition"),
                higher_is_better=_RISES[measure],
            )
            columns[f"{title}: {_TITLES[measure]}"] = found.ranks
        if title in {column.split(":")[0] for column in columns}:
            notes.append(
                f"{title}: {found.critical_difference:.1f} ({len(found.ranks)} methods, {len(found.table)} rows)"
            )
    if not columns:
        return ""
    table = pd.DataFrame(columns).sort_values(next(iter(columns)), kind="stable")
    lines = [
        [str(name), *("-" if pd.isna(v) else f"{v:.1f}" for v in row)]
        for name, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    text = (
        "Two methods differ by Nemenyi's test at 5 % where their mean ranks are further apart than: "
        f"{'; '.join(notes)}.\nThe conditions of one data set are not independent, so this is too small, if anything. "
        "Methods that did not run everywhere have no rank."
    )
    return (
        f"## Mean ranks over data sets and conditions, 1 is best\n\n{text}\n\n{_markdown(['method', *columns], lines)}"
    )


def _means(summary: pd.DataFrame, order: list[str]) -> str:
    """Means over the data sets that were run complete and with cells removed."""
    part = summary[summary["condition"].isin([COMPLETE, REMOVED])]
    columns = {}
    for measure in MEASURES:
        for condition in (COMPLETE, REMOVED):
            wide = part[part["condition"] == condition].pivot_table(index="method", columns="data", values=measure)
            columns[f"{_TITLES[measure]}, {condition}"] = wide.mean(axis=1).where(wide.notna().all(axis=1))
    table = pd.DataFrame(columns)
    lines = [
        [name, *("-" if pd.isna(value) else f"{value:.3f}" for value in table.loc[name])]
        for name in order
        if name in table.index
    ]
    note = "Of the methods that ran on all of them."
    return f"## Means over the {part['data'].nunique()} data sets\n\n{note}\n\n{_markdown(['method', *columns], lines)}"


def _cells(summary: pd.DataFrame, order: list[str], measure: str) -> str:
    """Methods by data sets and conditions."""
    columns = _cell_order(summary)
    found = summary.set_index(["data", "condition", "method"])
    lines = []
    for name in order:
        cells = [name]
        for data, condition in columns:
            key = (data, condition, name)
            row = found.loc[key] if key in found.index else None
            if row is None or pd.isna(row[measure]):
                cells.append("-")
            else:
                mark = "**" if row[f"{measure}_verdict"] in ("best", "level") else ""
                cells.append(f"{mark}{row[measure]:.3f}{mark}")
        lines.append(cells)
    heads = ["method", *(f"{data}, {condition}" for data, condition in columns)]
    return f"## {_TITLES[measure][0].upper()}{_TITLES[measure][1:]}\n\n{_markdown(heads, lines)}"


def _density(summary: pd.DataFrame) -> str:
    """How many clusters DBSCAN finds, and how much it leaves out."""
    part = summary[summary["method"].str.startswith("MultiRepresentedDBSCAN")].dropna(subset=["nmi"])
    if part.empty:
        return ""
    lines = [
        [row.data, row.condition, row.method.split(", ")[1], f"{row.n_clusters:.1f}", f"{row.noise:.2f}"]
        for row in part.itertuples()
    ]
    heads = ["data", "condition", "neighbors by", "clusters", "share in none"]
    return f"## What MultiRepresentedDBSCAN finds, which is not told the number\n\n{_markdown(heads, lines)}"


def _times(summary: pd.DataFrame, order: list[str]) -> str:
    """Median seconds of a run."""
    columns = _cell_order(summary)
    found = summary.set_index(["data", "condition", "method"])["processor_seconds"]
    lines = [
        [name, *(f"{found[(*column, name)]:.1f}" if (*column, name) in found.index else "-" for column in columns)]
        for name in order
    ]
    heads = ["method", *(f"{data}, {condition}" for data, condition in columns)]
    return f"## Processor seconds of a run, median\n\n{_markdown(heads, lines)}"


def _left_out(scores: pd.DataFrame, order: list[str], absent: dict[str, str]) -> str:
    """What did not run, what went wrong, and how missing views were met."""
    lines = [f"* {name} is not installed: {why}" for name, why in absent.items()]
    ran = set(zip(scores["data"], scores["condition"], scores["method"], strict=True))
    for name in order:
        skipped = [
            f"{data} ({condition})" for data, condition in _cell_order(scores) if (data, condition, name) not in ran
        ]
        if skipped:
            lines.append(f"* {name} was left out, as too long, on {', '.join(skipped)}.")
    wrong = scores[scores["error"].fillna("") != ""].drop_duplicates(["data", "condition", "method"])
    lines += [f"* {row.data}, {row.condition}, {row.method}: {row.error}" for row in wrong.itertuples()]
    filled = ", ".join(method.name for method in METHODS if method.missing == "mean of the view")
    lines.append(f"* A missing view is replaced by the mean of the view for: {filled}. The others leave it out.")
    return "## What did not run, and missing views\n\n" + "\n".join(lines)


def _markdown(heads: list[str], lines: list[list[str]]) -> str:
    rows = [heads, ["---"] * len(heads), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
