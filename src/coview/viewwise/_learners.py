"""One scikit-learn estimator per view: templates, scores of all classes, probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state

from coview.exceptions import ViewError
from coview.inference import PlattScaling

__all__ = [
    "calibrated_log_probabilities",
    "calibration_of",
    "class_margins",
    "classes_seen",
    "fitted_learner",
    "has_probabilities",
    "label_codes",
    "log_probabilities",
    "scores_of",
    "seeded",
    "templates_by_view",
]

Array = NDArray[np.float64]

_LEAST_LOG = float(np.log(np.finfo(np.float64).tiny))
_FOLDS = 5


def templates_by_view(estimators: Any, names: Sequence[str], default: Any) -> dict[str, Any]:
    """The estimator of each view: one for all, a list in their order, or a dict by name.

    Parameters
    ----------
    estimators : estimator, list, dict or None
    names : sequence of str
        The views.
    default : estimator
        Stands for None.

    Returns
    -------
    templates : dict of str to estimator
        Not copied.

    Raises
    ------
    ViewError
        Where their number or names are not those of the views.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from coview.viewwise import templates_by_view
    >>> templates_by_view({"b": LogisticRegression(C=2.0), "a": None}, ["a", "b"], None)
    {'a': None, 'b': LogisticRegression(C=2.0)}
    """
    if estimators is None:
        return dict.fromkeys(names, default)
    if isinstance(estimators, Mapping):
        if set(estimators) != set(names):
            raise ViewError(
                f"estimators must have one entry for each view {list(names)}; got {sorted(map(str, estimators))}."
            )
        return {name: estimators[name] for name in names}
    if isinstance(estimators, list | tuple):
        if len(estimators) != len(names):
            raise ViewError(
                f"estimators must have one entry for each of the {len(names)} views; got {len(estimators)}."
            )
        return dict(zip(names, estimators, strict=True))
    return dict.fromkeys(names, estimators)


def seeded(templates: Mapping[str, Any], random_state: Any) -> dict[str, Any]:
    """Copies of the estimators, with a seed where they have none.

    Parameters
    ----------
    templates : mapping of str to estimator
    random_state : int, RandomState instance or None

    Returns
    -------
    copies : dict of str to estimator

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from coview.viewwise import seeded
    >>> seeded({"a": LogisticRegression()}, 0)["a"].random_state
    209652396
    """
    rng = check_random_state(random_state)
    seeds = rng.randint(np.iinfo(np.int32).max, size=len(templates))
    copies = {}
    for (name, template), seed in zip(templates.items(), seeds.tolist(), strict=True):
        copy = clone(template)
        keys = [
            key for key, value in copy.get_params().items() if key.split("__")[-1] == "random_state" and value is None
        ]
        copies[name] = copy.set_params(**dict.fromkeys(keys, seed))
    return copies


def has_probabilities(estimator: Any) -> bool:
    """Whether the estimator states probabilities of classes.

    Parameters
    ----------
    estimator : estimator

    Returns
    -------
    stated : bool

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from coview.viewwise import has_probabilities
    >>> has_probabilities(LinearSVC())
    False
    """
    return hasattr(estimator, "predict_proba")


def fitted_learner(
    template: Any, rows: Any, codes: NDArray[np.int64], classes: NDArray[Any]
) -> tuple[Any, NDArray[np.int64]] | None:
    """A copy of the estimator fitted to the labeled rows, with the numbers of the classes it has seen.

    Parameters
    ----------
    template : estimator
        Copied.
    rows : ndarray or csr_array of shape (n_samples, n_features)
    codes : ndarray of shape (n_samples,), dtype=int64
        Number of the class of each row, -1 where it has no label.
    classes : ndarray of shape (n_classes,)
        The labels.

    Returns
    -------
    learner : tuple of (estimator, ndarray of shape (n_seen,)) or None
        None where fewer than two classes have labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from coview.viewwise import fitted_learner
    >>> rows, codes = np.array([[-1.0], [0.0], [1.0]]), np.array([0, -1, 2])
    >>> fitted_learner(LogisticRegression(), rows, codes, np.array(["a", "b", "c"]))
    (LogisticRegression(), array([0, 2]))
    """
    labeled = np.flatnonzero(codes >= 0)
    known = classes_seen(codes[labeled], classes)
    if known.size < 2:
        return None
    return clone(template).fit(rows[labeled], classes[codes[labeled]]), known


def classes_seen(codes: NDArray[np.int64], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Numbers of the classes that occur, in the order of an estimator's own ``classes_``: by label, not by number.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), dtype=int64
        Numbers of classes, none missing.
    classes : ndarray of shape (n_classes,)
        The labels, in any order.

    Returns
    -------
    known : ndarray of shape (n_seen,), dtype=int64

    Examples
    --------
    >>> import numpy as np
    >>> from coview.viewwise import classes_seen
    >>> classes_seen(np.array([0, 1, 1]), np.array(["yes", "no", "unclear"]))
    array([1, 0])
    """
    found = np.unique(codes)
    return np.asarray(found[np.argsort(classes[found], kind="stable")])


