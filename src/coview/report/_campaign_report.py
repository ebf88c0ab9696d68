"""The report on a campaign: the model as it is now, what to measure next, what is booked, what came back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

import coview
from coview.acquisition import Campaign
from coview.report._given import Given, answer
from coview.report._html import Report, Section
from coview.report._sections_answers import answers_section
from coview.report._sections_campaign import (
    booked_section,
    label_section,
    left_out_section,
    money_text,
    next_sections,
    told_section,
    where_section,
)
from coview.report._sections_insight import features_section, map_section, uncertain_section
from coview.report._sections_trust import trust_section
from coview.report._subject import Subject
from coview.report._words import counted, listed
from coview.views import AlignedTables

__all__ = ["campaign_report"]

_LISTED = 15
_IN_FULL = "For a file of predictions: coview export, then coview fit and coview predict."


def campaign_report(campaign: Campaign, *, n_listed: int = _LISTED) -> Report:
    """What a campaign knows now, on one page: what to measure next, what is booked, what came back, and the model.

    Parameters
    ----------
    campaign : Campaign
        Its model is fitted to what is known now, if it is not yet.
    n_listed : int, default=15
        Measurements listed at most.

    Returns
    -------
    report : Report
        For `render_report`. The same campaign gives the same bytes.

    Raises
    ------
    ValueError
        If the model cannot be fitted to what is known, say since nothing has a label.

    Notes
    -----
    Where the model can be asked (`coview.acquisition.diagnose`, up to 3,000 samples) the page says whether its ranking can be
    relied on. Cost: a fit, two rankings, some ten fits for whether they can be relied on, and one for each of the newest ten
    answers.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.acquisition import Campaign
    >>> from coview.gaussian_process import BayesianCoTrainingClassifier
    >>> from coview.report import campaign_report
    >>> views = {"a": np.array([[0.0], [0.3], [2.0], [2.2]]), "b": np.array([[0.1], [np.nan], [1.9], [np.nan]])}
    >>> model = BayesianCoTrainingClassifier("rbf", latent="consensus", hyperparameters="fixed")
    >>> campaign = Campaign(model, views, ["no", None, "yes", None], notes={"target": "outcome"})
    >>> [section.title for section in campaign_report(campaign).sections][:2]
    ['Where it stands', 'What to measure next']
    """
    status, subject = campaign.status(), _subject(campaign)
    given = subject.given
    sections = [where_section(status), *next_sections(campaign, status, n_listed), label_section(campaign)]
    sections += [
        booked_section(campaign),
        told_section(campaign),
        left_out_section(subject, campaign),
        trust_section(subject),
    ]
    if given is not None and len(given.answers):
        sections.append(answers_section(subject, given, title="Predictions for all samples", in_full=_IN_FULL))
        sections += [section(subject, given) for section in (uncertain_section, map_section, features_section)]
    made: tuple[Section, ...] = tuple(section for section in sections if section is not None)
    return Report(
        title=f"Predicting {subject.target}: what to measure next",
        lead=_lead(campaign, status),
        facts=_facts(status),
        sections=made,
        footer=_footer(campaign),
    )


@dataclass(frozen=True)
class _Known:
    """Views and labels of a campaign, as tables."""

    tables: AlignedTables
    labels: pd.Series

    def to_tables(self) -> AlignedTables:
        """The tables."""
        return self.tables


def _subject(campaign: Campaign) -> Subject:
    """The model as if it had come out of a file, with predictions for all samples of the campaign."""
    model, notes, labeled = campaign.model, campaign.notes, campaign.labeled
    regression = notes.get("task") == "regression" or is_regressor(model)
    tables = campaign.views.to_tables()
    labels = pd.Series(campaign.y, index=tables.ids, dtype=object).where(labeled)
    pipeline = Pipeline([("encode", "passthrough"), ("model", model)])
    known = set(tables.ids[np.flatnonzero(labeled)])
    given: Given = answer(pipeline, _Known(tables, labels), trained=known, regression=regression)
    record: dict[str, Any] = {
        "task": "regression" if regression else "classification",
        "target": notes.get("target", ""),
        "views": {name: {} for name in tables.names},
    }
    return Subject(pipeline, {}, record, None, given)


def _lead(campaign: Campaign, status: dict[str, Any]) -> str:
    views = f"{counted(len(status['views']), 'view')} ({listed(status['views'], 6)})"
    return (
        f"{counted(status['samples'], 'sample')} with {views}, {status['labeled']:,} of them labeled. A model learns from what "
        f"is known, and says which missing part would tell it most; the criterion is {campaign.criterion.replace('_', ' ')}."
    )


def _facts(status: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    facts = [
        (f"{status['open']:,}", "measurements are open"),
        (f"{status['booked']:,}", "are booked"),
        (f"{status['returned']:,}", "came back"),
    ]
    if status["spent"] is not None:
        facts.append((f"{status['spent']:,.6g}", money_text(status)))
    return tuple(facts)


def _footer(campaign: Campaign) -> tuple[str, ...]:
    begun = campaign.notes.get("begun_by")
    lines = [
        "The order is that of what the model expects to learn; it is no medical advice. Where views are missing for reasons "
        "that have to do with the label, a model can learn that habit, and it will not carry over to other places.",
    ]
    if begun:
        lines.append(f"Begun by: {begun}")
    lines.append(
        f"Made by coview {coview.__version__}. This page holds everything it shows and opens without network. Go on with coview "
        "acquire and coview tell."
    )
    return tuple(lines)
