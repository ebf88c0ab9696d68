"""Which samples the views have in common."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from coview.files._contents import FileTable
from coview.files._problems import Problems
from coview.views import AlignedTables, almost_equal_ids, some

__all__ = ["check_overlap"]


def check_overlap(aligned: AlignedTables, files: Sequence[FileTable], problems: Problems) -> None:
    """An error for a view that shares no sample with any other; otherwise the number of samples that have all views."""
    n_views = len(aligned.tables)
    if n_views < 2 or not aligned.has_ids or aligned.same_order:
        return
    listed = np.zeros((aligned.n_samples, n_views), dtype=bool)
    for position, table in enumerate(aligned.tables):
        listed[slice(None) if table.rows is None else table.rows, position] = True
    counts = listed.sum(axis=1)
    for position, table in enumerate(aligned.tables):
        mine = listed[:, position]
        if mine.any() and not (mine & (counts > 1)).any():
            _report_no_overlap(table.name, aligned.ids[mine], aligned.ids[~mine], files, problems)
            return
    n_complete = int((counts == n_views).sum())
    heights = ", ".join(f"{table.name} {table.n_rows}" for table in aligned.tables)
    views = "both" if n_views == 2 else f"all {n_views}"
    problems.note(
        "partial_overlap",
        f"Of {aligned.n_samples} samples, {n_complete} have a row in {views} views ({heights}); where there is "
        "none, the view counts as missing.",
        count=aligned.n_samples - n_complete,
    )


def _report_no_overlap(
    name: str, mine: pd.Index, others: pd.Index, files: Sequence[FileTable], problems: Problems
) -> None:
    columns = {table.name: table.id_column for table in files}
    column = f" (column '{columns[name]}')" if columns.get(name) else ""
    groups = almost_equal_ids([*mine.tolist(), *others.tolist()])
    spelled = "; ".join(" ~ ".join(map(repr, group)) for group in groups[:3])
    problems.error(
        "no_overlap",
        f"No sample of view '{name}' occurs in another view: its ids{column} begin {some(mine[:3], 3)}, those of the "
        f"others {some(others[:3], 3)}.{f' Some are almost equal: {spelled}.' if groups else ''}",
        "Give --almost-equal join to take those for the same samples."
        if groups
        else f"Name the right id columns with --id {name}:COL, or say with --id-map FILE which ids belong together.",
        view=name,
        ids=tuple(mine[:20]),
        count=len(mine),
    )
