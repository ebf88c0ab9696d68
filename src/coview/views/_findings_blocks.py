"""The columns of a table in blocks of numbers, so that tests of columns run on many at once and on any kind of cell."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from coview.views._numeric import column_kind
from coview.views._presence import observed_rows
from coview.views._tables import AlignedTables, Table

__all__ = ["ColumnBlock", "ObservedView", "SortedBlock", "column_blocks", "observed_views"]

_CHUNK = 2**20  # cells in a block
_ENCODED = ("category", "text", "numbers and text")  # kinds that become categories or text features


@dataclass(frozen=True)
class ObservedView:
    """A table and those of its rows that hold something.

    Attributes
    ----------
    table : Table
    rows : ndarray of shape (n_observed,)
        Their positions in the table.
    samples : ndarray of shape (n_observed,)
        The samples they describe.
    """

    table: Table
    rows: NDArray[np.intp]
    samples: NDArray[np.intp]

    @property
    def is_sparse(self) -> bool:
        """Whether the cells are a sparse array."""
        return bool(sparse.issparse(self.table.values))

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns as text; ``x0``, ``x1`` and so on where the table has none."""
        columns = self.table.columns
        if columns is None:
            return [f"x{position}" for position in range(self.table.n_features)]
        if isinstance(columns, pd.MultiIndex):
            return ["|".join(map(str, label)) for label in columns]
        return [str(label) for label in columns]

    @cached_property
    def kinds(self) -> list[str]:
        """What each column of a dense table holds, as ``column_kind`` names it."""
        values = self.table.values
        if not isinstance(values, pd.DataFrame):
            if values.dtype.kind in "iufb":
                return ["number"] * self.table.n_features
            values = pd.DataFrame(values)
        known = {
            dtype: column_kind(pd.Series([], dtype=dtype))
            for dtype in values.dtypes.unique()
            if not pd.api.types.is_object_dtype(dtype)
        }
        return [
            known[dtype] if dtype in known else column_kind(values.iloc[:, position])
            for position, dtype in enumerate(values.dtypes)
        ]

    def take(self, positions: Any) -> Any:
        """The observed rows of some columns, as a DataFrame or array."""
        values = self.table.values
        if len(positions) and positions[-1] - positions[0] + 1 == len(positions):
            positions = slice(positions[0], positions[-1] + 1)  # neighbors are not copied
        whole = len(self.rows) == self.table.n_rows
        if isinstance(values, pd.DataFrame):
            return values.iloc[:, positions] if whole else values.iloc[self.rows, positions]
        return values[:, positions] if whole else values[:, positions][self.rows]


@dataclass(frozen=True)
class ColumnBlock:
    """Some columns of one view over its observed rows.

    Attributes
    ----------
    names : list of str
    positions : ndarray of shape (n_columns,)
        Where they stand in the table.
    cells : ndarray of shape (n_columns, n_rows), dtype=float64
        Numbers, NaN where missing or infinite; of categories their number.
    categories : list of list, or None
        The distinct values of each column of categories, by number; None for columns of numbers.
    infinite : ndarray of shape (n_columns,)
        How many infinite cells each column had.
    """

    names: list[str]
    positions: NDArray[np.intp]
    cells: NDArray[np.float64]
    categories: list[list[Any]] | None
    infinite: NDArray[np.intp]


def observed_views(aligned: AlignedTables) -> list[ObservedView]:
    """Every view with its observed rows; a mask that the caller gave takes rows away."""
    views = []
    for place, table in enumerate(aligned.tables):
        rows = np.flatnonzero(observed_rows(table))
        samples = rows if table.rows is None else table.rows[rows]
        if aligned.presence is not None:
            kept = aligned.presence[samples, place]
            rows, samples = rows[kept], samples[kept]
        views.append(ObservedView(table, rows.astype(np.intp), samples.astype(np.intp)))
    return views


