"""Findings about the columns of a sparse view, from its stored entries; nothing is made dense."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coview.views._findings import Finding, column_finding
from coview.views._findings_blocks import ObservedView
from coview.views._findings_duplicates import ColumnHashes, RowHashes, number_hashes, repeated_rows
from coview.views._findings_labels import Target
from coview.views._findings_leakage import LeakageNotes
from coview.views._findings_rows import zero_row_findings
from coview.views._ids import some
from coview.views._tables import AlignedTables

__all__ = ["look_at_sparse"]

_FEWEST_ENTRIES = 10  # columns with fewer are often equal by chance: words of one document


def look_at_sparse(
    tables: AlignedTables, view: ObservedView, target: Target | None, log_tests: float, hashes: ColumnHashes
) -> list[Finding]:
    """Infinite entries, columns of zeros, equal columns and rows, columns that tell the label."""
    values = sparse.csr_array(view.table.values[view.rows])
    names = view.names
    per_column = np.bincount(values.indices[values.data != 0], minlength=values.shape[1])
    filled = np.diff(sparse.csr_array(values != 0).indptr) > 0
    found = [
        *_infinite(view, values, names),
        *zero_row_findings(tables, view, filled),
        *_zero_columns(view, per_column, names),
    ]
    if target is not None:
        leakage = LeakageNotes(view, target, log_tests)
        leakage.add_sparse()
        found = [*leakage.findings(), *found]
    rows = _hash(view, values, per_column, names, hashes)
    return [*found, *repeated_rows(tables, rows, None if target is None else target.codes)]


def _infinite(view: ObservedView, values: sparse.csr_array, names: list[str]) -> list[Finding]:
    infinite = np.isinf(values.data) if values.dtype.kind == "f" else np.zeros(0, dtype=bool)
    if not infinite.any():
        return []
    columns = [names[place] for place in np.unique(values.indices[infinite])]
    count = int(infinite.sum())
    message = f"View '{view.table.name}' holds {count} infinite entries, in {some(columns)}."
    advice = "Remove these entries where the value is not known; cap them where it overflowed."
    return [Finding("infinite_values", "error", message, advice, view.table.name, tuple(columns[:20]), count=count)]


def _zero_columns(view: ObservedView, per_column: NDArray[np.intp], names: list[str]) -> list[Finding]:
    columns = [names[place] for place in np.flatnonzero(per_column == 0)]
    if not columns:
        return []
    one, several = "is zero for every sample", "are zero for every sample"
    return [column_finding("constant_columns", "note", view.table.name, columns, one, several)]


def _hash(
    view: ObservedView,
    values: sparse.csr_array,
    per_column: NDArray[np.intp],
    names: list[str],
    hashes: ColumnHashes,
) -> RowHashes:
    """Hashes of the rows; those of the columns go to ``hashes``. What is not stored counts 0, as a gap does."""
    numbers = values.data.astype(np.float64)
    cells = number_hashes(numbers)
    cells[(numbers == 0) | np.isnan(numbers)] = 0
    owners = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
    rows = RowHashes(view)
    of_rows, of_columns = np.zeros(values.shape[0], dtype=np.uint64), np.zeros(values.shape[1], dtype=np.uint64)
    np.add.at(of_rows, owners, cells * rows.weights[values.indices])
    np.add.at(of_columns, values.indices, cells * hashes.row_weights(view)[owners])
    share = per_column / max(1, values.shape[0])
    rows.add_sums(of_rows, float(np.log((1 - share) ** 2 + share**2).sum()))
    chosen = np.flatnonzero(per_column >= _FEWEST_ENTRIES)
    hashes.add_sums(view, [names[place] for place in chosen], of_columns[chosen])
    return rows
