"""What is said about the columns of a file once their cells are settled."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd

from coview.views import Finding, some

__all__ = ["AlmostNumbers", "Settled", "cell_findings", "dates_finding", "find_infinite"]

_CHUNK = 2**22  # cells looked at in one go
_TOLD_ALONE = 3  # columns of almost numbers that get a finding each
LinesOf = Callable[[Sequence[int]], list[int]]


@dataclass(frozen=True)
class AlmostNumbers:
    """A column of text most of whose cells are numbers; the first other cells with their rows."""

    column: str
    n_numbers: int
    n_others: int
    cells: list[tuple[str, int]]


@dataclass
class Settled:
    """Columns whose cells are settled, and what was met on the way.

    Attributes
    ----------
    frame : DataFrame
    marks : Counter
        Marks of missing values, with the number of cells.
    thousands : Counter
        Marks between groups of digits, with the number of columns.
    grouped, decimals, dates : list of str
        Columns with such marks, with another decimal mark than the rest, and of dates.
    kept : dict of str to Counter
        Marks that may mean missing, left as categories, by column.
    units : dict of str to str
        Columns whose cells are numbers with a unit.
    almost : list of AlmostNumbers
    n_spaced : int
        Cells that had spaces around them.
    """

    frame: pd.DataFrame
    marks: Counter[str] = field(default_factory=Counter)
    thousands: Counter[str] = field(default_factory=Counter)
    grouped: list[str] = field(default_factory=list)
    decimals: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    kept: dict[str, Counter[str]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    almost: list[AlmostNumbers] = field(default_factory=list)
    n_spaced: int = 0


def cell_findings(settled: Settled, where: str, lines_of: LinesOf) -> list[Finding]:
    """Findings about settled columns; few, however many columns there are."""
    findings = _almost(settled.almost, where, lines_of)
    if settled.units:
        findings.append(_units(settled.units, where))
    if settled.dates:
        findings.append(dates_finding(settled.dates, where))
    if settled.kept:
        findings.append(_kept(settled.kept, where))
    if settled.n_spaced:
        message = f"{settled.n_spaced} text cell(s) had spaces around them, which were dropped."
        findings.append(_about("spaces_in_cells", "note", where, message, [], "", settled.n_spaced))
    if settled.decimals:
        message = f"{len(settled.decimals)} column(s) use another decimal mark than the rest: {some(settled.decimals)}."
        findings.append(_about("mixed_decimals", "note", where, message, settled.decimals))
    return findings + find_infinite(settled.frame, where)


def _about(
    code: str,
    level: Literal["error", "warning", "note"],
    where: str,
    message: str,
    columns: Sequence[str],
    advice: str = "",
    count: int | None = None,
) -> Finding:
    count = len(columns) if count is None else count
    return Finding(code, level, f"{where}: {message}", advice, columns=tuple(map(str, columns[:10])), count=count)


def _almost(almost: Sequence[AlmostNumbers], where: str, lines_of: LinesOf) -> list[Finding]:
    findings = []
    for column in almost[:_TOLD_ALONE]:
        lines = lines_of([row for _, row in column.cells])
        cells = ", ".join(f"'{text[:40]}' (line {line})" for (text, _), line in zip(column.cells, lines, strict=True))
        texts = list(dict.fromkeys(text for text, _ in column.cells))
        marks = " ".join(f"--na '{text[:40]}'" for text in texts) + (" ..." if column.n_others > len(texts) else "")
        message = (
            f"column '{column.column}' holds {column.n_numbers} numbers and {column.n_others} other cell(s), so it counts "
            f"as text: {cells}{', ...' if column.n_others > len(column.cells) else ''}."
        )
        advice = (
            f"Correct these cells, or read them as missing: {marks} (and --na NA, say, for every other mark in use)."
        )
        findings.append(_about("almost_numeric", "warning", where, message, [column.column], advice, column.n_others))
    others = almost[_TOLD_ALONE:]
    if others:
        texts = list(dict.fromkeys(text for column in others for text, _ in column.cells))
        message = (
            f"{len(others)} more column(s) hold numbers and a few other cells such as {some(texts, 3)}, so they count as "
            f"text: {some(column.column for column in others)}."
        )
        count = sum(column.n_others for column in others)
        names = [column.column for column in others]
        advice = "Correct these cells, or read them as missing (--na)."
        findings.append(_about("almost_numeric", "warning", where, message, names, advice, count))
    return findings


def _units(units: dict[str, str], where: str) -> Finding:
    told = ", ".join(f"'{name}' ({unit})" for name, unit in list(units.items())[:5])
    more = f" and {len(units) - 5} more" if len(units) > 5 else ""
    message = (
        f"in {len(units)} column(s) every cell is a number with a unit behind it, so they count as text: {told}{more}."
    )
    advice = "Take the unit out of the cells and write it into the column's name."
    return _about("numbers_with_units", "warning", where, message, list(units), advice)


def dates_finding(names: Sequence[str], where: str) -> Finding:
    """What is said about columns that hold dates."""
    message = f"{len(names)} column(s) hold dates, which are read as text: {some(names)}."
    advice = "Turn them into numbers, such as days since a common start, or leave them out."
    return _about("dates", "warning", where, message, names, advice)


def _kept(kept: dict[str, Counter[str]], where: str) -> Finding:
    total: Counter[str] = Counter()
    for marks in kept.values():
        total += marks
    told = ", ".join(f"'{mark}' ({count})" for mark, count in total.most_common(4))
    message = f"{told} in text column(s) {some(kept)} may mean 'missing'; kept as categories."
    advice = (
        f"Read them as missing, if they are: --na '{total.most_common(1)[0][0]}' (and --na NA, say, for every other mark "
        "in use)."
    )
    return _about("kept_marks", "note", where, message, list(kept), advice, total.total())


def find_infinite(frame: pd.DataFrame, where: str) -> list[Finding]:
    """An error where numbers are infinite, which no fit takes."""
    floats = frame.loc[:, (frame.dtypes == np.float64).to_numpy()]
    step = max(1, _CHUNK // max(1, len(frame)))
    counts = [
        np.isinf(floats.iloc[:, start : start + step].to_numpy()).sum(axis=0)
        for start in range(0, floats.shape[1], step)
    ]
    total = np.concatenate(counts) if counts else np.zeros(0, dtype=np.intp)
    if not total.any():
        return []
    columns = floats.columns[total > 0].tolist()
    message = f"{int(total.sum())} cell(s) are infinite or too large for a number, in column(s) {some(columns)}."
    advice = "Correct them, or read them as missing: --na inf (or the number as it is written there)."
    return [_about("infinite_values", "error", where, message, columns, advice, int(total.sum()))]
