"""``coview datasets``: list, describe, write."""

import json

import pandas as pd
import pytest

from coview.cli._program import run
from coview.datasets import bundled_names, load_breast_tcga


def test_list_has_a_line_per_set(capsys):
    assert run(["datasets"]) == 0
    captured = capsys.readouterr()
    header, *lines = captured.out.splitlines()
    assert header.split() == ["name", "samples", "views", "target", "licence"]
    assert [line.split()[:2] for line in lines] == [
        ["breast_tcga", "220"],
        ["heart_disease", "920"],
        ["two_view_toy", "240"],
    ]
    assert "coview datasets NAME -o FOLDER" in captured.err


def test_list_as_json(capsys):
    assert run(["datasets", "--json", "--quiet"]) == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert document["schema_version"] == 1
    assert [entry["name"] for entry in document["datasets"]] == bundled_names()
    assert document["datasets"][0]["classes"] == {"Basal": 66, "Her2": 44, "LumA": 110}
    assert captured.err == ""


def test_describe_gives_origin_and_terms(capsys):
    assert run(["datasets", "heart_disease"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("heart_disease: 920 patients")
    assert "CC BY 4.0" in out


def test_describe_as_json(capsys):
    assert run(["datasets", "heart_disease", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["datasets"]
    assert (entry["name"], entry["n_samples"], entry["licence"]) == ("heart_disease", 920, "CC BY 4.0")


def test_write_prints_the_files_and_they_hold_the_data(capsys, tmp_path):
    folder = tmp_path / "new" / "tcga"
    assert run(["datasets", "breast_tcga", "-o", str(folder)]) == 0
    files = capsys.readouterr().out.splitlines()
    names = ["mrna.csv", "mirna.csv", "protein.csv", "target.csv", "meta.csv", "coview.toml"]
    names += ["ORIGIN.txt", "LICENSE.txt"]
    assert files == [str(folder / name) for name in names]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    protein = pd.read_csv(folder / "protein.csv", index_col="sample", dtype={"sample": "str"})
    # the reader's default parser may be off by a unit in the last place
    pd.testing.assert_frame_equal(protein, load_breast_tcga().frames["protein"], rtol=1e-15)


def test_write_as_json(capsys, tmp_path):
    assert run(["datasets", "heart_disease", "-o", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert str(tmp_path / "costs.csv") in document["files"]


def test_write_never_overwrites_without_force(capsys, tmp_path):
    mine = tmp_path / "target.csv"
    mine.write_text("mine", encoding="utf-8")
    assert run(["datasets", "heart_disease", "-o", str(tmp_path)]) == 1
    err = capsys.readouterr().err
    assert "already holds target.csv" in err
    assert "--force" in err
    assert [path.name for path in tmp_path.iterdir()] == ["target.csv"]
    assert mine.read_text(encoding="utf-8") == "mine"
    assert run(["datasets", "heart_disease", "-o", str(tmp_path), "--force"]) == 0
    assert mine.read_text(encoding="utf-8").startswith("sample,disease\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["heart"], "the names are breast_tcga, heart_disease, two_view_toy"),
        (["-o", "folder"], "--output needs the NAME"),
        (["heart_disease", "--force"], "--force says to overwrite"),
    ],
)
def test_misuse_exits_2(capsys, arguments, message):
    assert run(["datasets", *arguments]) == 2
    assert message in capsys.readouterr().err
