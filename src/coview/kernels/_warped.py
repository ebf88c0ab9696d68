"""Kernels that follow the shape of the data: values lowered where a function would be unsmooth along a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from coview.linalg import CholeskyFactor, as_dense, cholesky

__all__ = ["WarpedFeatures", "WarpedGram", "warped_kernel"]

Array = NDArray[np.float64]


def warped_kernel(
    K: Any,
    M: Any = None,
    K_new: Any = None,
    *,
    laplacian: Any = None,
    gamma_ambient: float = 1.0,
    gamma_intrinsic: float = 1.0,
) -> Array:
    r"""Kernel of functions that are to be smooth along a graph as well.

    Its norm is :math:`\|f\|^2 + f^\top M f` with f the values at the training samples. A machine with ridge
    :math:`\gamma_A` on this kernel minimizes the loss plus :math:`\gamma_A \|f\|^2 + \gamma_I f^\top L f` of the given one.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel values between training samples; positive semidefinite, singular or not.
    M : array-like or sparse matrix of shape (n, n), default=None
        The penalty; None for :math:`(\gamma_I / \gamma_A) L`.
    K_new : array-like of shape (m, n), default=None
        Kernel values of new samples with the training samples.
    laplacian : array-like or sparse matrix of shape (n, n), default=None
        L, where M is not given.
    gamma_ambient : float, default=1.0
        :math:`\gamma_A > 0`.
    gamma_intrinsic : float, default=1.0
        :math:`\gamma_I \ge 0`.

    Returns
    -------
    K_warped : ndarray of shape (n, n), or (m, n) with ``K_new``
        :math:`\tilde K(x, z) = K(x, z) - k_x^\top (I + M K)^{-1} M k_z`.

    Raises
    ------
    ValueError
        If shapes do not fit, both or neither of M and L are given, or a gamma is out of range.

    Notes
    -----
    Section 3 of Sindhwani, Niyogi and Belkin, "A co-regularization approach to semi-supervised learning with multiple views"
    (2005). For training samples x the values are :math:`k_z^\top (I + M K)^{-1}`, without a difference; I + M K is never
    singular. One LU factorization, O(n^3).

    Examples
    --------
    >>> import numpy as np
    >>> from coview.kernels import warped_kernel
    >>> warped_kernel(np.eye(2), laplacian=np.array([[1.0, -1.0], [-1.0, 1.0]])).round(3).tolist()
    [[0.667, 0.333], [0.333, 0.667]]
    """
    gram = np.asarray(K, dtype=np.float64)
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise ValueError(f"K must be a square matrix; got shape {gram.shape}.")
    if (M is None) == (laplacian is None):
        raise ValueError("Give either M, the whole penalty, or laplacian with gamma_ambient and gamma_intrinsic.")
    penalty = M if M is not None else _scaled(laplacian, gamma_ambient, gamma_intrinsic)
    penalty = penalty if sparse.issparse(penalty) else np.asarray(penalty, dtype=np.float64)
    if penalty.shape != gram.shape:
        raise ValueError(f"The penalty must be of shape {gram.shape}, as K is; got {penalty.shape}.")
    warped = WarpedGram(gram, penalty)
    if K_new is None:
        values = warped.values(gram)
        return np.asarray(0.5 * (values + values.T))
    new = np.asarray(K_new, dtype=np.float64)
    if new.ndim != 2 or new.shape[1] != len(gram):
        raise ValueError(f"K_new must have one column per training sample ({len(gram)}); got shape {new.shape}.")
    return warped.values(new)


def _scaled(laplacian: Any, gamma_ambient: float, gamma_intrinsic: float) -> Any:
    if not 0.0 < gamma_ambient < np.inf:
        raise ValueError(f"gamma_ambient must be a positive number; got {gamma_ambient!r}.")
    if not 0.0 <= gamma_intrinsic < np.inf:
        raise ValueError(f"gamma_intrinsic must be a number of at least 0; got {gamma_intrinsic!r}.")
    L = laplacian if sparse.issparse(laplacian) else np.asarray(laplacian, dtype=np.float64)
    return (gamma_intrinsic / gamma_ambient) * L


class WarpedGram:
    r"""A kernel known by its values, and a penalty M on the values of functions at the training samples.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
    penalty : ndarray or sparse matrix of shape (n, n)
        M, positive semidefinite.

    Notes
    -----
    A function :math:`\sum_j \tilde a_j \tilde k(x, x_j)` of the warped kernel is :math:`\sum_i a_i k(x, x_i)` with
    :math:`a = (I + M K)^{-1} \tilde a`. That one map gives everything. O(n^3) time, 8 n^2 bytes beside the Gram matrix.
    """

    def __init__(self, gram: Array, penalty: Any) -> None:
        self.gram = gram
        system = penalty @ gram
        system.flat[:: len(system) + 1] += 1.0
        self._factor = linalg.lu_factor(system, overwrite_a=True, check_finite=False)

    def expansion(self, dual: Array) -> Array:
        """Coefficients of the given kernel for coefficients of the warped one (n, k), both over all training samples."""
        return np.asarray(linalg.lu_solve(self._factor, dual, check_finite=False))

    def values(self, new: Array) -> Array:
        """Warped kernel between new and training samples (m, n), from the given one (m, n)."""
        return np.asarray(linalg.lu_solve(self._factor, new.T, trans=1, check_finite=False).T)

    def between(self, rows: NDArray[np.intp]) -> tuple[Array, Array]:
        """Warped kernel between some training samples (k, k), and the expansion of its columns (n, k)."""
        units = np.zeros((len(self.gram), len(rows)))
        units[rows, np.arange(len(rows))] = 1.0
        columns = self.expansion(units)
        values = self.gram[rows] @ columns
        return np.asarray(0.5 * (values + values.T)), columns


class WarpedFeatures:
    r"""The same for the linear kernel, in the space of features: :math:`\tilde k(x, z) = x^\top (I + X^\top M X)^{-1} z`.

    Parameters
    ----------
    rows : ndarray or sparse matrix of shape (n, p)
        X, scaled by the root of the kernel's amplitude.
    penalty : ndarray or sparse matrix of shape (n, n)

    Notes
    -----
    O(n p^2 + p^3) time and p^2 memory; nothing of size n x n where the penalty is sparse.
    """

    def __init__(self, rows: Any, penalty: Any) -> None:
        self.rows = rows
        self._penalty = penalty
        inner = as_dense(rows.T @ (penalty @ rows))
        inner = 0.5 * (inner + inner.T)
        inner.flat[:: len(inner) + 1] += 1.0
        self._factor: CholeskyFactor = cholesky(inner, name="The penalty on features")

    def expansion(self, dual: Array) -> Array:
        """As `WarpedGram.expansion`."""
        return np.asarray(dual - self._penalty @ (self.rows @ self._factor.solve(self.rows.T @ dual)))

    def between(self, rows: NDArray[np.intp]) -> tuple[Array, Array]:
        """As `WarpedGram.between`."""
        half = self._factor.half_solve(as_dense(self.rows[rows]).T)
        units = np.zeros((self.rows.shape[0], len(rows)))
        units[rows, np.arange(len(rows))] = 1.0
        return np.asarray(half.T @ half), self.expansion(units)
