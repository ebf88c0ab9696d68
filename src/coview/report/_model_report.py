"""The report on a fitted model, alone or with data."""

from __future__ import annotations

from typing import Any

import pandas as pd

import coview
from coview.report._html import Note, Report, Section
from coview.report._sections_answers import answers_section, labels_section
from coview.report._sections_classes import class_quality_section
from coview.report._sections_insight import features_section, map_section, uncertain_section
from coview.report._sections_measure import given_measure_sections
from coview.report._sections_numbers import number_quality_section
from coview.report._sections_scores import METRIC_NAMES, score_text, without_evaluation
from coview.report._sections_training import encoding_section, reading_section, training_section
from coview.report._sections_trust import trust_section
from coview.report._subject import Subject, make_subject
from coview.report._tables import Columns, Table
from coview.report._words import counted, listed

__all__ = ["model_report"]


def model_report(saved: Any, table_set: Any = None) -> Report:
    """Everything about a fitted model on one page; with data, its predictions for them too.

    Parameters
    ----------
    saved : SavedModel
        From `coview.persistence.load_model`: the fitted pipeline and the record that ``coview fit`` keeps beside it.
    table_set : TableSet, default=None
        Samples to predict and to look into, from `coview.files.read_table_set`; their labels, where they have some that
        were not in training, are scored apart.

    Returns
    -------
    report : Report
        For `render_report`. Nothing in it depends on time or place: same model and data, same bytes.

    Raises
    ------
    ViewError
        If the data lack columns that the model needs.

    Notes
    -----
    Sections for which the model or its record has nothing are left out: trust and explanations of methods that have
    none, quality where nothing was cross-validated. Pictures draw, and tables list, a stated part of many samples.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from coview.datasets import make_two_gaussian_views
    >>> from coview.gaussian_process import BayesianCoTrainingClassifier
    >>> from coview.report import model_report
    >>> views, y = make_two_gaussian_views(n_samples=40, random_state=0)
    >>> model = BayesianCoTrainingClassifier(random_state=0).fit(views, y)
    >>> model_report(SimpleNamespace(model=model, manifest={}, record={"target": "group"})).title
    'Predicting group'
    """
    subject = make_subject(saved, table_set)
    return Report(
        title=f"Predicting {subject.target}",
        lead=_lead(subject),
        facts=_facts(subject),
        sections=tuple(section for section in _sections(subject) if section is not None),
        footer=_footer(subject),
    )


def _sections(subject: Subject) -> list[Section | None]:
    """Sections in reading order, None where there is nothing to say."""
    evaluation, given = subject.evaluation, subject.given
    if evaluation is None:
        quality = without_evaluation()
    elif subject.regression:
        quality = number_quality_section(subject, evaluation)
    else:
        quality = class_quality_section(subject, evaluation)
    of_data: list[Section | None] = []
    if given is not None:
        of_data = [
            answers_section(subject, given),
            labels_section(subject, given),
            uncertain_section(subject, given),
            *given_measure_sections(subject, given),
            map_section(subject, given),
            features_section(subject, given),
        ]
    return [
        _short_section(subject),
        quality,
        trust_section(subject),
        *of_data,
        training_section(subject),
        reading_section(subject),
        encoding_section(subject),
        _made_section(subject),
    ]


def _lead(subject: Subject) -> str:
    """What was predicted from what, in a sentence."""
    record = subject.record
    kind = "a number" if subject.regression else counted(len(subject.classes), "class", "classes")
    views = f" from {counted(len(subject.views), 'view')} ({listed(subject.views, 6)})" if subject.views else ""
    known = f", learned from {counted(record['n_labeled'], 'labeled sample')}" if record.get("n_labeled") else ""
    return f"{kind[0].upper()}{kind[1:]} predicted{views} by {subject.method}{known}."


def _facts(subject: Subject) -> tuple[tuple[str, str], ...]:
    """Large figures: sizes, and the main score beside the guess without any view."""
    record, evaluation = subject.record, subject.evaluation
    facts = []
    if record.get("n_samples"):
        facts.append((f"{record['n_samples']:,}", "samples in training"))
        facts.append((f"{record.get('n_labeled', 0):,}", "of them labeled"))
    if evaluation is not None and subject.method in evaluation.predictions:
        for metric in ("rmse", "coverage_90") if subject.regression else ("accuracy", "log_loss"):
            value, guess = (evaluation.score(method, metric) for method in (subject.method, subject.prior))
            if not pd.isna(value):
                facts.append(
                    (
                        score_text(value),
                        f"{METRIC_NAMES[metric]} in cross-validation; {subject.prior} {score_text(guess)}",
                    )
                )
    return tuple(facts)


def _short_section(subject: Subject) -> Section | None:
    """The verdict, and what to look at first."""
    verdict = tuple(subject.record.get("verdict") or ())
    findings = subject.record.get("findings") or []
    urgent = [finding["message"] for finding in findings if finding.get("level") in ("error", "warning")]
    blocks = []
    if verdict:
        useless = any("useless" in sentence or "It is worse" in sentence for sentence in verdict)
        blocks.append(Note("Verdict of the cross-validation", verdict, tone="bad" if useless else "good"))
    if urgent:
        title = f"{counted(len(urgent), 'warning')} about the training data"
        blocks.append(Note(title, tuple(urgent[:5]), tone="bad"))
    return Section("in-short", "In short", blocks=tuple(blocks)) if blocks else None


def _made_section(subject: Subject) -> Section:
    """Command, seed and versions: how to make the model and this page again."""
    record = subject.record
    rows = [("method", subject.method)]
    if record.get("command"):
        rows.append(("command", str(record["command"])))
    if record.get("seed") is not None:
        rows.append(("seed", str(record["seed"])))
    rows += [(f"{name}, at the fit", str(version)) for name, version in (record.get("versions") or {}).items()]
    rows.append(("coview, for this page", coview.__version__))
    frame = pd.DataFrame(rows, columns=["what", "value"])
    columns: Columns = {"what": ("what", ""), "value": ("value", "")}
    text = "The same command on the same files gives the same model, byte for byte, with the same versions."
    return Section(
        "made", "How it was made", (text,), (Table.from_frame(frame, "Command, seed and versions", columns),)
    )


def _footer(subject: Subject) -> tuple[str, ...]:
    """What not to promise, and who wrote this."""
    lines = [
        "Scores hold for samples like those in training. Where views are missing for reasons that have to do with the "
        "label, a model can learn that habit, and it will not carry over to other places.",
        f"Made by coview {coview.__version__}. This page holds everything it shows and opens without network.",
    ]
    return tuple(lines)
