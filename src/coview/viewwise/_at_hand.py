"""Which of some views a sample has, and what is said where it has none of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from coview.base import check_answerable
from coview.views import Views

__all__ = ["check_at_hand", "count_at_hand"]


def count_at_hand(views: Views, names: Iterable[str]) -> NDArray[np.int64]:
    """How many of some views each sample has.

    Parameters
    ----------
    views : Views
    names : iterable of str
        Of views that ``views`` holds.

    Returns
    -------
    count : ndarray of shape (n_samples,), dtype=int64

    Examples
    --------
    >>> from coview import Views
    >>> from coview.viewwise import count_at_hand
    >>> views = Views({"a": [[1.0], [2.0]], "b": [[float("nan")], [1.0]]})
    >>> count_at_hand(views, ["a", "b"])
    array([1, 2])
    """
    count = np.zeros(len(views), dtype=np.int64)
    for name in names:
        count[views.rows(name)] += 1
    return count


def check_at_hand(views: Views, names: Iterable[str], *, usable: str, remedy: str) -> None:
    """Raise unless every sample has one of some views.

    Parameters
    ----------
    views : Views
    names : iterable of str
        Of views that ``views`` holds.
    usable : str
        What these views are: "in which two classes had labels".
    remedy : str
        What to do, a sentence.

    Raises
    ------
    ViewError
        With how many samples have none, and which.

    Examples
    --------
    >>> from coview import Views
    >>> from coview.viewwise import check_at_hand
    >>> check_at_hand(Views({"a": [[1.0], [2.0]]}), ["a"], usable="that had labels", remedy="Drop them.")
    """
    check_answerable(count_at_hand(views, names) > 0, views, "raise", remedy, usable=usable)
