"""The labels' column: where it stands, taken out of the features, matched to the samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
import pandas as pd

from coview.exceptions import ViewError
from coview.files._contents import FileTable
from coview.files._grouping import column_names, without_columns
from coview.files._problems import Problems
from coview.files._samples import take_rows, unique_samples
from coview.views import ids_among, some

__all__ = ["LabelColumn", "label_column", "marks_of", "match_labels", "take_target", "tell_unlabeled", "unique_labels"]


@dataclass(frozen=True)
class LabelColumn:
    """The cells of the label column of one table.

    Attributes
    ----------
    name : str
    cells : Series
        By sample id, or by row where the table has no ids.
    table : FileTable
        Where they come from.
    """

    name: str
    cells: pd.Series
    table: FileTable


def label_column(table: FileTable, column: str | None) -> LabelColumn:
    """The column of a label file: the one asked for, or the only one."""
    names = column_names(table)
    if column is None:
        if len(names) != 1:
            raise ViewError(
                f"{table.where} has {len(names)} columns beside the ids. Say which one holds the labels: --target COL, "
                f"or --labels FILE:COL; they are {some(names, 8)}."
            )
        column = str(names[0])
    if column not in names:
        raise ViewError(f"{table.where} has no column '{column}' for the labels.{_nearest(column, [table])}")
    return LabelColumn(column, _cells(table, _place(names, column)), table)


def take_target(tables: Sequence[FileTable], target: str) -> tuple[list[FileTable], list[LabelColumn]]:
    """The tables without the label column, and the column of every table that has it."""
    rest, found = [], []
    for table in tables:
        names = column_names(table)
        if target not in names:
            rest.append(table)
            continue
        position = _place(names, target)
        found.append(LabelColumn(target, _cells(table, position), table))
        rest.append(without_columns(table, [position]))
    if not found:
        owners = [table.where for table in tables if table.id_column == target]
        if owners:
            raise ViewError(
                f"'{target}' is the column of the sample ids in {some(owners)}, so it cannot be the labels. Name "
                "another column with --target, or the ids' column with --id."
            )
        raise ViewError(
            f"No table has a column '{target}' for the labels.{_nearest(target, tables)} Labels in a file of their own "
            "are given with --labels FILE."
        )
    return rest, found


def _place(names: pd.Index, column: str) -> int:
    """Position of a column; a reader makes labels unique."""
    return int(names.get_indexer(pd.Index([column]))[0])


def _nearest(column: str, tables: Sequence[FileTable]) -> str:
    names = [str(name) for table in tables for name in column_names(table)[:10_000]]
    close = get_close_matches(column, names, n=3, cutoff=0.6)
    return f" Did you mean {some(close)}?" if close else f" The columns are {some(names, 8)}."


def _cells(table: FileTable, position: int) -> pd.Series:
    """One column of a table by sample id."""
    if isinstance(table.values, pd.DataFrame):
        cells = table.values.iloc[:, position]
    else:
        cells = pd.Series(np.asarray(table.values[:, [position]].todense()).ravel())
    return cells.set_axis(pd.RangeIndex(len(cells)) if table.ids is None else table.ids)


def unique_labels(table: FileTable, column: LabelColumn, policy: str, problems: Problems) -> FileTable:
    """The labels' table with one row per sample; rows that repeat a sample with the same label are no error."""
    if table.ids is None or table.ids.is_unique or policy != "error":
        return unique_samples(table, policy, problems)
    codes = pd.Series(pd.factorize(column.cells)[0], index=column.cells.index)  # -1 where there is none
    n_different = codes[codes.index.duplicated(keep=False)].groupby(level=0).nunique()
    same = n_different.index[n_different == 1]
    if len(same):
        problems.note(
            "repeated_labels",
            f"{table.where} has several rows for {len(same)} samples with the same label each ({some(same, 3)}).",
            ids=tuple(map(str, same[:20])),
            count=len(same),
        )
    needless = np.asarray(table.ids.duplicated()) & ids_among(table.ids, same)
    return unique_samples(take_rows(table, np.flatnonzero(~needless)), policy, problems)


def match_labels(columns: Sequence[LabelColumn], ids: pd.Index, has_ids: bool, problems: Problems) -> pd.Series:
    """The labels in the order of the samples; NaN for a sample that nobody labels.

    Parameters
    ----------
    columns : sequence of LabelColumn
        All that were found; where several label a sample they must agree.
    ids : Index of length n_samples
    has_ids : bool
        False where samples are the rows of the one table.
    problems : Problems

    Returns
    -------
    cells : Series of length n_samples, indexed by ``ids``
    """
    if not has_ids:
        return columns[0].cells.set_axis(ids)
    labels = columns[0].cells
    _tell_unknown(columns[0], ids, problems)
    labels = labels.reindex(ids)
    for column in columns[1:]:
        other = column.cells.reindex(ids)
        both = labels.notna() & other.notna()
        differing = both & (labels.astype(object) != other.astype(object))
        if differing.any():
            names = ids[differing.to_numpy()]
            problems.error(
                "labels_disagree",
                f"Column '{column.name}' stands in {columns[0].table.where} and in {column.table.where}, and they "
                f"differ for {len(names)} samples: {some(names)}.",
                "Correct one of them, or name one with --labels FILE:COL.",
                ids=tuple(names[:20]),
                count=len(names),
            )
        labels = labels.where(labels.notna(), other)
    return labels


def _tell_unknown(column: LabelColumn, ids: pd.Index, problems: Problems) -> None:
    """Labels of samples that no view has: counted; an error where no label belongs to a sample of the data."""
    given = column.cells.index
    known = ids_among(given, ids)
    if not known.any():
        problems.error(
            "no_labels_in_common",
            f"No id of the labels in {column.table.where} occurs in the data; the labels' ids begin "
            f"{some(given[:3], 3)}, those of the data {some(ids[:3], 3)}.",
            "Name the id columns with --id (--id labels:COL for the labels), or give an --id-map.",
            ids=tuple(map(str, given[:20])),
            count=len(given),
        )
        return
    if not known.all():
        unknown = given[~known]
        problems.note(
            "labels_without_data",
            f"{len(unknown)} of {len(given)} ids of the labels in {column.table.where} occur in no view and are left "
            f"out: {some(unknown)}.",
            ids=tuple(map(str, unknown[:20])),
            count=len(unknown),
        )


def tell_unlabeled(column: LabelColumn, labels: pd.Series, problems: Problems) -> None:
    """How many samples have no label, and which marks were read as none."""
    n_unlabeled = int(labels.isna().sum())
    if not n_unlabeled:
        return
    marks = marks_of(column)
    advice = f'In that file these count as missing: {marks}. If one of them is a class, give --na "".' if marks else ""
    problems.note(
        "unlabeled",
        f"{n_unlabeled} of {len(labels)} samples have no label in '{column.name}'.",
        advice,
        columns=(column.name,),
        count=n_unlabeled,
    )


def marks_of(column: LabelColumn) -> str:
    """The marks, beside empty cells, that were read as missing where the labels stand, in words."""
    told = column.table.guesses.get("missing", "")
    return told if '"' in told else ""
