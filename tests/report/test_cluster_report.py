"""The page about clusters: what it says of known data, and what it leaves out where there is nothing to say."""

import re

import numpy as np
import pandas as pd
import pytest

from coview import Views
from coview.cluster import (
    BregmanAgglomerativeClustering,
    HybridHierarchicalClustering,
    MultiRepresentedDBSCAN,
    MultiViewKMeans,
    eigengaps,
)
from coview.report import cluster_report, render_report
from coview.report._figures_clusters import view_looks

from .model_jobs import EVIL
from .page import Page, check_page

N = 40
COARSE, FINE = np.arange(N) % 2, np.arange(N) // 2 % 2


def two_levels(names=("song", "color")):
    """The first view tells two genera apart, the second two species in each; every fifth has no color."""
    rng = np.random.default_rng(0)
    song = 30.0 * COARSE[:, None] + rng.normal(size=(N, 3))
    color = 8.0 * FINE[:, None] + rng.normal(size=(N, 2))
    color[::5] = np.nan
    return Views(dict(zip(names, (song, color), strict=True)))


def alone(views, n_clusters=2):
    """Clusters by each view, as a caller finds them."""
    found = {}
    for name in views.names:
        rows = views.rows(name)
        labels = np.full(len(views), None, dtype=object)
        labels[rows] = MultiViewKMeans(n_clusters, random_state=0).fit(views[rows].select([name])).labels_
        found[name] = labels
    return found


def page_of(model, views, **options):
    page = Page(render_report(cluster_report(model, views, **options)))
    check_page(page)
    return page


def titles(page):
    return [title for level, title in page.headings if level == 2]


