"""Columns of words: identifiers, spellings, numbers and dates kept as text."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.views._findings import Finding, column_finding
from coview.views._findings_blocks import ColumnBlock, SortedBlock
from coview.views._ids import some

__all__ = ["TextNotes", "is_prose", "look_at_text", "text_findings"]

_FEWEST_ROWS = 20
_DATE = re.compile(r"\d{4}([-/.])\d{1,2}\1\d{1,2}([ T].*)?|\d{1,2}([-/.])\d{1,2}\3\d{2,4}( .*)?")
_LEADING_ZERO = re.compile(r"0\d")


@dataclass
class TextNotes:
    """What was found in the text and category columns of one view: columns, with details in words."""

    identifiers: dict[str, str] = field(default_factory=dict)
    spellings: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)


def is_prose(words: Sequence[str], counts: NDArray[np.intp]) -> bool:
    """Whether a column is text to be read: half of its values differ, half have two words or more.

    Parameters
    ----------
    words : sequence of str
        The distinct values.
    counts : ndarray of shape (n_words,)
        How often each occurs.
    """
    total = int(counts.sum())
    several = sum(int(count) for word, count in zip(words, counts, strict=True) if len(word.split()) > 1)
    return total > 0 and len(words) >= 0.5 * total and several >= 0.5 * total


def look_at_text(notes: TextNotes, block: ColumnBlock, ordered: SortedBlock) -> None:
    """Add what the columns of a block of categories show."""
    for place, categories in enumerate(block.categories or []):
        if len(categories) < 2:
            continue
        codes = block.cells[place][~np.isnan(block.cells[place])].astype(np.intp)
        counts = np.bincount(codes, minlength=len(categories))
        _look_at_column(notes, block.names[place], [str(category) for category in categories], counts)


def _look_at_column(notes: TextNotes, name: str, words: list[str], counts: NDArray[np.intp]) -> None:
    total = int(counts.sum())
    if is_prose(words, counts):
        return
    if (dates := _dates(words, counts)) is not None:
        notes.dates[name] = dates
    elif (numbers := _numbers(words, counts)) is not None:
        notes.numbers[name] = numbers
    elif total >= _FEWEST_ROWS and len(words) > 0.5 * total:
        notes.identifiers[name] = f"{len(words)} different values for {total} samples"
    elif (spellings := _spellings(words)) is not None:
        notes.spellings[name] = spellings


def _dates(words: list[str], counts: NDArray[np.intp]) -> str | None:
    matched = np.array([_DATE.fullmatch(word.strip()) is not None for word in words])
    if counts[matched].sum() < 0.8 * counts.sum():
        return None
    return some([words[place] for place in np.flatnonzero(matched)[:2]])


def _numbers(words: list[str], counts: NDArray[np.intp]) -> str | None:
    """What stands between the numbers, where at least half of the cells are numbers of five values or more."""
    begins = sum(word[:1].isdigit() or word[:1] in "+-.<>" for word in words)
    if begins < 0.5 * len(words) or any(_LEADING_ZERO.match(word) for word in words):
        return None
    numeric = pd.to_numeric(pd.Series(words, dtype=object), errors="coerce").notna().to_numpy()
    if numeric.sum() < 5 or counts[numeric].sum() < 0.5 * counts.sum():
        return None
    others = [words[place] for place in np.flatnonzero(~numeric)]
    return f"{int(counts[~numeric].sum())} cells are none: {some(others, 3)}" if others else "all of them are numbers"


def _spellings(words: list[str]) -> str | None:
    groups: dict[str, list[str]] = defaultdict(list)
    for word in words:
        groups[" ".join(unicodedata.normalize("NFKC", word).casefold().split())].append(word)
    several = [" ~ ".join(map(repr, group)) for group in groups.values() if len(group) > 1]
    return "; ".join(several[:3]) + (" ..." if len(several) > 3 else "") if several else None


def text_findings(view: str, notes: TextNotes) -> list[Finding]:
    """One finding per kind."""
    told = [
        (
            "dates",
            notes.dates,
            "holds dates as text and counts as a category",
            "hold dates as text and count as categories",
            "Turn dates into numbers, such as days since the first visit, or give --leave-out COL.",
        ),
        (
            "almost_numeric",
            notes.numbers,
            "holds numbers as text and counts as a category",
            "hold numbers as text and count as categories",
            "Correct the cells that are no numbers, or name what marks a missing value with --na.",
        ),
        (
            "identifier_columns",
            notes.identifiers,
            "has a value of its own for almost every sample and looks like an identifier",
            "have a value of their own for almost every sample and look like identifiers",
            "Leave it out (--leave-out COL): it says nothing about new samples. Give --id COL if it holds the sample ids.",
        ),
        (
            "spelling_variants",
            notes.spellings,
            "writes one category in several ways",
            "write one category in several ways",
            "Write each category in one way: as it is, each spelling is a category of its own.",
        ),
    ]
    findings = []
    for code, columns, one, several, advice in told:
        if columns:
            details = "; ".join(f"'{name}': {text}" for name, text in list(columns.items())[:3])
            found = column_finding(code, "warning", view, list(columns), one, several, advice)
            if len(columns) == 1:
                details = next(iter(columns.values()))
            findings.append(
                Finding(
                    code, "warning", f"{found.message[:-1]} ({details}).", advice, view, found.columns, (), found.count
                )
            )
    return findings
