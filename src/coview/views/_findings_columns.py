"""Columns that say nothing, or not what they seem to say; gathered block by block, told view by view."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from coview.views._findings import Finding, Level, column_finding
from coview.views._findings_blocks import ColumnBlock, ObservedView, SortedBlock
from coview.views._findings_sentinels import SentinelCells, sentinel_cells, sentinel_findings
from coview.views._findings_text import TextNotes, look_at_text, text_findings
from coview.views._ids import some

__all__ = ["ColumnNotes"]

_NEAR = 0.98  # share of the most frequent value from which a column is nearly constant
_FEWEST_ROWS = 20  # fewer say little about how a column is spread
_CODE_ROWS, _MOST_CODES = 50, 8  # rows needed, and most distinct whole numbers, to ask whether they are categories
_SCALES = 1e6  # ratio of spreads worth a note

_DROP = "Nothing can be learnt from that; --leave-out COL drops a column."


@dataclass
class ColumnNotes:
    """What the blocks of one view gave.

    Attributes
    ----------
    view : ObservedView
    named : dict of str to list of str
        Columns by the kind of thing found in them.
    infinite : dict of str to int
        Number of infinite cells by column.
    spreads : list of tuple
        Smallest and largest spread of the number columns of each block, with their columns.
    sentinels : list of SentinelCells
    text : TextNotes
    filled : ndarray of shape (n_rows,), dtype=bool
        Rows that hold a category or a number other than 0.
    """

    view: ObservedView
    named: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    infinite: dict[str, int] = field(default_factory=dict)
    spreads: list[tuple[float, str]] = field(default_factory=list)
    sentinels: list[SentinelCells] = field(default_factory=list)
    text: TextNotes = field(default_factory=TextNotes)

    def __post_init__(self) -> None:
        self.filled = np.zeros(len(self.view.rows), dtype=bool)

    def add(self, block: ColumnBlock, ordered: SortedBlock) -> None:
        """Look at some columns."""
        n_rows = block.cells.shape[1]
        observed = ordered.n_observed
        single = (ordered.n_distinct == 1) & (observed > 1)
        near = (ordered.longest_run >= _NEAR * observed) & (observed >= _FEWEST_ROWS) & (ordered.n_distinct > 1)
        self._note("all_missing", block, observed == 0)
        self._note("constant_columns", block, single & (observed == n_rows))
        self._note("constant_where_observed", block, single & (observed < n_rows))
        self._note("nearly_constant", block, near)
        if block.categories is None:
            self._add_numbers(block, ordered)
            self.filled |= (np.nan_to_num(block.cells) != 0).any(axis=0)
        else:
            self.filled |= ~np.isnan(block.cells).all(axis=0)
            look_at_text(self.text, block, ordered)

    def _note(self, code: str, block: ColumnBlock, chosen: NDArray[np.bool_]) -> None:
        self.named[code] += [block.names[place] for place in np.flatnonzero(chosen)]

    def _add_numbers(self, block: ColumnBlock, ordered: SortedBlock) -> None:
        for place in np.flatnonzero(block.infinite):
            self.infinite[block.names[place]] = int(block.infinite[place])
        with np.errstate(over="ignore"):
            spread = ordered.largest - ordered.smallest
        whole = ordered.whole & (ordered.n_observed >= _FEWEST_ROWS)
        serial = whole & (ordered.n_distinct == ordered.n_observed) & (spread + 1 <= 1.05 * ordered.n_observed)
        for place in np.flatnonzero(serial):  # only in the order of the rows: ranks are whole and distinct, too
            serial[place] = (np.abs(np.diff(ordered.order[place, : ordered.n_observed[place]])) == 1).all()
        self._note("identifier_columns", block, serial)
        few = whole & (ordered.n_distinct >= 3) & (ordered.n_distinct <= _MOST_CODES)
        small = (ordered.n_observed >= _CODE_ROWS) & (spread < 2 * _MOST_CODES) & (np.abs(ordered.largest) < 100)
        self._note("integer_codes", block, few & small)
        sentinels = sentinel_cells(block, ordered)
        self.sentinels += sentinels
        coded = np.isin(block.names, [cells.column for cells in sentinels])
        varied = np.flatnonzero((ordered.n_distinct > 2) & (spread > 0) & ~coded)
        if len(varied):
            for place in (varied[spread[varied].argmin()], varied[spread[varied].argmax()]):
                self.spreads.append((float(spread[place]), block.names[place]))

    def findings(self) -> list[Finding]:
        """What there is to tell about the view."""
        name = self.view.table.name
        return [
            *self._unusable(name),
            *self._infinite(name),
            *self._empty(name),
            *sentinel_findings(name, self.view.table.n_features, self.sentinels),
            *self._identifiers(name),
            *text_findings(name, self.text),
            *self._curious(name),
        ]

    def _unusable(self, view: str) -> list[Finding]:
        """Columns of a kind that no encoding exists for."""
        if self.view.is_sparse:
            return []
        names, usable = self.view.names, {"number", "category", "text", "numbers and text"}
        found = [(names[place], kind) for place, kind in enumerate(self.view.kinds) if kind not in usable]
        if not found:
            return []
        kinds = ", ".join(dict.fromkeys(kind for _, kind in found))
        advice = (
            "Turn dates into numbers (days since a day), anything else into numbers or words; or give --leave-out COL."
        )
        columns = [name for name, _ in found]
        text = f"no number, category or text ({kinds})"
        return [column_finding("unusable_columns", "error", view, columns, f"holds {text}", f"hold {text}", advice)]

    def _infinite(self, view: str) -> list[Finding]:
        if not self.infinite:
            return []
        columns, count = list(self.infinite), sum(self.infinite.values())
        cells = "1 infinite value" if count == 1 else f"{count} infinite values"
        message = f"View '{view}' holds {cells}, in {some(columns)}."
        advice = "Empty these cells where the value is not known; take the logarithm or a cap where it overflowed."
        return [Finding("infinite_values", "error", message, advice, view, tuple(columns[:20]), count=count)]

    def _empty(self, view: str) -> list[Finding]:
        """Columns without information."""
        told: list[tuple[str, Level, str, str, str, str]] = [
            ("all_missing", "warning", "{} no value at all", "has", "have", _DROP),
            ("constant_columns", "note", "{} the same value for every sample", "has", "have", _DROP),
            ("constant_where_observed", "note", "{} one value only, or a gap", "has", "have", ""),
            ("nearly_constant", "note", "{} one value for at least 98 % of the samples", "has", "have", ""),
        ]
        return [
            column_finding(code, level, view, self.named[code], text.format(one), text.format(several), advice)
            for code, level, text, one, several, advice in told
            if self.named[code]
        ]

    def _identifiers(self, view: str) -> list[Finding]:
        columns = self.named["identifier_columns"]
        if not columns:
            return []
        advice = "Leave row numbers out (--leave-out COL), or give --id COL if they are the sample ids."
        one, several = "numbers the rows", "number the rows"
        return [column_finding("identifier_columns", "warning", view, columns, one, several, advice)]

    def _curious(self, view: str) -> list[Finding]:
        """Notes on whole numbers that may be categories, and on scales."""
        findings = []
        codes = self.named["integer_codes"]
        if codes:
            advice = "If they are codes without an order, write them as words (as 'type 2') to have them as categories."
            findings.append(
                column_finding(
                    "integer_codes",
                    "note",
                    view,
                    codes,
                    "holds few different whole numbers and counts as a number",
                    "hold few different whole numbers and count as numbers",
                    advice,
                )
            )
        if self.spreads:
            (low, narrow), (high, wide) = min(self.spreads), max(self.spreads)
            if high > _SCALES * low:
                message = (
                    f"The columns of view '{view}' differ in scale: '{narrow}' spans {low:.3g}, '{wide}' {high:.3g}."
                )
                advice = "They are brought to one scale before a fit; a logarithm may serve counts and sizes better."
                findings.append(Finding("different_scales", "note", message, advice, view, (narrow, wide), count=2))
        return findings
