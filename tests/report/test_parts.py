"""Tables, pictures and the page, part by part."""

import json
import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from coview.report import Note, Picture, Report, Section, Table, render_report
from coview.report._figures_data import presence_map, presence_patterns, probability_ribbon, reasons
from coview.report._figures_scores import OURS_LOOK, calibration, difference_forest
from coview.report._stored import load_stored, stored_text
from coview.report._svg import LIGHT, canvas, inline_svg
from coview.report._tables import percent, signed


def frame():
    return pd.DataFrame({"name": ["a", "<b>"], "value": [0.12345, np.nan], "n": [3, 40]})


COLUMNS = {"name": ("method", ""), "value": ("loss", ".3f"), "n": ("n", "d")}


def test_table_formats_numbers_and_marks_what_is_missing():
    table = Table.from_frame(frame(), "Caption", COLUMNS, strong=[False, True])
    assert table.rows == (("a", "0.123", "3"), ("<b>", "\N{EN DASH}", "40"))
    assert table.numeric == (False, True, True)
    assert table.strong == {1}


def test_table_as_text_is_aligned():
    assert Table.from_frame(frame(), "Caption", COLUMNS).as_text() == [
        "  method   loss   n",
        "  a       0.123   3",
        "  <b>         \N{EN DASH}  40",
    ]


def test_signs_and_shares():
    assert signed(-0.0154) == "\N{MINUS SIGN}0.015"
    assert signed(0.2) == "+0.200"
    assert percent(0.906) == "91%"


def test_page_escapes_everything_that_is_text():
    evil = "<script>alert(1)</script>"
    table = Table.from_frame(pd.DataFrame({"name": [evil], "value": [1.0], "n": [1]}), evil, COLUMNS)
    picture = Picture(evil, evil, ("<svg></svg>",), table)
    section = Section("one", evil, (evil,), (table, picture, Note(evil, (evil,))))
    html = render_report(Report(evil, evil, ((evil, evil),), (section, section, section), (evil,)))
    assert "<script>" not in html
    assert html.count("&lt;script&gt;") > 12
    assert "<svg></svg>" in html


def test_folded_and_tall_tables():
    table = Table.from_frame(frame(), "Many rows", COLUMNS, folded=True, scroll=True)
    html = render_report(Report("T", "L", sections=(Section("one", "One", blocks=(table,)),)))
    assert "<details><summary>Many rows</summary>" in html
    assert 'class="scroller tall"' in html


def draw(key="k"):
    with canvas(320, 200) as (figure, (axes,)):
        axes.plot([0, 1], [0, 1], color=LIGHT["ours"])
        axes.set_xlabel("horizontal <axis>")
        return inline_svg(figure, key=key, title="Ti<tle", description="De&scription")


def test_svg_is_the_same_every_time_and_carries_no_date():
    svg = draw()
    assert svg == draw()
    assert not re.search(r"<metadata|<!--|\d{4}-\d\d-\d\d|xmlns", svg)
    assert svg.startswith('<svg class="picture" role="img" aria-labelledby="k-title k-desc" width="320" height="200"')
    assert '<title id="k-title">Ti&lt;tle</title>' in svg
    assert "De&amp;scription</desc>" in svg
    assert "horizontal &lt;axis&gt;" in svg
    assert f"stroke: var(--ours,{LIGHT['ours']})" in svg
    assert set(re.findall(r'id="([^"]*)"', svg)).isdisjoint(re.findall(r'id="([^"]*)"', draw("other")))


def test_settings_of_matplotlib_are_untouched():
    before = dict(mpl.rcParams)
    draw()
    assert dict(mpl.rcParams) == before


def test_patterns_are_counted_most_frequent_first():
    presence = np.array([[1, 1], [1, 0], [1, 1], [0, 1], [1, 1], [1, 0]], dtype=bool)
    table = presence_patterns(presence, ["ct", "mri"])
    assert table[["ct", "mri"]].to_numpy().tolist() == [[True, True], [True, False], [False, True]]
    assert table["n"].tolist() == [3, 2, 1]
    assert table["first"].tolist() == [0, 3, 5]


def test_presence_map_names_views_and_counts():
    presence = np.array([[1, 1]] * 6 + [[1, 0]] * 4, dtype=bool)
    svg = presence_map(
        presence_patterns(presence, ["ct", "mri"]), ["ct", "mri"], plural="scans", key="p", description="d"
    )
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert {"ct", "mri", "6", "4", "observed", "missing", "10"} <= set(texts)
    assert svg.count(f"fill: var(--missing,{LIGHT['missing']})") == 2  # the missing block and its legend


