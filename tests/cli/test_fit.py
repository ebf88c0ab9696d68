"""``coview fit``: what it prints, writes, refuses."""

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from coview.cli import _fit, _methods, _record
from coview.cli._program import run
from coview.model_selection import Evaluation, TransductivePipeline, cross_validate_methods
from coview.persistence import load_model

from .fit_problems import cohort, write

SIMPLE = ["--method", "imputation-logistic-regression", "--cv", "2"]


@pytest.fixture
def files(tmp_path):
    return write(tmp_path, cohort())


@pytest.fixture
def data(files):
    return [files["clinical"], files["ct"], "--labels", files["labels"], "--target", "state"]


@pytest.fixture
def model(tmp_path):
    return tmp_path / "m.coview"


def fit(*words):
    return run(["fit", *map(str, words)])


def test_the_whole_story_of_the_default_method(data, model, capsys):
    assert fit(*data, "--cv", "2", "-o", model) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0] == "48 samples, 2 views (clinical 48, ct 32); 32 labeled by 'state': ill 16, well 16"
    table = [line for line in lines if line.count(" ± ") == 5]
    assert [line.split("  ")[0] for line in table] == [
        "bayesian-co-training", "imputation + logistic regression", "majority class", "clinical alone", "ct alone",
    ]  # fmt: skip
    assert lines[2].split() == ["method", "accuracy", "log", "loss", "AUC", "Brier", "score", "calibration", "error"]
    assert len({len(line) for line in table}) == 1
    assert any(line.startswith("It predicts better than the shares of the classes alone (log loss") for line in lines)
    assert any("better nor clearly worse than imputation + logistic regression" in line for line in lines)
    assert "clinical: 2 columns (1 number, 1 category) become 4; 1 gap filled" in lines
    trust = lines[lines.index(next(line for line in lines if line.startswith("view "))) :]
    assert [line.split()[0] for line in trust[1:3]] == ["clinical", "ct"]
    assert lines[-1].endswith(f"predictions for the 16 unlabeled ones come from coview predict. It is in {model}")
    assert "clinical.csv" in captured.err
    assert "\x1b" not in captured.err


def test_the_file_holds_the_pipeline_and_the_record(data, model, capsys):
    assert fit(*data, *SIMPLE, "--seed", "3", "-o", model) == 0
    saved = load_model(model)
    assert [name for name, _ in saved.model.steps] == ["encode", "model"]
    record = saved.record
    assert (record["schema_version"], record["task"], record["seed"]) == (1, "classification", 3)
    assert (record["target"], record["id_name"]) == ("state", "patient")
    assert record["classes"] == ["ill", "well"]
    assert record["class_counts"] == {"ill": 16, "well": 16}
    assert (record["n_samples"], record["n_labeled"]) == (48, 32)
    assert record["views"]["ct"] == {"n_columns": 2, "n_samples": 32, "file": "ct.csv"}
    assert record["patterns"] == [
        {"views": ["clinical", "ct"], "n_samples": 32, "n_labeled": 16},
        {"views": ["clinical"], "n_samples": 16, "n_labeled": 16},
    ]
    assert set(record["guesses"]) == {"clinical.csv", "ct.csv", "labels.csv"}
    assert "coview" in record["versions"]
    evaluation = Evaluation.from_dict(record["evaluation"])
    assert evaluation.n_splits == 2
    assert len(evaluation.samples) == 32
    assert record["verdict"]


def test_no_folder_of_this_machine_is_in_the_record(files, model, tmp_path):
    """Though a finding names the file whose labels have no data."""
    words = [files["ct"], "--labels", files["labels"], "--target", "state", *SIMPLE]
    assert fit(*words, "-o", model) == 0
    record = load_model(model).record
    assert any("labels.csv" in finding["message"] for finding in record["findings"])
    assert str(tmp_path) not in json.dumps(record)
    assert record["command"] == (
        "coview fit ct.csv --labels labels.csv --target state --method imputation-logistic-regression --cv 2 -o MODEL"
    )