def rows_of(page, caption):
    table = re.search(rf"<caption>{caption}.*?</table>", page.html, flags=re.DOTALL)[0]
    rows = re.findall(r"<tr.*?</tr>", table, flags=re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


def test_everything_at_once_and_the_numbers_are_right():
    views = two_levels()
    model = MultiViewKMeans(2, random_state=0).fit(views)
    classes = np.where(COARSE == 1, "finch", "tit").astype(object)
    classes[:4] = None
    gaps = eigengaps(views, random_state=0)
    page = page_of(
        model, views, method="k-means", gaps=gaps, alone=alone(views), classes=classes, target="genus",
        notes=["One view is odd."], made=[("seed", "0")],
    )  # fmt: skip
    assert page.headings[0][1] == "2 clusters of 40 samples"
    assert titles(page) == [
        "In short", "The clusters", "Against genus", "Where the samples lie", "How far the views agree",
        "Why so many clusters", "Which samples have which views", "How it was made",
    ]  # fmt: skip
    sizes = {row[0]: row for row in rows_of(page, "Clusters, and")[1:]}
    for c in (0, 1):
        members = model.labels_ == c
        has = views.presence[members, 1].mean()
        assert sizes[f"cluster {c}"][1:] == [str(members.sum()), f"{members.mean():.0%}", "100%", f"{has:.0%}"]
    counts = rows_of(page, "Samples by cluster and genus")
    assert sum(int(cell) for row in counts[1:] for cell in row[1:]) == N - 4
    agreement = {row[0]: row[1:] for row in rows_of(page, "Adjusted Rand index")[1:]}
    assert agreement["all views"][0] == "1.000"
    assert agreement["all views"][1] == agreement["song"][0] == "1.000"
    assert abs(float(agreement["color"][1].replace("\N{MINUS SIGN}", "-"))) < 0.1
    chosen = int(gaps.idxmax())
    assert [f"{chosen}", f"{gaps[chosen]:.4f}"] in rows_of(page, "Eigengap")
    assert "One view is odd." in page.html


def test_the_tree_shows_the_view_of_every_split(monkeypatch):
    monkeypatch.setattr("coview.report._sections_tree._ALL_LEAVES", 39)
    views = two_levels()
    model = HybridHierarchicalClustering(2).fit(views)
    page = page_of(model, views)
    assert "The tree" in titles(page)
    assert "The first split is made by song." in page.html
    rows = rows_of(page, "The splits that are drawn")
    assert rows[0] == ["samples", "into", "split by", "goodness in song", "goodness in color"]
    top = model.linkage_[-1]
    assert rows[1][:3] == ["40", "20 and 20", "song"]
    assert float(rows[1][3]) == pytest.approx(model.goodness_["song"].iloc[-1], rel=1e-2)
    assert rows[1][4] == "\N{EN DASH}"  # a member lacks the view, which therefore splits nothing here
    assert top[3] == N
    assert len(rows) - 1 == 35  # 36 groups are drawn of 40 samples
    picture = next(figure for figure in page.figures if "How the samples split." in figure)
    # Leaves, and views in the legend, are words of the picture.
    leaves = re.findall(r">([^<>]*, cluster [01])<", picture)
    assert len(leaves) == 36
    labels = model.labels_at(36)
    assert sum(leaf.startswith("2 samples") for leaf in leaves) == (np.bincount(labels) == 2).sum()
    for name in ("song", "color"):
        assert f">{name}<" in picture
    assert "a view that many lack splits late or never" in page.html


def test_a_tree_of_some_dozen_samples_is_drawn_whole():
    views = two_levels()
    complete = views[views.presence.all(axis=1)]
    page = page_of(model := HybridHierarchicalClustering(2).fit(complete), complete)
    assert len(rows_of(page, "The splits that are drawn")) - 1 == len(model.linkage_) < N
    assert "a view that many lack" not in page.html


def test_a_small_tree_names_every_sample_with_its_cluster():
    views = two_levels()[np.arange(10)]
    model = HybridHierarchicalClustering(3).fit(views)
    page = page_of(model, views)
    picture = next(figure for figure in page.figures if "How the samples split." in figure)
    leaves = dict(re.findall(r">(\d+), cluster (\d+)<", picture))
    assert leaves == {str(i): str(c) for i, c in enumerate(model.labels_)}


def test_a_tree_from_below_has_costs_and_no_views():
    views = two_levels()
    model = BregmanAgglomerativeClustering(4).fit(views)
    rows = rows_of(page_of(model, views), "The splits that are drawn")
    assert rows[0] == ["samples", "into", "cost that it saves"]
    assert float(rows[1][2]) == pytest.approx(model.linkage_[-1, 2], rel=1e-3)


def test_noise_is_no_cluster():
    views = {
        "song": np.r_[np.zeros((10, 1)), np.full((10, 1), 5.0), [[99.0]], [[-99.0]]] + 0.01 * np.arange(22)[:, None]
    }
    model = MultiRepresentedDBSCAN(eps=1.0, min_samples=3).fit(views)
    page = page_of(model, views)
    assert page.headings[0][1] == "2 clusters of 22 samples"
    assert rows_of(page, "Clusters, and")[-1][:2] == ["no cluster", "2"]
    assert "belong to none" in page.html
    assert "How far the views agree" not in titles(page)


def test_many_clusters_share_a_look_and_are_all_listed():
    rng = np.random.default_rng(0)
    views = {"a": 20.0 * np.repeat(np.arange(12.0), 4)[:, None] + rng.normal(size=(48, 1))}
    page = page_of(model := MultiViewKMeans(12, random_state=0).fit(views), views)
    assert len(rows_of(page, "Clusters, and")) == 13
    assert "other clusters" in page.html
    picture = next(figure for figure in page.figures if "Map of samples." in figure)
    shared = {int(number) for number in re.findall(r">(\d+)<", picture.split("</svg>")[0])}
    sizes = np.bincount(model.labels_)
    assert len(shared) == 7
    assert max(sizes[list(shared)]) <= min(np.delete(sizes, list(shared)))


def test_names_that_would_be_markup_are_text():
    views = two_levels((EVIL, "b"))
    frame = pd.DataFrame(views["b"])
    assert len(frame) < N
    page = page_of(
        HybridHierarchicalClustering(2).fit(views), views, method=EVIL, alone=alone(views), notes=[EVIL],
        classes=[EVIL] * 20 + ["b"] * 20, target=EVIL,
    )  # fmt: skip
    assert EVIL not in page.html


def test_the_same_twice_and_two_samples_are_enough():
    views = two_levels()
    model = MultiViewKMeans(2, random_state=0).fit(views)
    assert render_report(cluster_report(model, views)) == render_report(cluster_report(model, views))
    two = {"a": np.array([[0.0], [1.0]])}
    page = page_of(HybridHierarchicalClustering(2).fit(two), two)
    assert "Where the samples lie" not in titles(page)
    assert "The tree" not in titles(page)


def test_labels_of_other_samples_are_refused():
    views = two_levels()
    with pytest.raises(ValueError, match="labels of 40 samples, and X has 10"):
        cluster_report(MultiViewKMeans(2, random_state=0).fit(views), views[np.arange(10)])


def test_many_views_have_looks_of_their_own():
    looks = view_looks([f"v{j}" for j in range(20)])
    assert len(set(looks.values())) == 20
