"""Tables 1 and 2 of "A co-regularization approach to semi-supervised learning with multiple views", each cell with a verdict.

Run from a checkout with ``coview reproduce co-regularization --data DIR``; README.md beside this file says what came out.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .comparisons import ALPHA, claims, per_repeat, summarize
from .problems import COLUMNS
from .published import TABLE_1, TABLE_2
from .runs import RANDOM, STRATIFIED, run

__all__ = ["assemble", "reproduce"]

_NOTE = f"""\
Precision-recall breakeven points in percent over the pages without a label, mean over draws of 12 labels. *Best*: the setting
with the best mean over all draws, as the paper chose, which looks at the labels of the test. *Honest*: for each draw the settings
that tell most pairs of its labels apart that were left out (mean over equally good ones); for TSVM, SGT and co-training one
setting fixed beforehand; for all labels folds within the training part. Verdict: *best* against the published mean, "level"
within 2 sqrt(2) standard errors of ours or one point. Claims: paired t tests on the same draws, two-sided, at {ALPHA:g}."""
_NOT_PRINTED = "-"


def reproduce(
    data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None], folder: Path | None = None
) -> dict[str, Any]:
    """Compute both tables anew.

    Parameters
    ----------
    data : Path
        Folder of the data sets.
    repeats : int
        Draws of labels; those of 3 + 9 are at most 10, table 2 and the transductive SVM have at most 20.
    seed : int
        Of the draws.
    jobs : int
        Parts worked on at the same time.
    echo : callable
        Takes lines about the progress.
    folder : Path, default=None
        Where parts are stored and looked for.

    Returns
    -------
    result : dict
        ``tables`` (Markdown), ``summary`` (a row per cell), ``scores`` (a row per cell and draw, for the chosen settings) and
        ``claims``.
    """
    return assemble(run(data, repeats=repeats, seed=seed, jobs=jobs, echo=echo, folder=folder))


def assemble(scores: pd.DataFrame) -> dict[str, Any]:
    """Summary and tables of the scores, as `reproduce` returns them."""
    chosen = per_repeat(scores)
    summary, compared = summarize(chosen), claims(chosen, (RANDOM, STRATIFIED))
    new = summary["test"].notna()
    tables = [_NOTE, "## Table 1: twelve labels, any", _table_1(summary[~new & (summary["draws"] != STRATIFIED)])]
    if (summary["draws"] == STRATIFIED).any():
        tables += [
            "## Table 1 with three labels of courses and nine others",
            _table_1(summary[summary["draws"] == STRATIFIED]),
        ]
    tables += ["## What the paper says of table 1", _claims_table(compared)]
    if new.any():
        tables += ["## Table 2: half of the pages of a university are new", _table_2(summary[new])]
    return {
        "tables": "\n\n".join(tables),
        "summary": summary.to_dict(orient="records"),
        "scores": chosen.to_dict(orient="records"),
        "claims": compared.to_dict(orient="records"),
    }


def _table_1(summary: pd.DataFrame) -> str:
    cells = {(row["method"], row["column"]): row for _, row in summary.iterrows()}
    rows = []
    for method in TABLE_1:
        if any((method, column) in cells for column in COLUMNS):
            row = {"method": method}
            for column in COLUMNS:
                row |= _cells(cells.get((method, column)), column)
            rows.append(row)
    return _markdown(pd.DataFrame(rows))


def _cells(row: pd.Series | None, column: str) -> dict[str, str]:
    names = (f"{column}: paper", "best", "honest", "verdict")
    if row is None:
        return dict.fromkeys(_unlike(names, column), _NOT_PRINTED)
    paper = _NOT_PRINTED if np.isnan(row["published"]) else f"{row['published']:.1f}"
    best, honest = (_mean(row, name) for name in ("best", "honest"))
    return dict(zip(_unlike(names, column), (paper, best, honest, row["verdict"]), strict=True))


def _mean(row: pd.Series, name: str) -> str:
    """With its standard error, where there is one."""
    error = row[f"{name}_error"]
    return f"{row[name]:.1f}" + ("" if np.isnan(error) else f" ± {error:.1f}")


def _unlike(names: tuple[str, ...], column: str) -> tuple[str, ...]:
    """Names of columns that occur once in a table."""
    return (names[0], *(f"{column}: {name}" for name in names[1:]))


def _claims_table(compared: pd.DataFrame) -> str:
    rows = []
    for _, row in compared.iterrows():
        paper = _NOT_PRINTED if np.isnan(row["paper"]) else f"{row['paper']:+.1f}"
        words = {"draws": row["draws"], "statement": f"{row['above']} above {row['below']}", "view": row["column"]}
        ours = {name: f"{row[name]:+.1f} {row[f'{name}_verdict']}" for name in ("best", "honest")}
        rows.append(words | {"paper": paper} | ours)
    return _markdown(pd.DataFrame(rows))


def _table_2(summary: pd.DataFrame) -> str:
    cells = {(row["data"], row["column"]): row for _, row in summary.iterrows()}
    rows, pairs = [], []
    for university, columns in TABLE_2.items():
        for column, (new, unlabeled) in columns.items():
            found = cells[university, column]
            pairs.append((found["test"], found["best"]))
            shown = {"ours: new": "test", "unlabeled": "best", "unlabeled, honest": "honest"}
            ours = {title: _mean(found, name) for title, name in shown.items()}
            paper = {"paper: new": f"{new:.1f}", "paper: unlabeled": f"{unlabeled:.1f}"}
            rows.append({"university": university, "view": column} | paper | ours)
    new, unlabeled = np.transpose(pairs)
    printed = np.array([cell for columns in TABLE_2.values() for cell in columns.values()]).T
    note = (
        f"Correlation of new and unlabeled pages over the cells: paper {np.corrcoef(printed)[0, 1]:.2f}, ours "
        f"{np.corrcoef(new, unlabeled)[0, 1]:.2f}; mean difference (new less unlabeled): paper "
        f"{(printed[0] - printed[1]).mean():+.1f}, ours {(new - unlabeled).mean():+.1f}."
    )
    return f"{_markdown(pd.DataFrame(rows))}\n\n{note}"


def _markdown(table: pd.DataFrame) -> str:
    lines = [" | ".join(table.columns), " | ".join("---" for _ in table.columns)]
    lines += [" | ".join(map(str, row)) for row in table.to_numpy()]
    return "\n".join(f"| {line} |" for line in lines)
