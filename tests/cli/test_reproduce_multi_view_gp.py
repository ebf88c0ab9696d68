"""The experiment on multi-view Gaussian processes, run as a whole on small data, and the verdicts of its table."""

import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def paper(monkeypatch):
    """The modules of the experiment."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "experiments"), *sys.path])
    names = ("problems", "methods", "runs", "tables")
    return SimpleNamespace(**{name: import_module(f"multi_view_gp.{name}") for name in names})


@pytest.fixture
def problems(paper, monkeypatch):
    """Forty samples under the names of a university and of Ionosphere with its class."""
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(40) % 2 == 0, 1, -1)
    first, second = labels[:, None] + rng.normal(size=(40, 3)), labels[:, None] + 2.0 * rng.normal(size=(40, 2))
    made = [
        paper.problems.Problem(name, first, second, np.hstack([first, second]), labels)
        for name in ("Cornell", paper.problems.WITH_CLASS)
    ]
    monkeypatch.setattr(paper.methods, "WEIGHTS", (0.5, 1.0))
    monkeypatch.setattr(paper.methods, "CONSISTENCIES", (2.0**-12, 2.0**-8))
    return made


def test_runs_as_a_whole(paper, problems, monkeypatch):
    monkeypatch.setattr(paper.tables, "load_problems", lambda data: problems)
    said = []
    result = paper.tables.reproduce(Path("data"), repeats=2, seed=0, jobs=1, echo=said.append)
    assert len(said) == 12
    methods = paper.methods.METHODS
    assert list(dict.fromkeys(row["method"] for row in result["scores"])) == list(methods)
    assert len(result["scores"]) == 2 * (len(methods) + len(methods) - 2)
    assert all(0.2 < row["accuracy"] <= 1.0 for row in result["scores"])
    chosen = [row for row in result["scores"] if row["method"].startswith("MvGP")]
    assert {row["consistency"] for row in chosen} <= {2.0**-12, 2.0**-8}
    assert {row["weight"] for row in chosen} <= {0.5, 1.0}
    cell = next(row for row in result["summary"] if row["method"] == "SVM-2K, mean" and row["data"] == "Cornell")
    assert cell["published"] == 73.68
    assert cell["verdict"] in {"above", "below", "even"}
    accuracies = [row["accuracy"] for row in result["scores"] if (row["data"], row["method"]) == ("Cornell", "GP1")]
    assert (
        f"{100 * np.mean(accuracies):.2f} ± {100 * np.std(accuracies, ddof=1):.2f} (80.26 ± 14.52;" in result["tables"]
    )
    means = {row["method"]: row["accuracy"] for row in result["summary"] if row["data"] == "Cornell"}
    gap = means["MvGP1"] - max(means[name] for name in ("GP1", "GP2", "GP3"))
    expected = "1 of 1" if gap > 1e-9 else "0 of 1"
    assert result["claims"][0]["here"].startswith(expected)
    assert f"(mean gap {gap:+.2f} points)" in result["claims"][0]["here"]


def test_finished_splits_are_not_computed_again(paper, problems, tmp_path, monkeypatch):
    kept = tmp_path / "scores.jsonl"
    first = paper.runs.run_all(problems, 1, 0, 1, print, kept)
    parts = dict.fromkeys(paper.runs.PARTS, lambda *task: iter([{"method": "none", "accuracy": 1.0}]))
    monkeypatch.setattr(paper.runs, "PARTS", parts)
    again = paper.runs.run_all(problems, 2, 0, 1, print, kept)
    np.testing.assert_equal(again[: len(first)], first)
    assert [row["method"] for row in again[len(first) :]] == [
        "none"
    ] * 7  # the three parts of the second splits, and one empty


def test_fewer_splits_are_named(paper, problems):
    rows = paper.runs.run_all(problems[:1], 3, 0, 1, print)
    rows = [row for row in rows if row["part"] != "MvGP" or row["repeat"] < 2]
    tables = paper.tables.assemble(rows)["tables"]
    assert tables.count("[2 of 3 splits]") == 2
    assert "| Cornell | MvGP1 |" in tables


def test_verdicts(paper):
    verdict = paper.tables._verdict
    assert verdict(90.0, 5.0, 5, (80.0, 5.0)) == "above"  # 10 points, standard error 3.2
    assert verdict(86.0, 5.0, 5, (80.0, 5.0)) == "even"
    assert verdict(70.0, 5.0, 5, (80.0, 5.0)) == "below"
    assert verdict(70.0, float("nan"), 1, (80.0, 5.0)) == ""


def test_compact_rows_have_the_same_distances(paper):
    block = np.random.default_rng(1).normal(size=(5, 30))
    compact = paper.problems._compact(block)
    assert compact.shape == (5, 5)
    np.testing.assert_allclose(compact @ compact.T, block @ block.T, atol=1e-12)
