"""Who has what: patterns of views, overlap between them, and findings about both."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.views._findings import Finding
from coview.views._findings_blocks import ObservedView, observed_views
from coview.views._ids import almost_equal_ids, some
from coview.views._tables import AlignedTables

__all__ = [
    "id_findings",
    "presence_findings",
    "presence_matrix",
    "presence_summary",
    "view_overlap",
]

_FIRST = 20


def presence_matrix(views: Sequence[ObservedView], n_samples: int) -> NDArray[np.bool_]:
    """Presence of every view for every sample, of shape (n_samples, n_views)."""
    presence = np.zeros((n_samples, len(views)), dtype=bool)
    for place, view in enumerate(views):
        presence[view.samples, place] = True
    return presence


def presence_summary(tables: AlignedTables, labels: pd.Series | None = None) -> pd.DataFrame:
    """How many samples have which views.

    Parameters
    ----------
    tables : AlignedTables
    labels : Series of length n_samples, default=None
        In the order of ``tables.ids``; adds the number of labeled samples.

    Returns
    -------
    patterns : DataFrame
        One row per pattern, most frequent first: a truth value per view, ``n_samples`` and, with labels, ``n_labeled``.

    Examples
    --------
    >>> import pandas as pd
    >>> from coview.views import read_tables
    >>> tables = read_tables({"clinical": pd.DataFrame({"age": [50, 61]}, index=["p1", "p2"]),
    ...                       "ct": pd.DataFrame({"volume": [3.5]}, index=["p2"])})
    >>> presence_summary(tables)
       clinical     ct  n_samples
    0      True  False          1
    1      True   True          1
    """
    presence = presence_matrix(observed_views(tables), tables.n_samples)
    patterns, first, members = np.unique(presence, axis=0, return_index=True, return_inverse=True)
    members = members.reshape(-1)
    summary = pd.DataFrame(patterns, columns=pd.Index(tables.names))
    summary["n_samples"] = np.bincount(members, minlength=len(patterns))
    if labels is not None:
        labeled = labels.notna().to_numpy()
        summary["n_labeled"] = np.bincount(members[labeled], minlength=len(patterns))
    order = np.lexsort((first, -summary["n_samples"].to_numpy()))
    return summary.iloc[order].reset_index(drop=True)


def view_overlap(tables: AlignedTables) -> pd.DataFrame:
    """Number of samples that two views share; on the diagonal the number that have the view.

    Parameters
    ----------
    tables : AlignedTables

    Returns
    -------
    overlap : DataFrame of shape (n_views, n_views)

    Examples
    --------
    >>> import pandas as pd
    >>> from coview.views import read_tables
    >>> tables = read_tables({"clinical": pd.DataFrame({"age": [50, 61]}, index=["p1", "p2"]),
    ...                       "ct": pd.DataFrame({"volume": [3.5]}, index=["p2"])})
    >>> view_overlap(tables)
              clinical  ct
    clinical         2   1
    ct               1   1
    """
    presence = presence_matrix(observed_views(tables), tables.n_samples).astype(np.int64)
    return pd.DataFrame(presence.T @ presence, index=tables.names, columns=tables.names)


def id_findings(tables: AlignedTables) -> list[Finding]:
    """Sample ids that are almost equal."""
    if not tables.has_ids or pd.api.types.is_integer_dtype(tables.ids.dtype):
        return []
    groups = almost_equal_ids(tables.ids)
    if not groups:
        return []
    shown = "; ".join(" ~ ".join(map(repr, group)) for group in groups[:5])
    more = f" and {len(groups) - 5} more groups" if len(groups) > 5 else ""
    return [
        Finding(
            "almost_equal_ids",
            "warning",
            f"Some sample ids are almost equal and count as different samples: {shown}{more}.",
            "Write each id in one way, or give --almost-equal join.",
            ids=tuple(label for group in groups for label in group)[:_FIRST],
            count=len(groups),
        )
    ]


def presence_findings(tables: AlignedTables, presence: NDArray[np.bool_]) -> list[Finding]:
    """Samples without any view, views that nobody has, and views that share no sample."""
    findings = []
    bare = np.flatnonzero(~presence.any(axis=1))
    if len(bare):
        ids = tuple(map(str, tables.ids[bare[:_FIRST]]))
        findings.append(
            Finding(
                "samples_without_view",
                "warning",
                f"{_samples(len(bare))} no value in any view and will not count in a fit: {some(tables.ids[bare])}.",
                "Fill in what is known of them, or delete their rows.",
                ids=ids,
                count=len(bare),
            )
        )
    counts = presence.sum(axis=0)
    for name, count in zip(tables.names, counts, strict=True):
        if not count:
            findings.append(
                Finding("empty_view", "warning", f"No sample has a value in view '{name}'.", "Leave it out.", name)
            )
    return findings + _overlap_findings(tables, presence[:, counts > 0], np.flatnonzero(counts))


def _samples(count: int) -> str:
    return "1 sample has" if count == 1 else f"{count} samples have"


def _overlap_findings(tables: AlignedTables, presence: NDArray[np.bool_], views: NDArray[np.intp]) -> list[Finding]:
    """Views alone (errors) and pairs that share no sample (notes), among the views that somebody has."""
    shared = presence.astype(np.int64).T @ presence
    np.fill_diagonal(shared, 0)
    alone: NDArray[np.bool_] = ~np.asarray(shared.any(axis=1))
    findings = []
    for place in np.flatnonzero(alone) if len(views) > 1 else []:
        name = tables.names[views[place]]
        own = tables.ids[presence[:, place]]
        others = tables.ids[~presence[:, place] & presence.any(axis=1)]
        findings.append(
            Finding(
                "no_overlap",
                "error",
                f"No sample of view '{name}' occurs in another view; its ids begin {some(own[:3], 3)}, those of the "
                f"others {some(others[:3], 3)}.",
                "Use the same ids in all files, give --id COL, or translate them with --id-map FILE.",
                name,
                ids=tuple(map(str, own[:3])),
                count=len(own),
            )
        )
    first, second = np.nonzero(np.triu((shared == 0) & ~alone & ~alone[:, None], 1))
    pairs = [(tables.names[views[a]], tables.names[views[b]]) for a, b in zip(first, second, strict=True)]
    if pairs:
        listed = ", ".join(f"'{a}' and '{b}'" for a, b in pairs[:5]) + (" ..." if len(pairs) > 5 else "")
        findings.append(
            Finding(
                "pairs_without_overlap",
                "note",
                f"No sample has both of these views: {listed}. They inform each other through other views only.",
                count=len(pairs),
            )
        )
    return findings
