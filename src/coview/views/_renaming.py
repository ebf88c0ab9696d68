"""Tables that go by another name than in the fit, as next year's files do: known by their columns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from coview.views._findings import Finding
from coview.views._tables import AlignedTables, Table

__all__ = ["rename_by_columns"]


def rename_by_columns(
    aligned: AlignedTables, view_names: Sequence[str], feature_names: Mapping[str, Sequence[Any] | None]
) -> tuple[AlignedTables, list[Finding]]:
    """Give a table of unknown name the name of the one view that is not given and whose columns it all has."""
    free = [name for name in view_names if name not in aligned.names]
    fits = {
        table.name: [name for name in free if _has_columns(table, feature_names.get(name))]
        for table in aligned.tables
        if table.name not in view_names
    }
    wanted = [names[0] for names in fits.values() if len(names) == 1]
    new = {old: names[0] for old, names in fits.items() if len(names) == 1 and wanted.count(names[0]) == 1}
    if not new:
        return aligned, []
    tables = tuple(replace(table, name=new.get(table.name, table.name)) for table in aligned.tables)
    findings = [
        Finding(
            "renamed_view",
            "note",
            f"'{old}' has the columns of the model's view '{name}' and is taken for it.",
            view=name,
        )
        for old, name in new.items()
    ]
    return replace(aligned, tables=tables), findings


def _has_columns(table: Table, labels: Sequence[Any] | None) -> bool:
    return bool(labels) and table.columns is not None and bool(pd.Index(list(labels or ())).isin(table.columns).all())
