"""Which column holds the sample ids, and the ids as text."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from coview.exceptions import ViewError
from coview.files._layout import is_id_name
from coview.files._marks import is_number_like
from coview.views import Finding, some

__all__ = ["IdChoice", "choose_id", "clean_ids", "find_given", "spaces_in_ids"]

_FEW_NUMBERS = 3
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
        if not (sure[0] and _counts(cells_of(sure[0])) and _tells_apart(cells_of(0))):
            return IdChoice(sure[0], names[sure[0]], f"{names[sure[0]]} (by its name)")
    if names and (names[0] == "" or names[0] == "Unnamed: 0"):
        return IdChoice(0, names[0], "the first column (no name, so row names)")
    for place, name in enumerate(names[:_NEAR_START]):
        if is_id_name(name, weak=True) and (place == 0 or name.casefold().endswith("id")):
            return IdChoice(place, name, f"{name} (by its name)", needed=0.5)
    if len(names) > 1 and not any(is_number_like(cell) for cell in cells_of(0)):
        return IdChoice(0, names[0], f"{names[0]} (first column, text, all different)", needed=1.0)
    return IdChoice(None)


def _counts(cells: list[str]) -> bool:
    """Whether cells are a few small numbers over and over, as of a word called 'id' among columns of words."""
    return len(cells) > _FEW_NUMBERS and len(set(cells)) <= _FEW_NUMBERS and all(map(is_number_like, cells))


def _tells_apart(cells: list[str]) -> bool:
    """Whether cells are text, and all different."""
    return len(set(cells)) == len(cells) and not any(map(is_number_like, cells))


def clean_ids(
    written: pd.Series, name: str, where: str, line_of: Callable[[Sequence[int]], list[int]]
) -> tuple[pd.Index, list[Finding]]:
    """Ids as an index of text, and what is odd about them.

    Raises
    ------
    ViewError
        If an id is empty.
    """
    empty = np.flatnonzero((written == "").to_numpy())
    if len(empty):
        lines = ", ".join(map(str, line_of(empty[:5].tolist())))
        raise ViewError(
            f"{where}: the id column '{name}' is empty in {len(empty)} row(s), first in line(s) {lines}. "
            "Fill in the ids, or name another id column (--id)."
        )
    return pd.Index(written, dtype=str, name=None), _about_decimals(written, name, where)


def _about_decimals(ids: pd.Series, name: str, where: str) -> list[Finding]:
    with_point = ids[ids.str.contains(".", regex=False)]
    decimals = with_point[with_point.str.fullmatch(r"\d+\.0+")].tolist()
    if not decimals:
        return []
    return [
        Finding(
            "float_ids",
            "warning",
            f"{where}: {len(decimals)} ids in column '{name}' are written with a decimal point, such as "
            f"{some(decimals[:2])}; they were kept as written and do not match '{decimals[0].split('.')[0]}'.",
            "Use --almost-equal join if other files write them without it.",
            ids=tuple(decimals[:5]),
            count=len(decimals),
        )
    ]


def spaces_in_ids(count: int, name: str, where: str) -> Finding:
    """What is said about ids that had spaces around them."""
    return Finding(
        "spaces_in_ids",
        "note",
        f"{where}: {count} ids in column '{name}' had spaces around them, which were dropped.",
        count=count,
    )
