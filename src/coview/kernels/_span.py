"""Features of a kernel whose parameters move, in a span of landmarks that stays, and derivatives by those parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, Product

from coview.inference import SignedSquares
from coview.kernels._derivatives import weighted_derivatives
from coview.kernels._per_view import KernelLike, gram
from coview.linalg import CholeskyFactor, cholesky

__all__ = ["SpanFeatures", "SpanGradient", "free_amplitude"]


def free_amplitude(kernel: KernelLike) -> float | None:
    """The factor of a kernel that its free parameters make up, 1 without any; None where they change more than a factor.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF, ConstantKernel
    >>> from coview.kernels import free_amplitude
    >>> free_amplitude(ConstantKernel(3.0) * RBF(1.0, "fixed"))
    3.0
    """
    if not isinstance(kernel, Kernel) or not kernel.n_dims:
        return 1.0
    if isinstance(kernel, ConstantKernel):
        return float(kernel.constant_value)
    if isinstance(kernel, Product):
        factors = free_amplitude(kernel.k1), free_amplitude(kernel.k2)
        return None if factors[0] is None or factors[1] is None else factors[0] * factors[1]
    return None


@dataclass(frozen=True)
class SpanFeatures:
    r"""Features ``k(x, Z) W`` with the same landmarks Z and combinations of them for every kernel.

    Attributes
    ----------
    kernel : kernel object
    landmarks : ndarray or sparse matrix of shape (q, p)
        ``Z``.
    basis : ndarray of shape (q, r)
        ``B``, orthonormal columns.

    Notes
    -----
    :math:`W = B L^{-T}` with :math:`B^T K_{ZZ} B = L L^T`: the covariance that the values of the function at Z, combined by B,
    explain. It is never more than the kernel, and exact in those combinations. For the kernel whose leading spectrum the
    columns of B are, it is that spectrum.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from coview.kernels import SpanFeatures
    >>> Z = np.array([[0.0], [1.0]])
    >>> phi = SpanFeatures(RBF(1.0), Z, np.eye(2)).moved(RBF(2.0)).transform(Z)
    >>> bool(np.allclose(phi @ phi.T, RBF(2.0)(Z)))
    True
    """

    kernel: Kernel
    landmarks: Any
    basis: NDArray[np.float64]

    @classmethod
    def through(cls, kernel: Kernel, landmarks: Any, projection: NDArray[np.float64]) -> SpanFeatures:
        """In the span of a feature map ``k(x, Z) projection``."""
        return cls(kernel, landmarks, np.linalg.qr(projection)[0])

    def moved(self, kernel: Kernel) -> SpanFeatures:
        """The same span under another kernel."""
        return SpanFeatures(kernel, self.landmarks, self.basis)

    @property
    def width(self) -> int:
        """Number of features, r."""
        return int(self.basis.shape[1])

    @cached_property
    def gram(self) -> NDArray[np.float64]:
        """``K_ZZ`` (q, q)."""
        return gram(self.kernel, self.landmarks)

    @cached_property
    def factor(self) -> CholeskyFactor:
        """Cholesky factor of ``B^T K_ZZ B``."""
        K = self.basis.T @ (self.gram @ self.basis)
        return cholesky(0.5 * (K + K.T), name="The kernel between landmarks")

    @cached_property
    def projection(self) -> NDArray[np.float64]:
        """``W`` (q, r)."""
        return np.ascontiguousarray(self.factor.half_solve(self.basis.T).T)

    def crosses(self, X: Any) -> NDArray[np.float64]:
        """Kernel values (n, q) of the rows of X with the landmarks."""
        return self.gram if X is self.landmarks else gram(self.kernel, X, self.landmarks)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Features (n, r) of the rows of X."""
        return self.crosses(X) @ self.projection


@dataclass
class SpanGradient:
    """Derivative of a scalar by the parameters of a kernel, from that by its features, block by block.

    The scalar may depend on the features through their inner products only, as covariances do.

    Attributes
    ----------
    features : SpanFeatures
    """

    features: SpanFeatures
    _by_rows: NDArray[np.float64] = field(init=False)
    _products: NDArray[np.float64] = field(init=False)
    _at_landmarks: NDArray[np.float64] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._by_rows = np.zeros(self.features.kernel.n_dims)
        self._products = np.zeros((self.features.width,) * 2)

    def add(
        self,
        X: Any,
        values: NDArray[np.float64],
        derivatives: NDArray[np.float64],
        crosses: NDArray[np.float64] | None = None,
    ) -> None:
        """A block of rows X (n, p) with their features and the derivatives by them (n, r); O(n q r).

        ``crosses`` are the kernel values of the rows with the landmarks, where they are known.
        """
        span = self.features
        crosses = span.crosses(X) if crosses is None else crosses
        by_crosses = derivatives @ span.projection.T
        self._by_rows += weighted_derivatives(span.kernel, by_crosses, X, span.landmarks, values=crosses)
        self._products += values.T @ derivatives

    def add_landmarks(self, first: int, values: NDArray[np.float64], derivatives: NDArray[np.float64]) -> None:
        """The same for rows that are the landmarks from position ``first`` on."""
        if self._at_landmarks is None:
            self._at_landmarks = np.zeros(self.features.basis.shape)
        self._at_landmarks[first : first + len(values)] = derivatives
        self._products += values.T @ derivatives

    def total(self) -> NDArray[np.float64]:
        """Derivative with respect to ``kernel.theta`` over all blocks added.

        With ``C = B^T K_ZZ B`` and features ``A L^{-T}``, inner products are ``A C^{-1} A^T``, so that C contributes
        ``-L^{-T} (products / 2) L^{-1}``.
        """
        span = self.features
        half = span.factor.half_solve(0.25 * (self._products + self._products.T), transposed=True)
        by_inner = -span.factor.half_solve(half.T, transposed=True)  # symmetric
        left, right = span.basis @ by_inner, span.basis
        if self._at_landmarks is not None:
            left, right = np.hstack([left, self._at_landmarks]), np.hstack([right, span.projection])
        folded = _symmetric(left, right).folded()
        return self._by_rows + weighted_derivatives(span.kernel, folded, span.landmarks, values=span.gram)


def _symmetric(left: NDArray[np.float64], right: NDArray[np.float64]) -> SignedSquares:
    """``(l r^T + r l^T) / 2``, from columns of equal lengths so that neither drowns in the other."""
    lengths = np.linalg.norm(left, axis=0), np.linalg.norm(right, axis=0)
    some = (lengths[0] > 0.0) & (lengths[1] > 0.0)
    left, right = left[:, some], right[:, some]
    ratio = np.sqrt(lengths[1][some] / lengths[0][some])
    left, right = 0.5 * ratio * left, 0.5 / ratio * right
    return SignedSquares((left + right).T, (left - right).T)
