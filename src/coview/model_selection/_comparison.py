"""Compare methods on the same random label draws, pairwise and with standard errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from coview.labels import encode_labels

Scorer = Callable[..., Mapping[str, float]]


def label_draws(
    y: ArrayLike, n_labeled: int, *, n_draws: int = 5, n_per_class: int = 2, random_state: Any = None
) -> list[NDArray[np.int64]]:
    """Random choices of the samples whose labels are given, each class represented.

    The first draws do not depend on how many are asked for: draw 3 of 5 is draw 3 of 20.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of all samples, none missing.
    n_labeled : int
        Labels in each draw.
    n_draws : int, default=5
        Number of draws.
    n_per_class : int, default=2
        Samples of each class taken first; the rest are taken at random from all others.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    draws : list of ndarray of shape (n_labeled,)
        Positions of the labeled samples, increasing.

    Raises
    ------
    ValueError
        If a class has fewer than ``n_per_class`` samples, or ``n_labeled`` is too small or too large.

    Examples
    --------
    >>> from coview.model_selection import label_draws
    >>> draws = label_draws(["a"] * 6 + ["b"] * 4, 5, n_draws=2, random_state=0)
    >>> [len(d) for d in draws]
    [5, 5]
    """
    classes, codes = encode_labels(y, allow_missing=False)
    counts = np.bincount(codes, minlength=len(classes))
    if counts.min() < n_per_class:
        rare = classes[int(counts.argmin())]
        raise ValueError(f"Class {rare!r} has {counts.min()} samples, fewer than n_per_class={n_per_class}.")
    if not n_per_class * len(classes) <= n_labeled < len(codes):
        raise ValueError(
            f"n_labeled must be at least {n_per_class * len(classes)} (n_per_class times the number of classes) and "
            f"below the number of samples, {len(codes)}; got {n_labeled}."
        )
    seeds = check_random_state(random_state).randint(0, 2**31 - 1, size=n_draws)
    return [_one_draw(codes, len(classes), n_labeled, n_per_class, np.random.default_rng(int(s))) for s in seeds]


def _one_draw(
    codes: NDArray[np.int64], n_classes: int, n_labeled: int, n_per_class: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Some of each class, then the rest from all others."""
    first = np.concatenate([rng.permutation(np.flatnonzero(codes == c))[:n_per_class] for c in range(n_classes)])
    others = np.setdiff1d(np.arange(len(codes)), first)
    return np.sort(np.concatenate([first, rng.permutation(others)[: n_labeled - len(first)]])).astype(np.int64)


def hide_labels(y: ArrayLike, labeled: ArrayLike) -> NDArray[np.object_]:
    """Copy of y with None at every sample that is not labeled.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    labeled : array-like of int
        Positions whose labels stay.

    Returns
    -------
    hidden : ndarray of object

    Examples
    --------
    >>> from coview.model_selection import hide_labels
    >>> hide_labels(["a", "b", "a"], [1])
    array([None, 'b', None], dtype=object)
    """
    labels = np.asarray(y, dtype=object)
    hidden = np.full(len(labels), None, dtype=object)
    positions = np.asarray(labeled)
    hidden[positions] = labels[positions]
    return hidden


