"""``coview datasets``: list, describe, write."""

import gzip
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from coview.cli._program import run
from coview.datasets import bundled_names, fetch_names, load_breast_tcga
from coview.datasets._catalog import catalog


def test_list_has_a_line_per_set(capsys):
    assert run(["datasets"]) == 0
    captured = capsys.readouterr()
    bundled, fetchable = captured.out.split("\n\n")
    header, *lines = bundled.splitlines()
    assert header.split() == ["name", "samples", "views", "target", "licence"]
    assert [line.split()[:2] for line in lines] == [
        ["breast_tcga", "220"],
        ["heart_disease", "920"],
        ["two_view_toy", "240"],
    ]
    assert [line.split()[0] for line in fetchable.splitlines()[1:]] == fetch_names()
    assert "github.com/while519/Document_Network" in fetchable
    assert max(map(len, captured.out.splitlines())) < 170
    assert "coview datasets NAME -o FOLDER" in captured.err


def test_list_as_json(capsys):
    assert run(["datasets", "--json", "--quiet"]) == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert document["schema_version"] == 1
    assert [entry["name"] for entry in document["datasets"]] == bundled_names()
    assert document["datasets"][0]["classes"] == {"Basal": 66, "Her2": 44, "LumA": 110}
    assert [entry["name"] for entry in document["fetchable"]] == fetch_names()
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


def test_describe_names_the_files_of_a_set_that_one_must_have(capsys):
    assert run(["datasets", "citeseer"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("citeseer: 3,312 papers")
    assert "none stated" in out
    assert re.search(r"^  citeseer/text.npz +sparse, 3312 x 3703$", out, re.MULTILINE)
    assert run(["datasets", "citeseer", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["fetchable"]
    assert entry["files"]["citeseer/text.npz"] == "sparse, 3312 x 3703"


def test_write_a_set_that_one_has(capsys, tmp_path, monkeypatch):
    (tmp_path / "uci").mkdir()
    content = b"a,b,label\n1,2,x\n3,4,y\n"
    with gzip.open(tmp_path / "uci" / "wine.csv.gz", "wb") as stream:
        stream.write(content)
    arguments = ["datasets", "uci/wine", "--from", str(tmp_path), "-o", str(tmp_path / "wine")]
    assert run(arguments) == 1
    assert "SHA-256 differs" in capsys.readouterr().err
    monkeypatch.setattr("coview.datasets._catalog._sha256", _expected)
    assert run(arguments) == 0
    captured = capsys.readouterr()
    assert [Path(line).name for line in captured.out.splitlines()] == [
        "features.csv",
        "target.csv",
        "coview.toml",
        "ORIGIN.txt",
    ]
    assert f"coview check {tmp_path / 'wine'}" in captured.err
    features = (tmp_path / "wine" / "features.csv").read_text(encoding="utf-8")
    assert features == "sample,a,b\nwine-1,1.0,2.0\nwine-2,3.0,4.0\n"


def _expected(file):
    """Return the digest that the catalog expects of a file."""
    return catalog()["uci/wine"].digests[f"uci/{file.name}"]


def test_write_says_which_files_are_absent(capsys, tmp_path):
    assert run(["datasets", "cora", "--from", str(tmp_path), "-o", str(tmp_path / "new")]) == 1
    assert "cora/docs.csv.gz" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


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
        (["cora", "--from", "folder"], "--from says where to read the data that --output writes"),
        (["cora", "-o", "folder"], "'cora' does not come with coview; --from says where its files are"),
        (["heart_disease", "--from", "x", "-o", "folder"], "'heart_disease' comes with coview; leave out --from"),
    ],
)
def test_misuse_exits_2(capsys, arguments, message):
    assert run(["datasets", *arguments]) == 2
    assert message in capsys.readouterr().err
