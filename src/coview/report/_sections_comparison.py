"""Sections that compare: other ways on the same draws, parts of the samples, the printed model."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from coview.report._exhibits import METRICS, OURS, PRINTED, Exhibit
from coview.report._figures_scores import (
    BASELINE,
    OTHER,
    OURS_LOOK,
    PRINTED_LOOK,
    Look,
    confidence_steps,
    difference_forest,
    learning_curve,
)
from coview.report._html import Picture, Section
from coview.report._sections_quality import looks_for, reliability
from coview.report._tables import Columns, Table, signed

METRIC_NAMES = {
    "log_loss": "log loss",
    "auc": "AUC",
    "accuracy": "accuracy",
    "brier": "Brier score",
    "calibration_error": "calibration error",
    "confidence": "mean confidence",
}
SCORES: Columns = {metric: (METRIC_NAMES[metric], ".3f") for metric in METRICS}


def comparison_section(exhibit: Exhibit, *, paragraphs: Sequence[str], level: int) -> Section:
    """The same draws for what a user would do otherwise."""
    blocks: tuple[Picture | Table, ...] = (
        learning_picture(exhibit),
        loss_table(exhibit),
        forest_picture(exhibit),
        *score_tables(exhibit),
    )
    title = "The same labels, done otherwise"
    return Section(f"{exhibit.job.name}-comparison", title, tuple(paragraphs), blocks, level)


def learning_picture(exhibit: Exhibit) -> Picture:
    """Log loss and accuracy against the number of labels."""
    first = exhibit.job.counts[0]
    looks = looks_for(exhibit, first)
    looks = {
        OURS: looks[OURS],
        exhibit.best_baseline(first): BASELINE,
        "mean imputation + LR": OTHER,
        PRINTED: looks[PRINTED],
    }
    part = exhibit.summary[(exhibit.summary["group"] == "all") & exhibit.summary["method"].isin(looks)]
    panels = [
        learning_curve(
            part[part["metric"] == metric], looks, title=f"{METRIC_NAMES[metric]} ({better} is better)",
            key=f"{exhibit.job.name}-learning-{metric}", score=METRIC_NAMES[metric], floor=floor,
            description=f"{METRIC_NAMES[metric]} against number of labels for {', '.join(looks)}.",
        )
        for metric, better, floor in (("log_loss", "lower", 0.0), ("accuracy", "higher", 0.4))
    ]  # fmt: skip
    table = part.pivot_table(index=["method", "n_labeled"], columns="metric", values="mean", sort=False).reset_index()
    columns: Columns = {
        "method": ("method", ""),
        "n_labeled": ("labels", "d"),
        **SCORES,
    }
    text = Table.from_frame(table, "Means over the draws made now", columns, strong=table["method"] == OURS)
    return Picture("How much the labels matter.", _learning_reading(exhibit), tuple(panels), text)


def _learning_reading(exhibit: Exhibit) -> str:
    """Where coview is ahead, and where the gap closes."""
    parts = []
    for count in exhibit.job.counts:
        best = exhibit.best_baseline(count, stored=True)
        row = exhibit.difference(best, count)
        parts.append(
            f"{verdict(row)} with {count} labels ({signed(row['mean'])}, standard error {row['standard_error']:.3f})"
        )
    return f"Against the best other way, log loss, positive where coview is better: {'; '.join(parts)}."


def verdict(row: pd.Series) -> str:
    """Ahead, level or behind, by two standard errors of the paired difference."""
    if row["low"] > 0:
        return "ahead"
    return "behind" if row["high"] < 0 else "level"


def forest_picture(exhibit: Exhibit) -> Picture:
    """Paired differences of every other way from coview, a panel per number of labels."""
    stored = exhibit.stored
    panels, rows = [], []
    for count in exhibit.job.counts:
        live = _log_loss(exhibit.differences, count)
        kept = None if stored is None else _log_loss(stored.differences, count)
        title = f"{count} labels"
        panels.append(
            difference_forest(
                live, kept, title=title, key=(
                    f"{exhibit.job.name}-forest-{count}"
                ), limit=0.5 if exhibit.job.counts[0] < 20 else 0.3,
                description=f"Log loss of every method minus coview's with {title}, two standard errors.",
            )
        )  # fmt: skip
        both = (
            live.assign(draws="now")
            if kept is None
            else pd.concat([kept.assign(draws="stored"), live.assign(draws="now")])
        )
        rows.append(both)
    columns: Columns = {
        "n_labeled": ("labels", "d"), "method": ("method", ""), "draws": ("draws", ""), "n_draws": ("n", "d"),
        "mean": ("difference", signed), "standard_error": ("standard error", ".3f"),
    }  # fmt: skip
    text = Table.from_frame(
        pd.concat(rows), "Log loss minus coview's on the same draws; positive: coview is better", columns, scroll=True
    )
    reading = (
        "A mark to the right of the line means that coview was better on the same draws; a bar of two standard errors "
        "that crosses the line means that the data cannot tell."
    )
    return Picture("Paired differences.", reading, tuple(panels), text)


def _log_loss(differences: pd.DataFrame, n_labeled: int) -> pd.DataFrame:
    """Differences in log loss over all samples at one number of labels, smallest first."""
    part = differences[(differences["n_labeled"] == n_labeled) & (differences["metric"] == "log_loss")]
    return part[part["group"] == "all"].sort_values("mean", kind="stable")


def loss_table(exhibit: Exhibit) -> Table:
    """Log loss of every method and its paired difference, numbers of labels side by side."""
    summary, differences = exhibit.sources
    n_draws = int(summary["n_draws"].max())
    frame = pd.DataFrame()
    columns: Columns = {"method": ("method", "")}
    for count in exhibit.job.counts:
        part = summary[
            (summary["n_labeled"] == count) & (summary["group"] == "all") & (summary["metric"] == "log_loss")
        ]
        gaps = _log_loss(differences, count).set_index("method")
        frame[f"loss {count}"] = part.set_index("method")["mean"]
        frame[f"gap {count}"] = gaps["mean"].map(signed) + " (" + gaps["standard_error"].map("{:.3f}".format) + ")"
        columns |= {f"loss {count}": (f"{count} labels", ".3f"), f"gap {count}": ("minus coview (s.e.)", str)}
    frame = frame.sort_values(f"loss {exhibit.job.counts[0]}", kind="stable").rename_axis("method").reset_index()
    caption = (
        f"Log loss (nats, lower is better) and paired difference from coview with its standard error, {n_draws} draws"
    )
    return Table.from_frame(frame, caption, columns, strong=frame["method"] == OURS)


def score_tables(exhibit: Exhibit) -> list[Table]:
    """All scores of all methods, one folded table per number of labels."""
    source, _ = exhibit.sources
    n_draws = int(source["n_draws"].max())
    columns: Columns = {"method": ("method", ""), **SCORES}
    tables = []
    for count in exhibit.job.counts:
        part = source[(source["n_labeled"] == count) & (source["group"] == "all")]
        wide = part.pivot_table(index="method", columns="metric", values="mean", sort=False)
        wide = wide.sort_values("log_loss", kind="stable").reset_index()
        caption = f"All scores with {count} labels, mean over {n_draws} draws"
        tables.append(Table.from_frame(wide, caption, columns, strong=wide["method"] == OURS, folded=True))
    return tables


def group_section(
    exhibit: Exhibit, *, key: str, title: str, groups: Sequence[str], paragraphs: Sequence[str]
) -> Section:
    """Parts of the samples apart: a method is to be judged where a view is missing too."""
    first = exhibit.job.counts[0]
    best = exhibit.best_baseline(first)
    part = exhibit.summary[exhibit.summary["group"].isin(groups) & exhibit.summary["method"].isin([OURS, best])]
    lines = {
        (OURS, groups[0]): Look("ours", "-", "o"), (OURS, groups[1]): Look("ours", (0, (2, 2)), "v"),
        (best, groups[0]): Look("baseline", (0, (5, 2)), "s"), (best, groups[1]): Look("baseline", (0, (1, 1.6)), "D"),
    }  # fmt: skip
    named = part.assign(method=part["method"] + ", " + part["group"])
    looks = {f"{method}, {group}": look for (method, group), look in lines.items()}
    panels = [
        learning_curve(
            named[named["metric"] == metric], looks, title=f"{METRIC_NAMES[metric]} ({better} is better)",
            key=f"{key}-{metric}", score=METRIC_NAMES[metric], floor=floor,
            description=(
                f"{METRIC_NAMES[metric]} of the {exhibit.job.plural} {' and '.join(groups)} against number of labels."
            ),
        )
        for metric, better, floor in (("log_loss", "lower", 0.0), ("accuracy", "higher", 0.4))
    ]  # fmt: skip
    table = part.pivot_table(index=["group", "method", "n_labeled"], columns="metric", values="mean", sort=False)
    columns: Columns = {
        "group": ((
            ""
        ), (
            ""
        )), (
            "method"
        ): ((
            "method"
        ), (
            ""
        )), (
            "n_labeled"
        ): ((
            "labels"
        ), (
            "d"
        )), **{m: (METRIC_NAMES[m], (
            ".3f"
        )) for m in METRICS},
    }  # fmt: skip
    frame = table.reset_index()
    text = Table.from_frame(frame, "Means over the draws made now", columns, strong=frame["method"] == OURS)
    here, there = (exhibit.mean(OURS, first, "log_loss", group=g) for g in groups)
    other = exhibit.mean(best, first, "log_loss", group=groups[1])
    reading = (
        f"With {first} labels the {exhibit.job.plural} {groups[1]} have a log loss of {there:.2f} (coview) against "
        f"{other:.2f} (best other way); those {groups[0]} have {here:.2f}."
    )
    picture = Picture(f"The {exhibit.job.plural} {groups[1]}, apart.", reading, tuple(panels), text)
    return Section(key, title, tuple(paragraphs), (picture,))


def printed_section(exhibit: Exhibit, *, paragraphs: Sequence[str]) -> Section:
    """The printed model beside the default: how sure each says it is, and what it scores."""
    first = exhibit.job.counts[0]
    looks = {OURS: OURS_LOOK, PRINTED: PRINTED_LOOK}
    tables = {method: reliability(exhibit, method, first) for method in looks}
    svg = confidence_steps(
        tables, looks, title=f"Stated confidence, {first} labels", key="printed-confidence",
        description="Histogram of the probability of the predicted class for coview and for the printed model.",
    )  # fmt: skip
    rows = [table.assign(method=method) for method, table in tables.items()]
    columns: Columns = {
        "method": ((
            "method"
        ), (
            ""
        )), (
            "low"
        ): ((
            "from"
        ), (
            ".1f"
        )), (
            "high"
        ): ((
            "to"
        ), (
            ".1f"
        )), (
            "n"
        ): ((
            "predictions"
        ), (
            "d"
        )), (
            "accuracy"
        ): ((
            "share right"
        ), (
            ".3f"
        )),
    }  # fmt: skip
    text = Table.from_frame(pd.concat(rows), "Predictions by stated confidence, all draws together", columns)
    printed, ours = (
        (exhibit.mean(m, first, "accuracy"), exhibit.mean(m, first, "confidence")) for m in (PRINTED, OURS)
    )
    reading = (
        f"The printed model is right in {printed[0]:.0%} of the cases but states a mean confidence of "
        f"{printed[1]:.2f}; coview states {ours[1]:.2f} and is right in {ours[0]:.0%}."
    )
    picture = Picture("Two ways to attach the labels.", reading, (svg,), text)
    part = exhibit.summary[(exhibit.summary["group"] == "all") & exhibit.summary["method"].isin([OURS, PRINTED])]
    wide = part.pivot_table(index=["n_labeled", "method"], columns="metric", values="mean", sort=False).reset_index()
    columns = {"n_labeled": ("labels", "d"), "method": ("model", ""), **SCORES}
    scores = Table.from_frame(
        wide, "The printed model and the default on the same draws", columns, strong=wide["method"] == OURS
    )
    return Section("printed", "The printed model, and why it is not the default", tuple(paragraphs), (picture, scores))
