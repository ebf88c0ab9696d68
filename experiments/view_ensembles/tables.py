"""Table 1 of "Multiple Views in Ensembles of Nearest Neighbor Classifiers", as printed and without choosing by the test set.

Run from a checkout with ``coview reproduce view-ensembles --data DIR``; README.md beside this file says what came out.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import spearmanr

from .ensembles import LABEL_VOTES, RULES, results_of, segments, steps_of_the_table
from .members import Said, listen, load, redrawn

__all__ = ["PUBLISHED", "reproduce"]

#: Views as they are added, test error of the ensemble, leave-one-out error of the view alone, in percent.
PUBLISHED = (
    ("CSV", 44.67, 48.56),
    ("CHPZS", 42.60, 55.27),
    ("CHPS", 40.78, 56.87),
    ("C", 39.74, 62.30),
    ("CPZV", 38.70, 61.66),
    ("CZV", 37.14, 65.50),
    ("CH", 36.88, 59.43),
    ("CS", 36.62, 53.04),
    ("HPS", 36.36, 66.13),
)
#: Test error of CHPZS, the best view alone.
BEST_ALONE = 41.04
_TITLES = {
    "result_vector": "vectors of left-out answers",
    "own_vector": "vectors of own answers",
    "majority": "majority",
}
_STATEMENTS = {
    "ensemble chosen by the test set": "36.36 (9 views)",
    "its gain on the best single view on the test set, points": "4.68",
    "leave-one-out errors of its views, points apart": "17.57",
    "views of similar error, 3 to 9: better together than the first of them alone": "not always",
    "where they are, by less than a point": "often",
}
_ALONE = "best single view by leave-one-out"
_NOTE = """\
Errors in percent of the test proteins. "Paper's split": 311 training and 383 test proteins; "redrawn": training parts of the same
size drawn from all of them with the same shares of the folds, mean ± standard error over the draws, which share proteins. In
brackets the difference from the best single view by leave-one-out; "seen": the error by which the selection itself went.
"result_vector": vectors of left-out answers; "own_vector": of the answers of classifiers that have the training samples."""


def reproduce(data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]) -> dict[str, Any]:
    """Fit a classifier to every union of the six feature sets, and put them together in every way.

    Parameters
    ----------
    data : Path
        Folder of the data sets.
    repeats : int
        Splits: the paper's, then redrawn ones.
    seed : int
        Of the redrawn splits, of halves of the test part and of random choices.
    jobs : int
        Splits worked on at the same time.
    echo : callable
        Takes lines about the progress.

    Returns
    -------
    result : dict
        ``tables`` (Markdown), ``summary`` (a row per way of using the views), ``scores`` (a row per split and way), ``steps``
        (table 1 by split), ``segments`` (of views of similar error), ``members`` (errors of every view alone), ``seconds``.
    """
    views, codes, train = load(data)
    runs = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(run)(views, codes, train, repeat, seed) for repeat in range(repeats)
    )
    found = []
    for repeat, part in enumerate(runs):
        echo(f"split {repeat}: {part['seconds']:.0f} s")
        found.append(part)
    return assemble(found)


def run(views: Any, codes: Any, train: Any, repeat: int, seed: int) -> dict[str, Any]:
    """Everything about one split; the first is the paper's."""
    start = time.process_time()
    said = listen(views, codes, train if repeat == 0 else redrawn(codes, train, seed + repeat))
    return spoken(said, repeat, seed) | {"seconds": round(time.process_time() - start, 1)}


def spoken(said: Said, repeat: int, seed: int) -> dict[str, Any]:
    """Everything about members that have spoken."""
    return {
        "scores": [{"split": repeat, **row} for row in results_of(said, seed + repeat)],
        "steps": [
            {"split": repeat, "rule": rule, **row} for rule in LABEL_VOTES for row in steps_of_the_table(said, rule)
        ],
        "segments": [{"split": repeat, **row} for rule in LABEL_VOTES for row in segments(said, rule)],
        "members": [
            {"split": repeat, "view": name, "loo_error": float(alone), "test_error": float(tested)}
            for name, alone, tested in zip(said.names, said.errors, said.test_errors, strict=True)
        ],
    }


