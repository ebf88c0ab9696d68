"""What is wrong, odd or worth knowing about a set of tables, before anybody fits a model to them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from coview.views._ids import some

__all__ = ["Finding", "Level", "column_finding", "merge_findings", "worst_first"]

Level = Literal["error", "warning", "note"]

_LEVELS = ("error", "warning", "note")
_FIRST = 20  # columns or ids kept in a finding


@dataclass(frozen=True)
class Finding:
    """One thing that a user should know about the data.

    Attributes
    ----------
    code : str
        Stable name of the kind of finding, such as ``"duplicate_ids"``.
    level : {"error", "warning", "note"}
        Errors stop a fit; warnings may spoil it; notes are facts.
    message : str
        What is the matter, and where.
    advice : str
        What to do about it; may be empty for a note.
    view : str or None
        The view concerned; None for all, or for the labels.
    columns, ids : tuple of str
        The first columns and sample ids concerned.
    count : int
        How many columns, samples or cells are concerned.
    """

    code: str
    level: Level
    message: str
    advice: str = ""
    view: str | None = None
    columns: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    count: int = 0


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Errors, then warnings, then notes; in the order given within each."""
    return sorted(findings, key=lambda finding: _LEVELS.index(finding.level))


def merge_findings(first: Iterable[Finding], later: Iterable[Finding]) -> list[Finding]:
    """Findings of two passes over the same data, worst first, without those that only say again what was said.

    A later finding says it again if an earlier one of the same code is about one of its columns; a later one without
    columns, if an earlier one of its code is about the same view, or either about none.

    Parameters
    ----------
    first, later : iterable of Finding

    Returns
    -------
    findings : list of Finding

    Examples
    --------
    >>> read = Finding("dates", "warning", "clinical.csv: column 'seen' holds dates.", columns=("seen",))
    >>> looked = Finding("dates", "warning", "Column 'seen' of view 'clinical' holds dates.", columns=("seen",))
    >>> merge_findings([read], [looked]) == [read]
    True
    """
    first = list(first)
    return worst_first([*first, *(finding for finding in later if not any(_says(told, finding) for told in first))])


def _says(told: Finding, finding: Finding) -> bool:
    """Whether an earlier finding says what a later one does."""
    if told.code != finding.code:
        return False
    if finding.columns:
        return not set(finding.columns).isdisjoint(told.columns)
    return None in (told.view, finding.view) or told.view == finding.view


def column_finding(
    code: str, level: Level, view: str, columns: Sequence[str], one: str, several: str, advice: str = ""
) -> Finding:
    """A finding about columns of one view: "Column 'x' of view 'v' ``one``.", or "3 columns of view 'v' ``several``"."""
    if len(columns) == 1:
        message = f"Column '{columns[0]}' of view '{view}' {one}."
    else:
        message = f"{len(columns)} columns of view '{view}' {several}: {some(columns)}."
    return Finding(code, level, message, advice, view, tuple(columns[:_FIRST]), (), len(columns))
