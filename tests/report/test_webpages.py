"""The demonstration on web pages, on few and small ones: its folder, its lines, its page, and that no label leaks."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from coview.datasets import make_linked_pages
from coview.metrics import precision_recall_breakeven
from coview.report import _pages_trial, _sections_pages, webpages
from coview.report._demo_folder import MARKER
from coview.report._pages_trial import (
    ALL_LABELS,
    BOTH,
    CO_TRAINING,
    REPORTED,
    SINGLE,
    PagesJob,
    course_pages,
    make_trial,
    methods,
)

from .page import Page, check_page


def small_job(seed=0):
    pages = make_linked_pages(150, n_words=(300, 120), random_state=seed)
    return PagesJob("small pages", pages.views, (pages.target == "course").to_numpy(), pages.words, made_up=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(webpages, "made_up_pages", small_job)
        folder, lines = tmp_path_factory.mktemp("demo") / "out", []
        result = webpages.run_demo(folder, repeats=2, seed=1, echo=lines.append)
    return SimpleNamespace(folder=folder, lines=lines, result=result)


@pytest.fixture(scope="module")
def trial():
    return make_trial(small_job(), repeats=2, seed=1)


def test_folder_holds_page_predictions_scores_and_marker(made):
    assert sorted(path.name for path in made.folder.iterdir()) == [
        MARKER,
        "predictions-pages.csv",
        "report.html",
        "scores-pages.csv",
    ]
    predictions = pd.read_csv(made.folder / "predictions-pages.csv")
    assert len(predictions) == 150 - 12
    assert ((predictions["p_course"] >= 0.5) == (predictions["predicted"] == "course")).all()
    assert ((predictions["predicted"] == predictions["withheld"]) == predictions["right"]).all()


def test_same_seed_gives_the_same_bytes(made, tmp_path, monkeypatch):
    monkeypatch.setattr(webpages, "made_up_pages", small_job)
    webpages.run_demo(tmp_path / "again", repeats=2, seed=1, echo=lambda line: None)
    for name in ("report.html", "predictions-pages.csv", "scores-pages.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (made.folder / name).read_bytes()


def test_the_page_is_whole_and_offline(made):
    page = Page((made.folder / "report.html").read_text(encoding="utf-8"))
    check_page(page)
    titles = [text for _, text in page.headings]
    for title in (
        "What twelve labels give, by which method",
        "Which pages are sure, and which are not",
        "Which words go with it",
    ):
        assert title in titles
    assert "These pages are made up" in page.html


def test_lines_are_short_and_name_every_method(made):
    assert max(len(line) for line in made.lines) <= 132
    text = "\n".join(made.lines)
    assert all(name in text for name in [*methods(0), ALL_LABELS])


def test_result_is_json(made):
    rows = json.loads(json.dumps(made.result))["scores"]
    assert {(row["method"], row["judged_by"]) for row in rows} >= {
        (REPORTED, BOTH),
        (SINGLE, "page"),
        (ALL_LABELS, "link"),
    }
    assert all(0.0 <= row["low"] <= row["breakeven"] <= row["high"] <= 1.0 for row in rows)


def test_scores_are_those_of_the_pages_without_a_label(trial):
    found = trial.predictions
    scores = trial.scores
    row = scores[(scores["method"] == REPORTED) & (scores["judged_by"] == BOTH) & (scores["draw"] == 0)].iloc[0]
    assert row["breakeven"] == pytest.approx(
        precision_recall_breakeven(found["withheld"] == "course", found["p_course"])
    )
    assert not found.index.isin(trial.job.views.index[trial.labeled]).any()
    assert trial.job.is_course[trial.labeled].sum() == 3
    assert len(trial.labeled) == 12


def test_no_label_of_the_ranked_pages_is_used(trial):
    """With all withheld labels turned round, the shown predictions are the same."""
    job = trial.job
    turned = ~job.is_course
    turned[trial.labeled] = job.is_course[trial.labeled]
    other = PagesJob(job.name, job.views, turned, job.words, made_up=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pages_trial, "_draw", lambda job, rng: trial.labeled)
        patch.setattr(_pages_trial, "_with_all_labels", lambda job, seed: [])
        again = make_trial(other, repeats=1, seed=1)
    np.testing.assert_array_equal(again.predictions["p_course"], trial.predictions["p_course"])
    assert again.predictions.index.equals(trial.predictions.index)
    assert (again.predictions["right"] != trial.predictions["right"]).all()


def test_co_training_keeps_the_shares_of_the_classes(trial):
    counts = trial.history.value_counts(["round", "view", "label"])
    assert counts.xs("course", level="label").max() == 1
    assert counts.xs("other", level="label").max() == 3
    assert trial.history["right"].mean() > 0.5


def test_words_are_counted_among_predicted_pages(trial):
    row = trial.terms.iloc[0]
    column = trial.job.words["page"].index(row["word"])
    used = pd.Series(trial.job.views["page"][:, [column]].toarray().ravel() > 0,
                     index=trial.job.views.index[trial.job.views.rows("page")])  # fmt: skip
    courses = trial.predictions.index[trial.predictions["predicted"] == "course"]
    assert row["in_courses"] == pytest.approx(used.reindex(courses).mean())
    assert row["in_labeled"] == used.reindex(trial.job.views.index[trial.labeled]).sum()
    assert (trial.terms["in_courses"] >= trial.terms["in_others"] + 0.05).all()
    assert trial.terms["view"].value_counts().max() <= 12


@pytest.mark.parametrize(
    ("few", "best", "words"),
    [
        (0.6, 0.8, "finds 80%: it closes 50% of that gap."),
        (0.9, 0.8, "None of the others does better here."),
    ],
)
def test_the_verdict_follows_the_figures(trial, few, best, words):
    rows = [{"method": SINGLE, "judged_by": BOTH, "draw": 0, "breakeven": few, "auc": 0.5}]
    rows += [{"method": CO_TRAINING, "judged_by": BOTH, "draw": 0, "breakeven": best, "auc": 0.5}]
    rows += [{"method": ALL_LABELS, "judged_by": BOTH, "draw": 0, "breakeven": 1.0, "auc": 0.5}]
    made = _pages_trial.PagesTrial(
        trial.job, trial.labeled, pd.DataFrame(rows), trial.predictions, trial.history, trial.terms
    )
    said = " ".join(_sections_pages.verdict(made))
    assert words in said
    assert ("Behind it: co-training" in said) == (best < few)


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match="was not written by coview demo"):
        webpages.run_demo(tmp_path, echo=lambda line: None)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_real_pages_are_read_from_the_files_of_the_user(monkeypatch, tmp_path):
    """With stand-ins for the files: their words have no names, and published figures stand beside ours."""
    with pytest.raises(FileNotFoundError, match="webkb_course"):
        course_pages(tmp_path)
    small = small_job()
    published = pd.DataFrame(
        {"method": ["TSVM on page", "TSVM on page and link", "TSVM on link"], "value": [0.9, 0.8, 0.7], "labels": "12"}
    )
    target = pd.Series(np.where(small.is_course, "course", "non-course"), index=small.views.index)
    stand_in = SimpleNamespace(views=small.views, target=target, published=published)
    monkeypatch.setattr(_pages_trial, "fetch", lambda name, folder, empty_rows: stand_in)
    job = course_pages(tmp_path)
    assert job.words["link"][:2] == ["column 0", "column 1"]
    np.testing.assert_array_equal(job.is_course, small.is_course)
    assert job.published.to_dict("records") == [{"method": "TSVM", "page": 0.9, "link": 0.7, BOTH: 0.8}]
    page = webpages.pages_report(make_trial(job, repeats=1, seed=0), seed=0)
    text = repr(page)
    assert "no terms of use are stated" in text
    assert "Sindhwani, Niyogi and Belkin (2005, table 1) printed" in text
    assert "The files hold no words" in text
