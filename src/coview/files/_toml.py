"""TOML files of users: read with errors that help."""

import tomllib
from pathlib import Path
from typing import Any

from coview.exceptions import ViewError

__all__ = ["read_toml"]


def read_toml(path: str) -> dict[str, Any]:
    """The content of a TOML file, with an error that helps where it is none."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ViewError(f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        hint = " Write paths with / or in 'single quotes'." if "escape" in str(error) else ""
        raise ViewError(f"{path} is not valid TOML: {error}.{hint}") from error
