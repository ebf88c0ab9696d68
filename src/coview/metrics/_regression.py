"""How good predicted numbers are, and how honest the spread that comes with them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

__all__ = ["prediction_interval", "regression_scores"]

Array = NDArray[np.float64]


def prediction_interval(mean: ArrayLike, sd: ArrayLike, *, coverage: float = 0.9) -> tuple[Array, Array]:
    """Lower and upper end of the central interval of normal predictions.

    Parameters
    ----------
    mean, sd : array-like of shape (n_samples,)
        In units of the target; NaN where a spread is unknown.
    coverage : float, default=0.9
        Probability inside the interval.

    Returns
    -------
    lower, upper : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from coview.metrics import prediction_interval
    >>> lower, upper = prediction_interval([0.0], [1.0])
    >>> upper.round(3)
    array([1.645])
    """
    if not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage must lie between 0 and 1; got {coverage!r}.")
    center, spread = np.asarray(mean, dtype=np.float64), np.asarray(sd, dtype=np.float64)
    reach = float(norm.ppf(0.5 + coverage / 2)) * spread
    return center - reach, center + reach


def regression_scores(y_true: ArrayLike, mean: ArrayLike, sd: ArrayLike | None = None) -> dict[str, float]:
    """The scores by which predictions of numbers are compared, in one dictionary.

    Parameters
    ----------
    y_true, mean : array-like of shape (n_samples,)
        Targets and predictions, finite.
    sd : array-like of shape (n_samples,), default=None
        Standard deviation of each prediction, of an observation rather than of a mean; None or NaN where unknown.

    Returns
    -------
    scores : dict
        ``rmse`` and ``mae`` in units of the target; ``r2``, NaN where the targets do not vary;
        ``negative_log_density`` (nats per sample, normal predictions) and ``coverage_90``, the share of targets
        inside the central 90 % intervals, both NaN where a spread is unknown.

    Examples
    --------
    >>> from coview.metrics import regression_scores
    >>> scores = regression_scores([1.0, 3.0], [1.0, 2.0], [1.0, 1.0])
    >>> round(scores["rmse"], 3), scores["r2"], scores["coverage_90"]
    (0.707, 0.5, 1.0)
    """
    targets, predicted = np.asarray(y_true, dtype=np.float64), np.asarray(mean, dtype=np.float64)
    if targets.shape != predicted.shape or targets.ndim != 1 or not targets.size:
        raise ValueError(f"One prediction per target is needed; got {predicted.shape} for {targets.shape}.")
    if not (np.isfinite(targets).all() and np.isfinite(predicted).all()):
        raise ValueError("Targets and predictions must be finite. Leave unlabeled samples out.")
    errors = targets - predicted
    total = float(np.square(targets - targets.mean()).sum())
    scores = {
        "rmse": float(np.sqrt(np.square(errors).mean())),
        "mae": float(np.abs(errors).mean()),
        "r2": 1.0 - float(np.square(errors).sum()) / total if total > 0.0 else float("nan"),
    }
    spread = np.full(targets.shape, np.nan) if sd is None else np.asarray(sd, dtype=np.float64)
    return scores | _spread_scores(targets, predicted, spread)


def _spread_scores(targets: Array, predicted: Array, spread: Array) -> dict[str, float]:
    """Scores of the spread that was stated."""
    if np.isnan(spread).any():
        return {"negative_log_density": float("nan"), "coverage_90": float("nan")}
    if (spread <= 0.0).any():
        raise ValueError("sd must be positive; give None where the spread is unknown.")
    lower, upper = prediction_interval(predicted, spread)
    return {
        "negative_log_density": float(-norm.logpdf(targets, predicted, spread).mean()),
        "coverage_90": float(((lower <= targets) & (targets <= upper)).mean()),
    }
