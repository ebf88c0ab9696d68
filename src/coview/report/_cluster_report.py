"""The report on clusters of samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

import coview
from coview.report._html import Note, Report, Section
from coview.report._sections_clusters import (
    ALL_VIEWS,
    OUTSIDE,
    Clusters,
    agreement_of,
    agreement_section,
    known_section,
    map_section,
    number_section,
    presence_section,
    sizes_section,
)
from coview.report._sections_tree import tree_section
from coview.report._tables import Columns, Table
from coview.report._words import counted, listed
from coview.views import Views

__all__ = ["cluster_report"]


def cluster_report(
    model: Any,
    X: Any,
    *,
    method: str | None = None,
    gaps: pd.Series | None = None,
    alone: Mapping[str, Any] | None = None,
    classes: Any = None,
    target: str = "the known classes",
    notes: Sequence[str] = (),
    made: Sequence[tuple[str, str]] = (),
) -> Report:
    """Clusters of samples on one page: sizes, a map, how far the views agree, the tree where there is one.

    Parameters
    ----------
    model : fitted clusterer
        Any of `coview.cluster`, or what has ``labels_`` like them; -1 for samples that belong to no cluster.
    X : Views or anything that Views takes
        The samples it was fitted to.
    method : str, default=None
        What the method is called; the class of the model unless given.
    gaps : Series, default=None
        From `coview.cluster.eigengaps`, where the number of clusters was chosen by them.
    alone : dict of str to array-like of shape (n_samples,), default=None
        Clusters that each view gives by itself, None for samples that lack it.
    classes : array-like of shape (n_samples,), default=None
        Known classes to compare with; None or NaN where unknown.
    target : str, default="the known classes"
        What they are called.
    notes : sequence of str, default=()
        What the reader should know about the fit.
    made : sequence of (str, str), default=()
        How to make it again: what, value.

    Returns
    -------
    report : Report
        For `render_report`. Nothing in it depends on time or place.

    Raises
    ------
    ValueError
        If there is not one label for each sample.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.cluster import MultiViewKMeans
    >>> from coview.report import cluster_report
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0.0, 9.0], 10)[:, None]
    >>> views = {"sight": group + rng.normal(size=(20, 2)), "sound": group + rng.normal(size=(20, 1))}
    >>> cluster_report(MultiViewKMeans(2, random_state=0).fit(views), views).title
    '2 clusters of 20 samples'
    """
    views = X if isinstance(X, Views) else Views(X)
    if len(model.labels_) != len(views):
        raise ValueError(f"The model has labels of {len(model.labels_)} samples, and X has {len(views)}.")
    known = None if classes is None else pd.Series(list(classes), index=views.index, dtype=object)
    clusters = Clusters(model, views, method or type(model).__name__, gaps, dict(alone or {}), known, target)
    found = [
        _short_section(clusters, notes),
        sizes_section(clusters),
        known_section(clusters),
        map_section(clusters),
        tree_section(clusters),
        agreement_section(clusters),
        number_section(clusters),
        presence_section(clusters),
        _made_section(clusters, made),
    ]
    n_clusters = len([name for name in clusters.sizes() if name != OUTSIDE])
    return Report(
        title=f"{counted(n_clusters, 'cluster')} of {counted(len(views), 'sample')}",
        lead=f"Found by {clusters.method} from {counted(len(views.names), 'view')} ({listed(views.names, 6)}), without labels.",
        facts=_facts(clusters, n_clusters),
        sections=tuple(section for section in found if section is not None),
        footer=(
            "Every method finds clusters, also where there are none. Groups that hold for new samples and under another method "
            "or seed deserve more trust than this page alone can give.",
            f"Made by coview {coview.__version__}. This page holds everything it shows and opens without network.",
        ),
    )


def _facts(clusters: Clusters, n_clusters: int) -> tuple[tuple[str, str], ...]:
    """Large figures: sizes, and the view that agrees most."""
    facts = [(f"{len(clusters.views):,}", "samples"), (f"{n_clusters:,}", "clusters")]
    agreement = agreement_of(clusters)
    if agreement is not None:
        own = agreement.loc[ALL_VIEWS].drop(ALL_VIEWS).dropna()
        if len(own):
            facts.append((f"{own.mean():.2f}", "adjusted Rand index with the clusters of one view alone, on average"))
    return tuple(facts)


def _short_section(clusters: Clusters, notes: Sequence[str]) -> Section:
    """Sizes in words, and what was warned of."""
    sizes = [f"{name} has {counted(size, 'sample')}" for name, size in clusters.sizes().items()]
    blocks = [Note("Clusters", tuple(sizes[:8]) + ((f"and {len(sizes) - 8} more",) if len(sizes) > 8 else ()))]
    if notes:
        blocks.append(Note("What was noticed", tuple(notes), tone="bad"))
    return Section("in-short", "In short", blocks=tuple(blocks))


def _made_section(clusters: Clusters, made: Sequence[tuple[str, str]]) -> Section:
    """Method, what was said of it, and versions."""
    rows = [("method", clusters.method), *made, ("coview", coview.__version__)]
    frame = pd.DataFrame(rows, columns=["what", "value"])
    columns: Columns = {"what": ("what", ""), "value": ("value", "")}
    return Section("made", "How it was made", (), (Table.from_frame(frame, "Method and versions", columns),))
