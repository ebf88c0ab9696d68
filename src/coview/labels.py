"""The one rule for unlabeled targets: which entries of ``y`` are missing, and what the others are encoded as."""

import numbers
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

__all__ = ["encode_labels", "encode_targets", "labeled_rows", "target_values"]

_UNLABELED = -1


def encode_labels(
    y: Any, *, missing_label: Any = "auto", classes: Any = None, allow_missing: bool = True, min_classes: int = 1
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Classes of a target, and the number of the class of each sample, -1 where it is unlabeled.

    NaN, None and ``pandas.NA`` always mark an unlabeled sample. Where one occurs, or ``y`` holds floats, -1 is a
    class; otherwise ``missing_label="auto"`` reads -1 in integer labels as unlabeled.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Strings, integers, truth values, whole floats or categories.
    missing_label : object, default="auto"
        A further value that marks an unlabeled sample; NaN or None when there is none, so that -1 is a class.
    classes : array-like of shape (n_classes,), default=None
        All classes, in the order wanted, also those not yet seen; None for the sorted observed ones.
    allow_missing : bool, default=True
        False for supervised learning: missing labels raise and, under "auto", -1 is a class.
    min_classes : int, default=1
        How many classes the method needs.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        In the type of the labels.
    codes : ndarray of shape (n_samples,), dtype=int64

    Raises
    ------
    ValueError
        If integer labels are -1 and +1 only and ``missing_label`` does not say what -1 means; if no sample is labeled
        or too few classes occur and ``classes`` is None; if a label is not in ``classes``; if labels are of mixed or
        continuous type.

    Examples
    --------
    >>> encode_labels([2, -1, 5])
    (array([2, 5]), array([ 0, -1,  1]))
    >>> encode_labels([-1, 1], missing_label=float("nan"))
    (array([-1,  1]), array([0, 1]))
    """
    values = target_values(y)
    missing = _missing_labels(values, missing_label, classes, allow_missing=allow_missing)
    if missing.any() and not allow_missing:
        raise ValueError(
            f"Input y contains NaN: {int(missing.sum())} of {len(values)} labels are missing, and this method needs "
            "all of them. Drop those samples, or use a semi-supervised method."
        )
    labels = _natural_type(values[~missing])
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError(f"Input y contains infinity in {int(np.isinf(labels).sum())} of {len(values)} labels.")
    if len(labels):
        check_classification_targets(labels)
    known = np.unique(labels) if classes is None else _declared_classes(classes)
    if len(known) < min_classes or not len(known):
        _raise_too_few(known, min_classes, declared=classes is not None)
    codes = np.full(len(values), _UNLABELED, dtype=np.int64)
    codes[~missing] = _positions_in(known, labels)
    return known, codes


def encode_targets(y: Any, *, allow_missing: bool = True) -> NDArray[np.float64]:
    """Numeric targets as float64, NaN where the sample is unlabeled (NaN, None or ``pandas.NA``).

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    allow_missing : bool, default=True
        False for supervised learning: a missing target raises.

    Returns
    -------
    targets : ndarray of shape (n_samples,), dtype=float64

    Raises
    ------
    ValueError
        If a target is infinite or not a number, missing where it must not be, or if all are missing.

    Examples
    --------
    >>> encode_targets([1, None, 2.5])
    array([1. , nan, 2.5])
    """
    values = target_values(y)
    missing = _is_missing(values)
    targets = np.full(len(values), np.nan)
    try:
        targets[~missing] = values[~missing].astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Regression targets y must be numbers; got {values.dtype} values ({error}).") from error
    if np.isinf(targets).any():
        raise ValueError(f"Input y contains infinity in {int(np.isinf(targets).sum())} of {len(targets)} targets.")
    if missing.any() and not allow_missing:
        raise ValueError(
            f"Input y contains NaN: {int(missing.sum())} of {len(targets)} targets are missing, and this method needs "
            "all of them. Drop those samples, or use a semi-supervised method."
        )
    if missing.all():
        raise ValueError("Input y contains NaN only: no sample is labeled. Give a target to at least one.")
    return targets


def labeled_rows(y: Any, *, missing_label: Any = "auto", classes: Any = None) -> NDArray[np.bool_]:
    """Which samples have a label, by the rule of :func:`encode_labels`.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    missing_label : object, default="auto"
    classes : array-like of shape (n_classes,), default=None
        Known classes; with -1 among them, -1 is a label.

    Returns
    -------
    labeled : ndarray of shape (n_samples,), dtype=bool

    Examples
    --------
    >>> labeled_rows(["yes", None, "no"])
    array([ True, False,  True])
    """
    values = target_values(y)
    return ~_missing_labels(values, missing_label, classes, allow_missing=True)


def target_values(y: Any) -> NDArray[Any]:
    """A target as a one-dimensional ndarray in which missing entries are still missing.

    Parameters
    ----------
    y : array-like of shape (n_samples,)

    Returns
    -------
    values : ndarray of shape (n_samples,)
        Of dtype object where numpy has no missing value for the type of the labels.

    Raises
    ------
    ValueError
        If y is not one-dimensional.

    Examples
    --------
    >>> target_values(["yes", None])
    array(['yes', None], dtype=object)
    """
    if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
        y = y.iloc[:, 0]
    if isinstance(y, pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        series = pd.Series(y)
        if isinstance(series.dtype, np.dtype):
            return series.to_numpy()
        if series.isna().any() or not pd.api.types.is_numeric_dtype(series.dtype):
            return series.to_numpy(dtype=object, na_value=np.nan)
        return series.to_numpy()
    if isinstance(y, list | tuple) and any(isinstance(item, str) or item is None for item in y):
        y = np.array(y, dtype=object)  # keeps None apart from the text "None"
    values: NDArray[Any] = column_or_1d(y, warn=True)
    return values


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(pd.isna(values), dtype=bool)


def _missing_labels(
    values: NDArray[Any], missing_label: Any, classes: Any, *, allow_missing: bool
) -> NDArray[np.bool_]:
    """Which labels are missing, the meaning of -1 decided."""
    missing = _is_missing(values)
    if not (isinstance(missing_label, str) and missing_label == "auto"):
        if missing_label is None or _is_missing(np.asarray(missing_label, dtype=object)).all():
            return missing
        marked = np.fromiter((value == missing_label for value in values), dtype=bool, count=len(values))
        return np.asarray(missing | marked)
    labels = _natural_type(values)
    if not allow_missing or labels.dtype.kind != "i":  # a gap would make the labels floats or objects
        return missing
    negative: NDArray[np.bool_] = labels == _UNLABELED
    if classes is not None:
        return missing if _UNLABELED in list(classes) else negative
    if negative.any() and set(np.unique(labels)) == {-1, 1}:
        raise ValueError(
            "y holds only the integers -1 and +1, so -1 may be a class or mark unlabeled samples. Set missing_label: "
            "numpy.nan if -1 is a class, -1 if it means unlabeled."
        )
    return negative


def _natural_type(labels: NDArray[Any]) -> NDArray[Any]:
    """Objects of one type as an array of that type; strings stay objects."""
    if labels.dtype != object or not len(labels):
        return labels
    if all(isinstance(label, bool | np.bool_) for label in labels):
        return labels.astype(bool)
    if all(isinstance(label, numbers.Integral) and not isinstance(label, bool | np.bool_) for label in labels):
        return labels.astype(np.int64)
    if all(isinstance(label, numbers.Real) and not isinstance(label, bool | np.bool_) for label in labels):
        return labels.astype(np.float64)
    kinds = {type(label).__name__ for label in labels if not pd.api.types.is_scalar(label) or not pd.isna(label)}
    if len(kinds) > 1 and not all(isinstance(label, str) or pd.isna(label) for label in labels):
        raise ValueError(f"Labels in y must be of one type; got {', '.join(sorted(kinds))}. Convert them, say to text.")
    return labels


def _declared_classes(classes: Any) -> NDArray[Any]:
    """The declared classes as an array in the given order, checked."""
    declared = list(classes)
    known = np.asarray(declared)
    if known.dtype.kind in "US" and not all(isinstance(item, str) for item in declared):
        raise ValueError(f"classes must be of one type; got {declared}.")
    if known.ndim != 1 or len(set(declared)) < len(declared):
        raise ValueError(f"classes must be a list of different labels; got {declared}.")
    return known.astype(object) if known.dtype.kind == "U" and not isinstance(classes, np.ndarray) else known


def _positions_in(known: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.int64]:
    positions = pd.Index(known).get_indexer(pd.Index(labels)) if len(labels) else np.empty(0, dtype=np.int64)
    unknown = labels[positions < 0] if len(labels) else labels
    if len(unknown):
        shown = ", ".join(sorted({repr(label) for label in unknown.tolist()})[:5])
        raise ValueError(f"y holds labels that are not in classes={known.tolist()}: {shown}. Declare every class.")
    return np.asarray(positions, dtype=np.int64)


def _raise_too_few(known: NDArray[Any], min_classes: int, *, declared: bool) -> None:
    if declared or len(known):
        raise ValueError(
            f"At least {min_classes} classes are needed; there is only one class: {known.tolist()}. Give labels of more "
            "classes, or declare those not yet seen with classes=."
        )
    raise ValueError("No sample of y is labeled. Label at least one, or declare the classes with classes=.")
