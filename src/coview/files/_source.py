"""The bytes of a text file: opened as often as needed, checked once, handed on as UTF-8."""

import codecs
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from coview.exceptions import ViewError

__all__ = ["Encoding", "Source", "Utf8Stream", "find_encoding"]

_BLOCK = 2**20
_STRANGE = re.compile("[\udc80-\udcff]")  # what "surrogateescape" makes of a byte that is not UTF-8
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins like UTF-16, so it is tried first
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class Source:
    """A file, perhaps packed by gzip, or what came on standard input (``content``)."""

    path: Path
    content: bytes | None = None

    @classmethod
    def of(cls, path: Path) -> "Source":
        """The source of a path; ``-`` is standard input, which is read here."""
        return cls(path, sys.stdin.buffer.read()) if str(path) == "-" else cls(path)

    def open(self) -> BinaryIO:
        """The unpacked bytes from the start."""
        if self.content is not None:
            return io.BytesIO(self.content)
        if self.path.suffix.lower() == ".gz":
            return cast(BinaryIO, gzip.open(self.path, "rb"))
        return self.path.open("rb")

    def blocks(self, size: int = _BLOCK) -> Iterator[bytes]:
        """The unpacked bytes, a block at a time."""
        with self.open() as stream:
            while block := self.read(stream, size):
                yield block

    def read(self, stream: BinaryIO, size: int) -> bytes:
        """Some bytes of an open stream; a damaged gzip file is named."""
        try:
            return stream.read(size)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ViewError(f"{self.path} is not a whole gzip file ({error}). Copy or download it again.") from error


@dataclass(frozen=True)
class Encoding:
    """How the characters of a file are stored.

    Attributes
    ----------
    name : str
        Name of the codec.
    n_mark : int
        Length of the byte order mark.
    said : str
        The encoding in words.
    """

    name: str
    n_mark: int = 0
    said: str = ""


def find_encoding(source: Source, wanted: str | None) -> tuple[Encoding, bool]:
    """The encoding of a whole file, and whether it has a quote mark anywhere.

    Raises
    ------
    ViewError
        If the file is empty, holds NUL bytes, or is UTF-8 except for some bytes.
    """
    head = next(source.blocks(), b"")
    if not head:
        raise ViewError(f"{source.path} is empty (0 bytes). Save the table again, with one line per sample.")
    encoding = _named(source, wanted, head) if wanted else _marked(head)
    if encoding is None:
        utf8 = Encoding("utf-8", 0, "UTF-8")
        problem, quoted = _scan(source, utf8)
        return (utf8 if problem is None else _not_utf8(source, problem)), quoted
    problem, quoted = _scan(source, encoding)
    if problem is not None:
        raise ViewError(
            f"{source.path}, line {problem}: not valid {encoding.said.split(' ')[0]}. "
            "Save the file as UTF-8, or name its encoding (--encoding)."
        )
    return encoding, quoted


