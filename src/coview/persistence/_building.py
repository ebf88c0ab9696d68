"""A model out of a skops file whose every part has been checked."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import InconsistentVersionWarning

from coview.persistence._manifest import describe_model
from coview.persistence._problems import ModelFileError
from coview.persistence._trust import COVIEW_TYPES, LIBRARY_TYPES

__all__ = ["build_model", "unknown_types"]


def unknown_types(data: bytes) -> list[str]:
    """Types in a skops file that neither skops nor coview trusts."""
    import skops.io  # takes a second, so only where it is needed

    return [name for name in skops.io.get_untrusted_types(data=data) if name not in COVIEW_TYPES | LIBRARY_TYPES]


def build_model(data: bytes, what: str) -> tuple[Any, dict[str, Any]]:
    """The model in a skops file that has been inspected, and its description."""
    import skops.io

    try:
        unknown = unknown_types(data)
        if not unknown:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", InconsistentVersionWarning)  # the caller compares versions
                model = skops.io.loads(data, trusted=sorted(COVIEW_TYPES | LIBRARY_TYPES))
            return model, describe_model(model)
    except Exception as error:  # forged content may fail anywhere in the classes that take it
        raise ModelFileError(
            f"{what} is damaged or was changed: its model cannot be put together ({type(error).__name__}: "
            f"{str(error)[:200]}). Copy the file again from where it came, or fit anew."
        ) from error
    raise ModelFileError(
        f"{what} holds {', '.join(map(repr, unknown[:5]))}, not on coview's list of trusted types. Do not use this file."
    )
