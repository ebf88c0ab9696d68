"""The tables of a project file, version by version."""

from __future__ import annotations

import sqlite3

from coview.storage._events import event_digest

__all__ = ["APPLICATION_ID", "MIGRATIONS", "check_tables", "migrate"]

#: Marks SQLite files that are coview's ("covw").
APPLICATION_ID = 0x636F7677

_HOLD = "CREATE TRIGGER events_hold BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are only added'); END"

#: Statements that lead from one version of the schema to the next; a new file takes all of them. Only ever append.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE parts (name TEXT PRIMARY KEY, digest TEXT NOT NULL, content BLOB NOT NULL)",
        "CREATE TABLE events (id INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, content TEXT NOT NULL)",
        "CREATE TRIGGER events_stay BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are only added'); END",
        _HOLD,
    ),
    (  # checksums of events
        "DROP TRIGGER events_hold",
        "ALTER TABLE events ADD COLUMN digest TEXT NOT NULL DEFAULT ''",
        "UPDATE events SET digest = event_digest(id, time, kind, content)",
        _HOLD,
    ),
)


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring tables up to the newest version, whole or not at all: call it in a transaction."""
    connection.create_function("event_digest", 4, event_digest, deterministic=True)
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def check_tables(connection: sqlite3.Connection) -> bool:
    """Whether a file has the tables and triggers of its version, and nothing else that would run on reading or writing."""
    fresh = sqlite3.connect(":memory:")
    try:
        migrate(fresh, 0)
        return _objects(fresh) == _objects(connection)
    finally:
        fresh.close()


def _objects(connection: sqlite3.Connection) -> set[tuple[str, str, str | None]]:
    return set(connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall())
