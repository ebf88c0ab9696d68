"""Figures 1 and 2 of "Estimation of mixture models using co-EM" as tables, with a verdict on what the paper says of them.

Run from a checkout with ``coview reproduce co-em --data DIR``; README.md beside this file says what came out.
"""

import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from .clusterings import ANNEALED, CLUSTERED, CO_EM, CONCATENATED, CONSENSUS, MERGED, PARTS, RANDOM
from .comparisons import ALPHA, best_starts, summarize
from .problems import Problem, load_linked, load_texts

__all__ = ["reproduce"]

_NOTE = f"""\
Average cluster entropy in bits (lower is better), mean ± standard error over the repetitions, one start each. In brackets the
difference from what the row or column is held against, and in words what a paired t test says of it: *above* or *below* where
p < {ALPHA:g} (two-sided), else *even*."""
# Of one repetition, whose differences have no standard error.
_NO_TEST = "no test: one repetition"
_VERDICTS = ("below", "even", "above")
_STARTS = {RANDOM: "random", CLUSTERED: "k-means"}


def reproduce(data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]) -> dict[str, Any]:
    """Cluster every data set in every way from the same starts.

    Parameters
    ----------
    data : Path
        Folder of the data sets.
    repeats : int
        Starts (and, for text, random splits) of every setting; the paper has 20.
    seed : int
        Of the starts and splits.
    jobs : int
        Parts worked on at the same time.
    echo : callable
        Takes lines about the progress.

    Returns
    -------
    result : dict
        ``tables`` (Markdown), ``summary`` (a row per setting, with what it is held against), ``scores`` (a row per setting and
        repetition), ``claims`` (what the paper says, and how often it holds), ``starts`` (what the criterion and
        the likelihood would choose among ten), ``seconds`` (by data set and part).
    """
    linked, texts = load_linked(data), load_texts(data)
    tasks = [(part, problem) for part, (of_texts, _) in PARTS.items() for problem in (texts if of_texts else linked)]
    runs = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_run)(part, problem, range(repeats), seed) for part, problem in tasks
    )
    scores: list[dict[str, Any]] = []
    seconds: dict[str, float] = {}
    for (part, problem), (rows, took) in zip(tasks, runs, strict=True):
        echo(f"{problem.name}, {part}: {took:.0f} s")
        scores += rows
        seconds[f"{problem.name}, {part}"] = round(took, 1)
    return assemble(scores, linked) | {"seconds": seconds}


def assemble(scores: Sequence[dict[str, Any]], linked: Sequence[Problem]) -> dict[str, Any]:
    """Summary and tables of the scores, as `reproduce` returns them."""
    summary, chosen = summarize(scores), best_starts(scores)
    claims = _claims(summary)
    tables = [
        _NOTE,
        "## What the paper says",
        _markdown(claims),
        *(_linked_table(problem, summary, smoothing) for smoothing in (1.0, 0.1) for problem in linked),
        _others_table(summary),
        _starts_table(chosen, linked),
        *(_splits_table(summary, smoothing) for smoothing in (1.0, 0.1)),
        _consensus_table(summary),
    ]
    return {
        "tables": "\n\n".join(tables),
        "summary": summary.to_dict(orient="records"),
        "scores": list(scores),
        "claims": claims.to_dict(orient="records"),
        "starts": chosen.to_dict(orient="records"),
    }


def _run(part: str, problem: Problem, repeats: Sequence[int], seed: int) -> tuple[list[dict[str, Any]], float]:
    """Scores of one part on one data set, and the seconds of processor time it took."""
    start = time.process_time()
    rows = list(PARTS[part][1](problem, repeats, seed))
    return rows, time.process_time() - start


def _claims(summary: pd.DataFrame) -> pd.DataFrame:
    """How often each statement of the paper holds."""
    rows = []
    for smoothing, start, method in product((1.0, 0.1), _STARTS, (CONCATENATED, MERGED)):
        against = _chosen(summary, part="linked", method=method, start=start, smoothing=smoothing)
        statement = f"co-EM, against {method}, {_STARTS[start]} starts, pseudo-count {smoothing:g}"
        rows.append((statement, "below 15", _tally(against, _VERDICTS[::-1])))
    for smoothing in (1.0, 0.1):
        splits = _chosen(summary, part="splits", smoothing=smoothing)
        best = splits.loc[splits.groupby("data", sort=False)["mean"].idxmin(), "n_views"]
        of, texts = f"pseudo-count {smoothing:g}", splits["data"].nunique()
        pairs = {n: _below(_chosen(splits, n_views=n), texts) for n in (2, 3)}
        rows += [
            (f"best number of views above one, {of}", "5 of 6", f"{(best > 1).sum()} of {texts}"),
            (f"two views below one, {of}", "4 of 6", pairs[2]),
            (f"three views below two, {of}", "2 of 6", pairs[3]),
            (f"best number of views above two, {of}", "4 of 6", f"{(best > 2).sum()} of {texts}"),
        ]
    consensus = summary[(summary["part"] == "consensus") & (summary["start"] == RANDOM)]
    fixed = consensus[consensus["consensus"] != ANNEALED]
    best = fixed.loc[fixed.groupby("data", sort=False)["mean"].idxmin(), "consensus"]
    between = fixed[~fixed["consensus"].isin(["0", "1"])]
    rows += [
        ("the weight of the other views with the best mean is 1", "6 of 6", f"{(best == '1').sum()} of {len(best)}"),
        ("a weight between 0 and 1, against 1", "above", _tally(between)),
        ("a weight of 0, against 1", "above", _tally(_chosen(consensus, consensus="0"))),
        ("an annealed weight, against 1", "below 2, even 3, above 1", _tally(_chosen(consensus, consensus=ANNEALED))),
    ]
    return pd.DataFrame(rows, columns=["statement", "paper", "here"])


