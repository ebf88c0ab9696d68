"""Reading all files that a user names: each once, each as its own settings say."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from coview.exceptions import ViewError
from coview.files._contents import FileTable
from coview.files._id_map import IdMap, id_map_from
from coview.files._options import TableOptions, ViewSettings
from coview.files._places import Place, find_places, same_file, split_column, split_sheet
from coview.files._problems import Problems
from coview.files._reading import list_sheets, read_table, read_tables_in
from coview.files._text_cells import read_text_cells
from coview.views import some

__all__ = ["LABELS", "read_files", "read_id_map"]

_FAILURES = (ValueError, OSError, ImportError)
_NOTHING_OWN = ViewSettings()
_ANNOTATED = {".h5ad", ".h5mu"}
_WITH_OWN_IDS = {".npz", *_ANNOTATED}  # know their ids without a column
_NOT_TEXT = {".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".parquet", ".pq", ".npz", ".h5ad", ".h5mu"}

LABELS = "labels"  # what the labels' file goes by in --id and in an id map


def read_files(options: TableOptions, problems: Problems) -> tuple[list[FileTable], FileTable | None]:
    """The tables of all views, named, with all their columns; and that of the labels where it is a file of its own."""
    places = find_places(options)
    reader = _Reader(options, places)
    tables: list[FileTable] = []
    failure: Exception | None = None
    for place in places:
        try:
            tables += reader.read(place)
        except _FAILURES as error:
            problems.failure("unreadable_file", error, view=place.name)
            failure = error
    if not tables and failure is not None:
        raise failure
    _refuse_repeated_names([table.name for table in tables])
    given = _read_labels(options, reader, tables, problems)
    everything = [*tables, *([] if given is None else [given])]
    for findings in {id(table.findings): table.findings for table in everything}.values():
        problems.extend(findings)  # of a table that is several views, once
    return tables, given


def _read_labels(
    options: TableOptions, reader: "_Reader", tables: Sequence[FileTable], problems: Problems
) -> FileTable | None:
    if options.labels is None:
        return None
    path, sheet = split_sheet(split_column(options.labels)[0])
    if any(same_file(str(table.path), path) and sheet in (None, table.sheet) for table in tables):
        return None
    try:
        return read_table(path, sheet=sheet, **reader.how(path, LABELS))
    except _FAILURES as error:
        problems.failure("unreadable_file", error)
        return None


def read_id_map(options: TableOptions, views: Sequence[str]) -> IdMap | None:
    """The map of ids, where the user gave one."""
    if options.id_map is None:
        return None
    path, sheet = split_sheet(options.id_map)
    cells, first_line = read_text_cells(path, sheet)
    return id_map_from(cells, options.id_map, [*views, LABELS], first_line)


class _Reader:
    """Reads places, a table that becomes several views only once."""

    def __init__(self, options: TableOptions, places: Sequence[Place]) -> None:
        self._options = options
        self._done: dict[Any, FileTable] = {}
        self._all_annotated = bool(places) and all(_ending(place.path) in _ANNOTATED for place in places)
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
        return read_tables_in(place.path, **self.how(place.path, _stem(place.path)))

    def _read_one(self, path: str, sheet: str | None, view: str, own: ViewSettings = _NOTHING_OWN) -> FileTable:
        how = self.how(path, view, own)
        key = (os.path.realpath(path), sheet, *how.values())
        if key not in self._done:
            self._done[key] = read_table(path, sheet=sheet, name=view, **how)
        return replace(self._done[key], name=view)

    def how(self, path: str, view: str, own: ViewSettings = _NOTHING_OWN) -> dict[str, Any]:
        """What to tell the reader of a view's file; the view's own settings first.

        What is said for all files about how text is written goes to text files only.
        """
        is_text = _ending(path) not in _NOT_TEXT
        general = self._options if is_text else ViewSettings(na=self._options.na)
        return {
            "id_column": self._id_column(path, view, own),
            "separator": own.sep or general.sep,
            "decimal": own.decimal or general.decimal,
            "encoding": own.encoding or general.encoding,
            "missing": own.na if own.na is not None else general.na,
        }

    def _id_column(self, path: str, view: str, own: ViewSettings) -> str | None:
        """The id column: ``VIEW:COL``, else the view's setting in ``coview.toml``, else ``COL`` for all.

        What is said for all does not reach arrays and annotated data beside other files: they know their ids.
        """
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
        if _ending(path) in _WITH_OWN_IDS and not (self._all_annotated and _ending(path) in _ANNOTATED):
            return None
        return general[0] if general else None


def _likely_names(place: Place) -> list[str]:
    """Names that a place's views can have before it is read: given, the sheet's, the file's."""
    if place.name is not None or place.sheet is not None:
        return [place.name or place.sheet or ""]
    try:
        sheets = list_sheets(place.path)
    except _FAILURES:  # told when the file is read
        sheets = []
    return [_stem(place.path), *sheets]


def _stem(path: str) -> str:
    """A file's name without its ending, as its view is called."""
    return os.path.splitext(os.path.basename(path).removesuffix(".gz"))[0]


def _ending(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _refuse_repeated_names(names: Sequence[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ViewError(
            f"Several tables would become one view: {some(repeated)}. Name each with --view NAME=FILE (or "
            "--view NAME=FILE#SHEET)."
        )