def assemble(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Summary and tables of all splits, as `reproduce` returns them."""
    together = {key: [row for part in found for row in part[key]] for key in ("scores", "steps", "segments", "members")}
    frames = {key: pd.DataFrame(rows) for key, rows in together.items()}
    summary = _summary(frames["scores"])
    tables = [
        _NOTE,
        *(
            f"## Table 1: views added one by one by the test error itself, {_TITLES[rule]}\n\n{_table_1(frames['steps'], rule)}"
            for rule in LABEL_VOTES
        ),
        "## What the paper says\n\n" + _markdown(_claims(frames)),
        "## Every choice by every rule: paper's split\n\n" + _choices(summary, "paper"),
        *(
            ["## Every choice by every rule: redrawn splits\n\n" + _choices(summary, "redrawn")]
            if len(found) > 1
            else []
        ),
        "## Views of similar leave-one-out error: segments of the sorted list\n\n" + _segments(frames["segments"]),
    ]
    return {
        "tables": "\n\n".join(tables),
        "summary": summary.astype(object).where(summary.notna(), None).to_dict(orient="records"),
        **together,
        "seconds": {f"split {repeat}": part["seconds"] for repeat, part in enumerate(found)},
    }


def _summary(scores: pd.DataFrame) -> pd.DataFrame:
    """Errors by way of using the views: on the paper's split, and the mean over redrawn ones with its standard error."""
    alone = scores[scores["choice"] == _ALONE].set_index("split")["error"]
    scores = scores.assign(difference=scores["error"] - scores["split"].map(alone))
    rows = []
    for (choice, rule), part in scores.groupby(["choice", "rule"], sort=False):
        own, others = part[part["split"] == 0], part[part["split"] > 0]
        rows.append(
            {
                "choice": choice,
                "rule": rule,
                "paper": float(own["error"].iloc[0]),
                "paper_difference": float(own["difference"].iloc[0]),
                "paper_reached": own["reached"].iloc[0],
                "views": own["views"].iloc[0] if own["n_views"].iloc[0] < 20 else "all",
                "redrawn": float(others["error"].mean()),
                "redrawn_error": float(others["error"].sem()),
                "redrawn_difference": float(others["difference"].mean()),
                "redrawn_difference_error": float(others["difference"].sem()),
                "redrawn_reached": others["reached"].astype(float).mean(),
                "n_redrawn": len(others),
            }
        )
    return pd.DataFrame(rows)


def _table_1(steps: pd.DataFrame, rule: str) -> str:
    """The paper's steps and ours, side by side."""
    ours = steps[(steps["split"] == 0) & (steps["rule"] == rule)].to_dict(orient="records")
    rows = []
    for number in range(max(len(ours), len(PUBLISHED))):
        name, tested, alone = PUBLISHED[number] if number < len(PUBLISHED) else ("", np.nan, np.nan)
        row = ours[number] if number < len(ours) else {"view": "", "test_error": np.nan, "loo_error": np.nan}
        rows.append(
            {
                "paper: view": name,
                "test error": _percent(tested / 100),
                "alone, leave-one-out": _percent(alone / 100),
                "here: view": row["view"],
                "test error ": _percent(row["test_error"]),
                "alone, leave-one-out ": _percent(row["loo_error"]),
            }
        )
    return _markdown(pd.DataFrame(rows))


def _claims(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """What the paper says in words, and what comes out on its split by each rule."""
    members = frames["members"][frames["members"]["split"] == 0].set_index("view")
    best, oracle = members["loo_error"].idxmin(), members["test_error"].idxmin()
    named = [_sorted_name(name, members.index) for name, _, _ in PUBLISHED]
    order = spearmanr([alone for _, _, alone in PUBLISHED], members.loc[named, "loo_error"])[0]
    alike = {
        "least leave-one-out error": ("CSV, 48.56", f"{best}, {_percent(members['loo_error'].min())}"),
        "test error of that view alone": ("44.67", _percent(members.loc[best, "test_error"])),
        "best single view on the test set": (
            f"CHPZS, {BEST_ALONE}",
            f"{oracle}, {_percent(members['test_error'].min())}",
        ),
        "rank correlation with the paper's leave-one-out errors of nine views": ("", f"{order:+.2f}"),
    }
    rows = [
        {"statement": statement, "paper": paper, **dict.fromkeys(_TITLES.values(), here)}
        for statement, (paper, here) in alike.items()
    ]
    by_rule = {rule: _claims_of_rule(frames, members, rule) for rule in LABEL_VOTES}
    for statement, paper in _STATEMENTS.items():
        cells = {_TITLES[rule]: found[statement] for rule, found in by_rule.items()}
        rows.append({"statement": statement, "paper": paper, **cells})
    return pd.DataFrame(rows)


def _claims_of_rule(frames: dict[str, pd.DataFrame], members: pd.DataFrame, rule: str) -> dict[str, str]:
    """What comes out on the paper's split by one rule, in the words of `_STATEMENTS`."""
    steps, parts = (
        frames[key][(frames[key]["split"] == 0) & (frames[key]["rule"] == rule)] for key in ("steps", "segments")
    )
    gain = members["test_error"].min() - steps["test_error"].iloc[-1]
    gains = parts["first_alone"] - parts["error"]
    spread = steps["loo_error"].max() - steps["loo_error"].min()
    found = (
        f"{_percent(steps['test_error'].iloc[-1])} ({len(steps)} views)",
        f"{100 * gain:.2f}",
        f"{100 * spread:.2f}",
        f"{(gains > 0).sum()} of {len(gains)}",
        f"{((gains > 0) & (gains < 0.01)).sum()} of {(gains > 0).sum()}",
    )
    return dict(zip(_STATEMENTS, found, strict=True))


def _sorted_name(name: str, known: pd.Index) -> str:
    """The view of the same feature sets, however they are ordered."""
    return next(other for other in known if set(other) == set(name))


def _choices(summary: pd.DataFrame, column: str) -> str:
    """Choices by rules; in brackets the difference from the best single view, and what the selection itself saw."""
    rows = []
    for choice, part in summary.groupby("choice", sort=False):
        cells = dict.fromkeys(RULES, "")
        for _, row in part.iterrows():
            spread = f" ± {100 * row['redrawn_error']:.1f}" if column == "redrawn" and row["n_redrawn"] > 1 else ""
            text = f"{_percent(row[column])}{spread} ({100 * row[f'{column}_difference']:+.1f})"
            if pd.notna(row[f"{column}_reached"]):
                text += f", seen {_percent(row[f'{column}_reached'])}"
            for rule in [row["rule"]] if row["rule"] else RULES[:1]:
                cells[rule] = text
        rows.append({"choice": choice, **cells})
    return _markdown(pd.DataFrame(rows))


def _segments(parts: pd.DataFrame) -> str:
    """Gains of segments on their first member, by number of views; the paper's split, and redrawn ones."""
    parts = parts.assign(
        gain=100 * (parts["first_alone"] - parts["error"]), best_gain=100 * (parts["best_alone"] - parts["error"])
    )
    rows = []
    for (rule, size), part in parts.groupby(["rule", "size"], sort=False):
        for title, some in (("paper's", part[part["split"] == 0]), ("redrawn", part[part["split"] > 0])):
            if some.empty:
                continue
            ends = some.groupby("split")["start"]
            rows.append(
                {
                    "rule": _TITLES[rule],
                    "views": size,
                    "split": title,
                    "better than their first": f"{100 * (some['gain'] > 0).mean():.0f} %",
                    "mean gain, points": f"{some['gain'].mean():+.2f}",
                    "better than the best of them on the test set": f"{100 * (some['best_gain'] > 0).mean():.0f} %",
                    "error of the first segment": _percent(some.loc[ends.idxmin(), "error"].mean()),
                    "of the last": _percent(some.loc[ends.idxmax(), "error"].mean()),
                }
            )
    return _markdown(pd.DataFrame(rows))


def _percent(share: float) -> str:
    return "" if np.isnan(share) else f"{100 * share:.2f}"


def _markdown(table: pd.DataFrame) -> str:
    lines = [" | ".join(table.columns), " | ".join("---" for _ in table.columns)]
    lines += [" | ".join(str(value) for value in row) for row in table.to_numpy()]
    return "\n".join(f"| {line} |" for line in lines)
