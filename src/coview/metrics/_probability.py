"""How good predicted probabilities are: log loss, Brier score, calibration, ranking, confusion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta, rankdata
from sklearn.metrics import confusion_matrix

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


def _class_codes(y_true: ArrayLike, classes: ArrayLike) -> Codes:
    """Position of every label in ``classes``; a label outside them is an error."""
    index = pd.Index(np.asarray(classes))
    labels = np.asarray(y_true)
    codes = index.get_indexer(pd.Index(labels))
    if (codes < 0).any():
        unknown = sorted({str(label) for label in labels[codes < 0]})
        raise ValueError(f"y_true holds labels that are not in classes: {unknown}; classes are {list(index)}.")
    return np.asarray(codes, dtype=np.int64)


def _checked(y_true: ArrayLike, y_proba: ArrayLike, classes: ArrayLike) -> tuple[Codes, Array]:
    """Class codes and probabilities of matching shape, every row a distribution."""
    codes = _class_codes(y_true, classes)
    proba = np.asarray(y_proba, dtype=np.float64)
    expected = (len(codes), len(np.asarray(classes)))
    if proba.shape != expected:
        raise ValueError(
            f"y_proba must have one row per label and one column per class, {expected}; got {proba.shape}."
        )
    if not np.isfinite(proba).all() or (proba < 0).any() or np.abs(proba.sum(axis=1) - 1).max(initial=0) > 1e-6:
        raise ValueError("Every row of y_proba must be a probability distribution: finite, not negative, summing to 1.")
    return codes, proba


def log_loss_per_sample(y_true: ArrayLike, y_proba: ArrayLike, *, classes: ArrayLike) -> Array:
    """Negative log probability given to the true class, one value per sample.

    Its mean is scikit-learn's ``log_loss``; kept per sample, two methods can be compared on a part of the samples.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, all of them in ``classes``.
    y_proba : array-like of shape (n_samples, n_classes)
        Predicted probabilities, columns in the order of ``classes``.
    classes : array-like of shape (n_classes,)
        The labels.

    Returns
    -------
    loss : ndarray of shape (n_samples,)
        In nats. A probability of zero counts as the smallest positive spacing of float64, so the loss stays finite.

    Examples
    --------
    >>> from coview.metrics import log_loss_per_sample
    >>> log_loss_per_sample(["a", "b"], [[0.5, 0.5], [0.25, 0.75]], classes=["a", "b"]).round(3)
    array([0.693, 0.288])
    """
    codes, proba = _checked(y_true, y_proba, classes)
    true_class = proba[np.arange(len(codes)), codes]
    return np.asarray(-np.log(np.maximum(true_class, np.finfo(np.float64).eps)), dtype=np.float64)


def brier_score(y_true: ArrayLike, y_proba: ArrayLike, *, classes: ArrayLike) -> float:
    """Mean squared distance between predicted probabilities and what happened.

    With two classes it is the squared error of one probability (0 to 1), with more the sum over classes (0 to 2).

    Parameters
    ----------
    y_true, y_proba, classes
        As in :func:`log_loss_per_sample`.

    Returns
    -------
    score : float
        Lower is better.

    Examples
    --------
    >>> from coview.metrics import brier_score
    >>> round(brier_score(["a", "b"], [[0.5, 0.5], [0.25, 0.75]], classes=["a", "b"]), 4)
    0.1562
    """
    codes, proba = _checked(y_true, y_proba, classes)
    squares = (proba - np.eye(proba.shape[1])[codes]) ** 2
    return float(squares.sum(axis=1).mean() / (2 if proba.shape[1] == 2 else 1))


def mean_auc(y_true: ArrayLike, y_proba: ArrayLike, *, classes: ArrayLike) -> float:
    """Area under the ROC curve, each class against the rest, mean over the classes that occur.

    Parameters
    ----------
    y_true, y_proba, classes
        As in :func:`log_loss_per_sample`.

    Returns
    -------
    auc : float
        0.5 is chance, 1 a perfect ranking; NaN where only one class occurs.

    Examples
    --------
    >>> from coview.metrics import mean_auc
    >>> mean_auc(["a", "b", "b"], [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]], classes=["a", "b"])
    1.0
    """
    codes, proba = _checked(y_true, y_proba, classes)
    present = np.unique(codes)
    if len(present) < 2:
        return float("nan")
    drawn = [1] if proba.shape[1] == 2 else present
    return float(np.mean([_auc(codes == k, proba[:, k]) for k in drawn]))


def _auc(positive: NDArray[np.bool_], score: Array) -> float:
    """Share of pairs in the right order, ties half, from ranks (Mann and Whitney).

    The same number as scikit-learn's ``roc_auc_score`` a hundred times faster, which counts when every method is scored
    on every draw.
    """
    n_positive, n = int(positive.sum()), len(positive)
    lowest_sum = n_positive * (n_positive + 1) / 2
    return float((rankdata(score)[positive].sum() - lowest_sum) / (n_positive * (n - n_positive)))


def reliability_table(y_true: ArrayLike, y_proba: ArrayLike, *, classes: ArrayLike, n_bins: int = 10) -> pd.DataFrame:
    """Stated confidence beside observed accuracy, by bins of the confidence in the predicted class.

    Parameters
    ----------
    y_true, y_proba, classes
        As in :func:`log_loss_per_sample`.
    n_bins : int, default=10
        Bins of equal width between 0 and 1; the last one includes 1.

    Returns
    -------
    table : DataFrame
        One row per bin that is not empty: ``low``, ``high``, ``n`` (samples), ``confidence`` (their mean top
        probability), ``accuracy`` (share predicted correctly), ``accuracy_low`` and ``accuracy_high`` (exact
        95 % binomial interval of Clopper and Pearson).

    Examples
    --------
    >>> from coview.metrics import reliability_table
    >>> proba = [[0.95, 0.05], [0.92, 0.08], [0.3, 0.7]]
    >>> reliability_table(["a", "a", "a"], proba, classes=["a", "b"])[["n", "confidence", "accuracy"]]
       n  confidence  accuracy
    0  1       0.700       0.0
    1  2       0.935       1.0
    """
    codes, proba = _checked(y_true, y_proba, classes)
    bins, n, confidence, hits = _occupied_bins(codes, proba, n_bins)
    # Clopper and Pearson: the limits are quantiles of beta distributions, 0 and 1 where nothing or everything is right.
    low = np.where(hits > 0, beta.ppf(0.025, np.maximum(hits, 1), n - hits + 1), 0.0)
    high = np.where(hits < n, beta.ppf(0.975, hits + 1, np.maximum(n - hits, 1)), 1.0)
    return pd.DataFrame(
        {
            "low": bins / n_bins,
            "high": (bins + 1) / n_bins,
            "n": n,
            "confidence": confidence,
            "accuracy": hits / n,
            "accuracy_low": low,
            "accuracy_high": high,
        }
    )


def _occupied_bins(codes: Codes, proba: Array, n_bins: int) -> tuple[Codes, Codes, Array, Codes]:
    """Bins of the top probability that hold samples: number, samples, mean confidence, samples predicted right."""
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1; got {n_bins}.")
    confidence = proba.max(axis=1)
    right = proba.argmax(axis=1) == codes
    # A confidence that lies on a border within rounding belongs to the bin above it, as 0.7 written as 7 / 10 does.
    bins = np.clip(np.floor(confidence * n_bins + 1e-9).astype(np.int64), 0, n_bins - 1)
    n = np.bincount(bins, minlength=n_bins)
    occupied = np.flatnonzero(n)
    mean = np.bincount(bins, confidence, minlength=n_bins)[occupied] / n[occupied]
    return occupied, n[occupied], mean, np.bincount(bins[right], minlength=n_bins)[occupied]


def expected_calibration_error(y_true: ArrayLike, y_proba: ArrayLike, *, classes: ArrayLike, n_bins: int = 10) -> float:
    """Mean distance between stated confidence and observed accuracy of the predicted class.

    Parameters
    ----------
    y_true, y_proba, classes
        As in :func:`log_loss_per_sample`.
    n_bins : int, default=10
        Bins of equal width; their distances are averaged with the number of samples as weight.

    Returns
    -------
    error : float
        Between 0 and 1; 0 where every stated confidence comes true.

    Examples
    --------
    >>> from coview.metrics import expected_calibration_error
    >>> proba = [[0.8, 0.2], [0.8, 0.2], [0.8, 0.2], [0.8, 0.2]]
    >>> round(expected_calibration_error(["a", "a", "a", "b"], proba, classes=["a", "b"]), 3)
    0.05
    """
    codes, proba = _checked(y_true, y_proba, classes)
    _, n, confidence, hits = _occupied_bins(codes, proba, n_bins)
    return float(np.abs(n * confidence - hits).sum() / n.sum())


def probability_scores(y_true: ArrayLike, y_proba: ArrayLike, *, classes: ArrayLike) -> dict[str, float]:
    """The scores by which probabilistic classifiers are compared, in one dictionary.

    Parameters
    ----------
    y_true, y_proba, classes
        As in :func:`log_loss_per_sample`.

    Returns
    -------
    scores : dict
        ``log_loss`` (nats), ``brier``, ``auc``, ``accuracy``, ``calibration_error``, and ``confidence``, the mean
        probability of the predicted class.

    Examples
    --------
    >>> from coview.metrics import probability_scores
    >>> probability_scores(["a", "b"], [[1.0, 0.0], [0.0, 1.0]], classes=["a", "b"])["accuracy"]
    1.0
    """
    codes, proba = _checked(y_true, y_proba, classes)
    numbers = np.arange(proba.shape[1])
    return {
        "log_loss": float(log_loss_per_sample(codes, proba, classes=numbers).mean()),
        "brier": brier_score(codes, proba, classes=numbers),
        "auc": mean_auc(codes, proba, classes=numbers),
        "accuracy": float(np.mean(proba.argmax(axis=1) == codes)),
        "calibration_error": expected_calibration_error(codes, proba, classes=numbers),
        "confidence": float(proba.max(axis=1).mean()),
    }


def confusion_table(y_true: ArrayLike, y_pred: ArrayLike, *, classes: ArrayLike) -> pd.DataFrame:
    """Counts of predicted against true classes, with the share of each true class that was found.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    classes : array-like of shape (n_classes,)
        The labels.

    Returns
    -------
    table : DataFrame
        One row per true class, one column per predicted class, and ``recall``, the share of the row on the diagonal
        (NaN for a class that does not occur).

    Examples
    --------
    >>> from coview.metrics import confusion_table
    >>> confusion_table(["a", "a", "b"], ["a", "b", "b"], classes=["a", "b"])
       a  b  recall
    a  1  1     0.5
    b  0  1     1.0
    """
    names: Any = np.asarray(classes)
    n_classes = len(names)
    counts = confusion_matrix(_class_codes(y_true, names), _class_codes(y_pred, names), labels=np.arange(n_classes))
    table = pd.DataFrame(counts, index=pd.Index(names), columns=pd.Index(names))
    total = counts.sum(axis=1)
    table["recall"] = np.where(total > 0, np.diag(counts) / np.maximum(total, 1), np.nan)
    return table
