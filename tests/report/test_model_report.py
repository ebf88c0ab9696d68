"""Reports on fitted models: alone, with data, for every kind of model and for names that do harm."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from coview import Views
from coview.model_selection import usual_methods
from coview.persistence import ModelFileError, SavedModel
from coview.report import Report, model_report, render_report
from coview.report._model_report import _short_section
from coview.report._sections_answers import answers_section, labels_section
from coview.report._sections_classes import class_quality_section
from coview.report._sections_insight import features_section, map_section
from coview.report._sections_numbers import number_quality_section
from coview.report._sections_trust import trust_section
from coview.report._subject import make_subject
from coview.report._svg import PALETTE

from .model_jobs import EVIL, OURS, SIMPLE, drawn, drawn_numbers, saved_model, small_model, table_set
from .page import Page, check_page

VIEWS = {"clinical": ["age", "bmi"], "genes": [*"abcd"], "image": ["texture", "edge", "size"]}
FINDING = {
    "code": "constant", "level": "warning", "message": "Column 'bmi' never changes.", "advice": "Drop it.",
    "view": "clinical", "columns": ["bmi"], "ids": ["s001"], "count": 1,
}  # fmt: skip


def page_of(saved, data=None):
    page = Page(render_report(model_report(saved, data)))
    check_page(page)
    return page


def part_of(saved, data, *sections):
    """Only some sections as a page: pictures take most of the time."""
    subject = make_subject(saved, data)
    made = [section(subject, subject.given) for section in sections]
    page = Page(render_report(Report("Part", "Of a page.", sections=tuple(made), footer=("End.",))))
    check_page(page)
    return page


def titles(page):
    return [title for level, title in page.headings if level == 2]


def table_rows(page, caption):
    """Cells of the table whose caption begins so."""
    table = re.search(rf"<caption>{caption}.*?</table>", page.html, flags=re.DOTALL)[0]
    rows = re.findall(r"<tr.*?</tr>", table, flags=re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


@pytest.fixture(scope="module")
def data():
    return drawn(VIEWS, ["high", "low", "mid"])


@pytest.fixture(scope="module")
def saved(data):
    guesses = {"genes.csv": {"separator": ";", "missing": "NA (12)"}}
    return saved_model(data, findings=[FINDING], guesses=guesses, n_splits=3)


@pytest.fixture(scope="module")
def alone(saved):
    return page_of(saved)


@pytest.fixture(scope="module")
def whole(saved, data):
    return page_of(saved, data)


def test_sections_without_and_with_data(alone, whole):
    assert titles(alone) == [
        "In short", "How well it predicts labels it has not seen", "Which views to trust",
        "What the model was trained on", "What was noticed in the data", "How the tables became numbers",
        "How it was made",
    ]  # fmt: skip
    assert titles(whole)[3:10] == [
        "Predictions for the data given", "Against the labels of the data given", "Who is most uncertain, and why",
        "What to measure next", "Can the list be relied on?", "Where the samples lie", "Which features stand behind each view",
    ]  # fmt: skip


def test_the_same_model_and_data_give_the_same_bytes(saved, data, whole):
    again = part_of(saved, data, answers_section, map_section, features_section).html
    sections = re.findall(r"<section.*?</section>", again, flags=re.DOTALL)
    assert len(sections) == 3
    assert all(section in whole.html for section in sections)
    assert "least sure, of those whose label was not in training" in whole.html


def test_colors_follow_the_theme(whole):
    svg = "".join(re.findall(r"<svg .*?</svg>", whole.html, flags=re.DOTALL))
    assert set(re.findall(r"var\(--([a-z0-9-]+)", svg)) <= {*PALETTE, "font"}
    assert not re.search(r"(fill|stroke): (#|rgb|black)", svg)


def test_scores_of_the_table_are_those_of_the_evaluation(saved, alone):
    rows = {row[0]: row for row in table_rows(alone, "Scores of 36 left-out samples")}
    assert list(rows)[1:] == [OURS, SIMPLE["classification"], "majority class", *(f"{view} alone" for view in VIEWS)]
    scores = pd.DataFrame(saved.record["evaluation"]["scores"]).set_index(["method", "metric"])
    for column, metric in ((1, "accuracy"), (2, "log_loss"), (3, "auc")):
        mean, se = scores.loc[(OURS, metric), ["mean", "se"]]
        assert rows[OURS][column] == f"{mean:.3f} ± {se:.3f}"


def test_confusion_counts_every_scored_sample_once(saved, alone):
    rows = table_rows(alone, "Counts, and shares of each true class")[1:]
    counts = np.array([[int(cell.split(" ")[0]) for cell in row[1:-1]] for row in rows])
    assert counts.sum() == len(saved.record["evaluation"]["samples"]) == 36
    evaluation = saved.record["evaluation"]
    predicted = np.array(evaluation["classes"])[np.argmax(evaluation["predictions"][OURS], axis=1)]
    assert np.trace(counts) == (predicted == np.array(evaluation["y"])).sum()


def test_record_is_told(alone):
    html = alone.html
    for words in ("Column &#39;bmi&#39; never changes. Samples: s001. Drop it.", "NA (12)", "coview fit data --target",
                  "genes.csv", "numpy, at the fit", "36 of 48 (75%)"):  # fmt: skip
        assert words in html
    assert "1 warning about the training data" in html
    assert table_rows(alone, "The views")[1:] == [
        ["clinical", "clinical.csv", "2", "48", "0"],
        ["genes", "genes.csv", "4", "48", "0"],
        ["image", "image.csv", "3", "32", "16"],
    ]
    assert table_rows(alone, "Every pattern")[1:] == [
        ["32", table_rows(alone, "Every pattern")[1][1], "yes", "yes", "yes"],
        ["16", table_rows(alone, "Every pattern")[2][1], "yes", "yes", "missing"],
    ]


def test_a_record_of_another_schema_is_refused(saved):
    with pytest.raises(ModelFileError, match=r"schema version 2, and this coview reads version 1\. Update coview"):
        model_report(replace(saved, record={**saved.record, "schema_version": 2}))


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("views", 5), ("views", {"a": 5}), ("views", {"a": {}}), ("patterns", {"a": 1}), ("patterns", [{"views": 5}]),
        ("findings", [5]), ("findings", [{"message": 5}]), ("guesses", {"a": "b"}), ("evaluation", 5), ("evaluation", {"y": 1}),
        ("verdict", "useless"), ("versions", [1]), ("class_counts", {"a": "b"}), ("task", "tagging"), ("n_samples", "many"),
        ("target", 5), ("method", "another"),
    ],
)  # fmt: skip
def test_a_record_of_another_shape_is_damaged(saved, part, value):
    named = "evaluation" if part == "method" else part
    with pytest.raises(ModelFileError, match=rf"record in the model's file is damaged: '{named}' is not what"):
        make_subject(replace(saved, record={**saved.record, part: value}), None)


def test_half_characters_do_not_stop_the_page(saved):
    html = render_report(model_report(replace(saved, record={"target": "a\ud800", "verdict": ["\udfff"]})))
    assert "Predicting a?" in html
    assert html.encode("utf-8")


def test_verdict_is_colored_by_what_it_says(saved):
    def tone(sentences):
        subject = make_subject(replace(saved, record={**saved.record, "verdict": sentences}), None)
        html = render_report(Report("Part", "Of a page.", sections=(_short_section(subject),)))
        return re.search(r'<aside class="note (\w+)">\s*<p class="note-title">Verdict', html)[1]

    assert tone(["It predicts better.", "It is neither clearly better nor clearly worse than x."]) == "good"
    assert tone(["This model is useless: no better."]) == "bad"
    assert tone(["It predicts better.", "It is worse than x: take that."]) == "bad"


def test_predictions_are_those_of_the_model(saved, data, whole):
    rows = {row[0]: row for row in table_rows(whole, "All 48 predictions")[1:]}
    proba = saved.model.predict_proba(data)
    classes = list(saved.model.classes_)
    for i, sample in enumerate(data.tables.ids):
        row = rows[sample]
        assert row[1] == classes[proba[i].argmax()]
        assert row[2:6] == [f"{p:.3f}" for p in (proba[i].max(), *proba[i])]
    assert rows["s001"][6] == "clinical genes"


def test_labels_that_were_in_training_are_not_scored(whole):
    assert "None of these labels is new to the model" in whole.html
    assert "36 labels were in training and are not scored here." in whole.html


def test_new_labels_are_scored_apart(saved, data):
    rows = np.arange(48)
    fresh = drawn(VIEWS, ["high", "low", "mid"], labeled=20, ids=[f"new{i}" for i in rows])
    labels = fresh.labels.copy()
    known = labels.dropna().index
    labels[known[0]] = "never seen"
    page = part_of(saved, replace(fresh, labels=labels), labels_section)
    assert "Scored on 19 samples whose label was not in training." in page.html
    assert "1 label names a class that the model does not know." in page.html
    scores = {row[0]: row for row in table_rows(page, "Scores on these labels")}
    proba = pd.DataFrame(saved.model.predict_proba(fresh), index=fresh.tables.ids)
    predicted = saved.model.classes_[proba.loc[known[1:]].to_numpy().argmax(axis=1)]
    assert scores["these data"][1] == f"{(predicted == labels[known[1:]]).mean():.3f}"
    assert "cross-validation" in scores


def test_samples_without_a_view_and_unknown_columns_are_named(saved, data):
    frames = {"clinical": pd.DataFrame({"bmi": [1.0, np.nan], "age": [2.0, np.nan], "zodiac": 1.0}, index=["u", "v"])}
    given = table_set(frames, pd.Series([None, None], index=["u", "v"], dtype=object))
    page = part_of(saved, replace(given, labels=None), answers_section)
    assert "1 sample has no view that the model knows and no prediction: v." in page.html
    assert "zodiac" in page.html
    subject = make_subject(saved, replace(given, labels=None))
    assert labels_section(subject, subject.given) is None
    assert table_rows(page, "All 1 prediction")[1][0] == "u"


def test_views_that_cannot_be_told_apart_are_said_so(data):
    alike = {"kernels": "linear", "center": True, "scale": True, "n_components": 3, "amplitude": 4.0}
    estimator = small_model("classification", 3).set_params(settings=[{**alike, "view_variances": 0.1}])
    subject = make_subject(saved_model(data, estimator=estimator, n_splits=0), None)
    section = trust_section(subject)
    assert section.blocks == ()
    assert "Every view has the same share" in section.paragraphs[0]


def test_two_classes_are_held_against_each_other(binary):
    subject = make_subject(binary[0], None)
    titles = [re.findall(r"<title[^>]*>(.*?)</title>", svg) for svg in _curve_panels(subject)]
    assert titles == [["yes against no"]]


def _curve_panels(subject):
    section = class_quality_section(subject, subject.evaluation)
    return next(block.panels for block in section.blocks if block.title == "ROC curves.")


def test_a_baseline_has_neither_trust_nor_reasons(data):
    method = SIMPLE["classification"]
    saved = saved_model(data, method=method, estimator=usual_methods("classification")[method], n_splits=0)
    page = page_of(saved, data)
    found = titles(page)
    assert "Predictions for the data given" in found
    assert not {"Which views to trust", "Who is most uncertain, and why", "Where the samples lie"} & set(found)


def test_without_cross_validation_the_page_says_so(data):
    saved = saved_model(data, n_splits=0)
    page = page_of(saved)
    assert "How well it predicts" in titles(page)
    assert "fitted without cross-validation" in page.html
    assert "does not say which samples were in training" in part_of(saved, data, labels_section).html


def test_a_bare_estimator_without_a_record(data):
    views = Views(data)
    y = data.labels.to_numpy(dtype=object)
    model = small_model("classification", 3).fit(views, y)
    page = page_of(SavedModel(model, {}, {}), replace(data, labels=None))
    assert page.headings[0][1] == "Predicting the label"
    assert "Where the samples lie" in titles(page)


@pytest.fixture(scope="module")
def numbers():
    data = drawn_numbers()
    return saved_model(data, "regression"), data


def test_numbers_are_reported_with_intervals(numbers):
    saved, data = numbers
    page = page_of(saved, data)
    assert "Confusion" not in page.html
    evaluation = saved.record["evaluation"]
    rows = {row[0]: row for row in table_rows(page, "Largest errors first")[1:]}
    for sample, observed, (mean, _) in zip(
        evaluation["samples"], evaluation["y"], evaluation["predictions"][OURS], strict=True
    ):
        assert rows[sample][1:3] == [f"{observed:.4g}", f"{mean:.4g}"]
    coverage = table_rows(page, "Intervals and targets")
    assert [row[0] for row in coverage[1:]] == ["50%", "80%", "90%", "95%"]
    predictions = table_rows(page, "All 50 predictions")
    assert predictions[0][:5] == ["sample", "predicted", "standard deviation", "90 % from", "to"]
    assert "a bar to the left lowers it" in page.html


def test_numbers_without_a_spread_have_no_coverage(numbers):
    saved, _ = numbers
    record = saved.record
    predictions = {m: [[p[0], None] for p in v] for m, v in record["evaluation"]["predictions"].items()}
    record = {**record, "evaluation": {**record["evaluation"], "predictions": predictions}}
    subject = make_subject(replace(saved, record=record), None)
    page = Page(render_report(Report("P", "L", sections=(number_quality_section(subject, subject.evaluation),))))
    assert "Coverage of the intervals" not in page.html
    assert "Predicted against observed" in page.html


@pytest.fixture(scope="module")
def binary():
    data = drawn({"genes": [*"abcd"]}, ["no", "yes"])
    return saved_model(data), data


def test_one_view_is_enough(binary):
    page = page_of(*binary)
    assert "Which views to trust" not in titles(page)
    assert "1 view (genes)" in page.html


@pytest.fixture(scope="module")
def crowded():
    names = {f"view number {j} with a name longer than anybody should give": [*"ab"] for j in range(8)}
    rng = np.random.default_rng(0)
    data = drawn(names, [f"class {k:02d}" for k in range(8)], n=80, labeled=64)
    frames = {t.name: t.values[rng.random(t.n_rows) < 0.6] for t in data.tables.tables}
    frames = {name: frame.set_axis(data.tables.ids[: len(frame)]) for name, frame in frames.items()}
    kept = read_ids(frames)
    return replace(table_set(frames, data.labels.reindex(kept)), target="kind")


def read_ids(frames):
    return pd.Index(dict.fromkeys(sample for frame in frames.values() for sample in frame.index))


def test_many_classes_views_and_patterns(crowded):
    method = SIMPLE["classification"]
    saved = saved_model(crowded, estimator=small_model("classification", 8), method=OURS, n_splits=2)
    page = page_of(saved, crowded)
    assert "hardest to rank" in page.html
    assert "other views" in page.html
    assert method in page.html
    pictures = sum(len(svg) for svg in re.findall(r"<svg .*?</svg>", page.html, flags=re.DOTALL))
    assert pictures < 1_500_000


def test_names_that_do_harm_are_text():
    ids = [f"{EVIL}{i}" if i % 2 else f'מטופל 😀 "{i}" & $x^2$' for i in range(48)]
    data = drawn({EVIL: [EVIL, "😀"], 'a & "b"': ["$\\alpha$", "רוחב"]}, [EVIL, "רע"], ids=ids, target=EVIL)
    finding = {**FINDING, "message": EVIL, "advice": EVIL, "ids": [EVIL]}
    saved = saved_model(data, findings=[finding], guesses={EVIL: {EVIL: EVIL}})
    record = {**saved.record, "command": EVIL, "method": EVIL, "versions": {EVIL: EVIL}, "verdict": [EVIL]}
    record["evaluation"] = {
        **record["evaluation"],
        "predictions": {EVIL if m == OURS else m: v for m, v in record["evaluation"]["predictions"].items()},
        "scores": [{**row, "method": row["method"].replace(OURS, EVIL)} for row in record["evaluation"]["scores"]],
    }
    page = page_of(replace(saved, record=record), data)
    assert "<script" not in page.html
    assert page.html.count("&lt;script&gt;") > 50
    assert "$x^2$" in page.html
    assert "😀" in page.html


def test_a_class_that_the_data_lack_changes_nothing(data):
    classes = small_model("classification", 3).set_params(classes=["absent", "high", "low", "mid"])
    saved = saved_model(data, estimator=classes, n_splits=0)
    assert "1 class never" in part_of(saved, data, answers_section).html


def test_long_lists_are_cut_and_say_so(saved):
    n = 2300
    rng = np.random.default_rng(0)
    ids = [f"n{i}" for i in range(n)]
    given = table_set({"clinical": pd.DataFrame(rng.normal(size=(n, 2)), index=ids, columns=["age", "bmi"])},
                      pd.Series([None] * n, index=ids, dtype=object))  # fmt: skip
    page = part_of(saved, replace(given, labels=None), answers_section, map_section)
    assert "The first 2,000 of 2,300 predictions, surest first; coview predict writes all" in page.html
    assert len(table_rows(page, "The first 2,000")) == 2001
    assert "1,200 of 2,300 samples are drawn." in page.html
