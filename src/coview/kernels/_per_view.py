"""One kernel per view, on dense and sparse rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Exponentiation,
    Kernel,
    Product,
    Sum,
)

from coview.exceptions import ViewError
from coview.kernels._precomputed import PrecomputedKernel
from coview.linalg import as_dense, mirror_upper
from coview.views import value_per_view

__all__ = [
    "KernelLike",
    "diagonal",
    "gram",
    "inner_products",
    "kernel_per_view",
    "kernel_unit",
    "linear_amplitude",
    "median_distance",
    "resolve_kernel",
    "squared_distances",
]

# A shorthand, a kernel object of scikit-learn (which has no types), or a function of two blocks of rows.
KernelLike: TypeAlias = Any

_SHORTHANDS = ("linear", "rbf", "precomputed")
_MEDIAN_ROWS = 1000
_DIAGONAL_BLOCK = 64
# Rows per step of a large Gram matrix: what stays in a processor's cache.
_STRIP = 64


def kernel_per_view(kernel: Any, names: Sequence[str]) -> list[KernelLike]:
    """One kernel specification per view from one for all, a list by position, or a dict by name.

    Raises
    ------
    ViewError
        If the list has another length than the views, or the dict misses or does not know a view.
    """
    given = value_per_view(list(kernel) if isinstance(kernel, tuple) else kernel, names, "kernel")
    return [_checked(item, name) for item, name in zip(given, names, strict=True)]


def _checked(kernel: Any, name: str) -> KernelLike:
    if isinstance(kernel, Kernel) or (isinstance(kernel, str) and kernel in _SHORTHANDS) or callable(kernel):
        return kernel
    raise ViewError(
        f"The kernel of view {name!r} must be a kernel object of sklearn.gaussian_process.kernels, a callable, or one of "
        f"{list(_SHORTHANDS)}; got {kernel!r}."
    )


def resolve_kernel(
    kernel: KernelLike, X: Any, random_state: np.random.RandomState, *, width_factor: float = 1.0
) -> KernelLike:
    """Kernel object for a shorthand, with the RBF width from the rows of the view; kernel objects are cloned.

    ``"rbf"`` takes ``width_factor`` times the median of the nonzero distances between at most 1,000 seeded rows.
    """
    if isinstance(kernel, str):
        if kernel == "linear":
            return ConstantKernel(1.0) * DotProduct(0.0, "fixed")
        if kernel == "rbf":
            return ConstantKernel(1.0) * RBF(width_factor * median_distance(X, random_state))
        return kernel
    return clone(kernel) if isinstance(kernel, Kernel) else kernel


def median_distance(X: Any, random_state: np.random.RandomState) -> float:
    """Median of the nonzero Euclidean distances between at most 1,000 seeded rows; 1 where there is none."""
    n = X.shape[0]
    if n < 2:
        return 1.0
    rows = X if n <= _MEDIAN_ROWS else X[np.sort(random_state.choice(n, _MEDIAN_ROWS, replace=False))]
    if sp.issparse(rows):
        upper = np.triu_indices(rows.shape[0], 1)
        distances = np.sqrt(squared_distances(rows, rows)[upper])
    else:
        distances = pdist(np.asarray(rows, dtype=np.float64))
    distances = distances[distances > 0.0]
    return float(np.median(distances)) if distances.size else 1.0


def squared_distances(X: Any, Y: Any) -> NDArray[np.float64]:
    """Squared Euclidean distances between the rows of X and Y, dense or sparse (n, m)."""
    product = inner_products(X, Y)
    distances = _squared_norms(X)[:, None] + _squared_norms(Y)[None, :] - 2.0 * product
    np.maximum(distances, 0.0, out=distances)
    if X is Y:
        np.fill_diagonal(distances, 0.0)
    return distances


def inner_products(X: Any, Y: Any) -> NDArray[np.float64]:
    """Inner products between the rows of X and Y as a dense array (n, m); sparse rows stay sparse until then."""
    return as_dense(X @ Y.T)


def _squared_norms(X: Any) -> NDArray[np.float64]:
    squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
    return np.asarray(squares, dtype=np.float64).ravel()


def linear_amplitude(kernel: KernelLike) -> float | None:
    """``a`` where the kernel is ``a <x, z>``, whatever way it is written; None for any other kernel."""
    if isinstance(kernel, DotProduct):
        return 1.0 if kernel.sigma_0 == 0.0 else None
    if isinstance(kernel, Product):
        parts = (kernel.k1, kernel.k2)
        for constant, other in (parts, parts[::-1]):
            if isinstance(constant, ConstantKernel):
                amplitude = linear_amplitude(other)
                return None if amplitude is None else amplitude * float(constant.constant_value)
    return None


def gram(kernel: KernelLike, X: Any, Y: Any = None) -> NDArray[np.float64]:
    """Kernel values between the rows of X and those of Y (or of X), dense or sparse.

    Parameters
    ----------
    kernel : kernel object or callable
    X, Y : ndarray or sparse matrix of shape (n, p), (m, p)

    Returns
    -------
    K : ndarray of shape (n, m)

    Raises
    ------
    ViewError
        If a sparse view meets a kernel that has no sparse form: constant, RBF, dot-product kernels, their sums, products
        and powers have one.
    """
    expected = (X.shape[0], X.shape[0] if Y is None else Y.shape[0])
    if 0 in expected:
        return np.zeros(expected)
    if isinstance(kernel, Kernel):
        if sp.issparse(X) or (Y is not None and sp.issparse(Y)):
            return _sparse_gram(kernel, X, X if Y is None else Y)
        amplitude, kernel = _without_constant(kernel)
        if Y is None and type(kernel) is RBF:  # Matern is a subclass with another formula
            return _rbf_gram(kernel, X, amplitude)
        K = np.asarray(kernel(X) if Y is None else kernel(X, Y), dtype=np.float64)
        return K if amplitude == 1.0 else amplitude * K
    if not callable(kernel):
        raise ViewError(f"The kernel {kernel!r} must be resolved against a view before it is evaluated.")
    values = as_dense(kernel(X, X if Y is None else Y))
    if values.shape != expected:
        raise ViewError(f"The kernel function must return an array of shape {expected}; got {values.shape}.")
    return values


def _rbf_gram(kernel: RBF, X: NDArray[np.float64], amplitude: float) -> NDArray[np.float64]:
    """``amplitude`` times the RBF kernel between all rows of X, one strip of the upper triangle after the other."""
    scaled = np.asarray(X, dtype=np.float64) / kernel.length_scale
    K = np.empty((len(scaled), len(scaled)))
    for start in range(0, len(scaled), _STRIP):
        strip = cdist(scaled[start : start + _STRIP], scaled[start:], "sqeuclidean")
        strip *= -0.5
        np.exp(strip, out=strip)
        if amplitude != 1.0:
            strip *= amplitude
        K[start : start + _STRIP, start:] = strip
    return mirror_upper(K)


def _without_constant(kernel: Kernel) -> tuple[float, Kernel]:
    """A constant factor and the kernel without it, which spares scikit-learn's matrices of one number."""
    if isinstance(kernel, Product):
        for constant, other in ((kernel.k1, kernel.k2), (kernel.k2, kernel.k1)):
            if isinstance(constant, ConstantKernel):
                return float(constant.constant_value), other
    return 1.0, kernel


