"""``coview report``: what it writes, what it refuses, how it ends."""

import contextlib
import io
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline

from coview.acquisition import Campaign
from coview.cli._program import run
from coview.compose import TableEncoder
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.persistence import save_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model file, the table it was fitted to, and labels of new samples."""
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    codes = np.arange(24) % 2
    table = pd.DataFrame(codes[:, None] + 0.5 * rng.normal(size=(24, 2)), columns=["age", "bmi"])
    table.insert(0, "sample", [f"p{i}" for i in range(24)])
    table.to_csv(folder / "clinical.csv", index=False)
    pd.DataFrame({"sample": table["sample"], "ill": np.array(["no", "yes"])[codes]}).to_csv(
        folder / "labels.csv", index=False
    )
    pd.DataFrame({"sample": table["sample"], "ill": "yes"}).to_csv(folder / "one.csv", index=False)
    setting = {"kernels": "linear", "center": True, "scale": True, "n_components": 2, "view_variances": np.inf}
    model = Pipeline(
        [("encode", TableEncoder()), ("model", BayesianCoTrainingClassifier(settings=[setting], random_state=0))]
    ).fit({"clinical": table.set_index("sample")}, np.array(["no", "yes"], dtype=object)[codes])
    record = {"target": "ill", "task": "classification", "method": "bayesian-co-training", "views": {}}
    save_model(model, folder / "ill.coview", record=record)
    return folder


def report(*words):
    """Exit code and both streams, which the runner of click keeps apart from 8.2 on only."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(["report", *map(str, words)])
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8"))
    return SimpleNamespace(exit_code=code, stdout=texts[0], stderr=texts[1])


def test_from_the_model_alone(folder, tmp_path):
    result = report(folder / "ill.coview", "-o", tmp_path / "r.html")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "Report written to" in result.stderr
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h1>Predicting ill</h1>" in page
    assert "Predictions for the data given" not in page


def test_with_data_and_labels_on_stdout(folder):
    words = (folder / "ill.coview", folder / "clinical.csv", "--labels", folder / "labels.csv", "-o", "-")
    result = report(*words)
    assert result.exit_code == 0
    assert "Scored on 24 samples" in result.stdout
    assert result.stdout.endswith("</html>\n")
    assert report(*words).stdout == result.stdout


def test_labels_of_one_class_are_scored_too(folder):
    result = report(folder / "ill.coview", folder / "clinical.csv", "--labels", folder / "one.csv", "-o", "-")
    assert result.exit_code == 0
    assert "Scored on 24 samples" in result.stdout


def test_an_existing_file_is_kept_unless_forced(folder, tmp_path):
    (tmp_path / "r.html").write_text("mine")
    words = (folder / "ill.coview", "-o", tmp_path / "r.html")
    result = report(*words)
    assert result.exit_code == 1
    assert "exists already" in result.stderr
    assert "--force" in result.stderr
    assert (tmp_path / "r.html").read_text() == "mine"
    assert report(*words, "--force").exit_code == 0
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")


def test_open_shows_the_page(folder, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert report(folder / "ill.coview", "-o", tmp_path / "r.html", "--open").exit_code == 0
    assert opened == [(tmp_path / "r.html").as_uri()]


@pytest.mark.parametrize("flag", ["--open", "--force"])
def test_flags_about_a_file_need_one(folder, flag):
    result = report(folder / "ill.coview", "-o", "-", flag)
    assert result.exit_code == 2
    assert "are about a file" in result.stderr


def test_labels_without_data_are_misuse(folder):
    result = report(folder / "ill.coview", "--labels", folder / "labels.csv", "-o", "-")
    assert result.exit_code == 2
    assert "name the DATA too" in result.stderr


def test_what_is_no_model_is_refused(folder, tmp_path):
    result = report(folder / "clinical.csv", "-o", tmp_path / "r.html")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert not (tmp_path / "r.html").exists()
    assert report(folder / "no.coview", "-o", "-").exit_code == 1


def test_data_that_lack_a_column_are_refused_by_name(folder, tmp_path):
    pd.DataFrame({"sample": ["a", "b"], "Age": [1.0, 2.0], "weight": [1.0, 3.0]}).to_csv(
        tmp_path / "clinical.csv", index=False
    )
    result = report(folder / "ill.coview", tmp_path / "clinical.csv", "-o", "-")
    assert result.exit_code == 1
    assert "'age'" in result.stderr
    assert "'bmi'" in result.stderr


def test_a_missing_file_is_an_error_and_nothing_is_written(folder, tmp_path):
    result = report(folder / "ill.coview", tmp_path / "nowhere.csv", "-o", tmp_path / "r.html")
    assert result.exit_code == 1
    assert "nowhere.csv" in result.stderr
    assert not (tmp_path / "r.html").exists()


def test_a_campaign_is_told_by_its_file_and_takes_no_data(folder, tmp_path):
    rng = np.random.default_rng(0)
    views = {"a": rng.normal(size=(20, 2)), "b": rng.normal(size=(20, 1))}
    views["b"][::3] = np.nan
    y = np.where(np.arange(20) < 12, np.arange(20) % 2, None)
    model = BayesianCoTrainingClassifier("linear", hyperparameters="fixed", view_variances=0.1)
    Campaign(model, views, y, path=tmp_path / "c.covw", notes={"target": "ill"}).disconnect()
    result = report(tmp_path / "c.covw", "-o", tmp_path / "c.html")
    assert (result.exit_code, result.stdout) == (0, "")
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "<h1>Predicting ill: what to measure next</h1>" in page
    assert "Can the list be relied on?" in page
    refused = report(tmp_path / "c.covw", folder / "clinical.csv", "-o", tmp_path / "d.html")
    assert refused.exit_code == 2
    assert "is a campaign and holds its data" in refused.stderr
    (tmp_path / "e.covw").write_bytes(b"SQLite format 3\0" + bytes(200))
    broken = report(tmp_path / "e.covw", "-o", tmp_path / "e.html")
    assert broken.exit_code == 1
    assert "Traceback" not in broken.stderr
    assert not (tmp_path / "e.html").exists()
