"""The experiments on hybrid trees, run as a whole on small views."""

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
    names = ("trees", "documents", "tables")
    return SimpleNamespace(**{name: import_module(f"hybrid_clustering.{name}") for name in names})


def phonemes():
    """Twelve sounds of three families with two subfamilies each; the acoustic view tells the families."""
    rng = np.random.default_rng(0)
    family, sub = np.repeat(["a", "b", "c"], 4), np.tile([0, 0, 1, 1], 3)
    acoustic = np.repeat(5.0 * np.eye(3), 4, axis=0) + 0.1 * rng.normal(size=(12, 3))
    following = rng.dirichlet(np.full(4, 20.0), size=12)
    views = Views(
        {
            name: pd.DataFrame(block, index=[f"s{i}" for i in range(12)])
            for name, block in (("acoustic", acoustic), ("next", following), ("articulatory", rng.normal(size=(12, 2))))
        }
    )
    meta = pd.DataFrame({"subfamily": [f"{f}{s}" for f, s in zip(family, sub, strict=True)]}, index=views.index)
    return SimpleNamespace(views=views, target=pd.Series(family, index=views.index), meta=meta)


def web():
    """Sixty pages of two classes; some have no anchor words."""
    rng = np.random.default_rng(1)
    truth = np.arange(60) % 2
    text = rng.poisson(np.where(truth[:, None] == np.arange(40) % 2, 2.0, 0.3))
    anchor = rng.poisson(np.where(truth[:, None] == np.arange(10) % 2, 1.0, 0.2))
    blocks = {"text": sparse.csr_array(text.astype(float)), "anchor": sparse.csr_array(anchor.astype(float))}
    return SimpleNamespace(views=Views(blocks), target=pd.Series(np.where(truth, "x", "y")))


def test_runs_as_a_whole(paper, monkeypatch):
    monkeypatch.setattr(paper.tables, "fetch", lambda name, data: phonemes())
    monkeypatch.setattr(paper.documents, "fetch", lambda name, data: web())
    monkeypatch.setattr(paper.tables, "N_SHUFFLES", 5)
    monkeypatch.setattr(paper.documents, "N_PAGES", 30)
    said = []
    result = paper.tables.reproduce(Path("data"), repeats=2, seed=0, jobs=1, echo=said.append)
    assert len(said) == 3
    summary = pd.DataFrame(result["summary"])
    hybrid = summary[
        (summary["tree"] == "hybrid") & (summary["measure"] == "purity") & (summary["classes"] == "family")
    ]
    assert (hybrid["value"].astype(float) > hybrid["chance"].astype(float)).all()
    assert set(summary["part"]) == {"phonemes", "pages"}
    assert "Splits of more than two phonemes in the hybrid tree" in result["tables"]
    assert result["newick"]["two views of the paper: acoustic"].endswith(";")
    assert (
        len({tuple(row) for row in map(dict.keys, result["summary"])}) == 1
    )  # one table: the same columns in every row


def test_one_draw_has_no_test(paper, monkeypatch):
    monkeypatch.setattr(paper.tables, "fetch", lambda name, data: phonemes())
    monkeypatch.setattr(paper.documents, "fetch", lambda name, data: web())
    monkeypatch.setattr(paper.tables, "N_SHUFFLES", 2)
    monkeypatch.setattr(paper.documents, "N_PAGES", 30)
    result = paper.tables.reproduce(Path("data"), repeats=1, seed=0, jobs=1, echo=lambda line: None)
    assert " below" not in result["tables"].split("## Web pages")[1]