def label_codes(labels: Any, classes: NDArray[Any]) -> NDArray[np.int64]:
    """Numbers of labels that an estimator predicts.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
    classes : ndarray of shape (n_classes,)
        In any order.

    Returns
    -------
    codes : ndarray of shape (n_samples,), dtype=int64
        -1 for what is none of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.viewwise import label_codes
    >>> label_codes(["c", "a"], np.array(["a", "b", "c"]))
    array([2, 0])
    """
    return np.asarray(pd.Index(classes).get_indexer(pd.Index(labels)), dtype=np.int64)


def log_probabilities(estimator: Any, rows: Any, known: NDArray[np.int64], shares: Array) -> Array:
    """Logarithms of class probabilities.

    A class that the estimator has never seen has the share that it has among all labels; the others share the rest.
    Probabilities below the smallest normal number count as that.

    Parameters
    ----------
    estimator : fitted estimator
        With ``predict_proba``.
    rows : ndarray or csr_array of shape (n_samples, n_features)
    known : ndarray of shape (n_seen,), dtype=int64
        Numbers of the classes that it was fitted to, in the order of its ``classes_``.
    shares : ndarray of shape (n_classes,)
        Shares of the classes among all labels.

    Returns
    -------
    logs : ndarray of shape (n_samples, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from coview.viewwise import log_probabilities
    >>> estimator = LogisticRegression().fit([[-1.0], [1.0]], ["a", "c"])
    >>> np.exp(log_probabilities(estimator, np.zeros((1, 1)), np.array([0, 2]), np.array([0.4, 0.2, 0.4]))).round(3)
    array([[0.4, 0.2, 0.4]])
    """
    logs = np.full((rows.shape[0], len(shares)), _LEAST_LOG)
    if hasattr(estimator, "predict_log_proba"):
        with np.errstate(divide="ignore"):
            found = estimator.predict_log_proba(rows)
    else:
        found = np.log(np.maximum(estimator.predict_proba(rows), np.finfo(np.float64).tiny))
    logs[:, known] = np.maximum(found, _LEAST_LOG)
    unseen = np.setdiff1d(np.arange(len(shares)), known)
    rest = float(shares[unseen].sum())
    if unseen.size and rest > 0.0:
        logs[:, known] += np.log(max(1.0 - rest, np.finfo(np.float64).tiny))
        logs[:, unseen] = np.log(np.maximum(shares[unseen], np.finfo(np.float64).tiny))
    return np.maximum(logs, _LEAST_LOG)


def calibrated_log_probabilities(
    estimator: Any, rows: Any, known: NDArray[np.int64], shares: Array, calibration: Array | None = None
) -> Array:
    """Logarithms of class probabilities of any estimator with probabilities or a decision function.

    Parameters
    ----------
    estimator, rows, known, shares
        As in :func:`log_probabilities`.
    calibration : ndarray of shape (n_classes, 2), default=None
        Sigmoids of :func:`calibration_of`, for an estimator without probabilities; without them it says the shares.

    Returns
    -------
    logs : ndarray of shape (n_samples, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import LinearSVC
    >>> from coview.viewwise import calibrated_log_probabilities
    >>> estimator = LinearSVC().fit([[-1.0], [1.0]], ["a", "b"])
    >>> shares = np.array([0.5, 0.5])
    >>> np.exp(calibrated_log_probabilities(estimator, np.array([[2.0]]), np.array([0, 1]), shares)).round(2)
    array([[0.5, 0.5]])
    """
    if has_probabilities(estimator):
        return log_probabilities(estimator, rows, known, shares)
    if calibration is None:
        return np.repeat(np.log(np.maximum(shares, np.finfo(np.float64).tiny))[None], rows.shape[0], axis=0)
    scores = scores_of(estimator, rows, known, shares)
    columns = [PlattScaling(*pair).probability(scores[:, k]) for k, pair in enumerate(calibration)]
    if len(shares) == 2:
        columns[0] = 1.0 - columns[1]
    odds = np.maximum(np.column_stack(columns), np.finfo(np.float64).tiny)
    return np.asarray(np.log(odds / odds.sum(axis=1, keepdims=True)))


