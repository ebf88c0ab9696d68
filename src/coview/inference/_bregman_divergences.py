"""Bregman divergences: closed forms that do not cancel where two rows nearly agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

__all__ = ["BregmanDivergence", "bregman_divergence"]

Array = NDArray[np.float64]
# Below this relative difference the closed forms are replaced by their series, exact to rounding there.
_NEAR = 1e-3
# A difference of potentials below this share of their sizes is computed by terms that do not cancel.
_CANCELED = 1e-3
# Here the merge cost needs no potential.
_SQUARED = {"sqeuclidean", "half_sqeuclidean"}


@dataclass(frozen=True)
class BregmanDivergence:
    r"""A divergence :math:`D(x, y) = \phi(x) - \phi(y) - \langle \nabla\phi(y), x - y \rangle`, summed over features.

    Attributes
    ----------
    name : str
    between : callable
        ``between(x, y)`` gives D between rows that broadcast against each other, ``(..., n_features)`` to ``(...)``.
    potential : callable
        ``potential(x)`` is :math:`\phi(x)`, ``(..., n_features)`` to ``(...)``.
    domain : str
        In words; ``""`` where every number is allowed.
    allowed : callable
        ``allowed(x)`` is True where an entry lies in the domain.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import bregman_divergence
    >>> kl = bregman_divergence("kl")
    >>> float(kl.between(np.array([0.5, 0.5]), np.array([0.25, 0.75])).round(4))
    0.1438
    """

    name: str
    between: Callable[[Array, Array], Array]
    potential: Callable[[Array], Array]
    domain: str
    allowed: Callable[[Array], NDArray[np.bool_]]

    def merge_costs(self, cluster: tuple[Array, float, float], means: Array, sizes: Array, potentials: Array) -> Array:
        r"""What joining a cluster with each of several adds to the cost.

        Parameters
        ----------
        cluster : tuple of ndarray of shape (n_features,), float and float
            Mean, size and potential of the cluster.
        means : ndarray of shape (n_clusters, n_features)
        sizes, potentials : ndarray of shape (n_clusters,)
            Of the others; a potential is :math:`\phi` of the mean.

        Returns
        -------
        costs : ndarray of shape (n_clusters,)

        Notes
        -----
        :math:`|S| \phi(\mu_S) + |T| \phi(\mu_T) - (|S| + |T|) \phi(\mu)`, the lemma of section 3. Where that difference cancels,
        it is :math:`|S| D(\mu_S, \mu) + |T| D(\mu_T, \mu)`, a sum of terms that are not negative.
        """
        mean, size, potential = cluster
        together = size + sizes
        if self.name in _SQUARED:
            return np.asarray((size * sizes / together) * self.between(mean, means))
        joint = means - mean
        joint *= (sizes / together)[:, None]
        joint += mean
        pooled = together * self.potential(joint)
        costs = size * potential + sizes * potentials - pooled
        scale = size * abs(potential) + sizes * np.abs(potentials) + np.abs(pooled)
        close = np.flatnonzero(~(costs > _CANCELED * scale))
        if len(close):
            near = joint[close]
            costs[close] = size * self.between(mean, near) + sizes[close] * self.between(means[close], near)
        return np.asarray(costs)

    def cost(self, rows: Array) -> float:
        """Sum of the divergences of rows (n, n_features) from their mean, the least over all centers."""
        return float(self.between(rows, rows.mean(axis=0)).sum()) if len(rows) else 0.0


def bregman_divergence(
    divergence: str | BregmanDivergence | tuple[Callable[[Array], Array], Callable[[Array], Array]],
) -> BregmanDivergence:
    r"""Return a Bregman divergence by its name, or of a convex function of the user.

    Parameters
    ----------
    divergence : str, BregmanDivergence or pair of callables
        ``"sqeuclidean"`` :math:`|x - y|^2`, ``"half_sqeuclidean"``, ``"kl"`` (generalized Kullback-Leibler, of entries not below
        0), ``"itakura_saito"`` (of positive entries), ``"exponential"`` (:math:`\phi = e^x`), ``"logistic"`` (of entries
        in [0, 1]: twice the binary cross entropy less its minimum, summed), or ``(phi, gradient)``: functions that act entry by
        entry, the divergence is the sum over features.

    Returns
    -------
    divergence : BregmanDivergence

    Raises
    ------
    ValueError
        If there is no divergence of that name.

    Notes
    -----
    Gupta and Dasgupta, equations (1) to (4).

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import bregman_divergence
    >>> own = bregman_divergence((np.square, lambda y: 2.0 * y))
    >>> float(own.between(np.array([1.0, 2.0]), np.zeros(2)))
    5.0
    """
    if isinstance(divergence, BregmanDivergence):
        return divergence
    if isinstance(divergence, str):
        if divergence not in _NAMED:
            raise ValueError(
                f"There is no divergence {divergence!r}; known are {', '.join(map(repr, _NAMED))}, or a pair (phi, gradient) of "
                "functions that act entry by entry."
            )
        return _NAMED[divergence]
    if isinstance(divergence, list | tuple) and len(divergence) == 2 and all(callable(part) for part in divergence):
        return _of_function(*divergence)
    raise ValueError(
        f"A divergence is a name ({', '.join(map(repr, _NAMED))}) or a pair (phi, gradient) of functions; got {divergence!r}."
    )


def _of_function(phi: Callable[[Array], Array], gradient: Callable[[Array], Array]) -> BregmanDivergence:
    def between(x: Array, y: Array) -> Array:
        difference = np.asarray(phi(x)) - np.asarray(phi(y)) - np.asarray(gradient(y)) * (x - y)
        return _over_features(np.maximum(difference, 0.0))

    def potential(x: Array) -> Array:
        return _over_features(np.asarray(phi(x)))

    return BregmanDivergence("user", between, potential, "where phi is finite", lambda x: np.isfinite(phi(x)))


def _over_features(x: Array) -> Array:
    """Sum over the last axis; ``sum`` takes ten times as long where that is short."""
    return np.asarray(np.einsum("...f->...", x))


def _squared(x: Array, y: Array) -> Array:
    difference = x - y
    return np.asarray(np.einsum("...f,...f->...", difference, difference))


def _entropy_gap(u: Array) -> Array:
    """(1 + u) log(1 + u) - u for u >= -1."""
    return np.where(np.abs(u) < _NEAR, _series(u, (1 / 2, -1 / 6, 1 / 12, -1 / 20)), xlogy(1.0 + u, 1.0 + u) - u)


def _series(u: Array, coefficients: tuple[float, ...]) -> Array:
    total = np.zeros_like(u)
    for coefficient in reversed(coefficients):
        total = (total + coefficient) * u
    return total * u


def _kl(x: Array, y: Array) -> Array:
    positive = y > 0.0
    u = (x - y) / np.where(positive, y, 1.0)
    gaps = np.where(positive, y * _entropy_gap(np.maximum(u, -1.0)), np.where(x > 0.0, np.inf, 0.0))
    return _over_features(gaps)


def _itakura_saito(x: Array, y: Array) -> Array:
    u = (x - y) / y
    near = np.abs(u) < _NEAR
    return _over_features(np.where(near, _series(u, (1 / 2, -1 / 3, 1 / 4, -1 / 5)), u - np.log1p(u)))


def _exponential(x: Array, y: Array) -> Array:
    u = x - y
    near = np.abs(u) < _NEAR
    return _over_features(np.exp(y) * np.where(near, _series(u, (1 / 2, 1 / 6, 1 / 24, 1 / 120)), np.expm1(u) - u))


def _logistic(x: Array, y: Array) -> Array:
    return _kl(x, y) + _kl(1.0 - x, 1.0 - y)


def _named() -> dict[str, BregmanDivergence]:
    def entropy(x: Array) -> Array:
        return np.asarray(np.einsum("...f,...f->...", x, np.log(np.where(x > 0.0, x, 1.0))))

    def norm(x: Array) -> Array:
        return _squared(x, np.zeros(1))

    parts: list[BregmanDivergence] = [
        BregmanDivergence("sqeuclidean", _squared, norm, "", np.isfinite),
        BregmanDivergence(
            "half_sqeuclidean", lambda x, y: 0.5 * _squared(x, y), lambda x: 0.5 * norm(x), "", np.isfinite
        ),
        BregmanDivergence("kl", _kl, entropy, "entries that are not negative", lambda x: x >= 0.0),
        BregmanDivergence(
            "itakura_saito", _itakura_saito, lambda x: -_over_features(np.log(x)), "positive entries", lambda x: x > 0.0
        ),
        BregmanDivergence(
            "exponential", _exponential, lambda x: _over_features(np.exp(x)), "entries below 700", lambda x: x < 700.0
        ),
        BregmanDivergence(
            "logistic",
            _logistic,
            lambda x: entropy(x) + entropy(1.0 - x),
            "entries in [0, 1]",
            lambda x: (x >= 0.0) & (x <= 1.0),
        ),
    ]
    return {part.name: part for part in parts}


_NAMED = _named()
