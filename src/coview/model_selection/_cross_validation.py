"""Cross-validation over labeled samples, from raw tables: everything that is learnt is learnt without the test part."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from coview.compose import TableEncoder
from coview.labels import encode_labels, encode_targets
from coview.model_selection._evaluation import Evaluation, score_folds, summarize_folds
from coview.model_selection._predictions import predictive_moments
from coview.model_selection._split import LabeledKFold
from coview.views import AlignedTables, Views, align_target, read_tables, resolve_presence, take_rows

__all__ = ["ALONE", "PRIOR_NAMES", "cross_validate_methods", "possible_splits"]

Task = Literal["classification", "regression"]
Progress = Callable[[int, int, str], None]

# What is predicted without looking at the views.
PRIOR_NAMES: dict[str, str] = {"classification": "majority class", "regression": "mean of the labels"}

# What follows the name of a view in the name of the method that was fitted to it only.
ALONE = " alone"


def possible_splits(y: Any, n_splits: int = 5, *, task: Task) -> int:
    """How many folds the labels allow: as many as wanted, fewer, or none.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, None or NaN where unlabeled.
    n_splits : int, default=5
        Folds wanted.
    task : {"classification", "regression"}

    Returns
    -------
    n_splits : int
        At most one fold per sample that can be scored; 0 where fewer than two classes have two labels each, or fewer
        than three samples have a target.

    Examples
    --------
    >>> from coview.model_selection import possible_splits
    >>> possible_splits(["a", "a", "b", "b", None], task="classification")
    4
    >>> possible_splits(["a", "a", "b", None], task="classification")
    0
    """
    if task == "regression":
        n_labeled = int((~np.isnan(encode_targets(y))).sum())
        return min(n_splits, n_labeled) if n_labeled > 2 else 0
    _, codes = encode_labels(y, missing_label=np.nan)
    counts = np.bincount(codes[codes >= 0])
    several = counts[counts > 1]
    return min(n_splits, int(several.sum())) if len(several) > 1 else 0


def cross_validate_methods(
    methods: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    n_splits: int = 5,
    task: Task,
    random_state: int = 0,
    views_alone_of: Any = None,
    progress: Progress | None = None,
    encoder: Any = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Predict every labeled sample by models that have not seen its label, all methods on the same folds.

    Unlabeled samples are in every training part. The tables are encoded anew in every fold, from its training part. A
    class with one label only cannot be left out: its sample stays in training and is not scored. Beside the methods,
    ``"majority class"`` (shares of the classes; ``"mean of the labels"`` for regression) is what can be said without
    any view, and is what every method says of a sample that has no view.

    Parameters
    ----------
    methods : dict of str to estimator
        Semi-supervised estimators on views: ``fit(views, y)`` with missing labels where there are none, then
        ``predict_proba``, or ``predict`` (with ``return_std`` where they have it).
    X : TableSet, Views or anything that ``TableEncoder`` takes
        All samples, labeled or not.
    y : array-like of shape (n_samples,)
        Labels in the order of the samples, None or NaN where unlabeled; a Series is matched by id.
    n_splits : int, default=5
        Folds; fewer where `possible_splits` says so.
    task : {"classification", "regression"}
    random_state : int, default=0
        Seed of the folds.
    views_alone_of : str or estimator, default=None
        A method, or an estimator for one view, that is fitted to one view at a time, on the samples that have it: adds
        ``"<view> alone"`` for each of several views. Samples without the view get what is said without any.
    progress : callable, default=None
        Called as ``progress(done, total, what)`` after every fit.
    encoder : transformer, default=None
        From tables to views; ``TableEncoder()`` if None.
    n_jobs : int, default=None
        Processes over folds.

    Returns
    -------
    evaluation : Evaluation

    Raises
    ------
    ValueError
        If the labels allow no folds.

    Examples
    --------
    >>> from coview.datasets import make_two_gaussian_views
    >>> from coview.model_selection import cross_validate_methods, usual_methods
    >>> views, y = make_two_gaussian_views(n_samples=40, random_state=0)
    >>> evaluation = cross_validate_methods(usual_methods("classification", n_components=2), views, y,
    ...                                     n_splits=2, task="classification")
    >>> evaluation.score("imputation-logistic-regression", "accuracy") > 0.9
    True
    """
    if isinstance(views_alone_of, str):
        if views_alone_of not in methods:
            raise ValueError(f"views_alone_of={views_alone_of!r} is none of the methods: {', '.join(methods)}.")
        views_alone_of = methods[views_alone_of]
    job = _job(methods, X, y, n_splits, task, random_state, views_alone_of, encoder)
    total = job.n_splits * len(methods)
    found: list[tuple[int, str, NDArray[np.float64]]] = []
    done = 0
    for fold, name, predicted in _run(job, n_jobs):
        found.append((fold, name, predicted))
        if name in methods:
            done += 1
            if progress is not None:
                progress(done, total, f"{name}, fold {fold + 1} of {job.n_splits}")
    return _gather(job, found)


