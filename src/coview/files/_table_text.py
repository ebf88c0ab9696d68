"""Rows of a text file parsed by pandas' C reader; lines with too many or too few cells are refused by number."""

import codecs
import re
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.errors import EmptyDataError, ParserError, ParserWarning

from coview.exceptions import ViewError
from coview.files._dialect import WHITESPACE, Dialect, csv_rows
from coview.files._source import Encoding, Source, Utf8Stream

__all__ = ["TextTable"]

_CELLS_AT_ONCE = 2**18  # more leaves the processor's caches
_FEWEST_ROWS = 1_024  # fewer cost more by column than by cell
_WIDE = 500  # from here on columns of text cost more as Arrow arrays, each by itself, than as Python's strings
_SHIELD = "\ue000"  # a letter for private use, before each id, so that no id is a mark of a missing value


@dataclass(frozen=True)
class TextTable:
    """A text file whose encoding and dialect are known.

    Attributes
    ----------
    source : Source
    encoding : Encoding
    is_quoted : bool
        Whether there is a quote mark anywhere.
    dialect : Dialect
    width : int
        Number of columns.
    """

    source: Source
    encoding: Encoding
    is_quoted: bool
    dialect: Dialect
    width: int

    @property
    def n_skipped(self) -> int:
        """Characters before the first sample."""
        first = self.dialect.start.first
        return self.dialect.rows[first - 1].end if first else 0

    @property
    def first_line(self) -> int:
        """Line of the first sample, unless blank lines stand before it."""
        first = self.dialect.start.first
        return self.dialect.rows[first - 1].line + 1 if first else 1

    def stream(self) -> Utf8Stream:
        """The samples as UTF-8."""
        return Utf8Stream(self.source, self.encoding, self.n_skipped)

    def parse(self, marks: Sequence[str], text_at: int | None) -> pd.DataFrame:
        """All cells; columns are positions, numbers where every cell is one, and ``text_at`` exactly as written."""
        try:
            chunks = list(self._chunks(marks, converters={} if text_at is None else {text_at: _shielded}))
        except EmptyDataError:
            raise ViewError(
                f"{self.source.path} has a header and no rows below it. Save the table again, with one line per sample."
            ) from None
        frame = chunks[0] if len(chunks) == 1 else self._joined(chunks, marks)
        if text_at is not None:
            frame.isetitem(text_at, frame[text_at].str.slice(len(_SHIELD)).array)
        return frame

    def _chunks(self, marks: Sequence[str], **how: Any) -> Iterator[pd.DataFrame]:
        separator = self.dialect.separator
        n_rows = max(_FEWEST_ROWS, _CELLS_AT_ONCE // self.width)
        stream = self.stream()
        try:
            with (
                warnings.catch_warnings(action="error", category=ParserWarning),
                pd.option_context("mode.string_storage", "python" if self.width > _WIDE else "auto"),
                pd.read_csv(
                    stream,  # type: ignore[call-overload]
                    sep=r"\s+" if separator == WHITESPACE else separator,
                    decimal=self.dialect.decimal if self.dialect.decimal != separator else ".",
                    header=None,
                    names=range(self.width),
                    index_col=False,
                    na_values=["", *marks],
                    keep_default_na=False,
                    skipinitialspace=self.dialect.spaced,
                    low_memory=False,
                    iterator=True,
                    **how,
                ) as reader,
            ):
                while True:
                    chunk = reader.read(n_rows)
                    yield chunk.copy()  # which joins the columns of one dtype, each alone until then
                    if len(chunk) < n_rows:
                        return
        except StopIteration:
            return
        except (ParserError, ParserWarning) as error:
            self._refuse_open_quote(str(error))
            self.refuse_uneven_rows()
            self.refuse_uneven_rows(allowed=0)
            raise ViewError(f"{self.source.path} cannot be read as a table: {str(error).strip()}.") from error
        finally:
            stream.close()

    def _joined(self, chunks: list[pd.DataFrame], marks: Sequence[str]) -> pd.DataFrame:
        """One frame of several; columns that are text in one and numbers in another are read again as text."""
        mixed = _mixed_columns(chunks)
        frame = pd.concat(chunks, ignore_index=True)
        chunks.clear()
        if mixed:
            again = list(self._chunks(marks, usecols=mixed, dtype=str))
            text = pd.concat(again, ignore_index=True) if len(again) > 1 else again[0]
            for place in mixed:
                frame.isetitem(place, text[place].array)
        return frame

    def rows(self) -> Generator[tuple[list[str], int, int], None, None]:
        """Cells, first line and last line of each row from the first sample on, blank lines left out; slow."""
        offset = self.first_line - 1
        last = 0
        with closing(self.stream()) as stream:
            for cells, line in csv_rows(
                _lines(stream), self.dialect.separator, spaced=self.dialect.spaced, path=self.source.path
            ):
                if cells:
                    yield cells, offset + last + 1, offset + line
                last = line

    def _refuse_open_quote(self, message: str) -> None:
        """Raise if the reader's message says that a quote mark is never closed."""
        found = re.search(r"EOF inside string starting at row (\d+)", message)
        if found:
            line = self.lines_of([int(found[1])])[0]
            raise ViewError(
                f"{self.source.path}, line {line}: a quote mark is opened in this row and never closed. "
                "Close it, or double it if it belongs to the text."
            )

    def refuse_uneven_rows(self, *, allowed: int = 1) -> None:
        """Raise for the first rows that have more or fewer cells than the table has columns.

        ``allowed`` empty cells more are no harm: a delimiter at the end of the line.
        """
        found: list[str] = []
        n_found = 0
        for cells, line, last in self.rows():
            is_blank = len(cells) == 1 and not cells[0].strip()
            is_ended = len(cells) == self.width + allowed and not cells[-1].strip()
            if len(cells) == self.width or is_ended or is_blank:
                continue
            n_found += 1
            if len(found) < 5:
                found.append(f"line {line} has {len(cells)}" + (f" (to line {last})" if last > line else ""))
        if not found:
            return
        more = f" and {n_found - 5} more lines" if n_found > 5 else ""
        raise ViewError(
            f"{self.source.path}: the table has {self.width} columns, but {', '.join(found)}{more} (separator "
            f"{self.dialect.separator_words}). Repair the lines, put cells that contain the separator between quote marks, "
            "or name another separator (--sep)."
        )

    def blank_among(self, rows: Sequence[int]) -> list[int]:
        """Those of some rows whose cells are all empty."""
        wanted = set(rows)
        return [
            position
            for position, (cells, _, _) in enumerate(self.rows())
            if position in wanted and not any(cell.strip() for cell in cells)
        ]

    def lines_of(self, rows: Sequence[int]) -> list[int]:
        """Line numbers of rows, counted from the first sample."""
        wanted, found = set(rows), {}
        if not wanted:
            return []
        with closing(self.rows()) as all_rows:
            for position, (_, line, _) in enumerate(all_rows):
                if position in wanted:
                    found[position] = line
                    if len(found) == len(wanted):
                        break
        return [found.get(row, self.first_line + row) for row in rows]


def _shielded(cell: str) -> str:
    return _SHIELD + cell


def _lines(stream: Utf8Stream) -> Iterator[str]:
    """Lines with their ends, which may be LF, CRLF or CR."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    pending = ""
    while block := stream.read(2**20):
        pending += decoder.decode(block)
        held = pending.endswith("\r")  # a line feed may follow
        lines = pending.replace("\r\n", "\n").replace("\r", "\n").split("\n") if not held else None
        if lines is None:
            continue
        pending = lines.pop()
        yield from (line + "\n" for line in lines)
    lines = pending.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    yield from (line + "\n" for line in lines[:-1])
    if lines[-1]:
        yield lines[-1]


def _mixed_columns(chunks: Sequence[pd.DataFrame]) -> list[int]:
    """Columns whose cells are text in one chunk and not in another."""
    kinds = np.array([[_kind(dtype) for dtype in chunk.dtypes] for chunk in chunks])
    candidates = np.flatnonzero((kinds != kinds[0]).any(axis=0))
    mixed = []
    for place in candidates.tolist():
        seen = {
            kind
            for chunk, kind in zip(chunks, kinds[:, place].tolist(), strict=True)
            if kind != "n" or chunk[place].notna().any()
        }
        if len(seen) > 1:
            mixed.append(place)
    return mixed


def _kind(dtype: Any) -> str:
    if isinstance(dtype, pd.StringDtype):
        return "text"
    return {"O": "object", "b": "bool"}.get(dtype.kind, "n")
