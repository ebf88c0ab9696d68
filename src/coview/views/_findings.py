"""What is wrong, odd or worth knowing about a set of tables, before anybody fits a model to them."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["Finding"]


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
    level: Literal["error", "warning", "note"]
    message: str
    advice: str = ""
    view: str | None = None
    columns: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    count: int = 0
