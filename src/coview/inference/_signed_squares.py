"""Symmetric matrices as sums of squares with either sign: derivatives that are never written out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coview.linalg import cholesky, subtract_row_products

__all__ = ["SignedSquares"]


@dataclass(frozen=True)
class SignedSquares:
    """The symmetric matrix ``P^T P - N^T N``.

    Attributes
    ----------
    positive : ndarray of shape (p, n)
        P.
    negative : ndarray of shape (q, n)
        N.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import SignedSquares
    >>> SignedSquares(np.array([[1.0, 2.0]]), np.array([[0.0, 1.0]])).matrix()
    array([[1., 2.],
           [2., 3.]])
    """

    positive: NDArray[np.float64]
    negative: NDArray[np.float64]

    @classmethod
    def of_product(cls, a: NDArray[np.float64], b: NDArray[np.float64], negative: NDArray[np.float64]) -> SignedSquares:
        """``(a b^T + b a^T) / 2 - N^T N`` for vectors of shape (n,)."""
        lengths = float(np.linalg.norm(a)), float(np.linalg.norm(b))
        if not all(lengths):
            return cls(np.zeros((0, a.size)), negative)
        ratio = np.sqrt(lengths[1] / lengths[0])  # brings both to one length, so that neither drowns in the other
        a, b = 0.5 * ratio * a, 0.5 / ratio * b
        return cls((a + b)[None], np.vstack([(a - b)[None], negative]))

    @classmethod
    def total(cls, parts: Sequence[SignedSquares]) -> SignedSquares:
        """The sum of several, with no more than n negative rows."""
        positive = np.vstack([part.positive for part in parts])
        negative = np.vstack([part.negative for part in parts])
        if len(parts) > 1 and len(negative) > negative.shape[1]:
            negative = cholesky(negative.T @ negative).lower.T
        return cls(positive, negative)

    def matrix(self) -> NDArray[np.float64]:
        """The matrix itself (n, n)."""
        return np.asarray(self.positive.T @ self.positive - self.negative.T @ self.negative)

    def diagonal(self) -> NDArray[np.float64]:
        """Diagonal of the matrix (n,)."""
        return np.asarray(np.square(self.positive).sum(axis=0) - np.square(self.negative).sum(axis=0))

    def trace(self) -> float:
        """Trace of the matrix."""
        return float(np.square(self.positive).sum() - np.square(self.negative).sum())

    def along(self, direction: NDArray[np.float64]) -> float:
        """``sum(matrix * direction)`` for a symmetric direction (n, n)."""
        return float(sum(sign * ((rows @ direction) * rows).sum() for sign, rows in self._signed()))

    def scaled(self, factor: float) -> SignedSquares:
        """The matrix times a factor that is not negative."""
        root = np.sqrt(factor)
        return SignedSquares(root * self.positive, root * self.negative)

    def _signed(self) -> list[tuple[float, NDArray[np.float64]]]:
        return [(1.0, self.positive), (-1.0, self.negative)]

    def folded(self) -> NDArray[np.float64]:
        """The upper triangle (n, n), doubled off the diagonal; O(n^2 (p + q)).

        ``sum(folded * D)`` is ``sum(matrix * D)`` for every symmetric D, at half the work of the matrix.
        """
        n = self.positive.shape[1]
        total = np.zeros((n, n))
        for sign, rows in self._signed():
            subtract_row_products(total, rows.T, -2.0 * sign)
        total.flat[:: n + 1] *= 0.5
        return total
