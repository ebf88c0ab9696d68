"""From what a user says to the tables of all views with their labels."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from coview.exceptions import ViewError
from coview.files._config import with_config
from coview.files._contents import FileTable, TableSet
from coview.files._gather import LABELS, read_files, read_id_map
from coview.files._grouping import chosen_columns, column_names, leave_out, split_by_groups, split_by_prefix
from coview.files._id_map import apply_id_map
from coview.files._labels import (
    LabelColumn,
    label_column,
    marks_of,
    match_labels,
    take_target,
    tell_unlabeled,
    unique_labels,
)
from coview.files._options import TableOptions
from coview.files._overlap import check_overlap
from coview.files._places import same_file, split_column, split_sheet
from coview.files._problems import Problems
from coview.files._samples import align_files, unique_samples, with_ids
from coview.files._spelling import join_spellings, tell_spellings
from coview.files._task import read_task
from coview.views import AlignedTables

__all__ = ["read_table_set"]

_LABEL_FILE = None  # what stands for the labels' file among the names of the views
_NO_NAMES = {None, "", "obs_names", "index", "ids"}  # of id columns that nobody named
_Tables = dict[str | None, FileTable]


def read_table_set(options: TableOptions, *, strict: bool = True, ignored: Sequence[str] = ()) -> TableSet:
    r"""Read a user's files, match their rows by sample id, and take out the labels.

    Parameters
    ----------
    options : TableOptions
        A ``coview.toml`` beside the data is read too, unless it was before.
    strict : bool, default=True
        Whether the first error is raised. If False, errors become findings as long as there is something to go on
        with, so that a check can tell all of them.
    ignored : sequence of str, default=()
        Columns that are left out of any table that has them, such as labels where only features are wanted.

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
    options = with_config(options)
    problems = Problems(strict=strict)
    views, given = read_files(options, problems)
    read: _Tables = {table.name: table for table in views}
    if given is not None:
        read[_LABEL_FILE] = given
    files = tuple(replace(table, values=None, shape=tuple(table.values.shape)) for table in read.values())
    tables, found = _take_labels(_matched_ids(read, options, problems), options, problems)
    target = found[0].name if found else None
    tables = leave_out(tables, [name for name in options.leave_out if name != target], ignored)
    tables = _as_views(tables, target, options, problems)
    aligned = align_files(tables)
    check_overlap(aligned, tables, problems)
    labels = _labels_of(found, aligned, options, problems)
    return TableSet(aligned, labels, target, _id_name(tables), files, problems.worst_first())


def _matched_ids(tables: _Tables, options: TableOptions, problems: Problems) -> _Tables:
    """The tables with the ids that count."""
    id_map = read_id_map(options, [name for name in tables if name is not None])
    if id_map is not None:
        tables = {owner: apply_id_map(table, owner or LABELS, id_map, problems) for owner, table in tables.items()}
    tables = with_ids(tables, problems)
    if options.almost_equal == "join":
        joined = join_spellings(list(tables.values()), problems)
        return dict(zip(tables, joined, strict=True))
    tell_spellings(list(tables.values()), problems)
    return tables


def _take_labels(
    tables: _Tables, options: TableOptions, problems: Problems
) -> tuple[list[FileTable], list[LabelColumn]]:
    """The views' tables with one row per sample, without the labels; and the labels' column wherever it stands."""
    policy = options.duplicates or "error"
    given = tables.get(_LABEL_FILE)
    views = [
        unique_samples(table, policy, problems, view=name) for name, table in tables.items() if name is not _LABEL_FILE
    ]
    try:
        column = _label_name(options)
        if given is not None and not _stands_in_a_view(column, given, views):
            given = unique_labels(given, label_column(given, column), policy, problems)
            return views, [label_column(given, column)]
        inside = None if options.labels is None else _table_at(options.labels, views)
        if inside is not None:
            column = label_column(inside, column).name
        if column is None or (options.labels is not None and given is None and inside is None):
            return views, []  # none wanted, or their file could not be read
        return take_target(views, column)
    except ViewError as error:
        problems.failure("labels_not_found", error)
        return views, []


def _label_name(options: TableOptions) -> str | None:
    """The name of the label column, as far as the user gives it."""
    column = None if options.labels is None else split_column(options.labels)[1]
    if column is not None and options.target is not None and column != options.target:
        raise ViewError(
            f"--labels names column '{column}', --target names column '{options.target}'. Give one of them."
        )
    return column or options.target


def _stands_in_a_view(column: str | None, given: FileTable, views: Sequence[FileTable]) -> bool:
    """Whether a column that the labels' file lacks is one of a view."""
    return column is not None and column not in column_names(given) and any(column in column_names(v) for v in views)


def _table_at(labels: str, views: Sequence[FileTable]) -> FileTable | None:
    """The view whose file the user named for the labels."""
    path, sheet = split_sheet(split_column(labels)[0])
    found = [table for table in views if same_file(str(table.path), path) and sheet in (None, table.sheet)]
    return found[0] if found else None


def _as_views(
    tables: list[FileTable], target: str | None, options: TableOptions, problems: Problems
) -> list[FileTable]:
    """The views: a table each, or the groups of columns of the one table."""
    tables = [chosen_columns(table, options.per_view.get(table.name), target) for table in tables]
    if options.view_columns is not None:
        if len(tables) != 1:
            raise ViewError(f"--view-columns groups the columns of one table; there are {len(tables)}. Name one file.")
        tables = split_by_groups(tables[0], options.view_columns, problems)
    elif len(tables) == 1 and not options.view:
        tables = split_by_prefix(tables[0], problems)
    views = [table for table in tables if table.values.shape[1]]
    for table in tables:
        if not table.values.shape[1]:
            problems.note("no_features", f"{table.where} has no column beside ids and labels, and is no view.")
    if not views:
        raise ViewError(f"{tables[0].where} has no column beside ids and labels: there is nothing to learn from.")
    return views


def _labels_of(
    found: Sequence[LabelColumn], aligned: AlignedTables, options: TableOptions, problems: Problems
) -> pd.Series | None:
    if not found:
        return None
    cells = match_labels(found, aligned.ids, aligned.has_ids, problems)
    tell_unlabeled(found[0], cells, problems)
    return read_task(cells, options.task, found[0].name, problems, marks_of(found[0]))


def _id_name(tables: Sequence[FileTable]) -> str:
    """The name of the id column where all views call it the same."""
    if all(table.ids is None for table in tables):
        return "row"
    names = {table.id_column for table in tables}
    name = names.pop() if len(names) == 1 else None
    return "sample" if name in _NO_NAMES else str(name)
