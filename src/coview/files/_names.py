"""Column names as they are used: text without outer spaces, all different."""

import re
from collections import defaultdict
from collections.abc import Sequence

from coview.exceptions import ViewError
from coview.views import Finding, some

__all__ = ["clean_names", "refuse_repeated"]


def clean_names(written: Sequence[str], where: str) -> tuple[list[str], list[Finding]]:
    """Names without outer spaces, and what is odd about them; a column without a name keeps an empty one.

    Raises
    ------
    ViewError
        If two columns have the same name.
    """
    names = [re.sub(r"\s*[\r\n]+\s*", " ", name.strip()) for name in written]
    findings = []
    spaced = [new for old, new in zip(written, names, strict=True) if old != new and new]
    if spaced:
        findings.append(
            Finding(
                "spaces_in_names",
                "note",
                f"{where}: {len(spaced)} column names had spaces or line breaks, which were dropped: {some(spaced)}.",
                columns=tuple(spaced[:5]),
                count=len(spaced),
            )
        )
    refuse_repeated(names, where)
    findings += _almost_equal(names, where)
    return names, findings


def refuse_repeated(names: Sequence[str], where: str) -> None:
    """Raise if two columns have the same name, saying where they stand; columns without a name are left out."""
    if len(set(names)) == len(names):
        return
    positions: dict[str, list[int]] = defaultdict(list)
    for position, name in enumerate(names, start=1):
        positions[name].append(position)
    repeated = {name: places for name, places in positions.items() if name and len(places) > 1}
    if repeated:
        shown = "; ".join(
            f"'{name}' (columns {', '.join(map(str, places[:6]))}{', ...' if len(places) > 6 else ''})"
            for name, places in list(repeated.items())[:5]
        )
        more = f" and {len(repeated) - 5} more" if len(repeated) > 5 else ""
        raise ViewError(
            f"{where}: column names must differ; repeated: {shown}{more}. Rename or remove them in the file."
        )


def _almost_equal(names: Sequence[str], where: str) -> list[Finding]:
    """A note where names differ only in case, spaces and signs."""
    plain = [" ".join(name.casefold().replace("_", " ").split()) for name in names]
    if len(set(plain)) == len(plain):
        return []
    groups: dict[str, list[str]] = defaultdict(list)
    for short, name in zip(plain, names, strict=True):
        if name:
            groups[short].append(name)
    alike = [group for group in groups.values() if len(group) > 1]
    if not alike:
        return []
    return [
        Finding(
            "similar_names",
            "note",
            f"{where}: some column names differ only in case, spaces or underscores: "
            + "; ".join(" ~ ".join(map(repr, group)) for group in alike[:3])
            + ". They count as different columns.",
            columns=tuple(name for group in alike for name in group)[:10],
            count=len(alike),
        )
    ]
