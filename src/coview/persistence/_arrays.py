"""Arrays in a model file, checked before numpy makes room for them."""

from __future__ import annotations

import io
import math

import numpy as np

from coview.persistence._problems import ModelFileError

__all__ = ["check_array"]

_MAX_HEADER = 2000
_MAX_LENGTH = 2**48
_MAX_EMPTY_ROWS = 100_000  # rows without bytes cost a file nothing, and whoever walks over them much time

_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def check_array(name: str, content: bytes, what: str) -> None:
    """Raise unless a member is an array of plain values, as long as its header says."""
    stream = io.BytesIO(content)
    try:
        shape, _, dtype = _READERS[np.lib.format.read_magic(stream)](stream, max_header_size=_MAX_HEADER)
    except Exception as error:  # numpy reads headers as Python, where forged ones fail in any way
        kind = type(error).__name__
        raise ModelFileError(
            f"{what} holds an array that cannot be read ({name}: {kind} {str(error)[:120]})."
        ) from error
    empty = not math.prod(shape) * dtype.itemsize
    if any(not 0 <= length <= _MAX_LENGTH for length in shape) or (empty and shape and shape[0] > _MAX_EMPTY_ROWS):
        raise ModelFileError(
            f"{what} holds an array whose header gives impossible lengths ({name}). Do not use this file."
        )
    if dtype.hasobject:
        raise ModelFileError(
            f"{what} holds an array of Python objects ({name}), which could run code when it is read. Do not use this file."
        )
    announced = math.prod(shape) * dtype.itemsize
    if announced != len(content) - stream.tell():
        raise ModelFileError(
            f"{what} holds an array whose size is not the one it announces ({name}: {announced:,} bytes announced, "
            f"{len(content) - stream.tell():,} there)."
        )
