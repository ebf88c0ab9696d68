"""All findings about a set of tables and their labels."""

import numpy as np
import pandas as pd

from coview.views._findings import Finding, worst_first
from coview.views._findings_blocks import ObservedView, SortedBlock, column_blocks, observed_views
from coview.views._findings_columns import ColumnNotes
from coview.views._findings_duplicates import ColumnHashes, RowHashes, repeated_columns, repeated_rows
from coview.views._findings_labels import Target, label_findings, read_target
from coview.views._findings_leakage import LeakageNotes, view_presence_findings
from coview.views._findings_names import columns_of_one_name
from coview.views._findings_presence import id_findings, presence_findings, presence_matrix
from coview.views._findings_rows import row_findings, zero_row_findings
from coview.views._findings_sparse import look_at_sparse
from coview.views._tables import AlignedTables

__all__ = ["find_problems"]

_WIDE = 10  # columns from which a row of zeros is odd


def find_problems(tables: AlignedTables, labels: pd.Series | None = None) -> list[Finding]:
    """What is wrong with tables and labels, or odd, or worth knowing, before a model is fitted.

    Parameters
    ----------
    tables : AlignedTables
        Cells of any kind, as ``read_tables`` gives them.
    labels : Series, default=None
        By sample id; float64 for a regression, anything else for classes, missing where unlabeled.

    Returns
    -------
    findings : list of Finding
        Errors first, then warnings, then notes.

    Notes
    -----
    A column is said to tell the label only where chance would give such a column, over all columns, with probability
    0.01 at most. Time is that of sorting each dense column once; sparse views are never made dense.

    Examples
    --------
    >>> import pandas as pd
    >>> from coview.views import read_tables
    >>> tables = read_tables({"blood": pd.DataFrame({"chol": [200.0, 180.0, 210.0], "unit": ["mg/dl"] * 3})})
    >>> [(finding.code, finding.columns) for finding in find_problems(tables)]
    [('constant_columns', ('unit',))]
    """
    views = observed_views(tables)
    presence = presence_matrix(views, tables.n_samples)
    target = None if labels is None else read_target(tables, labels)
    findings = [*id_findings(tables), *presence_findings(tables, presence)]
    if target is not None:
        findings += label_findings(target)
        findings += view_presence_findings(tables.names, presence, target)
    hashes = ColumnHashes(tables.n_samples)
    log_tests = float(np.log(sum(view.table.n_features for view in views)))
    for view in views:
        if len(view.rows):
            findings += row_findings(tables, view)
            look = look_at_sparse if view.is_sparse else _look_at_dense
            findings += look(tables, view, target, log_tests, hashes)
    of_one_name, conflicts = columns_of_one_name(tables, views)
    return worst_first([*findings, *conflicts, *repeated_columns([*hashes.groups(), *of_one_name])])


def _look_at_dense(
    tables: AlignedTables, view: ObservedView, target: Target | None, log_tests: float, hashes: ColumnHashes
) -> list[Finding]:
    """Findings about the columns of a dense view, block by block."""
    notes, rows = ColumnNotes(view), RowHashes(view)
    leakage = None if target is None else LeakageNotes(view, target, log_tests)
    for block in column_blocks(view):
        ordered = SortedBlock(block.cells)
        notes.add(block, ordered)
        rows.add(block, hashes.add(view, block, ordered), ordered)
        if leakage is not None:
            leakage.add(block, ordered)
    found = notes.findings() if leakage is None else [*leakage.findings(), *notes.findings()]
    if view.table.n_features >= _WIDE:
        found += zero_row_findings(tables, view, notes.filled)
    return [*found, *repeated_rows(tables, rows, None if target is None else target.codes)]
