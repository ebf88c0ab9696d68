"""New data against fitted data: same views, same columns; and rows complete where they must be."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from coview.exceptions import ViewError
from coview.views._columns import take_columns
from coview.views._ids import first_ids, some
from coview.views._similar import similar_names
from coview.views._tables import AlignedTables, Table
from coview.views._views import Views

__all__ = ["check_complete_rows", "conform", "incomplete_rows", "missing_columns_message"]


def incomplete_rows(views: Views, name: str) -> NDArray[np.intp]:
    """Positions of the samples that have a view with some of its features missing.

    Parameters
    ----------
    views : Views
    name : str
        The view to look at.

    Returns
    -------
    rows : ndarray of shape (n_incomplete,)

    Examples
    --------
    >>> incomplete_rows(Views([[[1.0, float("nan")], [2.0, 3.0]]]), "view_0")
    array([0])
    """
    values = views[name]
    if values.dtype.kind != "f":
        return np.empty(0, dtype=np.intp)
    if sparse.issparse(values):
        owners = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
        return np.asarray(views.rows(name)[np.unique(owners[np.isnan(values.data)])])
    with np.errstate(over="ignore", invalid="ignore"):
        row_sums = values.sum(axis=1)  # NaN exactly where a cell is, as the cells are finite otherwise
    doubtful = np.flatnonzero(~np.isfinite(row_sums))
    return np.asarray(views.rows(name)[doubtful[np.isnan(values[doubtful]).any(axis=1)]])


def check_complete_rows(views: Views, *, context: str = "X") -> None:
    """Raise if a sample has a view with some of its features missing.

    Parameters
    ----------
    views : Views
    context : str, default="X"
        How the message calls the input.

    Raises
    ------
    ViewError
        Names the view, the count and the first ids.
    """
    for name in views.names:
        rows = incomplete_rows(views, name)
        if len(rows):
            raise ViewError(
                f"Input {context} contains NaN: in view '{name}', {len(rows)} samples miss some features but not all: "
                f"{first_ids(views.index, rows)}. Fill such gaps first, for example with coview.compose.TableEncoder; "
                "a view that is missing as a whole may stay NaN."
            )


def conform(
    aligned: AlignedTables, n_features: Mapping[str, int], feature_names: Mapping[str, Sequence[Any] | None]
) -> AlignedTables:
    """The tables in the order, and with the columns, that a model was fitted on.

    Parameters
    ----------
    aligned : AlignedTables
        Any subset of the fitted views.
    n_features : mapping of str to int
        Width of each fitted view, in order.
    feature_names : mapping of str to list or None
        Column labels of each fitted view.

    Returns
    -------
    conformed : AlignedTables
        All fitted views; those not given have no rows.

    Raises
    ------
    ViewError
        If a view or its columns are not those of the fit.

    Examples
    --------
    >>> from coview.views import read_tables
    >>> aligned = read_tables({"ct": pd.DataFrame({"grade": [2], "volume": [3.5]})})
    >>> conformed = conform(aligned, {"ct": 2, "lab": 1}, {"ct": ["volume", "grade"], "lab": None})
    >>> conformed.names, list(conformed.tables[0].columns), conformed.tables[1].n_rows
    (['ct', 'lab'], ['volume', 'grade'], 0)
    """
    given = {table.name: table for table in aligned.tables}
    unknown = [name for name in given if name not in n_features]
    if unknown:
        raise ViewError(f"Views {some(unknown)} were not seen in fit; known are {some(n_features, 20)}.")
    labels = {name: None if columns is None else pd.Index(columns) for name, columns in feature_names.items()}
    tables = [
        _conform_table(given[name], width, labels[name])
        if name in given
        else Table(name, np.empty((0, width)), labels[name], rows=np.empty(0, dtype=np.intp))
        for name, width in n_features.items()
    ]
    presence = aligned.presence
    if presence is not None:
        positions = [aligned.names.index(name) if name in given else -1 for name in n_features]
        presence = np.column_stack([presence, np.zeros(aligned.n_samples, dtype=bool)])[:, positions]
    return replace(aligned, tables=tuple(tables), presence=presence)


def _conform_table(table: Table, width: int, fitted: pd.Index | None) -> Table:
    given = table.columns
    if fitted is None or given is None or given.equals(fitted):
        if table.n_features != width:
            raise ViewError(f"View '{table.name}' has {table.n_features} features, but was fitted with {width}.")
        return table
    missing, unseen = fitted[~fitted.isin(given)], given[~given.isin(fitted)]
    if len(missing):
        raise ViewError(missing_columns_message(table.name, fitted, missing, unseen))
    if len(unseen) or not fitted.is_unique or not given.is_unique:
        problem = f"unseen in fit are {some(unseen)}" if len(unseen) else "a repeated label prevents matching by name"
        raise ViewError(
            f"The columns of view '{table.name}' are not those of the fit: {problem}. Give the same columns."
        )
    return take_columns(table, table.name, given.get_indexer(fitted).astype(np.intp))


def missing_columns_message(view: str, fitted: pd.Index, missing: pd.Index, unseen: pd.Index) -> str:
    """What to tell of a view that lacks columns of the fit, with the most similar of the columns that nobody asked for."""
    similar = [f"{given!r} for {wanted!r}" for wanted, given in similar_names(missing, unseen).items()]
    unknown = f"; unseen in fit are {some(unseen)}" if len(unseen) else ""
    hint = f" Similar are {', '.join(similar)}: rename them." if similar else " Give the columns of the fit."
    return (
        f"View '{view}' lacks {len(missing)} of the {len(fitted)} columns it was fitted with: missing are "
        f"{some(missing)}{unknown}.{hint}"
    )
