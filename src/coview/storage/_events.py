"""What happened, as it is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

__all__ = ["Event", "content_text", "event_digest", "now"]


class Event(NamedTuple):
    """One event of a project.

    Attributes
    ----------
    id : int
        1, 2, … in the order in which they were written.
    time : str
        In UTC, ISO 8601.
    kind : str
    content : dict
        What JSON can hold.

    Examples
    --------
    >>> from coview.storage import Event
    >>> Event(1, "2009-04-16T12:00:00+00:00", "booked", {"sample": "p1"}).content
    {'sample': 'p1'}
    """

    id: int
    time: str
    kind: str
    content: dict[str, Any]


def now() -> str:
    """The time in UTC as it is written."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def content_text(content: Mapping[str, Any]) -> str:
    """The content of an event as text; numbers keep every digit."""
    return json.dumps(dict(content), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def event_digest(number: int, time: str, kind: str, text: str) -> str:
    """Checksum of an event as it is kept, its number included."""
    return hashlib.sha256(json.dumps([number, time, kind, text]).encode()).hexdigest()