@dataclass(frozen=True)
class _Job:
    """Everything that one fold needs to know."""

    methods: dict[str, Any]
    encoder: Any
    aligned: AlignedTables
    presence: NDArray[np.bool_]
    y: NDArray[Any]
    classes: NDArray[Any]
    folds: NDArray[np.int64]
    n_splits: int
    alone: Any

    def prior(self, train: NDArray[np.intp], n: int) -> NDArray[np.float64]:
        """What the training labels say of n samples about which nothing is known."""
        known = self.y[train][~pd.isna(self.y[train])]
        if len(self.classes):
            _, codes = encode_labels(known, missing_label=np.nan, classes=self.classes)
            return np.tile(np.bincount(codes, minlength=len(self.classes)) / len(codes), (n, 1))
        targets = known.astype(np.float64)
        return np.tile([targets.mean(), targets.std(ddof=1)], (n, 1))

    def run_fold(self, fold: int) -> Iterator[tuple[int, str, NDArray[np.float64]]]:
        """Predictions of every method for the samples of a fold."""
        test = np.flatnonzero(self.folds == fold)
        train = np.flatnonzero((self.folds != fold) & self.presence.any(axis=1))
        seen = np.asarray(self.presence[train].any(axis=0))
        tables = replace(
            self.aligned,
            tables=tuple(table for table, here in zip(self.aligned.tables, seen.tolist(), strict=True) if here),
            presence=None if self.aligned.presence is None else self.aligned.presence[:, seen],
        )
        encoder = clone(self.encoder)
        views = encoder.fit_transform(take_rows(tables, train))
        unknown: Views = encoder.transform(take_rows(tables, test))
        prior = self.prior(train, len(test))
        yield fold, PRIOR_NAMES["classification" if len(self.classes) else "regression"], prior
        for name, method in self.methods.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # says nothing of one fold
                model = clone(method).fit(views, self.y[train])
            yield fold, name, self._predict(model, unknown, prior)
        if self.alone is not None and len(self.aligned.tables) > 1:
            for view in unknown.names:
                yield fold, f"{view}{ALONE}", self._view_alone(view, views, self.y[train], unknown, prior)

    def _view_alone(
        self, view: str, views: Views, y: NDArray[Any], unknown: Views, prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Predictions by the estimator fitted to one view; the prior where its labels are all of one class."""
        rows = views.rows(view)
        if len(set(y[rows][~pd.isna(y[rows])].tolist())) < 2:
            return prior
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = _cut_to(self.alone, views[view].shape).fit(views.select([view])[rows], y[rows])
        return self._predict(model, unknown.select([view]), prior)

    def _predict(self, model: Any, views: Views, prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities, or means and standard deviations; the prior where a sample has none of the views."""
        predicted = prior.copy()
        rows = np.flatnonzero(views.presence.any(axis=1))
        if not len(rows):
            return predicted
        if not len(self.classes):
            predicted[rows] = np.column_stack(predictive_moments(model, views[rows]))
            return predicted
        predicted[rows] = 0.0
        columns = pd.Index(self.classes).get_indexer(pd.Index(model.classes_))
        predicted[np.ix_(rows, columns)] = model.predict_proba(views[rows])
        return predicted


def _cut_to(method: Any, shape: tuple[int, int]) -> Any:
    """A copy of the method, with no more components than one view of this shape has rows and columns."""
    counts = {name: value for name, value in method.get_params().items() if name.endswith("__n_components")}
    too_many = [name for name, value in counts.items() if isinstance(value, int) and value > min(shape)]
    return clone(method).set_params(**dict.fromkeys(too_many, min(shape)))


def _job(
    methods: Mapping[str, Any],
    X: Any,
    y: Any,
    n_splits: int,
    task: Task,
    random_state: int,
    alone: Any,
    encoder: Any,
) -> _Job:
    if task not in PRIOR_NAMES:
        raise ValueError(f"task must be 'classification' or 'regression'; got {task!r}.")
    encoder = TableEncoder() if encoder is None else encoder
    aligned = read_tables(X)
    if isinstance(y, pd.Series) and aligned.has_ids:
        y = align_target(y, aligned.ids)
    classes, codes, labels = _encoded(y, task)
    if len(codes) != aligned.n_samples:
        raise ValueError(f"y has {len(codes)} entries for {aligned.n_samples} samples. Give one per sample.")
    n_splits = possible_splits(labels, n_splits, task=task)
    if not n_splits:
        raise ValueError(
            "There are too few labels for cross-validation: it needs two classes with two labels each, or three "
            "targets. Label more samples."
        )
    presence = resolve_presence(aligned)
    folds = _deal_out(codes, presence, n_splits, random_state)
    return _Job(dict(methods), encoder, aligned, presence, labels, classes, folds, n_splits, alone)


def _encoded(y: Any, task: Task) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[Any]]:
    """Classes, code of each sample (-1 unlabeled; 0 for any target), and labels that say where they are missing."""
    if task == "regression":
        targets = encode_targets(y)
        return np.empty(0, dtype=object), np.where(np.isnan(targets), -1, 0), targets
    classes, codes = encode_labels(y, missing_label=np.nan)
    labels = np.full(len(codes), None, dtype=object)
    labels[codes >= 0] = classes[codes[codes >= 0]]
    return classes, codes, labels


