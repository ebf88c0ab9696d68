"""Saving and loading: the same answers, the same bytes, nothing lost on the way."""

import errno
import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from coview.compose import TableEncoder
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.persistence import ModelFileError, load_model, read_manifest, save_model
from coview.persistence._trust import COVIEW_TYPES, LIBRARY_TYPES

from .conftest import RECORD
from .forging import forge, small_pipeline, small_tables, unpack


def test_a_pipeline_comes_back_with_its_answers_and_its_record(pipeline, content, tmp_path):
    path = tmp_path / "model.coview"
    path.write_bytes(content)
    saved = load_model(path)
    tables, _ = small_tables(seed=1)
    np.testing.assert_array_equal(saved.model.predict_proba(tables), pipeline.predict_proba(tables))
    assert saved.model.predict(tables).tolist() == pipeline.predict(tables).tolist()
    assert saved.record == RECORD
    assert saved.model.named_steps["encode"].describe() == pipeline.named_steps["encode"].describe()


def test_the_manifest_says_what_the_model_is(content, tmp_path):
    path = tmp_path / "model.coview"
    path.write_bytes(content)
    manifest = read_manifest(path)
    assert (manifest["format"], manifest["format_version"]) == ("coview-model", 1)
    assert set(manifest["versions"]) == {"python", "coview", "numpy", "scipy", "scikit-learn", "pandas", "skops"}
    model = manifest["model"]
    assert model["class"] == "sklearn.pipeline.Pipeline"
    assert [name for name, _ in model["steps"]] == ["encode", "model"]
    assert (model["task"], model["classes"]) == ("classification", ["no", "yes"])
    assert [(view["name"], view["n_features"]) for view in model["views"]] == [("clinical", 2), ("ct", 3)]
    assert model["views"][1]["columns"] == ["volume", "grade", "depth"]
    assert load_model(path).manifest == manifest


def test_reading_the_manifest_builds_nothing(content, tmp_path, monkeypatch):
    path = tmp_path / "model.coview"
    path.write_bytes(content)
    for name in ("loads", "load", "get_untrusted_types"):
        monkeypatch.setattr(skops.io, name, lambda *args, **kwargs: pytest.fail("skops was asked to load"))
    assert read_manifest(path)["model"]["task"] == "classification"


def test_the_same_model_gives_the_same_bytes(pipeline, content, tmp_path):
    save_model(pipeline, tmp_path / "again.coview", record=RECORD)
    save_model(small_pipeline(), tmp_path / "fitted_again.coview", record=RECORD)
    (tmp_path / "first.coview").write_bytes(content)
    save_model(load_model(tmp_path / "first.coview").model, tmp_path / "loaded.coview", record=RECORD)
    for name in ("again", "fitted_again", "loaded"):
        assert (tmp_path / f"{name}.coview").read_bytes() == content, name


def test_another_process_gives_the_same_bytes(content, tmp_path):
    """Neither addresses nor the order of hashed sets get into the file."""
    script = (
        "import sys; from coview.persistence import save_model; from tests.persistence.forging import small_pipeline;"
        "import json; save_model(small_pipeline(), sys.argv[1], record=json.loads(sys.argv[2]))"
    )
    path = tmp_path / "other.coview"
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": root}
    subprocess.run([sys.executable, "-c", script, str(path), json.dumps(RECORD)], check=True, env=environment, cwd=root)
    assert path.read_bytes() == content


