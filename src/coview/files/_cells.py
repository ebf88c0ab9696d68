"""Columns of text that hold numbers in other spellings, marks of missing values, dates; and what is odd about them."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.files._cell_findings import AlmostNumbers, Settled
from coview.files._marks import SOFT_MARKS, SURE_MARKS, Numerals

__all__ = ["CellRules", "settle"]

_LOOKED_AT = 50  # different cells that tell whether a column may hold numbers
_ALMOST = 0.8  # share of numbers from which a column of text is said to be almost numbers
_FEWEST_WITH_UNIT = 3
_WITH_UNIT = re.compile(r"[+-]?\d[\d.,]*\s*([^\d\s.,+-][^\d\s]{0,9})")
_FEW_ROWS = 5_000
_SPECIAL = {"inf", *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")}
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_TIME = r"(?:[ T]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?)?"
_DATE = re.compile(
    rf"(?:\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}|\d{{1,2}}([-/.])\d{{1,2}}\2(?:\d{{4}}|\d{{2}})|"
    rf"\d{{1,2}}[- ]{_MONTH}[- ]\d{{2,4}}|{_MONTH} \d{{1,2}}, \d{{4}}){_TIME}",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class CellRules:
    """How cells of text are read.

    Attributes
    ----------
    where : str
        File (and sheet), for messages.
    decimal : str
    is_decimal_given : bool
        Whether the user named the decimal mark, so that no other is tried.
    marks : tuple of str or None
        Marks of missing values that the user named; None for the usual ones.
    lines_of : callable
        Line numbers of rows.
    """

    where: str
    decimal: str
    is_decimal_given: bool
    marks: tuple[str, ...] | None
    lines_of: Callable[[Sequence[int]], list[int]]

    @cached_property
    def sure_marks(self) -> frozenset[str]:
        """What is missing in any column."""
        return frozenset(("", *(SURE_MARKS if self.marks is None else self.marks)))

    @cached_property
    def number_marks(self) -> frozenset[str]:
        """What is missing in a column of numbers."""
        return self.sure_marks | frozenset(SOFT_MARKS if self.marks is None else ())


def settle(frame: pd.DataFrame, rules: CellRules) -> Settled:
    """The frame with text columns turned to numbers where all their cells are numbers or marks of missing values."""
    settled = Settled(frame)
    kinds = {dtype: _is_text(dtype) for dtype in frame.dtypes.unique()}
    places = np.flatnonzero([kinds[dtype] for dtype in frame.dtypes])
    readings = Numerals.readings(rules.decimal, both=not rules.is_decimal_given)
    changed: dict[int, Any] = {}
    for place in places.tolist():
        column = frame.iloc[:, place]
        values = _settle_column(column, str(frame.columns[place]), rules, readings, settled)
        if values is not None:
            changed[place] = values
    settled.frame = _replace(frame, changed)
    return settled


def _is_text(dtype: Any) -> bool:
    return isinstance(dtype, pd.StringDtype) or bool(pd.api.types.is_object_dtype(dtype))


def _replace(frame: pd.DataFrame, changed: dict[int, Any]) -> pd.DataFrame:
    if not changed:
        return frame
    if len(changed) < 100:
        frame = frame.copy(deep=False)
        for place, values in changed.items():
            frame.isetitem(place, values)
        return frame
    columns = {place: changed.get(place, frame.iloc[:, place]) for place in range(frame.shape[1])}
    return pd.DataFrame(columns, index=frame.index).set_axis(frame.columns, axis=1)


def _settle_column(
    column: pd.Series, name: str, rules: CellRules, readings: Sequence[Numerals], settled: Settled
) -> Any:
    """The cells that a column becomes; None to leave it."""
    if column.dtype == object:
        content = pd.api.types.infer_dtype(column, skipna=True)
        if content in ("boolean", "empty", "floating", "mixed-integer-float"):
            return None
        column = column.map(str, na_action="ignore")
    if column.dtype != object and _is_plain_text(column, rules):
        return None
    codes, uniques = pd.factorize(column)
    written = [str(text) for text in uniques]
    texts = [text.strip() for text in written]
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    changed_texts = np.array([old != new for old, new in zip(written, texts, strict=True)], dtype=bool)
    settled.n_spaced += int(counts[changed_texts].sum())
    missing = np.array([text in rules.number_marks for text in texts], dtype=bool)
    reading, fits = _best_reading(texts, missing, counts, readings)
    if reading is not None and fits.all():
        _note_numbers(texts, missing, counts, reading, readings[0], name, settled)
        return _numbers(texts, missing, codes, reading)
    _note_text(column, name, texts, missing, codes, counts, fits, rules, settled)
    gone = np.array([text in rules.sure_marks for text in texts], dtype=bool)
    if not (gone.any() or changed_texts.any() or column.dtype == object):
        return None
    for place in np.flatnonzero(gone & (counts > 0)).tolist():
        settled.marks[texts[place]] += int(counts[place])
    cleaned = np.array([*(None if out else text for text, out in zip(texts, gone, strict=True)), None], dtype=object)
    return pd.array(cleaned[codes], dtype="str")


def _is_plain_text(column: pd.Series, rules: CellRules) -> bool:
    """Whether nothing can be there to settle: a quick look at a column of categories, many of which make a wide table."""
    if len(column) > _FEW_ROWS:
        return False
    for text in dict.fromkeys(column.tolist()):
        if isinstance(text, str) and (
            text in rules.number_marks
            or text != text.strip()
            or not text[0].isalpha()
            or text[:3].casefold() in _SPECIAL
        ):
            return False
    return True


def _best_reading(
    texts: Sequence[str], missing: NDArray[np.bool_], counts: NDArray[np.intp], readings: Sequence[Numerals]
) -> tuple[Numerals | None, NDArray[np.bool_]]:
    """The way of writing numbers that reads most cells (None for none), and which cells it reads or are missing."""
    fits = missing.copy()
    candidates = np.flatnonzero(~missing)
    looked_at = [texts[place] for place in candidates[:_LOOKED_AT]]
    if not looked_at or sum(text[:1].isdigit() or text[:1] in "+-.,iI" for text in looked_at) < 0.5 * len(looked_at):
        return None, fits
    best = None
    for reading in readings:
        compiled = re.compile(reading.pattern)
        if sum(compiled.fullmatch(text) is not None for text in looked_at) < 0.5 * len(looked_at):
            continue
        read = missing | np.array([compiled.fullmatch(text) is not None for text in texts], dtype=bool)
        if best is None or counts[read].sum() > counts[fits].sum():
            best, fits = reading, read
        if fits.all():
            break
    return best, fits


def _numbers(texts: Sequence[str], missing: NDArray[np.bool_], codes: NDArray[np.intp], reading: Numerals) -> Any:
    values = np.full(len(texts) + 1, np.nan)  # the last is for code -1, an empty cell
    for place, text in enumerate(texts):
        if not missing[place]:
            plain = text.replace(reading.thousands, "") if reading.thousands else text
            values[place] = float(plain.replace(reading.decimal, "."))
    numbers = values[codes]
    whole = np.isfinite(numbers).all() and (numbers == np.rint(numbers)).all() and not any("." in t for t in texts)
    return numbers.astype(np.int64) if whole and (np.abs(numbers) < 2**53).all() else numbers


def _note_numbers(
    texts: Sequence[str],
    missing: NDArray[np.bool_],
    counts: NDArray[np.intp],
    reading: Numerals,
    usual: Numerals,
    name: str,
    settled: Settled,
) -> None:
    for place in np.flatnonzero(missing & (counts > 0)).tolist():
        settled.marks[texts[place]] += int(counts[place])
    if reading.thousands and any(reading.thousands in text for text in texts):
        settled.thousands[reading.thousands] += 1
        settled.grouped.append(name)
    if reading.decimal != usual.decimal and any(reading.decimal in text for text in texts):
        settled.decimals.append(name)


def _note_text(
    column: pd.Series,
    name: str,
    texts: Sequence[str],
    missing: NDArray[np.bool_],
    codes: NDArray[np.intp],
    counts: NDArray[np.intp],
    fits: NDArray[np.bool_],
    rules: CellRules,
    settled: Settled,
) -> None:
    """What is to be said about a column that stays text."""
    written = [text for text, out in zip(texts, missing, strict=True) if not out]
    if written and all(_DATE.fullmatch(text) for text in written):
        settled.dates.append(name)
        return
    n_numbers = int(counts[fits & ~missing].sum())
    others = np.flatnonzero(~fits)
    if n_numbers and n_numbers >= _ALMOST * (n_numbers + int(counts[others].sum())):
        rows = np.flatnonzero(np.isin(codes, others))
        cells = [(texts[int(codes[row])], int(row)) for row in rows[:3]]
        settled.almost.append(AlmostNumbers(name, n_numbers, len(rows), cells))
    elif written and (unit := _unit(written)):
        settled.units[name] = unit
    if rules.marks is None:
        soft = {text: int(count) for text, count in zip(texts, counts, strict=True) if text in SOFT_MARKS and count}
        if soft:
            settled.kept[name] = Counter(soft)


def _unit(texts: Sequence[str]) -> str:
    """What stands behind the number in every cell, such as % or mg; empty if cells differ."""
    found = [_WITH_UNIT.fullmatch(text) for text in texts[:_LOOKED_AT]]
    units = {match[1] for match in found if match}
    if None in found or len(units) != 1 or len(texts) < _FEWEST_WITH_UNIT:
        return ""
    unit = units.pop()
    return unit if all((match := _WITH_UNIT.fullmatch(text)) and match[1] == unit for text in texts) else ""
