"""Sections of a campaign: where it stands, what to measure next, what is booked, what came back and what it changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from coview.acquisition import Campaign
from coview.inspection import measurement_reasons
from coview.metrics import probability_scores
from coview.report._figures_measure import money_bar
from coview.report._html import Note, Picture, Section
from coview.report._measurements import short_diagnosis, why_omitted
from coview.report._sections_measure import MEASURE_LIMITS, omitted_section
from coview.report._sections_reliance import reliance_sections
from coview.report._sections_scores import METRIC_NAMES, score_text
from coview.report._subject import Subject
from coview.report._tables import Columns, Table, signed
from coview.report._words import counted, listed

__all__ = [
    "booked_section",
    "label_section",
    "left_out_section",
    "money_text",
    "next_sections",
    "told_section",
    "where_section",
]

_LISTED_ORDERS = 200
_LISTED_EVENTS = 200
_LISTED_LABELS = 5
_RANDOM = "random"
# The criterion whose utilities are falls of the total entropy.
_FORECAST = "expected_entropy"
_ASK_AGAIN = "After some results come back, ask again: the model has learned, and another list may be better."
_UTILITIES = {
    "expected_entropy": "expected gain (nats)",
    "mutual_information": "information (nats)",
    "mutual_information_bound": "information (nats)",
    "variance": "variance",
    "a_optimality": "expected fall of variance",
}
# Newest answers of which the page says what they gained.
_MOST_REFITTED = 10


def where_section(status: dict[str, Any]) -> Section:
    """Counts, money as one bar, and why nothing can be asked where that is so."""
    text = f"Of the views that were missing at the start {_counts_text(status)}."
    labels = status["labels"]
    if labels["open"] or labels["booked"] or labels["returned"] or any(labels["closed"].values()):
        text += f" Of the labels {_counts_text(labels)}."
    paragraphs = (text, status["remark"]) if status["remark"] else (text,)
    blocks = (_money_picture(status),) if status["spent"] is not None else ()
    return Section("where", "Where it stands", paragraphs, blocks)


def _counts_text(counts: dict[str, Any]) -> str:
    """How many are open, booked, back and closed."""
    closed = [f"{count:,} {outcome}" for outcome, count in counts["closed"].items() if count]
    text = f"{counts['open']:,} are open, {counts['booked']:,} booked, {counts['returned']:,} came back"
    return text + (f"; closed: {listed(closed)}" if closed else "")


def money_text(status: dict[str, Any]) -> str:
    """What the first figure of money is about: ``spent, 200 ordered, of a budget of 2,000``."""
    budget = "" if status["budget"] is None else f", of a budget of {status['budget']:,.6g}"
    return f"spent, {status['ordered']:,.6g} ordered{budget}"


def _money_picture(status: dict[str, Any]) -> Picture:
    """Spent, ordered and left as one bar."""
    parts = {name: float(status[name]) for name in ("spent", "ordered", "left") if status[name] is not None}
    reading = ", ".join(f"{value:,.6g} {name}" for name, value in parts.items())
    reading = f"{reading[:1].upper()}{reading[1:]}. What was measured or failed is spent, what is booked is ordered."
    svg = money_bar(parts, title="The budget", key="money", description=reading)
    frame = pd.DataFrame({"what": list(parts), "sum": list(parts.values())})
    columns: Columns = {"what": ("what", ""), "sum": ("sum", ",.2f")}
    title = "Money, in the unit of the costs."
    return Picture(title, reading, (svg,), Table.from_frame(frame, "The budget", columns))


def next_sections(campaign: Campaign, status: dict[str, Any], n_listed: int) -> tuple[Section, ...]:
    """The ranking, and whether it can be relied on; that there is none, and why, where limits or the budget forbid it."""
    by_chance = campaign.criterion == _RANDOM
    if not by_chance and (omitted := why_omitted(campaign.views)) is not None:
        return (omitted_section(omitted),)
    table = campaign.ask(n_listed)
    if table.empty:
        return (Section("measure-next", "What to measure next", (status["remark"] or "Nothing is open.",)),)
    section = Section("measure-next", "What to measure next", *_next_parts(campaign, table, by_chance))
    diagnosis = None if by_chance else short_diagnosis(campaign.model, campaign.views, campaign.y)
    return (section, *reliance_sections(diagnosis))


def _next_parts(campaign: Campaign, table: pd.DataFrame, by_chance: bool) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """What the ranking means, and the ranking."""
    if by_chance:
        reasons = ["by chance"] * len(table)
        text = "The criterion of this campaign is chance: the order means nothing."
    else:
        reasons = measurement_reasons(campaign.model, campaign.views, campaign.labeled, table)
        text = (
            f"Ranked by {campaign.criterion.replace('_', ' ')}; each as if those before it, and those that are booked, had come "
            "back. Nothing is booked by looking: coview acquire -o FILE writes orders and books them."
        )
    frame = table.assign(rank=range(1, len(table) + 1), reason=reasons)
    columns: Columns = {"sample": ("sample", ""), "rank": ("rank", "d"), "view": ("view", "")}
    if not by_chance:
        columns["utility"] = (_UTILITIES.get(campaign.criterion, "utility"), ".3g")
    columns |= _cost_columns(frame)
    columns["reason"] = ("why", "")
    caption = f"The {counted(len(frame), 'measurement')} to make next, at most one per sample"
    return (text,), (
        Table.from_frame(frame, caption, columns),
        Note("How to take this list", (MEASURE_LIMITS[0], _ASK_AGAIN)),
    )


def _cost_columns(frame: pd.DataFrame) -> Columns:
    """Columns of money, of those that a frame has."""
    known: Columns = {
        "cost": ("cost", ",.2f"), "utility_per_cost": ("gain per cost", ".2g"), "cumulative_cost": ("cost so far", ",.2f"),
    }  # fmt: skip
    return {name: column for name, column in known.items() if name in frame and frame[name].notna().any()}


def booked_section(campaign: Campaign) -> Section | None:
    """Orders that are out; None where there are none."""
    orders = campaign.orders
    if orders.empty:
        return None
    columns: Columns = {
        "event": ("order", ""), "since": ("since", str), "sample": ("sample", ""), "view": ("view", ""),
    }  # fmt: skip
    if orders["utility"].notna().any():
        columns["utility"] = ("utility", ".3g")
    columns |= _cost_columns(orders)
    frame = orders.assign(
        since=orders["time"].dt.strftime("%Y-%m-%d %H:%M"), view=[_what("", view) for view in orders["view"]]
    )
    caption = _caption(len(frame), "order", _LISTED_ORDERS)
    text = f"{counted(len(orders), 'order is', 'orders are')} out and not back; what is booked is not suggested again."
    table = Table.from_frame(frame.head(_LISTED_ORDERS), caption, columns, scroll=len(frame) > 12)
    return Section("booked", "What is booked", (text,), (table,))


def _caption(count: int, what: str, most: int) -> str:
    return f"All {counted(count, what)}" if count <= most else f"The first {most} of {counted(count, what)}"


def label_section(campaign: Campaign) -> Section | None:
    """Which labels would tell most; None where chance decides, none is open, or the model cannot be asked."""
    model = campaign.model
    asks = hasattr(model, "consensus_posterior") and hasattr(model, "predict_proba") and campaign.criterion != _RANDOM
    if not asks or not campaign.status()["labels"]["open"]:
        return None
    table = campaign.ask(_LISTED_LABELS, kind="labels")
    if table.empty:
        return None
    reasons = measurement_reasons(model, campaign.views, campaign.labeled, table)
    frame = table.assign(rank=range(1, len(table) + 1), reason=reasons)
    columns: Columns = {"sample": ("sample", ""), "rank": ("rank", "d"), "utility": ("mutual information", ".3g")}
    columns |= {name: column for name, column in _cost_columns(frame).items() if frame["cost"].any()}
    columns["reason"] = ("predicted", "")
    text = (
        "Labels teach, too: these say most about the function that all predictions follow. coview acquire --kind labels orders "
        "them, --kind both puts them into one list with the views."
    )
    caption = f"The {counted(len(frame), 'label')} that would tell most"
    return Section("label-next", "What to label next", (text,), (Table.from_frame(frame, caption, columns),))


def told_section(campaign: Campaign) -> Section | None:
    """What came back, and what it changed; None where nothing did."""
    history = campaign.history
    told = history[history["action"].isin(list(_WORDS)) & ~history["undone"]]
    if told.empty:
        return None
    gains = _gains(campaign, told)
    frame = told.assign(
        when=told["time"].dt.strftime("%Y-%m-%d %H:%M"),
        what=[_what(action, view) for action, view in zip(told["action"], told["view"], strict=True)],
        came=[_came(row) for _, row in told.iterrows()],
    ).merge(gains[["event", "expected", "realized"]], on="event", how="left")
    columns: Columns = {
        "event": ("step", ""), "when": ("when", str), "sample": ("sample", ""), "what": ("what", ""), "came": ("came back", ""),
        "expected": ("expected", ".3g"), "realized": ("gain that came true", signed),
    }  # fmt: skip
    columns = {name: column for name, column in columns.items() if frame[name].notna().any()} | _cost_columns(frame)
    frame = frame.iloc[::-1]
    caption = f"{_caption(len(frame), 'step', _LISTED_EVENTS)}, newest first"
    counts = {word: int((told["action"] == action).sum()) for action, word in _WORDS.items()}
    parts = [counted(count, *word.split("|")) for word, count in counts.items() if count]
    text = f"{listed(parts)}. What was taken back by coview undo is left out; coview export --history has every step."
    table = Table.from_frame(frame.head(_LISTED_EVENTS), caption, columns, scroll=len(frame) > 12)
    return Section("told", "What came back, and what it changed", (text, *_gains_text(gains)), (table,))


def _gains(campaign: Campaign, told: pd.DataFrame) -> pd.DataFrame:
    """What answers were expected to gain; what they gained for the newest, each of which takes a fit."""
    answers = told.loc[told["action"] != "closed", "event"]
    since = int(answers.iloc[-_MOST_REFITTED - 1]) if len(answers) > _MOST_REFITTED else 0
    found = campaign.gains(refit=False)
    newest = campaign.gains(since).set_index("event")[["realized", "entropy"]]
    return found.drop(columns=["realized", "entropy"]).join(newest, on="event")


def _gains_text(gains: pd.DataFrame) -> tuple[str, ...]:
    """What the newest answers gained together, beside what was expected of them."""
    known = gains[gains["realized"].notna()]
    if known.empty:
        return ()
    start, now = known["entropy"].iloc[0] + known["realized"].iloc[0], known["entropy"].iloc[-1]
    text = (
        f"With the newest {counted(len(known), 'answer')} the uncertainty about all classes without a label went from "
        f"{start:,.4g} to {now:,.4g} nats (a gain of {signed(start - now)})"
    )
    asked = known[(known["criterion"] == _FORECAST) & known["expected"].notna()]
    if len(asked):
        text += (
            f"; {len(asked):,} of them were asked for as expected to gain {signed(asked['expected'].sum())} together, and gained "
            f"{signed(asked['realized'].sum())}"
        )
    return (
        f"{text}.",
        "Single answers scatter widely about what was expected of them; a gain below zero means that an answer made the model "
        "less sure, which can be right.",
    )


_WORDS = {
    "returned": "measured view|measured views",
    "labeled": "label|labels",
    "closed": "closed order|closed orders",
}


def _what(action: str, view: Any) -> str:
    return "label" if action == "labeled" or view is None or pd.isna(view) else str(view)


def _came(row: pd.Series) -> str:
    """That it was measured, a label, or why there is nothing."""
    if row["action"] == "labeled":
        return str(row["label"])
    if row["action"] == "closed":
        return f"{row['outcome']}: {row['reason']}" if row["reason"] else str(row["outcome"])
    return "measured"  # the page may go to people who are not to see values


def left_out_section(subject: Subject, campaign: Campaign) -> Section | None:
    """Scores of labels left out one at a time, in the closed form of the model; None where it has none."""
    left_out = getattr(subject.estimator, "loo_label_distributions_", None)
    if left_out is None or subject.regression:
        return None
    rows = np.flatnonzero(campaign.labeled & np.isfinite(left_out).all(axis=1))
    if len(rows) < 2:
        return None
    classes = subject.classes
    labels = np.array([str(label) for label in campaign.y[rows]])
    scores = probability_scores(labels, left_out[rows], classes=classes)
    frame = pd.DataFrame([{name: scores[name] for name in METRIC_NAMES if name in scores}])
    columns: Columns = {name: (METRIC_NAMES[name], score_text) for name in frame.columns}
    text = (
        f"Each of {counted(len(rows), 'label')} was left out in turn and predicted from all others, by the closed form of the "
        "model. Few labels, or labels of unusual samples, make such scores uncertain; coview fit on exported data compares the "
        "model with simpler ones."
    )
    return Section("quality", "How well it predicts labels it has not seen", (text,),
                   (Table.from_frame(frame, "Scores of labels left out", columns),))  # fmt: skip
