"""Nearest neighbors among vectors of what several classifiers say: a sample is judged as those that were judged alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["mismatch_counts", "result_vector_votes"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

# Distances held at a time, in numbers.
_BLOCK_VALUES = 2**22


def mismatch_counts(new: Codes, known: Codes) -> NDArray[np.int32]:
    """Hamming distances between result vectors.

    Parameters
    ----------
    new : ndarray of shape (n_new, n_members), dtype=int64
        Number of the class that each member names, -1 where it abstains; there it is left out of the comparison.
    known : ndarray of shape (n_known, n_members), dtype=int64
        An abstention here agrees with nothing.

    Returns
    -------
    counts : ndarray of shape (n_new, n_known), dtype=int32

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import mismatch_counts
    >>> mismatch_counts(np.array([[0, 1, -1]]), np.array([[0, 1, 1], [1, 1, 0], [-1, 0, 0]])).tolist()
    [[0, 1, 2]]
    """
    counts = np.zeros((len(new), len(known)), dtype=np.int32)
    for said, knew in zip(new.T, known.T, strict=True):
        counts += (said[:, None] != knew) & (said[:, None] >= 0)
    return counts


def result_vector_votes(
    new: Codes, known: Codes, target: Codes, n_classes: int, *, without_self: bool = False
) -> tuple[Array, Codes]:
    """Votes of the known samples whose result vectors are nearest to that of each new one.

    Parameters
    ----------
    new : ndarray of shape (n_new, n_members), dtype=int64
        What each member says of each new sample, -1 where it abstains.
    known : ndarray of shape (n_known, n_members), dtype=int64
        What each member says of each known sample, by a fit that had not seen it.
    target : ndarray of shape (n_known,), dtype=int64
        True classes of the known samples.
    n_classes : int
    without_self : bool, default=False
        Whether ``new`` are the known samples, none of which may vote for itself.

    Returns
    -------
    votes : ndarray of shape (n_new, n_classes)
        Of all nearest ones; zeros where every member abstains.
    distances : ndarray of shape (n_new,), dtype=int64
        Members that say otherwise of the nearest.

    Notes
    -----
    Lepistö et al. (2003). Time O(n_new n_known n_members), memory in blocks of 16 MiB.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import result_vector_votes
    >>> known = np.array([[0, 0, 1], [0, 1, 1], [0, 0, 1]])
    >>> votes, distances = result_vector_votes(np.array([[0, 0, 1], [1, 1, 1]]), known, np.array([0, 1, 1]), 2)
    >>> votes.tolist(), distances.tolist()
    ([[1.0, 1.0], [0.0, 1.0]], [0, 1])
    """
    votes, distances = np.zeros((len(new), n_classes)), np.zeros(len(new), dtype=np.int64)
    if len(known) <= without_self:
        return votes, distances
    classes = np.eye(n_classes)[target]  # (n_known, n_classes)
    step = max(1, _BLOCK_VALUES // len(known))
    for start in range(0, len(new), step):
        part = np.arange(start, min(start + step, len(new)))
        counts = mismatch_counts(new[part], known)
        if without_self:
            counts[np.arange(len(part)), part] = known.shape[1] + 1
        distances[part] = counts.min(axis=1)
        votes[part] = (counts == distances[part, None]) @ classes
    votes[(new < 0).all(axis=1)] = 0.0
    return votes, distances
