"""A file that says which sample an id of which view means."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from coview.exceptions import ViewError
from coview.files._contents import FileTable
from coview.files._problems import Problems
from coview.files._spelling import rename_ids
from coview.views import ids_among, some

__all__ = ["IdMap", "apply_id_map", "id_map_from"]

_SAMPLE = "sample"


class IdMap:
    """New names of ids: for each view its own, or the same for all.

    Parameters
    ----------
    path : str
        For messages.
    per_view : dict of str to (dict of str to str)
        New names of the ids of a view.
    for_all : dict of str to str or None
        New names in every view; None where the map says it per view.
    """

    def __init__(self, path: str, per_view: dict[str, dict[str, str]], for_all: dict[str, str] | None) -> None:
        self.path = path
        self.per_view = per_view
        self.for_all = for_all

    def names_for(self, view: str) -> dict[str, str] | None:
        """New names of the ids of a view; None where the map does not speak of it."""
        return self.for_all if self.for_all is not None else self.per_view.get(view)


def id_map_from(cells: pd.DataFrame, path: str, views: Sequence[str], first_line: int = 2) -> IdMap:
    """Read a map off its cells.

    Parameters
    ----------
    cells : DataFrame of text
        A column ``sample`` and one per view (``labels`` for the labels), or two columns: from, to.
    path : str
    views : sequence of str
        Names that columns may have.
    first_line : int
        Line of the first row, for messages.
    """
    names = list(map(str, cells.columns))
    if _SAMPLE in names and len(names) > 1 and set(names) <= {_SAMPLE, *views}:
        per_view = {name: _names(cells[name], cells[_SAMPLE], path, first_line) for name in names if name != _SAMPLE}
        return IdMap(path, per_view, None)
    if len(names) != 2:
        raise ViewError(
            f"{path}: an id map has a column 'sample' and one column per view with its own ids (the views here are "
            f"{some(views, 8)}), or two columns: an id, and the sample it means. Its columns are {some(names, 8)}."
        )
    return IdMap(path, {}, _names(cells.iloc[:, 0], cells.iloc[:, 1], path, first_line))


def _names(own: pd.Series, sample: pd.Series, path: str, first_line: int) -> dict[str, str]:
    """Sample by own id; an id that would mean two samples is an error."""
    given = ((own != "") & (sample != "")).to_numpy()
    lines = np.flatnonzero(given) + first_line
    own, sample = own[given], sample[given]
    conflicting = own[own.duplicated(keep=False) & ~pd.DataFrame({"own": own, "sample": sample}).duplicated(keep=False)]
    if len(conflicting):
        first = conflicting.iloc[0]
        where = ", ".join(map(str, lines[(own == first).to_numpy()][:4]))
        raise ViewError(
            f"{path}: '{first}' in column '{own.name}' means several samples (lines {where}): "
            f"{some(sample[own == first].unique())}. Keep one line for each id."
        )
    return dict(zip(own, sample, strict=True))


def apply_id_map(table: FileTable, owner: str, id_map: IdMap, problems: Problems) -> FileTable:
    """The table with the ids that the map gives; ids it does not know stay and are counted."""
    names = id_map.names_for(owner)
    if names is None or table.ids is None:
        return table
    known = pd.Index(list(names), dtype=str)
    unknown = table.ids[~ids_among(table.ids, known)]
    if len(unknown) == len(table.ids) and id_map.for_all is None:
        problems.error(
            "id_map_fits_nothing",
            f"No id of {table.where} stands in column '{owner}' of {id_map.path}; its ids begin "
            f"{some(table.ids[:3], 3)}, those of the map {some(list(names)[:3], 3)}.",
            f"Correct the map, or name the id column with --id {owner}:COL.",
            view=owner,
            count=len(unknown),
        )
        return table
    if len(unknown) and id_map.for_all is None:
        problems.warning(
            "ids_not_in_map",
            f"{len(unknown)} of {len(table.ids)} ids of {table.where} are not in column '{owner}' of {id_map.path} and "
            f"stay as they are: {some(unknown)}.",
            "Complete the map, where they are samples under another name.",
            view=owner,
            ids=tuple(unknown[:20]),
            count=len(unknown),
        )
    n_unused = int((~ids_among(known, table.ids)).sum())
    if n_unused and id_map.for_all is None:
        problems.note(
            "unused_map_ids",
            f"{n_unused} ids in column '{owner}' of {id_map.path} do not occur in {table.where}.",
            view=owner,
            count=n_unused,
        )
    return rename_ids(table, names, f"The id map {id_map.path}", problems)
