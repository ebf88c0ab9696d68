"""Section 3 of "Spectral clustering with two views": web pages of which all, or only some, have both views.

Run from a checkout with ``coview reproduce spectral-two-views --data DIR``; README.md beside this file says what came out.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import ttest_rel

from .clusterings import (
    KINDS,
    PAIRED,
    Pages,
    complete_scores,
    load_pages,
    paired_scores,
    source_scores,
    widths_of,
)

__all__ = ["reproduce"]

_ALPHA = 0.05
# What the paper prints, pages with both views.
_COMPLETE = {
    "JOINT": "1.64",
    "SUM": "1.70",
    "sM-D, rows of the text": "1.66",
    "co-EM, multinomials": "about 1.73",
    "EM, multinomials, text": "about 2.03",
    "k-means, both views": "about 1.97",
    "k-means, text": "about 2.07",
}
_PRINTED = {
    ("A", 0.9): ("1.66", "1.83", "1.95"),
    ("B", 0.9): ("1.68", "1.64", "2.04"),
    ("sM-D", 0.9): ("1.68", "1.63", "1.83"),
    ("sM-D", 0.7): ("1.66", "1.66", "1.91"),
    ("A", 0.5): ("1.67", "1.90", "2.04"),
    ("B", 0.5): ("1.69", "1.68", "2.04"),
    ("sM-D", 0.5): ("1.64", "1.66", "1.95"),
    ("sM-D", 0.3): ("1.68", "1.67", "1.97"),
    ("sM-D", 0.1): ("1.76", "1.73", "2.00"),
}
_NOTE = f"""\
Average entropy of the classes inside clusters in bits, mean ± standard error over repetitions, lower is better; in brackets the
printed figure. "below" and "above": a paired two-sided t test against sM-D at p < {_ALPHA:g}, else "even"; nothing where there is
one repetition. Widths are those by which each view clusters itself most tightly, found without the classes."""


def reproduce(data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]) -> dict[str, Any]:
    """Cluster the pages in every way.

    Parameters
    ----------
    data : Path
        Folder of the data sets.
    repeats : int
        Draws of the pages that lose a view, and starts; the paper has 10.
    seed : int
    jobs : int
        Repetitions worked on at the same time.
    echo : callable
        Takes lines about the progress.

    Returns
    -------
    result : dict
        ``tables`` (Markdown), ``summary`` (a row per setting), ``scores`` (a row per setting and repetition), ``widths``,
        ``seconds``.
    """
    pages = load_pages(data)
    start = time.process_time()
    widths = widths_of(pages, seed)
    echo(f"{len(pages.labels)} pages, widths {widths}: {time.process_time() - start:.0f} s")
    runs = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_run)(pages, widths, data, repeat, seed) for repeat in range(repeats)
    )
    scores: list[dict[str, Any]] = []
    seconds = {}
    for repeat, (rows, took) in enumerate(runs):
        scores += rows
        seconds[f"repetition {repeat}"] = round(took, 1)
        echo(f"repetition {repeat}: {took:.0f} s")
    return assemble(scores) | {"widths": widths, "seconds": seconds}


def assemble(scores: list[dict[str, Any]]) -> dict[str, Any]:
    """Summary and tables of the scores, as `reproduce` returns them."""
    columns = ("part", "method", "share", "kind", "repeat", "entropy")
    table = pd.DataFrame([{name: row.get(name) for name in columns} for row in scores])
    summary = _summary(table)
    tables = [
        _NOTE,
        _complete_table(summary),
        *(_paired_table(summary, share) for share in PAIRED),
        _source_table(summary),
    ]
    plain = [frame.astype(object).where(frame.notna(), None).to_dict(orient="records") for frame in (summary, table)]
    return {"tables": "\n\n".join(tables), "summary": plain[0], "scores": plain[1]}


def _run(
    pages: Pages, widths: dict[str, float], data: Path, repeat: int, seed: int
) -> tuple[list[dict[str, Any]], float]:
    start = time.process_time()
    rows = list(complete_scores(pages, widths, repeat, seed))
    for share in PAIRED:
        rows += paired_scores(pages, widths, share, repeat, seed)
    rows += source_scores(data, repeat, seed)
    return rows, time.process_time() - start


def _summary(table: pd.DataFrame) -> pd.DataFrame:
    """Means, and verdicts against sM-D under the same conditions."""
    keys = ["part", "share", "kind"]
    rows = []
    for condition, part in table.groupby(keys, dropna=False, sort=False):
        wide = part.pivot_table(index="repeat", columns="method", values="entropy", sort=False)
        ours = next(name for name in wide.columns if name.startswith("sM-D"))
        for method in wide.columns:
            values = wide[method]
            verdict = None
            if method != ours and len(values) > 1 and (values != wide[ours]).any():
                p = ttest_rel(values, wide[ours]).pvalue
                verdict = "even" if not p < _ALPHA else "below" if values.mean() < wide[ours].mean() else "above"
            error = values.sem() if len(values) > 1 else np.nan
            rows.append(
                dict(zip(keys, condition, strict=True))
                | {"method": method, "mean": values.mean(), "standard_error": error, "verdict": verdict}
            )
    return pd.DataFrame(rows)


def _cell(row: pd.Series, printed: str | None) -> str:
    error = "" if np.isnan(row["standard_error"]) else f" ± {row['standard_error']:.3f}"
    verdict = f" {row['verdict']}" if isinstance(row["verdict"], str) else ""
    return f"{row['mean']:.3f}{error}{verdict}" + (f" ({printed})" if printed else "")


def _complete_table(summary: pd.DataFrame) -> str:
    part = summary[summary["part"] == "complete"]
    lines = ["## All pages with both views", "", "| method | entropy |", "| --- | --- |"]
    lines += [f"| {row['method']} | {_cell(row, _COMPLETE.get(row['method']))} |" for _, row in part.iterrows()]
    return "\n".join(lines)


def _paired_table(summary: pd.DataFrame, share: float) -> str:
    part = summary[(summary["part"] == "paired") & (summary["share"] == share)]
    lines = [
        f"## {share:.0%} of the pages with both views",
        "",
        "| pages | A | B | sM-D |",
        "| --- | --- | --- | --- |",
    ]
    for number, kind in enumerate(KINDS):
        cells = [kind]
        for method in ("A", "B", "sM-D"):
            row = part[(part["kind"] == kind) & (part["method"] == method)].iloc[0]
            printed = _PRINTED.get((method, share))
            cells.append(_cell(row, printed[number] if printed else None))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _source_table(summary: pd.DataFrame) -> str:
    part = summary[summary["part"] == "sources"]
    lines = ["## Stories of three newspapers, naturally incomplete", "", "| method | entropy |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {row['method']} | {_cell(row, None)} |" for _, row in part.iterrows())])
