"""How often stated intervals hold what they promise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import beta

from coview.metrics._regression import prediction_interval

__all__ = ["coverage_table"]


def coverage_table(
    y_true: ArrayLike, mean: ArrayLike, sd: ArrayLike, *, levels: Sequence[float] = (0.5, 0.8, 0.9, 0.95)
) -> pd.DataFrame:
    """How many targets fall into the central intervals that a method states.

    Parameters
    ----------
    y_true, mean, sd : array-like of shape (n_samples,)
        Targets, predictions, and the standard deviation of each prediction, all finite.
    levels : sequence of float, default=(0.5, 0.8, 0.9, 0.95)
        Stated probabilities of the intervals.

    Returns
    -------
    table : DataFrame
        One row per level: ``level``, ``n`` (samples), ``covered`` (those inside), ``share``, ``share_low`` and
        ``share_high`` (exact 95 % binomial interval of Clopper and Pearson).

    Examples
    --------
    >>> from coview.metrics import coverage_table
    >>> table = coverage_table([0.0, 1.0, 5.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], levels=[0.5, 0.9])
    >>> table[["level", "covered", "share"]]
       level  covered     share
    0    0.5        1  0.333333
    1    0.9        2  0.666667
    """
    y, center, spread = (np.asarray(values, dtype=np.float64) for values in (y_true, mean, sd))
    if y.ndim != 1 or not y.size or not y.shape == center.shape == spread.shape:
        raise ValueError(
            f"One prediction and one standard deviation per target are needed; got {center.shape} and {spread.shape} "
            f"for {y.shape}."
        )
    if not (np.isfinite(y).all() and np.isfinite(center).all() and (spread > 0.0).all()):
        raise ValueError("Targets and predictions must be finite and standard deviations positive.")
    rows = []
    for level in levels:
        lower, upper = prediction_interval(center, spread, coverage=level)
        covered = int(((lower <= y) & (y <= upper)).sum())
        low, high = _exact_limits(covered, y.size)
        rows.append((level, y.size, covered, covered / y.size, low, high))
    return pd.DataFrame(rows, columns=["level", "n", "covered", "share", "share_low", "share_high"])


def _exact_limits(hits: int, n: int) -> tuple[float, float]:
    """Clopper and Pearson: quantiles of beta distributions, 0 and 1 where nothing or everything is inside."""
    low = float(beta.ppf(0.025, hits, n - hits + 1)) if hits else 0.0
    high = float(beta.ppf(0.975, hits + 1, n - hits)) if hits < n else 1.0
    return low, high
