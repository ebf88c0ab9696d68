"""Sections on quality against the withheld labels: curves, calibration, confusion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from coview.metrics import confusion_table, mean_precision_recall_curve, mean_roc_curve, reliability_table
from coview.report._exhibits import OURS, PRINTED, Exhibit
from coview.report._figures_scores import BASELINE, OURS_LOOK, PRINTED_LOOK, Look, calibration, score_curves
from coview.report._html import Picture, Section
from coview.report._tables import Columns, Table, percent


def looks_for(exhibit: Exhibit, n_labeled: int) -> dict[str, Look]:
    """coview, the best other way that ran now, and the printed model."""
    return {OURS: OURS_LOOK, exhibit.best_baseline(n_labeled): BASELINE, PRINTED: PRINTED_LOOK}


def runs(exhibit: Exhibit, method: str, n_labeled: int) -> list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """True labels and probabilities of the unlabeled samples, per draw."""
    labels = exhibit.job.target.to_numpy(dtype=object)
    result = []
    for i in exhibit.comparison.draws_with(n_labeled):
        hidden = np.setdiff1d(np.arange(len(labels)), exhibit.comparison.draws[i])
        result.append((labels[hidden].astype(str), exhibit.comparison.predictions[method][i][hidden]))
    return result


def reliability(exhibit: Exhibit, method: str, n_labeled: int) -> pd.DataFrame:
    """Reliability over all draws together."""
    outcomes, probabilities = zip(*runs(exhibit, method, n_labeled), strict=True)
    classes = [str(name) for name in exhibit.classes]
    return reliability_table(np.concatenate(outcomes), np.vstack(probabilities), classes=classes)


def quality_section(exhibit: Exhibit, *, paragraphs: Sequence[str], level: int) -> Section:
    """ROC, precision-recall, calibration and confusion against the withheld labels."""
    n_labeled = exhibit.job.counts[0]
    blocks = (
        curve_picture(exhibit, n_labeled, kind="roc"),
        curve_picture(exhibit, n_labeled, kind="precision-recall"),
        calibration_picture(exhibit, n_labeled),
        confusion(exhibit),
    )
    return Section(f"{exhibit.job.name}-quality", "Against the withheld labels", tuple(paragraphs), blocks, level)


def curve_picture(exhibit: Exhibit, n_labeled: int, *, kind: str) -> Picture:
    """ROC or precision-recall curve of every class against the rest."""
    looks = looks_for(exhibit, n_labeled)
    make = mean_roc_curve if kind == "roc" else mean_precision_recall_curve
    classes = [str(name) for name in exhibit.classes]
    # Two classes mirror each other, so one panel says everything.
    drawn = list(enumerate(classes)) if len(classes) > 2 else [(0, classes[0])]
    panels, rows = [], []
    for k, name in drawn:
        curves = {}
        for method in looks:
            pairs = runs(exhibit, method, n_labeled)
            curves[method] = make([y == name for y, _ in pairs], [p[:, k] for _, p in pairs])
            x, y = curves[method].columns[:2]
            at = curves[method].iloc[[10, 20, 50, 90]]
            rows += [{"class": name, "method": method, "x": a, "y": b} for a, b in zip(at[x], at[y], strict=True)]
        title = f"{name} against the rest"
        panels.append(
            score_curves(
                curves, looks, title=title, key=f"{exhibit.job.name}-{kind}-{k}", legend=True, diagonal=kind == "roc",
                description=f"{kind} curves: {title}, from {n_labeled} labels, mean over draws.",
            )
        )  # fmt: skip
    ours, other = (exhibit.mean(m, n_labeled, "auc") for m in list(looks)[:2])
    reading = (
        f"From {n_labeled} labels the area under the curve is {ours:.3f} for coview and {other:.3f} for the best "
        "other way (the band shows coview's lowest and highest draw)."
        if kind == "roc"
        else (
            "Nearer to the upper right corner is better: how many of those called positive are so, at every share "
            "found."
        )
    )
    columns: Columns = {
        "class": ("class", ""), "method": ("method", ""),
        "x": ("false positive rate" if kind == "roc" else "recall", ".2f"),
        "y": ("true positive rate" if kind == "roc" else "precision", ".3f"),
    }  # fmt: skip
    table = Table.from_frame(
        pd.DataFrame(rows), f"Points of the curves, mean over draws, {n_labeled} labels", columns, scroll=True
    )
    return Picture({"roc": "ROC curves."}.get(kind, "Precision and recall."), reading, tuple(panels), table)


def calibration_picture(exhibit: Exhibit, n_labeled: int) -> Picture:
    """Stated confidence against what came true, a panel per method."""
    panels, rows = [], []
    for number, (method, look) in enumerate(looks_for(exhibit, n_labeled).items()):
        table = reliability(exhibit, method, n_labeled)
        rows.append(table.assign(method=method))
        error = exhibit.mean(method, n_labeled, "calibration_error")
        panels.append(
            calibration(table, look, title=method, key=f"{exhibit.job.name}-calibration-{number}",
                        description=(
                            f"Calibration of {method} from {n_labeled} labels; mean calibration error {error:.2f}."
                        ))
        )  # fmt: skip
    ours, other, printed = (exhibit.mean(m, n_labeled, "calibration_error") for m in looks_for(exhibit, n_labeled))
    last = exhibit.job.counts[-1]
    later = exhibit.mean(OURS, last, "calibration_error")
    reading = (
        f"A point on the dashed line keeps its word. The mean distance from it, per draw, is {ours:.2f} for coview, "
        f"{other:.2f} for the best other way and {printed:.2f} for the printed model; with {last} labels it is "
        f"{later:.2f} for coview. Points above the line mean that the method is right more often than it says."
    )
    columns: Columns = {
        "method": ("method", ""), "low": ("from", ".1f"), "high": ("to", ".1f"), "n": ("predictions", "d"),
        "confidence": ("mean confidence", ".3f"), "accuracy": ("share right", ".3f"),
        "accuracy_low": ("95 % from", ".3f"), "accuracy_high": ("to", ".3f"),
    }  # fmt: skip
    text = Table.from_frame(
        pd.concat(rows), f"Bins of stated confidence, all draws together, {n_labeled} labels", columns, scroll=True
    )
    return Picture("Calibration.", reading, tuple(panels), text)


def confusion(exhibit: Exhibit) -> Table:
    """Counts of the fit shown, with the share of each true class found."""
    predictions = exhibit.predictions
    classes = [str(name) for name in exhibit.classes]
    counts = confusion_table(predictions["withheld"], predictions["predicted"], classes=classes)
    frame = counts.rename_axis("true").reset_index()
    columns: Columns = {
        "true": ("truth", ""), **{name: (f"called {name}", "d") for name in classes},
        "recall": ("share found", percent),
    }  # fmt: skip
    caption = f"Confusion of the {len(predictions)} predictions from {len(exhibit.labeled)} labels"
    return Table.from_frame(frame, caption, columns)
