"""Sample ids as text: conversion, duplicates, and ids that differ only in how they are written."""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.exceptions import ViewError

__all__ = [
    "almost_equal_ids",
    "comparable_ids",
    "first_ids",
    "id_text",
    "ids_among",
    "labels_from_plain",
    "plain_labels",
    "refuse_duplicates",
    "some",
]

_LARGEST_EXACT_INTEGER = 2.0**53
_POINT_ZERO = re.compile(r"^([+-]?\d+)\.0+$")
_LEADING_ZEROS = re.compile(r"(?<![\d.])0+(?=\d)")
_JSON_TYPES = {str, int, float, bool, type(None)}


def some(items: Iterable[Any], limit: int = 5) -> str:
    """Quoted list of the first items, with the number of those left out."""
    items = list(items)
    shown = ", ".join(repr(str(item)) for item in items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit} more"


def id_text(ids: pd.Index) -> pd.Index:
    """Sample ids as text, the form in which they are compared.

    Whole numbers lose their type (``1`` and ``1.0`` become ``"1"``); text is kept as written.

    Parameters
    ----------
    ids : Index of length n_samples
        Labels of any type; the parts of a ``MultiIndex`` are joined by ``"|"``.

    Returns
    -------
    text : Index of length n_samples, dtype str

    Raises
    ------
    ViewError
        If an id is missing (NaN, None, NA).

    Examples
    --------
    >>> import pandas as pd
    >>> list(id_text(pd.Index([1.0, 2.5])))
    ['1', '2.5']
    """
    if isinstance(ids, pd.MultiIndex):
        parts = [id_text(ids.get_level_values(level)) for level in range(ids.nlevels)]
        return pd.Index(["|".join(row) for row in zip(*parts, strict=True)], dtype=str)
    n_missing = int(np.count_nonzero(pd.isna(ids)))
    if n_missing:
        raise ViewError(f"Sample ids must not be missing; {n_missing} of {len(ids)} are. Give every row an id.")
    if pd.api.types.is_integer_dtype(ids.dtype) or isinstance(ids.dtype, pd.StringDtype):
        return ids.astype(str)
    return pd.Index([_text(label) for label in ids], dtype=str)


def _text(label: Any) -> str:
    if isinstance(label, float | np.floating):
        number = float(label)
        if number.is_integer() and abs(number) <= _LARGEST_EXACT_INTEGER:
            return str(int(number))
    if isinstance(label, bytes):
        return label.decode()
    return str(label)


def comparable_ids(*indexes: pd.Index) -> list[pd.Index]:
    """The indexes in one comparable form: integers as they are where all are integers, text otherwise."""
    if all(pd.api.types.is_integer_dtype(index.dtype) and not index.hasnans for index in indexes):
        return list(indexes)
    return [id_text(index) for index in indexes]


def refuse_duplicates(ids: pd.Index, owner: str) -> None:
    """Raise if an id occurs twice, naming the ids and whose they are."""
    if ids.is_unique:
        return
    repeated = ids[ids.duplicated()].unique()
    raise ViewError(
        f"Sample ids must be unique; {owner} repeats {some(repeated)}. Merge or drop the repeated rows, "
        "or call reset_index(drop=True) if the index holds no sample ids."
    )


def almost_equal_ids(ids: Iterable[Any]) -> list[list[str]]:
    """Groups of ids that differ only in spaces, case, leading zeros or a trailing ``.0``.

    Parameters
    ----------
    ids : iterable of ids
        Several tables' ids may be chained; equal ids count once.

    Returns
    -------
    groups : list of list of str
        In order of first appearance; empty when no two ids are almost equal.

    Examples
    --------
    >>> almost_equal_ids(["S01", "s1", "S2", "7", "7.0"])
    [['S01', 's1'], ['7', '7.0']]
    """
    groups: dict[str, list[str]] = defaultdict(list)
    if isinstance(ids, pd.Index):
        ids = ids.tolist()  # many times faster to walk through
    for label in dict.fromkeys(label if type(label) is str else _text(label) for label in ids):
        groups[_without_spelling(label)].append(label)
    return [group for group in groups.values() if len(group) > 1]


def _without_spelling(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    text = "".join(text.split()).casefold()
    if "0" not in text:  # nothing that the patterns could find
        return text
    return _LEADING_ZEROS.sub("", _POINT_ZERO.sub(r"\1", text))


def ids_among(ids: pd.Index, others: pd.Index) -> NDArray[np.bool_]:
    """Which ids occur among others.

    Parameters
    ----------
    ids, others : Index
        Both as text, or both of integers; repeated ids are welcome.

    Returns
    -------
    known : ndarray of shape (len(ids),), dtype=bool

    Notes
    -----
    pandas' own ``isin`` takes seconds for 100,000 texts.

    Examples
    --------
    >>> import pandas as pd
    >>> ids_among(pd.Index(["p1", "p9"]), pd.Index(["p1", "p2"]))
    array([ True, False])
    """
    if pd.api.types.is_integer_dtype(ids.dtype):
        return np.asarray(ids.isin(others))
    wanted = set(others.tolist())
    return np.fromiter((label in wanted for label in ids.tolist()), dtype=bool, count=len(ids))


def plain_labels(labels: Sequence[Any] | pd.Index | NDArray[Any] | None) -> Any:
    """Labels without pandas, as they are stored with a model: text (JSON) where that keeps them, an array, a list or None.

    Parameters
    ----------
    labels : sequence, Index, ndarray or None

    Returns
    -------
    plain : str, ndarray of int, list or None

    Examples
    --------
    >>> plain_labels(["age", "sex"])
    '["age", "sex"]'
    """
    if labels is None:
        return None
    if isinstance(labels, pd.Index | np.ndarray) and labels.dtype.kind in "iu":
        return np.asarray(labels)
    items = labels.tolist() if isinstance(labels, pd.Index | np.ndarray) else list(labels)
    return json.dumps(items) if all(type(item) in _JSON_TYPES for item in items) else items


def labels_from_plain(plain: Any) -> Any:
    """The labels that ``plain_labels`` gave.

    Parameters
    ----------
    plain : str, ndarray of int, list or None

    Returns
    -------
    labels : list, ndarray of int or None

    Examples
    --------
    >>> labels_from_plain('["age", "sex"]')
    ['age', 'sex']
    """
    if plain is None or isinstance(plain, np.ndarray):
        return plain
    return list(json.loads(plain) if isinstance(plain, str) else plain)


def first_ids(ids: pd.Index, rows: NDArray[np.intp], limit: int = 5) -> str:
    """The first ids of some rows, for messages."""
    return some(ids[rows[:limit]]) if len(rows) <= limit else f"{some(ids[rows[:limit]])} and {len(rows) - limit} more"
