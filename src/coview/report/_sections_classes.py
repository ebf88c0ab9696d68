"""Quality of predicted classes in cross-validation: curves, calibration, confusion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.metrics import (
    confusion_table,
    expected_calibration_error,
    mean_auc,
    mean_precision_recall_curve,
    mean_roc_curve,
    reliability_table,
)
from coview.model_selection import Evaluation
from coview.report._figures_model import confusion_map
from coview.report._figures_scores import Look, calibration, score_curves
from coview.report._html import Picture, Section
from coview.report._looks import method_looks
from coview.report._sections_scores import cross_validation_text, score_picture
from coview.report._subject import Subject
from coview.report._tables import Columns, Table, percent
from coview.report._words import listed, shorten

__all__ = ["class_quality_section", "confusion_picture"]

_DRAWN_CLASSES = 3


def class_quality_section(subject: Subject, evaluation: Evaluation) -> Section:
    """Scores, curves, calibration and confusion over the labeled samples, each left out once."""
    blocks: list[Picture] = [score_picture(subject, evaluation)]
    ranked = _ranked_classes(subject, evaluation)
    if ranked:
        blocks += [_curve_picture(subject, evaluation, ranked, kind=kind) for kind in ("roc", "precision-recall")]
    blocks.append(_calibration_picture(subject, evaluation))
    y, proba = _text(evaluation.y), evaluation.predictions[subject.method]
    classes = [str(name) for name in evaluation.classes]
    predicted = np.array(classes, dtype=object)[proba.argmax(axis=1)]
    blocks.append(confusion_picture(y, predicted, classes, key="cv-confusion", what="left-out samples"))
    paragraphs = (cross_validation_text(subject, evaluation),)
    return Section("quality", "How well it predicts labels it has not seen", paragraphs, tuple(blocks))


def _text(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as text, the form in which the page names them."""
    return np.array([str(label) for label in labels], dtype=object)


def _ranked_classes(subject: Subject, evaluation: Evaluation) -> list[tuple[int, str, float]]:
    """Position, name and area under the curve of each class that can be ranked, worst first; one of two is enough."""
    y, proba = _text(evaluation.y), evaluation.predictions[subject.method]
    classes = [str(name) for name in evaluation.classes]
    ranked = []
    for k, name in enumerate(classes):
        positive = y == name
        if positive.any() and not positive.all():
            score = np.column_stack([1.0 - proba[:, k], proba[:, k]])
            ranked.append((k, name, mean_auc(positive, score, classes=[False, True])))
    if len(classes) == 2:
        return ranked[-1:]
    return sorted(ranked, key=lambda entry: (entry[2], entry[0]))


def _curve_picture(
    subject: Subject, evaluation: Evaluation, ranked: list[tuple[int, str, float]], *, kind: str
) -> Picture:
    """Curves of the classes that are hardest to rank: mean over folds with its range, pooled, and a simple method."""
    drawn = ranked[:_DRAWN_CLASSES]
    panels, rows = [], []
    for number, (k, name, _) in enumerate(drawn):
        curves, looks = _curves(subject, evaluation, k, name, kind)
        rest = "the rest" if len(evaluation.classes) > 2 else shorten(evaluation.classes[1 - k], 24)
        title = f"{shorten(name, 24)} against {rest}"
        for method, curve in curves.items():
            x, y = curve.columns[:2]
            at = curve.iloc[[10, 20, 50, 90]]
            rows += [{"class": name, "method": method, "x": a, "y": b} for a, b in zip(at[x], at[y], strict=True)]
        panels.append(
            score_curves(curves, looks, title=title, key=f"{kind}-{number}", legend=True, diagonal=kind == "roc",
                         description=f"{kind} curves for {title}, of samples left out of training.")
        )  # fmt: skip
    columns: Columns = {
        "class": ("class", ""), "method": ("method", ""),
        "x": ("false positive rate" if kind == "roc" else "recall", ".2f"),
        "y": ("true positive rate" if kind == "roc" else "precision", ".3f"),
    }  # fmt: skip
    table = Table.from_frame(pd.DataFrame(rows), "Points of the curves", columns, scroll=len(rows) > 12)
    title = {"roc": "ROC curves."}.get(kind, "Precision and recall.")
    return Picture(title, _curve_reading(ranked, drawn, kind), tuple(panels), table)


def _curve_reading(ranked: list[tuple[int, str, float]], drawn: list[tuple[int, str, float]], kind: str) -> str:
    areas = listed([f"{name} {area:.3f}" for _, name, area in ranked], 6)
    if kind != "roc":
        return (
            "Nearer to the upper right corner is better: how many of those called positive are so, at every share found; "
            "the band is the range over folds."
        )
    which = "" if len(ranked) == len(drawn) else f" Drawn are the {len(drawn)} classes that are hardest to rank."
    return f"Area under the curve, all folds pooled: {areas} (0.5 is chance); the band is the range over folds.{which}"


