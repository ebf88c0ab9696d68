"""What stands for a missing value, and what a number looks like."""

import re
from collections.abc import Sequence

__all__ = ["ERROR_CELLS", "SOFT_MARKS", "SURE_MARKS", "Numerals", "given_marks", "is_number_like", "missing_words"]

ERROR_CELLS = ("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!")
# Missing in any column. An empty cell always is.
SURE_MARKS = (
    *("NA", "N/A", "n/a", "na", "N.A.", "n.a.", "NaN", "nan", "NAN", "-NaN", "-nan", "<NA>", "#NA", "#N/A N/A"),
    *("NULL", "null", "Null", "NaT", "?", ".", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    *ERROR_CELLS,
)
# Missing where the other cells of a column are numbers; elsewhere they may be a category.
SOFT_MARKS = (
    *("-", "--", "---", "*", "None", "none", "NONE", "missing", "Missing", "MISSING"),
    *("unknown", "Unknown", "UNKNOWN", "ND", "nd", "n.d.", "N.D."),
)
_GROUP_MARKS = (",", ".", " ", "'", "’", "\u00a0", "\u202f")


class Numerals:
    """How numbers are written with one decimal mark and perhaps one mark between groups of three digits.

    Parameters
    ----------
    decimal : str
    thousands : str
        Empty for none.
    """

    def __init__(self, decimal: str, thousands: str = "") -> None:
        self.decimal = decimal
        self.thousands = thousands
        point = re.escape(decimal)
        whole = r"\d+"
        if thousands:
            whole = rf"(?:\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+|\d+)"
        self.pattern = rf"[+-]?(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf|Inf|INF|[Ii]nfinity)"

    @classmethod
    def readings(cls, decimal: str, *, both: bool) -> "list[Numerals]":
        """The ways to read numbers, best first; ``both`` allows the other decimal mark too."""
        # 1,234 is a number of thousands where the decimal mark is a point, and 1.234 where it is a comma.
        marks = [decimal, "," if decimal == "." else "."] if both else [decimal]
        return [
            cls(mark, group) for mark in marks for group in ("", *(group for group in _GROUP_MARKS if group != mark))
        ]


_ANY_NUMBER = re.compile("|".join(f"(?:{Numerals(mark, group).pattern})" for mark, group in ((".", ","), (",", "."))))


def is_number_like(cell: str) -> bool:
    """Whether a cell is a number in some way of writing numbers."""
    return _ANY_NUMBER.fullmatch(cell.strip().replace("\u00a0", "").replace("'", "")) is not None


def missing_words(counts: dict[str, int], n_empty: int) -> str:
    """The marks that were met, most frequent first: ``"NA" (12), empty (3)``."""
    words = [f'"{mark}" ({count})' for mark, count in sorted(counts.items(), key=lambda item: -item[1]) if count > 0]
    return ", ".join([*words, *([f"empty ({n_empty})"] if n_empty > 0 else [])])


def given_marks(missing: Sequence[str] | None) -> tuple[str, ...] | None:
    """The marks that a user named, without the empty cell, which always counts; None to guess."""
    return None if missing is None else tuple(mark for mark in dict.fromkeys(missing) if mark)
