"""Functions of several views at new samples, averaged over the views at hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["combine_view_moments"]


def combine_view_moments(
    means: NDArray[np.float64],
    variances: NDArray[np.float64],
    noise: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Moments of the weighted average of independent functions, over those known in each sample.

    Parameters
    ----------
    means : ndarray of shape (n_views, n_samples, C)
        NaN where a sample lacks the view.
    variances : ndarray of shape (n_views, n_samples)
        NaN at the same places.
    noise : ndarray of shape (n_views,)
        Variances of labels about each function.
    weights : ndarray of shape (n_views,)
        Scaled in each sample to sum to one over its views; all alike where those of its views are all zero.

    Returns
    -------
    mean : ndarray of shape (n_samples, C)
    variance, noise : ndarray of shape (n_samples,)
        Of the average, and of the same average of the labels' noise. All NaN in a sample without views.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import combine_view_moments
    >>> means, variances = np.array([[[1.0]], [[3.0]]]), np.array([[0.2], [0.6]])
    >>> [part.ravel() for part in combine_view_moments(means, variances, np.ones(2), np.array([3.0, 1.0]))]
    [array([1.5]), array([0.15]), array([0.625])]
    """
    known = ~np.isnan(variances)
    shares = np.where(known, weights[:, None], 0.0)
    shares = np.where(shares.sum(axis=0) > 0.0, shares, known.astype(np.float64))
    total = shares.sum(axis=0)
    shares = shares / np.where(total > 0.0, total, np.nan)
    mean = np.einsum("jn,jnc->nc", shares, np.where(known[:, :, None], means, 0.0))
    squares = np.square(shares)
    variance = (squares * np.where(known, variances, 0.0)).sum(axis=0)
    return mean, variance, (squares * noise[:, None]).sum(axis=0)