def _sparse_gram(kernel: Kernel, X: Any, Y: Any) -> NDArray[np.float64]:
    """Kernel algebra on inner products and distances of sparse rows."""
    if isinstance(kernel, Sum):
        return _sparse_gram(kernel.k1, X, Y) + _sparse_gram(kernel.k2, X, Y)
    if isinstance(kernel, Product):
        return _sparse_gram(kernel.k1, X, Y) * _sparse_gram(kernel.k2, X, Y)
    if isinstance(kernel, Exponentiation):
        return np.asarray(_sparse_gram(kernel.kernel, X, Y) ** kernel.exponent)
    if isinstance(kernel, ConstantKernel):
        return np.full((X.shape[0], Y.shape[0]), float(kernel.constant_value))
    if isinstance(kernel, DotProduct):
        return inner_products(X, Y) + float(kernel.sigma_0) ** 2
    if type(kernel) is RBF:  # Matern is a subclass with another formula
        scale = np.asarray(kernel.length_scale, dtype=np.float64)
        if not scale.ndim:
            return np.asarray(np.exp(-0.5 * squared_distances(X, Y) / scale**2))
        X, Y = X.multiply(1.0 / scale).tocsr(), Y.multiply(1.0 / scale).tocsr()
        return np.asarray(np.exp(-0.5 * squared_distances(X, Y)))
    raise ViewError(
        f"The kernel {kernel} cannot be evaluated on sparse rows. Use ConstantKernel, RBF, DotProduct, their sums and "
        "products, or a callable."
    )


def diagonal(kernel: KernelLike, X: Any) -> NDArray[np.float64]:
    """Kernel value of each row with itself (n,)."""
    if not X.shape[0]:
        return np.zeros(0)
    if isinstance(kernel, PrecomputedKernel) or (isinstance(kernel, Kernel) and not sp.issparse(X)):
        return np.asarray(kernel.diag(X), dtype=np.float64)
    parts = []
    for start in range(0, X.shape[0], _DIAGONAL_BLOCK):
        block = X[start : start + _DIAGONAL_BLOCK]
        parts.append(np.diagonal(gram(kernel, block)).copy())
    return np.concatenate(parts) if parts else np.zeros(0)


def kernel_unit(kernel: KernelLike, X: Any) -> float:
    """Mean kernel value of a row with itself, the unit of a view's variance; 1 without rows or for a zero kernel."""
    own = diagonal(kernel, X)
    mean = float(own.mean()) if own.size else 1.0
    return mean if mean > 0.0 else 1.0
