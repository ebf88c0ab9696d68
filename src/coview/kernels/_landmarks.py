"""Feature maps of kernels through landmarks that a pivoted Cholesky factorization chooses."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state

from coview.kernels._per_view import KernelLike, diagonal, gram, resolve_kernel
from coview.linalg import CholeskyFactor, cholesky, incomplete_cholesky

__all__ = ["LandmarkFeatures", "choose_landmarks"]

_BLOCK_ROWS = 4096
# A mean diagonal that centering has left smaller than this share of itself is rounding noise, not signal.
_NOISE = 1e-13


def choose_landmarks(
    kernel: KernelLike, X: Any, n_landmarks: int | None, n_candidates: int, random_state: np.random.RandomState
) -> NDArray[np.intp]:
    """Rows of X that stand for all others: pivots of the kernel over at most ``n_candidates`` seeded rows.

    Repeated rows and rows that others explain are not chosen, so there may be fewer; O(n_candidates n_landmarks^2).
    """
    n = X.shape[0]
    candidates = np.arange(n)
    if n > n_candidates:
        candidates = np.sort(random_state.choice(n, n_candidates, replace=False))
    rows = X if candidates.size == n else X[candidates]
    result = incomplete_cholesky(lambda i: gram(kernel, rows, rows[[i]])[:, 0], diagonal(kernel, rows), n_landmarks)
    return candidates[result.pivots]


class LandmarkFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Features whose inner products are a kernel as its landmarks explain it.

    Landmarks are training rows that a pivoted Cholesky factorization of the kernel chooses one after the other, each the row
    that those before it explain least. Between landmarks, and between a landmark and any row, the kernel is exact. Leading
    features are those of the leading landmarks.

    Parameters
    ----------
    kernel : kernel object, "linear", "rbf" or callable
    n_components : int, default=100
        Largest number of landmarks; fewer where the kernel has a lower rank. None takes as many as the kernel has.
    center : bool, default=False
        Subtract the mean feature of the training rows.
    scale : bool, default=True
        Divide by the mean diagonal that the (centered) kernel has over the training rows.
    n_candidates : int, default=2000
        Landmarks are chosen among at most this many rows.
    random_state : int or RandomState, default=None
        Seeds the candidates; None is a fixed seed.

    Attributes
    ----------
    positions_ : ndarray of shape (n_landmarks,)
        Training rows that are landmarks, in the order of the choice.
    landmarks_ : ndarray or sparse matrix of shape (n_landmarks, p)
        Those rows.
    kernel_ : kernel object or callable
    mean_ : ndarray of shape (n_landmarks,) or None
        Mean feature of the training rows, before scaling.
    scale_ : float
        Mean diagonal that inner products are divided by.

    Notes
    -----
    :math:`\phi(x) = L_{ZZ}^{-1} k(Z, x)` with :math:`K_{ZZ} = L_{ZZ} L_{ZZ}^T`. Fit O(n_candidates r^2) for r landmarks,
    and one pass over the rows where it centers; O(r^2) per row that is transformed.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.kernels import LandmarkFeatures
    >>> X = np.array([[0.0], [1.0], [1.0], [3.0]])
    >>> features = LandmarkFeatures("rbf", n_components=10, scale=False).fit(X)
    >>> features.positions_
    array([0, 3, 1])
    >>> Z = features.transform(X)
    >>> bool(np.allclose(Z @ Z.T, features.kernel_(X)))
    True
    """

    def __init__(
        self,
        kernel: KernelLike,
        n_components: int | None = 100,
        center: bool = False,
        scale: bool = True,
        n_candidates: int = 2000,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.center = center
        self.scale = scale
        self.n_candidates = n_candidates
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, positions: NDArray[np.intp] | None = None) -> Self:
        """Choose landmarks among the rows of X (n, p), dense or sparse; or take the ``positions`` that an earlier fit found."""
        state = check_random_state(0 if self.random_state is None else self.random_state)
        self.kernel_ = resolve_kernel(self.kernel, X, state)
        if positions is None:
            positions = choose_landmarks(self.kernel_, X, self.n_components, self.n_candidates, state)
        self.positions_, self.landmarks_ = positions, X[positions]
        self.mean_, self.scale_ = None, 1.0
        before = mean_diagonal = float(diagonal(self.kernel_, X).mean()) if X.shape[0] else 0.0
        if self.center and X.shape[0]:
            total = sum((block.sum(axis=0) for block in self._blocks(X)), np.zeros(positions.size))
            self.mean_ = np.asarray(total / X.shape[0])
            mean_diagonal -= float(self.mean_ @ self.mean_)
        if mean_diagonal <= _NOISE * before:
            self.positions_, self.landmarks_, self.mean_ = positions[:0], X[positions[:0]], None
        elif self.scale:
            self.scale_ = mean_diagonal
        return self

    @property
    def _factor(self) -> CholeskyFactor:
        """Cholesky factor of the kernel between the landmarks."""
        return cholesky(gram(self.kernel_, self.landmarks_), name="The kernel between landmarks")

    def _blocks(self, X: Any) -> Any:
        """Features of the rows of X before centering and scaling, a few thousand rows at a time."""
        factor = self._factor
        for start in range(0, X.shape[0], _BLOCK_ROWS):
            yield factor.half_solve(gram(self.kernel_, X[start : start + _BLOCK_ROWS], self.landmarks_).T).T

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Features (n_new, n_landmarks) of the rows of X."""
        features = np.empty((X.shape[0], self.positions_.size))
        start = 0
        for block in self._blocks(X):
            features[start : start + len(block)] = block if self.mean_ is None else block - self.mean_
            start += len(block)
        if self.scale_ != 1.0:
            features /= np.sqrt(self.scale_)
        return features
