"""What rows may hold where they miss something: a mixture of Gaussians for each row, held by pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from coview.inference import (
    MissingnessPattern,
    covariance_root,
    missingness_patterns,
)

__all__ = ["ConditionalMixture", "ConditionalRow"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ConditionalRow:
    """Mixture over the missing features of one row.

    Attributes
    ----------
    weights : ndarray of shape (n_components,)
        Probability of each component given the observed features (and the label, where one was given).
    means : ndarray of shape (n_components, n_missing)
    covariances : ndarray of shape (n_components, n_missing, n_missing)
    missing : ndarray of int of shape (n_missing,)
        Positions of the missing features.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.mixture import IncompleteGaussianMixture
    >>> mixture = IncompleteGaussianMixture.from_parameters([1.0], [[0.0, 0.0]], [[[1.0, 0.5], [0.5, 1.0]]])
    >>> row = mixture.conditional([[2.0, np.nan]])[0]
    >>> row.means, row.covariances, row.missing
    (array([[1.]]), array([[[0.75]]]), array([1]))
    """

    weights: Array
    means: Array
    covariances: Array
    missing: NDArray[np.intp]


class ConditionalMixture(Sequence[ConditionalRow]):
    """Distribution of the missing features of each row, given its observed ones: one mixture of Gaussians per row.

    A sequence of :class:`ConditionalRow`; what all rows of a pattern share is held once.

    Parameters
    ----------
    table : ndarray of shape (n_samples, n_features)
        NaN where a value is missing.
    weights : ndarray of shape (n_samples, n_components)
        Of the components, given what each row shows.
    condition : callable
        ``(observed, missing) -> conditionals``, one per component, as :func:`coview.inference.condition_components` gives.

    Attributes
    ----------
    weights : ndarray of shape (n_samples, n_components)

    Examples
    --------
    >>> import numpy as np
    >>> from coview.mixture import IncompleteGaussianMixture
    >>> mixture = IncompleteGaussianMixture.from_parameters([1.0], [[0.0, 0.0]], [[[1.0, 0.5], [0.5, 1.0]]])
    >>> mixture.conditional([[2.0, np.nan], [np.nan, np.nan]]).mean()
    array([[2., 1.],
           [0., 0.]])
    """

    def __init__(self, table: Array, weights: Array, condition: Callable[..., list[Any]]) -> None:
        self.weights = weights
        self._table = table
        self._patterns = missingness_patterns(~np.isnan(table))
        self._conditionals = [condition(pattern.observed, pattern.missing) for pattern in self._patterns]
        self._pattern_of_row = np.empty(len(table), dtype=np.intp)
        for position, pattern in enumerate(self._patterns):
            self._pattern_of_row[pattern.rows] = position

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        n_samples, n_features = self._table.shape
        return (
            f"<ConditionalMixture of {n_samples} rows, {n_features} features, {self.weights.shape[1]} components: "
            f"{int(np.isnan(self._table).sum())} missing values in {len(self._patterns)} patterns>"
        )

    @overload
    def __getitem__(self, index: int) -> ConditionalRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[ConditionalRow]: ...
    def __getitem__(self, index: int | slice) -> ConditionalRow | list[ConditionalRow]:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        row = range(len(self))[index]
        position = self._pattern_of_row[row]
        pattern, conditionals = self._patterns[position], self._conditionals[position]
        values = self._table[row, pattern.observed][None]
        return ConditionalRow(
            self.weights[row],
            np.stack([conditional.mean(values)[0] for conditional in conditionals]),
            np.stack([conditional.covariance for conditional in conditionals]),
            pattern.missing,
        )

    @property
    def means(self) -> Array:
        """Rows completed under each component, (n_samples, n_components, n_features), made anew at every call."""
        means = np.repeat(self._table[:, None], self.weights.shape[1], axis=1)
        for pattern, k, conditional, values in self._incomplete():
            means[pattern.rows[:, None], k, pattern.missing] = conditional.mean(values)
        return means

    @property
    def covariances(self) -> Array:
        """Conditional covariances, zero for observed features, (n_samples, n_components, n_features, n_features)."""
        n_features = self._table.shape[1]
        covariances = np.zeros((*self.weights.shape, n_features, n_features))
        for pattern, k, conditional, _ in self._incomplete():
            square = np.ix_(pattern.missing, pattern.missing)
            of_pattern = np.zeros((n_features, n_features))
            of_pattern[square] = conditional.covariance
            covariances[pattern.rows, k] = of_pattern
        return covariances

    def mean(self) -> Array:
        """Expected value of every feature, (n_samples, n_features); observed values as they are."""
        mean = self._table.copy()
        for pattern, weights, conditionals in self._by_pattern():
            values = pattern.values(self._table)
            parts = (weights[:, k : k + 1] * part.mean(values) for k, part in enumerate(conditionals))
            mean[np.ix_(pattern.rows, pattern.missing)] = sum(parts)
        return mean

    def variance(self) -> Array:
        """Variance of every feature over components and within them, (n_samples, n_features); 0 where it is observed."""
        variance = np.zeros_like(self._table)
        for pattern, weights, conditionals in self._by_pattern():
            values = pattern.values(self._table)
            means = np.stack([part.mean(values) for part in conditionals])  # (n_components, n_rows, n_missing)
            within = weights @ np.stack([part.covariance.diagonal() for part in conditionals])
            center = np.einsum("nk,knm->nm", weights, means)
            between = np.einsum("nk,knm->nm", weights, (means - center) ** 2)
            variance[np.ix_(pattern.rows, pattern.missing)] = within + between
        return variance

    def sample(self, n_draws: int = 1, random_state: Any = None) -> Array:
        """Completed rows drawn at random, observed values as they are.

        Parameters
        ----------
        n_draws : int, default=1
        random_state : int or RandomState, default=None

        Returns
        -------
        draws : ndarray of shape (n_draws, n_samples, n_features)
        """
        rng = check_random_state(random_state)
        draws = np.repeat(self._table[None], n_draws, axis=0)
        for pattern, weights, conditionals in self._by_pattern():
            chosen = _choices(weights, n_draws, rng)  # (n_draws, n_rows)
            values = pattern.values(self._table)
            filled = np.empty((n_draws, len(pattern.rows), len(pattern.missing)))
            for k in np.unique(chosen):
                draw, row = np.nonzero(chosen == k)
                noise = rng.standard_normal((len(draw), len(pattern.missing)))
                filled[draw, row] = (
                    conditionals[k].mean(values)[row] + noise @ covariance_root(conditionals[k].covariance).T
                )
            draws[:, pattern.rows[:, None], pattern.missing] = filled
        return draws

    def _by_pattern(
        self,
    ) -> Iterator[tuple[MissingnessPattern, Array, list[Any]]]:
        """Patterns that miss something, weights of their rows, components given them."""
        for pattern, conditionals in zip(self._patterns, self._conditionals, strict=True):
            if len(pattern.missing):
                yield pattern, self.weights[pattern.rows], conditionals

    def _incomplete(
        self,
    ) -> Iterator[tuple[MissingnessPattern, int, Any, Array]]:
        """The same component by component, with the observed values."""
        for pattern, _, conditionals in self._by_pattern():
            values = pattern.values(self._table)
            for k, conditional in enumerate(conditionals):
                yield pattern, k, conditional, values


def _choices(weights: Array, n_draws: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """A component for each draw and row, (n_draws, n_rows), from weights (n_rows, n_components)."""
    steps = np.cumsum(weights, axis=1)
    steps /= steps[:, -1:]
    picks = rng.uniform(size=(n_draws, len(weights)))
    return np.asarray((picks[:, :, None] >= steps).sum(axis=2))
