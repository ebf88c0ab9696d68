"""From parsed cells to features and ids: rows and columns without content dropped, ids taken out, columns named."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.exceptions import ViewError
from coview.files._cells import CellRules
from coview.files._ids import IdChoice, clean_ids, spaces_in_ids
from coview.views import Finding, some

__all__ = ["drop_empty", "name_columns", "take_ids", "without_column"]


def drop_empty(
    frame: pd.DataFrame,
    id_at: int | None,
    findings: list[Finding],
    where: str,
    blank_among: Callable[[Sequence[int]], list[int]],
) -> tuple[pd.DataFrame, NDArray[np.intp]]:
    """The frame without rows that hold nothing at all, and the positions of the rows that are left.

    Rows without ids to tell them apart are dropped at the end only, where spreadsheets leave them, and only if their
    cells are empty rather than marks of missing values (``blank_among`` some rows).

    Raises
    ------
    ViewError
        If nothing is left.
    """
    rows = np.arange(len(frame))
    if id_at is not None:
        candidates = np.flatnonzero((frame.iloc[:, id_at] == "").to_numpy())
        others = without_column(frame, id_at)
    else:
        candidates = np.flatnonzero(frame.iloc[:, -1].isna().to_numpy())
        others = frame
    if not len(candidates):
        return frame, rows
    empty = candidates[others.iloc[candidates].isna().all(axis=1).to_numpy()]
    if id_at is None:
        empty = _at_the_end(empty, len(frame))
        empty = np.array(blank_among(empty.tolist()), dtype=np.intp) if len(empty) else empty
        empty = _at_the_end(empty, len(frame))
    if not len(empty):
        return frame, rows
    if len(empty) == len(frame):
        raise ViewError(f"{where} has a header and only empty rows below it. Save the table again.")
    message = f"{where}: {len(empty)} row(s) without any content were dropped."
    findings.append(Finding("empty_rows", "note", message, count=len(empty)))
    rows = np.delete(rows, empty)
    return frame.iloc[rows].reset_index(drop=True), rows


def _at_the_end(positions: NDArray[np.intp], n_rows: int) -> NDArray[np.intp]:
    """Those of some increasing positions that reach to the last row without a gap."""
    reach: NDArray[np.bool_] = positions - np.arange(len(positions)) == n_rows - len(positions)
    return positions[reach]


def take_ids(
    frame: pd.DataFrame, choice: IdChoice, rules: CellRules, findings: list[Finding], n_spaced: int
) -> tuple[pd.Index | None, pd.DataFrame]:
    """The ids, where the guess of their column holds, and the columns that are left."""
    place = choice.position
    if place is None:
        return None, frame
    written = frame.iloc[:, place]
    if not choice.holds(written):
        return None, frame
    ids, odd = clean_ids(written, choice.name, rules.where, rules.lines_of)
    if n_spaced:
        findings.append(spaces_in_ids(n_spaced, choice.name, rules.where))
    findings += odd
    return ids, without_column(frame, place)


def without_column(frame: pd.DataFrame, place: int) -> pd.DataFrame:
    """The other columns; not copied where they stand beside each other."""
    if place == 0:
        return frame.iloc[:, 1:]
    if place == frame.shape[1] - 1:
        return frame.iloc[:, :-1]
    return frame.iloc[:, np.delete(np.arange(frame.shape[1]), place)]


def name_columns(frame: pd.DataFrame, places: Sequence[int], findings: list[Finding], where: str) -> pd.DataFrame:
    """The frame with every column named; one at the end that has neither name nor content is dropped.

    ``places`` are the columns' positions in the file, counted from 0.
    """
    names = [str(name) for name in frame.columns]
    if "" not in names:
        return frame
    n_dropped = 0
    while names and names[-1] == "" and frame.iloc[:, len(names) - 1].isna().all():
        names.pop()
        n_dropped += 1
    if n_dropped:
        frame = frame.iloc[:, : len(names)]
        findings.append(
            Finding(
                "empty_columns",
                "note",
                f"{where}: {n_dropped} column(s) at the right without name and content were dropped.",
                count=n_dropped,
            )
        )
    taken = set(names)
    unnamed = []
    for position, name in enumerate(names):
        if name == "":
            new = f"column_{places[position] + 1}"
            while new in taken:
                new += "_"
            names[position] = new
            taken.add(new)
            unnamed.append(new)
    if unnamed:
        findings.append(
            Finding(
                "unnamed_columns",
                "warning",
                f"{where}: {len(unnamed)} column(s) have no name and were called {some(unnamed)} by position.",
                "Name them in the file.",
                columns=tuple(unnamed[:10]),
                count=len(unnamed),
            )
        )
    return frame.set_axis(pd.Index(names, dtype=str), axis=1)
