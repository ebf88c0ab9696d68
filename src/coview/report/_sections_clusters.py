"""Clusters on a page: sizes, known classes, the map of samples, agreement of the views, how many there are."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics.pairwise import cosine_similarity

from coview.cluster import MultiViewSpectralClustering
from coview.inspection import neighbor_agreement
from coview.metrics import clustering_disagreement
from coview.report._figures_clusters import agreement_matrix, cluster_sizes, gap_bars
from coview.report._figures_data import presence_patterns
from coview.report._figures_samples import sample_map
from coview.report._html import Picture, Section
from coview.report._looks import MARKERS, OTHER_CLASSES, ClassLook, class_looks
from coview.report._sections_training import presence_picture
from coview.report._tables import Columns, Table, percent
from coview.report._words import counted, share_of
from coview.views import Views

__all__ = [
    "Clusters",
    "agreement_of",
    "agreement_section",
    "known_section",
    "map_section",
    "number_section",
    "presence_section",
    "sizes_section",
]

OUTSIDE = "no cluster"
OTHER_CLUSTERS, OTHER_PATTERNS = "other clusters", "other patterns"
ALL_VIEWS = "all views"
_MAPPED_SAMPLES = 1200
_NUMBERED_CLUSTERS = 15
_LISTED_SAMPLES = 500


@dataclass(frozen=True)
class Clusters:
    """What the sections are about.

    Attributes
    ----------
    model : fitted clusterer
    views : Views
        What it was fitted to.
    method : str
    gaps : Series or None
        Eigengaps by which the number of clusters was chosen.
    alone : dict of str to array-like
        Clusters by each view alone; None for samples that lack it.
    classes : Series or None
        Known classes by sample; missing where unknown.
    target : str
        What they are called.
    """

    model: Any
    views: Views
    method: str
    gaps: pd.Series | None
    alone: Mapping[str, Any]
    classes: pd.Series | None
    target: str

    @property
    def labels(self) -> NDArray[np.intp]:
        """Clusters of the samples, -1 for none."""
        return np.asarray(self.model.labels_)

    @property
    def names(self) -> NDArray[np.object_]:
        """Clusters in words."""
        return np.array([OUTSIDE if c < 0 else f"cluster {c}" for c in self.labels], dtype=object)

    def sizes(self) -> dict[str, int]:
        """Samples of each cluster, those outside last."""
        found = pd.Series(self.labels).value_counts()
        order = sorted(found.index.tolist(), key=lambda c: (c < 0, c))
        return {OUTSIDE if c < 0 else f"cluster {c}": int(found[c]) for c in order}

    def looks(self) -> dict[str, ClassLook]:
        """A look for every cluster; small ones share one where there are many."""
        inside = {name: size for name, size in self.sizes().items() if name != OUTSIDE}
        order = list(inside) if len(inside) <= 6 else sorted(inside, key=lambda name: -inside[name])
        looks = class_looks(order)
        if OTHER_CLASSES in looks and OTHER_CLASSES not in inside:
            looks[OTHER_CLUSTERS] = looks.pop(OTHER_CLASSES)
        return looks | ({OUTSIDE: ClassLook("muted", "...")} if OUTSIDE in self.sizes() else {})


def agreement_of(clusters: Clusters) -> pd.DataFrame | None:
    """Adjusted Rand index of every two clusterings: by all views, and by each alone."""
    if not clusters.alone:
        return None
    return 1.0 - clustering_disagreement({ALL_VIEWS: clusters.labels, **clusters.alone}, adjusted=True)


def presence_section(clusters: Clusters) -> Section:
    """Which samples have which views."""
    names = list(clusters.views.names)
    patterns = presence_patterns(clusters.views.presence, names)
    picture = presence_picture(
        names, patterns[names].to_numpy(dtype=bool), patterns["n"].tolist(), key="cluster-presence"
    )
    return Section("presence", "Which samples have which views", (), (picture,))


def sizes_section(clusters: Clusters) -> Section:
    """How large the clusters are, and which views their members have."""
    sizes, looks = clusters.sizes(), clusters.looks()
    drawn = {name: looks.get(name, looks.get(OTHER_CLUSTERS, ClassLook("printed", ""))) for name in sizes}
    total = sum(sizes.values())
    largest = max(sizes, key=lambda name: sizes[name])
    reading = f"The largest, {largest}, has {share_of(sizes[largest], total)} samples."
    if OUTSIDE in sizes:
        reading += f" {share_of(sizes[OUTSIDE], total)} belong to none."
    svg = cluster_sizes(drawn_sizes(sizes), drawn, title="Sizes of the clusters", key="sizes", description=reading)
    frame = pd.DataFrame({"cluster": list(sizes), "n": list(sizes.values())})
    frame["share"] = frame["n"] / total
    columns: Columns = {"cluster": ("cluster", ""), "n": ("samples", ",d"), "share": ("share", percent)}
    for j, view in enumerate(clusters.views.names):
        has = pd.Series(clusters.views.presence[:, j]).groupby(clusters.names).mean()
        frame[f"v{j}"] = [float(has[name]) for name in sizes]
        columns[f"v{j}"] = (f"have {view}", percent)
    table = Table.from_frame(
        frame, "Clusters, and how many of their samples have which view", columns, scroll=len(frame) > 12
    )
    text = (
        "Where a view is much rarer in one cluster than in the others, the cluster may be about what was measured and not "
        "about the samples."
    )
    return Section("clusters", "The clusters", (text,), (Picture("How large they are.", reading, (svg,), table),))


def drawn_sizes(sizes: dict[str, int], most: int = 30) -> dict[str, int]:
    """The largest clusters, where there are more than a picture holds."""
    if len(sizes) <= most:
        return sizes
    kept = set(sorted(sizes, key=lambda name: -sizes[name])[:most])
    return {name: size for name, size in sizes.items() if name in kept}


def known_section(clusters: Clusters) -> Section | None:
    """Clusters against known classes."""
    if clusters.classes is None or not clusters.classes.notna().any():
        return None
    known = clusters.classes.notna().to_numpy()
    truth = clusters.classes.to_numpy()[known].astype(str)
    counts = pd.crosstab(clusters.names[known], truth)
    counts = counts.loc[[name for name in clusters.sizes() if name in counts.index]]
    score = 1.0 - float(clustering_disagreement([truth, clusters.labels[known]], adjusted=True).to_numpy()[0, 1])
    frame = counts.set_axis([f"c{j}" for j in range(counts.shape[1])], axis=1).rename_axis("cluster").reset_index()
    columns: Columns = {"cluster": ("cluster", "")}
    columns |= {f"c{j}": (str(name), ",d") for j, name in enumerate(counts.columns)}
    table = Table.from_frame(frame, f"Samples by cluster and {clusters.target}", columns, scroll=len(frame) > 12)
    text = (
        f"The classes of {clusters.target} were not used. Over the {counted(len(truth), 'sample')} whose class is known, the "
        f"adjusted Rand index of clusters and classes is {score:.2f}: 1 where they are the same, 0 where they have nothing "
        "to do with each other."
    )
    return Section("known", f"Against {clusters.target}", (text,), (table,))


def map_section(clusters: Clusters) -> Section | None:
    """Samples in two directions of the graph of all views, colored by cluster."""
    n = len(clusters.views)
    if n < 6:
        return None
    rows = np.arange(n) if n <= _MAPPED_SAMPLES else np.sort(np.random.RandomState(0).choice(n, _MAPPED_SAMPLES, False))
    views = clusters.views if len(rows) == n else clusters.views[rows]
    # Rows of words are alike by the angle between them.
    kernel = {name: cosine_similarity if hasattr(views[name], "tocsr") else "rbf" for name in views.names}
    graph = MultiViewSpectralClustering(3, affinity="sum", kernel=kernel, sigma="local", n_init=1, random_state=0)
    with warnings.catch_warnings():  # of samples that are similar to nothing, which lie in the middle
        warnings.simplefilter("ignore", UserWarning)
        graph.fit(views)
    places = pd.DataFrame(graph.embedding_[:, 1:3], columns=["x", "y"])
    looks, names = clusters.looks(), clusters.names[rows]
    agreement = neighbor_agreement(
        places, np.array([None if name == OUTSIDE else name for name in names], dtype=object)
    )
    places["sample"] = views.index.astype(str)
    places["cluster"] = names
    places["class"] = [name if name in looks else OTHER_CLUSTERS for name in names]
    words = _patterns(views)
    places["pattern"], places["labeled"] = words, True
    shapes = dict(zip(words.value_counts().index, MARKERS, strict=False))
    reading = (
        f"The nearest samples of a sample are in its cluster in {agreement['share']:.0%} of the cases "
        f"({agreement['chance']:.0%} by chance)."
    )
    if OTHER_CLUSTERS in looks:
        reading += " Numbers stand in the middle of the clusters that share a color."
    if len(rows) < n:
        reading += f" {len(rows):,} of {n:,} samples are drawn."
    svg = sample_map(
        places, looks, shapes, title="Samples by likeness", key="cluster-map", description=reading,
        labels=("second eigenvector", "third eigenvector"), words=_numbers(places),
    )  # fmt: skip
    shown = places.head(_LISTED_SAMPLES)
    columns: Columns = {
        "sample": ("sample", ""), "x": ("second", ".3f"), "y": ("third", ".3f"), "cluster": ("cluster", ""),
        "pattern": ("views", ""),
    }  # fmt: skip
    caption = "Places of the samples" + ("" if len(shown) == len(places) else f", the first {len(shown):,}")
    table = Table.from_frame(shown, caption, columns, scroll=len(shown) > 12)
    text = (
        "Two directions of the graph that adds up the likeness of samples in all of their views, by whatever method the clusters "
        "were found. Clusters may lie apart in directions that are not drawn."
    )
    return Section("map", "Where the samples lie", (text,), (Picture("Map of samples.", reading, (svg,), table),))


def _numbers(places: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Numbers of the larger clusters without a color of their own, and the middle of each."""
    other = places[places["class"] == OTHER_CLUSTERS]
    largest = other["cluster"].value_counts().index[:_NUMBERED_CLUSTERS]
    middles = other.groupby("cluster")[["x", "y"]].median().loc[largest]
    return {str(name).removeprefix("cluster "): (float(x), float(y)) for name, x, y in middles.itertuples()}


