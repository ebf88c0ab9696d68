"""How well the model predicts labels it has not seen: scores of all methods side by side."""

from __future__ import annotations

import math

import pandas as pd

from coview.model_selection import ALONE, Evaluation
from coview.report._figures_model import method_scores
from coview.report._figures_scores import Look
from coview.report._html import Picture, Section
from coview.report._looks import method_looks
from coview.report._subject import Subject
from coview.report._tables import Columns, Table
from coview.report._words import counted

__all__ = [
    "METRIC_NAMES",
    "cross_validation_text",
    "metrics_of",
    "score_picture",
    "score_text",
    "scores_text",
    "without_evaluation",
]

METRIC_NAMES = {
    "accuracy": "accuracy",
    "log_loss": "log loss",
    "auc": "AUC",
    "brier": "Brier score",
    "calibration_error": "calibration error",
    "rmse": "RMSE",
    "mae": "mean absolute error",
    "r2": "R²",
    "negative_log_density": "negative log density",
    "coverage_90": "inside 90 % interval",
}
_ALONE = Look("class-2", "", "^")
# Score, whether higher is better: the two drawn for each task.
_DRAWN = {False: (("log_loss", "lower"), ("accuracy", "higher")), True: (("rmse", "lower"), ("r2", "higher"))}


def metrics_of(evaluation: Evaluation) -> list[str]:
    """Scores that some method has, in the order of the page."""
    known = evaluation.scores.dropna(subset="mean")["metric"].unique()
    return [metric for metric in METRIC_NAMES if metric in set(known)]


def score_text(value: float) -> str:
    """A score with three digits after the point, fewer where it is large."""
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.5g}"


def scores_text(value: float, se: float) -> str:
    """A score with its standard error."""
    if math.isnan(value):
        return "\N{EN DASH}"
    if math.isnan(se):
        return score_text(value)
    return f"{score_text(value)} ± {se:.3f}" if abs(value) < 100 else f"{score_text(value)} ± {se:.2g}"


def score_picture(subject: Subject, evaluation: Evaluation) -> Picture:
    """The model, the simple methods and each view alone, in two scores with error bars; all scores as a table."""
    order = [subject.method, *subject.simple, subject.prior, *subject.alone]
    order = [method for method in order if method in evaluation.predictions]
    looks = method_looks(subject.method, subject.simple, subject.prior)
    panels = []
    for metric, better in _DRAWN[subject.regression]:
        part = evaluation.scores[evaluation.scores["metric"] == metric].set_index("method").reindex(order)
        part = part[part["mean"].notna()].reset_index()
        if part.empty:
            continue
        name = METRIC_NAMES[metric]
        panels.append(
            method_scores(
                part, looks, _ALONE, title=f"{name} ({better} is better)",
                axis=f"{name}, with two standard errors over folds", key=f"scores-{metric}",
                description=f"{name} of {', '.join(order)} over {evaluation.n_splits} folds.",
            )
        )  # fmt: skip
    return Picture(
        "All methods on the same folds.", _reading(subject, evaluation), tuple(panels), _table(evaluation, order)
    )


def _reading(subject: Subject, evaluation: Evaluation) -> str:
    """The model against the simple ones, and the best view alone."""
    metric, _ = _DRAWN[subject.regression][0]
    name = METRIC_NAMES[metric]
    ours = score_text(evaluation.score(subject.method, metric))
    others = [f"{score_text(evaluation.score(m, metric))} for {m}" for m in [*subject.simple, subject.prior]]
    text = f"The {name} is {ours} for {subject.method}, {', '.join(others)}"
    if subject.alone:
        alone = {method: evaluation.score(method, metric) for method in subject.alone}
        best = min(alone, key=lambda method: alone[method])
        text += f"; the best single view is {best.removesuffix(ALONE)} with {score_text(alone[best])}"
    return f"{text}. The dashed line continues the model's mean."


def _table(evaluation: Evaluation, order: list[str]) -> Table:
    """Every score of every method with its standard error."""
    metrics = metrics_of(evaluation)
    indexed = evaluation.scores.set_index(["method", "metric"])
    rows = [
        {"method": method} | {m: scores_text(*indexed.loc[(method, m), ["mean", "se"]]) for m in metrics}
        for method in order
    ]
    columns: Columns = {"method": ("method", ""), **{m: (METRIC_NAMES[m], str) for m in metrics}}
    frame = pd.DataFrame(rows)
    n = counted(len(evaluation.samples), "left-out sample")
    caption = f"Scores of {n}, ± standard error over {evaluation.n_splits} folds"
    return Table.from_frame(frame, caption, columns, strong=[True] + [False] * (len(rows) - 1))


def cross_validation_text(subject: Subject, evaluation: Evaluation) -> str:
    """How the scores came about."""
    text = (
        f"Cross-validation with {evaluation.n_splits} folds: each of the {counted(len(evaluation.samples), 'labeled sample')} "
        "was predicted once by a model that had not seen its label, nor used its fold to learn how tables become numbers."
    )
    if subject.record.get("n_labeled", 0) < subject.record.get("n_samples", 0):
        text += " Samples without a label were in every training part."
    return text


def without_evaluation() -> Section:
    """What to say where nothing was held back."""
    text = (
        "The model was fitted without cross-validation, so nothing here says how well it predicts samples it has not seen. "
        "Fit it again with coview fit --cv 5 where the labels allow it, or give this report data whose labels were not in "
        "training."
    )
    return Section("quality", "How well it predicts", (text,))
