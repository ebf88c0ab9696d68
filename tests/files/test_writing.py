"""Files are whole or absent, and none is lost."""

import os
import stat

import pytest

from coview.files import refuse_existing, refuse_unwritable, write_whole, writing


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_text_and_bytes_arrive_and_nothing_else_stays(tmp_path):
    write_whole(tmp_path / "a.txt", "Größe\n")
    write_whole(tmp_path / "b.bin", b"\0\1")
    assert (tmp_path / "a.txt").read_bytes() == "Größe\n".encode()
    assert (tmp_path / "b.bin").read_bytes() == b"\0\1"
    assert names(tmp_path) == ["a.txt", "b.bin"]


def test_a_file_that_is_there_stays_unless_told(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("mine", encoding="utf-8")
    for refuse in (refuse_existing, refuse_unwritable, lambda path: write_whole(path, "new")):
        with pytest.raises(FileExistsError, match=r"a\.txt exists already and was left as it is"):
            refuse(path)
    assert path.read_text(encoding="utf-8") == "mine"
    write_whole(path, "new", overwrite=True)
    assert path.read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("error", [ValueError("broken"), KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_what_fails_halfway_leaves_everything_as_it_was(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(type(error)) as raised, writing(path, overwrite=True) as stream:  # noqa: PT012
        stream.write(b"half")
        raise error
    assert names(tmp_path) == ["a.txt"]
    assert path.read_text(encoding="utf-8") == "mine"
    if isinstance(error, OSError):
        assert raised.value.filename == str(path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_names_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "coview.files._writing.mkstemp", lambda **_: (os.open("/dev/full", os.O_WRONLY), str(tmp_path / "x"))
    )
    monkeypatch.setattr("os.chmod", lambda *_: None)
    with pytest.raises(OSError, match="No space left") as raised:
        write_whole(tmp_path / "a.txt", "text")
    assert raised.value.filename == str(tmp_path / "a.txt")
    assert names(tmp_path) == []


def test_a_link_to_nowhere_counts_as_there(tmp_path):
    (tmp_path / "a.txt").symlink_to(tmp_path / "gone")
    with pytest.raises(FileExistsError):
        refuse_existing(tmp_path / "a.txt")


def test_folders_are_told_apart(tmp_path):
    with pytest.raises(IsADirectoryError, match="Is a folder"):
        refuse_unwritable(tmp_path)
    with pytest.raises(FileNotFoundError, match="no such folder; make it first") as raised:
        refuse_unwritable(tmp_path / "none" / "a.txt")
    assert raised.value.filename == str(tmp_path / "none")
    refuse_unwritable(tmp_path / "a.txt")
    assert names(tmp_path) == []


def test_a_new_file_has_the_permissions_of_a_plain_one(tmp_path):
    write_whole(tmp_path / "a.txt", "x")
    (tmp_path / "plain").write_text("x", encoding="utf-8")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in names(tmp_path)}
    assert len(modes) == 1
