"""What is said of project files that cannot be used."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from errno import EACCES, EIO, ENOSPC

__all__ = ["ProjectFileError", "ProjectLockedError", "ProjectOutdatedError", "explained"]


class ProjectFileError(ValueError):
    """A file that is no project, damaged, or written by a newer coview: says which, and what to do.

    Examples
    --------
    >>> from coview.storage import ProjectFileError
    >>> issubclass(ProjectFileError, ValueError)
    True
    """


class ProjectLockedError(ProjectFileError):
    """A project that another process kept to itself for longer than was waited; nothing was written.

    Examples
    --------
    >>> from coview.storage import ProjectFileError, ProjectLockedError
    >>> issubclass(ProjectLockedError, ProjectFileError)
    True
    """


class ProjectOutdatedError(ProjectFileError):
    """A project of an older coview that was opened for reading only: it is brought up to date when it is opened for writing.

    Examples
    --------
    >>> from coview.storage import ProjectFileError, ProjectOutdatedError
    >>> issubclass(ProjectOutdatedError, ProjectFileError)
    True
    """


@contextlib.contextmanager
def explained(what: str, timeout: float) -> Iterator[None]:
    """Errors of SQLite as errors that say what to do; the transaction of the block has not taken place."""
    try:
        yield
    except UnicodeDecodeError as error:  # in what SQLite says of names that are no text any more
        raise _damaged(what, error) from error
    except sqlite3.Error as error:
        found = _explanation(error, what, timeout)
        if found is None:
            raise
        raise found from error


def _explanation(error: sqlite3.Error, what: str, timeout: float) -> Exception | None:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # misuse of the module, not of the file; but for text that is none
        return _damaged(what, error) if "decode" in str(error) else None
    kind = code & 0xFF  # the rest of an extended code is detail
    if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return ProjectLockedError(
            f"{what} is in use: another process has been writing to it for more than {timeout:g} s. Nothing was written; try "
            "again, or end that process."
        )
    # the second: no room for the index of the log, which even readers need
    if kind == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE:
        return OSError(ENOSPC, "The disk is full. Nothing of this step was written; make room and repeat it", what)
    if kind in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return PermissionError(
            EACCES, f"Cannot be opened or written ({error}); it and its folder must be writable", what
        )
    if kind in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return _damaged(what, error)
    if kind == sqlite3.SQLITE_IOERR:
        return OSError(EIO, f"Could not be read or written ({error}); nothing of this step counts", os.fspath(what))
    return None


def _damaged(what: str, error: Exception) -> ProjectFileError:
    return ProjectFileError(
        f"{what} is damaged ({error}). Go back to a backup; `sqlite3 FILE .recover` may save what came after it."
    )
