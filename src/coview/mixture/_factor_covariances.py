"""Gaussian mixtures whose covariances are few directions beside noise: fit, densities and conditionals by the factors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference import FactorConditional, FactorData, FactorParameters, factor_responsibilities
from coview.mixture._factor_mixture import FactorMixture

__all__ = ["condition_factors", "factor_posteriors", "fit_factor_covariances"]

Array = NDArray[np.float64]


def fit_factor_covariances(mixture: Any, table: Array) -> None:
    """Fit covariances of few directions beside noise, in the units of the features; stores all learned attributes."""
    names = ("n_components", "n_factors", "tol", "max_iter", "n_init", "max_components", "n_jobs", "verbose")
    settings = {name: getattr(mixture, name) for name in names}
    factors = FactorMixture(**settings, random_state=mixture.random_state)
    factors._fit_table(table, None, 0)
    scales = factors.feature_scales_
    mixture.weights_ = factors.weights_
    mixture.means_ = factors.means_ * scales + factors.feature_means_
    mixture.loadings_ = factors.loadings_ * scales[:, None]
    mixture.noise_variance_ = factors.noise_variance_ * scales**2
    volume = float(factors._log_volumes(table).sum())  # between standardized features and their own units
    mixture.bic_by_n_components_ = {k: value - 2.0 * volume for k, value in factors.bic_by_n_components_.items()}
    for name in ("n_components_", "log_likelihood_trace_", "n_iter_", "converged_"):
        setattr(mixture, name, getattr(factors, name))
    mixture.lower_bound_ = float(mixture.log_likelihood_trace_[-1]) / len(table)


def factor_posteriors(mixture: Any, table: Array) -> tuple[Array, Array]:
    """Responsibilities (n_samples, n_components) and log likelihoods (n_samples,), without a matrix of all features."""
    scales = np.sqrt(mixture.noise_variance_)  # in units of the noise it is the same for all features
    n_components = len(mixture.weights_)
    parameters = FactorParameters(
        mixture.weights_, mixture.means_ / scales, mixture.loadings_ / scales[:, None], 1.0, np.ones((n_components, 0))
    )
    data = FactorData.of(table / scales)
    _, shares, log_likelihood = factor_responsibilities(data, parameters)
    volumes = ~np.isnan(table) @ np.log(scales)
    return np.ascontiguousarray(data.table.in_order(shares, axis=1).T), data.table.in_order(log_likelihood) - volumes


def condition_factors(
    means: Array, loadings: Array, noise: Array, observed: NDArray[np.intp], missing: NDArray[np.intp]
) -> list[FactorConditional]:
    """Every component given the features of one pattern."""
    return [
        FactorConditional(mean[observed], mean[missing], A[observed], A[missing], noise[observed], noise[missing])
        for mean, A in zip(means, loadings, strict=True)
    ]
