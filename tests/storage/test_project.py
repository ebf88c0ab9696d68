"""Project files: durable, foreign files refused, several processes, killed ones."""

import multiprocessing
import os
import random
import signal
import sqlite3
import sys
import threading

import pytest

from coview.storage import Project, ProjectFileError, ProjectLockedError
from coview.storage import _connection as connections
from coview.storage import _network as network
from coview.storage import _schema as schema

PROCESSES = multiprocessing.get_context("spawn")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "one.covw"
    Project.create(path, {"data": b"abc", "model": b""}).disconnect()
    return path


def test_what_is_written_is_read_again(path):
    with Project.open(path) as project:
        assert project.append("told", {"x": 0.1 + 0.2, "ü": [1, None]}) == 1
    with Project.open(path) as project:
        (event,) = project.events()
        assert (event.id, event.kind, event.content) == (1, "told", {"x": 0.1 + 0.2, "ü": [1, None]})
        assert event.time.endswith("+00:00")
        assert project.part("data") == b"abc"
        assert project.events(after=1) == []
        with pytest.raises(KeyError):
            project.part("nothing")


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_only_the_owner_may_read(path):
    with Project.open(path) as project:
        project.append("told", {})
        for file in path.parent.iterdir():
            assert file.stat().st_mode & 0o077 == 0


def test_every_commit_is_synchronized_and_the_log_is_written_ahead(path):
    with Project.open(path) as project:
        assert project._connection.execute("PRAGMA synchronous").fetchone()[0] == 2
        assert project._connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_an_error_within_a_step_undoes_it(path):
    with Project.open(path) as project:

        def step():
            with project.writing():
                project.append("told", {})
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            step()
        assert project.events() == []
        with pytest.raises(ValueError, match="JSON"):
            project.append("told", {"x": float("nan")})
        assert project.append("told", {}) == 1


def test_events_are_only_added(path):
    with Project.open(path) as project:
        project.append("told", {})
        for statement in ("DELETE FROM events", "UPDATE events SET kind = 'x'"):
            with pytest.raises(sqlite3.IntegrityError, match="only added"):
                project._connection.execute(statement)


def test_existing_files_are_left_alone(path):
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match=r"left as it is|exists already"):
        Project.create(path, {})
    with Project.open(path) as project, pytest.raises(FileExistsError):
        project.backup(path)
    assert path.read_bytes() == before
    assert sorted(os.listdir(path.parent)) == ["one.covw"]


def test_a_file_copied_without_its_log_is_whole(path, tmp_path):
    with Project.open(path) as project:
        for value in range(3):
            project.append("measured", {"value": value})
            copy = tmp_path / f"copy{value}"
            copy.write_bytes(path.read_bytes())
            with Project.open(copy) as other:
                assert len(other.events()) == value + 1


def test_a_file_that_was_moved_is_not_written_to(path):
    with Project.open(path) as project:
        project.append("measured", {"value": 1})
        moved = path.with_name("moved")
        path.rename(moved)
        with pytest.raises(ProjectFileError, match="moved, removed or replaced"):
            project.append("measured", {"value": 2})
    with Project.open(moved) as again:
        assert len(again.events()) == 1


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such project file"):
        Project.open(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="no such folder"):
        Project.create(tmp_path / "none" / "one", {})
    with pytest.raises(IsADirectoryError):
        Project.open(tmp_path)


@pytest.mark.parametrize("content", [b"", b"sample,view\np1,mri\n", b"SQLite format 3\x00"])
def test_other_files_are_no_projects(tmp_path, content):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(ProjectFileError, match="no project of coview"):
        Project.open(path)
    assert path.read_bytes() == content


def test_databases_of_other_programs_are_left_as_they_are(tmp_path):
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE events (id)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(ProjectFileError, match="another program"):
        Project.open(path)
    assert path.read_bytes() == before


def test_newer_files_are_refused(path):
    with Project.open(path) as project:
        project._connection.execute("PRAGMA user_version = 99")
    with pytest.raises(ProjectFileError, match=r"newer coview.*99"):
        Project.open(path)


def test_a_planted_trigger_is_refused(path):
    with Project.open(path) as project:
        project._connection.execute("CREATE TRIGGER x AFTER INSERT ON events BEGIN DELETE FROM parts; END")
    with pytest.raises(ProjectFileError, match="other tables"):
        Project.open(path)


def test_damage_is_noticed(path):
    with Project.open(path) as project:
        project._connection.execute("UPDATE parts SET content = x'00' WHERE name = 'data'")
        with pytest.raises(ProjectFileError, match="its data is not as it was written"):
            project.part("data")
    content = bytearray(path.read_bytes())
    content[100:4096] = bytes(3996)
    path.write_bytes(content)
    with pytest.raises(ProjectFileError, match=r"damaged|other tables"):
        Project.open(path)


