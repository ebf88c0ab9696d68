"""Some samples of raw tables, as cross-validation and prediction in blocks need them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from coview.views._rows import row_positions
from coview.views._tables import AlignedTables

__all__ = ["take_rows"]


def take_rows(aligned: AlignedTables, rows: Any) -> AlignedTables:
    """The tables of some samples, cells of any kind; what a sample lacked it lacks still.

    Parameters
    ----------
    aligned : AlignedTables
    rows : array-like of int, boolean mask or slice
        Positions of the samples, in the order wanted, each once.

    Returns
    -------
    taken : AlignedTables

    Raises
    ------
    ValueError
        If a sample is asked for twice.

    Examples
    --------
    >>> from coview.views import read_tables
    >>> aligned = read_tables({"clinical": pd.DataFrame({"sex": ["f", "m"]}, index=["p1", "p2"]),
    ...                        "ct": pd.DataFrame({"volume": [3.5]}, index=["p2"])})
    >>> taken = take_rows(aligned, [1])
    >>> list(taken.ids), [table.values.iloc[0, 0] for table in taken.tables]
    (['p2'], ['m', np.float64(3.5)])
    """
    positions = row_positions(rows, aligned.n_samples)
    positions = np.where(positions < 0, positions + aligned.n_samples, positions)
    place = np.full(aligned.n_samples, -1, dtype=np.intp)
    place[positions] = np.arange(len(positions))
    if (place >= 0).sum() < len(positions):
        raise ValueError("rows asks for a sample twice. Give each position once.")
    tables = []
    for table in aligned.tables:
        if table.rows is None:
            taken, owners = positions, None
        else:
            found = place[table.rows]
            taken = np.flatnonzero(found >= 0)
            owners = found[taken]
        values = table.values.iloc[taken] if isinstance(table.values, pd.DataFrame) else table.values[taken]
        ids = None if table.ids is None else table.ids[taken]
        tables.append(replace(table, values=values, ids=ids, rows=owners))
    presence = None if aligned.presence is None else aligned.presence[positions]
    return replace(aligned, tables=tuple(tables), ids=aligned.ids[positions], presence=presence)
