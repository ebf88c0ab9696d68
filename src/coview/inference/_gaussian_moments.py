"""Expected moments of incomplete rows under the components of a mixture, pattern by pattern, without completed rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coview.inference._gaussian_conditionals import GaussianConditional, IndependentConditional, condition_components
from coview.inference._gaussian_stacks import PatternStack, StackedComponents, pattern_stacks
from coview.inference._missingness import MissingnessPattern, missingness_patterns

__all__ = ["LOST", "DependentComponents", "DependentRows", "EstimationRules", "WeightedMoments"]

_Conditionals = list[GaussianConditional | IndependentConditional]

# Rows taken at a time, so that what is made of them stays in a processor's cache.
_ROWS = 1024
# Numbers in the factors of one block that are kept from the E-step to the M-step; beyond, they are made anew.
_KEPT = 1 << 25
# Weights below this say nothing, and their ratios are not numbers any more.
_NOTHING = 1e-290
# A component with fewer expected rows keeps its mean and covariance.
LOST = 1e-10


@dataclass(frozen=True)
class EstimationRules:
    """How an M-step turns moments into parameters.

    Attributes
    ----------
    regularization : ndarray of shape (n_features,)
        Added to the variances, in squared units of the features.
    tied : bool
        One covariance for all components.
    drop_unobserved : bool
        Rows that lack a block (or, of independent features, one feature) are left out of its estimates: the component is
        then the only hidden variable for them. Same fixed points, fewer iterations.
    """

    regularization: NDArray[np.float64]
    tied: bool = False
    drop_unobserved: bool = False


class WeightedMoments:
    """Count, mean and scatter about the mean of weighted points, merged batch by batch so that nothing cancels.

    Parameters
    ----------
    n_features : int

    Attributes
    ----------
    count : float
        Sum of the weights.
    mean : ndarray of shape (n_features,)
    scatter : ndarray of shape (n_features, n_features)
        Weighted sum of the outer products of deviations from the mean.
    """

    def __init__(self, n_features: int) -> None:
        self.count = 0.0
        self.mean = np.zeros(n_features)
        self.scatter = np.zeros((n_features, n_features))

    def add(self, count: float, mean: NDArray[np.float64], scatter: NDArray[np.float64]) -> None:
        """Merge the moments of other points."""
        total = self.count + count
        gap = mean - self.mean
        self.scatter += scatter
        if self.count > 0.0:
            self.scatter += gap[:, None] * ((self.count * (count / total)) * gap)
        self.mean = self.mean + gap * (count / total)
        self.count = total


class DependentRows:
    """Rows of a table with missing values, grouped by pattern within each block of features that depend on one another.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_features)
        NaN where a value is missing.
    blocks : sequence of ndarray of int
        Positions of the features of each block; together all features.
    """

    def __init__(self, table: NDArray[np.float64], blocks: Sequence[NDArray[np.intp]]) -> None:
        self.n_rows = len(table)
        self.blocks = [_Block.of(table, features) for features in blocks]

    def given(self, means: NDArray[np.float64], covariances: NDArray[np.float64]) -> DependentComponents:
        """These rows under components whose covariances have no other blocks."""
        return DependentComponents(self, means, covariances)


@dataclass(frozen=True)
class _Block:
    """Positions of its features; patterns of observed ones among them with many rows, and their values; the others."""

    features: NDArray[np.intp]
    patterns: list[MissingnessPattern]
    values: list[NDArray[np.float64]]
    stacks: list[PatternStack]

    @classmethod
    def of(cls, table: NDArray[np.float64], features: NDArray[np.intp]) -> _Block:
        part = np.ascontiguousarray(table if len(features) == table.shape[1] else table[:, features])
        patterns = missingness_patterns(~np.isnan(part))
        values = [pattern.values(part) for pattern in patterns]
        single, stacks = pattern_stacks(patterns, values)
        return cls(features, [patterns[k] for k in single], [values[k] for k in single], stacks)


class DependentComponents:
    """Components of a mixture given the observed features of every pattern of rows.

    Parameters
    ----------
    rows : DependentRows
    means : ndarray of shape (n_components, n_features)
    covariances : ndarray of shape (n_components, n_features, n_features)
    """

    def __init__(self, rows: DependentRows, means: NDArray[np.float64], covariances: NDArray[np.float64]) -> None:
        self.rows, self.means, self.covariances = rows, means, covariances
        self._blocks = [_ConditionedBlock(block, means, covariances) for block in rows.blocks]

    def log_densities(self) -> NDArray[np.float64]:
        """Log density of the observed features, (n_components, n_rows), in nats; 0 where there are none."""
        log_densities = np.zeros((len(self.means), self.rows.n_rows))
        for block in self._blocks:
            block.add_log_densities(log_densities)
        return log_densities

    def maximize(
        self, responsibilities: NDArray[np.float64], rules: EstimationRules
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Means and covariances of the M-step; what has no rows to speak of stays as it is.

        Parameters
        ----------
        responsibilities : ndarray of shape (n_components, n_rows)
        rules : EstimationRules

        Returns
        -------
        means, covariances : ndarray of the shape of the old ones
        """
        means, covariances = self.means.copy(), np.zeros_like(self.covariances)
        for block in self._blocks:
            features = block.block.features
            square = np.ix_(features, features)
            totals = block.moments(responsibilities, drop_empty=rules.drop_unobserved)
            pooled = _pooled_covariance(totals) if rules.tied else None
            for k, total in enumerate(totals):
                if total.count <= LOST:
                    covariances[k][square] = self.covariances[k][square]
                    continue
                means[k, features] += total.mean
                covariance = total.scatter / total.count if pooled is None else pooled.copy()
                covariance = 0.5 * (covariance + covariance.T)
                covariance.flat[:: len(features) + 1] += rules.regularization[features]
                covariances[k][square] = covariance
        return means, covariances


