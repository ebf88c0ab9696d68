"""Labeled samples seen otherwise than in training, each without its own label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coview.inference._feature_posterior import FeaturePosterior
from coview.inference._latent_posterior import LatentPosterior
from coview.inference._posterior import CrossPosterior

__all__ = ["left_out_elsewhere"]

# Least share of a latent variance that its own label leaves: below it the subtraction has no digits.
_LEAST_LEFT = 1e-12


def left_out_elsewhere(
    posterior: LatentPosterior,
    seen: tuple[NDArray[np.float64], ...],
    originals: tuple[NDArray[np.float64], ...],
    labeled: NDArray[np.intp],
    curvatures: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Latent moments at altered copies of labeled samples, each without the label of its original.

    Parameters
    ----------
    posterior : FeaturePosterior or CrossPosterior
    seen, originals : tuple of ndarray
        What ``posterior.see`` gives of the copies and, in the same order, of the labeled samples as they are (n rows each).
    labeled : ndarray of shape (n,)
        Place of each original among the labeled samples.
    curvatures : ndarray of shape (K, n_labeled)
        Precisions ``phi`` of the labels' sites, ``1 / noise variance`` in regression.

    Returns
    -------
    means, variances : ndarray of shape (n, K)

    Raises
    ------
    TypeError
        If the posterior is one of the consensus function, which is no function of a sample's views alone.

    Notes
    -----
    With the posterior covariance S between the copy x' and its original i, and g the gradient of i's log likelihood, the
    site of i is taken out in closed form,
    ``f_-i(x') = f(x') - S(x', i) g_i / (1 - phi_i S_ii)`` and ``v_-i(x') = S(x', x') + phi_i S(x', i)^2 / (1 - phi_i S_ii)``,
    exactly in regression. Time O(n q^2) per latent function for q features or labels.
    """
    means, variances = posterior.moments(*seen)
    cross, own = (
        _covariances(posterior, seen, originals, labeled),
        _covariances(posterior, originals, originals, labeled),
    )
    phi = curvatures[:, labeled].T
    left = np.maximum(1.0 - phi * own, _LEAST_LEFT)
    return means - cross * posterior.gradients[:, labeled].T / left, variances + phi * np.square(cross) / left


def _covariances(
    posterior: LatentPosterior,
    seen: tuple[NDArray[np.float64], ...],
    originals: tuple[NDArray[np.float64], ...],
    labeled: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Posterior covariance of each copy with its original (n, K)."""
    if isinstance(posterior, FeaturePosterior):
        pairs = zip(posterior.variance_factors, posterior.offsets, strict=True)
        products = [np.einsum("ij,ij->i", seen[0] @ F.T + o, originals[0] @ F.T + o) for F, o in pairs]
        return np.stack(products, axis=1)
    if not isinstance(posterior, CrossPosterior):
        raise TypeError(f"{type(posterior).__name__} does not rest on covariances of a function of the views alone.")
    left, right = (posterior.scale * side[0] + posterior.bias_variance for side in (seen, originals))
    prior = left[np.arange(labeled.size), labeled]
    known = [np.einsum("ij,ij->i", left @ F.T, right @ F.T) for F in posterior.variance_factors]
    return np.asarray(prior[:, None] - np.stack(known, axis=1))
