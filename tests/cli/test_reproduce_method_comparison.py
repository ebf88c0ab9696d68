"""The comparison of methods for few labels, run as a whole on small data."""

import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier

from coview import Views
from coview.labels import encode_labels

ROOT = Path(__file__).parents[2]


@pytest.fixture
def comparison(monkeypatch):
    """The modules of the experiment."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "experiments"), *sys.path])
    return SimpleNamespace(
        **{name: import_module(f"method_comparison.{name}") for name in ("problems", "rivals", "methods", "tables")}
    )


def measured(n=60, seed=0):
    """Two views of two classes, the second absent for a fifth."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    blocks = {"a": 2.0 * y[:, None] + rng.normal(size=(n, 2)), "b": 2.0 * y[:, None] + rng.normal(size=(n, 3))}
    blocks["b"][rng.random(n) < 0.2] = np.nan
    return Views(blocks), np.array(["no", "yes"])[y].astype(object)


def words(n=60, seed=0):
    """Counts of thirty words and ten links, of three classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    blocks = {
        name: sparse.csr_array(rng.poisson(np.where(np.arange(width) % 3 == y[:, None], 2.0, 0.3)).astype(float))
        for name, width in (("words", 30), ("links", 12))
    }
    return Views(blocks), np.array(list("xyz"))[y].astype(object)


@pytest.fixture
def small(comparison, monkeypatch, tmp_path):
    """Two small data sets, two numbers of labels, fast methods, scores in a folder of their own."""
    source = comparison.problems._Source
    sets = {
        "heart_disease": source("measured", lambda data: measured()),
        "citeseer": source("words", lambda data: words()),
    }
    for module in (comparison.problems, comparison.tables):
        monkeypatch.setattr(module, "DATASETS", sets)
    monkeypatch.setattr(comparison.tables, "LABELS_PER_CLASS", (1, 10, 50))  # 50 are more than there may be
    monkeypatch.setattr(comparison.tables, "MOST_LABELED", 0.5)
    monkeypatch.setattr(comparison.tables, "FOLDER", tmp_path / "scores")
    chosen = ("CoLaplacianLeastSquaresClassifier", "SVM2K", comparison.methods.BASELINE, "label spreading, one table")
    every = comparison.methods.methods_for
    monkeypatch.setattr(comparison.tables, "methods_for", lambda *given: {name: every(*given)[name] for name in chosen})
    return chosen


def test_runs_as_a_whole_and_goes_on_where_it_was(comparison, small):
    said = []
    options = {"repeats": 2, "seed": 0, "jobs": 1, "echo": said.append}
    result = comparison.tables.reproduce(Path("data"), **options)
    assert len(said) == 3
    scores = pd.DataFrame(result["scores"])
    assert len(scores) == 2 * 2 * 2 * len(small)
    assert (scores["error"] == "").all()
    assert scores.loc[scores["per_class"] == 10, "accuracy"].mean() > 0.8
    for words_of in ("## Mean ranks", "## Against", "### citeseer: words", "## Processor seconds"):
        assert words_of in result["tables"]
    again = comparison.tables.reproduce(Path("data"), **options)
    pd.testing.assert_frame_equal(pd.DataFrame(again["scores"]), scores)


def test_a_method_that_fails_is_told_and_not_ranked(comparison, small):
    result = comparison.tables.reproduce(Path("data"), repeats=2, seed=0, jobs=1, echo=lambda line: None)
    scores = pd.DataFrame(result["scores"]).assign(preparation=0.0, seconds=0.0)
    failed = (scores["method"] == "SVM2K") & (scores["per_class"] == 10) & (scores["data"] == "citeseer")
    scores.loc[failed, ["accuracy", "auc", "log_loss"]] = np.nan
    scores.loc[failed, "error"] = "ValueError: no"
    tables = comparison.tables.assemble(scores)["tables"]
    ranks = tables.split("## Mean ranks")[1].split("##")[0]
    assert "SVM2K" not in ranks
    assert comparison.methods.BASELINE in ranks
    means = tables.split("## Mean accuracy")[1].split("##")[0]
    assert next(line for line in means.splitlines() if line.startswith("| SVM2K")).endswith("| - |")
    assert "* citeseer, 10 per class, SVM2K: ValueError: no" in tables


@pytest.mark.parametrize("make", [measured, words])
def test_every_method_fits_both_kinds_of_data(comparison, make):
    views, labels = make()
    problem = comparison.problems.Problem("made", "made", comparison.problems._weighted(views), labels)
    hidden = np.where(np.arange(60) < 30, labels, None)
    for name, method in comparison.methods.methods_for(problem, 30).items():
        if isinstance(getattr(method, "classifier", None), HistGradientBoostingClassifier):
            continue  # trees need more labels than this
        fitted = method.fit(problem.views, hidden)
        codes = encode_labels(labels)[1][30:]
        accuracy = np.mean(fitted.label_distributions_[30:].argmax(axis=1) == codes)
        assert accuracy > 1.0 / problem.n_classes + 0.15, name


def test_words_become_rows_of_unit_length_and_columns_standard(comparison):
    views, _ = words()
    rows = comparison.problems._weighted(views)["words"]
    np.testing.assert_allclose(np.asarray(rows.multiply(rows).sum(axis=1)).ravel(), 1.0)
    assert sparse.issparse(rows)
    views, _ = measured()
    weighted = comparison.problems._weighted(views)
    np.testing.assert_array_equal(weighted.presence, views.presence)
    np.testing.assert_allclose(weighted["b"].mean(axis=0), 0.0, atol=1e-12)


def test_long_fits_are_left_out(comparison):
    views, labels = measured()
    problem = comparison.problems.Problem("made", "made", views, labels)
    assert "SVM2K" in comparison.methods.methods_for(problem, 100)
    assert "SVM2K" not in comparison.methods.methods_for(problem, 100_000)
