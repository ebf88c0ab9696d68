"""The kernel of one view between its training samples, by values or by features, and what is done about constants in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Constants", "KernelBlock", "KernelFeatures", "KernelValues", "kernel_block"]

Array = NDArray[np.float64]
Constants: TypeAlias = Literal["none", "center", "orthogonal"]

# The sum of all kernel values, as a share of the largest that it can be, below which it is rounding.
_NOTHING = 1e-13


@dataclass(frozen=True)
class _Shift:
    """From coefficients of the changed kernel to those of the given one: ``a - 1 (q' a)``, and the constant ``-t' a``."""

    q: Array
    t: Array

    def expansion(self, dual: Array) -> tuple[Array, Array]:
        return dual - self.q @ dual, -(self.t @ dual)


@dataclass(frozen=True)
class KernelValues:
    """A kernel by its values.

    Attributes
    ----------
    values : ndarray of shape (n_v, n_v)
        Symmetric positive semidefinite.
    shift : _Shift or None
    """

    values: Array
    shift: _Shift | None = None

    @property
    def n_samples(self) -> int:
        """Of the view."""
        return len(self.values)

    def between(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Array:
        """Values between samples at given places (n_left, n_right); not to be written to."""
        everyone = np.arange(len(self.values))
        if np.array_equal(left, everyone):
            return self.values if np.array_equal(right, everyone) else np.asarray(self.values[:, right])
        return np.asarray(self.values[np.ix_(left, right)])

    def times(self, vectors: Array) -> Array:
        """Kernel times columns (n_v, k)."""
        return np.asarray(self.values @ vectors)


@dataclass(frozen=True)
class KernelFeatures:
    r"""A linear kernel by its features, changed by one product: :math:`X - u w^\top`.

    Attributes
    ----------
    rows : ndarray or sparse matrix of shape (n_v, p_v)
        X.
    left : ndarray of shape (n_v,)
        u.
    right : ndarray of shape (p_v,)
        w; what a sparse X would be if it were centered is never written out.
    shift : _Shift or None
    """

    rows: Any
    left: Array
    right: Array
    shift: _Shift | None = None

    @property
    def n_samples(self) -> int:
        """Of the view."""
        return int(self.rows.shape[0])

    @property
    def n_features(self) -> int:
        """Width of X."""
        return int(self.rows.shape[1])

    def between(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Array:
        """Values between samples at given places (n_left, n_right); O(n_left n_right p_v) where X is dense."""
        rows, columns = self.rows[left], self.rows[right]
        product = rows @ columns.T
        product = product.toarray() if sparse.issparse(product) else np.asarray(product)
        if self.right.any():
            u, t = self.left[right], np.asarray(columns @ self.right)
            product -= np.outer(rows @ self.right, u) + np.outer(self.left[left], t - (self.right @ self.right) * u)
        return np.asarray(product)

    def times(self, vectors: Array) -> Array:
        """Kernel times columns (n_v, k); O(n_v p_v k)."""
        weights = self.rows.T @ vectors - np.outer(self.right, self.left @ vectors)
        return np.asarray(self.rows @ weights - np.outer(self.left, self.right @ weights))


KernelBlock: TypeAlias = KernelValues | KernelFeatures


def kernel_block(values: Array | None, features: Any = None, *, constants: Constants = "none") -> KernelBlock:
    r"""The kernel of a view, freed of constants or not.

    Parameters
    ----------
    values : ndarray of shape (n_v, n_v), or None
        Kernel values between the samples that have the view.
    features : ndarray or sparse matrix of shape (n_v, p_v), default=None
        Features of a linear kernel, where there are no values.
    constants : {"none", "center", "orthogonal"}, default="none"
        The kernel as it is; of features whose mean over these samples is zero; of the functions whose values at them sum to zero,
        :math:`k(x, z) - s(x) s(z) / S` with :math:`s(x) = \sum_i k(x, x_i)`, :math:`S = \sum_i s(x_i)`. The last has one
        dimension less.

    Returns
    -------
    block : KernelValues or KernelFeatures
        ``expansion`` leads from coefficients of the changed kernel back to the given one.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import kernel_block
    >>> block = kernel_block(np.array([[1.0, 2.0], [2.0, 4.0]]), constants="center")
    >>> block.values.tolist()
    [[0.25, -0.25], [-0.25, 0.25]]
    >>> kernel_block(None, np.array([[1.0], [2.0]]), constants="center").times(np.eye(2)).tolist()
    [[0.25, -0.25], [-0.25, 0.25]]
    """
    if values is not None:
        return _changed_values(values, constants)
    return _changed_features(features, constants)


def expansion(block: KernelBlock, dual: Array) -> tuple[Array, Array]:
    """Coefficients of the given kernel (n_v, k), and constants (k,), for coefficients of the changed one."""
    return (dual, np.zeros(dual.shape[1])) if block.shift is None else block.shift.expansion(dual)


def _changed_values(K: Array, constants: Constants) -> KernelValues:
    n = len(K)
    if constants == "none" or not n:
        return KernelValues(K)
    sums = K.sum(axis=1)
    if constants == "center":
        means, mean = sums / n, float(sums.sum()) / n**2
        centered = K - means - (means - mean)[:, None]
        return KernelValues(0.5 * (centered + centered.T), _Shift(np.full(n, 1.0 / n), means - mean))
    total = float(sums.sum())
    if total <= _NOTHING * n * float(np.trace(K)):
        return KernelValues(K)
    return KernelValues(K - np.outer(sums, sums / total), _Shift(sums / total, np.zeros(n)))


def _changed_features(X: Any, constants: Constants) -> KernelFeatures:
    n, p = X.shape
    if constants == "none" or not n:
        return KernelFeatures(X, np.zeros(n), np.zeros(p))
    total = np.asarray(X.sum(axis=0), dtype=np.float64).ravel()
    if constants == "center":
        means = np.asarray(X @ (total / n))
        mean = float(total @ total) / n**2
        shift = _Shift(np.full(n, 1.0 / n), means - mean)
        return _without(X, np.ones(n), total / n, shift)
    square = float(total @ total)
    own = float((X.multiply(X) if sparse.issparse(X) else X * X).sum())
    if square <= _NOTHING * n * own:
        return KernelFeatures(X, np.zeros(n), np.zeros(p))
    sums = np.asarray(X @ total)
    return _without(X, sums / np.sqrt(square), total / np.sqrt(square), _Shift(sums / square, np.zeros(n)))


def _without(X: Any, left: Array, right: Array, shift: _Shift) -> KernelFeatures:
    """``X - left right'``, written out where X is dense."""
    if sparse.issparse(X):
        return KernelFeatures(X, left, right, shift)
    return KernelFeatures(X - np.outer(left, right), np.zeros(len(left)), np.zeros(len(right)), shift)
