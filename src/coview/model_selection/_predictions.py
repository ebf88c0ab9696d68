"""Predicted numbers with their spread, whatever the regressor calls it."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["predictive_moments"]


def predictive_moments(model: Any, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of an observation for new samples.

    Parameters
    ----------
    model : fitted regressor
        With ``predict(X, return_std=True)``, and ``include_noise=True`` where its spread is otherwise that of the
        latent function; or with ``predict(X)`` only.
    X : anything the model takes

    Returns
    -------
    mean, sd : ndarray of shape (n_samples,)
        In units of the target; sd is NaN where the model does not state any.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from coview.model_selection import predictive_moments
    >>> predictive_moments(LinearRegression().fit([[0.0], [1.0]], [0.0, 2.0]), [[3.0]])
    (array([6.]), array([nan]))
    """
    options = signature(model.predict).parameters
    if "return_std" not in options:
        mean = np.asarray(model.predict(X), dtype=np.float64)
        return mean, np.full(mean.shape, np.nan)
    noise = {"include_noise": True} if "include_noise" in options else {}
    mean, sd = model.predict(X, return_std=True, **noise)
    return np.asarray(mean, dtype=np.float64), np.asarray(sd, dtype=np.float64)
