"""Tables matched by sample id: a row absent from a table is a missing view."""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.exceptions import ViewError
from coview.views._ids import almost_equal_ids, comparable_ids, ids_among, refuse_duplicates, some
from coview.views._tables import AlignedTables, Table

__all__ = ["align_tables", "align_target"]


def align_tables(tables: Sequence[Table], *, check_ids: bool = True) -> AlignedTables:
    """Tables over their common samples, in order of first appearance; ``check_ids`` asks for overlap and spelling."""
    with_ids = [table for table in tables if table.ids is not None]
    if not with_ids:
        _refuse_unequal_heights(tables)
        return AlignedTables(tuple(tables), pd.RangeIndex(tables[0].n_rows), has_ids=False, same_order=True)
    indexes = comparable_ids(*(table.ids for table in with_ids if table.ids is not None))
    for table, ids in zip(with_ids, indexes, strict=True):
        refuse_duplicates(ids, f"view '{table.name}'")
    if all(ids.equals(indexes[0]) for ids in indexes[1:]):
        _refuse_unequal_heights(tables)
        aligned = AlignedTables(tuple(tables), indexes[0], has_ids=True, same_order=True)
    else:
        _refuse_tables_without_ids(tables)
        aligned = _outer_join(with_ids, indexes)
    if check_ids:
        _check_overlap(with_ids, indexes)
        _report_almost_equal(aligned.ids)
    return aligned


def _outer_join(tables: Sequence[Table], indexes: Sequence[pd.Index]) -> AlignedTables:
    union = indexes[0]
    for ids in indexes[1:]:
        union = union.append(ids[~ids_among(ids, union)])
    placed = [
        replace(table, rows=union.get_indexer(ids).astype(np.intp)) for table, ids in zip(tables, indexes, strict=True)
    ]
    return AlignedTables(tuple(placed), union, has_ids=True, same_order=False)


def _refuse_unequal_heights(tables: Sequence[Table]) -> None:
    heights = {table.name: table.n_rows for table in tables}
    if len(set(heights.values())) > 1:
        listed = ", ".join(f"'{name}': {height}" for name, height in heights.items())
        raise ViewError(
            f"Arrays given as views must have the same number of rows; got {listed}. Pass DataFrames indexed by "
            "sample id: a sample absent from a table is then a missing view."
        )


def _refuse_tables_without_ids(tables: Sequence[Table]) -> None:
    without = [table.name for table in tables if table.ids is None]
    if without:
        raise ViewError(
            f"The tables' sample ids differ, and {some(without)} has none to match them by. "
            "Give every view as a DataFrame indexed by sample id."
        )


def _check_overlap(tables: Sequence[Table], indexes: Sequence[pd.Index]) -> None:
    filled = [(table.name, ids) for table, ids in zip(tables, indexes, strict=True) if len(ids)]
    for position, (name, ids) in enumerate(filled):
        others = [other for place, (_, other) in enumerate(filled) if place != position]
        if not others or any(ids_among(ids, other).any() for other in others):
            continue
        raise ViewError(
            f"No sample of view '{name}' occurs in another view; its ids begin {some(ids[:3])}, those of the others "
            f"{some(others[0][:3])}.{_spelling_hint([ids, *others])} Index all tables by the same sample ids."
        )


def _spelling_hint(indexes: Sequence[pd.Index]) -> str:
    groups = almost_equal_ids(label for ids in indexes for label in ids.tolist())
    return f" Some are almost equal: {_listed(groups)}." if groups else ""


def _report_almost_equal(ids: pd.Index) -> None:
    if pd.api.types.is_integer_dtype(ids.dtype):
        return
    groups = almost_equal_ids(ids)
    if groups:
        warnings.warn(
            f"Some sample ids are almost equal and count as different samples: {_listed(groups)}. "
            "Write each sample's id in one way in all tables.",
            UserWarning,
            stacklevel=2,
        )


def _listed(groups: Sequence[Sequence[str]], limit: int = 5) -> str:
    shown = "; ".join(" ~ ".join(map(repr, group)) for group in groups[:limit])
    return shown if len(groups) <= limit else f"{shown} and {len(groups) - limit} more groups"


def align_target(y: pd.Series, ids: pd.Index) -> pd.Series:
    """The entries of ``y`` in the order of ``ids``, matched by id.

    Samples that ``y`` does not list get NaN (an unlabeled sample); the others keep their type.

    Parameters
    ----------
    y : Series indexed by sample id
    ids : Index of length n_samples

    Returns
    -------
    aligned : Series of length n_samples

    Raises
    ------
    ViewError
        If ``y`` repeats an id or shares none with ``ids``.

    Warns
    -----
    UserWarning
        If each side has ids that the other lacks, which is often a matter of spelling.

    Examples
    --------
    >>> import pandas as pd
    >>> list(align_target(pd.Series(["no", "yes"], index=["p2", "p1"]), pd.Index(["p1", "p2"])))
    ['yes', 'no']
    """
    wanted, given = comparable_ids(ids, y.index)
    if given.equals(wanted):
        return y
    refuse_duplicates(given, "y")
    positions = given.get_indexer(wanted)
    absent = positions < 0
    _check_target_overlap(wanted, given, absent)
    aligned = y.iloc[np.where(absent, 0, positions)].set_axis(ids)
    if not absent.any():
        return aligned
    # Integers and truth values have no NaN of their own, so they are held as objects.
    return (aligned if aligned.dtype.kind == "f" else aligned.astype(object)).mask(absent, np.nan)


def _check_target_overlap(wanted: pd.Index, given: pd.Index, absent: NDArray[np.bool_]) -> None:
    if absent.all():
        raise ViewError(
            f"No id of y occurs in X; y's begin {some(given[:3])}, those of X {some(wanted[:3])}. Index y by the "
            "sample ids of X, or pass y.to_numpy() if its rows are in the order of X."
        )
    unknown = given[~ids_among(given, wanted)]
    if absent.any() and len(unknown):
        warnings.warn(
            f"{int(absent.sum())} samples of X have no entry in y and count as unlabeled, while y has {len(unknown)} "
            f"ids that X lacks: {some(unknown)}. Check that both write the ids in the same way.",
            UserWarning,
            stacklevel=2,
        )
