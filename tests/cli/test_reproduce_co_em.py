"""The experiments on co-EM, run as a whole on small documents."""

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
def paper(monkeypatch):
    """The modules of the experiment."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "experiments"), *sys.path])
    names = ("problems", "clusterings", "comparisons", "tables")
    return SimpleNamespace(**{name: import_module(f"co_em.{name}") for name in names})


def documents(rng, n_words):
    """Sixty documents of three classes, each class with words of its own."""
    labels = np.arange(60) % 3
    own = np.arange(n_words) % 3 == labels[:, None]
    return labels, sparse.csr_array(rng.poisson(np.where(own, 2.0, 0.3)).astype(np.float64))


@pytest.fixture
def problems(paper):
    """Documents with links, and a text to be split."""
    rng = np.random.default_rng(0)
    labels, text = documents(rng, 30)
    links = documents(rng, 9)[1].toarray()
    links[rng.random(60) < 0.4] = 0.0
    observed = Views({"text": text, "links": sparse.csr_array(links)})
    views = {
        "as they are": paper.problems.without_empty_rows(observed),
        "empty rows observed": observed,
        "concatenated": Views({"all": sparse.hstack([text, sparse.csr_array(links)], format="csr")}),
        "merged": Views({"all": text}),
    }
    views |= {name: paper.problems.without_empty_rows(observed.select([name])) for name in observed.names}
    linked = paper.problems.Problem("WebKB", labels, views)
    return [linked], [paper.problems.Problem("text", labels, {"as they are": Views({"text": text})})]


def test_runs_as_a_whole(paper, problems, monkeypatch):
    monkeypatch.setattr(paper.tables, "load_linked", lambda data: problems[0])
    monkeypatch.setattr(paper.tables, "load_texts", lambda data: problems[1])
    monkeypatch.setattr(paper.clusterings, "numbers", lambda problem: (2, 3))
    monkeypatch.setattr(paper.clusterings, "LARGEST_SPLIT", 3)
    monkeypatch.setattr(paper.clusterings, "DIMENSIONS", 4)
    said = []
    result = paper.tables.reproduce(Path("data"), repeats=2, seed=0, jobs=1, echo=said.append)
    assert len(said) == len(result["seconds"]) == 6
    summary = pd.DataFrame(result["summary"])
    assert summary["n"].eq(2).all()
    assert summary["mean"].between(0.0, np.log2(3) + 1e-9).all()
    assert set(summary["part"]) == {"linked", "empty rows", "splits", "consensus"}
    compared = summary[summary["part"] == "linked"]
    np.testing.assert_array_equal(compared["difference"].isna(), compared["method"] == "co-EM")
    found = summary[(summary["method"] == "co-EM") & (summary["start"] == "kmeans") & (summary["n_clusters"] == 3)]
    assert found["mean"].max() < 0.3
    assert result["tables"].count("## ") == 8


def test_one_repetition_tests_nothing_and_says_so(paper):
    same = {"data": "text", "method": "co-EM", "smoothing": 1.0, "n_clusters": 2, "sweeps": 5, "clusters": 2}

    def claims(n_repeats):
        rows = [
            same | {"part": "splits", "start": "random", "n_views": n_views, "consensus": "1"}
            | {"repeat": repeat, "bits": 2.0 - 0.3 * n_views + 0.001 * repeat * n_views}
            for n_views in (1, 2, 3) for repeat in range(n_repeats)
        ]  # fmt: skip
        rows += [
            same | {"part": "consensus", "start": "random", "n_views": 2, "consensus": weight}
            | {"repeat": repeat, "bits": 1.5 - 0.5 * (weight == "1")}
            for weight in ("0", "0.5", "1") for repeat in range(n_repeats)
        ]  # fmt: skip
        found = paper.tables._claims(paper.comparisons.summarize(rows)).set_index("statement")["here"]
        return [found["two views below one, pseudo-count 1"], found["a weight of 0, against 1"]]

    assert claims(1) == ["no test: one repetition"] * 2
    assert claims(4) == ["1 of 1", "below 0, even 0, above 1"]


def test_repetitions_do_not_depend_on_their_number(paper, problems):
    one, more = (list(paper.clusterings.splits(problems[1][0], repeats, 3)) for repeats in (range(1), range(2)))
    assert one == more[: len(one)]


def test_differences_are_paired(paper):
    rows = [
        {"part": "linked", "data": "Cora", "method": method, "start": "random", "n_clusters": 7, "n_views": n_views}
        | {"smoothing": 1.0, "consensus": "1", "repeat": repeat, "bits": repeat + shift + 0.001 * (repeat % 2)}
        | {"sweeps": 5, "clusters": 7, "criterion": float(repeat), "log_likelihood": -float(repeat)}
        for method, n_views, shift in (("co-EM", 3, 0.0), ("EM, views merged", 1, 0.2), ("EM, text alone", 1, 0.0))
        for repeat in range(12)
    ]
    for row in rows:
        if row["method"] == "EM, views merged":
            row["bits"] += 0.01 * np.sin(row["repeat"])
    summary = paper.comparisons.summarize(rows).set_index("method")
    assert summary.loc["EM, views merged", "verdict"] == "above"
    np.testing.assert_allclose(summary.loc["EM, views merged", "difference"], 0.2, atol=0.01)
    assert summary.loc["co-EM", "verdict"] == ""


def test_best_of_ten_starts_in_expectation(paper):
    rng = np.random.default_rng(0)
    weights = paper.comparisons._best_weights(20)
    np.testing.assert_allclose(weights.sum(), 1.0)
    drawn = [rng.permutation(20)[:10].min() for _ in range(4000)]
    np.testing.assert_allclose(weights @ np.arange(20), np.mean(drawn), atol=0.06)


def test_merged_views_count_what_has_the_same_name_together(paper):
    blocks = {
        "inbound": sparse.csr_array(np.array([[1.0, 0.0], [0.0, 2.0]])),
        "outbound": sparse.csr_array(np.array([[3.0, 4.0], [0.0, 5.0]])),
    }
    columns = {"inbound": pd.Index(["a", "b"]), "outbound": pd.Index(["b", "c"])}
    merged = paper.problems._merged(blocks, columns, ("inbound", "outbound"))
    np.testing.assert_array_equal(merged.toarray(), [[1.0, 3.0, 4.0], [0.0, 2.0, 5.0]])
