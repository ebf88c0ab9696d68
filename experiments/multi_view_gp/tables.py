"""Table 2 of "Multi-view regularized Gaussian processes", the published figures beside ours, with a verdict per cell.

Run from a checkout with ``coview reproduce multi-view-gp --data DIR``; README.md beside this file says what came out.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .methods import CONSISTENCIES, METHODS, SPLITS, STEPS, WEIGHTS
from .problems import PUBLISHED, WITH_CLASS, load_problems
from .runs import run_all

__all__ = ["assemble", "reproduce"]

# Repetitions behind the published means.
_PUBLISHED_REPEATS = 5
# Standard errors of the difference of two means beyond which they are called different.
_LIMIT = 2.0
_GRIDS = [", ".join(f"{value:.3g}" for value in values) for values in (WEIGHTS, CONSISTENCIES)]
_NOTE = f"""\
Accuracy in percent on the test part (40 %), mean ± standard deviation over the splits, the same for all methods; in brackets
what is printed, over {_PUBLISHED_REPEATS} splits of its own. *Above*, *below*, *even*: the difference of the means is more, or
not more, than {_LIMIT:g} of its standard errors. The trade-offs a of {{{_GRIDS[0]}}} and b of {{{_GRIDS[1]}}} are chosen on
{SPLITS} splits of the training part; searches have at most {STEPS} steps."""
_SVM = ("SVM-2K, view 1", "SVM-2K, view 2", "SVM-2K, mean")


def reproduce(data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]) -> dict[str, Any]:
    """Learn and score every method on the same random splits of every data set.

    Parameters
    ----------
    data : Path
        Folder of the data sets.
    repeats : int
        Random splits of every data set; the paper has 5.
    seed : int
        Of the splits.
    jobs : int
        Splits worked on at the same time.
    echo : callable
        Takes lines about the progress.

    Returns
    -------
    result : dict
        ``tables`` (Markdown), ``summary`` (a row per data set and method), ``scores`` (a row per split, too), ``claims``
        (what the paper says of its table, and whether it holds).
    """
    return assemble(run_all(load_problems(data), repeats, seed, jobs, echo))


def assemble(scores: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Summary and tables of the scores, as `reproduce` returns them."""
    table = pd.DataFrame(list(scores))
    summary, claims = _summary(table), _claims(table)
    tables = [_NOTE, "## Table 2", _markdown(_cells(summary)), "## What the paper says", _markdown(claims)]
    tables += ["## What was chosen", _choices(table)]
    return {
        "tables": "\n\n".join(tables),
        "summary": summary.to_dict(orient="records"),
        "scores": list(scores),
        "claims": claims.to_dict(orient="records"),
    }


def _summary(scores: pd.DataFrame) -> pd.DataFrame:
    """A row per data set and method: percent, deviation, what is printed, verdict."""
    rows = []
    for (data, method), found in scores.groupby(["data", "method"], sort=False):
        percent = 100.0 * found["accuracy"].to_numpy(dtype=float)
        printed = PUBLISHED.get(str(data), {}).get(_printed_name(str(method)), (np.nan, np.nan))
        deviation = float(percent.std(ddof=1)) if len(percent) > 1 else np.nan
        rows.append(
            {
                "data": data,
                "method": method,
                "splits": len(percent),
                "accuracy": float(percent.mean()),
                "deviation": deviation,
                "published": printed[0],
                "published_deviation": printed[1],
                "verdict": _verdict(float(percent.mean()), deviation, len(percent), printed),
            }
        )
    return pd.DataFrame(rows)


def _printed_name(method: str) -> str:
    """The row of the printed table: it has one for the three functions of SVM-2K, and GPs that start at random."""
    return "SVM-2K" if method in _SVM else method.removesuffix(", random start")


