"""``coview bench``: what it hands to the benchmarks, what it refuses, and a run of the real ones at a tiny size."""

import csv
import json
import sys

import pytest

import coview.cli._bench as module
from coview.cli._bench import BENCHMARKS
from coview.cli._program import run

ECHO = """
import json, sys
from pathlib import Path
words = sys.argv[1:]
print("table of", words[0])
if "--output" in words:
    for path in words[words.index("--output") + 1 :]:
        Path(path).write_text(json.dumps({"environment": {}, "benchmarks": {"words": words[:4]}}))
sys.exit(3 if "evidence" in words else 0)
"""


@pytest.fixture
def echo(tmp_path, monkeypatch):
    """A folder of benchmarks that say what they were asked for; ``evidence`` fails."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "run.py").write_text(ECHO)
    monkeypatch.setattr(module, "checkout_folder", lambda name: tmp_path / name)
    return tmp_path


def test_words_go_to_the_benchmarks_and_tables_to_stdout(echo, capfd):
    file = echo / "all.json"
    assert run(["bench", "averaging", "--n", "60", "--n", "80", "--repeats", "2", "-o", str(file)]) == 0
    assert capfd.readouterr().out == "table of averaging\n"
    assert json.loads(file.read_text())["benchmarks"]["words"] == ["averaging", "--repeats=2", "--n", "60"]


def test_json_leaves_stdout_to_one_object(echo, capfd):
    assert run(["bench", "averaging", "--full", "--json"]) == 0
    captured = capfd.readouterr()
    document = json.loads(captured.out)
    assert document["command"] == "bench"
    assert document["benchmarks"]["words"][:3] == ["averaging", "--repeats=3", "--full"]
    assert captured.err == "table of averaging\n"


def test_a_benchmark_that_fails_is_a_failure(echo, capfd):
    assert run(["bench", "evidence"]) == 1
    assert "did not run to their end" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no_such"], "'no_such' is not one of"),
        (["--n", "10"], "10 is not in the range"),
        (["--force"], "--force says to overwrite files"),
        (["--full", "--n", "60"], "--full takes every size"),
        (["-o", "all.txt"], "all.txt must end in one of .json, .csv, .md"),
    ],
)
def test_misuse(echo, capfd, words, message):
    assert run(["bench", *words]) == 2
    assert message in capfd.readouterr().err


def test_a_file_that_is_there_stays(echo, capfd):
    file = echo / "all.csv"
    file.write_text("mine")
    assert run(["bench", "-o", str(file)]) == 1
    assert "Give --force to overwrite" in capfd.readouterr().err
    assert file.read_text() == "mine"
    assert run(["bench", "averaging", "-o", str(file), "--force"]) == 0
    assert file.read_text() != "mine"


def test_the_real_ones_at_a_tiny_size(tmp_path, capfd):
    file = tmp_path / "all.csv"
    assert run(["bench", "fixed_fit", "evidence", "--n", "60", "--repeats", "1", "-o", str(file)]) == 0
    assert "blas threads: 1" in capfd.readouterr().out
    with file.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["benchmark"] for row in rows} == {"fixed_fit", "evidence"}
    assert {"LAPACK floor of it", "LabelSpreading", "GaussianProcessClassifier: gradient"} <= {
        row["work"] for row in rows
    }
    assert {(row["views"], row["missing"]) for row in rows} == {(m, how) for m in "23" for how in ("no", "half")}
    assert all(float(row["least"]) <= float(row["seconds"]) <= float(row["most"]) for row in rows)


def test_names_are_those_of_the_benchmarks(monkeypatch):
    folder = module.checkout_folder("benchmarks")
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    import run as script

    assert tuple(script.BENCHMARKS) == BENCHMARKS
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]


def test_a_general_solver_is_optional(monkeypatch):
    folder = module.checkout_folder("benchmarks")
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    import agreement

    monkeypatch.setattr(agreement, "find_spec", lambda name: None)
    rows = {row["work"]: row for row in agreement.tied_machines(60, 1)}
    assert "not installed" in rows[agreement.PEER]["note"]
    objective = rows["SVM-2K"]["objective"]
    monkeypatch.setattr(agreement, "find_spec", lambda name: True)
    monkeypatch.setattr(agreement.Tied, "general", lambda self: lambda: objective)
    rows = {row["work"]: row for row in agreement.tied_machines(60, 1)}
    assert rows[agreement.PEER]["objective"] == objective
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]
