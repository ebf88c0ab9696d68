"""Words for the page and its pictures."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

__all__ = ["counted", "listed", "share_of", "shorten"]


# Names in these scripts are set apart, so that they do not turn the numbers beside them around.
_RIGHT_TO_LEFT = {"R", "AL", "AN"}


def shorten(text: object, limit: int = 24) -> str:
    """One line of at most ``limit`` characters, cut in the middle, where names that belong together are alike."""
    line = re.sub(r"[\s\x00-\x1f\x7f-\x9f]+", " ", str(text)).strip()
    if len(line) > limit:
        tail = (limit - 1) // 3
        line = f"{line[: limit - 1 - tail]}\N{HORIZONTAL ELLIPSIS}{line[len(line) - tail :]}"
    if any(unicodedata.bidirectional(letter) in _RIGHT_TO_LEFT for letter in line):
        return f"\N{FIRST STRONG ISOLATE}{line}\N{POP DIRECTIONAL ISOLATE}"
    return line


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """``1 sample``, ``2,000 samples``."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def share_of(part: int, whole: int) -> str:
    """``3 of 40 (8%)``."""
    if not whole:
        return f"{part:,} of {whole:,}"
    share = part / whole
    percent = "under 1%" if 0 < share < 0.01 else "over 99%" if 0.99 < share < 1 else f"{share:.0%}"
    return f"{part:,} of {whole:,} ({percent})"


def listed(items: Iterable[object], limit: int = 5) -> str:
    """``a, b and c``; beyond the limit the number of those left out."""
    words: Sequence[str] = [shorten(item, 60) for item in items]
    if len(words) > limit:
        return f"{', '.join(words[:limit])} and {len(words) - limit:,} more"
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