def _verdict(mean: float, deviation: float, n: int, printed: tuple[float, float]) -> str:
    """Whether the mean differs from the printed one."""
    if np.isnan(printed[0]) or np.isnan(deviation):
        return ""
    error = np.sqrt(deviation**2 / n + printed[1] ** 2 / _PUBLISHED_REPEATS)
    if abs(mean - printed[0]) <= _LIMIT * error:
        return "even"
    return "above" if mean > printed[0] else "below"


def _cells(summary: pd.DataFrame) -> pd.DataFrame:
    """Data sets as rows, methods as columns; fewer splits than others have are named."""
    rows, most = [], int(summary["splits"].max())
    for data, found in summary.groupby("data", sort=False):
        by_method = found.set_index("method")
        rows.append({"data": data} | {method: _cell(by_method, method, most) for method in METHODS})
    return pd.DataFrame(rows)


def _cell(rows: pd.DataFrame, method: str, most: int) -> str:
    if method not in rows.index:
        return ""
    row = rows.loc[method]
    text = f"{row['accuracy']:.2f}" + ("" if np.isnan(row["deviation"]) else f" ± {row['deviation']:.2f}")
    text += f" [{row['splits']} of {most} splits]" if row["splits"] < most else ""
    if np.isnan(row["published"]):
        return text
    return f"{text} ({row['published']:.2f} ± {row['published_deviation']:.2f}; {row['verdict'] or 'one split'})"


def _claims(scores: pd.DataFrame) -> pd.DataFrame:
    """Statements of section 5.3, on the data sets of the paper, over the splits that all methods have."""
    wide = scores[scores["data"] != WITH_CLASS].pivot_table(
        index=["data", "repeat"], columns="method", values="accuracy"
    )
    wide = wide.dropna()
    single = wide[["GP1", "GP2", "GP3"]]
    statements = [
        ("MvGP1 above each of GP1, GP2, GP3", wide["MvGP1"], single),
        ("MvGP2 above each of GP1, GP2, GP3", wide["MvGP2"], single),
        ("MvGP1 above each function of SVM-2K", wide["MvGP1"], wide[list(_SVM)]),
        ("MvGP2 above each function of SVM-2K", wide["MvGP2"], wide[list(_SVM)]),
        ("MvGP2 above MvGP1", wide["MvGP2"], wide[["MvGP1"]]),
    ]
    printed = ("5 of 5", "5 of 5", "4 of 5", "5 of 5", "4 of 5, even 1")
    rows = [
        {"statement": words, "paper": said, "here": _tally(first, others)}
        for (words, first, others), said in zip(statements, printed, strict=True)
    ]
    return pd.DataFrame(rows)


def _tally(first: pd.Series, others: pd.DataFrame) -> str:
    """Data sets on which the mean is above the best of the others, and by how much."""
    means = pd.concat([first.rename("first"), others], axis=1).groupby(level="data", sort=False).mean()
    gaps = 100.0 * (means["first"] - means[list(others.columns)].max(axis=1))
    above, even = int((gaps > 1e-9).sum()), int((gaps.abs() <= 1e-9).sum())
    return f"{above} of {len(gaps)}" + (f", even {even}" if even else "") + f" (mean gap {gaps.mean():+.2f} points)"


def _choices(scores: pd.DataFrame) -> str:
    """Trade-offs chosen, and the consistent set's share."""
    rows = []
    for (data, method), found in scores.groupby(["data", "method"], sort=False):
        if method.startswith("MvGP"):
            rows.append(
                {
                    "data": data,
                    "method": method,
                    "a of view 1, by split": ", ".join(f"{value:g}" for value in found["weight"]),
                    "b, by split": ", ".join(f"{value:.3g}" for value in found["consistency"]),
                    "consistent samples": f"{100 * found['consistent'].mean():.0f} %",
                    "KL + KL, median": f"{found['divergence'].median():.3g}",
                }
            )
    return _markdown(pd.DataFrame(rows))


def _markdown(table: pd.DataFrame) -> str:
    """A table of words."""
    lines = [list(table.columns), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
