"""Of new data, the part that a fitted model knows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from coview.exceptions import ViewError
from coview.views._columns import take_columns
from coview.views._findings import Finding
from coview.views._ids import some
from coview.views._renaming import rename_by_columns
from coview.views._similar import similar_names
from coview.views._tables import AlignedTables, Table
from coview.views._validation import missing_columns_message

__all__ = ["select_known"]


def select_known(
    aligned: AlignedTables, view_names: Sequence[str], feature_names: Mapping[str, Sequence[Any] | None]
) -> tuple[AlignedTables, list[Finding]]:
    """The views and columns that a fitted model knows, and what was left out.

    Parameters
    ----------
    aligned : AlignedTables
    view_names : sequence of str
        Views that the model was fitted on.
    feature_names : mapping of str to sequence or None
        Column labels of each, as in ``view_feature_names_``; None where they had none.

    Returns
    -------
    known : AlignedTables
        Over the same samples; columns in the order of the fit.
    findings : list of Finding
        ``unknown_view`` and ``unknown_columns``, for what was left out; ``renamed_view`` for a table of unknown name
        that has all columns of the one view that is not given: it is taken for that view.

    Raises
    ------
    ViewError
        If no view is known, or a known view lacks columns; names the most similar ones given.

    Examples
    --------
    >>> from coview.views import read_tables
    >>> tables = read_tables({"ct": pd.DataFrame({"grade": [2], "note": ["x"], "volume": [3.5]})})
    >>> known, findings = select_known(tables, ["ct", "lab"], {"ct": ["volume", "grade"], "lab": None})
    >>> list(known.tables[0].columns), [finding.columns for finding in findings]
    (['volume', 'grade'], [('note',)])
    """
    aligned, findings = rename_by_columns(aligned, view_names, feature_names)
    positions = [position for position, name in enumerate(aligned.names) if name in view_names]
    if not positions:
        raise ViewError(_no_view_message(aligned, view_names, feature_names))
    findings += [
        _unknown_view(table, view_names, feature_names) for table in aligned.tables if table.name not in view_names
    ]
    tables = []
    for position in positions:
        table, unknown = _known_columns(aligned.tables[position], feature_names.get(aligned.names[position]))
        tables.append(table)
        if unknown:
            findings.append(_unknown_columns(table, unknown))
    presence = None if aligned.presence is None else aligned.presence[:, positions]
    return replace(aligned, tables=tuple(tables), presence=presence), findings


def _known_columns(table: Table, labels: Sequence[Any] | None) -> tuple[Table, list[str]]:
    """A table with the columns of the fit in their order, and the names of those left out."""
    if labels is None or table.columns is None:
        return table, []
    fitted, given = pd.Index(labels), table.columns
    missing, unknown = fitted[~fitted.isin(given)], given[~given.isin(fitted)]
    if len(missing):
        raise ViewError(missing_columns_message(table.name, fitted, missing, unknown))
    if not fitted.is_unique or not given.is_unique:
        return table, []  # not to be matched by name; the estimator says so
    where = given.get_indexer(fitted).astype(np.intp)
    return take_columns(table, table.name, where), [str(label) for label in unknown]


def _unknown_columns(table: Table, unknown: Sequence[str]) -> Finding:
    one = len(unknown) == 1
    return Finding(
        code="unknown_columns",
        level="note",
        message=f"View '{table.name}' has {len(unknown)} column{'s' * (not one)} that the model does not know: "
        f"{some(unknown)}. {'It is' if one else 'They are'} left out.",
        view=table.name,
        columns=tuple(unknown[:5]),
        count=len(unknown),
    )


def _unknown_view(
    table: Table, view_names: Sequence[str], feature_names: Mapping[str, Sequence[Any] | None]
) -> Finding:
    return Finding(
        code="unknown_view",
        level="warning",
        message=f"The model knows no view '{table.name}'; it is left out. Its views are {some(view_names, 20)}.",
        advice=_advice([table], view_names, feature_names),
        view=table.name,
        count=table.n_rows,
    )


def _no_view_message(
    aligned: AlignedTables, view_names: Sequence[str], feature_names: Mapping[str, Sequence[Any] | None]
) -> str:
    advice = _advice(aligned.tables, view_names, feature_names)
    return (
        f"None of the views given ({some(aligned.names)}) is one that the model was fitted on "
        f"({some(view_names, 20)}). {advice or 'Give each table the name of its view.'}"
    )


def _advice(
    tables: Sequence[Table], view_names: Sequence[str], feature_names: Mapping[str, Sequence[Any] | None]
) -> str:
    """Which view an unknown table probably is: by its columns, else by its name."""
    for table in tables:
        for name in view_names:
            labels = feature_names.get(name)
            if labels is None or table.columns is None:
                continue
            absent = pd.Index(labels)[~pd.Index(labels).isin(table.columns)]
            if not len(absent):
                return f"'{table.name}' has the columns of view '{name}': name it so."
            if len(absent) < 0.5 * len(labels):
                return (
                    f"'{table.name}' has most columns of view '{name}', but lacks {some(absent)}: rename its columns, and name "
                    f"it so."
                )
        near = similar_names([table.name], view_names)
        if near:
            return f"If '{table.name}' is view '{near[table.name]}', name it so."
    return ""
