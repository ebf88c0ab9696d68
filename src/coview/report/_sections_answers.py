"""The samples given: which views they have, what is predicted for them, how it compares with their labels."""

from __future__ import annotations

import numpy as np
import pandas as pd

from coview.report._figures_model import confidence_bars
from coview.report._given import Given
from coview.report._html import Note, Picture, Section
from coview.report._sections_classes import confusion_picture
from coview.report._sections_numbers import observed_picture
from coview.report._sections_scores import METRIC_NAMES, scores_text
from coview.report._sections_training import presence_picture
from coview.report._subject import Subject
from coview.report._tables import Columns, Table
from coview.report._words import counted, listed, share_of, shorten

__all__ = ["answers_section", "labels_section"]

# A page of more rows is slow to open; coview predict writes all of them.
_LISTED_SAMPLES = 2000
_LISTED_CLASSES = 12
_CONFIDENCE = (("0.9 or more", 0.9, 2.0), ("0.7 to 0.9", 0.7, 0.9), ("less than 0.7", -1.0, 0.7))


def answers_section(
    subject: Subject, given: Given, *, title: str = "Predictions for the data given",
    in_full: str = "Predictions in full precision: coview predict.",
) -> Section:  # fmt: skip
    """Presence and predictions of the samples given.

    Parameters
    ----------
    subject : Subject
    given : Given
    title, in_full : str
        Heading, and where predictions stand in full precision.

    Returns
    -------
    section : Section
    """
    answers = given.answers
    blocks: list[Picture | Table | Note] = []
    if given.notes or given.unanswered:
        items = list(given.notes)
        if given.unanswered:
            items.append(
                f"{counted(len(given.unanswered), 'sample has', 'samples have')} no view that the model knows and no "
                f"prediction: {listed(given.unanswered)}."
            )
        blocks.append(Note("Left aside", tuple(items)))
    if len(answers):
        presence = _given_presence(subject, given)
        blocks += [] if presence is None else [presence]
        blocks.append(_confidence_picture(subject, given) if not subject.regression else _number_table(given))
    text = (
        f"{counted(len(answers), 'sample')} with a view that the model knows; {given.n_labeled:,} of them have a label. "
        f"{in_full}"
    )
    if given.n_trained:
        text += (
            f" {given.n_trained:,} labels were in training; the predictions of these samples know their label and look "
            "better than they would for new ones."
        )
    return Section("predictions", title, (text,), tuple(blocks))


def _given_presence(subject: Subject, given: Given) -> Picture | None:
    """Which views the samples given have; None where that is what is shown of the training data."""
    names = given.tables.names
    patterns, counts = np.unique(given.presence, axis=0, return_counts=True)
    order = np.argsort(-counts[::-1], kind="stable")  # among equally frequent ones the fuller first
    shown = {frozenset(p["views"]): p["n_samples"] for p in subject.record.get("patterns") or []}
    found = {frozenset(np.array(names)[row]): n for row, n in zip(patterns, counts.tolist(), strict=True)}
    if found == shown:
        return None
    return presence_picture(names, patterns[::-1][order], counts[::-1][order].tolist(), key="given-presence")


def _confidence_picture(subject: Subject, given: Given) -> Picture:
    """Predictions of each class by how sure they are; every prediction as the table."""
    answers = given.answers
    counts = pd.DataFrame(
        {
            label: answers["predicted"][
                (answers["probability"] >= low) & (answers["probability"] < high)
            ].value_counts()
            for label, low, high in _CONFIDENCE
        }
    )
    called = [name for name in subject.classes if name in set(answers["predicted"])]
    counts = counts.reindex(called).fillna(0).astype(int)
    most = answers["predicted"].value_counts()
    sure = int(counts.iloc[:, 0].sum())
    reading = (
        f"{share_of(sure, len(answers))} predictions state a probability of 0.9 or more; {shorten(most.index[0], 40)} is "
        f"predicted most often ({most.iloc[0]:,} times)"
    )
    never = len(subject.classes) - len(called)
    reading += f", {counted(never, 'class')} never." if never else "."
    svg = confidence_bars(
        counts, title="Predictions by stated probability", axis="samples", key="given-confidence", description=reading
    )
    return Picture("What is predicted, and how surely.", reading, (svg,), _class_answers(subject, given))


