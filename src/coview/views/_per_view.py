"""What a user says once for all views, in a list by position, or in a dict by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from coview.exceptions import ViewError

__all__ = ["value_per_view"]


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
