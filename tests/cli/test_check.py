"""``coview check``: text for people, one JSON object for programs, exit 1 on errors."""

import ast
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from coview.cli._program import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two views of 40 and 30 patients, labels of 36; one glucose value in ten is 0."""
    rng = np.random.default_rng(0)
    patients = pd.Index([f"p{number:02d}" for number in range(40)], name="patient")
    blood = pd.DataFrame(
        {"glucose": rng.normal(110, 20, 40).round(1), "sex": rng.choice(["f", "m"], 40)}, index=patients
    )
    blood.iloc[::10, 0] = 0.0
    ct = pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "c"], index=patients[5:35])
    ct.iloc[3, 1] = np.nan
    labels = pd.Series(rng.choice(["benign", "malign"], 40), index=patients, name="outcome").iloc[:36]
    blood.to_csv(tmp_path / "blood.csv", sep=";")
    ct.to_csv(tmp_path / "ct.csv")
    labels.to_csv(tmp_path / "outcome.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


DATA = ["blood.csv", "ct.csv", "--labels", "outcome.csv:outcome"]


def check_json(capsys, *arguments):
    code = run(["check", *arguments, "--json"])
    captured = capsys.readouterr()
    assert captured.err == ""
    return code, json.loads(captured.out)


def test_text_shows_all_parts(folder, capsys):
    assert run(["check", *DATA]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    out = captured.out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "\x1b" not in out
    lines = [line.split() for line in out.splitlines()]
    assert ["blood", "blood.csv", "1", "1", "-", "40", "-"] in lines
    assert ["ct", "ct.csv", "3", "-", "-", "30", "1", "(1.1%)"] in lines
    assert ["30", "30", "x", "x"] in lines
    assert ["10", "6", "x", "."] in lines
    assert ["ct", "30", "30"] in lines
    assert "labels 'outcome': 36 of 40 samples labeled, classification" in out
    assert 'separator ";"' in out
    assert "warning: 0 may stand for 'missing' in view 'blood'" in out
    assert "[disguised_missing]" in out
    assert out.splitlines()[-1].startswith("0 errors, 1 warning, ")


def test_colors_on_terminals_only(folder, capsys, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("click._compat.should_strip_ansi", lambda *_args: False)
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda stream, color=None: color is False)
    assert run(["check", *DATA]) == 0
    assert "\x1b[33m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    assert run(["check", *DATA]) == 0
    assert "\x1b" not in capsys.readouterr().out


COUNT = int
FINDING = {
    "code": str,
    "level": str,
    "message": str,
    "advice": str,
    "view": (str, type(None)),
    "columns": list,
    "ids": list,
    "count": COUNT,
}
SCHEMA = {
    "schema_version": COUNT,
    "command": str,
    "n_samples": COUNT,
    "id_name": (str, type(None)),
    "files": [
        {
            "name": str,
            "path": str,
            "sheet": (str, type(None)),
            "n_rows": COUNT,
            "n_columns": COUNT,
            "id_column": (str, type(None)),
            "guesses": dict,
        }
    ],
    "views": [
        {
            "name": str,
            "file": (str, type(None)),
            "n_columns": COUNT,
            "n_numbers": COUNT,
            "n_categories": COUNT,
            "n_texts": COUNT,
            "sparse": bool,
            "n_samples": COUNT,
            "n_gaps": COUNT,
            "gap_share": float,
        }
    ],
    "patterns": [{"views": list, "n_samples": COUNT, "n_labeled": (COUNT, type(None))}],
    "overlap": {"views": list, "n_samples": list},
    "labels": {
        "target": str,
        "task": str,
        "n_labeled": COUNT,
        "n_unlabeled": COUNT,
        "classes": (dict, type(None)),
        "values": (dict, type(None)),
    },
    "findings": [FINDING],
    "counts": {"error": COUNT, "warning": COUNT, "note": COUNT},
}


def conforms(value, schema):
    """Whether a value has exactly the keys and types of a schema."""
    if isinstance(schema, dict):
        return (
            isinstance(value, dict)
            and value.keys() == schema.keys()
            and all(conforms(value[key], part) for key, part in schema.items())
        )
    if isinstance(schema, list):
        return isinstance(value, list) and all(conforms(part, schema[0]) for part in value)
    return isinstance(value, schema) and not (schema is int and isinstance(value, bool))


def test_json_keeps_to_its_schema(folder, capsys):
    code, document = check_json(capsys, *DATA)
    assert code == 0
    assert conforms(document, SCHEMA)
    assert (document["schema_version"], document["command"], document["n_samples"]) == (1, "check", 40)
    assert [file["name"] for file in document["files"]][:2] == ["blood", "ct"]
    assert document["patterns"] == [
        {"views": ["blood", "ct"], "n_samples": 30, "n_labeled": 30},
        {"views": ["blood"], "n_samples": 10, "n_labeled": 6},
    ]
    assert document["overlap"] == {"views": ["blood", "ct"], "n_samples": [[40, 30], [30, 30]]}
    assert document["labels"]["target"] == "outcome"
    assert sum(document["labels"]["classes"].values()) == document["labels"]["n_labeled"] == 36
    found = {finding["code"]: finding for finding in document["findings"]}
    assert (found["disguised_missing"]["columns"], found["disguised_missing"]["count"]) == (["glucose"], 4)
    assert document["counts"]["warning"] == 1
    assert not conforms({**document, "n_samples": "40"}, SCHEMA)


def test_numbers_to_predict(folder, capsys):
    targets = pd.DataFrame({"months": np.random.default_rng(0).normal(20, 5, 36)}, index=pd.RangeIndex(36))
    targets.insert(0, "patient", [f"p{number:02d}" for number in range(36)])
    targets.to_csv("months.csv", index=False)
    code, document = check_json(capsys, "blood.csv", "ct.csv", "--labels", "months.csv:months")
    assert code == 0
    assert (document["labels"]["task"], document["labels"]["classes"]) == ("regression", None)
    assert document["labels"]["values"]["median"] == pytest.approx(targets["months"].median())
    assert run(["check", "blood.csv", "--labels", "months.csv:months"]) == 0
    assert "regression" in capsys.readouterr().out


def test_without_labels(folder, capsys):
    code, document = check_json(capsys, "blood.csv")
    assert code == 0
    assert document["labels"] is None
    assert document["patterns"] == [{"views": ["blood"], "n_samples": 40, "n_labeled": None}]
    assert run(["check", "blood.csv"]) == 0
    out = capsys.readouterr().out
    assert "labels" not in out
    assert "which views" not in out


def test_errors_exit_with_1_in_both_modes(folder, capsys):
    frame = pd.read_csv("ct.csv", index_col=0)
    frame.index = [f"other {label}" for label in frame.index]
    frame.rename_axis("patient").to_csv("ct.csv")
    code, document = check_json(capsys, *DATA)
    assert code == 1
    assert [finding["code"] for finding in document["findings"] if finding["level"] == "error"] == ["no_overlap"] * (
        document["counts"]["error"]
    )
    assert run(["check", *DATA]) == 1
    out = capsys.readouterr().out
    assert "error: " in out
    assert "[no_overlap]" in out


def test_a_file_that_cannot_be_read_is_a_finding(folder, capsys):
    code, document = check_json(capsys, "blood.csv", "absent.csv")
    assert code == 1
    assert "absent.csv" in " ".join(finding["message"] for finding in document["findings"])
    code, document = check_json(capsys, "absent.csv")
    assert code == 1
    assert conforms({**document, "labels": document["labels"] or dict.fromkeys([])}, {**SCHEMA, "labels": dict})
    assert document["counts"]["error"] >= 1
    assert run(["check", "absent.csv"]) == 1
    captured = capsys.readouterr()
    assert "absent.csv" in captured.out + captured.err


def test_reading_and_looking_do_not_say_the_same_twice(folder, capsys):
    frame = pd.read_csv("blood.csv", sep=";")
    frame["seen"] = "2021-03-04"
    frame.loc[3, "seen"] = "2022-05-06"
    frame["level"] = [*map(str, np.linspace(1, 9, 39).round(2)), "<0.1"]
    frame.to_csv("blood.csv", sep=";", index=False)
    _, document = check_json(capsys, *DATA)
    codes = [finding["code"] for finding in document["findings"] if finding["columns"]]
    assert codes.count("dates") == 1
    assert codes.count("almost_numeric") == 1
    labels = pd.read_csv("outcome.csv")
    labels.assign(outcome="benign").to_csv("outcome.csv", index=False)
    code, document = check_json(capsys, *DATA)
    assert code == 1
    assert [finding["code"] for finding in document["findings"]].count("one_class") == 1


def test_findings_of_one_kind_share_their_advice(folder, capsys):
    for name in ("blood.csv", "ct.csv"):
        separator = ";" if name == "blood.csv" else ","
        frame = pd.read_csv(name, sep=separator)
        frame[f"one_{name[:2]}"] = 1.5
        frame.to_csv(name, sep=separator, index=False)
    assert run(["check", "blood.csv", "ct.csv"]) == 0
    out = capsys.readouterr().out
    assert out.count("[constant_columns]") == 2
    assert out.count("Nothing can be learnt from that") == 1


def test_many_views_are_numbered(folder, capsys):
    rng = np.random.default_rng(0)
    names = [f"measurements_of_ward_{number:02d}" for number in range(12)]
    for name in names:
        rows = np.flatnonzero(rng.random(40) < 0.8)
        frame = pd.DataFrame({f"x{name[-2:]}": rng.normal(size=len(rows))}, index=[f"p{row:02d}" for row in rows])
        frame.rename_axis("patient").to_csv(f"{name}.csv")
    assert run(["check", *(f"{name}.csv" for name in names)]) == 0
    out = capsys.readouterr().out
    assert "by number as listed above" in out
    assert "rarer patterns" in out
    assert max(map(len, out.splitlines())) <= 100


def test_no_data_is_misuse(capsys):
    assert run(["check"]) == 2
    assert "Name the data" in capsys.readouterr().err


def codes_of(source):
    """First words of the findings made in a module, and of the rows of its tables of findings."""
    for node in ast.walk(ast.parse(source)):
        first = None
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"Finding", "column_finding"} and node.args:
            first = node.args[0]
        elif isinstance(node, ast.Tuple) and len(node.elts) >= 5:
            first = node.elts[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value


def test_every_code_stands_in_the_documentation():
    root = Path(__file__).parents[2]
    modules = (root / "src" / "coview" / "views").glob("_find*.py")
    codes = {code for module in modules for code in codes_of(module.read_text(encoding="utf-8"))}
    page = (root / "docs" / "command-line.md").read_text(encoding="utf-8")
    section = page.split("## coview check")[1].split("\n## ")[0]
    assert len(codes) > 30
    assert {code for code in codes if f"`{code}`" not in section} == set()
