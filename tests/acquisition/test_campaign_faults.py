"""Campaigns under faults: processes killed, several at once, full disks, files that are not what they were."""

import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import pytest

from coview.acquisition import Campaign, ConflictError
from coview.persistence import ModelFileError
from coview.storage import Project, ProjectFileError, ProjectLockedError

from .campaign_problem import LABELS, campaign, views

if os.name == "posix":
    import resource

pytestmark = pytest.mark.filterwarnings("ignore:View .* is outside what was seen")

PROCESSES = multiprocessing.get_context("forkserver") if os.name == "posix" else None
# COVIEW_KILLS=200 for a long run
KILLS = int(os.environ.get("COVIEW_KILLS", "10"))
needs_kill = pytest.mark.skipif(PROCESSES is None, reason="needs SIGKILL")


def started(work, *arguments):
    """A process at work, and what it sends."""
    PROCESSES.set_forkserver_preload(["coview.acquisition", "coview.gaussian_process"])
    receiver, sender = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=work, args=(*arguments, sender))
    process.start()
    sender.close()
    return process, receiver


def sent(process, receiver):
    """All that a process sent until it ended."""
    said = []
    try:
        while True:
            said.append(receiver.recv())
    except EOFError:
        process.join()
    return said


def tell_twice(held, value):
    """A step of two answers."""
    with held.together():
        held.tell("p1", view="genes", values=[value, -value], replace=True)
        held.tell("p3", view="lab", values=[value], replace=True)


def _tell_until_killed(path, seed, pipe):
    """Tell and confirm; of even seeds killed at a line of campaign or storage chosen by chance, of odd ones by the parent."""
    rng = random.Random(seed)
    lines = rng.randint(1, 6000)

    def count(frame, event, argument):
        nonlocal lines
        name = frame.f_code.co_filename
        if "storage" not in name and "_campaign" not in name:
            return None
        lines -= event == "line"
        if lines <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return count

    if seed % 2 == 0:
        sys.settrace(count)
    held = Campaign.open(path)
    while True:
        value = rng.random()
        tell_twice(held, value)
        pipe.send(value)


@needs_kill
def test_killed_at_any_point_a_campaign_goes_on_with_all_that_was_confirmed_and_nothing_half(tmp_path):
    path = tmp_path / "c"
    campaign(path).disconnect()
    before, total = 0, 0
    for seed in range(KILLS):
        process, receiver = started(_tell_until_killed, path, seed)
        confirmed = []
        if seed % 2:
            confirmed.append(receiver.recv())
            time.sleep(random.Random(seed).uniform(0.0, 0.05))
            process.kill()
        confirmed += sent(process, receiver)
        assert process.exitcode == -signal.SIGKILL
        with Campaign.open(path) as held:
            history = held.history
            told = history["values"][before:].tolist()
            genes, lab = told[::2], told[1::2]
            assert [value for value, _ in genes] == [value for (value,) in lab]  # no step is half
            assert [value for value, _ in genes][: len(confirmed)] == confirmed
            assert len(genes) - len(confirmed) in (0, 1)  # the step under way happened, or it did not
            assert not len(history) or held.views.to_frame("lab").loc["p3"].tolist() == history["values"].iloc[-1]
            held.ask(3)
        before, total = len(history), total + len(confirmed)
    assert total > KILLS
    if KILLS > 10:
        sys.__stdout__.write(f"{KILLS} kills, {total} confirmed steps, lost: none\n")


def _book_all(path, pipe):
    with Campaign.open(path) as held:
        booked = []
        while len(table := held.ask(1, 3)):
            pair = tuple(table.loc[0, ["sample", "view"]])
            try:
                held.book(*pair)
            except ConflictError:
                continue
            booked.append(pair)
        pipe.send(booked)


@needs_kill
def test_two_processes_never_book_the_same(tmp_path):
    path = tmp_path / "c"
    campaign(path).disconnect()
    both = [started(_book_all, path) for _ in range(2)]
    booked = [pair for one in both for pair in sent(*one)[0]]
    assert len(booked) == len(set(booked)) == 9
    with Campaign.open(path) as held:
        assert len(held.orders) == 9


def _tell_all(path, value, pipe):
    with Campaign.open(path) as held:
        for sample, view in (("p1", "genes"), ("p3", "genes"), ("p4", "genes")):
            try:
                pipe.send(((sample, view), value, held.tell(sample, view=view, values=[value, value])))
            except ConflictError:
                pipe.send(((sample, view), value, None))


@needs_kill
def test_of_two_processes_that_tell_other_values_one_has_its_way_and_the_other_hears_of_it(tmp_path):
    path = tmp_path / "c"
    campaign(path).disconnect()
    both = [started(_tell_all, path, value) for value in (0.25, 0.75)]
    said = [one for process in both for one in sent(*process)]
    taken = {pair: value for pair, value, is_new in said if is_new}
    assert len(taken) == 3 == sum(is_new is True for *_, is_new in said) == sum(is_new is None for *_, is_new in said)
    with Campaign.open(path) as held:
        assert {(s, v): values[0] for s, v, values in held.history[["sample", "view", "values"]].to_numpy()} == taken


def _tell_many(path, pipe):
    with Campaign.open(path) as held:
        for k in range(40):
            tell_twice(held, k / 64)
    pipe.send("done")


@needs_kill
def test_who_only_looks_sees_whole_steps_while_another_writes(tmp_path):
    path = tmp_path / "c"
    campaign(path).disconnect()
    process, receiver = started(_tell_many, path)
    seen = []
    with Campaign.open(path, read_only=True) as looking:
        while process.is_alive():
            seen.append(len(looking.history))
            with Campaign.open(path, read_only=True) as fresh:
                assert len(fresh.history) % 2 == 0
        seen.append(len(looking.history))
    assert sent(process, receiver) == ["done"]
    assert seen == sorted(seen)
    assert seen[-1] == 80
    assert all(n % 2 == 0 for n in seen)