def _curves(
    subject: Subject, evaluation: Evaluation, k: int, label: str, kind: str
) -> tuple[dict[str, pd.DataFrame], dict[str, Look]]:
    """Curves of one class by method; of the model over folds as well, where folds hold both outcomes."""
    make = mean_roc_curve if kind == "roc" else mean_precision_recall_curve
    positive = _text(evaluation.y) == label
    proba = evaluation.predictions[subject.method][:, k]
    parts = [evaluation.folds == fold for fold in np.unique(evaluation.folds)]
    usable = [part for part in parts if positive[part].any() and not positive[part].all()]
    styles = list(method_looks(subject.method, subject.simple[:1], None).values())
    curves, looks = {}, {}
    name = shorten(subject.method, 34)
    if len(usable) > 1:
        mean = f"{name}, mean over folds"
        curves[mean] = make([positive[part] for part in usable], [proba[part] for part in usable])
        looks[mean] = styles[0]
    curves[f"{name}, pooled"] = make([positive], [proba])
    looks[f"{name}, pooled"] = Look("class-2", (0, (1, 1.6)), "D") if curves else styles[0]
    for method in subject.simple[:1]:
        curves[f"{shorten(method, 34)}, pooled"] = make([positive], [evaluation.predictions[method][:, k]])
        looks[f"{shorten(method, 34)}, pooled"] = styles[1]
    return curves, looks


def _calibration_picture(subject: Subject, evaluation: Evaluation) -> Picture:
    """Stated confidence against what came true, for the model and a simple method."""
    y = _text(evaluation.y)
    classes = [str(name) for name in evaluation.classes]
    panels, tables, errors = [], [], []
    looks = method_looks(subject.method, subject.simple[:1], None)
    for number, (method, look) in enumerate(looks.items()):
        proba = evaluation.predictions[method]
        table = reliability_table(y, proba, classes=classes)
        error = expected_calibration_error(y, proba, classes=classes)
        errors.append(f"{error:.2f} for {method}")
        tables.append(table.assign(method=method))
        panels.append(
            calibration(table, look, title=shorten(method, 40), key=f"calibration-{number}",
                        description=f"Calibration of {method}; mean distance from the line {error:.2f}.")
        )  # fmt: skip
    columns: Columns = {
        "method": ("method", ""), "low": ("from", ".1f"), "high": ("to", ".1f"), "n": ("predictions", ",d"),
        "confidence": ("mean confidence", ".3f"), "accuracy": ("share right", ".3f"),
        "accuracy_low": ("95 % from", ".3f"), "accuracy_high": ("to", ".3f"),
    }  # fmt: skip
    text = Table.from_frame(pd.concat(tables), "Bins of stated confidence, all folds together", columns)
    reading = (
        f"A point on the dashed line keeps its word; the mean distance from it is {' and '.join(errors)}. Points below the "
        "line claim more than comes true. Bars are 95 % intervals, the counts stand below."
    )
    return Picture("Calibration.", reading, tuple(panels), text)


def confusion_picture(y: Any, predicted: Any, classes: list[str], *, key: str, what: str) -> Picture:
    """Counts of predicted against true classes as a heat map and a table.

    Parameters
    ----------
    y, predicted : array-like of shape (n_samples,)
        True and predicted classes as text.
    classes : list of str
    key, what : str
        Id prefix; word for the samples.

    Returns
    -------
    picture : Picture
    """
    table = confusion_table(y, predicted, classes=classes)
    counts = table.iloc[:, :-1]
    right = int(np.trace(counts.to_numpy()))
    total = int(counts.to_numpy().sum())
    reading = f"{right:,} of {total:,} {what} are predicted right ({percent(right / total)})"
    worst = _worst_mix_up(counts)
    if worst:
        true, called, n, whole = worst
        reading += f"; the most frequent error is {shorten(true, 40)} called {shorten(called, 40)} ({n:,} of {whole:,})"
    svg = confusion_map(
        counts, title="True against predicted", key=key, description=f"{reading}. Darker is a larger share of the row."
    )
    frame = pd.DataFrame(counts.to_numpy(), columns=[f"c{j}" for j in range(len(classes))])
    frame.insert(0, "true", list(classes))
    frame["found"] = table["recall"].to_numpy()
    shares = counts.to_numpy() / np.maximum(counts.to_numpy().sum(axis=1, keepdims=True), 1)
    for j in range(len(classes)):
        frame[f"c{j}"] = [f"{n:,} ({share:.0%})" for n, share in zip(frame[f"c{j}"], shares[:, j], strict=True)]
    columns: Columns = {
        "true": ("truth", ""), **{f"c{j}": (f"called {name}", str) for j, name in enumerate(classes)},
        "found": ("share found", percent),
    }  # fmt: skip
    text = Table.from_frame(frame, "Counts, and shares of each true class", columns, scroll=len(classes) > 14)
    return Picture(
        "Confusion.", f"{reading}. Numbers are counts; the darker, the larger the share of the row.", (svg,), text
    )


def _worst_mix_up(counts: pd.DataFrame) -> tuple[str, str, int, int] | None:
    """The most frequent error: truth, prediction, how often, of how many."""
    errors = counts.to_numpy().copy()
    np.fill_diagonal(errors, 0)
    if not errors.any():
        return None
    i, j = divmod(int(errors.argmax()), errors.shape[1])
    return str(counts.index[i]), str(counts.columns[j]), int(errors[i, j]), int(counts.iloc[i].sum())
