"""Class probabilities from latent functions, one per class or one for two classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax

from coview.inference._logistic_normal import logistic_normal_mean, moderated_logit

__all__ = ["class_probabilities", "leave_one_out_class_scores", "mixed_probabilities"]


def class_probabilities(
    means: NDArray[np.float64], variances: NDArray[np.float64], temperature: float, *, averaged: bool
) -> NDArray[np.float64]:
    """Probability of each class from the moments of its latent function.

    Parameters
    ----------
    means, variances : ndarray of shape (n_samples, K)
        K = 1 for two classes: the function of the second; K = number of classes otherwise, one against rest. An infinite
        variance says nothing: all classes alike.
    temperature : float
        Factor of the logit; above one, probabilities are sharper.
    averaged : bool
        True: the logistic averaged over the latent function, normalized over the classes, as in the papers.
        False: moderated logits, through the logistic for two classes and the softmax for more.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes), rows summing to one
    """
    if averaged:
        p = logistic_normal_mean(temperature * means, temperature**2 * variances)
        if p.shape[1] == 1:
            return np.column_stack([1.0 - p, p])
        return np.asarray(p / p.sum(axis=1, keepdims=True))
    logits = temperature * moderated_logit(means, variances)
    if logits.shape[1] == 1:
        return np.column_stack([expit(-logits), expit(logits)])
    return np.asarray(softmax(logits, axis=1))


def mixed_probabilities(
    means: NDArray[np.float64],
    variances: NDArray[np.float64],
    temperatures: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    averaged: bool,
) -> NDArray[np.float64]:
    """Weighted sum over temperatures of `class_probabilities` (n_samples, n_classes).

    ``weights`` are (n_temperatures,), or (n_samples, n_temperatures) where samples differ in them.
    """
    by_row = np.atleast_2d(weights)
    used = np.flatnonzero((by_row > 0.0).any(axis=0))
    by_row = by_row[:, used]
    if averaged:
        parts = [
            by_row[:, [i]] * class_probabilities(means, variances, temperatures[t], averaged=True)
            for i, t in enumerate(used)
        ]
        return np.asarray(sum(parts))
    logits = moderated_logit(means, variances)[:, :, None] * temperatures[used]
    if logits.shape[1] == 1:
        p = _over_temperatures(expit(logits[:, 0]), by_row)
        return np.column_stack([by_row.sum(axis=1) - p, p])
    return _over_temperatures(softmax(logits, axis=1), by_row)


def _over_temperatures(p: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted sum of ``p`` (n_samples, ..., n_temperatures) over temperatures; ``weights`` has one row, or one per sample."""
    if len(weights) == 1:
        return np.asarray(p @ weights[0])
    return np.asarray(np.einsum("i...t,it->i...", p, weights))


def leave_one_out_class_scores(
    means: NDArray[np.float64],
    variances: NDArray[np.float64],
    labels: NDArray[np.int64],
    temperatures: NDArray[np.float64],
    *,
    averaged: bool,
) -> NDArray[np.float64]:
    """Log probability of each label under every setting and temperature, its own site left out.

    Parameters
    ----------
    means, variances : ndarray of shape (n_settings, K, n_labeled)
        Leave-one-out moments of the latent functions.
    labels : ndarray of shape (n_labeled,)
        Positions of the classes.
    temperatures : ndarray of shape (n_temperatures,)
    averaged : bool
        As for `class_probabilities`.

    Returns
    -------
    scores : ndarray of shape (n_settings, n_temperatures, n_labeled), in nats
    """
    n_settings, K, n_labeled = means.shape
    scores = np.empty((n_settings, len(temperatures), n_labeled))
    position = np.arange(n_labeled)
    for t, temperature in enumerate(temperatures):
        if averaged:
            for k in range(n_settings):
                p = class_probabilities(means[k].T, variances[k].T, temperature, averaged=True)
                scores[k, t] = np.log(np.maximum(p[position, labels], np.finfo(np.float64).tiny))
            continue
        logits = temperature * moderated_logit(means, variances)
        if K == 1:
            scores[:, t] = log_expit(np.where(labels == 1, 1.0, -1.0) * logits[:, 0])
        else:
            scores[:, t] = log_softmax(logits, axis=1)[:, labels, position]
    return scores
