"""The pieces of experiments/main_job: hidden pairs, the same names everywhere, verdicts."""

import importlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from coview import Views

FOLDER = Path(__file__).parents[2] / "experiments" / "main_job"


@pytest.fixture
def experiment(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


def dense_views(n=200):
    rng = np.random.default_rng(0)
    return Views({"a": rng.normal(size=(n, 2)), "b": rng.normal(size=(n, 3)), "c": rng.normal(size=(n, 1))})


def test_hidden_pairs_leave_every_sample_a_view_and_the_rest_as_it_was(experiment):
    hide_pairs = experiment("data_sets").hide_pairs
    whole = dense_views()
    views = hide_pairs(whole, 0.6)
    assert views.presence.any(axis=1).all()
    # of three pairs, all hidden with 0.6**3, and one of them then shown: 0.6 - 0.216 / 3
    assert 1 - views.presence.mean() == pytest.approx(0.6 - 0.216 / 3, abs=0.05)
    for name in views.names:
        np.testing.assert_array_equal(views[name], whole[name][views.rows(name)])
    assert views == hide_pairs(whole, 0.6)
    assert views != hide_pairs(whole, 0.6, seed=1)


def test_empty_rows_are_missing_views_unless_a_sample_has_nothing_else(experiment):
    module = experiment("data_sets")
    text = sparse.csr_array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    link = sparse.csr_array([[0.0], [3.0], [0.0]])
    samples = module.Samples(Views({"text": text, "link": link}), np.array(["x", "y", "x"], dtype=object))
    views = module._without_empty_rows(samples).views
    assert views.presence.tolist() == [[True, False], [True, True], [True, True]]
    assert views["link"].toarray().tolist() == [[3.0], [0.0]]


def test_every_set_has_a_table_of_counts_and_its_own_name(experiment):
    module = experiment("data_sets")
    problems = module.all_problems()
    assert len({problem.name for problem in problems}) == len(problems)
    parts = {part for problem in problems for part in problem.counts.values()}
    assert parts == {module.DESIGN, module.SEEN, module.NEW}
    prototype = pd.read_csv(FOLDER / "prototype.csv")
    asked = {(problem.name, n) for problem in problems for n in problem.counts}
    assert set(zip(prototype["data"], prototype["n_labeled"], strict=True)) <= asked


@pytest.mark.parametrize("as_sparse", [False, True])
def test_ranked_methods_exist_for_dense_and_sparse_views(experiment, as_sparse):
    views = dense_views(30)
    if as_sparse:
        views = Views({name: sparse.csr_array(np.abs(views[name])) for name in views.names})
    rivals, tables = experiment("rivals"), experiment("confirm_tables")
    names = {*rivals.our_methods(), *rivals.simple_baselines(views), tables.BEST_VIEW}
    assert set(tables.RANKED) <= names


def test_common_scale_keeps_proportions(experiment):
    scale = experiment("rivals").CommonScale
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 5.0, 0.1] + 7.0
    for settings, wanted in (({"largest": 1.0}, lambda v: v.max()), ({"mean": 4.0}, lambda v: v.mean())):
        scaled = scale(**settings).fit(X).transform(X)
        variances = scaled.var(axis=0)
        assert wanted(variances) == pytest.approx(next(iter(settings.values())))
        np.testing.assert_allclose(variances / variances[0], X.var(axis=0) / X.var(axis=0)[0])
        assert scaled.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


def made_scores(losses, n_draws=4):
    """Scores of one data set and 11 labels; the noise of a draw is the same for all methods."""
    rows = []
    for method, loss in losses.items():
        for draw in range(n_draws):
            row = dict.fromkeys(("auc", "accuracy", "brier", "calibration_error"), 0.5)
            row |= {"method": method, "n_labeled": 11, "draw": draw, "group": "all", "seconds": 0.1, "n_test": 9}
            rows.append(row | {"log_loss": loss + 0.1 * draw + 0.01 * (draw % 2) * (method == "default")})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("loss", "word"), [(0.3, "ahead"), (0.445, "level"), (0.6, "behind")])
def test_verdict_is_two_standard_errors_from_the_best_in_hindsight(experiment, tmp_path, loss, word):
    module, tables = experiment("data_sets"), experiment("confirm_tables")
    problem = module.Problem("breast_tcga", None, {11: module.DESIGN})
    losses = {"printed model": 0.9, "columns + LR": 0.5, "stacking": 0.45, "mrna alone + LR": 0.7, "x alone + LR": 0.6}
    (tmp_path / "scores").mkdir()
    made_scores({"default": loss, **losses}).to_csv(tmp_path / "scores" / "breast_tcga.csv", index=False)
    tables.write_tables([problem], tmp_path)
    row = json.loads((tmp_path / "confirmation.json").read_text(encoding="utf-8"))["rows"][0]
    assert (row["best_baseline"], row["verdict"]) == ("stacking", word)
    assert row["log_loss_difference"] == pytest.approx(loss + 0.005 - 0.45)
    assert row["prototype_log_loss"] == 0.266
    page = (tmp_path / "confirmation.md").read_text(encoding="utf-8")
    assert f"| {word} | 0.266, -0.124 |" in page
    assert f"{word} in 1" in page
    scores = tables.read_scores([problem], tmp_path / "scores")
    best = scores[scores["method"] == tables.BEST_VIEW]
    assert best["log_loss"].min() == pytest.approx(0.6)
