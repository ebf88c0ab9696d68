"""Acquisition of features and labels with two sensors: the experiment as a whole on small draws, and what its pieces promise."""

import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def paper(monkeypatch):
    """The modules of the experiment."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "experiments"), *sys.path])
    names = ("claims", "figure", "problems", "runs", "tables")
    return SimpleNamespace(**{name: import_module(f"active_features_and_labels.{name}") for name in names})


def small(paper, name="few", seed=0):
    """Two sensors of 2 and 3 features; 24 rare objects among 120."""
    rng = np.random.default_rng(seed)
    positive = np.arange(120) < 24
    tables = tuple(rng.normal(size=(120, width)) + 1.5 * positive[:, None] for width in (2, 3))
    return paper.problems.Problem(name, f"Small: {name}", tables, positive, (8, 32), 0.1)


def test_the_paper_runs_as_a_whole(paper, monkeypatch, tmp_path):
    parts = {
        name: replace(part, n_labeled=12, n_queries=3 if "labels" in name else 4)
        for name, part in paper.runs.PARTS.items()
    }
    for module in (paper.runs, paper.tables, paper.figure):
        monkeypatch.setattr(module, "PARTS", parts)
    monkeypatch.setattr(paper.tables, "TRIALS", 4)
    monkeypatch.setattr(paper.tables, "load_problems", lambda data: [small(paper, "one"), small(paper, "two", 1)])
    said = []
    result = paper.tables.reproduce(Path("data"), repeats=2, seed=0, jobs=1, echo=said.append)
    assert len(said) == len(result["seconds"]) == 2 * len(parts)
    summary = pd.DataFrame(result["summary"])
    n_rules = sum(len(part.rules) for part in parts.values())
    assert len(summary) == 2 * 2 * n_rules
    assert (summary["n"] == 2).all()
    assert summary[["auc", "random", "start"]].to_numpy().min() > 0.5
    assert summary["percentile"].between(0, 100).all()
    assert len(result["scores"]) == 2 * len(summary)
    assert (summary[summary["part"] == "labels"]["labels_asked"] == 3).all()
    assert (summary[summary["part"] == "features of labeled"]["of_labeled"] == summary["queries"].max()).all()
    assert "What the paper says of figure 2" in result["tables"]
    for row in result["found"]:
        assert (np.diff(row["found"]) >= 0).all()
    (tmp_path / "results.json").write_text(import_module("json").dumps(result), encoding="utf-8")
    assert paper.figure.draw(tmp_path).stat().st_size > 10_000


def test_starts_keep_a_sensor_for_everyone_and_both_classes_labeled(paper):
    start = small(paper).start(12, 0, 3)
    assert start.presence.any(axis=1).all()
    assert 3 <= start.positive[start.labeled].sum() < start.labeled.sum() == 12
    more = small(paper).start(20, 0, 3)
    np.testing.assert_array_equal(more.presence, start.presence)
    np.testing.assert_array_equal(more.tables[0], start.tables[0])


def test_only_what_a_part_allows_is_open_and_answers_close_it(paper):
    start = small(paper).start(12, 0, 3)
    known = paper.runs.Known(start, start.presence, start.labeled)
    parts = paper.runs.PARTS
    labeled, unlabeled = (known.open(parts[f"features of {kind}"]) for kind in ("labeled", "unlabeled"))
    assert start.labeled[labeled[:, 0]].all()
    assert not start.labeled[unlabeled[:, 0]].any()
    assert len(known.open(parts["labels and features"])) == len(labeled) + len(unlabeled) + 28
    queries = np.array([unlabeled[0], [unlabeled[1][0], -1]])
    after = known.after(queries)
    assert after.presence[tuple(unlabeled[0])]
    assert after.labeled[unlabeled[1][0]]
    assert not start.presence[tuple(unlabeled[0])]
    assert [label is None for label in after.y] == (~after.labeled).tolist()


def test_claims_speak_of_the_rules_of_the_paper(paper):
    parts = ("labels", "features of labeled", "features of unlabeled", "features of either")
    rows = [
        {
            "data": "d",
            "part": part,
            "rule": rule,
            "measure": measure,
            "gain": gain,
            "gain_error": 0.01,
            "percentile": 80.0,
        }
        for part, gain in zip(parts, (0.05, -0.03, 0.015, 0.03), strict=True)
        for rule in ("x (paper)", "other")
        for measure in ("remaining", "new")
    ]
    summary = pd.DataFrame(rows)
    summary["verdict"] = [paper.tables._verdict(row.gain, row.gain_error) for row in summary.itertuples()]
    found = [
        {"data": "d", "rule": rule, "found": counts} for rule, counts in (("random", [1, 2]), ("x (paper)", [1, 4]))
    ]
    table = paper.claims.claims_table(summary, found)
    cells = [[cell.strip() for cell in line.split("|")] for line in table.splitlines() if line.startswith("| ")][2:]
    verdicts = ["holds", "the opposite", "no clear difference", "holds", "holds", "holds", "holds"]
    assert [line[4] for line in cells] == verdicts
    assert [line[6] for line in cells] == [*verdicts[:-1], ""]