@pytest.mark.parametrize(
    ("name", "value", "left"),
    [
        ("data", "/home/me/a b.csv", "a b.csv"),
        ("view", "ct=/home/me/ct.xlsx#Sheet 1", "ct=ct.xlsx#Sheet 1"),
        ("labels", "/home/me/y.csv:state", "y.csv:state"),
        ("labels", "/home/me/y.csv", "y.csv"),
        ("target", "a/b", "a/b"),
        ("config", "/home/me/coview.toml", "coview.toml"),
    ],
)
def test_folders_are_left_out_where_a_word_names_a_file(name, value, left):
    assert _record._without_folder(name, value) == left


def test_same_seed_same_bytes(data, tmp_path):
    for name in ("a", "b"):
        assert fit(*data, *SIMPLE, "--seed", "1", "-o", tmp_path / name) == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert fit(*data, *SIMPLE, "--seed", "2", "-o", tmp_path / "c") == 0
    assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()


def test_json_is_one_object_with_the_record(data, model, capsys):
    assert fit(*data, *SIMPLE, "-o", model, "--json", "--quiet") == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert (document["schema_version"], document["command"], document["output"]) == (1, "fit", str(model))
    assert document["record"]["evaluation"]["n_splits"] == 2
    assert document["encoding"][1].startswith("ct: 2 columns")
    assert captured.err == ""


def test_random_labels_give_a_useless_model(files, model, tmp_path, capsys):
    labels = cohort()["labels"]
    labels["state"] = np.random.default_rng(4).permutation(labels["state"])
    path = tmp_path / "random.csv"
    labels[["state"]].to_csv(path)
    assert fit(files["ct"], "--labels", path, "--target", "state", *SIMPLE, "-o", model) == 0
    assert "This model is useless: for samples whose label it has not seen" in capsys.readouterr().out


def test_numbers_are_fitted_by_a_regression(files, model, capsys):
    words = [files["clinical"], files["ct"], "--labels", files["labels"], "--target", "stay"]
    assert fit(*words, "--method", "imputation-ridge", "--cv", "3", "-o", model) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("labeled by 'stay'")
    assert lines[2].split("  ")[-1] == "90 % coverage"
    assert any(line.startswith("mean of the labels") for line in lines)
    record = load_model(model).record
    assert (record["task"], record["classes"]) == ("regression", [])


def test_one_fold_is_misuse(data, model, capsys):
    assert fit(*data, *SIMPLE[:2], "--cv", "1", "-o", model) == 2
    assert "give 2 or more folds, or 0 for none" in capsys.readouterr().err
    assert not model.exists()


def test_without_cross_validation_nobody_knows_what_the_model_is_worth(data, model, capsys):
    assert fit(*data, *SIMPLE[:2], "--cv", "0", "-o", model) == 0
    assert "What this model is worth was not measured: no cross-validation was asked for." in capsys.readouterr().out
    assert load_model(model).record["evaluation"] is None


def few_labels(files, tmp_path, keep):
    labels = cohort()["labels"]
    labels.loc[~labels.index.isin(keep), "state"] = None
    path = tmp_path / "few.csv"
    labels[["state"]].to_csv(path)
    return [files["clinical"], "--labels", path, "--target", "state"]


def test_fewer_labels_give_fewer_folds(files, tmp_path, model, capsys):
    words = few_labels(files, tmp_path, ["000", "002", "003", "005"])
    assert fit(*words, *SIMPLE[:2], "-o", model) == 0
    captured = capsys.readouterr()
    assert "4 folds instead of 5" in captured.err
    assert load_model(model).record["evaluation"]["n_splits"] == 4


def test_too_few_labels_give_a_model_without_scores(files, tmp_path, model, capsys):
    words = few_labels(files, tmp_path, ["000", "002", "003"])
    assert fit(*words, *SIMPLE[:2], "-o", model) == 0
    assert "there are too few labels for cross-validation" in capsys.readouterr().out


