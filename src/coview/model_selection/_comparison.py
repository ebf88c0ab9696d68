"""Compare methods on the same random label draws: samples whose labels were hidden, and samples that no fit saw."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, Literal

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from coview.labels import encode_labels, encode_targets
from coview.model_selection._draws import hide_labels
from coview.model_selection._predictions import predictive_moments

__all__ = ["Comparison", "compare_methods"]

Scorer = Callable[..., Mapping[str, float]]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """Scores, predictions and chosen attributes of several methods on the same label draws.

    Attributes
    ----------
    scores : DataFrame
        One row per method, draw and group of samples: ``method``, ``n_labeled``, ``draw`` (numbered within
        ``n_labeled``), ``seconds`` (of the fit), ``preparation`` (seconds of the label-free part, once for all draws),
        ``error`` (empty where the fit went well), ``group``, ``n_test``, and one column per score, NaN where it failed.
    predictions : dict
        Method -> list of arrays, one per draw, labeled samples included: probabilities of shape (n_samples, n_classes),
        or mean and standard deviation, shape (n_samples, 2). NaN where the fit failed.
    attributes : dict
        Method -> list of dicts, one per draw, with the fitted attributes that were asked for.
    draws : list of ndarray
        Positions of the labeled samples.
    classes : ndarray
        Order of the columns of the probabilities; empty for regression.
    """

    scores: pd.DataFrame
    predictions: dict[str, list[Array]]
    attributes: dict[str, list[dict[str, Any]]]
    draws: list[NDArray[np.int64]]
    classes: NDArray[Any]

    def draws_with(self, n_labeled: int) -> list[int]:
        """Positions, among all draws, of those with this many labels."""
        return [i for i, draw in enumerate(self.draws) if len(draw) == n_labeled]


def compare_methods(
    methods: Mapping[str, Any],
    X: Any,
    y: ArrayLike,
    draws: Sequence[NDArray[np.int64]],
    *,
    scorer: Scorer,
    task: Literal["classification", "regression"] = "classification",
    groups: Mapping[str, ArrayLike] | None = None,
    new: tuple[Any, ArrayLike] | None = None,
    keep: Sequence[str] = (),
    on_error: Literal["raise", "record"] = "raise",
    n_jobs: int | None = None,
) -> Comparison:
    """Fit every method on every label draw and score it on samples whose labels it has not seen.

    All methods see the same draws, so their differences can be paired. What does not depend on labels is computed
    once per method: an estimator with a method ``prepare(X)`` is given its result instead of X. Convergence warnings
    are silenced: with few labels, a parameter that ends at its bound is common and says nothing about one draw.

    Parameters
    ----------
    methods : dict of str to estimator
        Semi-supervised estimators: ``fit(X, y)`` with None at unlabeled samples. Classifiers have
        ``label_distributions_``, and ``predict_proba`` for new samples; regressors are asked by `predictive_moments`.
    X : Views or anything the methods take
        Every sample that a fit sees.
    y : array-like of shape (n_samples,)
        Labels; those outside a draw are hidden in ``fit`` and used to score. A sample whose label is None or NaN is
        in every fit and never scored.
    draws : sequence of ndarray
        Positions of the labeled samples, as from :func:`label_draws`; sizes may differ.
    scorer : callable
        ``scorer(y_true, y_proba, classes=...)`` -> dict of numbers, as :func:`coview.metrics.probability_scores`; for
        regression ``scorer(y_true, mean, sd)``, as :func:`coview.metrics.regression_scores`.
    task : {"classification", "regression"}, default="classification"
    groups : dict of str to boolean array of shape (n_samples,), default=None
        Parts of the samples scored apart, beside ``"all"``.
    new : pair of samples and labels, default=None
        Samples that no fit sees, scored as the group ``"new"``.
    keep : sequence of str, default=()
        Fitted attributes to keep where a method has them.
    on_error : {"raise", "record"}, default="raise"
        What becomes of an error in a method, or of predictions that cannot be scored: the comparison ends with it, or it
        is written into ``scores``.
    n_jobs : int, default=None
        Methods fitted at the same time, as in joblib.

    Returns
    -------
    comparison : Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coview.metrics import probability_scores
    >>> from coview.model_selection import TransductivePipeline, compare_methods, label_draws
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_iris(return_X_y=True)
    >>> method = TransductivePipeline(StandardScaler(), LogisticRegression())
    >>> draws = label_draws(y, 15, n_draws=2, random_state=0)
    >>> result = compare_methods({"logistic": method}, X, y, draws, scorer=probability_scores)
    >>> bool(result.scores["accuracy"].mean() > 0.8)
    True
    """
    if on_error not in ("raise", "record"):
        raise ValueError(f"on_error must be 'raise' or 'record'; got {on_error!r}.")
    job = _job(X, y, task, groups, new, scorer, tuple(keep), record=on_error == "record")
    runs = Parallel(n_jobs=n_jobs)(delayed(job.run)(name, method, list(draws)) for name, method in methods.items())
    return Comparison(
        scores=pd.DataFrame([row for run in runs for row in run.scores]),
        predictions={name: run.predictions for name, run in zip(methods, runs, strict=True)},
        attributes={name: run.attributes for name, run in zip(methods, runs, strict=True)},
        draws=list(draws),
        classes=job.classes,
    )


@dataclass(frozen=True)
class _Run:
    """What one method gave, draw by draw."""

    scores: list[dict[str, Any]] = field(default_factory=list)
    predictions: list[Array] = field(default_factory=list)
    attributes: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class _Fit:
    """What one fit predicts: for the samples of the fit, and for new ones where there are any."""

    seen: Array
    new: Array | None
    kept: dict[str, Any]


@dataclass(frozen=True)
class _Job:
    """Everything but the method."""

    X: Any
    labels: NDArray[Any]
    known: NDArray[np.bool_]
    classes: NDArray[Any]
    groups: Mapping[str, NDArray[np.bool_]]
    new: tuple[Any, NDArray[Any]] | None
    scorer: Scorer
    keep: tuple[str, ...]
    record: bool

    def run(self, name: str, method: Any, draws: list[NDArray[np.int64]]) -> _Run:
        """Fit the method on every draw and score it."""
        run, numbers = _Run(), Counter[int]()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            prepared, preparation, wrong = self._timed(partial(self._prepare, method))
            for labeled in draws:
                fit, seconds, error = None, float("nan"), wrong
                if not error:
                    fit, seconds, error = self._timed(partial(self._fit, name, method, prepared, labeled))
                rows, _, unscored = self._timed(partial(self._score, labeled, fit))
                if unscored:
                    error, rows = unscored, self._score(labeled, None)
                head = {"method": name, "n_labeled": len(labeled), "draw": numbers[len(labeled)]}
                head |= {"seconds": seconds, "preparation": preparation, "error": error}
                numbers[len(labeled)] += 1
                run.scores.extend(head | row for row in rows)
                run.predictions.append(np.full(self._shape, np.nan) if fit is None else fit.seen)
                run.attributes.append({} if fit is None else fit.kept)
        return run

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self.labels), len(self.classes) or 2

    def _timed(self, work: Callable[[], Any]) -> tuple[Any, float, str]:
        """Result (None where it failed), seconds, error."""
        start = perf_counter()
        try:
            result = work()
        except Exception as error:
            # A method may fail in any way on data that it was not made for; the others are wanted all the same.
            if not self.record:
                raise
            return None, perf_counter() - start, f"{type(error).__name__}: {error}"
        return result, perf_counter() - start, ""

    def _prepare(self, method: Any) -> Any:
        return clone(method).prepare(self.X) if hasattr(method, "prepare") else self.X

    def _fit(self, name: str, method: Any, prepared: Any, labeled: NDArray[np.int64]) -> _Fit:
        """The method fitted to one draw, asked for everything that is scored."""
        fitted = clone(method).fit(prepared, hide_labels(self.labels, labeled))
        if len(self.classes) and list(fitted.classes_) != list(self.classes):
            raise ValueError(f"{name!r} learned the classes {list(fitted.classes_)}; expected {list(self.classes)}.")
        kept = {key: getattr(fitted, key) for key in self.keep if hasattr(fitted, key)}
        if not len(self.classes):
            new = None if self.new is None else np.column_stack(predictive_moments(fitted, self.new[0]))
            return _Fit(np.column_stack(predictive_moments(fitted, self.X)), new, kept)
        new = None if self.new is None else np.asarray(fitted.predict_proba(self.new[0]), dtype=np.float64)
        return _Fit(np.asarray(fitted.label_distributions_, dtype=np.float64), new, kept)

    def _score(self, labeled: NDArray[np.int64], fit: _Fit | None) -> list[dict[str, Any]]:
        """Scores on the hidden samples, one row per group, and on new ones; without scores where there is no fit."""
        hidden = self.known.copy()
        hidden[labeled] = False
        tests = {group: hidden & mask for group, mask in self.groups.items()}
        rows = [
            self._row(group, self.labels[test], None if fit is None else fit.seen[test])
            for group, test in tests.items()
        ]
        if self.new is not None:
            rows.append(self._row("new", self.new[1], None if fit is None else fit.new))
        return rows

    def _row(self, group: str, labels: NDArray[Any], predicted: Array | None) -> dict[str, Any]:
        head = {"group": group, "n_test": len(labels)}
        if predicted is None:
            return head
        true = np.asarray(labels.tolist())
        if not len(self.classes):
            return head | dict(self.scorer(true, predicted[:, 0], predicted[:, 1]))
        return head | dict(self.scorer(true, predicted, classes=self.classes))


def _job(
    X: Any,
    y: ArrayLike,
    task: str,
    groups: Mapping[str, ArrayLike] | None,
    new: tuple[Any, ArrayLike] | None,
    scorer: Scorer,
    keep: tuple[str, ...],
    *,
    record: bool,
) -> _Job:
    """The comparison with its labels read: classes, and which samples can be scored."""
    classes, labels, known = _read_labels(y, task)
    parts = {"all": np.ones(len(labels), dtype=bool)}
    parts |= {name: np.asarray(mask, dtype=bool) for name, mask in (groups or {}).items()}
    if new is not None:
        _, new_labels, new_known = _read_labels(new[1], task)
        if not new_known.all():
            raise ValueError(f"{int((~new_known).sum())} of the new samples have no label. Leave them out.")
        new = (new[0], new_labels)
    return _Job(X, labels, known, classes, parts, new, scorer, keep, record)


def _read_labels(y: ArrayLike, task: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Classes (none for regression), the labels, and which are known."""
    if task == "regression":
        targets = encode_targets(y)
        return np.empty(0, dtype=object), targets.astype(object), ~np.isnan(targets)
    if task != "classification":
        raise ValueError(f"task must be 'classification' or 'regression'; got {task!r}.")
    classes, codes = encode_labels(y, missing_label=np.nan)
    return classes, np.asarray(y, dtype=object), codes >= 0
