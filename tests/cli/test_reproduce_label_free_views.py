"""The experiments with label-free views: as a whole on a slice that small, and what its splits and rivals promise."""

import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.cross_decomposition import CCA

from coview import Views

ROOT = Path(__file__).parents[2]


@pytest.fixture
def paper(monkeypatch):
    """The modules of the experiment."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "experiments"), *sys.path])
    names = ("layout", "mixtures", "problems", "rivals", "summaries", "synthetic", "tables")
    return SimpleNamespace(**{name: import_module(f"label_free_views.{name}") for name in names})


def small_split(problems, seed=0, views=("audio", "image")):
    """Three well separated classes; 18 samples labeled by the first view, 18 with all views, 30 to test on."""
    rng = np.random.default_rng(seed)
    centers = {name: 5.0 * np.eye(3, 4 + k)[rng.permutation(3)] for k, name in enumerate(views)}

    def block(name, classes):
        return centers[name][classes] + rng.normal(size=(len(classes), centers[name].shape[1]))

    labels, hidden, truth = (np.arange(n) % 3 for n in (18, 18, 30))
    joint, test = ({name: block(name, classes) for name in views} for classes in (hidden, truth))
    return problems.LabelFree(views[0], block(views[0], labels), labels, joint, hidden, test, truth)


def test_the_paper_runs_as_a_whole(paper, monkeypatch):
    small = (2, 3, 4, 5)
    for module in (paper.layout, paper.mixtures, paper.summaries, paper.tables):
        monkeypatch.setattr(module, "COMPONENTS", small)
    settings = ((1, 2, 1.0),)
    monkeypatch.setattr(paper.synthetic, "RESTARTS", 2)
    original = paper.synthetic.run
    monkeypatch.setattr(paper.synthetic, "run", lambda *options: original(*options, settings=settings))
    monkeypatch.setattr(
        paper.tables, "SpokenDigits", lambda data: SimpleNamespace(split=lambda repeat, seed: few[repeat])
    )
    few = [small_split(paper.problems, seed) for seed in range(2)]
    blocks = {name: np.zeros((6, 2)) for name in paper.problems.HANDWRITTEN_VIEWS}
    bunch = SimpleNamespace(views=Views(blocks), target=pd.Series(np.arange(6)))
    monkeypatch.setattr(paper.tables, "fetch", lambda name, data: bunch)
    three = small_split(paper.problems, views=paper.problems.HANDWRITTEN_VIEWS)
    monkeypatch.setattr(paper.tables, "handwritten_split", lambda views, digits, repeat, seed: three)
    said = []
    result = paper.tables.reproduce(Path("data"), repeats=2, seed=0, jobs=1, echo=said.append)
    assert list(result["seconds"]) == list(paper.problems.PARTS)
    summary = pd.DataFrame(result["summary"])
    synthetic, digits, handwritten = paper.problems.PARTS

    def cells(part, method, tested_on):
        return summary[(summary[["part", "method", "tested_on"]] == [part, method, tested_on]).all(axis=1)]

    assert cells(synthetic, "SSML", "z")["verdict"].tolist() == ["reached"]
    assert cells(digits, paper.mixtures.CHOSEN, "image")["mean"].item() > 0.9
    grid = cells(digits, paper.mixtures.DIRECT_MIXTURE, "image")
    assert grid["published"].notna().sum() == 12
    assert (grid["n"] == 2).all()
    assert cells(handwritten, paper.mixtures.CHOSEN, "kar + zer")["mean"].item() > 0.9
    assert "printed 0.574 ± 0.058" in result["tables"]
    assert len(result["scores"]) == len({tuple(row.items()) for row in result["scores"]})


def spoken(problems):
    """Twenty recordings and thirty images of each digit, in place of the files."""
    source = problems.SpokenDigits.__new__(problems.SpokenDigits)
    digits = np.repeat(np.arange(10), 2 * problems.PER_CLASS)
    source.audio = np.column_stack([digits, np.arange(len(digits))]).astype(float)
    source.file_digits, source.audio_rows = digits, np.arange(len(digits))
    source.roles = np.where(np.arange(len(digits)) % 2 == 0, "pair", "labelled_audio")
    source.digits = np.repeat(np.arange(10), 60)
    source.images = np.column_stack([source.digits, np.arange(600)]).astype(float)
    source.image_rows = np.where(source.roles == "pair", digits * 60 + np.arange(len(digits)) % 60, -1)
    return source


@pytest.mark.parametrize("repeat", [0, 1, 2])
def test_splits_join_the_same_digit_and_test_on_other_images(paper, repeat):
    split = spoken(paper.problems).split(repeat, seed=3)
    assert len(split.labels) == len(split.hidden) == 370
    np.testing.assert_array_equal(split.joint["audio"][:, 0], split.hidden)
    np.testing.assert_array_equal(split.joint["image"][:, 0], split.hidden)
    np.testing.assert_array_equal(split.labeled[:, 0], split.labels)
    np.testing.assert_array_equal(split.test["image"][:, 0], split.truth)
    assert not set(split.joint["image"][:, 1]) & set(split.test["image"][:, 1])
    assert not set(split.joint["audio"][:, 1]) & set(split.labeled[:, 1])
    views, labels = split.training
    assert not views.presence[370:, 1].any()
    assert views.presence[:370].all()
    assert np.isnan(labels[:370]).all()


def test_canonical_directions_are_those_of_cca(paper, monkeypatch):
    """Singular vectors of whitened components against scikit-learn's iterations."""
    monkeypatch.setattr(paper.rivals, "_KEPT_VARIANCE", 1.0 - 1e-9)
    split = small_split(paper.problems)
    data = paper.rivals._Scaled.of(split, ("image",))
    white = data.whitened()
    found = paper.rivals.PLSSVD(2, scale=False).fit(white.source, white.target).transform(white.source, white.target)
    expected = CCA(2, scale=False, tol=1e-12, max_iter=10_000).fit(data.source, data.target)
    for own, other in zip(found, expected.transform(data.source, data.target), strict=True):
        for k in range(2):
            assert abs(np.corrcoef(own[:, k], other[:, k])[0, 1]) == pytest.approx(1.0, abs=1e-6)


def test_verdicts_measure_by_both_deviations(paper):
    words = [paper.summaries.verdict(value) for value in (np.nan, 1.9, 2.1, -2.1)]
    assert words == ["", "reached", "above", "below"]