def test_the_file_is_not_overwritten_unless_told(data, model, capsys, monkeypatch):
    model.write_text("mine")
    assert fit(*data, *SIMPLE, "-o", model) == 1
    assert "exists already" in capsys.readouterr().err
    assert model.read_text() == "mine"
    assert fit(*data, *SIMPLE, "-o", model, "--force") == 0
    assert load_model(model).record["method"] == SIMPLE[1]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind here")
def test_a_folder_that_cannot_be_written_is_told_before_the_work(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_fit, "read_data", lambda *words: pytest.fail("read data first"))
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert fit(*data, *SIMPLE, "-o", folder / "m") == 1
    assert "Permission denied" in capsys.readouterr().err


@pytest.mark.parametrize(("place", "message"), [("none/m", "no such folder"), (".", "folder"), ("-", "name a file")])
def test_a_senseless_output_is_told_before_the_work(data, tmp_path, capsys, monkeypatch, place, message):
    monkeypatch.setattr(_fit, "read_data", lambda *words: pytest.fail("read data first"))
    monkeypatch.chdir(tmp_path)
    assert fit(*data, *SIMPLE, "-o", place) == 1
    assert message in capsys.readouterr().err


def test_interrupted_it_leaves_no_file(data, model, tmp_path, monkeypatch):
    def interrupted(*args, **params):
        raise KeyboardInterrupt

    monkeypatch.setattr(TransductivePipeline, "fit", interrupted)
    before = sorted(tmp_path.iterdir())
    assert fit(*data, *SIMPLE, "-o", model) == 130
    assert sorted(tmp_path.iterdir()) == before


def test_misuse(data, files, capsys):
    assert fit(*data) == 2
    assert "-o MODEL is needed" in capsys.readouterr().err
    assert fit(files["clinical"], "-o", "m") == 2
    assert "--target COL is needed" in capsys.readouterr().err
    assert fit("-o", "m", "--target", "state") == 2
    assert "Name the data" in capsys.readouterr().err


def test_methods_are_listed_without_data(capsys):
    assert fit("--method", "list") == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == list(_methods.METHODS)


