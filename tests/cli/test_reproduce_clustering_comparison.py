"""The comparison of clusterings, run as a whole on small data."""

import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from coview import Views

ROOT = Path(__file__).parents[2]


@pytest.fixture
def comparison(monkeypatch):
    """The modules of the experiment."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "experiments"), *sys.path])
    names = ("problems", "peers", "methods", "pieces", "tables")
    return SimpleNamespace(**{name: import_module(f"clustering_comparison.{name}") for name in names})


def measured(n=45, seed=0):
    """Two views of three classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    blocks = {name: 6.0 * np.eye(3)[y] + rng.normal(size=(n, 3)) for name in "ab"}
    return Views(blocks), np.array(list("xyz"))[y]


def words(n=90, seed=0):
    """Counts of words and links, of three classes; some have no links."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    counts = {
        name: rng.poisson(np.where(np.arange(width) % 3 == y[:, None], 4.0, 0.1)).astype(float)
        for name, width in (("words", 60), ("links", 30))
    }
    presence = np.ones((n, 2), dtype=bool)
    presence[::9, 1] = False
    counts["links"][::9] = 0.0
    return Views({name: sparse.csr_array(block) for name, block in counts.items()}, presence=presence), np.array(
        list("xyz")
    )[y]


def problem_of(comparison, made, condition, repeat=0):
    return comparison.problems.load_problem(made, condition, repeat, 0, Path("data"))


@pytest.fixture
def small(comparison, monkeypatch, tmp_path):
    """Two small data sets, fast methods, scores in a folder of their own."""
    problems = comparison.problems
    sets = {
        "mfeat": problems._Source("measured", lambda data: measured(), is_text=False),
        "citeseer": problems._Source("words", lambda data: words(), is_text=True),
    }
    conditions = {
        "mfeat": (problems.COMPLETE, problems.REMOVED),
        "citeseer": (problems.COMPLETE, problems.REMOVED, problems.NATURAL),
    }
    for module in (problems, comparison.pieces, comparison.tables):
        monkeypatch.setattr(module, "DATASETS", sets)
        monkeypatch.setattr(module, "CONDITIONS", conditions)
    monkeypatch.setattr(comparison.tables, "FOLDER", tmp_path / "scores")
    chosen = ("MultiViewKMeans", "MultiRepresentedDBSCAN, union", "spectral, each view alone", "k-means, all columns")
    every = comparison.methods.METHODS
    monkeypatch.setattr(comparison.pieces, "available", lambda: [m for m in every if m.name in chosen])
    return chosen


def test_runs_as_a_whole_and_goes_on_where_it_was(comparison, small):
    options = {"repeats": 2, "seed": 0, "jobs": 1, "echo": lambda line: None}
    result = comparison.tables.reproduce(Path("data"), **options)
    scores = pd.DataFrame(result["scores"])
    # five conditions; a row more for the views alone; nothing of DBSCAN is random on the three that do not change
    assert len(scores) == 2 * 5 * (len(small) + 1) - 3
    assert scores.loc[scores["method"] == "MultiViewKMeans", "nmi"].mean() > 0.9
    for part in ("## Mean ranks", "## NMI", "## Entropy", "## What MultiRepresentedDBSCAN", "## Processor seconds"):
        assert part in result["tables"]
    keys = {tuple(row) for row in result["summary"]}
    assert len(keys) == 1
    again = comparison.tables.reproduce(Path("data"), **options)
    pd.testing.assert_frame_equal(pd.DataFrame(again["scores"]), scores)


def test_failures_are_told_and_not_ranked_and_the_classes_best_view_stands_outside(comparison, small):
    result = comparison.tables.reproduce(Path("data"), repeats=2, seed=0, jobs=1, echo=lambda line: None)
    rows = result["scores"]
    for row in rows:
        if row["method"] == "k-means, all columns" and row["data"] == "citeseer":
            row |= {"nmi": None, "ari": None, "entropy": None, "error": "ValueError: no"}
    tables = comparison.tables.assemble(rows, {"peer of nobody": "ModuleNotFoundError: none"})["tables"]
    ranks = tables.split("## Mean ranks")[1].split("## NMI")[0]
    assert "| MultiViewKMeans |" in ranks
    assert "k-means, all columns" not in ranks
    assert comparison.pieces.BEST_VIEW not in ranks
    assert "* citeseer, complete, k-means, all columns: ValueError: no" in tables
    assert "* peer of nobody is not installed: ModuleNotFoundError: none" in tables


@pytest.mark.parametrize(
    ("name", "condition"), [("mfeat", "complete"), ("mfeat", "30 % removed"), ("citeseer", "as it is")]
)
def test_every_method_of_coview_finds_the_classes(comparison, small, name, condition):
    problem = problem_of(comparison, name, condition)
    for method in comparison.methods.METHODS:
        if method.kind == "peer" or "DBSCAN" in method.name or not method.suits(problem):
            continue
        found = method.fit(problem, 0)
        for labels in found if isinstance(found, list) else [found]:
            scores = comparison.pieces._scores(problem.labels, labels)
            assert scores["n_clusters"] == 3, method.name
            # means of views and many factors of few samples blur the groups
            blurred = (method.kind == "usual" and condition != "complete") or "FactorMixture" in method.name
            least = 0.25 if blurred else 0.6
            assert scores["nmi"] > least, (method.name, scores)


def test_cells_are_removed_at_random_and_every_sample_keeps_one(comparison):
    presence = np.ones((400, 3), dtype=bool)
    left = comparison.problems.remove_cells(presence, 0.3, np.random.default_rng(0))
    assert (~left).sum() == 360
    assert left.any(axis=1).all()
    np.testing.assert_allclose(left.mean(axis=0), 0.7, atol=0.06)


def test_what_is_prepared(comparison, small):
    natural, complete = (problem_of(comparison, "citeseer", c) for c in ("as it is", "complete"))
    assert (len(natural.labels), len(complete.labels)) == (90, 80)
    rows = natural.views["links"]
    np.testing.assert_allclose(np.asarray(rows.multiply(rows).sum(axis=1)).ravel(), 1.0)
    filled, gaps = natural.filled()[1], natural.with_gaps()[1]
    assert (np.isnan(gaps).all(axis=1) == ~natural.views.presence[:, 1]).all()
    np.testing.assert_allclose(filled[0], np.nanmean(gaps, axis=0))
    first, second = (problem_of(comparison, "mfeat", "30 % removed", repeat) for repeat in (0, 1))
    assert (first.views.presence != second.views.presence).any()
    np.testing.assert_allclose(first.views["a"].std(axis=0), 1.0)


def test_long_methods_are_run_fewer_times(comparison):
    method = SimpleNamespace(starts=True)
    allowed = comparison.pieces._allowed
    assert allowed(method, "complete", []) == np.inf
    assert allowed(method, "complete", [{"seconds": 30.0}]) == 2
    assert allowed(method, "complete", [{"seconds": 30.0}, {"seconds": 90.0}]) == 1
    fixed = SimpleNamespace(starts=False)
    assert allowed(fixed, "complete", []) == 1
    assert allowed(fixed, "30 % removed", []) == np.inf