def _named(source: Source, wanted: str, head: bytes) -> Encoding:
    try:
        name = codecs.lookup(wanted).name
    except LookupError:
        raise ViewError(
            f"There is no encoding '{wanted}'. Usual ones: utf-8, windows-1252, latin-1, utf-16, mac-roman, shift-jis."
        ) from None
    marked = _marked(head)
    if marked is None:
        return Encoding({"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}.get(name, name), 0, name)
    stated = name.replace("-sig", "")
    if not marked.name.startswith(stated):
        raise ViewError(
            f"{source.path} begins with the byte order mark of {marked.name}, so it is not {name}. "
            "Leave the encoding out."
        )
    return marked


def _marked(head: bytes) -> Encoding | None:
    """The encoding that the first bytes give away."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return Encoding(name, len(mark), f"{name.upper()} with byte order mark")
    even, odd = head[:2000:2].count(0), head[1:2000:2].count(0)
    if max(even, odd) > 0.4 * len(head[:2000]) / 2 and min(even, odd) == 0:
        name = "utf-16-le" if odd else "utf-16-be"
        return Encoding(name, 0, f"{name.upper()} without byte order mark")
    return None


def _scan(source: Source, encoding: Encoding) -> tuple[int | None, bool]:
    """The first line that cannot be decoded (None if all can), and whether there is a quote mark."""
    decoder = codecs.getincrementaldecoder(encoding.name)()
    is_utf8, n_read, is_quoted, pending = encoding.name == "utf-8", 0, False, b""
    is_wide = encoding.name.startswith(("utf-16", "utf-32"))
    for number, block in enumerate(source.blocks()):
        text = block[encoding.n_mark :] if number == 0 else block
        is_quoted = is_quoted or b'"' in text
        if not is_wide and b"\0" in text:
            line = _line_at(source, n_read + block.index(b"\0"))
            raise ViewError(
                f"{source.path}, line {line}: holds a NUL byte, so it is no text file, or it is damaged. "
                "Save the table again as CSV."
            )
        if not (is_utf8 and text.isascii() and not pending):
            try:
                decoder.decode(text)
            except UnicodeDecodeError as error:
                n_mark = encoding.n_mark if number == 0 else 0
                return _line_at(source, n_read + n_mark - len(pending) + error.start), is_quoted
            pending = decoder.getstate()[0]
        n_read += len(block)
    return (_line_at(source, n_read) if pending else None), is_quoted


def _line_at(source: Source, offset: int) -> int:
    """Line in which a byte stands, which may be one byte of several of a letter."""
    n_lines = n_read = 0
    for block in source.blocks():
        n_lines += _n_lines(block[: offset - n_read])
        n_read += len(block)
        if n_read >= offset:
            break
    return n_lines + 1


def _n_lines(block: bytes) -> int:
    return block.count(b"\n") or block.count(b"\r")


def _not_utf8(source: Source, line: int) -> Encoding:
    """What a file is that is not UTF-8; raises where most of its letters are, so that some bytes must be wrong."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    n_good = n_bad = 0
    undefined = False
    for block in source.blocks():
        text = decoder.decode(block)
        n_strange = len(_STRANGE.findall(text))
        n_bad, n_good = n_bad + n_strange, n_good + len(_NOT_ASCII.findall(text)) - n_strange
        undefined = undefined or bool(set(block) & {0x81, 0x8D, 0x8F, 0x90, 0x9D})
    if n_good >= n_bad:
        raise ViewError(
            f"{source.path}, line {line}: a byte that is not UTF-8, although the rest of the file is. "
            "Repair the line, or name the encoding (--encoding windows-1252 reads anything of one byte a letter)."
        )
    name = "latin-1" if undefined else "windows-1252"
    return Encoding(name, 0, f"{name}, because it is not UTF-8")


class Utf8Stream:
    """A file as UTF-8 without its byte order mark, for pandas' reader.

    Parameters
    ----------
    source : Source
    encoding : Encoding
    n_skipped : int
        Characters left out at the start.
    """

    def __init__(self, source: Source, encoding: Encoding, n_skipped: int = 0) -> None:
        self._source = source
        self._stream = source.open()
        self._stream.read(encoding.n_mark)
        self._decoder = (
            None if encoding.name == "utf-8" else codecs.getincrementaldecoder(encoding.name)(errors="strict")
        )
        self._left = b""
        if n_skipped:
            self._skip(n_skipped)

    def _skip(self, n_skipped: int) -> None:
        """Leave out characters, which may be longer than one block."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        while n_skipped > 0:
            block = self.read(_BLOCK)
            if not block:
                return
            text = decoder.decode(block)
            n_skipped -= len(text)
            if n_skipped <= 0:
                pending = decoder.getstate()[0]
                self._left = text[n_skipped:].encode() + pending if n_skipped else pending

    def read(self, size: int = -1) -> bytes:
        """At least one byte unless the file is at its end."""
        if self._left:
            block, self._left = self._left, b""
            if 0 < size < len(block):
                block, self._left = block[:size], block[size:]
            return block
        while True:
            raw = self._source.read(self._stream, size)
            if self._decoder is None:
                return raw
            text = self._decoder.decode(raw, final=not raw)
            if text or not raw:
                return text.encode()

    def __iter__(self) -> Iterator[bytes]:
        """Blocks; pandas asks for the method but reads."""
        while block := self.read(_BLOCK):
            yield block

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
