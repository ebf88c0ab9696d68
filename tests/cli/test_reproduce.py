"""``coview reproduce``: what it lists and refuses, what it writes, and the whole of the first paper on a slice of its data."""

import csv
import json
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from coview import Views
from coview.cli import _reproduce
from coview.cli._program import run
from coview.datasets import fetch_names
from coview.gaussian_process import BayesianCoTrainingClassifier

ROOT = Path(__file__).parents[2]
PAPER = "bayesian-co-training"


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """Stand in for an experiment and its data: note the call, return one figure."""
    noted = []

    def reproduce(data, **options):
        options.pop("echo")("half way")
        noted.append((data, options))
        rows = [{"method": "m", "auc": 0.75, "sd": float("nan")}]
        return {"tables": "| m | 0.75 |", "summary": rows, "scores": rows, "seconds": {"m": 1.0}}

    monkeypatch.setitem(sys.modules, "bayesian_co_training.tables", SimpleNamespace(reproduce=reproduce))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr("coview.datasets.describe_fetchable", lambda name: {"name": name, "files": {}})
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    return noted


def test_without_a_paper_lists_them(capsys):
    assert run(["reproduce"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(f"{PAPER}\n    Yu, Krishnapuram, Rosales, Rao: Bayesian Co-Training.")
    assert "--data DIR" in captured.err
    assert run(["reproduce", "--json", "--quiet"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [paper["name"] for paper in document["papers"]] == list(_reproduce.PAPERS)


def test_every_paper_has_its_module_and_known_data():
    for paper in _reproduce.PAPERS.values():
        assert (ROOT / "experiments" / Path(*paper.module.split("."))).with_suffix(".py").is_file()
        assert set(paper.data) <= set(fetch_names())


@pytest.mark.parametrize("data", [None, "data"])
def test_absent_data_are_named_with_their_source(tmp_path, capsys, data):
    arguments = [] if data is None else ["--data", str(tmp_path)]
    assert run(["reproduce", PAPER, *arguments]) == 1
    message = capsys.readouterr().err
    for words in ("citeseer: from ", "webkb6: from ", "citeseer/text.npz", "webkb6/anchor.npz", "terms: "):
        assert words in message
    assert (str(tmp_path) in message) == (data is not None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such-paper"], "the papers are bayesian-co-training"),
        ([PAPER, "--data", "no-such-folder"], "does not exist"),
        ([PAPER, "--data", ".", "--force"], "--output"),
    ],
)
def test_misuse(calls, capsys, arguments, words):
    assert run(["reproduce", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert not calls


def test_options_reach_the_experiment(calls, capsys):
    arguments = ["--data", "data", "--repeats", "3", "--seed", "7", "--jobs", "2"]
    assert run(["reproduce", PAPER, *arguments]) == 0
    assert calls == [(Path("data"), {"repeats": 3, "seed": 7, "jobs": 2})]
    captured = capsys.readouterr()
    assert captured.out == "| m | 0.75 |\n"
    assert "half way" in captured.err


def test_results_are_written_and_never_overwritten_unasked(calls, capsys):
    arguments = ["reproduce", PAPER, "--data", "data", "-o", "out", "--json"]
    assert run(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads(Path("out/results.json").read_text(encoding="utf-8"))
    assert document["repeats"] == 20
    assert document["summary"] == [{"method": "m", "auc": 0.75, "sd": None}]
    assert Path("out/tables.md").read_text(encoding="utf-8") == "| m | 0.75 |\n"
    with open("out/summary.csv", encoding="utf-8", newline="") as stream:
        assert list(csv.DictReader(stream)) == [{"method": "m", "auc": "0.75", "sd": ""}]
    assert run(arguments) == 1
    assert "--force" in capsys.readouterr().err
    assert run([*arguments, "--force"]) == 0
    assert len(calls) == 2


def test_outside_a_checkout_says_where_the_source_is(calls, monkeypatch, capsys, tmp_path):
    import coview

    monkeypatch.setattr(coview, "__path__", [str(tmp_path / "site-packages" / "coview")])
    assert run(["reproduce", PAPER, "--data", "data"]) == 1
    assert "source distribution" in capsys.readouterr().err
    assert not calls


@pytest.fixture
def paper(monkeypatch):
    """The modules of the first paper."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "experiments"), *sys.path])
    names = ("canonical", "covariances", "label_fits", "methods", "problems", "tables")
    return SimpleNamespace(**{name: import_module(f"bayesian_co_training.{name}") for name in names})


def small_problem(problems):
    """Sixty documents of two classes: words that tell them, links that only some have."""
    rng = np.random.default_rng(0)
    positive = np.arange(60) < 24
    words = rng.poisson(np.where(positive[:, None], [2.0] * 15 + [0.4] * 15, [0.4] * 15 + [2.0] * 15))
    links = rng.poisson(np.where(positive[:, None], [0.9] * 6 + [0.0] * 6, [0.0] * 6 + [0.9] * 6))
    links[rng.random(60) < 0.4] = 0
    blocks = {"text": sparse.csr_array(words.astype(float)), "inbound": sparse.csr_array(links.astype(float))}
    filled = np.column_stack([np.ones(60, dtype=bool), links.any(axis=1)])
    views = {"zero vector": Views(blocks), "missing view": Views(blocks, presence=filled)}
    published = pd.DataFrame(
        [("labels +2/-3", "text", "auc", 0.5, 0.01), ("labels +2/-3", "Bayesian co-training", "f1", 0.99, 0.01)],
        columns=["setting", "method", "metric", "value", "sd"],
    )
    names = {"text": "text", "inbound": "inbound"}
    return problems.Problem("citeseer", "Table 1", views, positive, ((2, 3),), names, published)


def test_the_first_paper_runs_as_a_whole(paper, monkeypatch, capsys):
    problem = small_problem(paper.problems)
    monkeypatch.setattr(paper.tables, "DATASETS", ("citeseer",))
    monkeypatch.setattr(paper.tables, "load_problem", lambda name, data: problem)
    monkeypatch.setattr(paper.methods, "RANKS", (5,))
    said = []
    result = paper.tables.reproduce(Path("data"), repeats=2, seed=0, jobs=1, echo=said.append)
    assert len(said) == len(result["seconds"]) == 15
    summary = pd.DataFrame(result["summary"]).set_index(["method", "empty_rows", "metric"])
    assert set(summary.index.get_level_values("empty_rows")) == {"either", "zero vector", "missing view"}
    assert summary["n"].eq(2).all()
    assert summary.loc[("text", "either", "auc"), "verdict"] == "above"
    assert summary.loc[("BCT as printed, fixed", "zero vector", "f1"), "verdict"] == "below"
    assert summary.loc[("mean consensus, the default", "missing view", "auc"), "mean"] > 0.9
    assert result["tables"].count("\n| ") == 2 + summary.index.droplevel("metric").nunique()


def test_draws_are_nested_and_do_not_depend_on_their_number(paper):
    positive = np.arange(40) % 3 == 0
    few, more = (paper.problems.label_draws(positive, size, 3, 5) for size in ((2, 4), (4, 8)))
    for small, large in zip(few, more, strict=True):
        assert positive[large].sum() == 4
        assert set(small) < set(large)
    np.testing.assert_array_equal(few[0], paper.problems.label_draws(positive, (2, 4), 1, 5)[0])


@pytest.mark.parametrize("reading", ["zero vector", "missing view"])
def test_fits_are_those_of_the_estimator(paper, reading):
    """The printed model by way of its covariance, as the estimator has it."""
    problem = small_problem(paper.problems)
    rows = paper.problems.label_draws(problem.positive, (3, 4), 1, 0)[0]
    grams = paper.covariances.ViewGrams.of(problem.views[reading], "counts")
    kernel = grams.co_training_kernel((0.1, 0.1))
    fit = paper.label_fits.fit_labels(kernel[:, rows], np.diagonal(kernel), rows, problem.positive[rows])
    labels = np.full(60, np.nan)
    labels[rows] = problem.positive[rows]
    model = BayesianCoTrainingClassifier("linear", latent="consensus", hyperparameters="fixed", approximation="exact")
    model.fit(problem.views[reading], labels)
    np.testing.assert_allclose(fit.mean, model.latent_mean_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fit.variance, model.latent_variance_, rtol=1e-8)
    np.testing.assert_allclose(fit.evidence, model.log_marginal_likelihood_value_, rtol=1e-10)
    np.testing.assert_allclose(fit.probability, model.label_distributions_[:, 1], atol=0.02)


@pytest.mark.parametrize(("n_views", "n_points"), [(2, 49), (3, 31)])
def test_the_grid_of_view_variances_is_that_of_the_estimator(paper, n_views, n_points):
    rng = np.random.default_rng(1)
    views = [rng.normal(size=(12, 2)) for _ in range(n_views)]
    model = BayesianCoTrainingClassifier("linear", latent="consensus", approximation="exact")
    model.fit(views, np.arange(12.0) % 2)
    units = [np.einsum("ij,ij->i", block, block).mean() for block in views]
    points = np.array(paper.covariances.variance_grid(n_views))
    assert points.shape == (n_points, n_views)
    found = np.array(model.settings_["view_variances"].tolist())
    np.testing.assert_allclose(np.sort(found, axis=0), np.sort(points * units, axis=0), rtol=1e-12)


def test_canonical_co_training_spreads_the_labels(paper):
    problem = small_problem(paper.problems)
    grams = paper.covariances.ViewGrams.of(problem.views["zero vector"], "counts").grams
    rows = paper.problems.label_draws(problem.positive, (2, 2), 1, 0)[0]
    latent = paper.canonical.co_train(grams, rows, problem.positive[rows], rounds=5)
    assert roc_auc_score(problem.positive, latent) > 0.95
    # More rounds than samples: all are labeled at the end.
    exhausted = paper.canonical.co_train(grams, rows, problem.positive[rows], rounds=50)
    assert np.isfinite(exhausted).all()


@pytest.mark.parametrize(
    ("distance", "word"), [(-2.1, "below"), (-2.0, "reached"), (0.0, "reached"), (2.1, "above"), (np.nan, "")]
)
def test_verdicts(paper, distance, word):
    assert paper.tables.verdict(distance) == word
