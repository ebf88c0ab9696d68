"""Tables of the confirmation from the stored scores: rows with verdicts, counts of verdicts, mean ranks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from data_sets import DESIGN, NEW, SEEN, Problem
from rivals import DEFAULT, PRINTED

from coview.model_selection import mean_ranks, paired_differences, score_table

METRICS = ("log_loss", "auc", "accuracy", "brier", "calibration_error")
PARTS = {
    DESIGN: "Rows that the default was chosen on (optimistic)",
    SEEN: "Rows that confirmed the prototype",
    NEW: "Rows that nothing had been tried on",
}
BEST_VIEW = "best view + LR"
# Methods that every data set has; the others need dense views with gaps.
RANKED = (
    DEFAULT,
    PRINTED,
    "columns + LR",
    "small components + LR",
    "small components + balanced LR",
    "large components + LR",
    "large components + balanced LR",
    "components + tuned LR",
    BEST_VIEW,
)


def write_tables(problems: Sequence[Problem], output: Path) -> None:
    """Write ``confirmation.md``, ``.csv`` and ``.json``, and ``methods.csv`` with all means, from the scores that are there.

    Parameters
    ----------
    problems : sequence of Problem
    output : Path
        Folder of the folder ``scores``.
    """
    scores = read_scores(problems, output / "scores")
    if DEFAULT not in set(scores["method"]):
        print("no scores of the default yet, no tables")
        return
    rows = confirmation_rows(problems, scores)
    ranks = {metric: ranked(scores, metric) for metric in ("log_loss", "auc", "accuracy")}
    method_means(scores).to_csv(output / "methods.csv", index=False, float_format="%.4f", lineterminator="\n")
    rows.to_csv(output / "confirmation.csv", index=False, float_format="%.4f", lineterminator="\n")
    record = {"rows": json.loads(rows.to_json(orient="records", double_precision=4)), "ranks": ranks}
    (output / "confirmation.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (output / "confirmation.md").write_text("\n".join(_page(rows, ranks, scores)) + "\n", encoding="utf-8")


def read_scores(problems: Sequence[Problem], folder: Path) -> pd.DataFrame:
    """All stored scores below each other, with the column ``data``; the best view of each row under one name.

    Parameters
    ----------
    problems : sequence of Problem
    folder : Path

    Returns
    -------
    scores : DataFrame
    """
    files = {problem.name: folder / f"{problem.name}.csv" for problem in problems}
    parts = {name: pd.read_csv(file) for name, file in files.items() if file.exists()}
    scores = pd.concat(parts, names=["data", None]).reset_index("data").reset_index(drop=True)
    return pd.concat([scores, _best_views(scores)], ignore_index=True)


def _best_views(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores of the view that is the best in hindsight, by data set and number of labels."""
    alone = scores[scores["method"].str.endswith(" alone + LR")]
    means = alone.groupby(["data", "n_labeled", "method"])["log_loss"].mean()
    best = means.loc[means.groupby(level=["data", "n_labeled"]).idxmin()].reset_index()
    return alone.merge(best[["data", "n_labeled", "method"]]).assign(method=BEST_VIEW)