def tampered(path, statement):
    """Change events behind the back of what guards them."""
    connection = sqlite3.connect(path)
    guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in guards:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(statement)
    for _, sql in guards:
        connection.execute(sql)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE events SET content = '{\"value\":12}' WHERE id = 2", "event 2 is not as it was written"),
        ("UPDATE events SET time = '2001' WHERE id = 3", "event 3 is not as it was written"),
        ("UPDATE events SET kind = 'closed' WHERE id = 1", "event 1 is not as it was written"),
        ("UPDATE events SET digest = 'x' WHERE id = 4", "event 4 is not as it was written"),
        ("DELETE FROM events WHERE id = 2", "event 2 is gone"),
        ("DELETE FROM events WHERE id = 1", "event 1 is gone"),
        ("UPDATE events SET id = 9 WHERE id = 4", "event 4 is gone"),
    ],
)
def test_events_that_are_not_what_was_written_are_noticed(path, statement, message):
    with Project.open(path) as project:
        for value in range(1, 5):
            project.append("told", {"value": value})
    tampered(path, statement)
    with Project.open(path) as project, pytest.raises(ProjectFileError, match=f"damaged: {message}.*backup"):
        project.events()


def test_files_without_checksums_get_them(path, monkeypatch):
    with monkeypatch.context() as old:
        for module in (schema, connections):
            old.setattr(module, "MIGRATIONS", schema.MIGRATIONS[:1])
        first = path.with_name("old.covw")
        Project.create(first, {"data": b"abc"}).disconnect()
        connection = sqlite3.connect(first)
        connection.executemany(
            "INSERT INTO events (time, kind, content) VALUES (?, ?, ?)",
            [("2026-01-01", "told", f'{{"ü":{k}}}') for k in range(3)],
        )
        connection.commit()
        connection.close()
    with pytest.raises(ProjectFileError, match="older coview"):
        Project.open(first, read_only=True)
    with Project.open(first) as project:
        assert [event.content for event in project.events()] == [{"ü": k} for k in range(3)]
        assert project.append("told", {}) == 4
        with pytest.raises(sqlite3.IntegrityError, match="only added"):
            project._connection.execute("UPDATE events SET kind = 'x'")
    with Project.open(first, read_only=True) as project:
        assert len(project.events()) == 4
    tampered(first, "UPDATE events SET content = '{}' WHERE id = 2")
    with Project.open(first) as project, pytest.raises(ProjectFileError, match="event 2 is not"):
        project.events()


def test_older_files_are_migrated_whole_or_not_at_all(path, monkeypatch):
    with Project.open(path) as project:
        project.append("told", {})
    steps = (*schema.MIGRATIONS, ("ALTER TABLE parts ADD COLUMN note TEXT", "SELECT no_such_function()"))
    for module in (schema, connections):
        monkeypatch.setattr(module, "MIGRATIONS", steps)
    with pytest.raises(sqlite3.OperationalError):
        Project.open(path)
    steps = (*steps[:-1], ("ALTER TABLE parts ADD COLUMN note TEXT",))
    for module in (schema, connections):
        monkeypatch.setattr(module, "MIGRATIONS", steps)
    with pytest.raises(ProjectFileError, match="older coview"):
        Project.open(path, read_only=True)
    with Project.open(path) as project:
        assert len(project.events()) == 1
        assert project._connection.execute("PRAGMA user_version").fetchone()[0] == len(steps)
        assert project._connection.execute("SELECT note FROM parts").fetchall() == [(None,), (None,)]


def test_a_locked_file_says_so_and_nothing_is_written(path):
    with Project.open(path) as first, Project.open(path, timeout=0.05) as second:
        with first.writing():
            with pytest.raises(ProjectLockedError, match=r"in use.*0.05 s"):
                second.append("told", {})
            with Project.open(path, read_only=True) as reader:  # may look meanwhile
                assert reader.events() == []
        assert second.append("told", {}) == 1


def test_a_full_disk_loses_nothing_that_was_confirmed(path):
    with Project.open(path) as project:
        pages = project._connection.execute("PRAGMA page_count").fetchone()[0]
        project._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        confirmed = []
        with pytest.raises(OSError, match="disk is full"):
            confirmed.extend(project.append("told", {"x": "y" * 1000}) for _ in range(100))
        assert [event.id for event in project.events()] == confirmed
        project._connection.execute("PRAGMA max_page_count = 100000")
        assert project.append("told", {}) == len(confirmed) + 1


