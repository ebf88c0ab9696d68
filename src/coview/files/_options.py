"""Everything a user can say about data, wherever it was said: on the command line, in ``coview.toml``, in Python."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

__all__ = ["TableOptions", "ViewSettings"]


@dataclass(frozen=True)
class ViewSettings:
    """What holds for the file of one view only; None where what holds for all does.

    Attributes
    ----------
    id, sep, decimal, encoding : str or None
    na : tuple of str or None
    columns : tuple of str or None
        Names or patterns (``"ct_*"``) of the columns to keep; None keeps all.
    """

    id: str | None = None
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    na: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True)
class TableOptions:
    """What a user says about data; each field is the command line's option of that name.

    Attributes
    ----------
    data : tuple of str
        Files, one folder with a ``coview.toml``, or that file.
    view : tuple of str
        ``"NAME=FILE"`` or ``"NAME=FILE#SHEET"``.
    view_columns : str or None
        TOML file that says which columns of the one table make up which view.
    id : tuple of str
        ``"COL"`` for every file, ``"VIEW:COL"`` for one (``"labels:COL"`` for the labels).
    leave_out : tuple of str
        Columns, or patterns (``"date_*"``), that are no features: ``"COL"`` in every table, ``"VIEW:COL"`` in one.
    labels : str or None
        ``"FILE"`` or ``"FILE:COL"``.
    target : str or None
        Column of the labels: of the labels' file, or of one of the tables, from which it is then taken out.
    sep, decimal, encoding : str or None
        None to find out.
    na : tuple of str or None
        Marks of a missing value beside the empty cell; None for the usual ones.
    id_map : str or None
        File that says which sample an id of which view means.
    duplicates : {"error", "first", "last", "drop"} or None
        Which row counts where a view has several for a sample; None is ``"error"``.
    almost_equal : {"keep", "join"} or None
        Whether ids that differ only in spelling are one sample; None is ``"keep"``.
    task : {"auto", "classification", "regression"} or None
        How the labels are read; None is ``"auto"``.
    config : str or None
        The ``coview.toml`` to read; None for the one beside the data.
    per_view : dict of str to ViewSettings
    fit : dict
        Settings of a fit, from the ``[fit]`` table of ``coview.toml``.
    complete : bool
        Whether ``coview.toml`` has been looked for already.
    """

    data: tuple[str, ...] = ()
    view: tuple[str, ...] = ()
    view_columns: str | None = None
    id: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    labels: str | None = None
    target: str | None = None
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    na: tuple[str, ...] | None = None
    id_map: str | None = None
    duplicates: Literal["error", "first", "last", "drop"] | None = None
    almost_equal: Literal["keep", "join"] | None = None
    task: Literal["auto", "classification", "regression"] | None = None
    config: str | None = None
    per_view: Mapping[str, ViewSettings] = field(default_factory=dict)
    fit: Mapping[str, Any] = field(default_factory=dict)
    complete: bool = False

    def __post_init__(self) -> None:
        for name in ("data", "view", "id", "leave_out"):
            object.__setattr__(self, name, _texts(getattr(self, name)))
        if self.na is not None:
            object.__setattr__(self, "na", _texts(self.na))

    @property
    def names_data(self) -> bool:
        """Whether any data are named."""
        return bool(self.data or self.view or self.config)

    def without_labels(self) -> "TableOptions":
        """The same data, their labels left alone."""
        return replace(self, labels=None, target=None, task=None)


def _texts(given: Any) -> tuple[str, ...]:
    """One or several words or paths as a tuple of text."""
    if given is None:
        return ()
    items = [given] if isinstance(given, str | os.PathLike) else given
    return tuple(os.fspath(item) for item in items)
