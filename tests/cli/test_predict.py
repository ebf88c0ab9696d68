"""``coview predict``: which rows and columns come out, for data that differ from those of the fit."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import Pipeline

from coview.cli._program import run
from coview.compose import TableEncoder
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.inspection import _predictions
from coview.model_selection import usual_methods
from coview.persistence import load_model, save_model
from coview.views import read_tables

from .fit_problems import cohort, write

SETTING = {"kernels": "linear", "center": True, "n_components": 3, "amplitude": 4.0, "view_variances": 1.0}


def views(n=24, seed=1):
    tables = cohort(n, seed)
    return {"clinical": tables["clinical"], "ct": tables["ct"]}


def fitted(task="classification"):
    tables = cohort()
    method = BayesianCoTrainingClassifier(settings=[SETTING], no_view="prior", random_state=0)
    labels = tables["labels"]["state"].astype(object).to_numpy()
    if task == "regression":
        method, labels = usual_methods("regression")["imputation-ridge"], tables["labels"]["stay"].to_numpy()
    pipeline = Pipeline([("encode", TableEncoder()), ("model", method)])
    return pipeline.fit(read_tables({"clinical": tables["clinical"], "ct": tables["ct"]}), labels)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.coview"
    save_model(fitted(), path)
    return path


@pytest.fixture(scope="module")
def regression(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "r.coview"
    save_model(fitted("regression"), path)
    return path


@pytest.fixture
def files(tmp_path):
    return write(tmp_path, views())


def predict(*words):
    return run(["predict", *map(str, words)])


def answers(path):
    return pd.read_csv(path, dtype={"patient": "str"}, index_col="patient", keep_default_na=False)


def test_one_row_per_sample_with_numbers_in_full(model, files, tmp_path):
    assert predict("-m", model, files["clinical"], files["ct"], "-o", tmp_path / "p.csv") == 0
    table = answers(tmp_path / "p.csv")
    assert list(table.columns) == ["predicted", "probability", "p_ill", "p_well", "views"]
    loaded = load_model(model).model
    assert_allclose(table[["p_ill", "p_well"]], loaded.predict_proba(views()), rtol=1e-12)
    assert_array_equal(table["predicted"], loaded.predict(views()))
    assert table.index[0] == "000"
    assert (table["views"]["000"], table["views"]["001"]) == ("clinical", "clinical ct")


def test_csv_on_stdout_is_all_that_stands_there(model, files, tmp_path, capsys):
    assert predict("-m", model, files["clinical"]) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0] == "patient,predicted,probability,p_ill,p_well,views"
    assert len(lines) == 25
    assert "24 samples predicted: ill" in captured.err


def test_a_table_of_one_sample_gives_what_it_gets_among_all(model, files, tmp_path):
    write(tmp_path, {"clinical": views()["clinical"][4:5], "ct": views()["ct"].loc[["004"]]})
    assert predict("-m", model, tmp_path / "clinical.csv", tmp_path / "ct.csv", "-o", tmp_path / "one.csv") == 0
    write(tmp_path, views())
    assert predict("-m", model, tmp_path / "clinical.csv", tmp_path / "ct.csv", "-o", tmp_path / "all.csv") == 0
    one, every = answers(tmp_path / "one.csv"), answers(tmp_path / "all.csv")
    assert one["p_ill"]["004"] == pytest.approx(every["p_ill"]["004"], rel=1e-12)


@pytest.mark.parametrize("only", ["clinical", "ct"])
def test_any_of_the_views_will_do(model, files, tmp_path, only):
    assert predict("-m", model, files[only], "-o", tmp_path / "p.csv") == 0
    expected = load_model(model).model.predict_proba({only: views()[only]})
    assert_allclose(answers(tmp_path / "p.csv")[["p_ill", "p_well"]], expected, rtol=1e-12)


def test_the_order_of_columns_does_not_matter(model, files, tmp_path):
    assert predict("-m", model, files["ct"], "-o", tmp_path / "p.csv") == 0
    write(tmp_path, {"ct": views()["ct"][["grade", "volume"]]})
    assert predict("-m", model, files["ct"], "-o", tmp_path / "q.csv") == 0
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "q.csv").read_bytes()


def test_columns_and_views_that_the_model_does_not_know_are_left_out_and_named(model, files, tmp_path, capsys):
    assert predict("-m", model, files["ct"], "-o", tmp_path / "p.csv") == 0
    write(tmp_path, {"ct": views()["ct"].assign(state="ill"), "pet": views()["ct"]})
    assert predict("-m", model, files["ct"], tmp_path / "pet.csv", "-o", tmp_path / "q.csv") == 0
    said = capsys.readouterr().err
    assert "'state'" in said
    assert "'pet'" in said
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "q.csv").read_bytes()


def test_a_file_of_another_name_is_known_by_its_columns(model, files, tmp_path, capsys):
    assert predict("-m", model, files["clinical"], files["ct"], "-o", tmp_path / "p.csv") == 0
    new = write(tmp_path, {"visits 2024": views()["clinical"], "ct": views()["ct"]})["visits 2024"]
    assert predict("-m", model, new, files["ct"], "-o", tmp_path / "q.csv") == 0
    assert "'visits 2024' has the columns of the model's view 'clinical' and is taken for it" in capsys.readouterr().err
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "q.csv").read_bytes()


def test_a_renamed_column_is_an_error_that_names_the_nearest(model, files, tmp_path, capsys):
    write(tmp_path, {"ct": views()["ct"].rename(columns={"volume": "Volume (ml)"})})
    assert predict("-m", model, files["ct"]) == 1
    said = capsys.readouterr().err
    assert "volume" in said
    assert "Volume (ml)" in said


def test_a_missing_column_is_an_error(model, files, tmp_path, capsys):
    write(tmp_path, {"ct": views()["ct"][["grade"]]})
    assert predict("-m", model, files["ct"]) == 1
    assert "'volume'" in capsys.readouterr().err


def test_values_never_seen_are_counted(model, files, tmp_path, capsys):
    table = views()["clinical"]
    table.iloc[[2, 5], 1] = "x"
    write(tmp_path, {"clinical": table})
    assert predict("-m", model, files["clinical"], "-o", tmp_path / "p.csv") == 0
    said = capsys.readouterr().err
    assert "2 values of 'sex' in view 'clinical' never occurred in training" in said
    assert "gaps filled as in training: clinical 1" in said


def gappy(tmp_path):
    table = views()["clinical"]
    table.iloc[5] = np.nan
    return write(tmp_path, {"clinical": table})["clinical"]


def test_a_sample_without_any_view_is_an_error_that_names_it(model, tmp_path, capsys):
    assert predict("-m", model, gappy(tmp_path), "-o", tmp_path / "p.csv") == 1
    said = capsys.readouterr().err
    assert "1 of 24 samples have none of the model's views: '005'" in said
    assert "--no-view skip" in said
    assert not (tmp_path / "p.csv").exists()


def test_or_an_empty_prediction(model, tmp_path, capsys):
    assert predict("-m", model, gappy(tmp_path), "--no-view", "skip", "-o", tmp_path / "p.csv") == 0
    table = answers(tmp_path / "p.csv")
    assert (table == "").all(axis=1).to_list() == [i == 5 for i in range(24)]
    assert "1 have none of the model's views and were left empty: 005" in capsys.readouterr().err


def test_json_lines(model, files, tmp_path, monkeypatch):
    monkeypatch.setattr(_predictions, "_BLOCK_ROWS", 7)
    assert predict("-m", model, gappy(tmp_path), "--no-view", "skip", "-o", tmp_path / "p.jsonl") == 0
    rows = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["patient"] for row in rows] == [f"{i:03d}" for i in range(24)]
    assert list(rows[0]) == ["patient", "predicted", "probability", "p_ill", "p_well", "views"]
    assert rows[5]["predicted"] is None
    assert rows[5]["p_ill"] is None


def test_parquet(model, files, tmp_path):
    pytest.importorskip("pyarrow")
    assert predict("-m", model, files["ct"], "-o", tmp_path / "p.parquet") == 0
    assert predict("-m", model, files["ct"], "-o", tmp_path / "p.csv") == 0
    table = pd.read_parquet(tmp_path / "p.parquet").set_index("patient")
    assert_array_equal(table["p_ill"], answers(tmp_path / "p.csv")["p_ill"])


def test_blocks_make_no_difference(model, files, tmp_path, monkeypatch):
    assert predict("-m", model, files["clinical"], "-o", tmp_path / "p.csv") == 0
    monkeypatch.setattr(_predictions, "_BLOCK_ROWS", 5)
    assert predict("-m", model, files["clinical"], "-o", tmp_path / "q.csv") == 0
    whole, blocks = answers(tmp_path / "p.csv"), answers(tmp_path / "q.csv")
    pd.testing.assert_frame_equal(whole, blocks, rtol=1e-12)


def test_numbers_come_with_their_interval(regression, files, tmp_path):
    assert predict("-m", regression, files["clinical"], "-o", tmp_path / "p.csv") == 0
    table = answers(tmp_path / "p.csv")
    assert list(table.columns) == ["predicted", "sd", "lower", "upper", "views"]
    assert ((table["lower"] < table["predicted"]) & (table["predicted"] < table["upper"])).all()


def test_json_with_a_file_counts_what_was_written(model, files, tmp_path, capsys):
    assert predict("-m", model, files["clinical"], "-o", tmp_path / "p.csv", "--json", "--quiet") == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert (document["command"], document["n_samples"], document["format"]) == ("predict", 24, "csv")
    assert sum(document["predicted"].values()) == 24
    assert captured.err == ""


def test_json_without_a_file_holds_the_predictions(model, files, capsys):
    assert predict("-m", model, files["clinical"], "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["predictions"]) == 24
    assert document["predictions"][0]["patient"] == "000"


def test_the_file_is_not_overwritten_unless_told(model, files, tmp_path, capsys):
    path = tmp_path / "p.csv"
    path.write_text("mine")
    assert predict("-m", model, files["clinical"], "-o", path) == 1
    assert "exists already" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert predict("-m", model, files["clinical"], "-o", path, "--force") == 0
    assert len(answers(path)) == 24


def test_misuse(model, files, capsys):
    for words, message in [
        ([files["ct"]], "--model"),
        (["-m", model], "Name the data"),
        (["-m", model, files["ct"], "--format", "parquet"], "Parquet is not text"),
        (["-m", model, files["ct"], "--force"], "--force says"),
        (["-m", model, files["ct"], "--json", "--format", "csv"], "give one"),
        (["-m", model, files["ct"], "--format", "xml"], "xml"),
    ]:
        assert predict(*words) == 2
        assert message in capsys.readouterr().err


def test_a_file_that_is_no_model_is_refused(files, tmp_path, capsys):
    assert predict("-m", files["ct"], files["ct"]) == 1
    assert "ct.csv" in capsys.readouterr().err


def test_labels_in_the_data_are_not_needed_and_not_used(model, tmp_path):
    """The command line of the fit works for predicting, too."""
    paths = write(tmp_path, cohort())
    words = [paths["clinical"], paths["ct"]]
    assert predict("-m", model, *words, "-o", tmp_path / "p.csv") == 0
    given = ["--labels", paths["labels"], "--target", "state"]
    assert predict("-m", model, *words, *given, "-o", tmp_path / "q.csv") == 0
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "q.csv").read_bytes()


def test_the_file_of_the_fit_can_be_predicted_though_it_holds_the_labels(tmp_path):
    """Without their column all others are named view__feature, with it not."""
    table = cohort()["labels"][["state"]].join(cohort()["clinical"].add_prefix("clinical__"))
    path = tmp_path / "all.csv"
    table.to_csv(path)
    words = ["--method", "imputation-logistic-regression", "--cv", "0", "-o", tmp_path / "m"]
    assert run(["fit", *map(str, [path, "--target", "state", *words])]) == 0
    assert predict("-m", tmp_path / "m", path, "-o", tmp_path / "p.csv") == 0
    assert len(answers(tmp_path / "p.csv")) == 48


def test_samples_of_the_training_are_counted(tmp_path, capsys):
    paths = write(tmp_path, cohort())
    words = [paths["ct"], "--labels", paths["labels"], "--target", "state", "--cv", "2"]
    assert run(["fit", *words, "--method", "imputation-logistic-regression", "-o", str(tmp_path / "m")]) == 0
    capsys.readouterr()
    assert predict("-m", tmp_path / "m", paths["ct"]) == 0
    assert "16 of these samples had a label in training" in capsys.readouterr().err


def test_views_that_no_labeled_sample_had_alone_are_told(files, tmp_path, capsys):
    path = tmp_path / "known.coview"
    patterns = [
        {"views": ["clinical", "ct"], "n_samples": 9, "n_labeled": 9},
        {"views": ["ct"], "n_samples": 3, "n_labeled": 0},
    ]
    save_model(fitted(), path, record={"patterns": patterns})
    assert predict("-m", path, files["ct"], "-o", tmp_path / "p.csv") == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "note: 16 of these samples have ct only; 9 labeled training samples had more views than that" in told
    patterns[0]["views"] = ["clinical"]
    save_model(fitted(), path, record={"patterns": patterns}, overwrite=True)
    assert predict("-m", path, files["ct"], "-o", tmp_path / "r.csv") == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "warning: 16 of these samples have ct only, which no labeled training sample had: nobody knows" in told
    patterns[0]["views"] = ["clinical", "ct"]
    patterns[1]["n_labeled"] = 1
    save_model(fitted(), path, record={"patterns": patterns}, overwrite=True)
    assert predict("-m", path, files["ct"], "-o", tmp_path / "q.csv") == 0
    assert "labeled training sample" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "record",
    [
        {"evaluation": 5},
        {"evaluation": {"samples": 5}},
        {"patterns": 5},
        {"patterns": [5]},
        {"patterns": [{"views": [[]]}]},
    ],
)
def test_a_record_of_another_shape_is_refused(files, tmp_path, capsys, record):
    save_model(fitted(), tmp_path / "odd.coview", record=record)
    assert predict("-m", tmp_path / "odd.coview", files["ct"]) == 1
    assert "not what coview fit writes. Fit the model anew." in capsys.readouterr().err


def test_an_interrupted_run_leaves_no_file(model, files, tmp_path, monkeypatch):
    def interrupted(*args, **params):
        raise KeyboardInterrupt

    monkeypatch.setattr(_predictions, "_block", interrupted)
    before = sorted(tmp_path.iterdir())
    assert predict("-m", model, files["clinical"], "-o", tmp_path / "p.csv") == 130
    assert sorted(tmp_path.iterdir()) == before
