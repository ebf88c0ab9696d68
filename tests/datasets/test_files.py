"""Writing data sets as CSV files."""

import tomllib

import pandas as pd
import pytest

from coview.datasets import load_breast_tcga, load_heart_disease, load_two_view_toy, write_csv


def test_written_tables_read_back_equal(tmp_path):
    patients = load_heart_disease()
    write_csv(patients, tmp_path)
    for view, frame in patients.frames.items():
        read = pd.read_csv(tmp_path / f"{view}.csv", index_col="sample")
        pd.testing.assert_frame_equal(read.astype(frame.dtypes.to_dict()), frame, check_index_type=False)
    target = pd.read_csv(tmp_path / "target.csv", index_col="sample")["disease"]
    pd.testing.assert_series_equal(target, patients.target, check_index_type=False)
    assert (tmp_path / "LICENSE.txt").read_text(encoding="utf-8") == patients.licence_text


def test_configuration_names_every_view_and_the_labels(tmp_path):
    tumors = load_breast_tcga()
    write_csv(tumors, tmp_path)
    told = tomllib.loads((tmp_path / "coview.toml").read_text(encoding="utf-8"))
    assert told == {
        "id": "sample",
        "labels": "target.csv",
        "target": "subtype",
        "views": {"mrna": "mrna.csv", "mirna": "mirna.csv", "protein": "protein.csv"},
    }


def test_names_that_are_no_bare_keys_are_quoted(tmp_path):
    bunch = load_two_view_toy()
    bunch.frames = {'blood "A"': bunch.frames["first"]}
    write_csv(bunch, tmp_path)
    told = tomllib.loads((tmp_path / "coview.toml").read_text(encoding="utf-8"))
    assert told["views"] == {'blood "A"': 'blood "A".csv'}


def test_unlabeled_samples_have_an_empty_cell(tmp_path):
    write_csv(load_two_view_toy(), tmp_path)
    lines = (tmp_path / "target.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "sample,class"
    assert sum(line.endswith(",") for line in lines) == 200


def test_same_data_same_bytes(tmp_path):
    first = write_csv(load_breast_tcga(), tmp_path / "a")
    second = write_csv(load_breast_tcga(), tmp_path / "b")
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in second]


def test_existing_files_are_named_and_nothing_is_written(tmp_path):
    (tmp_path / "ecg.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(FileExistsError, match=r"already holds ecg\.csv; nothing was written"):
        write_csv(load_heart_disease(), tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["ecg.csv"]


def test_overwrite_replaces_and_leaves_no_stray_file(tmp_path):
    (tmp_path / "ecg.csv").write_text("mine", encoding="utf-8")
    files = write_csv(load_heart_disease(), tmp_path, overwrite=True)
    assert (tmp_path / "ecg.csv").read_text(encoding="utf-8").startswith("sample,restecg\n")
    assert sorted(tmp_path.iterdir()) == sorted(files)


def test_a_failed_write_keeps_what_was_there(tmp_path, monkeypatch):
    (tmp_path / "history.csv").write_text("mine", encoding="utf-8")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(OSError, match="No space left"):
        write_csv(load_heart_disease(), tmp_path, overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["history.csv"]
    assert (tmp_path / "history.csv").read_text(encoding="utf-8") == "mine"
