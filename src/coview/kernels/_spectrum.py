"""Leading spectrum of a kernel over training rows, and the projection of any row onto it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coview.linalg import leading_eigenpairs, leading_eigenpairs_of_operator

__all__ = ["GramSpectrum", "LinearSpectrum"]

# A diagonal that centering has left smaller than this share of itself is rounding noise, not signal.
_NOISE = 1e-13


@dataclass(frozen=True)
class GramSpectrum:
    """Spectral features of a Gram matrix: centered, scaled, cut, in this order.

    Attributes
    ----------
    values : ndarray of shape (rank,)
        Eigenvalues kept, decreasing, in units of the scaled matrix.
    projection : ndarray of shape (n, rank)
        ``U L^{-1/2}``: features are centered, scaled kernel values times it.
    column_means : ndarray of shape (n,) or None
        Of the training Gram matrix, where it was centered.
    scale : float
        Mean diagonal that the matrix was divided by.
    """

    values: NDArray[np.float64]
    projection: NDArray[np.float64]
    column_means: NDArray[np.float64] | None
    scale: float

    @classmethod
    def of(cls, K: NDArray[np.float64], n_components: int | None, *, center: bool, scale: bool) -> GramSpectrum:
        """Spectrum of a Gram matrix of training rows (n, n); O(n^2 n_components) beyond a few hundred rows."""
        means = None
        if not len(K):
            return cls(np.zeros(0), np.zeros((0, 0)), None, 1.0)
        before = float(np.mean(np.diagonal(K)))
        if center:
            means = K.mean(axis=0)
            K = K - means - means[:, None] + means.mean()
        mean_diagonal = float(np.mean(np.diagonal(K)))
        if mean_diagonal <= _NOISE * before:
            return cls(np.zeros(0), np.zeros((len(K), 0)), means, 1.0)
        divisor = mean_diagonal if scale else 1.0
        values, vectors = leading_eigenpairs(K / divisor, n_components)
        return cls(values, vectors / np.sqrt(values), means, divisor)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Features are kernel values with the training rows times it (n, rank), less an `offset`: rows are centered by it."""
        weights = self.projection / self.scale
        return weights if self.column_means is None else weights - weights.mean(axis=0)

    def offset(self, column_means: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """What the column means of a summand of the kernel take from the features (rank,); zero where it was not centered."""
        if self.column_means is None or column_means is None:
            return np.zeros(self.values.size)
        return np.asarray((column_means - column_means.mean()) @ (self.projection / self.scale))

    def project(self, crosses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Features (n_new, rank) of rows given their kernel values with the training rows (n_new, n)."""
        return self.project_part(crosses, self.column_means)

    def project_part(
        self, crosses: NDArray[np.float64], column_means: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Features of one summand of the kernel, given that summand's own column means; parts add up to `project`."""
        features = crosses @ self.weights
        features -= self.offset(column_means)
        return features


@dataclass(frozen=True)
class LinearSpectrum:
    """Spectral features of a linear kernel, as principal axes in input space: no Gram matrix, sparse rows stay sparse.

    Attributes
    ----------
    values : ndarray of shape (rank,)
        Eigenvalues of the scaled Gram matrix, decreasing.
    axes : ndarray of shape (p, rank)
        Orthonormal principal axes divided by the root of the scale.
    mean : ndarray of shape (p,) or None
        Training mean, where the kernel was centered.
    """

    values: NDArray[np.float64]
    axes: NDArray[np.float64]
    mean: NDArray[np.float64] | None

    @classmethod
    def of(cls, X: Any, n_components: int | None, *, center: bool, scale: bool) -> LinearSpectrum:
        """Principal axes of training rows (n, p); O(n p min(n, p)) dense, a few hundred products with X sparse."""
        n, p = X.shape
        if not n:
            return cls(np.zeros(0), np.zeros((p, 0)), None)
        mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel() if center else None
        before = mean_diagonal = _mean_square(X)
        if not sp.issparse(X):
            X = X - mean if mean is not None else np.asarray(X, dtype=np.float64)
            mean_diagonal = _mean_square(X)
        elif mean is not None:
            mean_diagonal = mean_diagonal - float(mean @ mean)
        if mean_diagonal <= _NOISE * before:
            return cls(np.zeros(0), np.zeros((p, 0)), mean)
        divisor = mean_diagonal if scale else 1.0
        rank = min(n, p) if n_components is None else min(n_components, n, p)
        values, axes = _principal_axes(X, None if not sp.issparse(X) else mean, rank)
        return cls(values / divisor, axes / np.sqrt(divisor), mean)

    def project(self, X: Any) -> NDArray[np.float64]:
        """Features (n_new, rank) of rows (n_new, p)."""
        return self.project_part(X, slice(None))

    def project_part(self, X: Any, columns: slice) -> NDArray[np.float64]:
        """Features of one group of columns alone; the parts of all groups add up to `project`."""
        features = np.asarray(X @ self.axes[columns], dtype=np.float64)
        return features if self.mean is None else features - self.mean[columns] @ self.axes[columns]


def _mean_square(X: Any) -> float:
    """Mean squared length of the rows."""
    if not X.shape[0]:
        return 0.0
    total = X.multiply(X).sum() if sp.issparse(X) else np.einsum("ij,ij->", X, X)
    return float(total / X.shape[0])


def _principal_axes(
    X: Any, mean: NDArray[np.float64] | None, rank: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvalues of ``Xc Xc^T`` and unit axes ``Xc^T U L^{-1/2}``; ``mean`` is subtracted on the fly from sparse rows."""
    n, p = X.shape
    if rank == 0:
        return np.zeros(0), np.zeros((p, 0))
    if not sp.issparse(X) and p <= n:
        return leading_eigenpairs(np.asarray(X.T @ X), rank)
    if not sp.issparse(X):
        values, vectors = leading_eigenpairs(X @ X.T, rank)
        return values, X.T @ (vectors / np.sqrt(values))
    shift = np.zeros(p) if mean is None else mean

    def forward(v: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(X @ v) - shift @ v

    def backward(u: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(X.T @ u - np.multiply.outer(shift, u.sum(axis=0)))

    if n <= 400 or rank * 10 >= n:
        products = (X @ X.T).toarray()
        cross = np.asarray(X @ shift)
        products = products - cross - cross[:, None] + shift @ shift
        values, vectors = leading_eigenpairs(products, rank)
    else:
        values, vectors = leading_eigenpairs_of_operator(lambda u: forward(backward(u)), n, rank)
    return values, backward(vectors / np.sqrt(values))
