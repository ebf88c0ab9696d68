"""Columns and rows that hold the same as others, found by hashing each cell once."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.views._findings import Finding
from coview.views._findings_blocks import ColumnBlock, ObservedView, SortedBlock
from coview.views._tables import AlignedTables

__all__ = ["ColumnHashes", "RowHashes", "cell_hashes", "number_hashes", "repeated_columns", "repeated_rows"]

_FIRST = 20
_EXPECTED = 1e-3  # pairs of equal rows that the columns would give by chance; more is no wonder
_INDEPENDENT = 0.5  # share of the columns taken to be independent: neighboring pixels, say, go together


def _weights(count: int, purpose: int) -> NDArray[np.uint64]:
    """Random odd numbers, the same in every run; longer lists begin like shorter ones."""
    return np.random.default_rng(purpose).integers(0, 2**63, count, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def number_hashes(cells: NDArray[np.float64]) -> NDArray[np.uint64]:
    """A number per cell that depends on its value alone."""
    mixed = pd.util.hash_array((cells + 0.0).reshape(-1))  # adding 0 makes the two zeros one
    return np.asarray(mixed.reshape(cells.shape), dtype=np.uint64)


def cell_hashes(block: ColumnBlock) -> NDArray[np.uint64]:
    """A number per cell that depends on its value alone; 0 for a gap."""
    gaps = np.isnan(block.cells)
    if block.categories is None:
        hashes = number_hashes(block.cells)
    else:
        hashes = np.empty(block.cells.shape, dtype=np.uint64)
        for place, categories in enumerate(block.categories):
            texts = np.array([str(category) for category in categories] or [""], dtype=object)
            codes = np.where(gaps[place], 0, block.cells[place]).astype(np.intp)
            hashes[place] = pd.util.hash_array(texts, categorize=False)[codes]
    hashes[gaps] = 0
    return hashes


class RowHashes:
    """Hash of each row of one view, gathered block by block.

    Parameters
    ----------
    view : ObservedView

    Attributes
    ----------
    values : ndarray of shape (n_rows,), dtype=uint64
    weights : ndarray of shape (n_columns,), dtype=uint64
    log_agreement : float
        Logarithm of the chance that two rows are equal if the columns were independent.
    """

    def __init__(self, view: ObservedView) -> None:
        self.view = view
        self.values = np.zeros(len(view.rows), dtype=np.uint64)
        self.log_agreement = 0.0
        self.weights = _weights(view.table.n_features, 1)

    def add(self, block: ColumnBlock, hashes: NDArray[np.uint64], ordered: SortedBlock) -> None:
        """Take in some columns."""
        self.values += self.weights[block.positions] @ hashes
        self.log_agreement += float(np.log(ordered.agreement).sum())

    def add_sums(self, sums: NDArray[np.uint64], log_agreement: float) -> None:
        """Take in columns of which the rows' hashes are known."""
        self.values += sums
        self.log_agreement += log_agreement


class ColumnHashes:
    """Hash of each column of all views over the samples, gathered block by block.

    Parameters
    ----------
    n_samples : int
    """

    def __init__(self, n_samples: int) -> None:
        self._weights = _weights(n_samples, 2)
        self._owners: dict[int, list[tuple[str, str]]] = defaultdict(list)

    def add(self, view: ObservedView, block: ColumnBlock, ordered: SortedBlock) -> NDArray[np.uint64]:
        """Take in some columns that vary; return the hashes of all their cells."""
        hashes = cell_hashes(block)
        sums = hashes @ self._weights[view.samples]
        varied = np.flatnonzero(ordered.n_distinct > 1)
        self.add_sums(view, [block.names[place] for place in varied], sums[varied])
        return hashes

    def add_sums(self, view: ObservedView, names: Sequence[str], sums: NDArray[np.uint64]) -> None:
        """Take in columns of which the hashes are known."""
        for name, total in zip(names, sums.tolist(), strict=True):
            self._owners[total].append((view.table.name, name))

    def groups(self) -> list[list[tuple[str, str]]]:
        """(view, column) of columns that hold the same for the same samples."""
        return [owners for owners in self._owners.values() if len(owners) > 1]

    def row_weights(self, view: ObservedView) -> NDArray[np.uint64]:
        """The weight of each observed row of a view."""
        return self._weights[view.samples]