def test_skops_reads_the_inner_file(pipeline, content):
    """The format needs no coview to be opened; its members carry no dates."""
    data = unpack(content)["model.skops"]
    again = skops.io.loads(data, trusted=sorted(COVIEW_TYPES | LIBRARY_TYPES))
    tables, _ = small_tables()
    np.testing.assert_array_equal(again.predict_proba(tables), pipeline.predict_proba(tables))
    for archive in (content, data):
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            assert {entry.date_time for entry in opened.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_an_existing_file_is_left_unless_told(pipeline, content, tmp_path, monkeypatch):
    path = tmp_path / "model.coview"
    path.write_text("mine")
    with monkeypatch.context() as patched:
        patched.setattr(skops.io, "dumps", lambda model: pytest.fail("the model was written out first"))
        with pytest.raises(FileExistsError, match="exists already"):
            save_model(pipeline, path)
    assert path.read_text() == "mine"
    save_model(pipeline, path, record=RECORD, overwrite=True)
    assert path.read_bytes() == content
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.coview"]


def test_a_full_disk_leaves_the_old_file(pipeline, tmp_path, monkeypatch):
    path = tmp_path / "model.coview"
    path.write_text("mine")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as raised:
        save_model(pipeline, path, overwrite=True)
    assert raised.value.filename == str(path)
    assert path.read_text() == "mine"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.coview"]


def test_no_record_is_an_empty_one(pipeline, tmp_path):
    save_model(pipeline, tmp_path / "model.coview")
    assert load_model(tmp_path / "model.coview").record == {}


@pytest.mark.parametrize("record", [{"a": float("nan")}, {"a": np.float32(1)}, {"a": {1, 2}}, {("a", "b"): 1}])
def test_a_record_that_is_no_json_is_refused(pipeline, tmp_path, record):
    with pytest.raises(ModelFileError, match="The record cannot be saved"):
        save_model(pipeline, tmp_path / "model.coview", record=record)
    assert not list(tmp_path.iterdir())


def test_an_unfitted_model_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        save_model(TableEncoder(), tmp_path / "model.coview")
    assert not list(tmp_path.iterdir())


class OwnClassifier(LogisticRegression):
    """A class that nobody else has."""


def linear(left, right):
    return left @ right.T


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (
            Pipeline(
                [("encode", TableEncoder()), ("model", BayesianCoTrainingClassifier(linear, hyperparameters="fixed"))]
            ),
            "linear",
        ),
        (OwnClassifier(), "OwnClassifier"),
    ],
    ids=["function", "class"],
)
def test_what_would_not_load_is_not_saved(tmp_path, model, name):
    tables, labels = small_tables()
    kept = np.flatnonzero([label is not None for label in labels])
    X = tables if isinstance(model, Pipeline) else tables["ct"].iloc[: len(kept[kept < 20])]
    model.fit(X, labels if isinstance(model, Pipeline) else labels[kept[kept < 20]].astype(str))
    with pytest.raises(ModelFileError, match=rf"cannot be saved: it holds '[^']*\b{name}'.*names or kernel objects"):
        save_model(model, tmp_path / "model.coview")
    assert not list(tmp_path.iterdir())


def older(manifest):
    manifest["versions"]["scikit-learn"] = "1.2.3"


def patched(manifest):
    minor = manifest["versions"]["scikit-learn"].split(".")[:2]
    manifest["versions"]["scikit-learn"] = ".".join([*minor, "99"])


def test_another_minor_version_of_scikit_learn_is_refused_unless_told(content, pipeline, tmp_path):
    path = tmp_path / "model.coview"
    path.write_bytes(forge(content, manifest=older))
    with pytest.raises(
        ModelFileError, match=r"fitted with scikit-learn 1\.2\.3.*'scikit-learn==1\.2\.\*'.*any_version=True"
    ):
        load_model(path)
    assert read_manifest(path)["versions"]["scikit-learn"] == "1.2.3"
    with pytest.warns(UserWarning, match=r"fitted with scikit-learn 1\.2\.3.*may differ"):
        saved = load_model(path, any_version=True)
    tables, _ = small_tables()
    np.testing.assert_array_equal(saved.model.predict_proba(tables), pipeline.predict_proba(tables))


def test_a_patch_version_of_scikit_learn_loads_without_a_word(content, tmp_path):
    def patch_everywhere(schema):
        for node in schema["content"]["content"].values():
            if node.get("content", "").__class__ is str and node["content"].startswith('"1.'):
                node["content"] = '"1.9.99"'

    path = tmp_path / "model.coview"
    path.write_bytes(forge(content, manifest=patched, schema=patch_everywhere))
    assert load_model(path).manifest["versions"]["scikit-learn"].endswith(".99")
