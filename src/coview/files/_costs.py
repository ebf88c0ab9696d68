"""What measurements cost, as a user writes it down: one row per view, feature, or pair of sample and view."""

import os
from typing import Any

import pandas as pd

from coview.exceptions import ViewError
from coview.files._contents import FileTable
from coview.files._reading import read_table

__all__ = ["read_costs"]

_IMPOSSIBLE = "impossible"
_PRICES = ("cost", "group_cost")
_IDLE = ("delay", "unit")  # of interest to people, not to a ranking


def read_costs(path: str | os.PathLike[str] | None, *, pairs: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    r"""Costs of measurements from files, as `coview.acquisition.Costs.of` takes them.

    Parameters
    ----------
    path : str, path or None
        A table with columns ``view, cost`` and perhaps ``feature``, ``group, group_cost``, ``delay, unit``; one row per view, or
        per feature of it.
    pairs : str or path, default=None
        A table with columns ``sample, view, cost``; the cost ``impossible`` excludes a pair.

    Returns
    -------
    costs : DataFrame
        The columns above without ``delay`` and ``unit``, those of pairs with their ``sample``.

    Raises
    ------
    ViewError
        If a column is missing, or a cost is no number of at least 0; the message says where.
    OSError
        If a file cannot be opened.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "costs.csv"
    >>> _ = path.write_text("view,cost,group,group_cost\nmri,900,visit,50\ngenes,200,visit,50\n")
    >>> from coview.acquisition import Costs
    >>> Costs.of(read_costs(path)).views
    {'mri': 900.0, 'genes': 200.0}
    """
    tables = []
    if path is not None:
        tables.append(_priced(read_table(path, id_column="view"), "view", ("cost",)))
    if pairs is not None:
        tables.append(_priced(read_table(pairs, id_column="sample"), "sample", ("view", "cost")))
    if not tables:
        raise ValueError("read_costs needs a file of costs.")
    return pd.concat(tables, ignore_index=True)


def _priced(table: FileTable, id_name: str, needed: tuple[str, ...]) -> pd.DataFrame:
    """The columns that count, prices as numbers."""
    values: pd.DataFrame = table.values
    absent = [name for name in needed if name not in values.columns]
    if absent:
        shown = ", ".join(map(str, [id_name, *values.columns]))
        raise ViewError(f"{table.where} needs the column {absent[0]}; its columns are {shown}.")
    values = values.drop(columns=[name for name in _IDLE if name in values.columns])
    for name in _PRICES:
        if name in values.columns:
            values[name] = [
                _price(cell, table, row, name, id_name == "sample") for row, cell in enumerate(values[name])
            ]
    values.insert(0, id_name, table.ids)
    return values


def _price(cell: Any, table: FileTable, row: int, name: str, of_pairs: bool) -> Any:
    """A number, or "impossible" for a pair."""
    text = "" if pd.isna(cell) else str(cell).strip()
    if of_pairs and text.casefold() == _IMPOSSIBLE:
        return _IMPOSSIBLE
    if name == "group_cost" and not text:
        return None
    try:
        price = float(text)
    except ValueError:
        price = -1.0
    if not 0.0 <= price < float("inf"):
        also = ' or "impossible"' if of_pairs else ""
        place = f"{table.where}, line {table.first_line + row}: " if table.first_line else f"{table.where}: "
        raise ViewError(f"{place}{name} must be a number of at least 0{also}; got {text!r}.")
    return price
