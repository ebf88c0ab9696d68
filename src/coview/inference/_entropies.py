"""Entropies of predicted classes, and what a label would tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from coview.inference._logistic_normal import moderated_logit

__all__ = ["label_information", "predictive_entropies"]


def predictive_entropies(
    means: NDArray[np.float64], variances: NDArray[np.float64], temperature: float = 1.0
) -> NDArray[np.float64]:
    """Entropy of the class of each sample, from moments of its latent functions.

    Parameters
    ----------
    means, variances : ndarray of shape (K, ...)
        K = 1 for two classes, otherwise one function per class, against the rest.
    temperature : float, default=1.0
        Factor of the moderated logit.

    Returns
    -------
    entropies : ndarray of shape (...), in nats

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import predictive_entropies
    >>> predictive_entropies(np.array([[0.0, 4.0]]), np.array([[1.0, 0.0]])).round(4)
    array([0.6931, 0.0901])
    """
    logits = temperature * moderated_logit(means, variances)
    if len(logits) == 1:
        size = np.abs(logits[0])
        small = np.exp(-size)
        return np.asarray(np.log1p(small) + size * small / (1.0 + small))
    log_p = log_softmax(logits, axis=0)
    return np.asarray(-np.einsum("k...,k...->...", np.exp(log_p), log_p))


def label_information(variances: NDArray[np.float64], curvatures: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mutual information of a label and the latent functions, its site a Gaussian of the curvature at the mode.

    Parameters
    ----------
    variances, curvatures : ndarray of shape (n_samples, K)
        Of the latent functions, summed over them; ``1 / noise_variance`` for regression.

    Returns
    -------
    information : ndarray of shape (n_samples,), in nats

    Notes
    -----
    ``log det(I + phi S_ii) / 2``, by the determinant lemma.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import label_information
    >>> label_information(np.array([[4.0]]), np.array([[0.25]])).round(4)
    array([0.3466])
    """
    return np.asarray(0.5 * np.log1p(variances * curvatures).sum(axis=1))