def test_methods_are_listed_by_what_fits_the_data(data, capsys):
    assert fit(*data, "--method", "list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("bayesian-co-training ")
    assert [line.split()[0] for line in lines if "not here: it is for regression" in line] == [
        "imputation-ridge", "imputation-pca-ridge",
    ]  # fmt: skip
    assert [line.split()[0] for line in lines if "not here: its trees need 40 labels" in line] == ["gradient-boosting"]


def test_methods_as_json(capsys):
    assert fit("--method", "list", "--json") == 0
    methods = json.loads(capsys.readouterr().out)["methods"]
    assert [method["name"] for method in methods] == list(_methods.METHODS)


def test_a_method_that_does_not_fit_is_refused_with_the_reason(data, model, capsys):
    assert fit(*data, "--method", "imputation-ridge", "-o", model) == 1
    assert "it is for regression, and the labels ask for classification" in capsys.readouterr().err
    assert fit(*data, "--method", "magic", "-o", model) == 1
    assert "There is no method 'magic'; there are bayesian-co-training" in capsys.readouterr().err


def test_the_consensus_model_of_the_papers_fits_too(data, model):
    facts = _methods.DataFacts("classification", 48, 32, 6, sparse=False)
    estimator = _methods.METHODS["bayesian-co-training-consensus"].make(facts, 0)
    assert estimator.get_params()["latent"] == "consensus"


def test_numbers_are_weighed_by_the_evidence():
    facts = _methods.DataFacts("regression", 48, 32, 6, sparse=False)
    assert _methods.METHODS["bayesian-co-training"].make(facts, 0).weighting == "evidence"


@pytest.mark.parametrize("name", list(_methods.METHODS))
def test_every_method_can_be_made_and_says_what_it_is(name):
    method = _methods.METHODS[name]
    for task in method.tasks:
        facts = _methods.DataFacts(task, 60, 50, 6, sparse=False)
        assert method.problem(facts) is None
        assert hasattr(method.make(facts, 0), "fit")
    assert 20 < len(method.description) < 110


def test_prose_rules_out_methods_that_need_dense_columns():
    facts = _methods.DataFacts("classification", 60, 50, 6, sparse=True)
    out = [name for name, method in _methods.METHODS.items() if "dense" in (method.problem(facts) or "")]
    assert out == [
        "co-regularized-logistic", "class-conditional-mixture", "factor-mixture", "co-em-mixture", "hyperplane-neighbors",
        "gradient-boosting",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("co-training", {"n_views": 1}, "makes views agree, and there is one"),
        ("co-em", {"n_labeled": 60}, "samples without a label, and all have one"),
        ("co-laplacian-svm", {"n_samples": 5001}, "all pairs of samples, and there are 5001; here it takes up to 5000"),
        ("svm-2k", {"n_samples": 700, "n_views": 3}, "there are 2100 ties; here it takes up to 2000"),
        ("class-conditional-mixture", {"n_features": 101}, "there are 101; here it takes up to 100"),
        ("stacking", {"n_rarest": 1}, "a class has one label only"),
        ("imputation-pca-logistic-regression", {"n_features": 3}, "it reduces columns, and there are 3 of 60"),
        ("gradient-boosting", {"n_labeled": 39}, "need 40 labels to split at all, and there are 39"),
        ("co-training", {"task": "regression", "n_views": 1}, "there is one"),
        ("co-em", {"task": "regression"}, "it is for classification, and the labels ask for regression"),
    ],
)
def test_a_method_says_why_it_does_not_fit(name, changes, words):
    facts = _methods.DataFacts("classification", 60, 50, 6, sparse=False)
    assert _methods.METHODS[name].problem(facts) is None
    assert words in _methods.METHODS[name].problem(replace(facts, **changes))


@pytest.mark.parametrize(
    ("name", "target"), [(name, {"classification": "state", "regression": "stay"}[task])
                         for name, method in _methods.METHODS.items() for task in method.tasks
                         if name != "gradient-boosting"],
)  # fmt: skip
def test_every_method_fits_real_files_and_answers_from_any_view(files, model, name, target, capsys):
    words = [files["clinical"], files["ct"], "--labels", files["labels"], "--target", target]
    assert fit(*words, "--method", name, "--cv", "0", "-o", model) == 0
    saved = load_model(model)
    assert saved.record["method"] == name
    tables = cohort(60, seed=7)
    truth = np.where(np.arange(60) % 2 == 0, "ill", "well")
    for part in (tables["clinical"], tables["ct"]):
        predicted = saved.model.predict({"clinical" if "age" in part else "ct": part})
        if target == "state":
            right = np.mean(predicted == truth[part.index.astype(int)])
            assert right > 0.55, (name, right)
        else:
            assert np.isfinite(predicted).all()


def test_sparse_views_have_a_linear_kernel_and_many_unlabeled_samples_do_not_drown_the_labels():
    facts = _methods.DataFacts("classification", 1000, 10, 6, sparse=True)
    assert _methods.METHODS["co-laplacian-svm"].make(facts, 0).get_params()["kernel"] == "linear"
    assert _methods.METHODS["svm-2k"].make(replace(facts, sparse=False), 0).kernel == "rbf"
    assert _methods.METHODS["co-laplacian-svm"].make(facts, 0).gamma_intrinsic == pytest.approx(1e-4)
    assert _methods.METHODS["co-em"].make(facts, 0).unlabeled_weight * 990 == pytest.approx(0.1 * 10)
    assert _methods.METHODS["posterior-consistency"].make(facts, 3).approximation == "low_rank"
    consistency = _methods.METHODS["posterior-consistency"].make(replace(facts, n_views=4), 0).consistency
    assert consistency == pytest.approx(1e-5 * 0.01 / 6)
    for name in ("co-training", "co-em", "late-fusion", "stacking"):
        assert _methods.METHODS[name].make(facts, 0).estimators.C == 10.0
        assert _methods.METHODS[name].make(replace(facts, sparse=False), 0).estimators.C == 1.0


