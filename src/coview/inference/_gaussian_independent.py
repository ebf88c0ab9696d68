"""Rows with missing values under components of independent features: no patterns, no matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coview.exceptions import NotPositiveDefiniteError
from coview.inference._gaussian_moments import LOST, EstimationRules

__all__ = ["IndependentComponents", "IndependentRows"]

_LOG_TWO_PI = float(np.log(2.0 * np.pi))


class IndependentRows:
    """Rows of a table with missing values, for components whose covariances are diagonal.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_features)
        NaN where a value is missing.
    """

    def __init__(self, table: NDArray[np.float64]) -> None:
        missing = np.isnan(table)
        self.observed = None if not missing.any() else (~missing).astype(np.float64)
        self.filled = table if self.observed is None else np.where(missing, 0.0, table)
        self.n_rows = len(table)

    def given(self, means: NDArray[np.float64], variances: NDArray[np.float64]) -> IndependentComponents:
        """These rows under components with such variances, (n_components, n_features)."""
        return IndependentComponents(self, means, variances)

    def deviations(self, mean: NDArray[np.float64]) -> NDArray[np.float64]:
        """Deviations from a mean, 0 where a value is missing, (n_rows, n_features)."""
        deviations = self.filled - mean
        if self.observed is not None:
            deviations *= self.observed
        return deviations

    def observed_sums(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """``weights`` (..., n_features) summed over the observed features of each row, (..., n_rows)."""
        if self.observed is None:
            return np.broadcast_to(weights.sum(axis=-1)[..., None], (*weights.shape[:-1], self.n_rows))
        return np.asarray(weights @ self.observed.T)

    def observed_counts(self, responsibilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Expected number of rows of each component that have each feature, (n_components, n_features)."""
        if self.observed is None:
            return np.repeat(responsibilities.sum(axis=1)[:, None], self.filled.shape[1], axis=1)
        return np.asarray(responsibilities @ self.observed)


class IndependentComponents:
    """Components of a mixture over independent features.

    Parameters
    ----------
    rows : IndependentRows
    means, variances : ndarray of shape (n_components, n_features)

    Raises
    ------
    NotPositiveDefiniteError
        If a variance is not positive.
    """

    def __init__(self, rows: IndependentRows, means: NDArray[np.float64], variances: NDArray[np.float64]) -> None:
        self.rows, self.means, self.variances = rows, means, variances
        singular = ~(variances > 0.0).all(axis=1)
        if singular.any():
            raise NotPositiveDefiniteError(
                f"Component {int(singular.argmax())} has a variance of zero or below, or none at all. Raise reg_covar, or leave "
                "out features that do not vary."
            )

    def log_densities(self) -> NDArray[np.float64]:
        """Log density of the observed features, (n_components, n_rows), in nats; 0 where there are none."""
        log_densities = -0.5 * self.rows.observed_sums(np.log(self.variances) + _LOG_TWO_PI)
        for k, (mean, variances) in enumerate(zip(self.means, self.variances, strict=True)):
            whitened = self.rows.deviations(mean)
            whitened /= np.sqrt(variances)
            log_densities[k] -= 0.5 * np.einsum("ij,ij->i", whitened, whitened)
        return log_densities

    def maximize(
        self, responsibilities: NDArray[np.float64], rules: EstimationRules
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Means and variances of the M-step; what has no rows to speak of stays as it is.

        Parameters
        ----------
        responsibilities : ndarray of shape (n_components, n_rows)
        rules : EstimationRules

        Returns
        -------
        means, variances : ndarray of the shape of the old ones
        """
        seen = self.rows.observed_counts(responsibilities)
        counts = seen if rules.drop_unobserved else np.repeat(responsibilities.sum(axis=1)[:, None], seen.shape[1], 1)
        kept = counts > LOST
        means, scatters = self.means.copy(), np.zeros_like(self.variances)
        for k, responsibility in enumerate(responsibilities):
            deviations = self.rows.deviations(self.means[k])
            shift = np.divide(responsibility @ deviations, counts[k], out=np.zeros(len(seen[k])), where=kept[k])
            means[k] += shift
            deviations -= shift  # a missing value is completed by the old mean, so it deviates by the shift
            if rules.drop_unobserved and self.rows.observed is not None:
                deviations *= self.rows.observed
            scatters[k] = responsibility @ np.square(deviations, out=deviations)
        # a missing value also brings its variance
        scatters += np.maximum(counts - seen, 0.0) * self.variances
        if rules.tied:
            scatters[...], divisors = scatters.sum(axis=0), np.repeat(counts.sum(axis=0)[None], len(counts), axis=0)
        else:
            divisors = counts
        variances = np.divide(scatters, divisors, out=np.zeros_like(scatters), where=kept) + rules.regularization
        return means, np.where(kept, variances, self.variances)
