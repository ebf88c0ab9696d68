"""Which column holds the sample ids, and the ids as text."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.exceptions import ViewError
from coview.files._layout import is_id_name
from coview.files._marks import is_number_like
from coview.views import Finding, some

__all__ = ["IdChoice", "choose_id", "clean_ids", "find_given"]

_NEAR_START = 3  # names that end in "id" count only this far from the left


@dataclass(frozen=True)
class IdChoice:
    """The column that may hold the ids.

    Attributes
    ----------
    position : int or None
    name : str
        Name of the column.
    said : str
        Which it is, and why it was taken.
    needed : float
        Share of the ids that must differ for the guess to hold; 0 if it is sure.
    """

    position: int | None
    name: str = ""
    said: str = ""
    needed: float = 0.0

    def holds(self, ids: pd.Series) -> bool:
        """Whether a column is what was guessed, seen whole."""
        return not self.needed or (len(ids) > 0 and ids.nunique() >= self.needed * len(ids))


def find_given(names: Sequence[str], wanted: str, where: str) -> int:
    """Position of the id column that the user named; case may differ.

    Raises
    ------
    ViewError
        If there is no such column, or several that differ only in case.
    """
    names = list(names)
    if wanted in names:
        return names.index(wanted)
    same = [place for place, name in enumerate(names) if name.casefold() == wanted.strip().casefold()]
    if len(same) == 1:
        return same[0]
    if same:
        raise ViewError(
            f"{where}: the id column '{wanted}' could be {some(names[place] for place in same)}. Write it as there."
        )
    near = difflib.get_close_matches(wanted, names[:5000], n=3, cutoff=0.6) or [name for name in names if name][:5]
    raise ViewError(f"{where}: there is no column '{wanted}' for the ids. Did you mean {some(near)}?")


def choose_id(names: Sequence[str], wanted: str | None, where: str, cells_of: Callable[[int], list[str]]) -> IdChoice:
    """The id column as named, or as guessed from the names and the first cells of a column (``cells_of``)."""
    if wanted is not None:
        place = find_given(names, wanted, where)
        said = names[place] if names[place] == wanted else f"{names[place]} (for '{wanted}')"
        return IdChoice(place, names[place], said)
    sure = [place for place, name in enumerate(names) if is_id_name(name)]
    if sure:
        sure.sort(key=lambda place: len(set(cells := cells_of(place))) < len(cells))  # the first that does not repeat
        return IdChoice(sure[0], names[sure[0]], f"{names[sure[0]]} (by its name)")
    if names and (names[0] == "" or names[0] == "Unnamed: 0"):
        return IdChoice(0, names[0], "the first column (no name, so row names)")
    for place, name in enumerate(names[:_NEAR_START]):
        if is_id_name(name, weak=True) and (place == 0 or name.casefold().endswith("id")):
            return IdChoice(place, name, f"{name} (by its name)", needed=0.5)
    if len(names) > 1 and not any(is_number_like(cell) for cell in cells_of(0)):
        return IdChoice(0, names[0], f"{names[0]} (first column, text, all different)", needed=1.0)
    return IdChoice(None)


def clean_ids(
    written: NDArray[np.object_], name: str, where: str, line_of: Callable[[Sequence[int]], list[int]]
) -> tuple[pd.Index, list[Finding]]:
    """Ids without outer spaces, and what is odd about them.

    Raises
    ------
    ViewError
        If an id is empty.
    """
    ids = pd.Series(written, dtype=object)
    stripped = ids.map(str.strip)
    findings = []
    n_spaced = int((stripped.to_numpy() != ids.to_numpy()).sum())
    if n_spaced:
        findings.append(
            Finding(
                "spaces_in_ids",
                "note",
                f"{where}: {n_spaced} ids in column '{name}' had spaces around them, which were dropped.",
                count=n_spaced,
            )
        )
    empty = np.flatnonzero((stripped == "").to_numpy())
    if len(empty):
        lines = ", ".join(map(str, line_of(empty[:5].tolist())))
        raise ViewError(
            f"{where}: the id column '{name}' is empty in {len(empty)} row(s), first in line(s) {lines}. "
            "Fill in the ids, or name another id column (--id)."
        )
    text = pd.Index(stripped, dtype=str)
    decimals = text.str.fullmatch(r"\d+\.0+")
    if decimals.any():
        findings.append(
            Finding(
                "float_ids",
                "warning",
                f"{where}: {int(decimals.sum())} ids in column '{name}' are written with a decimal point, such as "
                f"{some(text[decimals][:2])}; they were kept as written and do not match '{text[decimals][0].split('.')[0]}'.",
                "Use --almost-equal join if other files write them without it.",
                ids=tuple(text[decimals][:5]),
                count=int(decimals.sum()),
            )
        )
    return text, findings