def _below(rows: pd.DataFrame, n_texts: int) -> str:
    """How many are significantly below what they are held against, of so many texts."""
    return f"{rows['verdict'].eq('below').sum()} of {n_texts}" if rows["verdict"].any() else _NO_TEST


def _tally(rows: pd.DataFrame, words: Sequence[str] = _VERDICTS) -> str:
    """How many verdicts of each kind."""
    if not rows["verdict"].any():
        return _NO_TEST
    counts = rows["verdict"].value_counts()
    return ", ".join(f"{word} {counts.get(kind, 0)}" for word, kind in zip(_VERDICTS, words, strict=True))


def _chosen(summary: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Rows with these values."""
    mask = np.logical_and.reduce([summary[name] == value for name, value in values.items()])
    return summary[mask]


def _linked_table(problem: Problem, summary: pd.DataFrame, smoothing: float) -> str:
    """Figure 1 of one data set: methods by numbers of clusters, held against co-EM from the same kind of start."""
    rows = _chosen(summary, part="linked", data=problem.name)
    rows = rows[rows["smoothing"].fillna(1.0) == smoothing]
    cells = {
        (method, _STARTS[start]): {f"{row['n_clusters']} clusters": _cell(row) for _, row in found.iterrows()}
        for (method, start), found in rows.groupby(["method", "start"], sort=False)
    }
    table = pd.DataFrame(
        [{"method": method, "start": start, **columns} for (method, start), columns in cells.items()]
    ).sort_values("start", ascending=False, kind="stable")
    title = f"## Figure 1: {problem.name} ({problem.n_classes} classes), pseudo-count {smoothing:g}"
    return f"{title}, held against co-EM from the same starts\n\n{_markdown(table)}"


def _others_table(summary: pd.DataFrame) -> str:
    """Empty rows that are observed, and no pseudo-count, at the true number of clusters."""
    none = summary[(summary["part"] == "linked") & (summary["smoothing"] == 0.0)]
    table = [
        {"data": row["data"], "method": row["method"], "pseudo-count": f"{row['smoothing']:g}"}
        | {"start": _STARTS[row["start"]], "bits": _cell(row)}
        for _, row in pd.concat([summary[summary["part"] == "empty rows"], none]).iterrows()
    ]
    title = (
        "## Empty rows observed, and no pseudo-count: true number of clusters, held against co-EM (empty rows absent)"
    )
    return f"{title}\n\n{_markdown(pd.DataFrame(table))}"


def _starts_table(chosen: pd.DataFrame, linked: Sequence[Problem]) -> str:
    """One start, and the best of ten by the criterion or the likelihood."""
    numbers = {problem.name: problem.n_classes for problem in linked}
    rows = chosen[chosen["method"].isin([CO_EM, CONCATENATED]) & (chosen["n_clusters"] == chosen["data"].map(numbers))]
    measures = {"criterion": "criterion", "log_likelihood": "likelihood"}
    table = [
        {"data": row["data"], "method": row["method"], "start": _STARTS[row["start"]]}
        | {"one start": f"{row['one_start']:.3f}"}
        | {f"best of ten by {name}": f"{row[key]:.3f} (r {row[f'{key}_rank']:+.2f})" for key, name in measures.items()}
        for _, row in rows.iterrows()
    ]
    title = "## Which of ten starts, true number of clusters (r: rank correlation with the entropy)"
    return f"{title}\n\n{_markdown(pd.DataFrame(table))}"


def _splits_table(summary: pd.DataFrame, smoothing: float) -> str:
    """Figure 2, left: texts by numbers of views, each held against one view less."""
    rows = _chosen(summary, part="splits", smoothing=smoothing)
    table = [
        {"text": name, **{f"{row['n_views']} views": _cell(row) for _, row in found.iterrows()}}
        | {"best": str(found.loc[found["mean"].idxmin(), "n_views"])}
        for name, found in rows.groupby("data", sort=False)
    ]
    title = f"## Figure 2, left: words dealt to views at random, pseudo-count {smoothing:g}, held against one view less"
    return f"{title}\n\n{_markdown(pd.DataFrame(table))}"


def _consensus_table(summary: pd.DataFrame) -> str:
    """Figure 2, center and right: data sets by weights of the other views, held against 1."""
    rows = summary[summary["part"] == "consensus"]
    table = [
        {"data": name, "start": _STARTS[start], **{row["consensus"]: _cell(row) for _, row in found.iterrows()}}
        for (name, start), found in rows.groupby(["data", "start"], sort=False)
    ]
    order = ["data", "start", *CONSENSUS]
    title = "## Figure 2, center and right: weight of the other views, held against 1 (texts in two random views)"
    return f"{title}\n\n{_markdown(pd.DataFrame(table)[order])}"


def _cell(row: pd.Series) -> str:
    """Mean with its standard error, then the difference and the verdict."""
    error = "" if np.isnan(row["standard_error"]) else f" ± {row['standard_error']:.3f}"
    against = "" if np.isnan(row["difference"]) else f" ({row['difference']:+.3f} {row['verdict']})".replace(" )", ")")
    return f"{row['mean']:.3f}{error}{against}"


def _markdown(table: pd.DataFrame) -> str:
    lines = [" | ".join(table.columns), " | ".join("---" for _ in table.columns)]
    lines += [" | ".join("" if value != value else str(value) for value in row) for row in table.to_numpy()]
    return "\n".join(f"| {line} |" for line in lines)
