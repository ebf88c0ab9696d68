"""Expectation and maximization for Gaussian mixtures of incomplete rows, some of them tied to some of the components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coview.inference._factor_mixture import share_components
from coview.inference._gaussian_independent import IndependentComponents, IndependentRows
from coview.inference._gaussian_moments import LOST, DependentComponents, DependentRows, EstimationRules

__all__ = ["GaussianMixtureEM", "GaussianMixtureParameters", "is_block_diagonal", "mixture_posterior"]


@dataclass(frozen=True)
class GaussianMixtureParameters:
    """Parameters of a Gaussian mixture.

    Attributes
    ----------
    weights : ndarray of shape (n_components,)
    means : ndarray of shape (n_components, n_features)
    covariances : ndarray of shape (n_components, n_features, n_features) or (n_components, n_features)
        In the second form the variances of independent features.
    """

    weights: NDArray[np.float64]
    means: NDArray[np.float64]
    covariances: NDArray[np.float64]

    def full_covariances(self) -> NDArray[np.float64]:
        """Covariances as matrices, (n_components, n_features, n_features)."""
        if self.covariances.ndim == 3:
            return self.covariances
        full = np.zeros((*self.means.shape, self.means.shape[1]))
        np.einsum("kii->ki", full)[...] = self.covariances
        return full


def is_block_diagonal(covariances: NDArray[np.float64], blocks: Sequence[NDArray[np.intp]]) -> bool:
    """Whether matrices (n_components, n_features, n_features) are zero outside the given blocks of features."""
    outside = np.ones(covariances.shape[1:], dtype=bool)
    for features in blocks:
        outside[np.ix_(features, features)] = False
    return not covariances[:, outside].any()


def mixture_posterior(
    weights: NDArray[np.float64], log_densities: NDArray[np.float64], allowed: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Responsibilities of the components and log likelihood of each row, by log-sum-exp.

    Parameters
    ----------
    weights : ndarray of shape (n_components,)
    log_densities : ndarray of shape (n_components, n_rows)
        Of the observed features, in nats.
    allowed : ndarray of shape (n_components, n_rows), dtype=bool, default=None
        Components that may have made a row, at least one of positive weight for each; all if None.

    Returns
    -------
    responsibilities : ndarray of shape (n_components, n_rows)
    log_likelihood : ndarray of shape (n_rows,)
        Nats; -inf for a row so far away that no component has a density there, which all then share.

    Examples
    --------
    >>> import numpy as np
    >>> mixture_posterior(np.array([0.5, 0.5]), np.array([[-1e4], [-1e4]]))
    (array([[0.5],
           [0.5]]), array([-10000.]))
    """
    with np.errstate(divide="ignore"):
        log_joint = log_densities + np.log(weights)[:, None]
    if allowed is not None:
        log_joint[~allowed] = -np.inf
    return share_components(log_joint)


class GaussianMixtureEM:
    """The two steps of EM for a table with missing values; what depends on the table alone is prepared once.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_features)
        NaN where a value is missing.
    blocks : sequence of ndarray of int
        Features that may depend on one another given the component, block by block: one block of all for full
        covariances, one of each for diagonal ones.
    rules : EstimationRules
    allowed : ndarray of shape (n_components, n_rows), dtype=bool, default=None
        Components that may have made a row, say those of its class.

    Notes
    -----
    Ghahramani and Jordan (1994): the E-step completes a row by its conditional mean under each component, the M-step adds
    the conditional covariance. Here no row is completed: the weighted moments of the observed values of each pattern are
    carried through the regression on them. Per iteration O(n_rows n_components n_features^2) for the rows, and
    O(n_components n_features^3) for each pattern.
    """

    def __init__(
        self,
        table: NDArray[np.float64],
        blocks: Sequence[NDArray[np.intp]],
        rules: EstimationRules,
        *,
        allowed: NDArray[np.bool_] | None = None,
    ) -> None:
        self.table, self.blocks, self.rules, self.allowed = table, list(blocks), rules, allowed
        self.independent = all(len(features) == 1 for features in self.blocks)

    def step(
        self, parameters: GaussianMixtureParameters, iteration: int = 0
    ) -> tuple[GaussianMixtureParameters, float]:
        """Parameters after one iteration, and the log likelihood per row before it, in nats."""
        given = self._given(parameters)
        responsibilities, log_likelihood = mixture_posterior(parameters.weights, given.log_densities(), self.allowed)
        means, covariances = given.maximize(responsibilities, self.rules)
        counts = responsibilities.sum(axis=1)
        counts[counts <= LOST] = 0.0
        weights = counts / counts.sum()
        return GaussianMixtureParameters(weights, means, self.structured(covariances)), float(log_likelihood.mean())

    def from_responsibilities(
        self, responsibilities: NDArray[np.float64], means: NDArray[np.float64], variances: NDArray[np.float64]
    ) -> GaussianMixtureParameters:
        """Parameters of an M-step in which gaps are filled as if features were independent.

        Parameters
        ----------
        responsibilities : ndarray of shape (n_components, n_rows)
        means, variances : ndarray of shape (n_components, n_features)
            What gaps are filled with under each component.

        Returns
        -------
        parameters : GaussianMixtureParameters
        """
        weights = responsibilities.sum(axis=1) / responsibilities.sum()
        rough = GaussianMixtureParameters(weights, means, variances)
        if not self.independent or len(self.blocks) == 1:
            rough = GaussianMixtureParameters(weights, means, rough.full_covariances())
        return GaussianMixtureParameters(weights, *self._given(rough).maximize(responsibilities, self.rules))

    def log_likelihood(self, parameters: GaussianMixtureParameters) -> float:
        """Log likelihood per row, in nats."""
        return float(self.posterior(parameters)[1].mean())

    def posterior(self, parameters: GaussianMixtureParameters) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Responsibilities (n_components, n_rows), and the log likelihood of each row in nats."""
        return mixture_posterior(parameters.weights, self._given(parameters).log_densities(), self.allowed)

    def structured(self, covariances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Only the blocks of the covariances; variances where each feature is a block."""
        if covariances.ndim == 2 or len(self.blocks) == 1:
            return covariances
        if self.independent:
            return np.array(np.einsum("kii->ki", covariances))
        kept = np.zeros_like(covariances)
        for features in self.blocks:
            kept[:, features[:, None], features] = covariances[:, features[:, None], features]
        return kept

    def _given(self, parameters: GaussianMixtureParameters) -> DependentComponents | IndependentComponents:
        """The rows under the components, with no more structure than the covariances have."""
        means, covariances = parameters.means, parameters.covariances
        if covariances.ndim == 2:
            return self._independent_rows.given(means, covariances)
        # A start may be full where only blocks are estimated: its own E-step is that of full covariances.
        rows = self._block_rows if is_block_diagonal(covariances, self.blocks) else self._whole_rows
        return rows.given(means, covariances)

    @cached_property
    def _independent_rows(self) -> IndependentRows:
        return IndependentRows(self.table)

    @cached_property
    def _block_rows(self) -> DependentRows:
        return DependentRows(self.table, self.blocks)

    @cached_property
    def _whole_rows(self) -> DependentRows:
        return DependentRows(self.table, [np.arange(self.table.shape[1])])