def test_ribbon_marks_each_error_once():
    samples = pd.DataFrame({"yes": [0.9, 0.8, 0.6], "no": [0.1, 0.2, 0.4], "right": [True, False, False]})
    svg = probability_ribbon(samples, {"yes": "class-1", "no": "class-2"}, title="t", key="r", description="d")
    crosses = re.findall(r"<use [^>]*--wrong", svg)
    assert len(crosses) == 2


def differences(means):
    return pd.DataFrame(
        {"method": [f"m{i}" for i in range(len(means))], "mean": means, "standard_error": 0.01, "n_draws": 5}
    )


def test_difference_beyond_the_limit_is_written_as_a_number():
    svg = difference_forest(differences([0.1, 0.87]), None, title="t", key="f", description="d", limit=0.5)
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert "0.87" in texts
    assert "0.10" not in texts
    assert {"m0", "m1"} <= set(texts)


def test_stored_rows_give_the_order_of_the_forest():
    stored = differences([0.1, 0.2, 0.3]).iloc[[2, 0, 1]]
    svg = difference_forest(differences([0.1, 0.2]), stored, title="t", key="f", description="d", limit=0.5)
    assert re.findall(r">(m\d)</text>", svg) == ["m2", "m0", "m1"]
    assert "5 draws, stored" in svg
    assert "5 draws, made now" in svg


def test_calibration_shows_the_count_of_the_fullest_bin():
    table = pd.DataFrame(
        {"low": [0.5, 0.9], "high": [0.6, 1.0], "n": [7, 23], "confidence": [0.55, 0.97], "accuracy": [0.6, 0.9],
         "accuracy_low": [0.2, 0.7], "accuracy_high": [0.9, 1.0]}
    )  # fmt: skip
    assert "23" in re.findall(
        r"<text[^>]*>([^<]*)</text>", calibration(table, OURS_LOOK, title="t", key="c", description="d")
    )


def test_stored_table_round_trip():
    summary = differences([0.123456789, 0.2]).assign(metric="log_loss")
    content = json.loads(stored_text({"data": (summary, summary)}, seed=3, repeats=20))
    assert content["seed"] == 3
    assert content["exhibits"]["data"]["summary"]["mean"] == [0.12346, 0.2]
    assert load_stored("no such data") is None


@pytest.mark.parametrize("name", ["breast_tcga", "heart_disease"])
def test_stored_comparison_is_complete(name):
    table = load_stored(name)
    assert table.n_draws == 20
    counts = {"breast_tcga": {11, 22, 66}, "heart_disease": {46, 92}}[name]
    losses = table.summary.query("metric == 'log_loss' and group == 'all'")
    assert set(losses["n_labeled"]) == counts
    assert (losses["n_draws"] == 20).all()
    for count in counts:
        methods = set(losses.loc[losses["n_labeled"] == count, "method"])
        assert {"coview", "printed model", "KNN imputation + 20 PCs + LR", "iterative imputation + LR",
                "histogram gradient boosting", "stacking over views"} <= methods  # fmt: skip
        printed = losses.query("method == 'printed model' and n_labeled == @count")["mean"].iloc[0]
        ours = losses.query("method == 'coview' and n_labeled == @count")["mean"].iloc[0]
        assert ours < printed - 0.2


def test_claims_of_the_page_hold_in_the_stored_comparison():
    breast, heart = load_stored("breast_tcga"), load_stored("heart_disease")

    def best_gap(table, n_labeled):
        rows = table.differences.query("metric == 'log_loss' and group == 'all' and method != 'printed model'")
        return rows[rows["n_labeled"] == n_labeled].sort_values("mean").iloc[0]

    for count in (11, 22):
        assert best_gap(breast, count)["low"] > 0  # ahead of every other way by more than two standard errors
    for count in (46, 92):
        row = best_gap(heart, count)
        assert row["high"] > 0
        assert row["mean"] < 0.06  # a small gain at most
    plain = heart.differences.query("metric == 'log_loss' and group == 'all' and method == 'mean imputation + LR'")
    assert (plain["low"] > 0.05).all()
    printed = breast.summary.query("metric == 'log_loss' and group == 'all' and method == 'printed model'")
    assert (printed["mean"] > 0.95).all()


def test_every_part_of_a_reason_is_drawn():
    """Six views, the part of all together and the constant: the most there can be."""
    names = [f"part{i}" for i in range(8)]
    bars = pd.DataFrame(np.arange(1.0, 17.0).reshape(2, 8), index=["a", "b"], columns=names)
    svg = reasons(bars, {"a": "A", "b": "B"}, title="Reasons", key="r", description="Bars.", axis="push")
    assert all(f">{name}<" in svg for name in names)
    with pytest.raises(ValueError, match="shorter"):
        reasons(bars.assign(more=1.0), {"a": "A", "b": "B"}, title="R", key="r", description="Bars.", axis="push")
