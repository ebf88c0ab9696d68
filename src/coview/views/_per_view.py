"""What a user says once for all views, in a list by position, or in a dict by name."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.exceptions import ViewError

__all__ = ["check_view_name", "numbers_per_view", "value_per_view"]


def value_per_view(value: Any, names: Sequence[str], what: str) -> list[Any]:
    """One value per view, from one for all, a list by position, or a dict by name.

    Parameters
    ----------
    value : object, list or dict
        A tuple counts as one value.
    names : sequence of str
        Of the views.
    what : str
        Name of the parameter, for errors.

    Returns
    -------
    values : list, one per view

    Raises
    ------
    ViewError
        If the list has another length than the views, or the dict misses or does not know a view.

    Examples
    --------
    >>> from coview.views import value_per_view
    >>> value_per_view({"ct": 2, "gene": 1}, ["gene", "ct"], "n_neighbors")
    [1, 2]
    """
    if isinstance(value, Mapping):
        unknown = [key for key in value if key not in names]
        absent = [name for name in names if name not in value]
        if unknown or absent:
            raise ViewError(
                f"{what} must name every view once; unknown: {unknown}, without a value: {absent}. Views are {list(names)}."
            )
        return [value[name] for name in names]
    if isinstance(value, list):
        if len(value) != len(names):
            raise ViewError(f"{what} must have one entry per view ({len(names)}); got {len(value)}.")
        return list(value)
    return [value] * len(names)


def numbers_per_view(value: Any, names: Sequence[str], what: str, *, positive: bool = False) -> NDArray[np.float64]:
    """One finite number per view that is not negative, from one for all, a sequence by position, or a dict by name.

    Parameters
    ----------
    value : float, sequence or dict
    names : sequence of str
        Of the views.
    what : str
        Name of the parameter, for errors.
    positive : bool, default=False
        Whether zero is refused too.

    Returns
    -------
    numbers : ndarray of shape (n_views,)

    Raises
    ------
    ViewError
        If a dict misses or does not know a view.
    ValueError
        If there are too many or too few numbers, or one is out of range.

    Examples
    --------
    >>> from coview.views import numbers_per_view
    >>> numbers_per_view(2, ["gene", "ct"], "ridge").tolist(), numbers_per_view((1, 0.5), ["gene", "ct"], "ridge").tolist()
    ([2.0, 2.0], [1.0, 0.5])
    """
    given = value_per_view(value, names, what) if isinstance(value, Mapping) else value
    numbers = np.asarray(given, dtype=np.float64)
    numbers = np.full(len(names), float(numbers)) if numbers.ndim == 0 else numbers
    if numbers.shape != (len(names),):
        raise ValueError(f"{what} must be one number, or one for each of the {len(names)} views; got {value!r}.")
    if not np.isfinite(numbers).all() or (numbers < 0.0).any() or (positive and not numbers.all()):
        raise ValueError(f"{what} must be finite and {'positive' if positive else 'not negative'}; got {value!r}.")
    return numbers


def check_view_name(view: Any, names: Sequence[str]) -> None:
    """Raise unless a view that a user asks for is one of those at hand, or None for all of them.

    Parameters
    ----------
    view : str or None
    names : sequence of str

    Raises
    ------
    ViewError

    Examples
    --------
    >>> from coview.views import check_view_name
    >>> check_view_name("gene", ["gene", "ct"])
    """
    if view is not None and view not in names:
        raise ViewError(f"view must be one of {list(names)}; got {view!r}.")
