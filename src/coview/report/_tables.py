"""Tables of text for the page and for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

Format = str | Callable[[Any], str]
Columns = dict[str, tuple[str, Format]]
DASH = "\N{EN DASH}"


@dataclass(frozen=True)
class Table:
    """A table of finished text.

    Attributes
    ----------
    caption : str
        What the rows are.
    columns : tuple of str
        Headings.
    rows : tuple of tuple of str
        Cells.
    numeric : tuple of bool
        Columns set flush right.
    strong : frozenset of int
        Rows that stand out.
    scroll : bool
        Whether the page shows it in a box of limited height.
    folded : bool
        Whether the page shows it only when asked.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    strong: frozenset[int] = frozenset()
    scroll: bool = False
    folded: bool = False
    kind: str = "table"

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        caption: str,
        columns: Columns,
        *,
        strong: Iterable[Any] = (),
        scroll: bool = False,
        folded: bool = False,
    ) -> Self:
        """Chosen columns of a frame as text.

        Parameters
        ----------
        frame : DataFrame
            The numbers.
        caption : str
            What the rows are.
        columns : dict
            Column of the frame -> (heading, format). A format is ``""`` for text, a format specification such as
            ``".3f"``, or a function of the value. Missing values become a dash.
        strong : iterable of bool, default=()
            Rows that stand out.
        scroll : bool, default=False
            Whether the page shows it in a box of limited height.
        folded : bool, default=False
            Whether the page shows it only when asked.

        Returns
        -------
        table : Table
        """
        cells = [[_cell(value, form) for value in frame[name]] for name, (_, form) in columns.items()]
        return cls(
            caption=caption,
            columns=tuple(heading for heading, _ in columns.values()),
            rows=tuple(zip(*cells, strict=True)),
            numeric=tuple(form != "" for _, form in columns.values()),
            strong=frozenset(i for i, flag in enumerate(strong) if flag),
            scroll=scroll,
            folded=folded,
        )

    def as_text(self, *, indent: str = "  ") -> list[str]:
        """The table as aligned lines of plain text, headings first."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        return [
            (indent + "  ".join(_pad(c, w, n) for c, w, n in zip(line, widths, self.numeric, strict=True))).rstrip()
            for line in lines
        ]


def _cell(value: Any, form: Format) -> str:
    """One value as text, a dash where it is missing."""
    if value is None or (not isinstance(value, str) and pd.isna(value)):
        return DASH
    if callable(form):
        return form(value)
    return format(value, form) if form else str(value)


def _pad(cell: str, width: int, numeric: bool) -> str:
    """Flush right for numbers, flush left for text."""
    return cell.rjust(width) if numeric else cell.ljust(width)


def signed(value: float) -> str:
    """Three digits with a sign, the minus sign of typography."""
    return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")


def percent(value: float) -> str:
    """A share as whole percent."""
    return f"{value:.0%}"
