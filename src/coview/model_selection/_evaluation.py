"""What cross-validation found: predictions of samples that were not in training, their scores, differences between methods."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.metrics import log_loss_per_sample, probability_scores, regression_scores

__all__ = ["Evaluation", "PairedDifference", "score_folds", "summarize_folds"]

METRICS = {
    "classification": ("accuracy", "log_loss", "auc", "brier", "calibration_error"),
    "regression": ("rmse", "mae", "r2", "negative_log_density", "coverage_90"),
}
# Of a few samples these say nothing: their standard errors come from leaving one fold out of all.
_OF_MANY_SAMPLES = ("calibration_error", "r2")
# Ranks of different models do not compare: this is a mean over folds, all others are taken over all samples at once.
_FOLD_BY_FOLD = ("auc",)


class PairedDifference(NamedTuple):
    """Mean difference between two methods over the same samples, with its standard error."""

    mean: float
    standard_error: float
    n_samples: int

    @property
    def in_standard_errors(self) -> float:
        """The difference as a multiple of its standard error; 0 where the methods never differ."""
        if self.mean == 0.0:
            return 0.0
        return self.mean / self.standard_error if self.standard_error > 0.0 else math.copysign(math.inf, self.mean)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Predictions for labeled samples by models that had not seen their labels, and what they are worth.

    Attributes
    ----------
    task : {"classification", "regression"}
    n_splits : int
        Number of folds.
    classes : ndarray of shape (n_classes,)
        Order of the columns of the probabilities; empty for regression.
    samples : Index of length n_scored
        Ids of the samples that were scored.
    y : ndarray of shape (n_scored,)
        Their labels.
    folds : ndarray of shape (n_scored,)
        The fold that each was left out in.
    predictions : dict of str to ndarray
        Method -> probabilities of shape (n_scored, n_classes), or mean and standard deviation of an observation,
        shape (n_scored, 2), the latter NaN where a method does not state any.
    scores : DataFrame
        ``method``, ``metric``, ``mean`` over all scored samples (AUC: over the folds), ``se`` (standard error over the
        folds, NaN where it cannot be known) and ``n_folds``.
    fold_scores : DataFrame
        ``method``, ``fold``, ``metric``, ``value``.
    """

    task: Literal["classification", "regression"]
    n_splits: int
    classes: NDArray[Any]
    samples: pd.Index
    y: NDArray[Any]
    folds: NDArray[np.int64]
    predictions: dict[str, NDArray[np.float64]]
    scores: pd.DataFrame
    fold_scores: pd.DataFrame

    def losses(self, method: str) -> NDArray[np.float64]:
        """Loss of each scored sample: negative log probability of its class (nats), or squared error.

        Parameters
        ----------
        method : str

        Returns
        -------
        losses : ndarray of shape (n_scored,)
        """
        predicted = self._predictions_of(method)
        if self.task == "regression":
            return np.asarray(np.square(self.y.astype(np.float64) - predicted[:, 0]))
        return log_loss_per_sample(self.y, predicted, classes=self.classes)

    def difference(self, method: str, reference: str) -> PairedDifference:
        """Loss of a method minus that of another on the same samples; negative where the method is better.

        Parameters
        ----------
        method, reference : str

        Returns
        -------
        difference : PairedDifference
            The standard error takes samples as independent; NaN for one sample.
        """
        differences = self.losses(method) - self.losses(reference)
        n = len(differences)
        error = float(differences.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
        return PairedDifference(float(differences.mean()), error, n)

    def score(self, method: str, metric: str) -> float:
        """One score of one method.

        Parameters
        ----------
        method, metric : str

        Returns
        -------
        mean : float
        """
        return float(self._row(method, metric)["mean"])

    def standard_error(self, method: str, metric: str) -> float:
        """Standard error of one score of one method over the folds; NaN where it cannot be known.

        Parameters
        ----------
        method, metric : str

        Returns
        -------
        se : float
        """
        return float(self._row(method, metric)["se"])

    def _row(self, method: str, metric: str) -> pd.Series:
        self._predictions_of(method)
        found = self.scores[(self.scores["method"] == method) & (self.scores["metric"] == metric)]
        if found.empty:
            raise ValueError(f"There is no score {metric!r}; there are {', '.join(METRICS[self.task])}.")
        return found.iloc[0]

    def _predictions_of(self, method: str) -> NDArray[np.float64]:
        if method not in self.predictions:
            raise ValueError(f"No method {method!r} was evaluated; there are {', '.join(self.predictions)}.")
        return self.predictions[method]

    def to_dict(self) -> dict[str, Any]:
        """Everything in JSON's own types; None stands for NaN.

        Returns
        -------
        content : dict
        """
        return {
            "task": self.task,
            "n_splits": self.n_splits,
            "classes": self.classes.tolist(),
            "samples": [str(sample) for sample in self.samples],
            "y": self.y.tolist(),
            "folds": self.folds.tolist(),
            "predictions": {name: _without_nan(values.tolist()) for name, values in self.predictions.items()},
            "scores": _without_nan(self.scores.to_dict("records")),
            "fold_scores": _without_nan(self.fold_scores.to_dict("records")),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """The evaluation that `to_dict` wrote down.

        Parameters
        ----------
        content : mapping

        Returns
        -------
        evaluation : Evaluation
        """
        regression = content["task"] == "regression"
        return cls(
            task=content["task"],
            n_splits=content["n_splits"],
            classes=_labels(content["classes"]),
            samples=pd.Index(content["samples"], dtype=str),
            y=np.asarray(content["y"], dtype=np.float64) if regression else _labels(content["y"]),
            folds=np.asarray(content["folds"], dtype=np.int64),
            predictions={name: np.asarray(values, dtype=np.float64) for name, values in content["predictions"].items()},
            scores=pd.DataFrame(content["scores"]).astype({"mean": np.float64, "se": np.float64}),
            fold_scores=pd.DataFrame(content["fold_scores"]).astype({"value": np.float64}),
        )


def _labels(values: list[Any]) -> NDArray[Any]:
    """Labels in their own type; text as objects, as labels come from tables."""
    labels = np.asarray(values)
    return labels.astype(object) if labels.dtype.kind == "U" or not labels.size else labels


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_nan(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def score_folds(
    y: NDArray[Any], folds: NDArray[np.int64], predictions: Mapping[str, NDArray[np.float64]], classes: NDArray[Any]
) -> pd.DataFrame:
    """Scores of every method in every fold: ``method``, ``fold``, ``metric``, ``value``; no classes mean regression."""
    rows = []
    for method, predicted in predictions.items():
        for fold in np.unique(folds).tolist():
            scores = _scores(y[folds == fold], predicted[folds == fold], classes)
            rows += [
                {"method": method, "fold": fold, "metric": metric, "value": value} for metric, value in scores.items()
            ]
    return pd.DataFrame(rows)


def summarize_folds(
    fold_scores: pd.DataFrame,
    y: NDArray[Any],
    folds: NDArray[np.int64],
    predictions: Mapping[str, NDArray[np.float64]],
    classes: NDArray[Any],
) -> pd.DataFrame:
    """Every score over all samples (AUC: mean over the folds), with its standard error over the folds.

    Calibration error and R² of a few samples say nothing, so their error is that of the jackknife that leaves one fold
    out.
    """
    grouped = fold_scores.groupby(["method", "metric"], sort=False)["value"]
    summary = grouped.agg(mean="mean", se="sem", n_folds="count").reset_index()
    for method, predicted in predictions.items():
        whole = _scores(y, predicted, classes)
        parts = [_scores(y[folds != fold], predicted[folds != fold], classes) for fold in np.unique(folds)]
        for metric in [metric for metric in whole if metric not in _FOLD_BY_FOLD]:
            here = (summary["method"] == method) & (summary["metric"] == metric)
            summary.loc[here, "mean"] = whole[metric]
            if metric in _OF_MANY_SAMPLES:
                values = np.array([part[metric] for part in parts])
                summary.loc[here, ["se", "n_folds"]] = [np.sqrt((len(values) - 1) * values.var()), len(values)]
    return summary.astype({"n_folds": np.int64})


def _scores(y: NDArray[Any], predicted: NDArray[np.float64], classes: NDArray[Any]) -> dict[str, float]:
    if not len(classes):
        return regression_scores(y, predicted[:, 0], predicted[:, 1])
    scores = probability_scores(y, predicted, classes=classes)
    return {metric: scores[metric] for metric in METRICS["classification"]}
