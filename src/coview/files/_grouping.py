"""One table becomes several views: by a file that says which columns go where, or by names ``view__feature``."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.exceptions import ViewError
from coview.files._contents import FileTable
from coview.files._options import ViewSettings
from coview.files._problems import Problems
from coview.files._toml import read_toml
from coview.views import some

__all__ = [
    "chosen_columns",
    "column_names",
    "keep_columns",
    "leave_out",
    "split_by_groups",
    "split_by_prefix",
    "without_columns",
]

_SEPARATOR = "__"
_FEW = 50


def column_names(table: FileTable) -> pd.Index:
    """Labels of a table's columns; numbers where it has none."""
    if isinstance(table.values, pd.DataFrame):
        return table.values.columns
    return pd.RangeIndex(table.values.shape[1]) if table.columns is None else table.columns


def keep_columns(table: FileTable, positions: NDArray[np.intp], labels: pd.Index | None = None) -> FileTable:
    """Some columns of a table, maybe under new labels; neighboring columns are not copied."""
    chosen: Any = positions
    if len(positions) and positions[-1] - positions[0] + 1 == len(positions) and np.all(np.diff(positions) == 1):
        chosen = slice(int(positions[0]), int(positions[-1]) + 1)
    if isinstance(table.values, pd.DataFrame):
        values = table.values.iloc[:, chosen]
        return replace(table, values=values if labels is None else values.set_axis(labels, axis=1))
    kept = None if table.columns is None else table.columns[positions]
    return replace(table, values=table.values[:, chosen], columns=kept if labels is None else labels)


def without_columns(table: FileTable, positions: Sequence[int]) -> FileTable:
    """The table without some columns; the others are not copied where they stand in a frame and few are left out."""
    if not len(positions):
        return table
    if isinstance(table.values, pd.DataFrame) and len(positions) <= _FEW:
        rest = table.values.copy(deep=False)
        for position in sorted(positions, reverse=True):
            del rest[rest.columns[position]]
        return replace(table, values=rest)
    others = np.delete(np.arange(table.values.shape[1]), positions).astype(np.intp)
    return keep_columns(table, others)


def leave_out(tables: Sequence[FileTable], patterns: Sequence[str], ignored: Sequence[str]) -> list[FileTable]:
    """The tables without the columns that ``COL`` or ``VIEW:COL`` (also patterns) name, and without ``ignored`` ones.

    A pattern that names no column is an error; an ignored column need not be there.
    """
    names = [column_names(table) for table in tables]
    gone: list[set[int]] = [set(np.flatnonzero(labels.isin(list(ignored)))) for labels in names]
    for pattern in patterns:
        view, _, column = pattern.partition(":")
        of_view = [position for position, table in enumerate(tables) if table.name == view and column]
        wanted = column if of_view else pattern
        found = False
        for position in of_view or range(len(tables)):
            matching = _matching(names[position], wanted)
            gone[position].update(matching)
            found = found or bool(matching)
        if not found:
            everything = [str(name) for position in of_view or range(len(tables)) for name in names[position]]
            raise ViewError(f"No column to leave out is called or matches {wanted!r}.{_nearest(wanted, everything)}")
    return [without_columns(table, sorted(positions)) for table, positions in zip(tables, gone, strict=True)]


def _matching(names: pd.Index, pattern: str) -> list[int]:
    """Positions of the column of that name, or of those that match it."""
    texts = [str(name) for name in names]
    if pattern in texts:
        return [texts.index(pattern)]
    return [position for position, name in enumerate(texts) if fnmatchcase(name, pattern)]


def split_by_prefix(table: FileTable, problems: Problems) -> list[FileTable]:
    """One table per view where all columns are called ``view__feature``, else the table alone."""
    names = column_names(table)
    if not len(names) or _SEPARATOR not in str(names[0]):
        return [table]
    parts = [str(name).partition(_SEPARATOR) for name in names]
    if not all(view and feature for view, _, feature in parts):
        return [table]
    owners, views = pd.factorize(np.array([view for view, _, _ in parts], dtype=object))
    features = pd.Index([feature for _, _, feature in parts])
    groups = [np.flatnonzero(owners == position) for position in range(len(views))]
    listed = ", ".join(f"{view} ({len(group)})" for view, group in zip(views[:8], groups, strict=False))
    problems.note(
        "views_by_name",
        f"The columns of {table.where} are called view__feature, and make up {len(views)} views: {listed}"
        f"{' and more' if len(views) > 8 else ''}.",
        f"To keep them as one view, give --view NAME={table.path}.",
        count=len(views),
    )
    return [
        replace(keep_columns(table, group, features[group]), name=str(view))
        for view, group in zip(views, groups, strict=True)
    ]


def chosen_columns(table: FileTable, settings: ViewSettings | None, target: str | None) -> FileTable:
    """The columns that ``coview.toml`` asks for in a view; the label column may be named there and is gone already."""
    if settings is None or settings.columns is None:
        return table
    wanted = [name for name in settings.columns if name != target]
    return keep_columns(table, matching_columns(column_names(table), wanted, f"View '{table.name}' of {table.where}"))


def split_by_groups(table: FileTable, path: str, problems: Problems) -> list[FileTable]:
    """One table per group of columns that a TOML file names; columns in no group are left out and told."""
    names = column_names(table)
    groups = {view: _patterns(wanted, f"{path}, view '{view}'") for view, wanted in read_toml(path).items()}
    if not groups:
        raise ViewError(f'{path} names no view. Write one line for each, as in clinical = ["age", "sex"].')
    chosen = {view: matching_columns(names, wanted, f"{path}, view '{view}'") for view, wanted in groups.items()}
    used = np.zeros(len(names), dtype=bool)
    for positions in chosen.values():
        used[positions] = True
    if not used.all():
        left = names[~used]
        problems.note(
            "columns_left_out",
            f"{len(left)} of {len(names)} columns of {table.where} stand in no view of {path} and were left out: "
            f"{some(left)}.",
            columns=tuple(map(str, left[:20])),
            count=len(left),
        )
    return [replace(keep_columns(table, positions), name=view) for view, positions in chosen.items()]


def _patterns(wanted: Any, where: str) -> list[str]:
    """Names or patterns of columns as a list, checked."""
    patterns = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(patterns, list) or not patterns or not all(isinstance(item, str) for item in patterns):
        raise ViewError(f'{where}: give a list of columns or patterns, as in ["age", "ct_*"]; got {wanted!r}.')
    return patterns


def matching_columns(names: pd.Index, wanted: Sequence[str], where: str) -> NDArray[np.intp]:
    """Positions of the columns that names or patterns choose, in the order of the table."""
    chosen: set[int] = set()
    for pattern in wanted:
        found = _matching(names, pattern)
        if not found:
            raise ViewError(f"{where}: no column is called or matches {pattern!r}.{_nearest(pattern, map(str, names))}")
        chosen.update(found)
    return np.array(sorted(chosen), dtype=np.intp)


def _nearest(name: str, names: Iterable[str]) -> str:
    """What the user may have meant."""
    names = list(names)
    close = get_close_matches(name, names[:10_000], n=3, cutoff=0.5)
    return f" Did you mean {some(close)}?" if close else f" The columns are {some(names, 8)}."