def test_reading_only(path):
    with Project.open(path) as writer, Project.open(path, read_only=True) as reader:
        writer.append("told", {})
        assert len(reader.events()) == 1
        with pytest.raises(PermissionError, match="reading only"):
            reader.append("told", {})


def test_a_backup_is_whole_while_another_writes(path, tmp_path):
    with Project.open(path) as project:
        stop = threading.Event()

        def write():
            with Project.open(path) as other:
                while not stop.is_set():
                    other.append("told", {"x": "y" * 100})

        thread = threading.Thread(target=write)
        thread.start()
        while len(project.events()) < 5:
            pass
        least = len(project.events())
        project.backup(tmp_path / "copy.covw")
        stop.set()
        thread.join()
    with Project.open(tmp_path / "copy.covw") as copy:
        events = copy.events()
        assert len(events) >= least
        assert [event.id for event in events] == list(range(1, len(events) + 1))
        assert copy.part("data") == b"abc"


def test_closed_projects_say_so(path):
    project = Project.open(path)
    project.disconnect()
    with pytest.raises(ValueError, match="closed"):
        project.events()


def test_network_file_systems_are_known_by_the_table_of_mounts(tmp_path, monkeypatch):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"disk / ext4 rw 0 0\nserver:/x {tmp_path}/my\\040share nfs4 rw 0 0\nodd\n")
    monkeypatch.setattr(network, "_MOUNTS", mounts)
    assert network.is_on_network(tmp_path / "my share" / "one.covw")
    assert not network.is_on_network(tmp_path / "one.covw")
    monkeypatch.setattr(network, "_MOUNTS", tmp_path / "none")
    assert not network.is_on_network(tmp_path)
    (tmp_path / "there").mkdir()
    monkeypatch.setattr(connections, "is_on_network", lambda path: True)
    with Project.create(tmp_path / "there" / "one", {}) as project:
        assert project._connection.execute("PRAGMA journal_mode").fetchone()[0] == "delete"


def _write_until_killed(path, seed, pipe):
    """Append events, and confirm each; a process of its own, killed at a line of the storage chosen by chance."""
    rng = random.Random(seed)
    lines = rng.randint(1, 2500)

    def count(frame, event, argument):
        nonlocal lines
        if "storage" not in frame.f_code.co_filename:
            return None
        if event == "line":
            lines -= 1
            if lines == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return count

    sys.settrace(count)
    with Project.open(path) as project:
        while True:
            with project.writing():
                first = project.append("half", {"seed": seed})
                second = project.append("whole", {"first": first})
            pipe.send(second)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_at_any_line_nothing_confirmed_is_lost_and_no_step_is_half(path):
    confirmed = 0
    for seed in range(12):
        receiver, sender = PROCESSES.Pipe(duplex=False)
        process = PROCESSES.Process(target=_write_until_killed, args=(path, seed, sender))
        process.start()
        sender.close()
        try:
            while True:
                confirmed = receiver.recv()
        except EOFError:
            process.join()
        assert process.exitcode == -signal.SIGKILL
        with Project.open(path) as project:
            events = project.events()
        assert confirmed <= len(events) <= confirmed + 2
        assert [event.kind for event in events] == ["half", "whole"] * (len(events) // 2)
        confirmed = len(events)
    assert confirmed > 20


def _create_until_killed(path, line):
    """Make a project; killed at the given line of the storage."""

    def count(frame, event, argument):
        nonlocal line
        if "storage" not in frame.f_code.co_filename:
            return None
        line -= event == "line"
        if line == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return count

    sys.settrace(count)
    Project.create(path, {"data": b"abc" * 10000}).disconnect()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_while_it_is_made_a_project_is_whole_or_absent(tmp_path):
    seen = set()
    for line in (60, 110, 130, 150, 170, 190, 100_000):
        path = tmp_path / f"{line}.covw"
        process = PROCESSES.Process(target=_create_until_killed, args=(path, line))
        process.start()
        process.join()
        seen.add((path.exists(), process.exitcode))
        if path.exists():
            with Project.open(path) as project:
                assert project.part("data") == b"abc" * 10000
    assert {exists for exists, _ in seen} == {True, False}


def _append_many(path, name, n):
    with Project.open(path) as project:
        for k in range(n):
            project.append("told", {"who": name, "k": k})


def test_two_processes_write_to_one_file(path):
    processes = [PROCESSES.Process(target=_append_many, args=(path, name, 40)) for name in "ab"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    with Project.open(path) as project:
        events = project.events()
    for name in "ab":
        assert [event.content["k"] for event in events if event.content["who"] == name] == list(range(40))
