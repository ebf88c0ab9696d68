"""The page about a campaign, and what pages say of a ranking: whether it can be relied on, or why there is none."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from coview import Views
from coview.acquisition import Campaign
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.linear_model import CoRegularizedLogisticRegression
from coview.model_selection import usual_methods
from coview.report import Report, campaign_report, render_report
from coview.report import _measurements as measurements
from coview.report import _sections_campaign as sections
from coview.report._measurements import Omitted, given_ranking, short_diagnosis, why_omitted
from coview.report._sections_measure import given_measure_sections
from coview.report._subject import make_subject
from coview.report._tables import DASH

from .model_jobs import EVIL, small_model
from .page import Page, check_page

N = 40


def cohort():
    """Two classes in two views; the second is missing for half of the samples, labels for two thirds."""
    rng = np.random.default_rng(0)
    codes = np.arange(N) % 2
    ids = [f"s{k:02d}" for k in range(N)]
    blood = pd.DataFrame(2.0 * codes[:, None] + rng.normal(size=(N, 2)), index=ids, columns=["hb", "crp"])
    scan = pd.DataFrame(2.0 * codes[:, None] + rng.normal(size=(N, 1)), index=ids, columns=["volume"]).iloc[::2]
    y = np.array([EVIL, "well"], dtype=object)[codes]
    y[np.arange(N) % 3 != 0] = None
    return {"blood": blood, "scan": scan}, y


def begun(**options):
    tables, y = cohort()
    options = {"costs": {"scan": 40.0}, "budget": 300.0, "notes": {"target": "outcome"}} | options
    return Campaign(small_model("classification", 2), tables, y, **options)


def page_of(campaign):
    page = Page(render_report(campaign_report(campaign)))
    check_page(page)
    return page


def plain(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.html))


@pytest.fixture(scope="module")
def campaign():
    """A campaign with an order that is out, one that came back, one declined, one undone, and a label."""
    made = begun()
    first = made.ask(4)["sample"].tolist()
    for sample in first:
        made.book(sample, "scan")
    made.tell(first[0], view="scan", values=[1.125])
    made.close(first[1], "scan", "declined", reason="no <b>consent</b>")
    made.tell("s01", label="well")
    made.tell(first[2], view="scan", values=[0.25])
    made.undo()
    return made, first


def test_page_says_what_is_next_booked_and_told(campaign):
    made, first = campaign
    page = page_of(made)
    titles = [title for level, title in page.headings if level == 2]
    assert titles[:6] == [
        "Where it stands", "What to measure next", "Can the list be relied on?", "What to label next", "What is booked",
        "What came back, and what it changed",
    ]  # fmt: skip
    text = plain(page)
    status = made.status()
    assert f"{status['open']} are open, 2 booked, 1 came back; closed: 1 declined." in text
    assert "Of the labels 25 are open, 0 booked, 1 came back." in text
    assert "40 spent, 80 ordered, 180 left" in text
    booked = re.search(r"<caption>All 2 orders.*?</table>", page.html, flags=re.DOTALL)[0]
    assert {sample for sample in first if f">{sample}<" in booked} == {first[2], first[3]}
    told = re.search(r"<caption>All 3 steps, newest first.*?</table>", page.html, flags=re.DOTALL)[0]
    assert [name for name in (first[0], first[1], "s01") if f">{name}<" in told] == [first[0], first[1], "s01"]
    assert f">{first[2]}<" not in told  # taken back
    assert "measured" in told
    assert "1.125" not in text  # values stay where they are


def test_ranking_is_that_of_the_campaign_and_leaves_out_what_is_booked(campaign):
    made, first = campaign
    html = page_of(made).html
    ranked = re.search(r"<caption>The \d+ measurements? to make next.*?</table>", html, flags=re.DOTALL)[0]
    expected = made.ask(15)["sample"].tolist()
    assert re.findall(r'<th scope="row">(s\d\d)</th>', ranked) == expected
    assert not set(expected) & set(first[2:])


def test_what_answers_gained_is_that_of_the_campaign(campaign):
    made, first = campaign
    gains = made.gains()
    rows = re.search(r"<caption>All 3 steps.*?</table>", page_of(made).html, flags=re.DOTALL)[0]
    shown = {}
    for row in re.findall(r"<tr.*?</tr>", rows, flags=re.DOTALL)[1:]:
        cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)
        shown[cells[2]] = cells
    view, label = (gains[gains["view"].isna() == of_label].iloc[0] for of_label in (False, True))
    assert f"{view['expected']:.3g}" in shown[first[0]]
    assert f"{view['realized']:+.3f}".replace("-", "\N{MINUS SIGN}") in shown[first[0]]
    assert f"{label['realized']:+.3f}".replace("-", "\N{MINUS SIGN}") in shown["s01"]
    assert f"to {made.total_entropy():,.4g} nats" in plain(page_of(made))


def test_only_the_newest_answers_are_fitted_again(monkeypatch):
    made = begun(costs=None, budget=None)
    unlabeled = [f"s{k:02d}" for k in range(N) if k % 3]
    for sample in unlabeled[:4]:
        made.tell(sample, label="well")
    monkeypatch.setattr(sections, "_MOST_REFITTED", 3)
    html = page_of(made).html
    assert "With the newest 3 answers" in html
    rows = re.search(r"<caption>All 4 steps.*?</table>", html, flags=re.DOTALL)[0]
    known = [not row.endswith(f"{DASH}</td></tr>") for row in re.findall(r"<tr.*?</tr>", rows, flags=re.DOTALL)[1:]]
    assert known == [True, True, True, False]


def test_page_is_the_same_twice_and_free_of_what_names_would_do(campaign):
    made, _ = campaign
    html = render_report(campaign_report(made))
    assert html == render_report(campaign_report(made))
    assert "<script" not in html
    assert "no &lt;b&gt;consent" in html


def test_an_old_campaign_without_costs_by_chance():
    made = begun(costs=None, budget=None, criterion="random", notes=None)
    text = plain(page_of(made))
    assert "the order means nothing" in text
    assert "Can the list be relied on?" not in text
    assert "spent" not in text


def test_nothing_left_is_said():
    made = begun(budget=10.0)
    text = plain(page_of(made))
    assert "Of the budget 10 are left, and the cheapest of the 20 open measurements costs 40." in text


def test_wide_and_sparse_views_are_left_out_with_a_remedy():
    rng = np.random.default_rng(0)
    wide, narrow = rng.normal(size=(30, 201)), rng.normal(size=(30, 200))
    assert why_omitted(Views({"a": narrow, "b": narrow})) is None
    text = why_omitted(Views({"a": narrow, "b": wide, "text": sparse.csr_array(narrow)}))
    assert "text is sparse and b (201 columns) is wide" in text.reason
    assert "at most 200 dense columns" in text.remedy
    y = np.where(np.arange(30) < 20, np.arange(30) % 2, None)
    wide[::2] = np.nan
    made = Campaign(small_model("classification", 2), {"genes": wide, "blood": narrow[:, :2]}, y)
    page = page_of(made)
    assert "The list is left out: genes (201 columns) is wide" in plain(page)
    assert "Can the list be relied on?" not in page.html


def given_for(views, y):
    model = small_model("classification", 2).fit(views, y)
    tables = SimpleNamespace(to_tables=views.to_tables, labels=None)
    subject = make_subject(SimpleNamespace(model=model, manifest={}, record={"target": "outcome"}), tables)
    return subject, subject.given


def test_a_model_report_says_why_there_is_no_list(monkeypatch):
    tables, y = cohort()
    views = Views(tables)
    subject, given = given_for(views, y)
    assert not isinstance(given_ranking(subject, given), Omitted)
    monkeypatch.setattr(measurements, "_MOST_SAMPLES", N - 1)
    [section] = given_measure_sections(subject, given)
    assert "there are 40 samples, and with more than 39 this page would take too long" in section.paragraphs[0]
    assert "coview acquire" in section.paragraphs[1]
    subject, given = given_for(views[: N // 2], y[: N // 2])
    assert [part.key for part in given_measure_sections(subject, given)] == ["measure-next", "reliance"]


def test_other_data_than_those_of_the_fit_have_no_list():
    tables, y = cohort()
    subject, _ = given_for(Views(tables), y)
    _, other = given_for(Views(tables)[1:], y[1:])
    assert given_measure_sections(subject, other) == ()


def test_a_ranking_that_means_nothing_is_said_to():
    tables, y = cohort()
    views = Views(tables)
    weak = BayesianCoTrainingClassifier("linear", latent="consensus", hyperparameters="fixed", amplitude=1e-3)
    tables_only = SimpleNamespace(to_tables=views.to_tables, labels=None)
    saved = SimpleNamespace(model=weak.fit(views, y), manifest={}, record={})
    subject = make_subject(saved, tables_only)
    parts = given_measure_sections(subject, subject.given)
    page = Page(render_report(Report("Part", "Of a page.", sections=parts, footer=("End.",))))
    check_page(page)
    text = plain(page)
    assert "Why asking may be no better than measuring at random" in text
    assert "the ranking is noise" in text


def test_only_models_that_can_be_asked_are_diagnosed(monkeypatch):
    tables, y = cohort()
    views = Views(tables)
    model = small_model("classification", 2).fit(views, y)
    assert short_diagnosis(model, views, y) is not None
    assert short_diagnosis(object(), views, y) is None
    monkeypatch.setattr(measurements, "_MOST_SAMPLES", N - 1)
    assert isinstance(short_diagnosis(model, views, y), Omitted)
    text = plain(page_of(begun()))  # a campaign has its list all the same
    assert "measurements to make next" in text
    assert "This was not looked at: there are 40 samples, and with more than 39 this page would take too long." in text


def test_numbers_have_no_classes_to_settle():
    tables, _ = cohort()
    rng = np.random.default_rng(1)
    y = tables["blood"]["hb"].to_numpy() + 0.1 * rng.normal(size=N)
    y[1::3] = np.nan
    made = Campaign(small_model("regression", 2), tables, y, criterion="a_optimality", notes={"task": "regression"})
    best = made.ask().iloc[0]
    made.book(best["sample"], best["view"])
    made.tell(best["sample"], view=best["view"], values=[0.5])
    text = plain(page_of(made))
    assert "expected fall of variance" in text
    assert "1 measured view." in text
    assert "uncertainty about all classes" not in text
    assert "What to label next" not in text


@pytest.mark.parametrize(
    ("model", "criterion"),
    [
        (CoRegularizedLogisticRegression(), "expected_entropy"),
        (usual_methods("classification")["imputation-logistic-regression"], "random"),
    ],
)
def test_other_models_and_samples_without_ids(model, criterion):
    tables, y = cohort()
    blocks = {"blood": tables["blood"].to_numpy(), "scan": tables["scan"].reindex(tables["blood"].index).to_numpy()}
    known = [name is not None for name in y]
    made = Campaign(model, blocks, y, criterion=criterion)
    made.tell(1, view="scan", values=[0.5])
    text = plain(page_of(made))
    assert f"{sum(known)} of them labeled" in text
    assert ("Can the list be relied on?" in text) == (criterion != "random")
    assert "1 measured view." in text