def _class_answers(subject: Subject, given: Given) -> Table:
    """One row per sample, surest first: predicted class, probabilities, views, label."""
    frame = given.answers.rename_axis("sample").reset_index()
    proba = pd.DataFrame(given.probabilities, columns=[f"p{k}" for k in range(len(subject.classes))])
    frame = pd.concat([frame, proba], axis=1).sort_values("probability", ascending=False, kind="stable")
    columns: Columns = {"sample": ("sample", ""), "predicted": ("predicted", ""), "probability": ("probability", ".3f")}
    if len(subject.classes) <= _LISTED_CLASSES:
        columns |= {f"p{k}": (name, ".3f") for k, name in enumerate(subject.classes)}
    return _rows(given, frame, columns, "surest first")


def _number_table(given: Given) -> Table:
    """One row per sample in the order of the data: prediction, interval, views, label."""
    frame = given.answers.rename_axis("sample").reset_index()
    columns: Columns = {"sample": ("sample", ""), "predicted": ("predicted", ".4g")}
    if frame["sd"].notna().any():
        columns |= {"sd": ("standard deviation", ".3g"), "lower": ("90 % from", ".4g"), "upper": ("to", ".4g")}
    return _rows(given, frame, columns, "in the order of the data")


def _rows(given: Given, frame: pd.DataFrame, columns: Columns, order: str) -> Table:
    """The first rows as a table, with views and labels."""
    columns = columns | {"views": ("views observed", "")}
    if given.n_labeled:
        frame = frame.assign(training=np.where(frame["label"].notna() & frame["trained"], "training", ""))
        columns |= {"label": ("label", "" if given.probabilities is not None else ".4g")}
        if given.n_trained:
            columns |= {"training": ("label was in", "")}
    shown = frame.head(_LISTED_SAMPLES)
    caption = f"All {counted(len(frame), 'prediction')}, {order}"
    if len(shown) < len(frame):
        caption = f"The first {len(shown):,} of {counted(len(frame), 'prediction')}, {order}; coview predict writes all"
    return Table.from_frame(shown, caption, columns, scroll=len(shown) > 12)


def labels_section(subject: Subject, given: Given) -> Section | None:
    """Scores against labels of the data given that were not in training."""
    if not given.n_labeled:
        return None
    title = "Against the labels of the data given"
    notes = _test_notes(subject, given)
    if given.scores is None:
        text = "None of these labels is new to the model, so they say nothing about samples it has not seen."
        return Section("test", title, (text,), notes)
    rows = [{"data": "these data"} | {metric: scores_text(v, np.nan) for metric, v in given.scores.items()}]
    evaluation = subject.evaluation
    if evaluation is not None:
        indexed = evaluation.scores.set_index(["method", "metric"])
        known = [metric for metric in given.scores if (subject.method, metric) in indexed.index]
        cross = {m: scores_text(*indexed.loc[(subject.method, m), ["mean", "se"]]) for m in known}
        rows.append({"data": "cross-validation"} | cross)
    columns: Columns = {"data": ("", "")}
    columns |= {metric: (METRIC_NAMES[metric], str) for metric in METRIC_NAMES if metric in given.scores}
    table = Table.from_frame(pd.DataFrame(rows), "Scores on these labels, and in cross-validation", columns)
    text = f"Scored on {counted(given.n_scored, 'sample')} whose label was not in training."
    return Section("test", title, (text,), (*notes, table, _test_picture(subject, given)))


def _test_picture(subject: Subject, given: Given) -> Picture:
    fresh = given.answers[given.answers["label"].notna() & ~given.answers["trained"]]
    if subject.regression:
        samples = fresh.rename(columns={"label": "observed"}).astype({"observed": float})
        return observed_picture(samples, subject.target, key="test")
    fresh = fresh[fresh["label"].isin(subject.classes)]
    return confusion_picture(fresh["label"], fresh["predicted"], subject.classes, key="test-confusion", what="samples")


def _test_notes(subject: Subject, given: Given) -> tuple[Note, ...]:
    """What keeps labels from being scored."""
    items = []
    if given.n_trained:
        items.append(f"{counted(given.n_trained, 'label was', 'labels were')} in training and are not scored here.")
    if given.n_foreign:
        items.append(f"{counted(given.n_foreign, 'label names', 'labels name')} a class that the model does not know.")
    if subject.evaluation is None:
        items.append(
            "The model file does not say which samples were in training; if these were, the scores flatter it."
        )
    return (Note("About these labels", tuple(items)),) if items else ()
