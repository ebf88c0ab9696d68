"""Five data sets, complete, with cells removed, and as incomplete as they are: what every clustering is given."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler, normalize

from coview import Views
from coview.datasets import fetch

__all__ = ["COMPLETE", "CONDITIONS", "DATASETS", "NATURAL", "REMOVED", "Problem", "load_problem", "remove_cells"]

Array = NDArray[np.float64]

_SHARE_REMOVED = 0.3
COMPLETE, REMOVED, NATURAL = "complete", "30 % removed", "as it is"


@dataclass(frozen=True)
class Problem:
    """Samples to be grouped, and the classes that the groups are held against.

    Attributes
    ----------
    views : Views
        Measured columns of mean 0 and variance 1 by the rows that have them; words and links as tf-idf rows of unit length.
    counts : Views
        The same samples and views as they were read, for models of counts.
    labels : ndarray of shape (n_samples,)
    is_text : bool
        Whether the views are sparse counts.
    """

    views: Views
    counts: Views
    labels: NDArray[Any]
    is_text: bool

    @property
    def n_clusters(self) -> int:
        """Number of classes."""
        return len(np.unique(self.labels))

    @property
    def n_features(self) -> list[int]:
        """Columns of each view."""
        return [self.views[name].shape[1] for name in self.views.names]

    def filled(self) -> list[Array]:
        """Dense tables; a missing row is the mean of those there are."""
        tables = []
        for name in self.views.names:
            block = self.views[name]
            known = np.asarray(block.toarray() if sparse.issparse(block) else block, dtype=np.float64)
            table = np.tile(known.mean(axis=0), (len(self.views), 1))
            table[self.views.rows(name)] = known
            tables.append(table)
        return tables

    def with_gaps(self) -> list[Array]:
        """Dense tables; a missing row is NaN."""
        tables = self.filled()
        for table, name in zip(tables, self.views.names, strict=True):
            table[np.setdiff1d(np.arange(len(table)), self.views.rows(name))] = np.nan
        return tables


@dataclass(frozen=True)
class _Source:
    """A data set: what it is, how it is read, whether views are missing in it."""

    title: str
    read: Callable[[Path], tuple[Views, NDArray[Any]]]
    is_text: bool


def load_problem(name: str, condition: str, repeat: int, seed: int, data: Path) -> Problem:
    """A data set under a condition.

    Parameters
    ----------
    name : str
        One of `DATASETS`.
    condition : str
        One of ``CONDITIONS[name]``.
    repeat, seed : int
        Say which cells are removed.
    data : Path
        Folder of the data sets.
    """
    source = DATASETS[name]
    views, labels = source.read(data)
    if condition != NATURAL:
        whole = np.flatnonzero(np.asarray(views.presence).all(axis=1))
        views, labels = views[whole], labels[whole]
    if condition == REMOVED:
        rng = np.random.default_rng([seed, repeat])
        presence = remove_cells(np.asarray(views.presence), _SHARE_REMOVED, rng)
        views = Views({view: views[view] for view in views.names}, presence=presence)
    return Problem(_prepared(views), views, labels, source.is_text)


def remove_cells(presence: NDArray[np.bool_], share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Presence after a share of the cells went; one view of each sample, drawn at random, stays."""
    n_samples, n_views = presence.shape
    free = np.ones(presence.shape, dtype=bool)
    free[np.arange(n_samples), rng.integers(n_views, size=n_samples)] = False
    left: NDArray[np.bool_] = presence.copy()
    left.flat[rng.permutation(np.flatnonzero(free))[: round(share * presence.size)]] = False
    return left


def _prepared(views: Views) -> Views:
    """Every view on a usual scale, by the rows that have it."""
    blocks = {}
    for name in views.names:
        block, here = views[name], views.rows(name)
        if sparse.issparse(block):
            rows = sparse.coo_array(normalize(TfidfTransformer().fit_transform(sparse.csr_array(block))))
            entries = (rows.data, (here[rows.coords[0]], rows.coords[1]))
            blocks[name] = sparse.csr_array(entries, shape=(len(views), rows.shape[1]))
        else:
            blocks[name] = np.full((len(views), block.shape[1]), np.nan)
            blocks[name][here] = StandardScaler().fit_transform(block)
    return Views(blocks, presence=views.presence)


def _fetched(name: str) -> Callable[[Path], tuple[Views, NDArray[Any]]]:
    """A set of the user; an empty row of words or links is a missing view, and who has none is left out."""

    def read(data: Path) -> tuple[Views, NDArray[Any]]:
        bunch = fetch(name, data)
        views, presence = bunch.views, np.array(bunch.views.presence)
        blocks = {}
        for column, view in enumerate(views.names):
            block, here = views[view], views.rows(view)
            if sparse.issparse(block):
                block = sparse.coo_array(block)
                presence[here, column] = np.diff(sparse.csr_array(block).indptr) > 0
                entries = (block.data, (here[block.coords[0]], block.coords[1]))
                blocks[view] = sparse.csr_array(entries, shape=(len(views), block.shape[1]))
            else:
                blocks[view] = np.full((len(views), block.shape[1]), np.nan)
                blocks[view][here] = block
        kept = np.flatnonzero(presence.any(axis=1))
        return Views(blocks, presence=presence)[kept], bunch.target.to_numpy(dtype=object)[kept].astype(str)

    return read


DATASETS = {
    "mfeat": _Source("2,000 digits, 6 descriptions of a picture, 10 classes", _fetched("mfeat"), is_text=False),
    "msrc_v1": _Source("210 photographs, 5 descriptions, 7 classes", _fetched("msrc_v1"), is_text=False),
    "bbcsport": _Source("544 stories, words of their halves, 5 classes", _fetched("bbcsport"), is_text=True),
    "three_sources": _Source("stories of three newspapers, 6 classes", _fetched("three_sources"), is_text=True),
    "citeseer": _Source("papers, words, citing, cited, 6 classes", _fetched("citeseer"), is_text=True),
}
CONDITIONS = {
    name: (COMPLETE, REMOVED, *((NATURAL,) if name in ("three_sources", "citeseer") else ())) for name in DATASETS
}