def _patterns(views: Views) -> pd.Series:
    """The views of each sample in words, rare combinations under one name."""
    names = np.array(views.names, dtype=object)
    words = pd.Series([", ".join(names[row]) for row in views.presence])
    frequent = words.value_counts().index.tolist()
    named = set(frequent if len(frequent) <= len(MARKERS) else frequent[: len(MARKERS) - 1])
    return words.where(words.isin(named), OTHER_PATTERNS)


def agreement_section(clusters: Clusters) -> Section | None:
    """Clusterings of the views by themselves beside that of all."""
    agreement = agreement_of(clusters)
    if agreement is None:
        return None
    own = agreement[ALL_VIEWS].drop(ALL_VIEWS).dropna()
    reading = "No view shares enough samples with another."
    if len(own):
        ranked = own.sort_values(ascending=False, kind="stable")
        names = ranked.index.tolist()
        reading = f"The clusters are most like those of {names[0]} alone ({ranked.iloc[0]:.2f})"
        reading += f" and least like those of {names[-1]} ({ranked.iloc[-1]:.2f})." if len(own) > 1 else "."
    svg = agreement_matrix(
        agreement, title="Adjusted Rand index of two clusterings", key="agreement", description=reading
    )
    frame = (
        agreement.set_axis([f"c{j}" for j in range(len(agreement))], axis=1).rename_axis("clusters by").reset_index()
    )
    columns: Columns = {"clusters by": ("clusters by", "")}
    columns |= {f"c{j}": (str(name), ".3f") for j, name in enumerate(agreement.columns)}
    table = Table.from_frame(frame, "Adjusted Rand index, over the samples that both have", columns)
    text = (
        "The same method was applied to each view by itself. 1 means the same clusters, 0 no more in common than by chance. "
        "Views that agree with no other hold other groups, or noise."
    )
    return Section(
        "agreement", "How far the views agree", (text,), (Picture("Clusterings compared.", reading, (svg,), table),)
    )


def number_section(clusters: Clusters) -> Section | None:
    """The falls of the spectrum by which the number of clusters was chosen."""
    if clusters.gaps is None or not len(clusters.gaps):
        return None
    gaps = clusters.gaps.sort_index()
    order = gaps.sort_values(ascending=False)
    chosen = int(order.index.tolist()[0])
    reading = f"The largest fall is at {chosen} clusters ({order.iloc[0]:.3f})"
    reading += f", the next at {order.index.tolist()[1]} ({order.iloc[1]:.3f})." if len(order) > 1 else "."
    svg = gap_bars(gaps, chosen, title="Falls of the spectrum", key="gaps", description=reading)
    frame = gaps.rename("gap").rename_axis("number").reset_index()
    columns: Columns = {"number": ("clusters", "d"), "gap": ("eigengap", ".4f")}
    table = Table.from_frame(frame, "Eigengap by number of clusters", columns, strong=frame["number"] == chosen)
    text = (
        "The number of clusters was not given, so it is the one after which the eigenvalues of the graph of all views fall most. "
        "It suggests and does not prove: where the falls are alike, other numbers are as good."
    )
    return Section("number", "Why so many clusters", (text,), (Picture("Eigengaps.", reading, (svg,), table),))
