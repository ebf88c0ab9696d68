"""Derivatives of weighted sums of kernel values by the kernel's parameters, without the derivatives of every value."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Exponentiation,
    Kernel,
    Matern,
    Product,
    Sum,
    WhiteKernel,
)

from coview.exceptions import ViewError
from coview.kernels._per_view import KernelLike, gram

__all__ = ["weighted_derivatives"]

# Rows per step, or as many as hold these numbers where they are short: what belongs to them stays in a processor's cache.
_STRIP, _STRIP_NUMBERS = 64, 2**17
_MATERN_ORDERS = (0.5, 1.5, 2.5)


def weighted_derivatives(
    kernel: KernelLike,
    weights: NDArray[np.float64],
    X: Any,
    Y: Any = None,
    *,
    values: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Derivatives of ``sum(weights * k(X, Y))`` by the logarithms of the kernel's free parameters, ``theta``.

    Parameters
    ----------
    kernel : kernel object or callable
        A callable has no parameters.
    weights : ndarray of shape (n, m)
        Without Y, what is below the diagonal is not read and must be zero: a symmetric matrix comes folded, with the
        entries above its diagonal doubled.
    X, Y : ndarray or sparse matrix of shape (n, p), (m, p)
        Y of None stands for X.
    values : ndarray of shape (n, m), default=None
        The kernel values, where they are known.

    Returns
    -------
    derivatives : ndarray of shape (n_theta,)

    Raises
    ------
    ViewError
        If parameters of this kernel cannot be learnt on sparse rows.

    Notes
    -----
    Constant, RBF, Matern (1/2, 3/2, 5/2), dot-product and white kernels, their sums, products and powers, have closed forms:
    time O(n m) beside that of the kernel values, memory of a few rows. Other kernels are asked for all derivatives
    (n, m, n_theta).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import ConstantKernel
    >>> from coview.kernels import weighted_derivatives
    >>> weighted_derivatives(ConstantKernel(2.0), np.ones((3, 1)), np.ones((3, 2)), np.ones((1, 2)))
    array([6.])
    """
    if not isinstance(kernel, Kernel) or kernel.n_dims == 0:
        return np.zeros(0)
    total = np.zeros(kernel.n_dims)
    if not weights.size:
        return total
    if not sp.issparse(X):
        X, Y = np.asarray(X, dtype=np.float64), None if Y is None else np.asarray(Y, dtype=np.float64)
    if not _closed(kernel):
        return _all_derivatives(kernel, weights, X, Y)
    height = _STRIP if Y is None else max(_STRIP, _STRIP_NUMBERS // weights.shape[1])
    for start in range(0, len(weights), height):
        strip, first = slice(start, start + height), 0 if Y is not None else start
        known = None if values is None else values[strip, first:]
        others = X[first:] if Y is None else Y
        total += _derivatives(kernel, weights[strip, first:], X[strip], others, known, same=Y is None)
    return total


def _closed(kernel: Kernel, *, alone: bool = True) -> bool:
    """Whether every part that has parameters has a closed form; white kernels do outside of products."""
    if isinstance(kernel, Sum):
        return _closed(kernel.k1, alone=alone) and _closed(kernel.k2, alone=alone)
    if isinstance(kernel, Product):
        return _closed(kernel.k1, alone=False) and _closed(kernel.k2, alone=False)
    if isinstance(kernel, Exponentiation):
        return _closed(kernel.kernel, alone=False)
    if isinstance(kernel, WhiteKernel):
        return alone
    if type(kernel) is Matern:
        return kernel.n_dims == 0 or (kernel.nu in _MATERN_ORDERS and np.ndim(kernel.length_scale) == 0)
    return kernel.n_dims == 0 or isinstance(kernel, ConstantKernel | DotProduct) or type(kernel) is RBF


def _all_derivatives(kernel: Kernel, weights: NDArray[np.float64], X: Any, Y: Any) -> NDArray[np.float64]:
    """From the derivatives of every kernel value, which scikit-learn gives between the rows of one table."""
    if sp.issparse(X):
        raise ViewError(f"The parameters of {kernel} cannot be learnt on sparse rows; fix them, or use dense rows.")
    if Y is None:
        _, slopes = kernel(X, eval_gradient=True)
    else:
        _, slopes = kernel(np.vstack([X, Y]), eval_gradient=True)
        slopes = slopes[: len(X), len(X) :]
    return np.asarray(np.einsum("ab,abt->t", weights, slopes))


def _derivatives(
    kernel: Kernel, weights: NDArray[np.float64], X: Any, Y: Any, values: NDArray[np.float64] | None, *, same: bool
) -> NDArray[np.float64]:
    """The same over some rows, by the rules of sums and products; with ``same``, X are the first rows of Y."""
    if kernel.n_dims == 0:
        return np.zeros(0)
    if isinstance(kernel, Sum):
        parts = [_derivatives(part, weights, X, Y, None, same=same) for part in (kernel.k1, kernel.k2)]
        return np.concatenate(parts)
    if isinstance(kernel, Product):
        return np.concatenate(_factor_derivatives(kernel, weights, X, Y, values))
    if isinstance(kernel, Exponentiation):
        base, power = gram(kernel.kernel, X, Y), kernel.exponent
        return _derivatives(kernel.kernel, weights * (power * base ** (power - 1)), X, Y, base, same=same)
    if isinstance(kernel, ConstantKernel):
        return np.array([kernel.constant_value * weights.sum()])
    if isinstance(kernel, DotProduct):
        return np.array([2.0 * kernel.sigma_0**2 * weights.sum()])
    if isinstance(kernel, WhiteKernel):
        return np.array([kernel.noise_level * np.trace(weights) if same else 0.0])
    if type(kernel) is Matern:
        return np.array([(weights * _matern_slope(kernel, X, Y)).sum()])
    values = gram(kernel, X, Y) if values is None else values
    if np.ndim(kernel.length_scale) == 0:
        return np.array([-2.0 * (weights * _entropies(values)).sum()])
    return _by_length_scale(kernel, weights * values, X, Y)


def _factor_derivatives(
    kernel: Product, weights: NDArray[np.float64], X: Any, Y: Any, values: NDArray[np.float64] | None
) -> list[NDArray[np.float64]]:
    """Of the two factors of a product; a constant factor needs no matrix of its own."""
    for place, (constant, other) in enumerate(((kernel.k1, kernel.k2), (kernel.k2, kernel.k1))):
        if isinstance(constant, ConstantKernel):
            a = float(constant.constant_value)
            own = gram(other, X, Y) if values is None else values / a
            parts = [
                np.array([a * (weights * own).sum()]) if constant.n_dims else np.zeros(0),
                _derivatives(other, a * weights, X, Y, own, same=False),
            ]
            return parts[::-1] if place else parts
    first, second = gram(kernel.k1, X, Y), gram(kernel.k2, X, Y)
    return [
        _derivatives(kernel.k1, weights * second, X, Y, first, same=False),
        _derivatives(kernel.k2, weights * first, X, Y, second, same=False),
    ]


def _entropies(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """``k log k`` of RBF values: minus half the squared distance, in units of the length scale, times the value."""
    return np.asarray(values * np.log(np.maximum(values, np.finfo(np.float64).tiny)))


def _by_length_scale(kernel: RBF, weighted: NDArray[np.float64], X: Any, Y: Any) -> NDArray[np.float64]:
    """``sum(weighted_ab (x_ad - y_bd)^2)`` for every feature d in units of its length scale, by products of matrices."""
    if sp.issparse(X):
        X, squares = X.toarray(), Y.multiply(Y)  # X are a few rows
    else:
        X, Y = X - Y[0], Y - Y[0]  # distances of rows that lie far from zero keep their digits
        squares = np.square(Y)
    own = weighted.sum(axis=1) @ np.square(X) + weighted.sum(axis=0) @ squares
    return np.asarray((own - 2.0 * np.einsum("ad,ad->d", weighted @ Y, X)) / np.square(kernel.length_scale))


def _matern_slope(kernel: Matern, X: Any, Y: Any) -> NDArray[np.float64]:
    """Derivative of each Matern value by the logarithm of the length scale."""
    if sp.issparse(X):
        raise ViewError(f"The parameters of {kernel} cannot be learnt on sparse rows; fix them, or use dense rows.")
    distances = cdist(X / kernel.length_scale, Y / kernel.length_scale)
    root = np.sqrt(2.0 * kernel.nu) * distances
    decay = np.exp(-root)
    if kernel.nu == 0.5:
        return np.asarray(root * decay)
    if kernel.nu == 1.5:
        return np.asarray(np.square(root) * decay)
    return np.asarray(np.square(root) * (1.0 + root) * decay / 3.0)
