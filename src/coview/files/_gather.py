"""Reading all files that a user names: each once, each as its own settings say."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from coview.exceptions import ViewError
from coview.files._contents import FileTable
from coview.files._id_map import IdMap, id_map_from
from coview.files._options import TableOptions, ViewSettings
from coview.files._places import Place, find_places, same_file, split_column, split_sheet
from coview.files._problems import Problems
from coview.files._simple_csv import list_sheets, read_table, read_tables_in
from coview.views import some

__all__ = ["LABELS", "read_id_map", "read_label_file", "read_views"]

_NOTHING_OWN = ViewSettings()

LABELS = "labels"  # what the labels' file goes by in --id and in an id map


def read_views(options: TableOptions, problems: Problems) -> list[FileTable]:
    """The tables of all files of views, named; all their columns still in them."""
    places = find_places(options)
    reader = _Reader(options, places)
    tables: list[FileTable] = []
    failure: Exception | None = None
    for place in places:
        try:
            tables += reader.read(place)
        except (ValueError, OSError, ImportError) as error:
            problems.failure("unreadable_file", error, view=place.name)
            failure = error
    if not tables and failure is not None:
        raise failure
    _refuse_repeated_names([table.name for table in tables])
    for findings in {id(table.findings): table.findings for table in tables}.values():
        problems.extend(findings)
    return tables


def read_label_file(options: TableOptions, tables: Sequence[FileTable], problems: Problems) -> FileTable | None:
    """The table of the labels, where they have a file of their own."""
    if options.labels is None:
        return None
    path, sheet = split_sheet(split_column(options.labels)[0])
    if any(same_file(str(table.path), path) and sheet in (None, table.sheet) for table in tables):
        return None
    try:
        table = read_table(path, sheet=sheet, **_Reader(options, []).how(LABELS))
    except (ValueError, OSError, ImportError) as error:
        problems.failure("unreadable_file", error)
        return None
    problems.extend(tuple(finding for finding in table.findings))
    return table


def read_id_map(options: TableOptions, views: Sequence[str]) -> IdMap | None:
    """The map of ids, where the user gave one."""
    if options.id_map is None:
        return None
    cells = pd.read_csv(options.id_map, dtype=str, keep_default_na=False, sep=None, engine="python")
    return id_map_from(cells, options.id_map, [*views, LABELS])


class _Reader:
    """Reads places, a table that becomes several views only once."""

    def __init__(self, options: TableOptions, places: Sequence[Place]) -> None:
        self._options = options
        self._done: dict[Any, FileTable] = {}
        asked = places if options.id else []  # names matter to --id only, and sheets are not listed for nothing
        self._names = {LABELS, *(name for place in asked for name in _likely_names(place))}

    def read(self, place: Place) -> list[FileTable]:
        """The tables at one place."""
        if place.name is not None:
            own = self._options.per_view.get(place.name, _NOTHING_OWN)
            return [self._read_one(place.path, place.sheet, place.name, own)]
        if place.sheet is not None:
            return [self._read_one(place.path, place.sheet, place.sheet)]
        own_ids = any(text.partition(":")[0] in self._names for text in self._options.id)
        sheets = list_sheets(place.path) if own_ids else []
        if len(sheets) > 1:
            return [self._read_one(place.path, sheet, sheet) for sheet in sheets]
        return read_tables_in(place.path, **self.how(_stem(place.path)))

    def _read_one(self, path: str, sheet: str | None, view: str, own: ViewSettings = _NOTHING_OWN) -> FileTable:
        how = self.how(view, own)
        key = (os.path.realpath(path), sheet, *how.values())
        if key not in self._done:
            self._done[key] = read_table(path, sheet=sheet, name=view, **how)
        return replace(self._done[key], name=view)

    def how(self, view: str, own: ViewSettings = _NOTHING_OWN) -> dict[str, Any]:
        """What to tell the reader of a view's file; the view's own settings first."""
        all_views = self._options
        missing = own.na if own.na is not None else all_views.na
        return {
            "id_column": self._id_column(view, own),
            "separator": _separator(own.sep or all_views.sep),
            "decimal": own.decimal or all_views.decimal,
            "encoding": own.encoding or all_views.encoding,
            "missing": missing,
        }

    def _id_column(self, view: str, own: ViewSettings) -> str | None:
        """The id column: ``VIEW:COL``, else the view's setting in ``coview.toml``, else ``COL`` for all."""
        for text in self._options.id:
            if text.startswith(f"{view}:") and view in self._names:
                return text[len(view) + 1 :]
        if own.id is not None:
            return own.id
        general = [text for text in self._options.id if not any(text.startswith(f"{name}:") for name in self._names)]
        if len(general) > 1:
            raise ViewError(
                f"--id names {some(general)} for all files. Name one, and others as VIEW:COL with one of the views "
                f"{some(sorted(self._names - {LABELS}))} or '{LABELS}'."
            )
        return general[0] if general else None


def _likely_names(place: Place) -> list[str]:
    """Names that a place's views can have before it is read: given, the sheet's, the file's."""
    if place.name is not None or place.sheet is not None:
        return [place.name or place.sheet or ""]
    return [_stem(place.path), *(list_sheets(place.path) if os.path.isfile(place.path) else [])]


def _stem(path: str) -> str:
    """A file's name without its ending, as its view is called."""
    name = os.path.basename(path).removesuffix(".gz")
    return os.path.splitext(name)[0]


def _separator(given: str | None) -> str | None:
    """The separator itself; a tab may be written as a word."""
    return {"tab": "\t", "\\t": "\t", "space": " "}.get(given, given) if given is not None else None


def _refuse_repeated_names(names: Sequence[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ViewError(
            f"Several tables would become one view: {some(repeated)}. Name each with --view NAME=FILE (or "
            "--view NAME=FILE#SHEET)."
        )
