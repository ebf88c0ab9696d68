"""The demonstration on small jobs: its folder, its lines, its page, its files."""

import re
from html import escape
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from coview.report._demo_folder import MARKER, replace_folder
from coview.report._exhibits import OURS, PRINTED, make_exhibit, methods_for
from coview.report._lines import comparison_lines
from coview.report._live import cleveland, live_curves
from coview.report._sections_comparison import verdict
from coview.report._sections_worth import reasons_note, worth_verdict
from coview.report._stored_curves import load_curves
from coview.report._svg import PALETTE
from coview.report.demo import run_demo

from .page import Page
from .small_jobs import tiny_breast, tiny_cleveland, tiny_model, use_small_jobs


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One run of the demonstration on small jobs: its folder, its lines and its result."""
    with pytest.MonkeyPatch.context() as patch:
        use_small_jobs(patch)
        folder = tmp_path_factory.mktemp("demo") / "out"
        lines = []
        result = run_demo(folder, repeats=2, seed=0, echo=lines.append)
    return folder, "\n".join(lines), result


@pytest.fixture(scope="module")
def page(made):
    html = (made[0] / "report.html").read_text(encoding="utf-8")
    return html, Page(html)


def test_folder_holds_page_predictions_and_marker(made):
    assert sorted(path.name for path in made[0].iterdir()) == [
        MARKER,
        "measure-next.csv",
        "predictions-breast_tcga.csv",
        "predictions-heart_disease.csv",
        "report.html",
    ]
    assert [path.name for path in made[0].parent.iterdir()] == ["out"]


def test_same_seed_gives_the_same_bytes_and_replaces_the_folder(made, monkeypatch):
    folder, _, _ = made
    use_small_jobs(monkeypatch)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "stale.txt").write_text("from before")
    run_demo(folder, repeats=2, seed=0, echo=lambda line: None)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in folder.parent.iterdir()] == ["out"]


def test_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match=r"was not written by coview demo.*left as it is"):
        run_demo(tmp_path, echo=lambda line: None)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_interrupted_writing_leaves_the_old_folder(tmp_path):
    folder = tmp_path / "out"
    replace_folder(folder, {"report.html": "the old page", MARKER: ""})
    with pytest.raises(TypeError):
        replace_folder(folder, {"report.html": "the new page", "predictions.csv": None})
    assert (folder / "report.html").read_text() == "the old page"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_predictions_are_complete_distributions_that_carry_their_verdict(made):
    table = pd.read_csv(made[0] / "predictions-breast_tcga.csv")
    job = tiny_breast()
    assert len(table) == 48 - 9
    assert table["sample"].is_unique
    classes = ["Basal", "Her2", "LumA"]
    np.testing.assert_allclose(table[classes].sum(axis=1), 1, atol=3e-6)
    assert (table["predicted"] == table[classes].idxmax(axis=1)).all()
    assert (table["withheld"] == job.target.loc[table["sample"]].to_numpy()).all()
    assert (table["right"] == (table["withheld"] == table["predicted"])).all()
    without = table["views"] == "mrna mirna"
    assert (
        without == ~pd.Series(job.views.presence[:, 2], index=job.views.index).loc[table["sample"]].to_numpy()
    ).all()


@pytest.fixture(scope="module")
def exhibit():
    with pytest.MonkeyPatch.context() as patch:
        use_small_jobs(patch)
        return make_exhibit(tiny_breast(), repeats=2, seed=0, full=False)


def test_no_label_of_the_predicted_samples_reaches_the_shown_fit(exhibit):
    job = exhibit.job
    hidden = np.setdiff1d(np.arange(48), exhibit.labeled)
    swapped = job.target.copy()
    swapped.iloc[hidden] = "LumA"
    again = tiny_model().fit(job.views, [swapped.iloc[i] if i in exhibit.labeled else None for i in range(48)])
    np.testing.assert_allclose(again.label_distributions_, exhibit.model.label_distributions_)


def test_result_holds_means_and_differences(made):
    result = made[2]
    rows = pd.DataFrame(result["exhibits"]["breast_tcga"]["summary"])
    assert set(rows["n_labeled"]) == {9, 18}
    assert {OURS, PRINTED, "mean imputation + LR", "mrna alone + LR"} <= set(rows["method"])
    assert OURS not in set(pd.DataFrame(result["exhibits"]["heart_disease"]["differences"])["method"])


def test_printed_lines_are_plain_and_short(made):
    text = made[1]
    assert "\x1b" not in text
    assert max(len(line) for line in text.splitlines()) <= 132
    assert "1. Breast tumors (breast_tcga): 48 tumors, 3 views, 9 labels" in text
    assert re.search(r"   protein +4 +32 +16\n", text)
    assert re.search(r"predicted: 39 tumors without a label, \d+ right \(\d+\.\d%\)", text)


def test_full_comparison_has_the_slow_baselines(monkeypatch):
    use_small_jobs(monkeypatch)
    job = tiny_breast()
    short, full = (set(methods_for(job, full=flag)) for flag in (False, True))
    assert full - short == set(job.slow) & full
    assert {"iterative imputation + LR", "histogram gradient boosting", "stacking over views"} <= full


def test_page_has_no_external_address(page):
    html, parsed = page
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", html)
    assert not [tag for tag, _, _ in parsed.elements if tag in {"script", "link", "img", "iframe"}]


def test_headings_are_in_order(page):
    levels = [level for level, _ in page[1].headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert 3 in levels


def test_ids_are_unique_and_every_reference_resolves(page):
    html, parsed = page
    ids = [attrs["id"] for _, attrs, _ in parsed.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', html))
    assert {a or b for a, b in targets} <= set(ids)
    labels = [attrs["aria-labelledby"].split() for _, attrs, _ in parsed.elements if "aria-labelledby" in attrs]
    assert labels
    assert {name for pair in labels for name in pair} <= set(ids)


def test_every_picture_has_a_text_alternative_a_reading_and_a_table(page):
    html, _ = page
    figures = re.findall(r"<figure.*?</figure>", html, flags=re.DOTALL)
    assert len(figures) == 25
    for figure in figures:
        assert re.search(r"<figcaption><b>.+?\.</b> .{20,}?</figcaption>", figure, flags=re.DOTALL) or "?</b>" in figure
        assert figure.count("<svg ") == figure.count("<desc ") == figure.count("<title ") > 0
        assert figure.count('role="img"') == figure.count("<svg ")
        assert re.search(r"<details><summary>.*<table>.*</details>", figure, flags=re.DOTALL)
        assert len(re.findall("<td", figure)) > 1


def test_every_color_follows_the_theme(page):
    html = page[0]
    svg = "".join(re.findall(r"<svg .*?</svg>", html, flags=re.DOTALL))
    assert set(re.findall(r"var\(--([a-z0-9-]+)", svg)) <= {*PALETTE, "font"}
    assert not re.search(r"(fill|stroke): (#|rgb|black)", svg)
    for name in PALETTE:
        assert html.count(f"--{name}:") == 2, name


def relative_luminance(color):
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1])
def test_contrast_meets_wcag(theme):
    paper = relative_luminance(PALETTE["paper"][theme])

    def contrast(name):
        other = relative_luminance(PALETTE[name][theme])
        return (max(paper, other) + 0.05) / (min(paper, other) + 0.05)

    assert min(contrast(name) for name in ("ink", "muted", "ours")) > 4.5
    marks = ("ours", "baseline", "printed", "class-1", "class-2", "wrong")
    assert min(contrast(name) for name in marks) > 3
    assert contrast("class-3") > 2.9


def test_verdict_needs_two_standard_errors():
    assert verdict(pd.Series({"low": 0.01, "high": 0.2})) == "ahead"
    assert verdict(pd.Series({"low": -0.01, "high": 0.2})) == "level"
    assert verdict(pd.Series({"low": -0.2, "high": -0.01})) == "behind"


def test_best_other_way_is_never_ours_or_the_printed_model(exhibit):
    losses = exhibit.summary.query("metric == 'log_loss' and group == 'all' and n_labeled == 9").set_index("method")
    best = exhibit.best_baseline(9)
    assert losses["mean"].drop([OURS, PRINTED]).idxmin() == best
    gap = losses.loc[best, "mean"] - losses.loc[OURS, "mean"]
    assert exhibit.difference(best, 9)["mean"] == pytest.approx(gap)
    assert f"({best})" in "\n".join(comparison_lines(exhibit))


def test_measurements_are_ranked_within_the_budget(made):
    folder, text, result = made
    table = pd.read_csv(folder / "measure-next.csv")
    assert set(table.columns) == {"sample", "view", "utility", "cost", "utility_per_cost"}
    assert table["utility"].is_monotonic_decreasing
    assert set(table["view"]) == {"thallium"}
    best = pd.DataFrame(result["measure_next"])
    assert best["sample"].is_unique
    assert (best["utility"] > 0).all()
    assert best["cumulative_cost"].tolist() == pytest.approx(best["cost"].cumsum().tolist())
    assert best["cumulative_cost"].max() <= 1000
    assert "no medical advice" in text


def test_page_says_what_costs_are_and_whether_asking_is_worth_it(page):
    html = page[0]
    for words in (
        "Turney (1995)",
        "not re-checked",
        "no medical advice",
        "Is asking worth it?",
        "coview reproduce active-sensing",
    ):
        assert words in html


def test_verdict_is_that_of_the_stored_gains():
    stored = load_curves()
    sentences = worth_verdict(stored)
    ours = stored.gains[(stored.gains["criterion"] == "expected entropy") & (stored.gains["along"] == "n_measured")]
    for _, row in ours.iterrows():
        score = {"auc": "AUC", "log_score": "log score"}[row["score"]]
        said = f"{row['problem']} ({score})" in sentences[0]
        assert said == (row["p"] < 0.05)
    assert not any(
        "ahead" in sentence for sentence in sentences if sentence.startswith(("Mutual", "Variance", "Random"))
    )


def test_where_asking_was_not_ahead_the_page_says_why(page):
    html, _ = page
    stored = load_curves()
    [note] = reasons_note(stored)
    along = stored.gains[(stored.gains["along"] == "n_measured") & (stored.gains["criterion"] == "expected entropy")]
    lost = [name for name, part in along.groupby("problem") if not ((part["p"] < 0.05) & (part["gain"] > 0)).all()]
    assert lost == ["Cleveland, 100 labels", "Cleveland, 30 labels"]
    for problem in lost:
        said = [item for item in note.items if item.startswith(f"{problem}: ")]
        assert len(said) >= 2
        words = stored.diagnoses[problem]["words"]
        weak = {line.split(": ")[0]: count for line, count in words if "predicted no better" in line}
        [item] = [item for item in said if "predicted no better" in item]
        assert set(item.split(": ")[1].split(", ")) == set(weak)
        assert f"({min(weak.values())}" in item
        assert "nats per label)" not in item
    assert not any(item.startswith("mfeat") for item in note.items)
    assert all(escape(item, quote=False) in html.replace("&#39;", "'") for item in note.items)


def test_a_repeat_is_run_while_the_page_is_made(made, page):
    html, text = page[0], made[1]
    problem = tiny_cleveland()
    curves = live_curves(problem, tiny_model(), 0)
    assert curves.groupby("criterion")["at"].max().to_dict() == {"random": 6, "expected entropy, few candidates": 6}
    last = curves.groupby("criterion")["auc"].last()
    assert f"expected entropy, few candidates {last['expected entropy, few candidates']:.3f}" in html
    assert "One repeat, run just now." in html
    assert re.search(rf"run just now \(Cleveland, 30 labels\), AUC: random \S+ to {last['random']:.3f}", text)
    assert "can the list be relied on?" in text


def test_the_live_problem_is_that_of_the_stored_curves():
    problem = cleveland()
    assert problem.views.presence.all()
    assert len(problem.views) == len(problem.target) == 297
    assert problem.name in load_curves().problems
    assert problem.target.mean() == pytest.approx(137 / 297)
