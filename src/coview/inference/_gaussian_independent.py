"""Rows with missing values under components of independent features: no patterns, no matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from coview.exceptions import NotPositiveDefiniteError
from coview.inference._gaussian_moments import LOST, EstimationRules

__all__ = ["IndependentComponents", "IndependentRows"]

# Values of rows that are taken at a time.
_BATCH = 1 << 16
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

    def squares(self, rows: slice, center: NDArray[np.float64]) -> NDArray[np.float64]:
        """Squared deviations from a center, 0 where a value is missing, for some of the rows."""
        deviations = self.filled[rows] - center
        if self.observed is not None:
            deviations *= self.observed[rows]
        return np.square(deviations, out=deviations)

    def batches(self) -> Iterator[slice]:
        """Rows a few at a time, so that what is made of them stays in a processor's cache."""
        step = max(1, _BATCH // max(1, self.filled.shape[1]))
        return (slice(start, start + step) for start in range(0, self.n_rows, step))

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
        precisions = 1.0 / self.variances
        for rows in self.rows.batches():
            for k, mean in enumerate(self.means):
                log_densities[k, rows] -= 0.5 * (self.rows.squares(rows, mean) @ precisions[k])
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
        sums = responsibilities @ self.rows.filled - seen * self.means
        shifts = np.divide(sums, counts, out=np.zeros_like(seen), where=kept)
        means = self.means + shifts
        scatters = np.zeros_like(seen)
        for rows in self.rows.batches():
            for k, responsibility in enumerate(responsibilities[:, rows]):
                scatters[k] += responsibility @ self.rows.squares(rows, means[k])
        # a missing value is completed by the old mean, which deviates by the shift, and brings its variance
        scatters += np.maximum(counts - seen, 0.0) * (self.variances + shifts**2)
        if rules.tied:
            scatters[...], divisors = scatters.sum(axis=0), np.repeat(counts.sum(axis=0)[None], len(counts), axis=0)
        else:
            divisors = counts
        variances = np.divide(scatters, divisors, out=np.zeros_like(scatters), where=kept) + rules.regularization
        return means, np.where(kept, variances, self.variances)
