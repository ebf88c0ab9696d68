"""The scaling of a view before the default kernels: standardized columns, or tf-idf rows of unit length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from coview.linalg import as_dense

__all__ = ["ViewScaling"]


@dataclass(frozen=True)
class ViewScaling:
    """Dense views: columns centered and divided by their deviation. Sparse views: tf-idf, rows of unit length.

    Sparse views with negative entries are not counts, and rows that all have unit length have been weighted already;
    both are only brought to unit length.

    Attributes
    ----------
    center, deviation : ndarray of shape (p,) or None
    tfidf : TfidfTransformer or None
    """

    center: NDArray[np.float64] | None
    deviation: NDArray[np.float64] | None
    tfidf: TfidfTransformer | None

    @classmethod
    def of(cls, X: Any) -> ViewScaling:
        """Learn the scaling on the rows of a view that are present."""
        if sp.issparse(X):
            counts = X.shape[0] > 0 and not (X.data < 0.0).any() and not _has_unit_rows(X)
            return cls(None, None, TfidfTransformer().fit(X) if counts else None)
        X = np.asarray(X, dtype=np.float64)
        if not len(X):
            return cls(np.zeros(X.shape[1]), np.ones(X.shape[1]), None)
        center = X.mean(axis=0)
        deviation = X.std(axis=0)
        # A constant column has a deviation of rounding noise only.
        noise = 16.0 * np.finfo(np.float64).eps * np.abs(X).max(axis=0)
        return cls(center, np.where(deviation > noise, deviation, np.inf), None)

    def transform(self, X: Any) -> Any:
        """Scaled rows; constant training columns become zero."""
        if self.center is not None and self.deviation is not None:
            return (as_dense(X) - self.center) / self.deviation
        rows = sp.csr_array(X, dtype=np.float64)
        if not rows.shape[0]:
            return rows
        return sp.csr_array(normalize(rows) if self.tfidf is None else self.tfidf.transform(rows))


def _has_unit_rows(X: Any) -> bool:
    """Whether all rows that are not empty have unit length, as tf-idf leaves them; to single precision."""
    rows = sp.csr_array(X, dtype=np.float64)
    squares = np.asarray(rows.power(2).sum(axis=1)).ravel()
    return bool(np.allclose(squares[squares > 0.0], 1.0, rtol=0.0, atol=1e-5))
