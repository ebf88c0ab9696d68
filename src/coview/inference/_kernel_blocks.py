"""The kernel of one view between its training samples, by values or by features, and what is done about constants in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coview.linalg import as_dense

__all__ = ["Constants", "KernelBlock", "KernelFeatures", "KernelValues", "kernel_block"]

Array = NDArray[np.float64]
Constants: TypeAlias = Literal["none", "center", "orthogonal"]

# The sum of all kernel values, as a share of the largest that it can be, below which it is rounding.
_NOTHING = 1e-13
# What is left of a kernel without its constants, as a share of it, that is rounding.
_ROUNDING = 32.0 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class _Shift:
    """From coefficients of the changed kernel to those of the given one: ``a - 1 (q' a)``, and the constant ``-t' a``.

    Weights w of changed features become ``w - r (s' w)``, or stay, where r is empty, with the constant ``-s' w``.
    Where nothing is left of the kernel, both become zero.
    """

    q: Array
    t: Array
    r: Array
    s: Array
    vanished: bool = False

    def expansion(self, dual: Array) -> tuple[Array, Array]:
        if self.vanished:
            return np.zeros(dual.shape), np.zeros(dual.shape[1])
        return dual - self.q @ dual, -(self.t @ dual)

    def weights(self, weights: Array) -> tuple[Array, Array]:
        """Centered features leave a constant, a direction that was taken out leaves the weights without it."""
        if self.vanished:
            return np.zeros(weights.shape), np.zeros(weights.shape[1])
        if not len(self.r):
            return weights, -(self.s @ weights)
        return weights - np.outer(self.r, self.s @ weights), np.zeros(weights.shape[1])


def _shift(q: Array, t: Array, *, mean: Array | None = None, direction: Array | None = None) -> _Shift:
    """With what was taken from features, where there are any: their mean, or a direction."""
    nothing = np.zeros(0)
    r, s = nothing if direction is None else direction, mean if direction is None else direction
    return _Shift(q, t, r, nothing if s is None else s)


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
        product = as_dense(rows @ columns.T)
        if self.right.any():
            u, t = self.left[right], np.asarray(columns @ self.right)
            product -= np.outer(rows @ self.right, u) + np.outer(self.left[left], t - (self.right @ self.right) * u)
        return np.asarray(product)

    def times(self, vectors: Array) -> Array:
        """Kernel times columns (n_v, k); O(n_v p_v k)."""
        return self.weighted(self.rows.T @ vectors - np.outer(self.right, self.left @ vectors))

    def weighted(self, weights: Array) -> Array:
        """Values of linear functions with weights of the features (n_v, k)."""
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


def given_weights(block: KernelFeatures, weights: Array) -> tuple[Array, Array]:
    """Weights of the given features (p_v, k), and constants (k,), for weights of the changed ones."""
    return (weights, np.zeros(weights.shape[1])) if block.shift is None else block.shift.weights(weights)


def _changed_values(K: Array, constants: Constants) -> KernelValues:
    n = len(K)
    if constants == "none" or not n:
        return KernelValues(K)
    sums = K.sum(axis=1)
    if constants == "center":
        means, mean = sums / n, float(sums.sum()) / n**2
        centered = K - means - (means - mean)[:, None]
        return _left(K, 0.5 * (centered + centered.T), _shift(np.full(n, 1.0 / n), means - mean))
    total = float(sums.sum())
    if total <= _NOTHING * n * float(np.trace(K)):
        return KernelValues(K)
    return _left(K, K - np.outer(sums, sums / total), _shift(sums / total, np.zeros(n)))


def _left(K: Array, changed: Array, shift: _Shift) -> KernelValues:
    """The changed kernel, or zero where that is rounding."""
    if np.abs(changed).max() > _ROUNDING * np.abs(K).max():
        return KernelValues(changed, shift)
    return KernelValues(np.zeros(K.shape), replace(shift, vanished=True))


def _changed_features(X: Any, constants: Constants) -> KernelFeatures:
    n, p = X.shape
    if constants == "none" or not n:
        return KernelFeatures(X, np.zeros(n), np.zeros(p))
    own = float((X.multiply(X) if sparse.issparse(X) else X * X).sum())
    total = np.asarray(X.sum(axis=0), dtype=np.float64).ravel()
    if constants == "center":
        means = np.asarray(X @ (total / n))
        mean = float(total @ total) / n**2
        shift = _shift(np.full(n, 1.0 / n), means - mean, mean=total / n)
        return _without(X, np.ones(n), total / n, shift, own - n * mean <= _ROUNDING * own)
    square = float(total @ total)
    if square <= _NOTHING * n * own:
        return KernelFeatures(X, np.zeros(n), np.zeros(p))
    sums, direction = np.asarray(X @ total), total / np.sqrt(square)
    shift = _shift(sums / square, np.zeros(n), direction=direction)
    nothing = bool(own - float(sums @ sums) / square <= _ROUNDING * own)
    return _without(X, sums / np.sqrt(square), direction, shift, nothing)


def _without(X: Any, left: Array, right: Array, shift: _Shift, nothing: bool) -> KernelFeatures:
    """``X - left right'``, written out where X is dense; zero where that is rounding, as far as sums of squares tell."""
    no_left, no_right = np.zeros(len(left)), np.zeros(len(right))
    if not sparse.issparse(X):
        changed = X - np.outer(left, right)
        nothing = bool(np.abs(changed).max() <= _ROUNDING * np.abs(X).max())
        X, left, right = changed, no_left, no_right
    if nothing:
        return KernelFeatures(0.0 * X, no_left, no_right, replace(shift, vanished=True))
    return KernelFeatures(X, left, right, shift)
