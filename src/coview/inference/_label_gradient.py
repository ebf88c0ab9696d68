"""How evidences change with the prior covariance of labels that is given by features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from coview.inference._dense_covariance import stacked_product
from coview.inference._factored_covariance import FactoredCovariance
from coview.inference._laplace import LaplaceFit
from coview.inference._regression import FactoredRegressionFit

__all__ = ["factor_gradients", "noise_gradients"]


def factor_gradients(fit: LaplaceFit | FactoredRegressionFit) -> NDArray[np.float64]:
    """Derivatives of the evidences of latent functions given by features, ``dL/dK G`` for ``K = G G^T``.

    Parameters
    ----------
    fit : LaplaceFit or FactoredRegressionFit
        To a `FactoredCovariance`.

    Returns
    -------
    gradients : ndarray of shape (n_members, n, q)
        Half the derivatives by the features G themselves; O(n q^2) each, no matrix between labels is formed.

    Raises
    ------
    TypeError
        If the covariances are given by matrices.

    Notes
    -----
    What the sites leave is ``(K + Phi^{-1})^{-1} G = Phi G A^{-1}`` with ``A = I + G^T Phi G``; the rest as for matrices.
    """
    if not isinstance(fit.covariance, FactoredCovariance):
        raise TypeError("These derivatives are products with features; the fit has matrices between labels.")
    G, F = fit.covariance.factors, fit.variance_factors
    half = G @ np.swapaxes(F, 1, 2)
    solved = half @ F  # G A^{-1}
    g = fit.gradients
    if isinstance(fit, FactoredRegressionFit):
        return np.asarray(0.5 * (_outer(g, g, G) - solved / fit.noise[:, :, None]))
    phi = fit.curvatures
    q = -0.5 * np.square(half).sum(axis=2) * phi * (1.0 - 2.0 * expit(fit.modes))
    p = q - phi * stacked_product(solved, stacked_product(np.swapaxes(G, 1, 2), q))
    h = 0.5 * g + p
    return np.asarray(0.5 * (_outer(g, h, G) + _outer(h, g, G) - phi[:, :, None] * solved))


def _outer(a: NDArray[np.float64], b: NDArray[np.float64], G: NDArray[np.float64]) -> NDArray[np.float64]:
    """``a b^T G`` for each member."""
    return np.asarray(a[:, :, None] * stacked_product(np.swapaxes(G, 1, 2), b)[:, None, :])


def noise_gradients(fit: FactoredRegressionFit) -> NDArray[np.float64]:
    """Derivatives of the evidences by the noise variances (n_members,), ``(alpha^T alpha - tr C^{-1}) / 2``.

    The trace is ``(n - q + tr A^{-1}) / sigma^2``, in which nothing nearly equal is subtracted.
    """
    n, q = fit.covariance.factors.shape[1:]
    traces = (n - q + np.square(fit.variance_factors).sum(axis=(1, 2))) / fit.noise[:, 0]
    return np.asarray(0.5 * (np.square(fit.gradients).sum(axis=1) - traces))
