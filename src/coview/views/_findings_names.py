"""Columns of one name in several views: the same measurement twice, maybe with slips."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from coview.views._findings import Finding
from coview.views._findings_blocks import ObservedView, column_blocks
from coview.views._findings_duplicates import cell_hashes
from coview.views._ids import some
from coview.views._tables import AlignedTables

__all__ = ["columns_of_one_name"]

_MOST_NAMES = 200  # more in common are one thing measured in several ways, as genes are
_FEWEST_SHARED = 10  # samples needed that have both
_ALIKE = 0.9  # share of equal cells from which two columns are taken for one measurement

_Place = tuple[str, str]  # view and column


def columns_of_one_name(
    tables: AlignedTables, views: Sequence[ObservedView]
) -> tuple[list[list[_Place]], list[Finding]]:
    """Groups of columns that are equal wherever both are observed, and findings about those that almost are."""
    equal: list[list[_Place]] = []
    findings: list[Finding] = []
    for places in _shared_names(views).values():
        columns = [(_named(*place), _cells_by_sample(*place, tables.n_samples)) for place in places]
        for (first, ours), (second, theirs) in combinations(columns, 2):
            both = (ours != 0) & (theirs != 0)
            n_both = int(both.sum())
            differ = both & (ours != theirs)
            if n_both < _FEWEST_SHARED or len(np.unique(ours[both])) < 3 or differ.sum() > (1 - _ALIKE) * n_both:
                continue
            named = [first, second]
            if differ.any():
                findings.append(_conflict(tables, named, np.flatnonzero(differ), n_both))
            else:
                equal.append(named)
    return equal, findings


def _named(view: ObservedView, position: int) -> _Place:
    return view.table.name, view.names[position]


def _shared_names(views: Sequence[ObservedView]) -> dict[str, list[tuple[ObservedView, int]]]:
    """Columns that several dense views have, by name; none where there are very many."""
    owners: dict[str, list[tuple[ObservedView, int]]] = defaultdict(list)
    for view in views:
        if not view.is_sparse and view.table.columns is not None and len(view.rows):
            for position, name in enumerate(view.names):
                owners[name.casefold()].append((view, position))
    shared = {name: places for name, places in owners.items() if len(places) > 1}
    return shared if len(shared) <= _MOST_NAMES else {}


def _cells_by_sample(view: ObservedView, position: int, n_samples: int) -> NDArray[np.uint64]:
    """A number per sample that depends on the cell's value alone; 0 where it is missing."""
    cells = np.zeros(n_samples, dtype=np.uint64)
    for block in column_blocks(view, np.array([position])):
        cells[view.samples] = cell_hashes(block)[0]
    return cells


def _conflict(tables: AlignedTables, named: list[_Place], differ: NDArray[np.intp], n_both: int) -> Finding:
    (first, column), (second, other) = named
    ids = tables.ids[differ]
    return Finding(
        "conflicting_columns",
        "warning",
        f"'{column}' of view '{first}' and '{other}' of view '{second}' agree for {n_both - len(differ)} samples and "
        f"differ for {len(differ)}: {some(ids)}.",
        "Correct what is wrong, and keep the column in one view (--leave-out VIEW:COL).",
        columns=(column, other),
        ids=tuple(map(str, ids[:20])),
        count=len(differ),
    )
