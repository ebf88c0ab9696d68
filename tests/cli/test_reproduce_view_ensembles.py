"""The experiments on ensembles of views, run as a whole on small views."""

import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from coview import Views
from coview.ensemble import ViewEnsembleClassifier
from coview.neighbors import HyperplaneKNeighborsClassifierCV

ROOT = Path(__file__).parents[2]
GRID = {"n_neighbors": (3,), "alphas": (1.0,)}


@pytest.fixture
def paper(monkeypatch):
    """The modules of the experiment, with one pair of parameters and few random choices."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "experiments"), *sys.path])
    found = SimpleNamespace(
        **{name: import_module(f"view_ensembles.{name}") for name in ("members", "ensembles", "tables")}
    )
    monkeypatch.setattr(found.members, "GRID", GRID)
    monkeypatch.setattr(found.members, "fetch", lambda name, data: proteins())
    monkeypatch.setattr(found.ensembles, "N_DRAWS", 3)
    return found


def proteins():
    """Six views of sixty samples of three classes, half of them for training; two views say nothing."""
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 3
    blocks = {
        name: rng.normal(size=(60, 3)) + size * np.eye(3)[codes]
        for name, size in zip("CSHVPZ", (1.5, 1.2, 1.0, 0.8, 0.0, 0.0), strict=True)
    }
    return SimpleNamespace(
        views=Views(blocks),
        target=pd.Series(np.array(["x", "y", "z"])[codes]),
        meta=pd.DataFrame({"part": np.where(np.arange(60) < 30, "train", "test")}),
    )


def test_runs_as_a_whole(paper):
    said = []
    result = paper.tables.reproduce(Path("data"), repeats=2, seed=0, jobs=1, echo=said.append)
    assert len(said) == 2
    summary = pd.DataFrame(result["summary"]).set_index(["choice", "rule"])
    shares = summary[["paper", "redrawn"]].astype(float)
    assert shares.to_numpy().min() >= 0.0
    assert shares.to_numpy().max() < 0.67
    alone = shares.loc["best single view by leave-one-out", "paper"].iloc[0]
    by_test = shares.loc[("forward by the test set itself", "majority"), "paper"]
    assert by_test <= alone  # it begins with that view, and goes by the error that is printed
    # vectors of one's own training samples, which hyperplanes through them know, are a vote
    assert (
        abs(shares.loc[("all 63 views", "own_vector"), "paper"] - shares.loc[("all 63 views", "majority"), "paper"])
        < 0.15
    )
    assert len(result["members"]) == 2 * 63
    assert "here: view" in result["tables"]
    assert "redrawn splits" in result["tables"]


@pytest.mark.parametrize("rule", ["result_vector", "majority", "weighted", "soft", "product", "modified_product"])
def test_choices_and_errors_are_those_of_the_estimator(paper, rule):
    """The shortcut of asking the members once gives what ``ViewEnsembleClassifier`` gives."""
    views, codes, train = paper.members.load(Path("data"))
    said = paper.members.listen(views, codes, train)
    known, new = paper.members.standardized(views, train)
    for selection, validation in (("forward", None), ("forward", (new, codes[~train])), ("cv", None)):
        model = ViewEnsembleClassifier(
            HyperplaneKNeighborsClassifierCV(**GRID), selection=selection, combination=rule, n_views_selected=None
        )
        model.fit(known, codes[train], **({"validation": validation} if validation else {}))
        columns = [said.names.index("".join(subset)) for subset in model.subsets_]
        if selection == "forward":
            chosen, _ = paper.ensembles.forward(
                said, lambda few, own=validation is None: paper.ensembles.error(said, rule, few, left_out=own)
            )
            assert chosen == columns
        else:
            assert columns == np.argsort(said.errors, kind="stable")[:3].tolist()
        assert (model.predict(new) != codes[~train]).mean() == pytest.approx(paper.ensembles.error(said, rule, columns))


def test_redrawn_parts_keep_size_and_shares(paper):
    _, codes, train = paper.members.load(Path("data"))
    drawn = paper.members.redrawn(codes, train, 1)
    assert drawn.sum() == train.sum()
    assert np.bincount(codes[drawn]).tolist() == [10, 10, 10]
    assert (drawn != paper.members.redrawn(codes, train, 2)).any()