def test_facts_are_those_of_the_data(data, model, monkeypatch):
    seen = []
    job = _fit.FitJob
    monkeypatch.setattr(_fit, "FitJob", lambda *given: seen.append(job(*given)) or seen[-1])
    assert fit(*data, "--method", "late-fusion", "--cv", "0", "-o", model) == 0
    assert seen[0].facts == _methods.DataFacts("classification", 48, 32, 6, False, 2, 2, 16)
    assert fit(*data[:-1], "stay", "--method", "imputation-ridge", "--cv", "0", "-o", model, "--force") == 0
    assert seen[1].facts == _methods.DataFacts("regression", 48, 31, 6, False, 2, 0, 0)


def test_help_and_docs_list_every_method(capsys):
    assert run(["fit", "--help"]) == 0
    text = capsys.readouterr().out
    assert [name for name in _methods.METHODS if f"\n  {name} " not in text and f"\n  {name}\n" not in text] == []
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert [name for name in _methods.METHODS if f"`{name}`" not in page] == []


def test_settings_of_coview_toml_hold_and_the_command_line_wins(tmp_path, capsys):
    write(tmp_path, cohort())
    (tmp_path / "coview.toml").write_text(
        'labels = "labels.csv"\ntarget = "state"\n[views]\nclinical = "clinical.csv"\n'
        '[fit]\nmethod = "imputation-logistic-regression"\ncv = 3\nseed = 5\n'
    )
    assert fit(tmp_path, "-o", tmp_path / "a") == 0
    record = load_model(tmp_path / "a").record
    assert (record["method"], record["evaluation"]["n_splits"], record["seed"]) == (SIMPLE[1], 3, 5)
    assert fit(tmp_path, "--cv", "2", "--seed", "0", "-o", tmp_path / "b") == 0
    record = load_model(tmp_path / "b").record
    assert (record["evaluation"]["n_splits"], record["seed"]) == (2, 0)


def test_a_column_that_gives_the_label_away_is_warned_of(files, tmp_path, model, capsys):
    tables = cohort(60)
    tables["clinical"]["outcome_code"] = np.where(np.arange(60) % 2 == 0, 7.0, 9.0)
    paths = write(tmp_path, tables)
    assert fit(paths["clinical"], "--labels", paths["labels"], "--target", "state", *SIMPLE, "-o", model) == 0
    assert "warning" in capsys.readouterr().err
    findings = load_model(model).record["findings"]
    assert any(finding["level"] == "warning" and "outcome_code" in finding["columns"] for finding in findings)


def test_evaluation_equals_that_of_the_library(data, model):
    assert fit(*data, *SIMPLE, "-o", model) == 0
    saved = load_model(model)
    tables = cohort()
    labels = tables["labels"]["state"].astype(object)
    again = cross_validate_methods(
        {SIMPLE[1]: saved.model[-1]}, {"clinical": tables["clinical"], "ct": tables["ct"]},
        labels.where(labels.notna(), None), n_splits=2, task="classification",
    )  # fmt: skip
    stored = Evaluation.from_dict(saved.record["evaluation"])
    assert list(stored.samples) == list(again.samples)
    assert stored.score(SIMPLE[1], "log_loss") == pytest.approx(again.score(SIMPLE[1], "log_loss"))


def test_duplicated_samples_stop_the_fit(files, tmp_path, model, capsys):
    table = cohort()["clinical"]
    path = tmp_path / "twice.csv"
    pd.concat([table, table[:2]]).to_csv(path)
    assert fit(path, "--labels", files["labels"], "--target", "state", *SIMPLE, "-o", model) == 1
    assert "000" in capsys.readouterr().err
    assert not model.exists()
