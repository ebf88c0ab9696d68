"""A sparse view as a pandas frame of sparse columns, at full height."""

from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["to_sparse_frame"]


def to_sparse_frame(
    values: sparse.csr_array, rows: NDArray[np.intp], index: pd.Index, columns: pd.Index
) -> pd.DataFrame:
    """Sparse columns over all samples, filled with zeros under any pandas.

    Parameters
    ----------
    values : csr_array of shape (n_rows, n_features)
    rows : ndarray of shape (n_rows,)
        Position of each row among the samples, increasing.
    index : Index of length n_samples
        A sample outside ``rows`` has a NaN in each column.
    columns : Index of length n_features

    Returns
    -------
    frame : DataFrame

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from scipy.sparse import csr_array
    >>> from coview.views import to_sparse_frame
    >>> words = csr_array([[0.0, 2.0]])
    >>> to_sparse_frame(words, np.array([0]), pd.Index(["p1"]), pd.Index(["a", "b"])).to_numpy().tolist()
    [[0.0, 2.0]]
    """
    full = sparse.csc_array(_full_height(values, rows, len(index)))
    frame: pd.DataFrame = cast(Any, pd.DataFrame).sparse.from_spmatrix(full, index=index, columns=columns)
    if all(dtype.fill_value == 0 for dtype in frame.dtypes.unique()):
        return frame
    # Before pandas 3.1, what a matrix of floats does not store became NaN.
    zero_filled = {position: _zero_filled(frame.iloc[:, position].array) for position in range(frame.shape[1])}
    return pd.DataFrame(zero_filled, index=index).set_axis(columns, axis=1)


def _zero_filled(column: Any) -> Any:
    return pd.arrays.SparseArray(column.sp_values, sparse_index=column.sp_index, fill_value=0)


def _full_height(values: sparse.csr_array, rows: NDArray[np.intp], n_samples: int) -> Any:
    """The block with a row of stored NaN for each sample that misses the view."""
    missing = np.setdiff1d(np.arange(n_samples), rows)
    if not len(missing):
        return values
    gaps = sparse.csr_array(np.full((len(missing), values.shape[1]), np.nan))
    stacked = sparse.vstack([values.astype(np.float64), gaps], format="csr")
    return stacked[np.argsort(np.concatenate([rows, missing]))]
