"""Names that differ little: what a user may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

__all__ = ["similar_names"]

# Names compared letter by letter; of more, only those that differ in case, spaces and signs are found.
_MOST_COMPARED = 2000


def similar_names(wanted: Iterable[Any], given: Iterable[Any], limit: int = 5) -> dict[str, str]:
    """For each of the first names wanted, the most similar of the names given, where there is one."""
    names = list(dict.fromkeys(str(name) for name in given))
    plain = {_letters(name): name for name in reversed(names)}
    found = {}
    for name in [str(item) for item in wanted][:limit]:
        near = [plain[_letters(name)]] if _letters(name) in plain else []
        if not near and len(names) <= _MOST_COMPARED:
            near = get_close_matches(name, names, n=1)
        if near:
            found[name] = near[0]
    return found


def _letters(name: str) -> str:
    """A name without case, spaces and signs."""
    return "".join(letter for letter in name.casefold() if letter.isalnum()) or name
