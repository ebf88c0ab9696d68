"""Opening and making project files."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable
from errno import EISDIR, ENOENT
from pathlib import Path
from tempfile import mkstemp

from coview.storage._errors import ProjectFileError, ProjectOutdatedError, explained
from coview.storage._network import is_on_network
from coview.storage._schema import APPLICATION_ID, MIGRATIONS, check_tables, migrate

__all__ = ["memory_connection", "new_file", "open_connection"]

_MAGIC = b"SQLite format 3\x00"


def memory_connection() -> sqlite3.Connection:
    """An empty project in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, 0)
    return connection


def open_connection(path: str | os.PathLike[str], *, read_only: bool, timeout: float) -> sqlite3.Connection:
    """A connection to a project file that is looked at before SQLite touches it."""
    what = os.fspath(path)
    _refuse_foreign(Path(path))
    with explained(what, timeout):
        connection = _connect(Path(path), read_only=read_only, timeout=timeout)
        try:
            _bring_up_to_date(connection, what, read_only=read_only)
        except BaseException:
            connection.close()
            raise
    return connection


def new_file(path: str | os.PathLike[str], fill: Callable[[sqlite3.Connection], None]) -> None:
    """Make a database beside ``path`` and give it that name when it is whole; only its owner may read it.

    Parameters
    ----------
    path : str or path
    fill : callable
        Writes everything, given an empty database.
    """
    path = Path(path)
    refuse_existing(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(ENOENT, "There is no such folder; make it first", os.fspath(path.parent))
    handle, name = mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    os.close(handle)
    beside = Path(name)
    try:
        with (
            explained(os.fspath(path), 0.0),
            contextlib.closing(_connect(beside, read_only=False, timeout=0.0)) as made,
        ):
            fill(made)
            made.execute(f"PRAGMA journal_mode = {'DELETE' if is_on_network(path) else 'WAL'}")
        _give_name(beside, path)
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(name + suffix).unlink(missing_ok=True)


def refuse_existing(path: Path) -> None:
    """Raise where there is a file of that name."""
    if os.path.lexists(path):
        raise FileExistsError(f"{os.fspath(path)} exists already and was left as it is.")


def _give_name(beside: Path, path: Path) -> None:
    """Rename a new file, never onto another."""
    try:
        os.link(beside, path)  # fails where the name was taken meanwhile, which a rename would not
    except FileExistsError:
        refuse_existing(path)
        raise
    except OSError:  # a file system without links
        refuse_existing(path)
        os.rename(beside, path)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _connect(path: Path, *, read_only: bool, timeout: float) -> sqlite3.Connection:
    """A connection without implicit transactions, every commit of which is on the disk when it returns."""
    mode = "ro" if read_only else "rw"
    if read_only and not os.access(path.parent, os.W_OK) and not Path(f"{path}-wal").exists():
        mode += "&immutable=1"  # nobody can write there, and SQLite cannot make its index of the log
    address = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(address, timeout=timeout, isolation_level=None, uri=True)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA trusted_schema = OFF")
        if not read_only:
            connection.execute("PRAGMA wal_autocheckpoint = 1")  # a file copied without its log lacks nothing
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_foreign(path: Path) -> None:
    """Raise unless the head of a file says that it is a project of a coview that is not newer."""
    if path.is_dir():
        raise IsADirectoryError(EISDIR, "Is a folder, not a project file", os.fspath(path))
    if not path.exists():
        raise FileNotFoundError(ENOENT, "There is no such project file", os.fspath(path))
    with path.open("rb") as stream:
        head = stream.read(100)
    # positions in the head of every SQLite file: 60 user_version, 68 application_id
    if not head.startswith(_MAGIC) or int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        kind = "a database of another program" if head.startswith(_MAGIC) else "no database"
        raise ProjectFileError(f"{os.fspath(path)} is no project of coview but {kind}; it was left as it is.")


def _bring_up_to_date(connection: sqlite3.Connection, what: str, *, read_only: bool) -> None:
    """Refuse newer files, and migrate older ones."""
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise ProjectFileError(
            f"{what} was written by a newer coview (version {version} of the file, and this coview knows up to "
            f"{len(MIGRATIONS)}). Update coview; the file was left as it is."
        )
    if version < len(MIGRATIONS):
        if read_only:
            raise ProjectOutdatedError(
                f"{what} was written by an older coview. Open it once for writing to bring it up."
            )
        connection.execute("BEGIN IMMEDIATE")
        try:
            migrate(connection, _version(connection))  # asked again: another process may have been first
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    if not check_tables(connection):
        raise ProjectFileError(f"{what} has other tables than a project of coview. Do not use this file.")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
