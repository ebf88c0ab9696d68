"""A project: parts that never change, and events that are only added."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from coview.storage._connection import memory_connection, new_file, open_connection
from coview.storage._errors import ProjectFileError, explained
from coview.storage._events import Event, content_text, event_digest, now
from coview.storage._schema import migrate

__all__ = ["Project"]


class Project:
    """Parts that never change, such as data and a model, and events that are only added, in one SQLite file.

    Several processes may use one file. An event is on the disk when the step that writes it returns; a process that is killed
    at any point leaves a file with all events of finished steps and none of unfinished ones.

    Make one with `create` or `open`; it is closed by `disconnect`, or at the end of a ``with`` block.

    Notes
    -----
    SQLite's write-ahead log with full synchronization, emptied after every step where no other process reads, so that the file
    alone is whole between steps; on network file systems, where such a log does not work, the rollback journal.
    The file and its log can be read by its owner only.

    Examples
    --------
    >>> from coview.storage import Project
    >>> project = Project.create(None, {"data": b"..."})
    >>> project.append("measured", {"sample": "p1", "value": 0.1})
    1
    >>> [event.content for event in project.events()]
    [{'sample': 'p1', 'value': 0.1}]
    """

    def __init__(self, connection: sqlite3.Connection, path: Path | None, *, read_only: bool, timeout: float) -> None:
        self._connection: sqlite3.Connection | None = connection
        self._writes = False
        self.path = path
        self.read_only = read_only
        self.timeout = timeout
        self._file = self._found()

    @classmethod
    def create(
        cls, path: str | os.PathLike[str] | None, parts: Mapping[str, bytes], *, timeout: float = 10.0
    ) -> Project:
        """Make a new project.

        Parameters
        ----------
        path : str, path or None
            None keeps it in memory. The file appears when it is whole.
        parts : mapping of str to bytes
        timeout : float, default=10
            Seconds to wait for other processes.

        Returns
        -------
        project : Project

        Raises
        ------
        FileExistsError
            If there is a file of that name; it is left as it is.
        OSError
            If the file cannot be written.
        """
        if path is None:
            connection = memory_connection()
            _insert_parts(connection, parts)
            return cls(connection, None, read_only=False, timeout=timeout)

        def fill(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            migrate(connection, 0)
            _insert_parts(connection, parts)
            connection.execute("COMMIT")

        new_file(path, fill)
        return cls.open(path, timeout=timeout)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, read_only: bool = False, timeout: float = 10.0) -> Project:
        """Open a project file.

        Parameters
        ----------
        path : str or path
        read_only : bool, default=False
            Look at it while others write.
        timeout : float, default=10
            Seconds to wait for other processes.

        Returns
        -------
        project : Project

        Raises
        ------
        ProjectFileError
            If it is no project, damaged, or was written by a newer coview.
        ProjectLockedError
            If another process keeps it to itself.
        OSError
            If there is no such file, or it cannot be opened.
        """
        return cls(
            open_connection(path, read_only=read_only, timeout=timeout),
            Path(path),
            read_only=read_only,
            timeout=timeout,
        )

    def part(self, name: str) -> bytes:
        """What was given at the start under a name.

        Parameters
        ----------
        name : str

        Returns
        -------
        content : bytes

        Raises
        ------
        KeyError
            If there is none of that name.
        ProjectFileError
            If it is not as it was written.
        """
        with self._explained() as connection:
            row = connection.execute("SELECT digest, content FROM parts WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise KeyError(name)
        content = bytes(row[1])
        if hashlib.sha256(content).hexdigest() != row[0]:
            raise ProjectFileError(
                f"{self._what} is damaged: its {name} is not as it was written. Go back to a backup."
            )
        return content

    def events(self, after: int = 0) -> list[Event]:
        """Events in the order in which they were written.

        Parameters
        ----------
        after : int, default=0
            Only those with a larger id.

        Returns
        -------
        events : list of Event

        Raises
        ------
        ProjectFileError
            If one is not as it was written, or is gone.
        """
        with self._explained() as connection:
            found = connection.execute(
                "SELECT id, time, kind, content, digest FROM events WHERE id > ? ORDER BY id", (after,)
            ).fetchall()
        rows = [row for *row, _ in found]
        for place, (*row, digest) in enumerate(found, start=after + 1):
            if row[0] != place or event_digest(*row) != digest:
                what = f"event {place} is gone" if row[0] != place else f"event {place} is not as it was written"
                raise ProjectFileError(f"{self._what} is damaged: {what}. Go back to a backup.")
        try:
            return [Event(number, time, kind, json.loads(text)) for number, time, kind, text in rows]
        except ValueError as error:
            raise ProjectFileError(f"{self._what} is damaged: an event is no JSON ({error}).") from error

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """A step: what others wrote before it is seen in it, nobody else writes during it, and it happens as a whole.

        An error within the block, or a process killed in it, leaves the file as it was before.

        Raises
        ------
        ProjectLockedError
            If other processes keep writing.
        OSError
            If the disk is full or the file cannot be written.
        """
        with self._explained() as connection:
            if self.read_only:
                raise PermissionError(f"{self._what} was opened for reading only. Open it without read_only=True.")
            if self._found() != self._file:  # what is written would go into a log that nobody reads
                raise ProjectFileError(
                    f"{self._what} was moved, removed or replaced after it was opened. Nothing was written; open it where it is "
                    "now."
                )
            connection.execute("BEGIN IMMEDIATE")
            self._writes = True
            try:
                yield
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # SQLite itself rolls back where the disk is full
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._writes = False

    def append(self, kind: str, content: Mapping[str, Any]) -> int:
        """Add an event: a step of its own, or part of that of `writing`.

        Parameters
        ----------
        kind : str
        content : mapping
            What JSON can hold; numbers must be finite.

        Returns
        -------
        id : int
        """
        text, time = content_text(content), now()
        with contextlib.nullcontext() if self._writes else self.writing(), self._explained() as connection:
            number = 1 + int(connection.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()[0])
            row = (number, time, kind, text)
            connection.execute(
                "INSERT INTO events (id, time, kind, content, digest) VALUES (?, ?, ?, ?, ?)",
                (*row, event_digest(*row)),
            )
            return number

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the project to a new file while it is in use.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        FileExistsError
            If there is a file of that name; it is left as it is.
        OSError
            If it cannot be written.
        """
        with self._explained() as connection:
            new_file(path, lambda copy: connection.backup(copy))

    def disconnect(self) -> None:
        """Close the file. What was written is on the disk in any case."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _found(self) -> tuple[int, int] | None:
        """Which file there is at the path."""
        if self.path is None:
            return None
        try:
            about = self.path.stat()
        except FileNotFoundError:
            return None
        return about.st_dev, about.st_ino

    @property
    def _what(self) -> str:
        return "The project in memory" if self.path is None else os.fspath(self.path)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[sqlite3.Connection]:
        """The connection, errors of which say what to do."""
        if self._connection is None:
            raise ValueError(f"{self._what} has been closed. Open it again.")
        with explained(self._what, self.timeout):
            yield self._connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.disconnect()

    def __del__(self) -> None:
        if getattr(self, "_connection", None) is not None:
            self.disconnect()


def _insert_parts(connection: sqlite3.Connection, parts: Mapping[str, bytes]) -> None:
    rows = [(name, hashlib.sha256(content).hexdigest(), content) for name, content in parts.items()]
    connection.executemany("INSERT INTO parts (name, digest, content) VALUES (?, ?, ?)", rows)
