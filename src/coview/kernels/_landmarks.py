"""Feature maps of kernels through landmarks that a pivoted Cholesky factorization chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state

from coview.kernels._per_view import KernelLike, diagonal, gram, resolve_kernel
from coview.linalg import CholeskyFactor, incomplete_cholesky, leading_eigenpairs

__all__ = ["LandmarkFeatures", "LandmarkSpectrum"]

_BLOCK_ROWS = 1024
# A mean diagonal that centering has left smaller than this share of itself is rounding noise, not signal.
_NOISE = 1e-13


@dataclass(frozen=True)
class LandmarkSpectrum:
    """What a kernel is to a few of its rows.

    Attributes
    ----------
    values : ndarray of shape (rank,)
        Sum of squares of each feature over the candidates.
    projection : ndarray of shape (n_landmarks, rank)
        Features are kernel values with the landmarks times it, less the offset.
    offset : ndarray of shape (rank,) or None
        Mean feature of the candidates, where the kernel was centered.
    positions : ndarray of shape (n_landmarks,)
        Rows that are landmarks, in the order of the choice.
    """

    values: NDArray[np.float64]
    projection: NDArray[np.float64]
    offset: NDArray[np.float64] | None
    positions: NDArray[np.intp]

    @classmethod
    def of(
        cls,
        kernel: KernelLike,
        X: Any,
        candidates: NDArray[np.intp],
        n_components: int | None,
        n_landmarks: int | None,
        *,
        center: bool,
        scale: bool,
    ) -> LandmarkSpectrum:
        """Landmarks among some rows of X and the leading directions through them; O(n_candidates n_landmarks^2).

        Without ``n_landmarks`` features are those of the ``n_components`` landmarks one by one.
        """
        rows = X if candidates.size == X.shape[0] else X[candidates]
        own = diagonal(kernel, rows)
        count = n_components if n_landmarks is None else n_landmarks
        pivoted = incomplete_cholesky(lambda i: gram(kernel, rows, rows[[i]])[:, 0], own, count)
        features = pivoted.factor
        lower = CholeskyFactor(np.array(features[pivoted.pivots], order="F"))
        mean = features.mean(axis=0) if center and own.size else np.zeros(features.shape[1])
        before = float(own.mean()) if own.size else 0.0
        mean_diagonal = before - float(mean @ mean)
        if mean_diagonal <= _NOISE * before:
            return cls(np.zeros(0), np.zeros((0, 0)), None, candidates[:0])
        features = features - mean
        directions = np.eye(features.shape[1])
        if n_landmarks is not None:
            directions = leading_eigenpairs(features.T @ features, n_components)[1]
        root = np.sqrt(mean_diagonal) if scale else 1.0
        values = np.square(features @ directions).sum(axis=0) / root**2
        projection = lower.half_solve(directions, transposed=True) / root
        return cls(values, projection, mean @ directions / root if center else None, candidates[pivoted.pivots])

    def project(self, crosses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Features (n_new, rank) of rows given their kernel values with the landmarks (n_new, n_landmarks)."""
        features = crosses @ self.projection
        if self.offset is not None:
            features -= self.offset
        return features


class LandmarkFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Features whose inner products are a kernel as its landmarks explain it.

    Landmarks are training rows that a pivoted Cholesky factorization of the kernel chooses one after the other, each the row
    that those before it explain least. Between landmarks, and between a landmark and any row, the kernel is then exact.
    Features are of one landmark after the other; or, where a number of landmarks is given, in their leading directions: nearly
    those of `SpectralFeatures`, from far fewer kernel values per row. Fewer components are the leading ones of more.

    Parameters
    ----------
    kernel : kernel object, "linear", "rbf" or callable
    n_components : int, default=100
        Largest rank; None keeps all that the landmarks have.
    n_landmarks : int, default=None
        Largest number of landmarks; fewer where the kernel has a lower rank. None: one for each component.
    center : bool, default=False
        Center in feature space, over the candidates.
    scale : bool, default=True
        Divide by the mean diagonal that the (centered) kernel has over the candidates.
    n_candidates : int, default=2000
        Landmarks are chosen among at most this many training rows.
    random_state : int or RandomState, default=None
        Seeds the candidates; None is a fixed seed.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (rank,)
        Sum of squares of each feature over the candidates.
    spectrum_ : LandmarkSpectrum
    landmarks_ : ndarray or sparse matrix of shape (n_landmarks, p)
    kernel_ : kernel object or callable

    Notes
    -----
    :math:`\phi(x) = V^T L_{ZZ}^{-1} k(Z, x)` with :math:`K_{ZZ} = L_{ZZ} L_{ZZ}^T`; V holds the leading eigenvectors of the
    products of all such features over the candidates, or is the identity without ``n_landmarks``. Fit O(n_candidates q^2) for q
    landmarks whatever the number of rows; O(q rank) and q kernel values per row that is transformed.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.kernels import LandmarkFeatures
    >>> X = np.array([[0.0], [1.0], [1.0], [3.0]])
    >>> features = LandmarkFeatures("rbf", n_components=10, scale=False).fit(X)
    >>> features.spectrum_.positions
    array([0, 3, 1])
    >>> Z = features.transform(X)
    >>> bool(np.allclose(Z @ Z.T, features.kernel_(X)))
    True
    """

    def __init__(
        self,
        kernel: KernelLike,
        n_components: int | None = 100,
        n_landmarks: int | None = None,
        center: bool = False,
        scale: bool = True,
        n_candidates: int = 2000,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.center = center
        self.scale = scale
        self.n_candidates = n_candidates
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, spectrum: LandmarkSpectrum | None = None) -> Self:
        """Choose landmarks among the rows X (n, p), dense or sparse; or take what an earlier fit to them found."""
        state = check_random_state(0 if self.random_state is None else self.random_state)
        self.kernel_ = resolve_kernel(self.kernel, X, state)
        if spectrum is None:
            n, options = X.shape[0], {"center": self.center, "scale": self.scale}
            candidates = np.arange(n)
            if n > self.n_candidates:
                candidates = np.sort(state.choice(n, self.n_candidates, replace=False))
            spectrum = LandmarkSpectrum.of(self.kernel_, X, candidates, self.n_components, self.n_landmarks, **options)
        self.spectrum_, self.eigenvalues_ = spectrum, spectrum.values
        self.landmarks_ = X[spectrum.positions]
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Features (n_new, rank) of the rows of X."""
        features = np.empty((X.shape[0], self.eigenvalues_.size))
        for start in range(0, X.shape[0], _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            features[rows] = self.spectrum_.project(gram(self.kernel_, X[rows], self.landmarks_))
        return features
