"""Files that are damaged, cut off, or no models at all: each told apart, none of them half loaded."""

import gzip
import hashlib
import io
import json
import pickle
import struct
import time
import warnings
import zipfile

import joblib
import numpy as np
import pytest
import skops.io

from coview.persistence import ModelFileError, load_model, read_manifest

from .forging import forge, pack, unpack


def refusal(path, content):
    """What loading says of a file of some content; reading the manifest must say the same or nothing."""
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as raised:
        load_model(path)
    text = str(raised.value)
    assert str(path) in text
    assert len(text) < 700
    return text


def saved_bytes(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


FOREIGN = {
    "empty": (b"", "is empty"),
    "csv": (b"id,age,sex\r\np1,61,f\r\n" * 90, "a text or a table"),
    "csv_umlaut_at_the_cut": (b"x" * 2047 + "ä".encode() * 9, "a text or a table"),
    "pickle": (pickle.dumps({"model": 1}), "a pickle.*can run any code"),
    "old_pickle": (pickle.dumps({"model": 1}, protocol=2), "a pickle"),
    "joblib": (saved_bytes(lambda stream: joblib.dump({"model": np.ones(3)}, stream)), "a pickle"),
    "joblib_zlib": (saved_bytes(lambda stream: joblib.dump({"model": np.ones(3)}, stream, compress=3)), "a pickle"),
    "gzip": (gzip.compress(b"id,age"), "packed with gzip"),
    "npy": (saved_bytes(lambda stream: np.save(stream, np.ones(3))), "an array of numpy"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(100), "HDF5"),
    "parquet": (b"PAR1" + bytes(100), "a Parquet table"),
    "xls": (b"\xd0\xcf\x11\xe0" + bytes(100), "Excel"),
    "noise": (bytes(range(255, 0, -1)), "something else"),
    "npz": (saved_bytes(lambda stream: np.savez(stream, a=np.ones(3))), r"arrays of numpy \(.npz\)"),
    "xlsx": (pack({"[Content_Types].xml": b"<x/>", "xl/workbook.xml": b"<x/>"}), "a workbook or document"),
    "skops": (skops.io.dumps({"a": [1]}), "a plain skops file.*skops.io.load.*save_model"),
    "zip": (pack({"notes.txt": b"x"}), "an archive of 'notes.txt'"),
    "empty_zip": (pack({}), "something else"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_are_named(tmp_path, name):
    content, pattern = FOREIGN[name]
    path = tmp_path / "model.coview"
    text = refusal(path, content)
    with pytest.raises(ModelFileError, match=pattern):
        read_manifest(path)
    assert "no model of coview" in text or "is empty" in text


def test_a_missing_file_and_a_folder_are_the_systems_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "nothing.coview")
    with pytest.raises(OSError, match="directory"):
        load_model(tmp_path)


@pytest.mark.parametrize("share", [0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_cut_file_is_told(content, tmp_path, share):
    text = refusal(tmp_path / "model.coview", content[: max(5, int(share * len(content)))])
    assert "cut off" in text


def test_no_flipped_byte_gets_through(content, tmp_path):
    """Whatever byte is changed: refused with our own error, or of no meaning, such as a date of the archive."""
    path = tmp_path / "model.coview"
    rng = np.random.default_rng(0)
    reference = read_and_clear(path, content)
    for position in rng.integers(0, len(content), 60):
        changed = bytearray(content)
        changed[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(changed))
        try:
            found = load_model(path)
        except ModelFileError:
            continue
        assert (found.manifest, found.record) == reference


def read_and_clear(path, content):
    path.write_bytes(content)
    saved = load_model(path)
    return saved.manifest, saved.record


def test_missing_extra_and_repeated_members_are_told(content, tmp_path):
    path, members = tmp_path / "model.coview", unpack(content)
    without = {name: part for name, part in members.items() if name != "record.json"}
    assert "lacks its record.json" in refusal(path, pack(without))
    assert "holds 'setup.py', which no model of coview has" in refusal(path, pack({**members, "setup.py": b"x"}))
    assert "holds '../evil.py', which no model" in refusal(path, pack({**members, "../evil.py": b"x"}))
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = pack([*members.items(), ("record.json", b"{}")])
    assert "holds 'record.json' twice" in refusal(path, twice)
    with pytest.warns(UserWarning, match="Duplicate name"):
        inner = pack([*unpack(members["model.skops"]).items(), ("schema.json", b"{}")])
    assert "holds 'schema.json' twice" in refusal(path, with_inner(content, inner))


def with_inner(content, inner):
    """A model file with other bytes as its inner file, checksums holding."""
    members = unpack(content)
    manifest = json.loads(members["manifest.json"])
    manifest["members"]["model.skops"] = {"sha256": hashlib.sha256(inner).hexdigest(), "size": len(inner)}
    return pack({**members, "manifest.json": json.dumps(manifest).encode(), "model.skops": inner})


@pytest.mark.parametrize("name", ["/etc/passwd", "../up.npy", "a\\b.npy", "C:x.npy", "folder/"])
def test_members_with_paths_for_names_are_refused(content, tmp_path, name):
    inner = pack({**unpack(unpack(content)["model.skops"]), name: b"x"})
    text = refusal(tmp_path / "model.coview", with_inner(content, inner))
    assert "path for a name" in text


def test_a_name_ten_thousand_times_takes_no_time(content, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile's, of each repeated name
        crowd = pack([*unpack(content).items(), *[("record.json", b"{}")] * 10_000])
    start = time.perf_counter()
    assert "holds 'record.json' twice" in refusal(tmp_path / "model.coview", crowd)
    assert time.perf_counter() - start < 5.0


def test_encrypted_members_are_told(content, tmp_path):
    changed = bytearray(content)
    (central,) = struct.unpack_from("<I", changed, len(changed) - 6)  # where the list of members begins
    assert changed[central : central + 4] == b"PK\x01\x02"
    struct.pack_into("<H", changed, central + 8, 1)
    assert "is encrypted ('manifest.json')" in refusal(tmp_path / "model.coview", bytes(changed))


def test_bombs_are_refused_before_they_are_unpacked(content, tmp_path, monkeypatch):
    """64 MB of zeros in a few kilobytes: refused by the sizes announced."""
    bomb = pack({**unpack(content), "record.json": bytes(2**26)})
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *args, **kwargs: pytest.fail("unpacked"))
    text = refusal(tmp_path / "model.coview", bomb)
    assert "would unpack to" in text
    assert "do not use it" in text


def test_a_size_that_lies_is_told(content, tmp_path):
    """The archive announces fewer bytes than the member unpacks to."""
    bomb = bytearray(pack({**unpack(content), "record.json": b'{"a": "' + b"x" * 5000 + b'"}'}))
    where = bytes(bomb).rindex(b"record.json") - 46 + 24
    struct.pack_into("<I", bomb, where, 100)
    assert "damaged" in refusal(tmp_path / "model.coview", bytes(bomb))


def changed_members(content, name, part):
    return pack({**unpack(content), name: part})


@pytest.mark.parametrize("name", ["record.json", "model.skops"])
def test_a_changed_member_breaks_its_checksum(content, tmp_path, name):
    part = unpack(content)[name]
    text = refusal(tmp_path / "model.coview", changed_members(content, name, part[:-1] + b"?"))
    assert f"the checksum of its {name} is not the one in its manifest" in text


MANIFESTS = {
    "not_json": (b"{'format': 1}", "not proper JSON"),
    "not_text": (b"\xff\xfe\x00", "not proper JSON"),
    "list": (b"[]", "no JSON object"),
    "deep": (b"[" * 100_000, "not proper JSON"),
    "huge": (b" " * (2**24 + 1), r"has 16,777,217 bytes, more than any"),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_that_is_none_is_told(content, tmp_path, name):
    part, pattern = MANIFESTS[name]
    padding = np.random.default_rng(0).bytes(2**20)  # so that the size of the manifest is what is refused
    members = {**unpack(content), "manifest.json": part}
    if name == "huge":
        members["record.json"] = json.dumps({"x": padding.hex()}).encode()
    path = tmp_path / "model.coview"
    refusal(path, pack(members))
    with pytest.raises(ModelFileError, match=pattern):
        read_manifest(path)


def without(name):
    return lambda manifest: manifest.pop(name) and None


def setting(value, *path):
    def change(manifest):
        inner = manifest
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = value

    return change


CHANGES = {
    "foreign_format": (setting("other-model", "format"), "format 'other-model' instead of 'coview-model'"),
    "newer": (setting(7, "format_version"), r"by coview 0\.\S+ in version 7 of the format.*reads version 1\. Update"),
    "newer_without_versions": (
        lambda m: {"format": "coview-model", "format_version": 2},
        "by coview unknown in version 2",
    ),
    "version_true": (setting(True, "format_version"), "no proper format_version"),
    "version_text": (setting("1", "format_version"), "no proper format_version"),
    "version_zero": (setting(0, "format_version"), "no proper format_version"),
    "no_versions": (without("versions"), "lacks a part"),
    "no_members": (without("members"), "lacks a part"),
    "members_list": (setting([], "members"), "lacks a part"),
    "size_text": (setting("12", "members", "record.json", "size"), "lacks a part"),
    "no_types": (without("types"), "lacks a part"),
    "types_numbers": (setting([1], "types"), "lacks a part"),
    "model_text": (setting("a", "model"), "lacks a part"),
    "members_more": (setting(5, "members", "more"), "lacks a part"),
    "version_paste": (setting("1';touch x;'", "versions", "scikit-learn"), "lacks a part"),
    "version_escape": (setting("1.9\x1b[2J", "versions", "coview"), "lacks a part"),
    "half_a_letter": (setting("\udc80", "versions", "coview"), "not proper JSON"),
    "newer_escape": (
        lambda m: {"format": "coview-model", "format_version": 2, "versions": {"coview": "\x1b[2J"}},
        "by coview unknown in version 2",
    ),
    "version_huge": (setting(10**50, "format_version"), "no proper format_version"),
    "checksum": (setting("0" * 64, "members", "record.json", "sha256"), "the checksum of its record.json"),
    "size": (setting(3, "members", "model.skops", "size"), "the checksum of its model.skops"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_manifest_is_told(content, tmp_path, name):
    change, pattern = CHANGES[name]
    path = tmp_path / "model.coview"
    refusal(path, forge(content, manifest=change))
    with pytest.raises(ModelFileError, match=pattern):
        read_manifest(path)


@pytest.mark.parametrize(
    ("change", "pattern"),
    [
        (setting([], "types"), "holds other types than its manifest lists"),
        (setting(["no", "maybe"], "model", "classes"), "another model than its manifest describes"),
        (setting("sklearn.svm._classes.SVC", "model", "class"), "another model than its manifest describes"),
        (setting([], "model", "views"), "another model than its manifest describes"),
        (setting("regression", "model", "task"), "another model than its manifest describes"),
    ],
)
def test_a_manifest_that_lies_about_the_model_is_told(content, tmp_path, change, pattern):
    path = tmp_path / "model.coview"
    refusal(path, forge(content, manifest=change))
    with pytest.raises(ModelFileError, match=pattern):
        load_model(path)


def test_a_record_that_is_no_json_is_told(content, tmp_path):
    text = refusal(tmp_path / "model.coview", forge(content, record=b"[1, 2"))
    assert "The record in" in text