@dataclass(frozen=True)
class Comparison:
    """Scores, probabilities and chosen attributes of several methods on the same label draws.

    Attributes
    ----------
    scores : DataFrame
        One row per method, draw and group of samples: ``method``, ``n_labeled``, ``draw`` (numbered within
        ``n_labeled``), ``group``, and one column per score.
    probabilities : dict
        Method -> list of (n_samples, n_classes) arrays, one per draw, labeled samples included.
    attributes : dict
        Method -> list of dicts, one per draw, with the fitted attributes that were asked for.
    draws : list of ndarray
        Positions of the labeled samples.
    classes : ndarray
        Order of the columns of the probabilities.
    """

    scores: pd.DataFrame
    probabilities: dict[str, list[NDArray[np.float64]]]
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
    groups: Mapping[str, ArrayLike] | None = None,
    keep: Sequence[str] = (),
    n_jobs: int | None = None,
) -> Comparison:
    """Fit every method on every label draw and score it on the samples whose labels were hidden.

    All methods see the same draws, so their differences can be paired. What does not depend on labels is computed
    once per method: an estimator with a method ``prepare(X)`` is given its result instead of X. Convergence warnings
    are silenced: with few labels, a parameter that ends at its bound is common and says nothing about one draw.

    Parameters
    ----------
    methods : dict of str to estimator
        Semi-supervised classifiers: ``fit(X, y)`` with None at unlabeled samples, then ``label_distributions_``.
    X : Views or anything the methods take
        All samples.
    y : array-like of shape (n_samples,)
        All labels; those outside a draw are hidden in ``fit`` and used to score.
    draws : sequence of ndarray
        Positions of the labeled samples, as from :func:`label_draws`; sizes may differ.
    scorer : callable
        ``scorer(y_true, y_proba, classes=...)`` -> dict of numbers, as :func:`coview.metrics.probability_scores`.
    groups : dict of str to boolean array of shape (n_samples,), default=None
        Parts of the samples scored apart, beside ``"all"``.
    keep : sequence of str, default=()
        Fitted attributes to keep where a method has them.
    n_jobs : int, default=None
        Methods fitted at the same time, as in joblib.

    Returns
    -------
    comparison : Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.semi_supervised import LabelSpreading
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
    classes, _ = encode_labels(y, allow_missing=False)
    labels = np.asarray(y, dtype=object)
    parts = {"all": np.ones(len(labels), dtype=bool)}
    parts |= {name: np.asarray(mask, dtype=bool) for name, mask in (groups or {}).items()}
    task = _Task(X, labels, list(draws), classes, parts, scorer, tuple(keep))
    runs = Parallel(n_jobs=n_jobs)(delayed(task.run)(name, method) for name, method in methods.items())
    return Comparison(
        scores=pd.DataFrame([row for run in runs for row in run.scores]),
        probabilities={name: run.probabilities for name, run in zip(methods, runs, strict=True)},
        attributes={name: run.attributes for name, run in zip(methods, runs, strict=True)},
        draws=list(draws),
        classes=classes,
    )


@dataclass(frozen=True)
class _Run:
    """What one method gave, draw by draw."""

    scores: list[dict[str, Any]]
    probabilities: list[NDArray[np.float64]]
    attributes: list[dict[str, Any]]


@dataclass(frozen=True)
class _Task:
    """Everything but the method."""

    X: Any
    labels: NDArray[np.object_]
    draws: list[NDArray[np.int64]]
    classes: NDArray[Any]
    parts: Mapping[str, NDArray[np.bool_]]
    scorer: Scorer
    keep: tuple[str, ...]

    def run(self, name: str, method: Any) -> _Run:
        """Fit the method on every draw and score it."""
        run = _Run([], [], [])
        numbers: dict[int, int] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            prepared = clone(method).prepare(self.X) if hasattr(method, "prepare") else self.X
            for labeled in self.draws:
                fitted = clone(method).fit(prepared, hide_labels(self.labels, labeled))
                if list(fitted.classes_) != list(self.classes):
                    raise ValueError(
                        f"{name!r} learned the classes {list(fitted.classes_)}; expected {list(self.classes)}."
                    )
                probabilities = np.asarray(fitted.label_distributions_, dtype=np.float64)
                number = numbers.setdefault(len(labeled), 0)
                numbers[len(labeled)] += 1
                head = {"method": name, "n_labeled": len(labeled), "draw": number}
                run.scores.extend(head | row for row in self._score(labeled, probabilities))
                run.probabilities.append(probabilities)
                run.attributes.append({key: getattr(fitted, key) for key in self.keep if hasattr(fitted, key)})
        return run

    def _score(self, labeled: NDArray[np.int64], probabilities: NDArray[np.float64]) -> list[dict[str, Any]]:
        """Scores on the hidden samples, one row per group."""
        hidden = np.ones(len(self.labels), dtype=bool)
        hidden[labeled] = False
        rows = []
        for group, mask in self.parts.items():
            test = hidden & mask
            true = np.asarray(self.labels[test].tolist())
            scores = self.scorer(true, probabilities[test], classes=self.classes)
            rows.append({"group": group, "n_test": int(test.sum()), **scores})
        return rows


def summarize_scores(scores: pd.DataFrame, *, metrics: Sequence[str]) -> pd.DataFrame:
    """Mean and standard error of every score over the draws.

    Parameters
    ----------
    scores : DataFrame
        As in :class:`Comparison`.
    metrics : sequence of str
        Score columns.

    Returns
    -------
    summary : DataFrame
        One row per method, number of labels, group and score: ``mean``, ``standard_error`` (NaN for one draw),
        ``n_draws``.

    Examples
    --------
    >>> import pandas as pd
    >>> from coview.model_selection import summarize_scores
    >>> scores = pd.DataFrame({"method": "m", "n_labeled": 4, "group": "all", "draw": [0, 1], "auc": [0.8, 0.6]})
    >>> summarize_scores(scores, metrics=["auc"])[["mean", "standard_error"]].round(2).values.tolist()
    [[0.7, 0.1]]
    """
    keys = ["method", "n_labeled", "group"]
    long = scores.melt(id_vars=[*keys, "draw"], value_vars=list(metrics), var_name="metric")
    grouped = long.groupby([*keys, "metric"], sort=False)["value"]
    return grouped.agg(mean="mean", standard_error="sem", n_draws="count").reset_index()


def paired_differences(scores: pd.DataFrame, *, reference: str, metrics: Sequence[str] = ("log_loss",)) -> pd.DataFrame:
    """Difference of every method from a reference on the same draws.

    Parameters
    ----------
    scores : DataFrame
        As in :class:`Comparison`.
    reference : str
        The method that is subtracted.
    metrics : sequence of str, default=("log_loss",)
        Score columns.

    Returns
    -------
    differences : DataFrame
        One row per other method, number of labels, group and score: ``mean`` of (method - reference) over the draws
        that both have, ``standard_error`` of that mean, ``low`` and ``high`` two of them away from it, ``n_draws``.

    Examples
    --------
    >>> import pandas as pd
    >>> from coview.model_selection import paired_differences
    >>> scores = pd.DataFrame({"method": ["a", "a", "b", "b"], "n_labeled": 4, "group": "all",
    ...                        "draw": [0, 1, 0, 1], "auc": [0.8, 0.6, 0.9, 0.8]})
    >>> paired_differences(scores, reference="a", metrics=["auc"])[["method", "mean"]].round(2).values.tolist()
    [['b', 0.15]]
    """
    if reference not in set(scores["method"]):
        raise ValueError(f"No scores of the reference {reference!r}; methods are {sorted(set(scores['method']))}.")
    keys = ["n_labeled", "group", "draw"]
    base = scores[scores["method"] == reference][[*keys, *metrics]]
    others = scores[scores["method"] != reference]
    pairs = others.merge(base, on=keys, suffixes=("", "_reference"), validate="many_to_one")
    for metric in metrics:
        pairs[metric] = pairs[metric] - pairs[f"{metric}_reference"]
    summary = summarize_scores(pairs, metrics=metrics)
    reach = 2 * summary["standard_error"]
    return summary.assign(low=summary["mean"] - reach, high=summary["mean"] + reach)
