"""The experiments on active sensing, run as a whole on small studies."""

import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from coview import Views
from coview.acquisition import simulate

ROOT = Path(__file__).parents[2]


@pytest.fixture
def paper(monkeypatch):
    """The modules of the experiment."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "experiments"), *sys.path])
    names = ("problems", "runs", "summaries", "claims", "tables")
    return SimpleNamespace(**{name: import_module(f"active_sensing.{name}") for name in names})


@pytest.fixture
def small(paper, monkeypatch):
    """Studies by the names that the statements of the papers are about, each a toy of a few acquisitions."""
    monkeypatch.setattr(paper.runs, "RANDOM_PATHS", 2)
    runs, (two, five) = paper.runs, paper.problems.TOYS
    criteria = (runs.RANDOM, runs.VARIANCE, runs.INFORMATION, runs.POINT, runs.BOUND_POINT, runs.ENTROPY)
    toys = [(replace(toy, n_steps=2, runs=1), runs.PAPERS, criteria) for toy in (two, five)]
    lung = replace(five, name="nsclc", n_steps=2, runs=1, pooled=False, components=1)
    heart = replace(lung, name="heart, 78 patients", costs={"x1": 1.0, "x2": 3.0})
    main = (runs.RANDOM, runs.VARIANCE, runs.INFORMATION, runs.ENTROPY)
    studies = [(lung, runs.PAPERS, (*main, runs.UNLABELED)), (heart, runs.PAPERS, (*main, runs.PER_COST))]
    return [*toys, *studies, (heart, paper.tables.SENSITIVITY[0], main)]


def test_runs_as_a_whole(paper, small, monkeypatch):
    monkeypatch.setattr(paper.tables, "tasks", lambda data: small)
    monkeypatch.setattr(paper.tables, "main_part", lambda *arguments, **options: {})
    said = []
    result = paper.tables.reproduce(Path("data"), repeats=2, seed=0, jobs=1, echo=said.append)
    assert len(said) == len(result["seconds"]) == len(small)
    scores = pd.DataFrame(result["scores"])
    assert scores.groupby(["study", "setting"])["repeat"].nunique().eq(2).all()
    summary = pd.DataFrame(result["summary"])
    assert {"full features", "mean imputation", "complete cases"} < set(summary["criterion"])
    starts = summary[(summary["step"] == 0) & summary["criterion"].isin([paper.runs.RANDOM, paper.runs.VARIANCE])]
    assert (
        np.ptp(starts.pivot_table(index=["study", "setting"], columns="criterion", values="auc"), axis=1).max() == 0.0
    )
    for text in ("What the papers say", "another implementation", "Other settings", "expected entropy per cost"):
        assert text in result["tables"]


def test_one_run_gives_tables_without_errors(paper, small, monkeypatch):
    monkeypatch.setattr(paper.tables, "tasks", lambda data: small)
    monkeypatch.setattr(paper.tables, "main_part", lambda *arguments, **options: {})
    result = paper.tables.reproduce(Path("data"), repeats=1, seed=0, jobs=1, echo=str)
    assert "±" not in result["tables"].split("## Figure 5")[1].split("At the start")[0]


def test_every_repetition_is_the_same_however_many_there_are(paper, small):
    def scores(repeats):
        return paper.tables.run_task(small[2], repeats, 0, 1)

    (one, around_one), (two, around_two) = scores(1), scores(2)
    pd.testing.assert_frame_equal(one, two[two["repeat"] == 0].reset_index(drop=True))
    pd.testing.assert_frame_equal(around_one, around_two[around_two["repeat"] == 0].reset_index(drop=True))


def test_random_choice_is_the_mean_of_several_orders(paper, small):
    problem, setting, _ = small[2]
    trial = problem.trial(0, 0)
    mean = paper.runs.curves(problem, trial, setting, [paper.runs.RANDOM], 0)["auc"]
    one, two = (
        paper.runs._path(problem, trial, setting, paper.runs.RANDOM, label, 0)["auc"]
        for label in ("random", "random, 2")
    )
    np.testing.assert_allclose(mean, (one + two) / 2.0)


def test_the_same_curve_as_simulate(paper, small):
    problem, setting, _ = small[0]
    problem = replace(problem, n_steps=4)
    # one view hidden of each sample, so that the largest variance says which pair it is
    trial = problem.trial(1, 0)
    own = paper.runs.curves(problem, trial, setting, [paper.runs.VARIANCE], 0)
    simulation = simulate(
        setting.model(problem.kernel),
        Views(trial.blocks, names=list(problem.views)),
        trial.target,
        criteria={paper.runs.VARIANCE: {"criterion": "variance"}},
        n_steps=4,
        repeats=1,
        scorer={"auc": "roc_auc", "log_score": "neg_log_loss"},
        hidden=trial.hidden,
        n_labeled=lambda rng, y: trial.labeled,
    )
    for score in ("auc", "log_score"):
        np.testing.assert_allclose(own[score], simulation.curves[score])


def test_only_unlabeled_samples_are_asked_for_where_it_says_so(paper, small):
    problem, setting, _ = small[2]
    trial = problem.trial(0, 0)
    hidden = int((trial.hidden & ~trial.labeled[:, None]).sum())
    problem = replace(problem, n_steps=100)
    curve = paper.runs.curves(problem, trial, setting, [paper.runs.RANDOM, paper.runs.UNLABELED], 0)
    last = curve.groupby("criterion")["step"].max()
    assert last[paper.runs.UNLABELED] == hidden < last[paper.runs.RANDOM] == trial.hidden.sum()


def test_shares_of_labels_and_hidden_views(paper):
    target = np.repeat([0, 1], [60, 40])
    has = np.ones((100, 3), dtype=bool)
    has[:20, 2] = False
    draw = paper.problems._study([np.zeros((100, 1))] * 3, target, (1.0, 0.7, 0.4), presence=has)
    trial = draw(np.random.default_rng(0))
    assert trial.seen.sum(axis=0).tolist() == [100, 70, 32]
    assert trial.labeled[target == 0].sum() == 18
    assert trial.labeled[target == 1].sum() == 12
    assert not (trial.hidden & ~has).any()
    toy = paper.problems.TOYS[0].trial(3, 0)
    assert toy.hidden.sum(axis=0).tolist() == [24, 24]
    assert not toy.hidden.all(axis=1).any()


def test_gains_are_paired_and_say_from_when_on(paper):
    rng = np.random.default_rng(0)
    rows = []
    for repeat in range(12):
        level = rng.normal()  # of the run: it would drown the difference if runs were not paired
        for step in range(11):
            lead = 0.1 if step >= 4 else 0.0
            for criterion, more in (("random", 0.0), ("MI", lead + 0.01 * rng.normal())):
                scores = {"auc": level + more, "log_score": level}
                rows.append(
                    {"study": "s", "setting": "papers", "criterion": criterion, "repeat": repeat, "step": step} | scores
                )
    curves = pd.DataFrame(rows)
    steps = paper.summaries.at_each_step(curves)
    auc = paper.summaries.gains(curves, steps).set_index("score").loc["auc"]
    np.testing.assert_allclose(auc["gain"], 0.07, atol=0.01)
    assert auc["error"] < 0.005
    assert auc["verdict"] == "ahead"
    assert auc["lasting"] == 4
    same = paper.summaries.gains(curves, steps).set_index("score").loc["log_score"]
    assert same["verdict"] == "even"
    assert pd.isna(same["first"])


def test_baselines_of_two_clear_clusters(paper):
    toy = paper.problems.TOYS[1]
    trial = toy.trial(0, 0)
    levels = paper.runs.baselines(toy, trial, paper.runs.PAPERS)
    assert set(levels) == set(paper.runs.BASELINES)
    assert levels["full features"][0] > 0.98
    assert levels["full features"][0] >= levels["mean imputation"][0]
