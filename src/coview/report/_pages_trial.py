"""Twelve labels on a thousand web pages: methods compared on the same draws, by page text, by links, and by both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import MultinomialNB

from coview.compose import ConcatenateViews
from coview.datasets import fetch, make_linked_pages
from coview.ensemble import ViewVotingClassifier
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.metrics import mean_auc, precision_recall_breakeven
from coview.model_selection import TransductivePipeline
from coview.semi_supervised import CoEMClassifier, CoRegularizedLeastSquaresClassifier, CoTrainingClassifier
from coview.views import Views

__all__ = [
    "ALL_LABELS",
    "BOTH",
    "COUNTS",
    "REPORTED",
    "SINGLE",
    "PagesJob",
    "PagesTrial",
    "course_pages",
    "made_up_pages",
    "make_trial",
]

BOTH = "page and link"
SINGLE = "logistic regression"
REPORTED = "Bayesian co-training"
CO_TRAINING = "co-training"
ALL_LABELS = "logistic regression, all labels"
COUNTS = {"course": 3, "other": 9}  # labels of the two classes, as in the papers
_FOLDS = 10
_LEAST_DIFFERENCE = 0.05
Array = NDArray[np.float64]


@dataclass(frozen=True)
class PagesJob:
    """Pages to tell apart.

    Attributes
    ----------
    name : str
    views : Views
        "page" and "link", sparse and not negative.
    is_course : ndarray of shape (n_pages,), dtype=bool
        The withheld truth.
    words : dict of str to list of str
        Names of the columns of each view.
    made_up : bool
        Whether the pages were drawn by a generator.
    published : DataFrame or None
        What a paper reports: ``method``, ``page``, ``link``, ``page and link``, in shares.
    """

    name: str
    views: Views
    is_course: NDArray[np.bool_]
    words: Mapping[str, list[str]]
    made_up: bool
    published: pd.DataFrame | None = None


@dataclass(frozen=True)
class PagesTrial:
    """What came out.

    Attributes
    ----------
    job : PagesJob
    labeled : ndarray of int
        Pages with a label, in the draw that is shown.
    scores : DataFrame
        ``method``, ``judged_by`` ("page", "link" or both), ``draw``, ``breakeven``, ``auc``.
    predictions : DataFrame
        The draw that is shown, by page id: ``p_course``, ``predicted``, ``p_page`` and ``p_link`` (by that view alone),
        ``withheld``, ``right``; pages without a label only.
    history : DataFrame
        Labels that co-training gave in that draw: ``round``, ``view``, ``label``, ``right``.
    terms : DataFrame
        ``view``, ``word``, ``in_courses``, ``in_others`` (shares of the pages predicted so that have the word),
        ``in_labeled`` (labeled pages that have it).
    """

    job: PagesJob
    labeled: NDArray[np.intp]
    scores: pd.DataFrame
    predictions: pd.DataFrame
    history: pd.DataFrame
    terms: pd.DataFrame

    @property
    def summary(self) -> pd.DataFrame:
        """Mean and range of each score over the draws, a row per method and what it judged by."""
        grouped = self.scores.groupby(["method", "judged_by"], sort=False)
        return grouped.agg(
            breakeven=("breakeven", "mean"), low=("breakeven", "min"), high=("breakeven", "max"), auc=("auc", "mean"),
            n_draws=("draw", "nunique"),
        ).reset_index()  # fmt: skip

    def mean(self, method: str, judged_by: str, score: str = "breakeven") -> float:
        """Mean of a score over the draws."""
        rows = self.scores[(self.scores["method"] == method) & (self.scores["judged_by"] == judged_by)]
        return float(rows[score].mean())


def made_up_pages(seed: int = 0) -> PagesJob:
    """Pages of a generator, of the size of the real ones."""
    pages = make_linked_pages(random_state=seed)
    return PagesJob("made-up pages", pages.views, (pages.target == "course").to_numpy(), pages.words, made_up=True)


def course_pages(folder: Path) -> PagesJob:
    """The pages of four departments of the papers, from the files that a user has."""
    pages = fetch("webkb_course", folder, empty_rows="missing")
    words = {name: [f"column {number}" for number in range(width)] for name, width in pages.views.n_features.items()}
    return PagesJob(
        "webkb_course", pages.views, (pages.target == "course").to_numpy(), words, made_up=False,
        published=_published(pages.published),
    )  # fmt: skip


def _published(rows: pd.DataFrame) -> pd.DataFrame:
    """Published figures, a row per method."""
    found = rows["method"].str.extract(r"^(?P<name>.+) on (?P<view>.+)$")
    table = rows.assign(name=found["name"], view=found["view"].str.replace("page and link", BOTH))
    wide = table.pivot_table(index="name", columns="view", values="value", sort=False)
    return wide.reindex(columns=["page", "link", BOTH]).rename_axis("method").rename_axis(None, axis=1).reset_index()


def methods(seed: int) -> dict[str, Any]:
    """What learns from both views, ready to fit."""
    logistic = LogisticRegression(C=10.0, max_iter=1000)
    return {
        SINGLE: TransductivePipeline(ConcatenateViews(), logistic),
        "late fusion": ViewVotingClassifier(logistic, no_view="prior"),
        CO_TRAINING: CoTrainingClassifier(
            logistic, n_per_class={"course": 1, "other": 3}, no_view="prior", random_state=seed
        ),
        "co-EM, naive Bayes": CoEMClassifier(MultinomialNB(alpha=0.1), no_view="prior"),
        "co-regularized least squares": CoRegularizedLeastSquaresClassifier(
            "linear", constants="center", no_view="prior"
        ),
        REPORTED: BayesianCoTrainingClassifier(no_view="prior", random_state=seed),
    }


def make_trial(job: PagesJob, *, repeats: int, seed: int) -> PagesTrial:
    """Run all methods on ``repeats`` random choices of twelve labeled pages.

    Parameters
    ----------
    job : PagesJob
    repeats : int
    seed : int

    Returns
    -------
    trial : PagesTrial
    """
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    shown: dict[str, Any] = {}
    draws = [_draw(job, rng) for _ in range(repeats)]
    for number, labeled in enumerate(draws):
        labels = np.full(len(job.is_course), None, dtype=object)
        labels[labeled] = np.where(job.is_course[labeled], "course", "other")
        rest = np.setdiff1d(np.arange(len(labels)), labeled)
        for name, method in methods(seed).items():
            fitted = {BOTH: clone(method).fit(job.views, labels)}
            if name == SINGLE:
                fitted |= {view: _alone(job.views, view, labels) for view in job.views.names}
            found = {view: _judged_by(fitted, job.views[rest], view) for view in ("page", "link", BOTH)}
            rows += [_scored(job.is_course[rest], found[view], name, view, number) for view in found]
            if number == 0:
                shown[name] = (fitted[BOTH], found)
    labeled = draws[0]
    rows += _with_all_labels(job, seed)
    predictions = _predictions(job, np.setdiff1d(np.arange(len(job.is_course)), labeled), shown[REPORTED][1])
    return PagesTrial(
        job, labeled, pd.DataFrame(rows), predictions, _history(job, shown[CO_TRAINING][0]),
        _terms(job, labeled, predictions),
    )  # fmt: skip


def _draw(job: PagesJob, rng: np.random.Generator) -> NDArray[np.intp]:
    """Pages that get their label."""
    chosen = [
        rng.permutation(np.flatnonzero(job.is_course == (name == "course")))[:count] for name, count in COUNTS.items()
    ]
    return np.concatenate(chosen)


def _alone(views: Views, view: str, labels: NDArray[Any]) -> Any:
    """Logistic regression on one view."""
    return ViewVotingClassifier(LogisticRegression(C=10.0, max_iter=1000), no_view="prior").fit(
        views.select([view]), labels
    )


def _judged_by(fitted: Mapping[str, Any], pages: Views, view: str) -> Array:
    """Probability of "course" by one view, or by both; a method of both views is shown that view only."""
    model = fitted.get(view, fitted[BOTH])
    shown = pages if view == BOTH else pages.select([view])
    return np.asarray(model.predict_proba(shown)[:, list(model.classes_).index("course")])


def _scored(truth: NDArray[np.bool_], p_course: Array, method: str, judged_by: str, draw: int) -> dict[str, Any]:
    both = np.column_stack([1.0 - p_course, p_course])
    return {
        "method": method, "judged_by": judged_by, "draw": draw,
        "breakeven": precision_recall_breakeven(truth, p_course),
        "auc": mean_auc(truth, both, classes=[False, True]),
    }  # fmt: skip


def _with_all_labels(job: PagesJob, seed: int) -> list[dict[str, Any]]:
    """Logistic regression with the labels of nine tenths of the pages, each tenth left out once."""
    rows = []
    splitter = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
    everybody = np.where(job.is_course, "course", "other").astype(object)
    for number, (shown, held) in enumerate(splitter.split(np.zeros(len(everybody)), everybody)):
        views, labels = job.views[shown], everybody[shown]
        fitted = {BOTH: clone(methods(seed)[SINGLE]).fit(views, labels)}
        fitted |= {view: _alone(views, view, labels) for view in job.views.names}
        for view in ("page", "link", BOTH):
            p_course = _judged_by(fitted, job.views[held], view)
            rows.append(_scored(job.is_course[held], p_course, ALL_LABELS, view, number))
    return rows


def _predictions(job: PagesJob, rest: NDArray[np.intp], found: Mapping[str, Array]) -> pd.DataFrame:
    p_course, truth = found[BOTH], job.is_course[rest]
    is_predicted = p_course >= 0.5
    table = pd.DataFrame(
        {
            "p_course": p_course,
            "predicted": np.where(is_predicted, "course", "other"),
            "p_page": found["page"],
            "p_link": found["link"],
            "withheld": np.where(truth, "course", "other"),
            "right": is_predicted == truth,
        },
        index=job.views.index[rest].rename("page"),
    )
    return table.sort_values("p_course", ascending=False, kind="stable")


def _history(job: PagesJob, model: CoTrainingClassifier) -> pd.DataFrame:
    history = model.labeling_history_
    truth = job.is_course[history["sample"].to_numpy()]
    return history[["round", "view", "label"]].assign(right=(history["label"] == "course").to_numpy() == truth)


def _terms(job: PagesJob, labeled: NDArray[np.intp], predictions: pd.DataFrame, n_words: int = 12) -> pd.DataFrame:
    """Words that pages predicted to be courses have clearly more often than the others, by view."""
    is_course = pd.Series(False, index=job.views.index)
    is_course[predictions.index[predictions["predicted"] == "course"]] = True
    is_other = pd.Series(False, index=job.views.index)
    is_other[predictions.index[predictions["predicted"] == "other"]] = True
    tables = []
    for view in job.views.names:
        rows = job.views.rows(view)
        used = (job.views[view] > 0).astype(np.float64)
        courses, others = is_course.to_numpy()[rows], is_other.to_numpy()[rows]
        shares = [np.asarray(used[part].mean(axis=0)).ravel() if part.any() else np.zeros(used.shape[1])
                  for part in (courses, others)]  # fmt: skip
        best = np.argsort(shares[1] - shares[0], kind="stable")[:n_words]
        best = best[shares[0][best] - shares[1][best] >= _LEAST_DIFFERENCE]
        counts = np.asarray(used[np.isin(rows, labeled)].sum(axis=0)).ravel()
        tables.append(
            pd.DataFrame(
                {
                    "view": view, "word": [job.words[view][word] for word in best], "in_courses": shares[0][best],
                    "in_others": shares[1][best], "in_labeled": counts[best].astype(int),
                }
            )
        )  # fmt: skip
    return pd.concat(tables, ignore_index=True)
