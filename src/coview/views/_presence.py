"""Who has what: which rows of a table are observed, and the presence mask over all views."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from coview.exceptions import ViewError
from coview.views._ids import first_ids
from coview.views._tables import AlignedTables, Table

__all__ = ["observed_rows", "resolve_presence"]


def observed_rows(table: Table) -> NDArray[np.bool_]:
    """Which rows of a table hold at least one value; an all-zero sparse row does.

    Parameters
    ----------
    table : Table

    Returns
    -------
    observed : ndarray of shape (n_rows,), dtype=bool
        False where every cell of the row is missing (NaN, None, NA).

    Examples
    --------
    >>> import numpy as np
    >>> observed_rows(Table("ct", np.array([[1.0, np.nan], [np.nan, np.nan]])))
    array([ True, False])
    """
    values = table.values
    if sparse.issparse(values):
        return _observed_sparse_rows(values)
    if not isinstance(values, pd.DataFrame) and values.dtype.kind in "iub":
        return np.ones(table.n_rows, dtype=bool)
    # Only rows whose first cell is missing can be missing altogether.
    observed = ~_is_missing(_cells(values, slice(None), slice(0, 1)))[:, 0]
    doubtful = np.flatnonzero(~observed)
    if len(doubtful):
        observed[doubtful] = ~_is_missing(_cells(values, doubtful, slice(None))).all(axis=1)
    return observed


def _cells(values: Any, rows: Any, columns: slice) -> Any:
    return values.iloc[rows, columns] if isinstance(values, pd.DataFrame) else values[rows, columns]


def _is_missing(cells: Any) -> NDArray[np.bool_]:
    return np.asarray(pd.isna(cells), dtype=bool)


def _observed_sparse_rows(values: sparse.csr_array) -> NDArray[np.bool_]:
    n_rows, n_features = values.shape
    observed = np.ones(n_rows, dtype=bool)
    if values.dtype.kind != "f" or not np.isnan(values.data).any():
        return observed
    owners = np.repeat(np.arange(n_rows), np.diff(values.indptr))
    n_missing = np.bincount(owners[np.isnan(values.data)], minlength=n_rows)
    return np.asarray(n_missing < n_features)


def resolve_presence(aligned: AlignedTables) -> NDArray[np.bool_]:
    """Presence of every view for every sample: what the values say, and the caller's mask where there is one.

    Parameters
    ----------
    aligned : AlignedTables

    Returns
    -------
    presence : ndarray of shape (n_samples, n_views), dtype=bool

    Raises
    ------
    ViewError
        If the mask claims a view whose row is absent or has no value.
    """
    found = np.zeros((aligned.n_samples, len(aligned.tables)), dtype=bool)
    for position, table in enumerate(aligned.tables):
        observed = observed_rows(table)
        rows = np.flatnonzero(observed) if table.rows is None else table.rows[observed]
        found[rows, position] = True
    if aligned.presence is None:
        return found
    for position, table in enumerate(aligned.tables):
        claimed = np.flatnonzero(aligned.presence[:, position] & ~found[:, position])
        if len(claimed):
            raise ViewError(
                f"presence is True for {len(claimed)} samples that have no value in view '{table.name}': "
                f"{first_ids(aligned.ids, claimed)}. Set it to False there, or give the values."
            )
    return aligned.presence.copy()
