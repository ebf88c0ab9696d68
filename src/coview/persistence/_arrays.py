"""Arrays in a model file, checked before numpy makes room for them."""

from __future__ import annotations

import io
import math

import numpy as np

from coview.persistence._problems import ModelFileError

__all__ = ["check_array"]

_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def check_array(name: str, content: bytes, what: str) -> None:
    """Raise unless a member is an array of plain values, as long as its header says."""
    stream = io.BytesIO(content)
    try:
        shape, _, dtype = _READERS[np.lib.format.read_magic(stream)](stream)
    except (ValueError, KeyError, EOFError, SyntaxError, TypeError, RecursionError) as error:
        raise ModelFileError(f"{what} holds an array that cannot be read ({name}: {error}).") from error
    if dtype.hasobject:
        raise ModelFileError(
            f"{what} holds an array of Python objects ({name}), which could run code when it is read. Do not use this file."
        )
    announced = math.prod(shape) * dtype.itemsize
    if any(length < 0 for length in shape) or announced != len(content) - stream.tell():
        raise ModelFileError(
            f"{what} holds an array whose size is not the one it announces ({name}: {announced:,} bytes announced, "
            f"{len(content) - stream.tell():,} there)."
        )
