"""Where the tables are: files, sheets of workbooks, and the views they become."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from coview.exceptions import ViewError
from coview.files._options import TableOptions
from coview.views import some

__all__ = ["Place", "find_places", "same_file", "split_column", "split_sheet", "split_view"]


@dataclass(frozen=True)
class Place:
    """One file, or one sheet of it, that the user named.

    Attributes
    ----------
    path : str
    sheet : str or None
        None where none was asked for.
    name : str or None
        The view's name; None where the file gives it.
    """

    path: str
    sheet: str | None = None
    name: str | None = None


def find_places(options: TableOptions) -> list[Place]:
    """The files of the views, in the order given: positional ones first."""
    places = [Place(*split_sheet(text)) for text in options.data]
    for text in options.view:
        name, file = split_view(text)
        places.append(Place(*split_sheet(file), name))
    if not places:
        raise ViewError("No data are named. Give one or several files, or --view NAME=FILE for each view.")
    for place in places:
        if Path(place.path).is_dir():
            raise ViewError(_advice_for_folder(Path(place.path)))
    _refuse_repeated_files(places, options)
    return places


def split_view(text: str) -> tuple[str, str]:
    """The name and the file of ``NAME=FILE``."""
    name, equals, file = text.partition("=")
    name = name.strip()
    if not equals or not name or not file:
        raise ViewError(f"A view is given as NAME=FILE, or NAME=FILE#SHEET; got {text!r}.")
    if not name.isprintable():
        raise ViewError(f"The name of a view must be printable text; got {name!r}.")
    return name, file


def split_sheet(text: str) -> tuple[str, str | None]:
    """The file and the sheet of ``FILE#SHEET``; a ``#`` may also be part of a file's name."""
    if "#" not in text or os.path.exists(text):
        return text, None
    path, _, sheet = text.rpartition("#")
    return (path, sheet) if path and sheet else (text, None)


def split_column(text: str) -> tuple[str, str | None]:
    r"""The file and the column of ``FILE:COL``; there may be colons in both, as in ``C:\x.csv:a:b``."""
    if os.path.exists(text):
        return text, None
    colons = [position for position, letter in enumerate(text) if letter == ":" and 0 < position < len(text) - 1]
    for position in colons:
        if os.path.isfile(split_sheet(text[:position])[0]):
            return text[:position], text[position + 1 :]
    if os.path.isfile(split_sheet(text)[0]):
        return text, None
    if colons and not (colons == [1] and text[0].isalpha()):
        return text[: colons[-1]], text[colons[-1] + 1 :]
    return text, None


def same_file(left: str, right: str) -> bool:
    """Whether two paths lead to one file."""
    return os.path.realpath(left) == os.path.realpath(right)


def _advice_for_folder(folder: Path) -> str:
    """What to say of a folder without ``coview.toml``."""
    files = sorted(str(path) for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    found = f"It holds {some(files)}; name those to read" if files else "It is empty; name the files to read"
    return f"{folder} is a folder without coview.toml. {found}."


def _refuse_repeated_files(places: Iterable[Place], options: TableOptions) -> None:
    """Raise where one table would become two views without being told which columns go where."""
    seen: dict[tuple[str, str | None], Place] = {}
    for place in places:
        key = (os.path.realpath(place.path), place.sheet)
        settings = options.per_view.get(place.name or "")
        if key in seen and (settings is None or settings.columns is None):
            raise ViewError(
                f"{place.path} is named twice. Name it once; to make several views of one table, say which columns go "
                "where with --view-columns FILE."
            )
        seen[key] = place
