"""How a text file writes a table, found out from its first lines."""

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coview.exceptions import ViewError
from coview.files._layout import TableStart, find_start, table_width
from coview.files._source import Encoding, Source

__all__ = ["WHITESPACE", "Dialect", "Row", "csv_rows", "find_dialect", "read_head"]

WHITESPACE = "whitespace"
_HEAD = 2**20  # bytes looked at, more where lines are longer
_LONGEST_HEAD = 2**28
_FEWEST_LINES = 6
_MOST_ROWS = 200
_MOST_CELLS = 5_000
_SEPARATORS = ("\t", ";", "|", ",")
_SPELLED = {"tab": "\t", "\\t": "\t", " ": WHITESPACE, "space": WHITESPACE, WHITESPACE: WHITESPACE, "\\s+": WHITESPACE}
_HINT = re.compile(
    r"(?:sep=|\"sep=(?=.\"))([^\r\n\"])\"?(?=[\r\n])"
)  # the first line by which some programs tell Excel the separator
_EXPONENT = r"(?:[eE][+-]?\d+)?"


@dataclass(frozen=True)
class Row:
    """Cells of one row, and where it ends."""

    cells: list[str]
    line: int  # last line of it, counted from 1
    end: int  # characters up to its end


@dataclass(frozen=True)
class Dialect:
    """How a text file writes a table.

    Attributes
    ----------
    separator : str
        One character, or ``WHITESPACE`` for runs of spaces and tabs.
    spaced : bool
        Whether a space may follow the separator before a quote mark.
    decimal : str
    is_decimal_sure : bool
        Whether cells decided about the decimal mark.
    start : TableStart
    rows : list of Row
        The first rows, lines above the table among them.
    """

    separator: str
    spaced: bool
    decimal: str
    is_decimal_sure: bool
    start: TableStart
    rows: list[Row]

    @property
    def separator_words(self) -> str:
        """The separator as it is told."""
        return {"\t": "tab", WHITESPACE: "spaces"}.get(self.separator, f'"{self.separator}"')


def read_head(source: Source, encoding: Encoding) -> tuple[str, bool]:
    """The first lines of a file, and whether they are all of it."""
    decoder = codecs.getincrementaldecoder(encoding.name)(errors="strict")
    parts: list[str] = []
    n_bytes = n_lines = 0
    for number, block in enumerate(source.blocks()):
        parts.append(decoder.decode(block[encoding.n_mark :] if number == 0 else block))
        n_bytes += len(block)
        n_lines += parts[-1].count("\n") or parts[-1].count("\r")
        if n_bytes >= _HEAD and (n_lines >= _FEWEST_LINES or n_bytes >= _LONGEST_HEAD):
            return "".join(parts), False
    return "".join(parts), True


def csv_rows(lines: Iterator[str], separator: str, *, spaced: bool, path: Path) -> Iterator[tuple[list[str], int]]:
    """Cells of each row, and the number of lines read so far."""
    if separator == WHITESPACE:
        lines = (re.sub(r"[ \t]+", " ", line.strip(" \t\r\n")) for line in lines)
    reader = csv.reader(
        lines,
        delimiter=" " if separator == WHITESPACE else separator,
        skipinitialspace=spaced or separator == WHITESPACE,
    )
    usual = csv.field_size_limit(2**31 - 1)  # a cell may hold a whole document
    try:
        for cells in reader:
            yield cells, reader.line_num
    except csv.Error as error:
        raise ViewError(f"{path}, line {reader.line_num}: {error}. Repair the line.") from error
    finally:
        csv.field_size_limit(usual)


def find_dialect(source: Source, head: str, at_end: bool, separator: str | None, decimal: str | None) -> Dialect:
    """The dialect of a file from its first characters."""
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", head)
    if not at_end and len(lines) > 1:
        lines = lines[:-1]
    lines = _first_lines(lines)
    hint = _HINT.match(head)
    if separator is None:
        separator = hint[1] if hint else _guess_separator(lines, source.path)
    else:
        separator = _SPELLED.get(separator, separator)
        if separator != WHITESPACE and len(separator) != 1:
            raise ViewError(
                f"The separator must be one character, 'tab' or 'space'; got '{separator}'. Leave it out to have it guessed."
            )
    if decimal not in (None, ".", ","):
        raise ViewError(f"The decimal mark must be '.' or ','; got '{decimal}'.")
    spaced = f'{separator} "' in head
    rows = _sample(lines, separator, spaced, source.path)
    filled = [row for row in rows if any(cell.strip() for cell in row.cells)]
    if not filled:
        raise ViewError(f"{source.path} holds blank lines only. Save the table again, with one line per sample.")
    if hint and len(filled) < 2:
        raise ViewError(f"{source.path} holds no table below its first line. Save the table again.")
    start = _start_below(rows, 1 if hint else 0)
    guessed, sure = _guess_decimal(rows[start.first :], separator)
    return Dialect(separator, spaced, decimal or guessed, sure or decimal is not None, start, rows)


