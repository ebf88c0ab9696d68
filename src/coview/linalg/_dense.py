"""Arrays of numbers, whether they were held sparse or not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["as_dense"]


def as_dense(values: Any) -> NDArray[np.float64]:
    """The values as an ndarray of floats; the same array where it is one already.

    Parameters
    ----------
    values : array-like or sparse array or matrix

    Returns
    -------
    dense : ndarray of float64

    Examples
    --------
    >>> from scipy import sparse
    >>> from coview.linalg import as_dense
    >>> as_dense(sparse.eye_array(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)
