"""What the XML of an .xlsx sheet says before its cells are loaded: how far it reaches, errors, formulas without results.

The reader of cells makes a rectangle from the first to the last cell, so one stray cell in the far corner would take all
memory there is; and it shows error cells and formulas without a stored result as empty ones.
"""

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from coview.exceptions import ViewError

__all__ = ["SheetFacts", "scan_sheet", "unpacked_size_checked"]

_LARGEST_UNPACKED = 4 * 2**30
_LARGEST_INDEX = 2**24  # bytes of the list of sheets
_BLOCK = 2**20


@dataclass
class SheetFacts:
    """What one sheet holds.

    Attributes
    ----------
    n_rows, n_columns : int
        The last row and the last column that have content.
    n_formulas : int
    errors, uncalculated : list of str
        The first cells that hold an error, and the first formulas without a stored result.
    n_errors, n_uncalculated : int
    is_stale : bool
        Whether the workbook asks to be calculated when it is opened, so that stored results may not be results.
    """

    n_rows: int = 0
    n_columns: int = 0
    n_formulas: int = 0
    errors: list[str] = field(default_factory=list)
    uncalculated: list[str] = field(default_factory=list)
    n_errors: int = 0
    n_uncalculated: int = 0
    is_stale: bool = False


def unpacked_size_checked(path: Path) -> None:
    """Raise for a packed file that is damaged, or would take more than 4 GiB unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except zipfile.BadZipFile as error:
        raise ViewError(
            f"{path} is not a whole workbook ({error}). If it has a password, remove it; else save or copy it again."
        ) from error
    if size > _LARGEST_UNPACKED:
        raise ViewError(
            f"{path} would take {size / 2**30:.0f} GiB unpacked; at most {_LARGEST_UNPACKED // 2**30} GiB are read. "
            "Save the sheet as CSV."
        )


def scan_sheet(path: Path, name: str) -> SheetFacts:
    """Facts about one sheet of an .xlsx or .xlsm; one pass over its XML, a few hundred MB/s."""
    facts = SheetFacts()
    with zipfile.ZipFile(path) as archive:
        member, facts.is_stale = _member(archive, name)
        if member is None:
            return facts
        try:
            for text in _segments(archive, member):
                _add(facts, text)
        except (zipfile.BadZipFile, EOFError) as error:
            raise ViewError(f"{path}: the sheet '{name}' is damaged ({error}). Save or copy the file again.") from error
    return facts


def _member(archive: zipfile.ZipFile, name: str) -> tuple[str | None, bool]:
    """The file of a sheet inside the workbook, and whether the workbook is to be calculated when opened."""
    book = _xml(archive, "xl/workbook.xml")
    links = _xml(archive, "xl/_rels/workbook.xml.rels")
    if book is None or links is None:
        return None, False
    stale = any(
        _local(element.tag) == "calcPr" and element.get("fullCalcOnLoad") in ("1", "true") for element in book.iter()
    )
    targets = {element.get("Id"): element.get("Target", "") for element in links.iter()}
    for element in book.iter():
        if _local(element.tag) == "sheet" and element.get("name") == name:
            link = next((value for key, value in element.attrib.items() if _local(key) == "id"), None)
            target = targets.get(link, "")
            member = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
            return (member if member in archive.namelist() else None), stale
    return None, stale


def _local(tag: str) -> str:
    return tag.rsplit("}", 1)[-1]


def _xml(archive: zipfile.ZipFile, member: str) -> ElementTree.Element | None:
    try:
        if archive.getinfo(member).file_size > _LARGEST_INDEX:
            return None
        return ElementTree.fromstring(archive.read(member))
    except (KeyError, ElementTree.ParseError):
        return None


def _segments(archive: zipfile.ZipFile, member: str) -> Iterator[bytes]:
    """Text of a sheet in pieces that end where a row ends, without prefixes of its elements."""
    pending, prefix = b"", None
    with archive.open(member) as stream:
        while block := stream.read(_BLOCK):
            if prefix is None:
                found = re.search(rb"<(\w+:)worksheet", block)
                prefix = found[1] if found else b""
            pending += block
            end = pending.rfind(b"</" + prefix + b"row>")
            if end >= 0:
                end += len(prefix) + 6
                yield (
                    pending[:end].replace(b"<" + prefix, b"<").replace(b"</" + prefix, b"</")
                    if prefix
                    else pending[:end]
                )
                pending = pending[end:]


_LAST_CELL = re.compile(rb"</c>(?:\s*<c [^>]*/>)*\s*</row>")
_PLACE = re.compile(rb'\br="([A-Z]+)(\d+)"')
_ERROR = re.compile(rb'<c ([^>]*\bt="e"[^>]*)>')
_NO_RESULT = re.compile(rb"<c ([^>]*)>\s*<f(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v>\s*</v>|<v ?/>)?\s*</c>")


def _add(facts: SheetFacts, text: bytes) -> None:
    for end in _LAST_CELL.finditer(text):
        start = text.rfind(b"<c ", 0, end.start())
        place = _PLACE.search(text, start, end.start())
        if place:
            facts.n_rows = max(facts.n_rows, int(place[2]))
            facts.n_columns = max(facts.n_columns, _column_number(place[1]))
    facts.n_formulas += text.count(b"<f>") + text.count(b"<f ") + text.count(b"<f/>")
    if b't="e"' in text:
        facts.n_errors += _note(_ERROR, text, facts.errors)
    if b"<f" in text:
        facts.n_uncalculated += _note(_NO_RESULT, text, facts.uncalculated)


def _note(pattern: re.Pattern[bytes], text: bytes, places: list[str]) -> int:
    """Number of matches; the first few cells are added to ``places``."""
    found = pattern.findall(text)
    for attributes in found[: max(0, 5 - len(places))]:
        place = _PLACE.search(attributes)
        if place:
            places.append((place[1] + place[2]).decode())
    return len(found)


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number