def repeated_columns(groups: Sequence[Sequence[tuple[str, str]]]) -> list[Finding]:
    """One finding per view for columns equal to others of it, one for columns equal across views."""
    inside: dict[str, list[list[str]]] = defaultdict(list)
    across: list[list[tuple[str, str]]] = []
    for group in groups:
        if len({view for view, _ in group}) > 1:
            if not any(set(group) <= set(other) for other in across):  # found by values and by name
                across.append(list(group))
        else:
            inside[group[0][0]].append([column for _, column in group])
    findings = []
    for view, equal in inside.items():
        shown = "; ".join(" = ".join(map(repr, columns[:4])) for columns in equal[:5])
        columns = [column for group in equal for column in group[1:]]
        findings.append(
            Finding(
                "duplicated_columns",
                "note",
                f"{_columns(len(columns), view)} the same values as another: {shown}{_and_more(len(equal), 5)}.",
                "Keep one of each (--leave-out COL drops a column).",
                view,
                tuple(columns[:_FIRST]),
                count=len(columns),
            )
        )
    if across:
        shown = "; ".join(" = ".join(f"'{column}' of '{view}'" for view, column in group[:4]) for group in across[:5])
        findings.append(
            Finding(
                "columns_repeated_across_views",
                "warning",
                f"Columns of different views hold the same values: {shown}{_and_more(len(across), 5)}.",
                "Keep each in one view (--leave-out VIEW:COL): views that share a column agree for no reason.",
                columns=tuple(column for group in across for _, column in group)[:_FIRST],
                count=len(across),
            )
        )
    return findings


def _columns(count: int, view: str) -> str:
    return f"1 column of view '{view}' has" if count == 1 else f"{count} columns of view '{view}' have"


def _and_more(count: int, shown: int) -> str:
    return f" and {count - shown} more" if count > shown else ""


def repeated_rows(tables: AlignedTables, hashes: RowHashes, codes: NDArray[np.intp] | None) -> list[Finding]:
    """Samples whose rows in one view are equal although that is no coincidence."""
    view = hashes.view
    n_rows = len(view.rows)
    log_pairs = 2 * np.log(max(n_rows, 1)) - np.log(2)
    if n_rows < 2 or log_pairs + _INDEPENDENT * hashes.log_agreement > np.log(_EXPECTED):
        return []
    repeated = pd.Series(hashes.values).duplicated(keep=False).to_numpy() & (hashes.values != 0)
    if not repeated.any():
        return []
    places = pd.Series(np.flatnonzero(repeated))
    groups = [rows.to_numpy() for _, rows in places.groupby(hashes.values[repeated], sort=False)]
    named: list[Any] = [list(map(str, tables.ids[view.samples[rows[:4]]])) for rows in groups]
    shown = "; ".join(" = ".join(map(repr, ids)) for ids in named[:5])
    count = sum(len(rows) - 1 for rows in groups)
    at_odds = 0 if codes is None else sum(_is_at_odds(codes[view.samples[rows]]) for rows in groups)
    message = f"Some samples have identical rows in view '{view.table.name}': {shown}{_and_more(len(groups), 5)}."
    return [
        Finding(
            "duplicated_rows",
            "warning" if at_odds else "note",
            message + (f" {at_odds} of these {len(groups)} groups hold different labels." if at_odds else ""),
            "Check whether one sample stands under several ids: a copy in both training and test rows flatters scores.",
            view.table.name,
            ids=tuple(label for ids in named for label in ids)[:_FIRST],
            count=count,
        )
    ]


def _is_at_odds(codes: NDArray[np.intp]) -> bool:
    return len(np.unique(codes[codes >= 0])) > 1