def column_blocks(view: ObservedView, positions: NDArray[np.intp] | None = None) -> Iterator[ColumnBlock]:
    """The number columns of a dense view, then its category and text columns; all, or those at some positions."""
    kinds = np.asarray(view.kinds, dtype=object)
    step = max(1, _CHUNK // max(1, len(view.rows)))
    for is_number in (True, False):
        chosen = np.flatnonzero(kinds == "number" if is_number else np.isin(kinds, _ENCODED))
        if positions is not None:
            chosen = np.intersect1d(chosen, positions)
        for start in range(0, len(chosen), step):
            places = chosen[start : start + step]
            part = [view.names[place] for place in places]
            cells = view.take(places)
            yield _number_block(part, places, cells) if is_number else _category_block(part, places, cells)


def _number_block(names: list[str], positions: NDArray[np.intp], values: Any) -> ColumnBlock:
    if not isinstance(values, pd.DataFrame):
        values = pd.DataFrame(values)
    if all(isinstance(dtype, np.dtype) and dtype.kind in "iufb" for dtype in values.dtypes.unique()):
        cells = values.to_numpy(dtype=np.float64)
    else:
        cells = np.column_stack([_numbers(values.iloc[:, place]) for place in range(values.shape[1])])
    cells = np.array(cells.T, dtype=np.float64, order="C")
    infinite = np.isinf(cells)
    if infinite.any():
        cells[infinite] = np.nan
    return ColumnBlock(names, positions, cells, None, infinite.sum(axis=1))


def _numbers(column: pd.Series) -> NDArray[np.float64]:
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _category_block(names: list[str], positions: NDArray[np.intp], values: Any) -> ColumnBlock:
    objects = values.to_numpy(dtype=object) if isinstance(values, pd.DataFrame) else values.astype(object)
    cells = np.empty((len(names), len(objects)))
    categories = []
    for place in range(len(names)):
        codes, found = pd.factorize(objects[:, place])
        cells[place] = np.where(codes < 0, np.nan, codes)
        categories.append(found.tolist())
    return ColumnBlock(names, positions, cells, categories, np.zeros(len(names), dtype=np.intp))


class SortedBlock:
    """The cells of a block sorted column by column, gaps last, and what the sorted cells tell.

    Parameters
    ----------
    cells : ndarray of shape (n_columns, n_rows)

    Attributes
    ----------
    order : ndarray of shape (n_columns, n_rows)
        Rows of each column in increasing order of its values.
    values : ndarray of shape (n_columns, n_rows)
    n_observed, n_distinct, longest_run : ndarray of shape (n_columns,)
        Number of values, of different values, and of occurrences of the most frequent one.
    agreement : ndarray of shape (n_columns,)
        Share of the pairs of rows that hold the same; at least 1 / n_rows^2.
    """

    def __init__(self, cells: NDArray[np.float64]) -> None:
        n_columns, n_rows = cells.shape
        self.order = np.argsort(cells, axis=1)
        self.values: NDArray[np.float64] = np.take_along_axis(cells, self.order, axis=1)
        n_gaps = np.isnan(cells).sum(axis=1)
        self.n_observed = n_rows - n_gaps
        begins = np.ones(cells.shape, dtype=bool)
        begins[:, 1:] = self.values[:, 1:] != self.values[:, :-1]  # a gap differs from every gap: runs of length 1
        starts = np.flatnonzero(begins)
        lengths = np.diff(starts, append=begins.size)
        owners = starts // max(1, n_rows)
        self.n_distinct = np.bincount(owners, minlength=n_columns) - n_gaps
        self.longest_run = np.where(
            self.n_observed > 0, np.maximum.reduceat(lengths, np.flatnonzero(starts % n_rows == 0)), 0
        )
        runs = lengths.astype(np.float64)
        pairs = np.bincount(owners, weights=runs * (runs - 1), minlength=n_columns) + n_gaps * (n_gaps - 1.0)
        self.agreement = np.maximum(pairs / max(1, n_rows * (n_rows - 1)), 1 / n_rows**2)

    @property
    def smallest(self) -> NDArray[np.float64]:
        """The smallest value of each column; NaN where there is none."""
        return self.values[:, 0]

    @property
    def largest(self) -> NDArray[np.float64]:
        """The largest value of each column; NaN where there is none."""
        last = np.maximum(self.n_observed, 1) - 1
        return np.asarray(self.values[np.arange(len(last)), last])

    @cached_property
    def whole(self) -> NDArray[np.bool_]:
        """Whether a column holds whole numbers only."""
        with np.errstate(invalid="ignore"):
            return np.asarray(((self.values == np.floor(self.values)) | np.isnan(self.values)).all(axis=1))