class _ConditionedBlock:
    """Components given every pattern of one block; their factors are kept from the E-step on while they are few."""

    def __init__(self, block: _Block, means: NDArray[np.float64], covariances: NDArray[np.float64]) -> None:
        features = block.features
        self.block, self.means = block, means[:, features]
        self.covariances = (
            covariances if len(features) == means.shape[1] else covariances[:, features[:, None], features]
        )
        self._kept: dict[int, _Conditionals | StackedComponents] = {}
        self._n_kept = 0

    def _conditionals(self, position: int) -> _Conditionals:
        """The components given the pattern at a position."""
        pattern = self.block.patterns[position]
        made = self._kept.get(position)
        if not isinstance(made, list):
            made = condition_components(self.means, self.covariances, pattern.observed, pattern.missing)
            self._keep(position, made, self.covariances.size)
        return made

    def _stacked(self, position: int) -> StackedComponents:
        """The components given the stack at a position."""
        made = self._kept.get(~position)
        if not isinstance(made, StackedComponents):
            made = StackedComponents(self.block.stacks[position], self.means, self.covariances)
            self._keep(~position, made, made.size)
        return made

    def _keep(self, key: int, made: _Conditionals | StackedComponents, size: int) -> None:
        """Keep factors for the M-step, as long as there is room."""
        if self._n_kept + size <= _KEPT:
            self._kept[key] = made
            self._n_kept += size

    def add_log_densities(self, log_densities: NDArray[np.float64]) -> None:
        """Add those of this block, (n_components, n_rows)."""
        for position, (pattern, values) in enumerate(zip(self.block.patterns, self.block.values, strict=True)):
            if not len(pattern.observed):
                continue
            for k, conditional in enumerate(self._conditionals(position)):
                for start in range(0, len(values), _ROWS):
                    rows = slice(start, start + _ROWS)
                    log_densities[k, pattern.rows[rows]] += conditional.log_density(values[rows])
        for position in range(len(self.block.stacks)):
            self._stacked(position).add_log_densities(log_densities)

    def moments(self, responsibilities: NDArray[np.float64], *, drop_empty: bool) -> list[WeightedMoments]:
        """Expected moments of the completed rows, one per component; the means are shifts from the old means."""
        totals = [WeightedMoments(self.means.shape[1]) for _ in self.means]
        for position, (pattern, values) in enumerate(zip(self.block.patterns, self.block.values, strict=True)):
            if not len(pattern.observed):
                for total, covariance, share in zip(totals, self.covariances, responsibilities, strict=True):
                    count = 0.0 if drop_empty else float(share[pattern.rows].sum())
                    if count > _NOTHING:
                        total.add(count, np.zeros(len(covariance)), count * covariance)
                continue
            for k, conditional in enumerate(self._conditionals(position)):
                observed = _observed_moments(values, responsibilities[k, pattern.rows], conditional.mean_observed)
                if observed.count > _NOTHING:
                    _add_completed(totals[k], observed, conditional, pattern)
        for position in range(len(self.block.stacks)):
            for total, *moments in zip(totals, *self._stacked(position).moments(responsibilities), strict=True):
                if moments[0] > _NOTHING:
                    total.add(*moments)
        return totals


def _pooled_covariance(totals: list[WeightedMoments]) -> NDArray[np.float64]:
    """Within-component covariance of all rows."""
    count = sum(total.count for total in totals)
    return np.asarray(sum(total.scatter for total in totals) / max(count, LOST))


def _observed_moments(
    values: NDArray[np.float64], weights: NDArray[np.float64], center: NDArray[np.float64]
) -> WeightedMoments:
    """Moments of observed values, the mean as a shift from ``center``; sums of squares about the mean of each batch."""
    moments = WeightedMoments(values.shape[1])
    for start in range(0, len(values), _ROWS):
        batch, share = values[start : start + _ROWS], weights[start : start + _ROWS]
        count = float(share.sum())
        if count <= _NOTHING:
            continue
        mean = (share / count) @ batch
        deviations = (batch - mean) * np.sqrt(share)[:, None]
        moments.add(count, mean - center, deviations.T @ deviations)
    return moments


def _add_completed(
    total: WeightedMoments,
    observed: WeightedMoments,
    conditional: GaussianConditional | IndependentConditional,
    pattern: MissingnessPattern,
) -> None:
    """Add the moments of completed rows: ``[I; G] S [I; G]^T`` and the conditional covariance, no row completed."""
    if not len(pattern.missing):
        total.add(observed.count, observed.mean, observed.scatter)
        return
    completion = np.zeros((len(total.mean), len(pattern.observed)))  # [I; G] in the order of the features
    completion[pattern.observed, np.arange(len(pattern.observed))] = 1.0
    completion[pattern.missing] = conditional.coefficients
    scatter = completion @ observed.scatter @ completion.T
    scatter[np.ix_(pattern.missing, pattern.missing)] += observed.count * conditional.covariance
    total.add(observed.count, completion @ observed.mean, scatter)
