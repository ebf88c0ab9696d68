"""The experiments on multi-represented objects: shortcuts held against the estimators, and all of it on small data."""

import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN

from coview import Views
from coview.cluster import MultiRepresentedDBSCAN
from coview.cluster._dbscan import _QUANTILES
from coview.neighbors import MultiRepresentedKNeighborsClassifier

ROOT = Path(__file__).parents[2]


@pytest.fixture
def paper(monkeypatch):
    """The modules of the experiment, on data made up here."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "experiments"), *sys.path])
    names = ("problems", "neighbors", "clusters", "comparisons", "runs", "tables")
    found = SimpleNamespace(**{name: import_module(f"multi_represented.{name}") for name in names})
    monkeypatch.setattr(found.problems, "fetch", lambda name, data: objects())
    monkeypatch.setattr(found.neighbors, "N_FOLDS", 3)
    monkeypatch.setattr(found.neighbors, "GRID", (1, 9))
    monkeypatch.setattr(found.clusters, "QUANTILES", (0.1, 0.3, 0.5, 0.9))
    return found


def objects():
    """Ninety samples of three classes and a copy of one; two representations tell the classes, one of them in large units."""
    rng = np.random.default_rng(0)
    codes = np.arange(90) % 3
    blocks = {
        "near": 4.0 * np.eye(3)[codes] + rng.normal(size=(90, 3)),
        "wide": 2.0 * np.eye(3, 12)[codes] + rng.normal(size=(90, 12)),
        "loud": 1000.0 * rng.normal(size=(90, 4)),
    }
    order = [*range(90), 5]
    views = Views({name: block[order] for name, block in blocks.items()})
    return SimpleNamespace(views=views, target=pd.Series(np.array(["x", "y", "z"])[codes[order]]))


def scaled(paper, problem, train, presence=None):
    """Representations of mean 0 and deviation 1 on the training samples that have them, NaN where missing."""
    there = np.ones((len(problem.codes), 3), dtype=bool) if presence is None else presence
    blocks = {}
    for v, (name, block) in enumerate(problem.blocks.items()):
        known = train[there[train, v]]
        blocks[name] = np.where(there[:, [v]], (block - block[known].mean(0)) / block[known].std(0), np.nan)
    return blocks


@pytest.mark.parametrize("setting", ["complete", "incomplete"])
@pytest.mark.parametrize("k", [1, 5])
def test_answers_are_those_of_the_estimator(paper, monkeypatch, setting, k):
    monkeypatch.setattr(paper.neighbors, "GRID", (k,))
    problem = paper.problems.load("any", Path("data"))
    train, test = np.arange(60), np.arange(60, 90)
    presence, raw = None, {v: paper.problems.squares_of(x, np.arange(90)) for v, x in problem.blocks.items()}
    if setting == "incomplete":
        presence, raw = paper.problems.removed((90, 3), 0.3, np.random.default_rng(0)), {}
    said = paper.neighbors.predictions(problem, train, presence, raw)
    blocks = scaled(paper, problem, train, presence)
    filled = np.hstack([np.nan_to_num(block) / np.sqrt(block.shape[1]) for block in blocks.values()])
    cases = {
        "multi-represented": (blocks, "entropy"),
        "multi-represented, equal weights": (blocks, "uniform"),
        "near alone": ({"near": blocks["near"]}, "entropy"),
        "side by side, balanced" if presence is None else "side by side, means filled in": (filled, "entropy"),
    }
    if presence is None:
        cases["multi-represented, as measured"] = (problem.blocks, "entropy")
        cases["side by side, as measured"] = (np.hstack(list(problem.blocks.values())), "entropy")
    for method, (table, weights) in cases.items():
        parts = [{name: b[rows] for name, b in table.items()} if isinstance(table, dict) else table[rows]
                 for rows in (train, test)]  # fmt: skip
        known = problem.codes[train]
        if method == "near alone":  # samples that lack the only representation are none to the estimator
            has = [~np.isnan(part["near"][:, 0]) for part in parts]
            model = MultiRepresentedKNeighborsClassifier(k).fit({"near": parts[0]["near"][has[0]]}, known[has[0]])
            found = np.full(len(test), np.bincount(known).argmax())
            found[has[1]] = model.predict({"near": parts[1]["near"][has[1]]})
        else:
            found = MultiRepresentedKNeighborsClassifier(k, weights=weights).fit(parts[0], known).predict(parts[1])
        assert said[method][test].tolist() == found.tolist(), method


def test_number_of_neighbors_is_chosen_without_the_sample_itself(paper, monkeypatch):
    """With itself as a neighbor at distance 0 every sample would be right, and one neighbor always best."""
    monkeypatch.setattr(paper.neighbors, "GRID", (1, 15))
    rng = np.random.default_rng(0)
    codes = np.arange(120) % 2
    problem = paper.problems.Problem("any", {"faint": rng.normal(size=(120, 2)) + codes[:, None]}, codes, 0)
    part = paper.neighbors._Part(codes, np.arange(120))
    squares = paper.problems.squares_of(problem.blocks["faint"], np.arange(120))
    by_number = part.confidences(squares)
    assert part.best(by_number) is by_number[15]
    assert part.chosen(by_number)[1] > 0.1


def test_cells_taken_away_leave_every_sample_one(paper):
    presence = paper.problems.removed((50, 3), 0.6, np.random.default_rng(0))
    assert (~presence).sum() == 90
    assert presence.any(axis=1).all()


def test_squares_of_wide_tables_are_those_of_narrow_ones(paper, monkeypatch):
    block = 100.0 + np.random.default_rng(0).normal(size=(30, 50))
    wide = paper.problems.squares_of(block, np.arange(10))
    assert not wide.diagonal().any()
    monkeypatch.setattr(paper.problems, "_WIDE", 99)
    assert wide == pytest.approx(paper.problems.squares_of(block, np.arange(10)), abs=1e-10)


def test_copies_are_left_out(paper):
    problem = paper.problems.load("any", Path("data"))
    assert problem.n_repeated == 1
    assert len(problem.codes) == 90


@pytest.mark.parametrize("t", [1, 2, 3])
def test_clusters_are_those_of_the_estimator(paper, t):
    problem = paper.problems.load("any", Path("data"))
    blocks = scaled(paper, problem, np.arange(90))
    tables = paper.clusters.distances_of(problem)
    side = tables.pop("side by side, balanced")
    relations = {(method, rule, q): near for method, rule, q, near in paper.clusters._relations(tables, side)}
    name = paper.clusters.names_of(3)[t]
    model = MultiRepresentedDBSCAN(combine=t, eps_quantile=0.5).fit(blocks)
    found = paper.clusters.clusters_of(relations[name, "by representation", 0.5])
    assert found.tolist() == model.labels_.tolist()
    # combined: the same factor for all widths, such that half of the samples are cores
    near = relations[name, "combined", 0.5]
    assert (near.sum(axis=1) >= 5).mean() == pytest.approx(0.5, abs=0.02)
    units = {name: np.median(np.sort(table, axis=1)[:, 4]) for name, table in tables.items()}
    factor = np.quantile(np.sort(paper.clusters.combined_distance(tables, t), axis=1)[:, 4], 0.5)
    eps = {name: factor * unit for name, unit in units.items()}
    model = MultiRepresentedDBSCAN(eps=eps, combine=t).fit(blocks)
    assert paper.clusters.clusters_of(near).tolist() == model.labels_.tolist()


@pytest.mark.parametrize("combine", ["union", "intersection"])
def test_most_information_is_that_of_the_estimator(paper, monkeypatch, combine):
    monkeypatch.setattr(paper.clusters, "QUANTILES", _QUANTILES)
    problem = paper.problems.load("any", Path("data"))
    scores = pd.DataFrame(paper.clusters.draw_of(problem, 0, 0))
    chosen = paper.comparisons.chosen_widths(scores, "most information").set_index(["method", "rule"])
    blocks = scaled(paper, problem, np.arange(90))
    model = MultiRepresentedDBSCAN(combine=combine, eps_quantile="information").fit(blocks)
    assert chosen.loc[(combine, "by representation"), "quantile"] == model.eps_quantile_


def test_widths_elsewhere(paper, monkeypatch):
    elsewhere = import_module("multi_represented.elsewhere")
    monkeypatch.setattr(elsewhere, "fetch", lambda name, data: objects())
    monkeypatch.setattr(elsewhere, "MOST", 60)
    lines = elsewhere.table(Path("data"), ("any", "other")).splitlines()
    assert lines[2].startswith("| any | ")
    ari = [float(cell.split()[0]) for cell in lines[2].split("|")[2:-1]]
    assert max(ari) == ari[-1] > 0.0


def test_clusters_of_one_representation_are_those_of_scikit_learn(paper):
    problem = paper.problems.load("any", Path("data"))
    tables = paper.clusters.distances_of(problem)
    for table in tables.values():
        eps = np.quantile(np.sort(table, axis=1)[:, 4], 0.3)
        found = paper.clusters.clusters_of(table <= eps * (1 + 1e-12))
        assert found.tolist() == DBSCAN(eps=eps * (1 + 1e-12), metric="precomputed").fit_predict(table).tolist()


def test_runs_as_a_whole_and_keeps_its_pieces(paper, monkeypatch, tmp_path):
    said = []
    result = paper.tables.reproduce(Path("data"), repeats=2, seed=0, jobs=1, echo=said.append)
    assert len(said) == 3 * (1 + 3 + 2 * 2)
    summary = pd.DataFrame(result["summary"])
    assert set(summary["part"]) == {"neighbors", "clusters", "reasons"}
    assert len({tuple(row) for row in map(dict.keys, result["summary"])}) == 1
    own = summary[
        (summary["data"] == "mfeat") & (summary["setting"] == "complete") & (summary["measure"] == "accuracy")
    ]
    accuracy = own.set_index("method")["value"].astype(float)
    assert accuracy["loud alone"] < 0.6 < accuracy["near alone"]
    # noise in large units: distances added as measured hear nothing else, votes do not care
    assert accuracy["side by side, as measured"] < accuracy["multi-represented, as measured"] - 0.2
    ari = summary[summary["measure"] == "ari"].assign(value=lambda table: table["value"].astype(float))
    by_choice = ari.pivot_table(index=["data", "method", "rule"], columns="choice", values="value")
    assert (by_choice.max(axis=1) == by_choice["best by the classes"]).all()
    assert "## Clusters: msrc_v1" in result["tables"]
    kept = tmp_path / "pieces.jsonl"
    paper.runs.run_all(Path("data"), 2, 0, 1, lambda line: None, kept)
    monkeypatch.setattr(paper.runs, "_run", None)  # nothing is left to be computed
    pieces = paper.runs.run_all(Path("data"), 2, 0, 1, said.append, kept)
    assert paper.tables.assemble(pieces)["tables"] == result["tables"]


def test_one_repeat_has_no_test(paper):
    result = paper.tables.reproduce(Path("data"), repeats=1, seed=0, jobs=1, echo=lambda line: None)
    clusters = [row for row in result["summary"] if row["part"] == "clusters"]
    assert {row["verdict"] for row in clusters} <= {"", None}


def test_errors_of_differences_know_that_folds_and_draws_share_samples(paper):
    gaps = pd.Series([0.02, 0.04, 0.03, 0.05])
    found = paper.comparisons.difference(gaps, 0.0 * gaps, 1 / 4 + 1 / 9)
    assert found["difference"] == pytest.approx(0.035)
    assert found["difference_error"] == pytest.approx(np.sqrt((1 / 4 + 1 / 9) * 0.0005 / 3))
    assert found["verdict"] == "above"
    assert paper.comparisons.difference(gaps, 0.0 * gaps, 4.0)["verdict"] == "even"
    assert paper.comparisons.difference(gaps, gaps, 4.0) == {
        "difference": 0.0, "difference_error": 0.0, "p": 1.0, "verdict": "even"
    }  # fmt: skip
