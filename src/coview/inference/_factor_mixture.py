r"""Mixture of factor analyzers on rows with any features missing: expectation and maximization, pattern by pattern.

Component j is :math:`x = \mu_j + A_j v + n`, :math:`v \sim N(0, I_d)`, :math:`n \sim N(0, \sigma^2 I)`; a label, where there
is one, depends on the component only, :math:`P(c \mid j) = B_{jc}`. Equations are those of [1]_, in the form that holds for any
set of observed features: A, mu and r are cut to it.

References
----------
.. [1] G. Jin, R. Raich, D. J. Miller, "A generative semi-supervised model for multi-view learning when some views are
   label-free", ICASSP 2013.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coview.exceptions import NotPositiveDefiniteError
from coview.inference._factor_rows import PatternedTable
from coview.linalg import solve_positive_definite

__all__ = [
    "FactorParameters",
    "FactorPosterior",
    "factor_posterior",
    "maximize_class_probabilities",
    "maximize_factors",
    "maximize_noise_variance",
    "share_components",
]

Array = NDArray[np.float64]

# Where a component expects fewer rows than this, what it would learn from them is kept as it was.
LEAST_MASS = 1e-10
# Shares below it are none: products of them would be denormal numbers, on which processors take many times as long.
_LEAST_SHARE = 1e-200
_LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class FactorParameters:
    """Parameters of a mixture of J factor analyzers of p features with d factors.

    Attributes
    ----------
    weights : ndarray of shape (J,)
        Sum to one.
    means : ndarray of shape (J, p)
    loadings : ndarray of shape (J, p, d)
    noise_variance : float
        Positive; the same for all components and features.
    class_probabilities : ndarray of shape (J, C)
        P(class | component); C is 0 where there are no classes.
    """

    weights: Array
    means: Array
    loadings: Array
    noise_variance: float
    class_probabilities: Array


@dataclass(frozen=True)
class FactorPosterior:
    """What rows say of each component, in the order of the sorted table.

    Attributes
    ----------
    log_density : ndarray of shape (J, n_rows)
        log p(observed features | component); 0 where nothing is observed.
    means : ndarray of shape (J, n_rows, d)
        E[v | observed features, component].
    covariances : ndarray of shape (n_patterns, J, d, d)
        Cov[v | observed features, component], the same for all rows of a pattern.
    """

    log_density: Array
    means: Array
    covariances: Array


def _group_grams(table: PatternedTable, loadings: Array) -> Array:
    """A_g^T A_g of each group of features (n_groups, J, d, d), from which those of every pattern are summed."""
    n_components, _, d = loadings.shape
    grams = np.empty((len(table.groups), n_components, d, d))
    for gram, group in zip(grams, table.groups, strict=True):
        part = loadings[:, group]
        np.matmul(part.mT, part, out=gram)
    return grams


def _weighted_sums(weights: Array, values: Array) -> Array:
    """Sums of values over their first axis, one for each row of the weights."""
    shape = values.shape[1:]
    return (weights @ values.reshape(len(values), math.prod(shape))).reshape(len(weights), *shape)


def factor_posterior(table: PatternedTable, parameters: FactorParameters) -> FactorPosterior:
    r"""Density of the observed features under each component, and the moments of its factors; no p x p matrix.

    Parameters
    ----------
    table : PatternedTable
    parameters : FactorParameters

    Returns
    -------
    posterior : FactorPosterior

    Raises
    ------
    NotPositiveDefiniteError
        If the noise variance is too small, compared with the loadings, to be told from zero.

    Notes
    -----
    Equations (8)-(12): :math:`K = \sigma^2 I + A^T A`, mean :math:`K^{-1} A^T r`, covariance :math:`\sigma^2 K^{-1}`. The
    quadratic form is :math:`(\|r - A m\|^2 + \sigma^2 \|m\|^2) / \sigma^2`, in which nothing cancels. Time
    O(J (n (p d + d^2) + n_patterns d^3 + p d^2)) beside the sums over groups.

    Examples
    --------
    >>> import numpy as np
    >>> table = PatternedTable.from_table(np.array([[1.0, np.nan], [0.0, 2.0]]))
    >>> one = FactorParameters(np.ones(1), np.zeros((1, 2)), np.ones((1, 2, 1)), 1.0, np.ones((1, 0)))
    >>> factor_posterior(table, one).means[0, :, 0]
    array([0.5       , 0.66666667])
    """
    loadings, means, noise = parameters.loadings, parameters.means, parameters.noise_variance
    n_components, _, d = loadings.shape
    K = _weighted_sums(table.membership, _group_grams(table, loadings)) + noise * np.eye(d)  # (n_patterns, J, d, d)
    half, log_det = _half_inverses(K, noise)
    log_density = np.empty((n_components, table.n_rows))
    factors = np.empty((n_components, table.n_rows, d))
    for k, pattern in enumerate(table.patterns):
        A, mu, width = loadings[:, pattern.observed], means[:, None, pattern.observed], pattern.values.shape[1]
        into_density, into_factors = log_density[:, pattern.rows], factors[:, pattern.rows]
        for js, rows in pattern.blocks(n_components):
            r = pattern.values[rows] - mu[js]
            m = (r @ A[js] @ half[k, js].mT) @ half[k, js]
            r -= m @ A[js].mT
            into_density[js, rows] = _squares(r) / noise + _squares(m)
            into_factors[js, rows] = m
        constant = log_det[k] + (width - d) * np.log(noise) + width * _LOG_2PI  # (J,)
        into_density += constant[:, None]
        into_density *= -0.5
    return FactorPosterior(log_density, factors, noise * (half.mT @ half))


def _half_inverses(K: Array, noise: float) -> tuple[Array, Array]:
    """L^{-1} of every K = L L^T, and log |K|."""
    try:
        L = np.linalg.cholesky(K)
    except np.linalg.LinAlgError as error:
        raise NotPositiveDefiniteError(
            f"noise_variance={noise:.1e} is too small for loadings whose squares reach {np.abs(K).max():.1e}: it cannot be "
            "told from zero. Raise noise_variance, or lower n_factors."
        ) from error
    log_det = 2.0 * np.log(np.diagonal(L, axis1=-2, axis2=-1)).sum(axis=-1)
    return np.linalg.solve(L, np.broadcast_to(np.eye(K.shape[-1]), K.shape)), log_det


def _squares(vectors: Array) -> Array:
    return np.asarray(np.einsum("jno,jno->jn", vectors, vectors))


def share_components(log_joint: Array) -> tuple[Array, Array]:
    """Responsibilities (J, n) and log-likelihoods (n,) from log p(row, component), by log-sum-exp.

    Rows that no component can have produced, -inf throughout, are shared evenly; their log-likelihood is -inf.
    """
    top = log_joint.max(axis=0)
    top = np.where(np.isneginf(top), 0.0, top)
    shares = np.exp(log_joint - top)
    shares[shares < _LEAST_SHARE] = 0.0
    total = shares.sum(axis=0)
    impossible = total == 0.0
    if impossible.any():
        shares[:, impossible], total[impossible] = 1.0, len(shares)
    shares /= total
    log_likelihood = top + np.log(total)
    log_likelihood[impossible] = -np.inf
    return shares, log_likelihood


def maximize_factors(
    table: PatternedTable, parameters: FactorParameters, posterior: FactorPosterior, responsibilities: Array
) -> FactorParameters:
    """Means and loadings that maximize the expected log-likelihood: one regression per feature on the factors.

    Parameters
    ----------
    table : PatternedTable
    parameters : FactorParameters
        Those of the posterior; kept where a component expects no row that has the feature.
    posterior : FactorPosterior
    responsibilities : ndarray of shape (J, n_rows)
        P(component | observed features, label), in the order of the sorted table.

    Returns
    -------
    parameters : FactorParameters
        With new means and loadings.

    Notes
    -----
    Equations (15) and (16) for any pattern, centered. Features with the same rows share their matrix of second moments, so
    there is one of d x d per component and group of features. Time O(J (n (p d + d^2) + n_patterns n_groups d^2 +
    n_groups d^3 + n_patterns p d)).
    """
    mass, centers, spreads, weighted = _factor_moments(table, posterior, responsibilities)
    group_mass = _weighted_sums(table.membership.T, mass)  # (n_groups, J)
    safe_mass = np.where(group_mass > LEAST_MASS, group_mass, 1.0)
    group_centers = _weighted_sums(table.membership.T, mass[:, :, None] * centers) / safe_mass[:, :, None]
    sums, products = _value_moments(table, responsibilities, weighted, centers, group_centers)
    loadings, means = parameters.loadings.copy(), parameters.means.copy()
    for g, group in enumerate(table.groups):
        known = group_mass[g] > LEAST_MASS  # (J,)
        members = np.flatnonzero(table.membership[:, g])
        S = spreads[members].sum(axis=0)
        if len(members) > 1:
            offsets = (centers[members] - group_centers[g]).swapaxes(0, 1)  # (J, n_members, d)
            S += (offsets * mass[members].T[:, :, None]).mT @ offsets
        A = solve_positive_definite(S[known], products[group].transpose(1, 2, 0)[known]).mT  # (J, n_in_group, d)
        center = sums[group].T[known] / safe_mass[g][known, None]
        loadings[np.ix_(known, group)] = A
        means[np.ix_(known, group)] = center - (A @ group_centers[g][known, :, None])[..., 0]
    return replace(parameters, loadings=loadings, means=means)


def _factor_moments(
    table: PatternedTable, posterior: FactorPosterior, responsibilities: Array
) -> tuple[Array, Array, Array, Array]:
    """Per pattern and component mass, mean and centered second moment of the factors; weighted centered means by row."""
    n_components, n_rows, d = posterior.means.shape
    n_patterns = len(table.patterns)
    mass, centers = np.empty((n_patterns, n_components)), np.empty((n_patterns, n_components, d))
    spreads, weighted = np.empty((n_patterns, n_components, d, d)), np.empty((n_rows, n_components, d))
    for k, pattern in enumerate(table.patterns):
        w, m = responsibilities[:, pattern.rows], posterior.means[:, pattern.rows]
        mass[k] = w.sum(axis=1)
        safe = np.where(mass[k] > 0.0, mass[k], 1.0)
        centers[k] = (w[:, None, :] @ m)[:, 0] / safe[:, None]
        away = m - centers[k][:, None]
        scaled = w[:, :, None] * away
        weighted[pattern.rows] = scaled.swapaxes(0, 1)
        spreads[k] = scaled.mT @ away + mass[k][:, None, None] * posterior.covariances[k]
    return mass, centers, spreads, weighted


def _value_moments(
    table: PatternedTable, responsibilities: Array, weighted: Array, centers: Array, group_centers: Array
) -> tuple[Array, Array]:
    """Sums of w x (p, J), and of w x (m - mean of m over the rows that have the feature)^T (p, J, d)."""
    n_components, d = centers.shape[1:]
    sums, products = np.zeros((table.n_features, n_components)), np.zeros((table.n_features, n_components, d))
    for k, pattern in enumerate(table.patterns):
        values = pattern.values.T
        total = values @ responsibilities[:, pattern.rows].T
        width, n_rows = values.shape
        product = values @ weighted[pattern.rows].reshape(n_rows, n_components * d)
        product = product.reshape(width, n_components, d)
        if len(table.patterns) > 1:  # from this pattern's mean of m to that over all patterns with the feature
            product += total[..., None] * (centers[k] - group_centers)[table.group_of_feature[pattern.observed]]
        sums[pattern.observed] += total
        products[pattern.observed] += product
    return sums, products


def maximize_noise_variance(
    table: PatternedTable,
    parameters: FactorParameters,
    posterior: FactorPosterior,
    responsibilities: Array,
    floor: float,
) -> float:
    """Noise variance that maximizes the expected log-likelihood under new means and loadings.

    Parameters
    ----------
    table : PatternedTable
    parameters : FactorParameters
        With the new means and loadings.
    posterior : FactorPosterior
        Under the old ones.
    responsibilities : ndarray of shape (J, n_rows)
    floor : float
        Least noise variance.

    Returns
    -------
    noise_variance : float
        In squared units of the features.
    """
    if not table.n_observed:
        return max(parameters.noise_variance, floor)
    n_components = len(parameters.weights)
    grams = _weighted_sums(table.membership, _group_grams(table, parameters.loadings))
    total = 0.0
    for k, pattern in enumerate(table.patterns):
        A, mu = parameters.loadings[:, pattern.observed], parameters.means[:, None, pattern.observed]
        w, m = responsibilities[:, pattern.rows], posterior.means[:, pattern.rows]
        for js, rows in pattern.blocks(n_components):
            r = pattern.values[rows] - mu[js]
            r -= m[js, rows] @ A[js].mT
            total += float(np.vdot(w[js, rows], _squares(r)))
        total += float(w.sum(axis=1) @ np.einsum("jde,jde->j", posterior.covariances[k], grams[k]))
    return max(total / table.n_observed, floor)


def maximize_class_probabilities(previous: Array, counts: Array, smoothing: float) -> Array:
    """Equation (14) with a pseudo-count: shares of the expected labels (J, C) of each component, kept where it has none."""
    mass = counts.sum(axis=1)
    known = mass > LEAST_MASS
    probabilities = previous.copy()
    smoothed = counts[known] + smoothing
    probabilities[known] = smoothed / smoothed.sum(axis=1, keepdims=True)
    return probabilities
