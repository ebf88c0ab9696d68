"""Column groups of one table: names, positions or half-open slices become views."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.exceptions import ViewError
from coview.views._ids import some
from coview.views._tables import Table

__all__ = ["group_columns", "split_multiindex", "take_columns", "view_name"]


def view_name(name: Any) -> str:
    """A view's name as text."""
    text = str(name)
    if not text:
        raise ViewError("A view's name must not be empty. Name every view.")
    return text


def group_columns(table: Table, view_columns: Mapping[Any, Any], *, warn: bool = True) -> list[Table]:
    """One table per group of columns; groups without columns are dropped with a warning."""
    if not isinstance(view_columns, Mapping):
        raise ViewError(
            f"view_columns must be a dict from view names to columns; got {type(view_columns).__name__}. "
            'Write view_columns={"clinical": ["age", "sex"], "ct": slice(3, 9)}.'
        )
    groups = [(view_name(name), _positions(table, view_name(name), wanted)) for name, wanted in view_columns.items()]
    empty = [name for name, positions in groups if not len(positions)]
    if len(empty) == len(groups):
        raise ViewError(
            f"view_columns selects no column of the {table.n_features} that X has. Name some for each view."
        )
    if empty and warn:
        warnings.warn(f"view_columns selects no column for {some(empty)}; dropped.", UserWarning, stacklevel=2)
    return [take_columns(table, name, positions) for name, positions in groups if len(positions)]


def split_multiindex(table: Table) -> list[Table]:
    """One table per label of the first level of ``MultiIndex`` columns, in order of first appearance."""
    labels = cast(pd.MultiIndex, table.columns)
    top = labels.get_level_values(0)
    split = []
    for name in top.unique():
        positions = np.flatnonzero(top == name)
        part = take_columns(table, view_name(name), positions)
        features = labels[positions].droplevel(0)
        values = part.values
        if isinstance(values, pd.DataFrame):
            values = values.set_axis(features, axis=1)
        split.append(replace(part, values=values, columns=features))
    return split


def take_columns(table: Table, name: str, positions: NDArray[np.intp]) -> Table:
    """Some columns of a table under a new name; neighboring columns are not copied."""
    columns: Any = positions
    if len(positions) and positions[-1] - positions[0] + 1 == len(positions) and np.all(np.diff(positions) == 1):
        columns = slice(int(positions[0]), int(positions[-1]) + 1)
    values = table.values.iloc[:, columns] if isinstance(table.values, pd.DataFrame) else table.values[:, columns]
    labels = None if table.columns is None else table.columns[columns]
    return Table(name, values, labels, table.ids, table.rows)


def _positions(table: Table, name: str, wanted: Any) -> NDArray[np.intp]:
    """Column positions of one group, checked."""
    n_features = table.n_features
    if isinstance(wanted, slice):
        if not all(
            part is None or isinstance(part, int | np.integer) for part in (wanted.start, wanted.stop, wanted.step)
        ):
            raise ViewError(
                f"A slice in view_columns['{name}'] must hold positions; got {wanted}. List the names instead."
            )
        return np.arange(n_features, dtype=np.intp)[wanted]
    items: list[Any] = [wanted] if isinstance(wanted, str | int | np.integer) else list(wanted)
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != n_features:
            raise ViewError(
                f"The mask view_columns['{name}'] has {len(items)} entries, but X has {n_features} columns."
            )
        return np.flatnonzero(items)
    if all(isinstance(item, int | np.integer) for item in items):
        positions = _from_numbers(name, items, n_features)
    else:
        positions = _from_names(name, items, table.columns)
    if len(np.unique(positions)) < len(positions):
        raise ViewError(f"view_columns['{name}'] lists a column twice: {some(items)}. List each once.")
    return positions


def _from_numbers(name: str, items: Sequence[int], n_features: int) -> NDArray[np.intp]:
    positions = np.asarray(items, dtype=np.intp)
    outside = positions[(positions < -n_features) | (positions >= n_features)]
    if len(outside):
        raise ViewError(
            f"view_columns['{name}'] asks for column {some(outside)}, but X has {n_features} columns, "
            f"numbered 0 to {n_features - 1}."
        )
    return np.where(positions < 0, positions + n_features, positions)


def _from_names(name: str, items: Sequence[Any], columns: pd.Index | None) -> NDArray[np.intp]:
    if columns is None:
        raise ViewError(
            f"view_columns['{name}'] names columns, but X has no column names. Give positions or a DataFrame."
        )
    unknown = [item for item in items if item not in columns]
    if unknown:
        near = get_close_matches(str(unknown[0]), [str(column) for column in columns], n=3)
        hint = f" Did you mean {some(near)}?" if near else ""
        raise ViewError(f"view_columns['{name}'] names columns that X does not have: {some(unknown)}.{hint}")
    return np.asarray(columns.get_indexer_for(pd.Index(items)), dtype=np.intp)
