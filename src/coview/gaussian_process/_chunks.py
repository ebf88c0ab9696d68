"""Which settings are fitted to labels together, in one stack of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from coview.gaussian_process._keys import prior_key
from coview.gaussian_process._prior_bank import PriorBank
from coview.gaussian_process._setting import Setting
from coview.inference import factored_width

__all__ = ["Chunk", "chunks_of"]

# Covariances of labeled samples held at a time, in numbers: what stays in a processor's cache.
_CHUNK_SIZE = 200_000

Chunk = list[NDArray[np.intp]]
"""Positions of settings in runs of one prior; all covariances of a chunk have one shape."""


def chunks_of(
    bank: PriorBank, settings: Sequence[Setting], n_labeled: int, bias_variance: float, n_functions: int
) -> list[Chunk]:
    """Every setting in one chunk; a chunk holds ``n_functions`` covariances of each of its settings in a processor's cache."""
    chunks: dict[int, list[Chunk]] = {}
    for _, run in groupby(range(len(settings)), key=lambda k: prior_key(settings[k])):
        positions = np.fromiter(run, dtype=np.intp)
        # The Gram matrices of exact kernels may not all stay in memory: their prior is not asked for twice.
        exact = settings[positions[0]].n_components is None
        width = None if exact else factored_width(bank.prior(settings[positions[0]]), n_labeled, bias_variance)
        width = n_labeled if width is None else width
        room = max(1, _CHUNK_SIZE // max(n_functions * n_labeled * width, 1))
        alike = chunks.setdefault(width, [[]])
        for start in range(0, positions.size, room):
            part = positions[start : start + room]
            if sum(known.size for known in alike[-1]) + part.size > room:
                alike.append([])
            alike[-1].append(part)
    return [chunk for alike in chunks.values() for chunk in alike if chunk]
