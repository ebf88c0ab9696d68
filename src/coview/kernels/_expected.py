"""Gram matrices of kernels with missing features integrated out, between rows that are mixtures of Gaussians."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coview.kernels._expected_pairs import expected_pairs
from coview.kernels._expected_rows import ExpectedRows, count_rows
from coview.kernels._expected_values import GaussianValue, PolynomialValue, polynomial_of_squared_norm

__all__ = ["expected_linear_gram", "expected_polynomial_gram", "expected_rbf_gram"]

Rows = Sequence[ExpectedRows]


def expected_rbf_gram(
    left: Rows, right: Rows | None, gamma: NDArray[np.float64], *, mean_embedding: bool = False
) -> NDArray[np.float64]:
    r"""Expected values of ``exp(-sum_f gamma_f (x_f - y_f)^2)``.

    Parameters
    ----------
    left, right : sequence of ExpectedRows
        ``right=None``: left with itself.
    gamma : ndarray of shape (n_features,)
        In units of one over a squared feature.
    mean_embedding : bool, default=False
        Whether the diagonal for ``right=None`` is that of two independent draws instead of 1.

    Returns
    -------
    K : ndarray of shape (n_left, n_right)

    Notes
    -----
    Equation (4) of Williams and Carin with its index sets put right, in features times :math:`\sqrt{2 \gamma_f}`:

    .. math:: \sum_{ab} r_{ia} r_{jb} |M|^{-1/2} \exp(-\tfrac12 \delta^T M^{-1} \delta), \quad M = I + P_{ia} + P_{jb}

    One Cholesky factor per pair of patterns and of components, of the order of the features that one of the two misses.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.kernels import expected_rows
    >>> rows = expected_rows(np.array([[2.0], [np.nan]]), np.ones(1), np.array([[0.5]]), np.array([[[2.0]]]))
    >>> expected_rbf_gram(rows, None, np.array([0.5])).round(4)
    array([[1.    , 0.3968],
           [0.3968, 1.    ]])
    """
    factors = np.sqrt(2.0 * gamma)
    # distances do not change with the origin, and their rounding error grows with the distance from it
    center = _center(left)
    scaled = [part.scaled(factors, center) for part in left]
    other = None if right is None else [part.scaled(factors, center) for part in right]
    K = expected_pairs(GaussianValue(), scaled, other)
    if right is None and not mean_embedding:
        np.fill_diagonal(K, 1.0)
    return K


def expected_polynomial_gram(
    left: Rows,
    right: Rows | None,
    gamma: NDArray[np.float64],
    *,
    degree: int,
    coef0: float,
    mean_embedding: bool = False,
) -> NDArray[np.float64]:
    """Expected values of ``(sum_f gamma_f x_f y_f + coef0)^degree``; the diagonal for ``right=None`` is ``E k(x, x)``.

    Parameters
    ----------
    left, right : sequence of ExpectedRows
    gamma : ndarray of shape (n_features,)
    degree : int
    coef0 : float
    mean_embedding : bool, default=False

    Returns
    -------
    K : ndarray of shape (n_left, n_right)

    Notes
    -----
    Given its component, a row is Gaussian, and the inner product of two rows has the cumulants of a bilinear form. Per
    pair of patterns and components O(degree s^2) for each row, and O(degree s^3) from degree 4 on, with s the number of
    features that one of the two misses.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.kernels import expected_rows
    >>> rows = expected_rows(np.array([[2.0], [np.nan]]), np.ones(1), np.array([[0.5]]), np.array([[[2.0]]]))
    >>> expected_rbf_gram(rows, None, np.array([0.5])).round(4)
    array([[1.    , 0.3968],
           [0.3968, 1.    ]])
    """
    factors = np.sqrt(gamma)
    scaled = [part.scaled(factors) for part in left]
    other = None if right is None else [part.scaled(factors) for part in right]
    K = expected_pairs(PolynomialValue(degree, coef0), scaled, other)
    if right is None and not mean_embedding:
        for part in scaled:
            own = [
                weights * polynomial_of_squared_norm(means, part.missing, covariance, degree, coef0)
                for weights, means, covariance in zip(part.weights, part.means, part.covariances, strict=True)
            ]
            K[part.rows, part.rows] = np.sum(own, axis=0)
    return K


def expected_linear_gram(left: Rows, right: Rows | None, *, mean_embedding: bool = False) -> NDArray[np.float64]:
    """Expected inner products; the diagonal for ``right=None`` is ``E x^T x``, unless ``mean_embedding``.

    Parameters
    ----------
    left, right : sequence of ExpectedRows
    mean_embedding : bool, default=False

    Returns
    -------
    K : ndarray of shape (n_left, n_right)

    Notes
    -----
    Off the diagonal the inner product of conditional means; time O(n_left n_right n_features).

    Examples
    --------
    >>> import numpy as np
    >>> from coview.kernels import expected_rows
    >>> rows = expected_rows(np.array([[2.0], [np.nan]]), np.ones(1), np.array([[0.5]]), np.array([[[2.0]]]))
    >>> expected_linear_gram(rows, None)
    array([[4.  , 1.  ],
           [1.  , 2.25]])
    """
    X = _expected_values(left)
    K = np.asarray(X @ (X if right is None else _expected_values(right)).T)
    if right is None and not mean_embedding:
        for part in left:
            squares = np.square(part.means).sum(axis=2) + np.trace(part.covariances, axis1=1, axis2=2)[:, None]
            K[part.rows, part.rows] = (part.weights * squares).sum(axis=0)
    return K


def _expected_values(parts: Rows) -> NDArray[np.float64]:
    """Conditional means of all features, (n_rows, n_features)."""
    table = np.empty((count_rows(parts), parts[0].means.shape[2]))
    for part in parts:
        table[part.rows] = part.mean()
    return table


def _center(parts: Rows) -> NDArray[np.float64]:
    """A point amid the rows."""
    return np.asarray(_expected_values(parts).mean(axis=0))
