"""What a user may say about one file."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["ReadOptions"]


@dataclass(frozen=True)
class ReadOptions:
    """What a user may say about one file; None to find out. The fields are the arguments of ``read_table``."""

    id_column: str | None = None
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: Sequence[str] | None = None
