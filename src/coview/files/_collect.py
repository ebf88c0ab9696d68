"""From what a user says to the tables of all views with their labels."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from coview.exceptions import ViewError
from coview.files._contents import FileTable, TableSet
from coview.files._grouping import split_by_prefix
from coview.files._labels import (
    LabelColumn,
    drop_empty,
    label_column,
    match_labels,
    take_target,
    tell_unlabeled,
    unique_labels,
)
from coview.files._options import TableOptions
from coview.files._places import Place, find_places, same_file, split_column, split_sheet
from coview.files._problems import Problems
from coview.files._samples import align_files, require_ids, unique_samples
from coview.files._simple_csv import read_table, read_tables_in
from coview.files._task import read_task
from coview.views import AlignedTables, some

__all__ = ["read_table_set"]

_LABELS = "labels"


def read_table_set(options: TableOptions, *, strict: bool = True) -> TableSet:
    r"""Read a user's files, match their rows by sample id, and take out the labels.

    Parameters
    ----------
    options : TableOptions
    strict : bool, default=True
        Whether the first error is raised. If False, errors become findings as long as there is something to go on
        with, so that a check can tell all of them.

    Returns
    -------
    table_set : TableSet

    Raises
    ------
    ViewError, ValueError, OSError
        If a file cannot be read, ids do not match, or labels make no sense. The message says where and what to do.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     clinical, ct = Path(folder, "clinical.csv"), Path(folder, "ct.csv")
    ...     _ = clinical.write_text("patient,age,died\n007,61,yes\n008,48,no\n009,55,\n")
    ...     _ = ct.write_text("patient,volume\n008,3.5\n007,4.25\n")
    ...     table_set = read_table_set(TableOptions(data=(clinical, ct), target="died"))
    >>> table_set.tables.names, table_set.labels.to_list()
    (['clinical', 'ct'], ['yes', 'no', nan])
    """
    problems = Problems(strict=strict)
    tables = _read_views(options, problems)
    tables, given, column = _read_labels(options, tables, problems)
    everything = [*tables, *([given] if given is not None else [])]
    require_ids(everything)
    id_name = _id_name(everything)
    policy = options.duplicates or "error"
    tables = [unique_samples(table, policy, problems) for table in tables]
    found: list[LabelColumn] = []
    if given is not None:
        given = unique_labels(given, column, policy, problems)
        found = [label_column(unique_samples(given, policy, problems), column)]
    elif column is not None:
        tables, found = take_target(tables, column)
        tables = drop_empty(tables, problems)
    files = tuple(replace(table, values=None) for table in everything)
    tables = _views_of(tables, options, problems)
    aligned = align_files(tables)
    labels = _labels_of(found, aligned, options, problems)
    return TableSet(aligned, labels, found[0].name if found else None, id_name, files, problems.worst_first())


def _labels_of(
    found: Sequence[LabelColumn], aligned: AlignedTables, options: TableOptions, problems: Problems
) -> pd.Series | None:
    if not found:
        return None
    cells = match_labels(found, aligned.ids, aligned.has_ids, problems)
    tell_unlabeled(found[0], cells, problems)
    return read_task(cells, options.task, found[0].name, problems)


def _read_views(options: TableOptions, problems: Problems) -> list[FileTable]:
    """The tables of all files of views, named."""
    tables: list[FileTable] = []
    last: Exception | None = None
    for place in find_places(options):
        try:
            read = _read_place(place, options)
        except (ValueError, OSError, ImportError) as error:
            problems.failure("unreadable_file", error, view=place.name)
            last = error
            continue
        for table in read:
            problems.extend(table.findings)
        tables.extend(read)
    if not tables and last is not None:
        raise last
    _refuse_repeated_names([table.name for table in tables])
    return tables


def _read_place(place: Place, options: TableOptions) -> list[FileTable]:
    if place.name is None and place.sheet is None:
        return read_tables_in(place.path, **_reading(options, None))
    return [read_table(place.path, sheet=place.sheet, name=place.name, **_reading(options, place.name))]


def _reading(options: TableOptions, view: str | None) -> dict[str, Any]:
    """What to tell the reader of a view's file."""
    return {
        "id_column": _id_column(options, view),
        "separator": options.sep,
        "decimal": options.decimal,
        "encoding": options.encoding,
        "missing": options.na,
    }


def _id_column(options: TableOptions, view: str | None) -> str | None:
    """The id column that the user names for a view: ``VIEW:COL`` before ``COL``."""
    for text in options.id:
        if view is not None and text.startswith(f"{view}:"):
            return text[len(view) + 1 :]
    general = [text for text in options.id if ":" not in text]
    return general[-1] if general else None


def _refuse_repeated_names(names: Sequence[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ViewError(
            f"Several tables would become one view: {some(repeated)}. Name each with --view NAME=FILE (or "
            "--view NAME=FILE#SHEET)."
        )


def _read_labels(
    options: TableOptions, tables: list[FileTable], problems: Problems
) -> tuple[list[FileTable], FileTable | None, str | None]:
    """The views' tables, the table of the labels where it is a file of its own, and the name of the label column."""
    if options.labels is None:
        return tables, None, options.target
    file, column = split_column(options.labels)
    if column is not None and options.target is not None and column != options.target:
        raise ViewError(f"--labels names column '{column}' and --target column '{options.target}'. Give one of them.")
    column = column or options.target
    path, sheet = split_sheet(file)
    inside = [table for table in tables if same_file(str(table.path), path) and sheet in (None, table.sheet)]
    if inside:
        return tables, None, label_column(inside[0], column).name
    given = read_table(path, sheet=sheet, **_reading(options, _LABELS))
    problems.extend(given.findings)
    return tables, given, column


def _id_name(tables: Sequence[FileTable]) -> str:
    """The name of the id column where all files call it the same."""
    names = {table.id_column for table in tables if table.ids is not None}
    name = names.pop() if len(names) == 1 else None
    return name or "sample"


def _views_of(tables: list[FileTable], options: TableOptions, problems: Problems) -> list[FileTable]:
    """The views: as many as tables, or the groups of the columns of one."""
    if len(tables) == 1:
        return split_by_prefix(tables[0])
    return tables
