"""The data of section 5 of Bickel and Scheffer, or what stands for them: linked documents, and texts split at random."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from coview import Views
from coview.datasets import fetch

__all__ = ["DATASETS", "Problem", "load_linked", "load_texts", "without_empty_rows"]

DATASETS = ("citeseer", "cora", "webkb6", "bbcsport", "three_sources", "parallel/sib200")
# Views whose words, or links, are counted together by the paper's second baseline.
_MERGED = {
    "citeseer": (("text",), ("inbound", "outbound")),
    "cora": (("text",), ("inbound", "outbound")),
    "webkb6": (("text", "anchor"),),
}
_TITLES = {"citeseer": "Citeseer", "cora": "Cora", "webkb6": "WebKB"}
# Texts of one view: their name, the set, the view.
_TEXTS = (
    ("Citeseer text", "citeseer", "text"),
    ("Cora text", "cora", "text"),
    ("WebKB text", "webkb6", "text"),
    ("BBC sport", "bbcsport", "view1"),
    ("BBC news", "three_sources", "bbc"),
    ("SIB-200", "parallel/sib200", "en"),
)


@dataclass(frozen=True)
class Problem:
    """Documents and the classes that a clustering should find.

    Attributes
    ----------
    name : str
    labels : ndarray of shape (n_samples,)
    views : dict of str to Views
        The same documents in different views: ``"as they are"`` and, for linked documents, ``"empty rows observed"``,
        ``"concatenated"``, ``"merged"`` and each view by its name.
    """

    name: str
    labels: NDArray[Any]
    views: Mapping[str, Views]

    def __post_init__(self) -> None:
        if any(views.n_samples != len(self.labels) for views in self.views.values()):
            raise ValueError(f"{self.name} has {len(self.labels)} labels, but not as many documents in every reading.")

    @property
    def n_classes(self) -> int:
        """True number of clusters."""
        return len(np.unique(self.labels))


def load_linked(data: Path) -> list[Problem]:
    """Citeseer, Cora and WebKB: documents with links or anchor text, absent where empty."""
    problems = []
    for name, groups in _MERGED.items():
        bunch = fetch(name, data, empty_rows="observed")
        columns = {view: _named_columns(bunch.views, view) for view in bunch.views.names}
        blocks = {view: sparse.csr_array(bunch.views[view]) for view in bunch.views.names}
        views = {
            "as they are": without_empty_rows(bunch.views),
            "empty rows observed": bunch.views,
            "concatenated": Views({"all": sparse.hstack(list(blocks.values()), format="csr")}),
            "merged": Views(
                {"all": sparse.hstack([_merged(blocks, columns, group) for group in groups], format="csr")}
            ),
        }
        views |= {view: without_empty_rows(Views({view: block})) for view, block in blocks.items()}
        problems.append(Problem(_TITLES[name], bunch.target.to_numpy(), views))
    return problems


def load_texts(data: Path) -> list[Problem]:
    """Six texts of one view, without documents that have no word."""
    problems = []
    for title, name, view in _TEXTS:
        bunch = fetch(name, data)
        labels = bunch.target.to_numpy()
        if "frames" in bunch:
            counts = _words(bunch.frames[view]["text"])
        else:
            counts, labels = sparse.csr_array(bunch.views[view]), labels[bunch.views.rows(view)]
        filled = np.flatnonzero(np.diff(counts.indptr))
        problems.append(Problem(title, labels[filled], {"as they are": Views({"text": counts[filled]})}))
    return problems


def without_empty_rows(views: Views) -> Views:
    """The same views, absent where a row has no word or link: the paper averages over views that are not empty."""
    blocks = {name: sparse.csr_array(views[name]) for name in views.names}
    filled = np.column_stack([np.diff(block.indptr) > 0 for block in blocks.values()])
    return Views(blocks, presence=filled)


def _words(texts: pd.Series) -> sparse.csr_array:
    """Counts of words that occur in at least two passages."""
    counts = CountVectorizer(stop_words="english", min_df=2).fit_transform(texts)
    return sparse.csr_array(counts.astype(np.float64))


def _named_columns(views: Views, name: str) -> pd.Index:
    """Names of a view's columns; their positions where there are none (documents in the order of the rows)."""
    named = views.feature_names[name]
    return pd.RangeIndex(views.n_features[name]).astype("str") if named is None else named.astype("str")


def _merged(
    blocks: Mapping[str, sparse.csr_array], columns: Mapping[str, pd.Index], group: Sequence[str]
) -> sparse.csr_array:
    """Sum of some views over columns of the same name."""
    union = pd.Index(np.unique(np.concatenate([columns[view].to_numpy(dtype=object) for view in group])))
    total = sparse.csr_array((next(iter(blocks.values())).shape[0], len(union)))
    for view in group:
        places = union.get_indexer(columns[view])
        into = sparse.csr_array(
            (np.ones(len(places)), (np.arange(len(places)), places)), shape=(len(places), len(union))
        )
        total = total + blocks[view] @ into
    return sparse.csr_array(total)
