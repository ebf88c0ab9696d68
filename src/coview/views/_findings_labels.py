"""Findings about the labels alone, and their classes as numbers for the tests that set them against the data."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.views._findings import Finding
from coview.views._ids import id_text, some
from coview.views._tables import AlignedTables

__all__ = ["Target", "label_findings", "read_target"]

_FIRST = 20
_FEW = 4  # labels of a class below which probabilities mean little
_ENOUGH = 20  # targets needed to say what lies far out
_RARE = 0.05  # share of the smallest class worth a note
_FAR = 6.0  # distance from the median, in robust standard deviations, of an outlying target


@dataclass(frozen=True)
class Target:
    """Labels in the order of the samples.

    Attributes
    ----------
    classes : list of str
        Names of the classes; empty for regression.
    codes : ndarray of shape (n_samples,)
        Number of the class, -1 where unlabeled; for regression 0 where labeled.
    numbers : ndarray of shape (n_samples,) or None
        Targets of a regression, NaN where unlabeled; None for classes.
    """

    classes: list[str]
    codes: NDArray[np.intp]
    numbers: NDArray[np.float64] | None = None

    @property
    def labeled(self) -> NDArray[np.bool_]:
        """Which samples are labeled."""
        return self.codes >= 0

    @property
    def class_counts(self) -> NDArray[np.intp]:
        """Number of labels of each class."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.classes))


def read_target(tables: AlignedTables, labels: pd.Series) -> Target:
    """Labels by sample id in the order of the samples; float64 labels are those of a regression."""
    if len(labels) != tables.n_samples or not labels.index.equals(tables.ids):
        found = id_text(labels.index)
        labels = labels.set_axis(found)[~found.duplicated()].reindex(id_text(tables.ids))
    missing = labels.isna().to_numpy()
    if labels.dtype.kind == "f":
        numbers = labels.to_numpy(dtype=np.float64, na_value=np.nan)
        return Target([], np.where(missing, -1, 0).astype(np.intp), numbers)
    codes = np.full(len(labels), -1, dtype=np.intp)
    texts = id_text(pd.Index(labels[~missing].astype(object)))
    classes = texts.unique().sort_values()
    codes[~missing] = classes.get_indexer(texts)
    return Target(classes.tolist(), codes)


def label_findings(target: Target) -> list[Finding]:
    """Too few labels, classes without balance, targets that do not vary or lie far out."""
    n_labeled = int(target.labeled.sum())
    if not n_labeled:
        advice = "Give the label of some samples, and check that both files write the ids in the same way."
        return [Finding("no_labels", "error", "No sample has a label.", advice)]
    if target.numbers is not None:
        return _target_findings(target.numbers[target.labeled])
    if len(target.classes) == 1:
        message = f"All {n_labeled} labels are '{target.classes[0]}'; a classifier needs two classes."
        return [Finding("one_class", "error", message, "Add labels of another class.", count=n_labeled)]
    return [*_rare_classes(target), *_few_labels(target, n_labeled)]


def _target_findings(targets: NDArray[np.float64]) -> list[Finding]:
    if len(np.unique(targets)) == 1:
        message = f"All {len(targets)} targets are {targets[0]:.6g}; there is nothing to learn."
        return [Finding("constant_labels", "error", message, "Check the label column.", count=len(targets))]
    findings = []
    if len(targets) < 10:
        message = f"Only {len(targets)} samples have a target; errors of prediction will be known badly."
        findings.append(Finding("few_labels", "warning", message, "Label more samples.", count=len(targets)))
    center = np.median(targets)
    spread = 1.4826 * np.median(np.abs(targets - center))
    far = np.abs(targets - center) > _FAR * spread
    if spread > 0 and far.any() and len(targets) >= _ENOUGH:
        message = (
            f"{int(far.sum())} targets lie far from the others: {some([f'{value:.6g}' for value in targets[far]])}; "
            f"the median is {center:.6g}."
        )
        advice = "Check them; the logarithm of a skewed target is often easier to predict."
        findings.append(Finding("outlying_targets", "note", message, advice, count=int(far.sum())))
    return findings


def _rare_classes(target: Target) -> list[Finding]:
    counts = target.class_counts
    findings = []
    rare = np.flatnonzero(counts < _FEW)
    if len(rare):
        listed = ", ".join(f"'{target.classes[place]}' ({counts[place]})" for place in rare[:5])
        more = f" and {len(rare) - 5} more" if len(rare) > 5 else ""
        findings.append(
            Finding(
                "rare_class",
                "warning",
                f"Some classes have fewer than {_FEW} labels: {listed}{more}. Their probabilities will not be reliable, "
                "and folds of a cross-validation will lack them.",
                "Label more samples of these classes, or join classes.",
                count=len(rare),
            )
        )
    elif counts.min() < _RARE * counts.sum():
        least, most = int(counts.argmin()), int(counts.argmax())
        message = (
            f"Classes are unbalanced: '{target.classes[most]}' has {counts[most]} labels, '{target.classes[least]}' "
            f"{counts[least]}. Judge by log loss or AUC, not by accuracy."
        )
        findings.append(Finding("unbalanced_classes", "note", message, count=int(counts[least])))
    return findings


def _few_labels(target: Target, n_labeled: int) -> list[Finding]:
    n_classes = len(target.classes)
    if n_labeled >= 5 * n_classes:
        return []
    message = f"{n_labeled} labels for {n_classes} classes are few."
    advice = "Label more samples; where the labels are numbers to predict, give --task regression."
    return [Finding("few_labels", "warning", message, advice, count=n_labeled)]