def _deal_out(
    codes: NDArray[np.int64], presence: NDArray[np.bool_], n_splits: int, random_state: int
) -> NDArray[np.int64]:
    """Fold of each sample that is scored, -1 for all others: the unlabeled, and those alone in their class."""
    counts = np.bincount(codes[codes >= 0])
    scored = (codes >= 0) & (counts[codes] > 1)
    pattern = Views([np.where(column, 1.0, np.nan)[:, None] for column in presence.T])
    folds = np.full(len(codes), -1, dtype=np.int64)
    splitter = LabeledKFold(n_splits, random_state=random_state, missing_label=np.nan)
    for fold, (_, test) in enumerate(splitter.split(pattern, np.where(scored, codes, np.nan))):
        folds[test] = fold
    return folds


def _run(job: _Job, n_jobs: int | None) -> Iterator[tuple[int, str, NDArray[np.float64]]]:
    """Results as they come, in the order of folds and methods."""
    if n_jobs in (None, 1):
        for fold in range(job.n_splits):
            yield from job.run_fold(fold)
        return
    tasks = (delayed(_whole_fold)(job, fold) for fold in range(job.n_splits))
    for results in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        yield from results


def _whole_fold(job: _Job, fold: int) -> list[tuple[int, str, NDArray[np.float64]]]:
    return list(job.run_fold(fold))


def _gather(job: _Job, found: list[tuple[int, str, NDArray[np.float64]]]) -> Evaluation:
    """Predictions of the folds in the order of the samples, scored."""
    scored = np.flatnonzero(job.folds >= 0)
    y = np.asarray(job.y[scored].tolist(), dtype=job.classes.dtype if len(job.classes) else np.float64)
    width = len(job.classes) or 2
    names = list(dict.fromkeys(name for _, name, _ in found))
    order = [*job.methods, *(name for name in names if name not in job.methods)]
    spread = {name: np.full((len(job.y), width), np.nan) for name in order}
    filled = {name: np.zeros(len(job.y), dtype=bool) for name in order}
    for fold, name, predicted in found:
        spread[name][job.folds == fold] = predicted
        filled[name][job.folds == fold] = True
    prior = spread[PRIOR_NAMES["classification" if len(job.classes) else "regression"]]
    for name in order:  # a view that the training part of a fold lacked says nothing there
        spread[name][~filled[name]] = prior[~filled[name]]
    predictions = {name: spread[name][scored] for name in order}
    folds = job.folds[scored]
    fold_scores = score_folds(y, folds, predictions, job.classes)
    return Evaluation(
        task="classification" if len(job.classes) else "regression",
        n_splits=job.n_splits,
        classes=job.classes,
        samples=pd.Index(job.aligned.ids[scored].astype(str)),
        y=y,
        folds=folds,
        predictions=predictions,
        scores=summarize_folds(fold_scores, y, folds, predictions, job.classes),
        fold_scores=fold_scores,
    )