def class_margins(scores: Array) -> Array:
    """How far each class is ahead of the best of the others; scores of two classes are that already.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)

    Returns
    -------
    margins : ndarray of shape (n_samples, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> from coview.viewwise import class_margins
    >>> class_margins(np.array([[3.0, 1.0, 0.0]]))
    array([[ 2., -2., -3.]])
    """
    if scores.shape[1] == 2:
        return scores
    ordered = np.sort(scores, axis=1)
    best, second = ordered[:, -1:], ordered[:, -2:-1]
    first = scores.argmax(axis=1)[:, None] == np.arange(scores.shape[1])
    return np.asarray(np.where(first, scores - second, scores - best))


def scores_of(estimator: Any, rows: Any, known: NDArray[np.int64], shares: Array) -> Array:
    """Score of each class.

    Two classes: the decision function where there is one (of logistic regression the log odds, which do not saturate),
    otherwise the log odds. More: log probabilities less their mean, or the decision function of an estimator that has none.

    Parameters
    ----------
    estimator, rows, known, shares
        As in :func:`log_probabilities`.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from coview.viewwise import scores_of
    >>> estimator = LogisticRegression().fit([[-1.0], [1.0]], ["a", "c"])
    >>> scores_of(estimator, np.array([[2.0]]), np.array([0, 1]), np.array([0.5, 0.5])).round(2)
    array([[-1.35,  1.35]])
    """
    if hasattr(estimator, "decision_function") and (len(shares) == 2 or not has_probabilities(estimator)):
        values = np.asarray(estimator.decision_function(rows), dtype=np.float64)
        if values.ndim == 1:
            values = np.column_stack([-values, values])
        filled = np.repeat(values.min(axis=1, keepdims=True), len(shares), axis=1)
        filled[:, known] = values
        return filled
    logs = log_probabilities(estimator, rows, known, shares)
    return logs - logs[:, ::-1] if len(shares) == 2 else logs - logs.mean(axis=1, keepdims=True)


def calibration_of(estimator: Any, rows: Any, codes: NDArray[np.int64], classes: NDArray[Any]) -> Array:
    """Slope and offset of Platt's sigmoid for each class, on the given labels.

    By samples left out of the fit where each class has two, otherwise by the fit itself.

    Parameters
    ----------
    estimator : estimator
        With a decision function only; copied.
    rows : ndarray or csr_array of shape (n_samples, n_features)
    codes : ndarray of shape (n_samples,), dtype=int64
        Number of the class of each row.
    classes : ndarray of shape (n_classes,)
        The labels.

    Returns
    -------
    parameters : ndarray of shape (n_classes, 2)
        As in :class:`coview.inference.PlattScaling`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import LinearSVC
    >>> from coview.viewwise import calibration_of
    >>> rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> parameters = calibration_of(LinearSVC(random_state=0), rows, np.array([0, 0, 1, 1]), np.array(["a", "b"]))
    >>> (parameters[:, 0] < 0.0).tolist()
    [True, True]
    """
    counts = np.unique(codes, return_counts=True)[1]
    known = classes_seen(codes, classes)
    shares = np.full(len(classes), 1.0 / len(classes))
    everything = np.arange(codes.size)
    folds = [(everything, everything)]
    if counts.min() >= 2:
        splitter = StratifiedKFold(min(_FOLDS, int(counts.min())), shuffle=True, random_state=0)
        folds = list(splitter.split(np.zeros(codes.size), codes))
    scores = np.empty((codes.size, len(classes)))
    for shown, held in folds:
        fitted = clone(estimator).fit(rows[shown], classes[codes[shown]])
        scores[held] = scores_of(fitted, rows[held], known, shares)
    scalings = [PlattScaling.fit(scores[:, code], codes == code) for code in range(len(classes))]
    return np.array([[scaling.slope, scaling.offset] for scaling in scalings])
