"""ZIP archives whose bytes depend on their content alone, read with nothing taken on trust."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping

from coview.persistence._problems import ModelFileError

__all__ = ["MAX_SIZE", "open_archive", "write_archive"]

# Bytes that the members of a file may have when unpacked, all together.
MAX_SIZE = 4 * 2**30
# A file may unpack to this many times its size, and this much more.
_MAX_RATIO, _SLACK = 60, 2**24
# What shrinks more than this is stored as it is, so that files of ours stay far from the limit above.
_DEFLATED_RATIO = 30
_MAX_ENTRIES = 100_000
_EPOCH = (1980, 1, 1, 0, 0, 0)
_ENCRYPTED = 0x1


def write_archive(members: Mapping[str, bytes]) -> bytes:
    """A ZIP file of the members in their order, with one date for all of them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # the same on every system
            entry.compress_type = zipfile.ZIP_DEFLATED if _worth_deflating(name, content) else zipfile.ZIP_STORED
            archive.writestr(entry, content)
    return buffer.getvalue()


def _worth_deflating(name: str, content: bytes) -> bool:
    """Whether packing a member saves room, and not so much that the file would look like a bomb."""
    if name.endswith(".skops"):  # its members are packed already
        return False
    sample = content[: 2**16]
    if len(zlib.compress(sample, 1)) > 0.9 * len(sample):
        return False
    return len(content) < 2**16 or len(zlib.compress(content, 1)) * _DEFLATED_RATIO > len(content)


def open_archive(
    data: bytes, what: str, *, check_names: Callable[[list[str], str], None] | None = None
) -> dict[str, bytes]:
    """Members of a ZIP file by name, each checked against what the archive says of it.

    Parameters
    ----------
    data : bytes
    what : str
        How messages call the file.
    check_names : callable, default=None
        Raises where names are not those wanted; called before anything is unpacked.

    Raises
    ------
    ModelFileError
        If the archive is damaged, encrypted, repeats a name, names a path, or unpacks to far more than it should.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if check_names is not None:
                check_names([entry.filename for entry in entries], what)
            _check_entries(entries, what, len(data))
            return {entry.filename: _read(archive, entry, what) for entry in entries}
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(
            f"{what} is damaged or cut off ({str(error)[:120]}). Copy it again from where it came, or fit anew."
        ) from error


def _check_entries(entries: list[zipfile.ZipInfo], what: str, n_bytes: int) -> None:
    if len(entries) > _MAX_ENTRIES:
        raise ModelFileError(f"{what} holds {len(entries):,} members, more than any file of coview. Do not use it.")
    counts = Counter(entry.filename for entry in entries)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise ModelFileError(f"{what} holds {repeated[0][:80]!r} twice. coview writes no such file; do not use it.")
    for entry in entries:
        name = entry.filename
        if name.startswith(("/", "\\")) or ".." in name or ":" in name or "\\" in name or name.endswith("/"):
            raise ModelFileError(f"{what} holds a member with a path for a name, {name[:80]!r}. Do not use this file.")
        if entry.flag_bits & _ENCRYPTED:
            raise ModelFileError(f"{what} is encrypted ({name!r}). coview reads no encrypted files; decrypt it first.")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ModelFileError(f"{what} is packed in a way that coview does not write ({name!r}). Fit anew.")
    total, limit = sum(entry.file_size for entry in entries), min(MAX_SIZE, _MAX_RATIO * n_bytes + _SLACK)
    if total > limit:
        raise ModelFileError(
            f"{what} has {n_bytes:,} bytes but would unpack to {total:,}, more than the {limit:,} allowed. "
            "A file of coview does not do so; do not use it."
        )


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, what: str) -> bytes:
    """Content of a member, no more of it than announced."""
    with archive.open(entry) as stream:
        content = stream.read(entry.file_size + 1)
    if len(content) != entry.file_size:
        raise ModelFileError(
            f"{what} is damaged: {entry.filename!r} has not the {entry.file_size:,} bytes it announces. "
            "Copy it again from where it came, or fit anew."
        )
    return content