def _tell_until_full(path, pipe):
    """Tell until the file may not grow further, then with room again."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Campaign.open(path) as held:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, hard))
        for k in range(1000):
            try:
                tell_twice(held, k / 1024)
            except OSError as error:
                pipe.send(str(error))
                break
            pipe.send(k / 1024)
        pipe.send(len(held.history))
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        tell_twice(held, 1.0)
        pipe.send(len(held.history))


@needs_kill
def test_a_disk_without_room_says_so_and_nothing_confirmed_is_lost(tmp_path):
    path = tmp_path / "c"
    campaign(path).disconnect()
    *confirmed, message, full, again = sent(*started(_tell_until_full, path))
    assert "nothing of this step counts" in message.lower() or "Nothing of this step was written" in message
    assert full == 2 * len(confirmed) > 0
    assert again == full + 2
    with Campaign.open(path) as held:
        assert [values[0] for values in held.history["values"]][::2] == [*confirmed, 1.0]


def _leave_the_log(path, pipe):
    held = Campaign.open(path)
    tell_twice(held, 0.5)
    os._exit(0)


@needs_kill
def test_the_log_that_a_dead_process_left_belongs_to_the_file(tmp_path):
    path = tmp_path / "c"
    campaign(path).disconnect()
    sent(*started(_leave_the_log, path))
    assert (tmp_path / "c-wal").stat().st_size > 0
    (tmp_path / "there").mkdir()
    (tmp_path / "bare").mkdir()
    for place, names in (("there", ("c", "c-wal")), ("bare", ("c",))):
        for name in names:
            shutil.copy(tmp_path / name, tmp_path / place / name)
    for place, n in (("there", 2), ("bare", 2), (".", 2)):  # the log was emptied after the last step
        with Campaign.open(tmp_path / place / "c") as held:
            assert len(held.history) == n
            tell_twice(held, 0.75)


def _look_and_write(path, other, pipe):
    with Campaign.open(other, read_only=True) as held:
        held.ask()  # all that is imported late
    if os.geteuid() == 0:  # who may write everywhere
        os.setuid(65534)
    with Campaign.open(path, read_only=True) as held:
        pipe.send(held.status()["booked"])
        pipe.send(len(held.ask(2)))
    for act in (lambda: Campaign.open(path).book("p3", "lab"), lambda: Project.create(path.with_name("d"), {})):
        try:
            act()
        except PermissionError as error:
            pipe.send(str(error))


@needs_kill
def test_on_a_folder_that_cannot_be_written_it_can_be_looked_at(tmp_path):
    campaign(tmp_path / "other").disconnect()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "c")
        with campaign(path) as held:
            held.book("p1", "genes")
        path.chmod(0o444)
        Path(folder).chmod(0o555)
        said = sent(*started(_look_and_write, path, tmp_path / "other"))
        Path(folder).chmod(0o755)
        assert said[:2] == [1, 2]
        assert len(said) == 4
        assert "writable" in said[2]
        assert os.listdir(folder) == ["c"]


def test_a_locked_file_says_so_and_the_step_can_be_repeated(tmp_path):
    with campaign(tmp_path / "c") as first, Campaign.open(tmp_path / "c", timeout=0.05) as second:
        with first.together():
            first.book("p1", "genes")
            with pytest.raises(ProjectLockedError, match=r"Nothing was written; try again"):
                second.book("p1", "genes")
        with pytest.raises(ConflictError, match="is booked since"):
            second.book("p1", "genes")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.7, 0.99])
def test_a_truncated_file_is_refused(tmp_path, share):
    path = tmp_path / "c"
    with campaign(path) as held:
        held.book("p1", "genes")
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])

    def use():
        with Campaign.open(path) as held:
            assert len(held.history) == 1
            held.model  # noqa: B018

    with pytest.raises(ProjectFileError, match=r"damaged|no project of coview|other tables"):
        use()


def test_changed_bytes_are_noticed_where_data_or_model_lie(tmp_path):
    path = tmp_path / "c"
    with campaign(path) as held:
        held.book("p1", "genes")
    content, rng, refused = path.read_bytes(), random.Random(0), 0
    for _ in range(30):
        changed = bytearray(content)
        for place in (rng.randrange(len(content)) for _ in range(20)):
            changed[place] ^= 0xFF
        path.write_bytes(changed)
        try:
            with Campaign.open(path) as held:
                assert held.views == views()
                assert held.y.tolist() == LABELS
                held.tell("p2", label="ill")
                assert held.model.predict(held.views).shape == (6,)
        except (ProjectFileError, ModelFileError):
            refused += 1
        for suffix in ("-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
    assert refused > 25


def test_newer_and_foreign_files_are_left_as_they_are(tmp_path):
    campaign(tmp_path / "newer").disconnect()
    with sqlite3.connect(tmp_path / "newer") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    connection = sqlite3.connect(tmp_path / "foreign")
    connection.execute("CREATE TABLE events (id)")
    connection.close()
    (tmp_path / "words").write_text("sample,view\n")
    for name, message in (("newer", "newer coview"), ("foreign", "another program"), ("words", "no database")):
        before = (tmp_path / name).read_bytes()
        for open_it in (Campaign.open, lambda path: campaign(path)):
            with pytest.raises((ProjectFileError, FileExistsError), match=f"{message}|exists already"):
                open_it(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
