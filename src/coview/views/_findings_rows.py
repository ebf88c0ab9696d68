"""Gaps in the rows of one view, and rows that hold nothing but zeros."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from coview.views._findings import Finding, Level, column_finding
from coview.views._findings_blocks import ObservedView
from coview.views._ids import some
from coview.views._tables import AlignedTables

__all__ = ["count_gaps", "row_findings", "zero_row_findings"]

_FIRST = 20
_MANY_GAPS = 0.2  # share of missing cells from which they are a warning
_CHUNK = 2**22  # cells looked at in one go


def row_findings(tables: AlignedTables, view: ObservedView) -> list[Finding]:
    """Rows of one view with gaps, columns that are mostly gaps, and rows of zeros only."""
    per_row, per_column = _gaps(view)
    name, n_rows = view.table.name, len(view.rows)
    per_row = per_row - np.count_nonzero(per_column == n_rows)  # columns without any value are told by themselves
    findings = []
    partial = np.flatnonzero(per_row)
    if len(partial):
        share = per_row.sum() / (n_rows * view.table.n_features)
        level: Level = "warning" if share > _MANY_GAPS else "note"
        ids = tables.ids[view.samples[partial]]
        findings.append(
            Finding(
                "partly_missing_rows",
                level,
                f"{len(partial)} of the {n_rows} samples with view '{name}' lack some of its values "
                f"({int(per_row.sum())} cells, {share:.1%}): {some(ids)}.",
                "The gaps are filled with the median and marked in columns of their own.",
                name,
                ids=tuple(map(str, ids[:_FIRST])),
                count=len(partial),
            )
        )
    mostly = np.flatnonzero((per_column > 0.5 * n_rows) & (per_column < n_rows))
    if len(mostly):
        names = view.names
        text = "missing for more than half of the samples that have the view"
        columns = [names[position] for position in mostly]
        findings.append(column_finding("mostly_missing", "note", name, columns, f"is {text}", f"are {text}"))
    return findings


def count_gaps(view: ObservedView) -> int:
    """Number of missing cells in the observed rows."""
    return int(_gaps(view)[0].sum())


def _gaps(view: ObservedView) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number of missing cells per observed row and per column."""
    values = view.table.values
    n_rows, n_columns = len(view.rows), view.table.n_features
    per_row, per_column = np.zeros(n_rows, dtype=np.intp), np.zeros(n_columns, dtype=np.intp)
    if sparse.issparse(values):
        if values.dtype.kind == "f" and np.isnan(values.data).any():
            stored = values.tocoo()
            gaps = np.isnan(stored.data)
            per_row = np.bincount(stored.row[gaps], minlength=values.shape[0])[view.rows]
            per_column = np.bincount(stored.col[gaps], minlength=n_columns)
        return per_row, per_column
    if not isinstance(values, pd.DataFrame) and values.dtype.kind in "iub":
        return per_row, per_column
    step = max(1, _CHUNK // max(1, n_rows))
    for start in range(0, n_columns, step):
        gaps = np.asarray(pd.isna(view.take(np.arange(start, min(start + step, n_columns)))), dtype=bool)
        per_row += gaps.sum(axis=1)
        per_column[start : start + step] = gaps.sum(axis=0)
    return per_row, per_column


def zero_row_findings(tables: AlignedTables, view: ObservedView, filled: NDArray[np.bool_]) -> list[Finding]:
    """Rows without anything but zeros: observed, says the file, but often just not measured."""
    empty = np.flatnonzero(~filled)
    if not len(empty):
        return []
    ids = tables.ids[view.samples[empty]]
    name = view.table.name
    return [
        Finding(
            "zero_rows",
            "warning",
            f"{len(empty)} of the {len(view.rows)} samples with view '{name}' have only zeros in it and count as "
            f"observed: {some(ids)}.",
            "Where they mean 'not measured', leave these rows out of the file.",
            name,
            ids=tuple(map(str, ids[:_FIRST])),
            count=len(empty),
        )
    ]
