"""Views as they were given, before any number is converted: tables, and the samples their rows describe."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["AlignedTables", "Table", "TableSource"]


@dataclass(frozen=True)
class Table:
    """One view as it was given.

    Attributes
    ----------
    name : str
    values : DataFrame, ndarray of shape (n_rows, n_features) or csr_array
        Cells of any type; only what the caller holds, not copied.
    columns : Index or None
        Column labels; None where the source had none.
    ids : Index or None
        Sample ids as text, one per row; None where the source had none.
    rows : ndarray of shape (n_rows,) or None
        Position of the sample that each row describes; None when row i is sample i.
    """

    name: str
    values: Any
    columns: pd.Index | None = None
    ids: pd.Index | None = None
    rows: NDArray[np.intp] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return int(self.values.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns of the table."""
        return int(self.values.shape[1])


@dataclass(frozen=True)
class AlignedTables:
    """Tables whose rows point to a common list of samples.

    Attributes
    ----------
    tables : tuple of Table
    ids : Index of length n_samples
        Sample ids as text, or row numbers where nobody gave ids.
    has_ids : bool
        Whether the ids come from the caller.
    same_order : bool
        Whether every table lists all samples in the same order, so that an array beside them is unambiguous.
    presence : ndarray of shape (n_samples, n_views) or None
        The mask the caller gave; None when presence is read off the values.
    """

    tables: tuple[Table, ...]
    ids: pd.Index
    has_ids: bool
    same_order: bool
    presence: NDArray[np.bool_] | None = None

    @property
    def names(self) -> list[str]:
        """Names of the views, in order."""
        return [table.name for table in self.tables]

    @property
    def n_samples(self) -> int:
        """Number of samples over all tables."""
        return len(self.ids)

    def to_tables(self) -> "AlignedTables":
        """Itself: aligned tables are a source of tables, as ``Views`` is."""
        return self


@runtime_checkable
class TableSource(Protocol):
    """Anything that already knows its aligned tables, as ``Views`` does."""

    def to_tables(self) -> AlignedTables:
        """The aligned tables."""
