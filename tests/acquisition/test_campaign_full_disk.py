"""Campaigns on a small disk that is full: the real thing, where a file system can be mounted."""

import multiprocessing
import shutil
import subprocess
import sys
from errno import ENOSPC

import pytest

from coview.acquisition import Campaign
from coview.storage import Project

from .campaign_problem import campaign

pytestmark = [
    pytest.mark.filterwarnings("ignore:View .* is outside what was seen"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mounts a file system in memory"),
]

SIZE = 1 << 20
BLOCK = 4096


@pytest.fixture
def disk(tmp_path):
    """A folder on a disk of one MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")
    command = [mount or "mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    if mount is None or umount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield place
    finally:
        subprocess.run([umount, str(place)], check=True)


def fill(place, n_left=0):
    """Leave so many blocks of room on the disk."""
    ballast = place / "ballast"
    ballast.unlink(missing_ok=True)
    free = shutil.disk_usage(place).free // BLOCK - n_left
    if free > 0:
        ballast.write_bytes(b"x" * (BLOCK * free))
    assert shutil.disk_usage(place).free // BLOCK <= n_left
    return ballast


def told(held, value, *, replace=True):
    """A step of two answers."""
    with held.together():
        held.tell("p1", view="genes", values=[value, -value], replace=replace)
        held.tell("p2", label="ill" if value > 0 else "well", replace=replace)


def _fill_and_free(place, pipe):
    """Tell with ever more room left, free the disk, go on; from the second round on a reader looks on."""
    path, count = place / "c", 0
    with Campaign.open(path) as held:
        reader = Campaign.open(path, read_only=True)
        reader.status()
        for n_left in range(7):
            value = 1.0 + n_left
            ballast = fill(place, n_left)
            try:
                told(held, value)
                pipe.send(("told", n_left, len(held.history) - count))
                count = len(held.history)
            except OSError as error:
                pipe.send(("refused", error.errno, str(error), len(held.history) - count))
            ballast.unlink(missing_ok=True)
            told(held, -value)
            pipe.send(("freed", n_left, len(held.history) - count, len(reader.history) - count))
            count = len(held.history)
        reader.disconnect()
    pipe.send(("ended", count))
    pipe.close()


def test_a_full_disk_is_said_to_be_full_nothing_is_lost_and_room_is_enough_to_go_on(disk):
    """In a process of its own: a page that cannot be had kills."""
    campaign(disk / "c").disconnect()
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_fill_and_free, args=(disk, sender))
    process.start()
    sender.close()
    said = []
    try:
        while True:
            said.append(receiver.recv())
    except EOFError:
        process.join()
    assert process.exitcode == 0
    refused = [message for message in said if message[0] == "refused"]
    assert refused
    for _, number, text, n_new in refused:
        assert number == ENOSPC
        assert "The disk is full. Nothing of this step was written; make room and repeat it" in text
        assert n_new == 0  # neither answer of the step
    assert all(n_new == 2 for kind, _, n_new in (m for m in said if m[0] == "told"))
    assert all(message[2:] == (2, 2) for message in said if message[0] == "freed")
    with Campaign.open(disk / "c") as held:
        assert len(held.history) == said[-1][1] >= 14
        assert held.tables["genes"].loc["p1"].tolist() == [-7.0, 7.0]


def backup(disk):
    """Copy the campaign on a disk."""
    with Campaign.open(disk / "c", read_only=True) as held:
        held.backup(disk / "copy")


def test_no_campaign_begins_on_a_full_disk_and_no_backup_is_half(disk):
    campaign(disk / "c").disconnect()
    for n_left in (0, 2):
        ballast = fill(disk, n_left)
        for act in (lambda: campaign(disk / "other"), lambda: backup(disk)):
            with pytest.raises(OSError, match=r"disk is full|No space left") as raised:
                act()
            assert raised.value.errno == ENOSPC
        assert sorted(path.name for path in disk.iterdir() if not path.name.startswith("c-")) == ["ballast", "c"]
        ballast.unlink()
    with Campaign.open(disk / "c") as held:
        held.backup(disk / "copy")
    Project.open(disk / "copy").disconnect()