def _start_below(rows: Sequence[Row], n_above: int) -> TableStart:
    """Where the table begins, below some rows that are none of it."""
    start = find_start([row.cells for row in rows[n_above:]])
    header = None if start.header is None else start.header + n_above
    return replace(start, header=header, first=start.first + n_above)


def _first_lines(lines: Sequence[str]) -> list[str]:
    """Lines enough to tell the dialect."""
    kept, n_characters = [], 0
    for line in lines[: 3 * _MOST_ROWS]:
        kept.append(line)
        n_characters += len(line)
        if n_characters > _HEAD and len(kept) >= _FEWEST_LINES:
            break
    return kept


def _sample(lines: Sequence[str], separator: str, spaced: bool, path: Path) -> list[Row]:
    ends = [0]
    for line in lines:
        ends.append(ends[-1] + len(line))
    rows = []
    for cells, last in csv_rows(iter(lines), separator, spaced=spaced, path=path):
        rows.append(Row(cells, last, ends[last]))
        if len(rows) >= _MOST_ROWS:
            break
    return rows


def _guess_separator(lines: Sequence[str], path: Path) -> str:
    """The separator under which the rows are equally wide, from the first row on."""
    best, best_key = ",", (-1.0, -99.0)
    for rank, separator in enumerate((*_SEPARATORS, WHITESPACE)):
        if separator != WHITESPACE and not any(separator in line for line in lines):
            continue
        rows = [row for row in _sample(lines, separator, separator == WHITESPACE, path) if row.cells]
        widths = [len(row.cells) for row in rows]
        width = table_width(widths or [0])
        if width < 2:
            continue
        agreeing = [w == width for w in widths]
        start = agreeing.index(True)
        if start and widths[start - 1] == width - 1:
            start -= 1  # a header without a name for the row names
        share = sum(agreeing[start:]) / max(1, len(agreeing[start:]) - (not agreeing[start]))
        if separator == WHITESPACE and (start or share < 1 or best_key[0] >= 0 or not _mostly_numbers(rows)):
            continue
        if share < 0.5:
            continue
        key = (round(min(share, 1.0), 2), -min(start, 90) - rank / 10)
        if key > best_key:
            best, best_key = separator, key
    return best


def _mostly_numbers(rows: Sequence[Row]) -> bool:
    cells = [cell for row in rows[1:] for cell in row.cells[1:]]
    plain = sum(re.fullmatch(r"[+-]?[\d.,]+" + _EXPONENT, cell) is not None for cell in cells)
    return plain >= 0.5 * len(cells)


def _sure(point: str, group: str) -> re.Pattern[str]:
    """Numbers that can only be read with this decimal mark: 0,5 or 12,34 or 1.234,5 or 1.234.567 for a comma."""
    return re.compile(
        rf"[+-]?(?:0?{point}\d+|0\d*{point}\d+|\d+{point}\d{{1,2}}|\d+{point}\d{{4,}}|\d{{4,}}{point}\d+|"
        rf"\d{{1,3}}(?:{group}\d{{3}})+{point}\d*|\d{{1,3}}(?:{group}\d{{3}}){{2,}}|\d+{point}\d+[eE][+-]?\d+)"
    )


_POINT_SURE, _COMMA_SURE = _sure(r"\.", ","), _sure(",", r"\.")
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}")


def _guess_decimal(rows: Sequence[Row], separator: str) -> tuple[str, bool]:
    """The decimal mark, and whether there is nothing that speaks for another reading."""
    n_cells = 0
    point = comma = either_point = either_comma = 0
    for row in rows:
        for cell in row.cells[: _MOST_CELLS // 4]:
            cell = cell.strip()
            if "." not in cell and "," not in cell:
                continue
            point += _POINT_SURE.fullmatch(cell) is not None
            comma += _COMMA_SURE.fullmatch(cell) is not None
            either = _EITHER.fullmatch(cell)
            either_comma += either is not None and either[1] == ","
            either_point += either is not None and either[1] == "."
        n_cells += len(row.cells)
        if n_cells > _MOST_CELLS:
            break
    if point or comma:
        return ("," if comma > point else "."), True
    if either_comma and separator == ";":
        return ",", False
    return ".", not (either_comma or (either_point and separator == ";"))