def method_means(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean of every score of every method, and the standard error of the mean log loss.

    Parameters
    ----------
    scores : DataFrame
        As of `read_scores`.

    Returns
    -------
    means : DataFrame
        One row per data set, number of labels and method.
    """
    groups = scores.groupby(["data", "n_labeled", "method"], sort=False)
    means = groups[[*METRICS, "seconds"]].mean()
    return means.assign(log_loss_error=groups["log_loss"].sem(), n_draws=groups["log_loss"].count()).reset_index()


def confirmation_rows(problems: Sequence[Problem], scores: pd.DataFrame) -> pd.DataFrame:
    """One row per data set and number of labels: the default, the best baseline in hindsight, their difference.

    Parameters
    ----------
    problems : sequence of Problem
    scores : DataFrame
        As of `read_scores`.

    Returns
    -------
    rows : DataFrame
    """
    prototype = pd.read_csv(Path(__file__).parent / "prototype.csv").set_index(["data", "n_labeled"])
    tables = {metric: score_table(scores, metric) for metric in METRICS}
    rows = []
    for problem in problems:
        for n_labeled, part in problem.counts.items():
            key = (problem.name, n_labeled)
            here = scores[(scores["data"] == problem.name) & (scores["n_labeled"] == n_labeled)]
            if DEFAULT not in set(here["method"]):
                continue
            means = {metric: table.loc[key] for metric, table in tables.items()}
            best = means["log_loss"].drop([DEFAULT, PRINTED, BEST_VIEW], errors="ignore").idxmin()
            row: dict[str, Any] = {"data": problem.name, "n_labeled": n_labeled, "part": part}
            row["n_draws"] = here.loc[here["method"] == DEFAULT, "draw"].nunique()
            for who, name in (("default", DEFAULT), ("printed", PRINTED), ("best", best)):
                row |= {f"{who}_{metric}": means[metric].get(name, float("nan")) for metric in METRICS}
            row["best_baseline"] = best
            row |= _differences(here, best)
            row["default_seconds"] = here.loc[here["method"] == DEFAULT, "seconds"].median()
            if key in prototype.index:
                row |= {f"prototype_{name}": prototype.loc[key, name] for name in ("log_loss", "auc", "difference")}
            rows.append(row)
    return pd.DataFrame(rows)


def _differences(here: pd.DataFrame, best: str) -> dict[str, Any]:
    """The default minus the best baseline on the same draws, with the verdict on the log loss."""
    pair = here[here["method"].isin([DEFAULT, best])]
    found = paired_differences(pair, reference=best, metrics=METRICS).set_index("metric")
    row: dict[str, Any] = {}
    for metric in METRICS:
        row[f"{metric}_difference"] = found.loc[metric, "mean"]
        row[f"{metric}_standard_error"] = found.loc[metric, "standard_error"]
    loss, error = row["log_loss_difference"], row["log_loss_standard_error"]
    row["verdict"] = "ahead" if loss < -2 * error else "behind" if loss > 2 * error else "level"
    return row


def ranked(scores: pd.DataFrame, metric: str) -> dict[str, Any]:
    """Mean ranks of the methods that every data set has, one rank per data set.

    Parameters
    ----------
    scores : DataFrame
    metric : str

    Returns
    -------
    ranks : dict
    """
    methods = [name for name in RANKED if name in set(scores["method"])]
    found = mean_ranks(scores, metric, methods=methods, rows=("data",), higher_is_better=metric != "log_loss")
    return {
        "n_data_sets": len(found.table),
        "ranks": found.ranks.round(2).to_dict(),
        "critical_difference": round(found.critical_difference, 2),
        "p_value": found.p_value,
    }


def _page(rows: pd.DataFrame, ranks: dict[str, Any], scores: pd.DataFrame) -> list[str]:
    lines = ["# The default against the best of the usual methods", ""]
    for part, title in PARTS.items():
        here = rows[rows["part"] == part]
        if len(here):
            lines += [f"## {title}", "", *_rows_table(here), "", _count(here), ""]
    lines += ["## All rows", "", _count(rows), "", "## Mean ranks over data sets", "", *_ranks_table(ranks)]
    return [*lines, "", "## Seconds of a fit (median over all rows and draws)", "", *_seconds_table(scores)]


def _rows_table(rows: pd.DataFrame) -> list[str]:
    """Markdown, one line per data set and number of labels."""
    lines = [
        "| data, labels | default: log loss / AUC / accuracy / Brier / ECE | printed model: log loss / AUC "
        "| best baseline in hindsight: log loss / AUC / accuracy | difference of log loss (s.e.) "
        "| of AUC (s.e.) | verdict | prototype: log loss, difference |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for _, row in rows.iterrows():
        default = " / ".join(f"{row[f'default_{metric}']:.3f}" for metric in METRICS)
        earlier = ""
        if pd.notna(row.get("prototype_log_loss")):
            earlier = f"{row['prototype_log_loss']:.3f}, {row['prototype_difference']:+.3f}"
        lines.append(
            f"| {row['data']}, {row['n_labeled']} | {default} | {row['printed_log_loss']:.3f} / {row['printed_auc']:.3f} "
            f"| {row['best_baseline']}: {row['best_log_loss']:.3f} / {row['best_auc']:.3f} / {row['best_accuracy']:.3f} "
            f"| {row['log_loss_difference']:+.3f} ({row['log_loss_standard_error']:.3f}) "
            f"| {row['auc_difference']:+.3f} ({row['auc_standard_error']:.3f}) | {row['verdict']} | {earlier} |"
        )
    return lines


def _count(rows: pd.DataFrame) -> str:
    counts = rows["verdict"].value_counts()
    said = ", ".join(f"{word} in {counts.get(word, 0)}" for word in ("ahead", "level", "behind"))
    return f"The default is {said} of {len(rows)} rows (log loss, two standard errors of the paired difference)."


def _ranks_table(ranks: dict[str, Any]) -> list[str]:
    metrics = list(ranks)
    lines = [f"| method | {' | '.join(metrics)} |", "|---|" + "---|" * len(metrics)]
    for method in ranks[metrics[0]]["ranks"]:
        lines.append(
            f"| {method} | {' | '.join(format(ranks[metric]['ranks'][method], '.2f') for metric in metrics)} |"
        )
    first = ranks[metrics[0]]
    said = ", ".join(f"{metric} {ranks[metric]['p_value']:.1g}" for metric in metrics)
    return [
        *lines,
        "",
        f"{first['n_data_sets']} data sets, each ranked by its mean over numbers of labels and draws. Two mean ranks "
        f"differ by Nemenyi's test at 5 % where they are more than {first['critical_difference']:.2f} apart. Friedman's "
        f"test: p = {said}.",
    ]


def _seconds_table(scores: pd.DataFrame) -> list[str]:
    named = scores[~scores["method"].str.endswith(" alone + LR")]
    median = named.groupby("method", sort=False)["seconds"].median()
    longest = named.groupby("method", sort=False)["seconds"].max()
    return [
        "| method | median | longest |",
        "|---|---|---|",
        *(f"| {name} | {median[name]:.3f} | {longest[name]:.2f} |" for name in median.sort_values().index),
    ]
