"""Writing files so that none is ever half-written, and none is lost."""

import contextlib
import os
from collections.abc import Iterator
from errno import EISDIR, ENOENT
from pathlib import Path
from tempfile import mkstemp
from typing import BinaryIO

__all__ = ["refuse_existing", "refuse_unwritable", "write_whole", "writing"]


def refuse_existing(path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Raise FileExistsError where a file is there already; call it before long work, too."""
    if not overwrite and os.path.lexists(path):
        raise FileExistsError(f"{os.fspath(path)} exists already and was left as it is.")


def refuse_unwritable(path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Raise OSError where `writing` could not even begin, before long work whose result would be lost."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(EISDIR, "Is a folder, not a file", os.fspath(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(ENOENT, "There is no such folder; make it first", os.fspath(path.parent))
    refuse_existing(path, overwrite=overwrite)
    handle, beside = _beside(path)
    os.close(handle)
    beside.unlink()


@contextlib.contextmanager
def writing(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """A binary stream to a file beside ``path``, which takes its place when the block ends without an error.

    Parameters
    ----------
    path : str or path
        The folder must exist.
    overwrite : bool, default=False
        Whether a file of that name may be replaced.

    Yields
    ------
    stream : binary file

    Raises
    ------
    FileExistsError
        If ``path`` exists and ``overwrite`` is False.
    OSError
        If the folder is missing or cannot be written, or the disk is full; ``path`` is as it was before.
    """
    path = Path(path)
    refuse_existing(path, overwrite=overwrite)
    handle, beside = _beside(path)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, path)
    except OSError as error:
        if error.filename in (None, os.fspath(beside)):
            error.filename = os.fspath(path)
        raise
    finally:
        beside.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: str | bytes, *, overwrite: bool = False) -> None:
    """Write text (as UTF-8) or bytes beside ``path`` and rename; see `writing`."""
    with writing(path, overwrite=overwrite) as stream:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)


def _beside(path: Path) -> tuple[int, Path]:
    """An open new file in the folder of ``path``, with the permissions that a plain new file gets."""
    try:
        handle, name = mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    except OSError as error:
        error.filename = os.fspath(path)
        raise
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)
    return handle, Path(name)
