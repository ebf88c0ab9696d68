"""The experiments on spectral clustering with two views, run as a whole on small pages."""

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
    return SimpleNamespace(**{name: import_module(f"spectral_two_views.{name}") for name in ("clusterings", "tables")})


def documents(names, widths, n=90, gaps=0.0):
    """Three classes, each with words of its own in every view."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 3
    blocks = {}
    for name, width in zip(names, widths, strict=True):
        own = np.arange(width) % 3 == truth[:, None]
        blocks[name] = sparse.csr_array(rng.poisson(np.where(own, 2.0, 0.2)).astype(float))
    presence = rng.random((n, len(names))) >= gaps
    presence[~presence.any(axis=1), 0] = True
    return SimpleNamespace(views=Views(blocks, presence=presence), target=pd.Series(np.array(["a", "b", "c"])[truth]))


def test_runs_as_a_whole(paper, monkeypatch):
    found = {
        "webkb6": documents(("text", "anchor"), (60, 20)),
        "three_sources": documents(("bbc", "guardian", "reuters"), (30, 40, 50), gaps=0.3),
    }
    monkeypatch.setattr(paper.clusterings, "fetch", lambda name, data: found[name])
    monkeypatch.setattr(paper.clusterings, "N_CLUSTERS", 3)
    monkeypatch.setattr(paper.clusterings, "_N_INIT", 2)
    monkeypatch.setattr(paper.tables, "PAIRED", (0.9, 0.5))
    said = []
    result = paper.tables.reproduce(Path("data"), repeats=2, seed=0, jobs=1, echo=said.append)
    assert len(said) == 3
    summary = pd.DataFrame(result["summary"])
    complete = summary[summary["part"] == "complete"].set_index("method")["mean"].astype(float)
    assert complete["sM-D, mean rows"] < 0.5 < np.log2(3)
    assert set(summary["part"]) == {"complete", "paired", "sources"}
    assert "## 50% of the pages with both views" in result["tables"]
    assert "(1.64)" in result["tables"]
    assert "nan" not in result["tables"]
