"""What the model was trained on: views, patterns, classes, what was noticed and guessed, how tables became numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from coview.report._figures_data import pattern_map
from coview.report._html import Note, Picture, Section
from coview.report._subject import Subject
from coview.report._tables import Columns, Table, percent
from coview.report._words import counted, listed, share_of

__all__ = ["encoding_section", "presence_picture", "reading_section", "training_section"]

# More patterns cannot be told apart in a picture of 420 pixels, and more rows of a table are not read.
_DRAWN_PATTERNS = 40
_LISTED_PATTERNS = 60
_LISTED_COLUMNS = 300
_FINDING_IDS = 8
_PLURALS = {"category": "categories"}


def training_section(subject: Subject) -> Section | None:
    """Views, patterns and classes of the training data."""
    record = subject.record
    if not record.get("views"):
        return None
    blocks: list[Picture | Table | Note] = [_view_table(record)]
    patterns = record.get("patterns") or []
    if patterns:
        blocks.append(_training_presence(subject, patterns))
    if record.get("class_counts") and not subject.regression:
        blocks.append(_class_table(record["class_counts"]))
    paragraphs = (
        f"{counted(record.get('n_samples', 0), 'sample')} with {counted(len(record['views']), 'view')}; "
        f"{share_of(record.get('n_labeled', 0), record.get('n_samples', 0))} have a label. Samples without a label take "
        "part in learning too, unless the method can use labeled ones only.",
    )
    return Section("training", "What the model was trained on", paragraphs, tuple(blocks))


def _view_table(record: Any) -> Table:
    """One row per view: where it came from, its width, who has it."""
    total = int(record.get("n_samples", 0))
    frame = pd.DataFrame(
        [
            {
                "view": name,
                "file": facts.get("file") or "",
                "columns": facts["n_columns"],
                "observed": facts["n_samples"],
            }
            for name, facts in record["views"].items()
        ]
    )
    frame["missing"] = total - frame["observed"]
    columns: Columns = {
        "view": ("view", ""), "file": ("file", ""), "columns": ("columns", ",d"), "observed": ("samples", ",d"),
        "missing": ("missing", ",d"),
    }  # fmt: skip
    return Table.from_frame(frame, "The views", columns)


def _training_presence(subject: Subject, patterns: Sequence[Any]) -> Picture:
    observed = np.array([[view in pattern["views"] for view in subject.views] for pattern in patterns], dtype=bool)
    extra = [pattern.get("n_labeled", 0) for pattern in patterns]
    counts = [int(pattern["n_samples"]) for pattern in patterns]
    return presence_picture(subject.views, observed, counts, key="training-presence", labeled=extra)


def presence_picture(
    views: Sequence[str], observed: np.ndarray[Any, Any], counts: Sequence[int], *, key: str,
    labeled: Sequence[int] | None = None,
) -> Picture:  # fmt: skip
    """Which samples have which views: map, and a row per pattern.

    Parameters
    ----------
    views : sequence of str
    observed : ndarray of shape (n_patterns, n_views), dtype=bool
        Patterns, most frequent first.
    counts : sequence of int
        Samples of each.
    key : str
        Id prefix.
    labeled : sequence of int, default=None
        Labeled samples of each.

    Returns
    -------
    picture : Picture
    """
    total, complete = sum(counts), sum(n for row, n in zip(observed, counts, strict=True) if row.all())
    reading = f"{share_of(complete, total)} samples have every view; {counted(len(counts), 'pattern')} of views " + (
        "occur." if len(counts) > 1 else "occurs."
    )
    most = [
        f"{n:,} have {listed([v for v, seen in zip(views, row, strict=True) if seen], 12) or 'no view'}"
        for row, n in zip(observed[:3], counts[:3], strict=True)
    ]
    svg = pattern_map(
        observed[:_DRAWN_PATTERNS], counts[:_DRAWN_PATTERNS], views, plural="samples", key=key,
        description=f"{reading} {'; '.join(most)}.", n_rarer=sum(counts[_DRAWN_PATTERNS:]),
    )  # fmt: skip
    frame = pd.DataFrame({f"v{j}": np.where(observed[:, j], "yes", "missing") for j in range(len(views))})
    frame["n"] = counts
    columns: Columns = {"n": ("samples", ",d")}
    if labeled is not None:
        frame["labeled"] = labeled
        columns["labeled"] = ("labeled", ",d")
    columns |= {f"v{j}": (view, "") for j, view in enumerate(views)}
    caption = "Every pattern of observed views, most frequent first"
    if len(frame) > _LISTED_PATTERNS:
        caption = f"The {_LISTED_PATTERNS} most frequent of {len(frame):,} patterns of observed views"
    table = Table.from_frame(frame.head(_LISTED_PATTERNS), caption, columns, scroll=len(frame) > 12)
    return Picture("What is there and what is missing.", reading, (svg,), table)


def _class_table(counts: Any) -> Table:
    """Labeled samples of every class with their share."""
    frame = pd.DataFrame({"class": list(counts), "n": list(counts.values())}).sort_values(
        "n", ascending=False, kind="stable"
    )
    frame["share"] = frame["n"] / max(int(frame["n"].sum()), 1)
    columns: Columns = {"class": ("class", ""), "n": ("labeled samples", ",d"), "share": ("share", percent)}
    return Table.from_frame(frame, "Labeled samples of each class", columns, scroll=len(frame) > 20)


def reading_section(subject: Subject) -> Section | None:
    """What was noticed in the data, and what was guessed about the files."""
    findings, guesses = subject.record.get("findings") or [], subject.record.get("guesses") or {}
    blocks: list[Note | Table] = []
    for level, title, tone in (
        ("error", "Errors", "bad"),
        ("warning", "Warnings", "bad"),
        ("note", "Notes", "plain"),
    ):
        items = tuple(_finding_text(finding) for finding in findings if finding.get("level") == level)
        if items:
            blocks.append(Note(f"{title} ({len(items):,})", items[:50], tone=tone))
    rows = [
        {"file": file, "what": what, "value": str(value)}
        for file, facts in guesses.items()
        for what, value in facts.items()
    ]
    if rows:
        columns: Columns = {"file": ("file", ""), "what": ("what", ""), "value": ("taken as", "")}
        caption = "What was found out about the files"
        blocks.append(Table.from_frame(pd.DataFrame(rows), caption, columns, scroll=len(rows) > 16))
    if not blocks:
        return None
    text = "Found while the training data were read and checked." if findings else "Nothing odd was found in the data."
    return Section("findings", "What was noticed in the data", (text,), tuple(blocks))


def _finding_text(finding: Any) -> str:
    """A finding in one line, with its first samples where the message names none."""
    message, advice = finding.get("message", ""), finding.get("advice", "")
    ids = [str(name) for name in finding.get("ids") or []]
    told = any(name in message for name in ids)
    samples = f" Samples: {listed(ids, _FINDING_IDS)}." if ids and not told else ""
    return f"{message}{samples} {advice}".strip()


def encoding_section(subject: Subject) -> Section | None:
    """How the columns of each table became numbers."""
    report = getattr(subject.encoder, "report_", None)
    if report is None:
        return None
    summary = report.groupby("view", sort=False).agg(columns=("column", "size"), gaps=("gaps_filled", "sum"))
    kinds = report.groupby(["view", "kind"], sort=False).size()
    summary["kinds"] = [
        ", ".join(counted(count, kind, _PLURALS.get(kind)) for kind, count in kinds[view].items())
        for view in summary.index
    ]
    columns: Columns = {
        "view": ("view", ""), "columns": ("columns", ",d"), "kinds": ("kinds", ""), "gaps": ("gaps filled", ",d"),
    }  # fmt: skip
    overview = Table.from_frame(summary.reset_index(), "How the tables became numbers", columns)
    shown = report.head(_LISTED_COLUMNS)
    caption = f"All {counted(len(report), 'column')}"
    if len(report) > len(shown):
        caption = f"The first {len(shown):,} of {counted(len(report), 'column')}"
    columns = {
        "view": ("view", ""), "column": ("column", ""), "kind": ("kind", ""), "encoding": ("encoding", ""),
        "gaps_filled": ("gaps filled", ",d"),
    }  # fmt: skip
    each = Table.from_frame(shown, caption, columns, scroll=len(shown) > 12, folded=True)
    paragraphs = (
        "Learned from the training data and applied to all others. A row without any value of a view is a missing view "
        "and is never filled in here.",
    )
    return Section("encoding", "How the tables became numbers", paragraphs, (overview, each))
