"""Five data sets: which samples, what is done to their columns once, for every method alike."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler

from coview import Views
from coview.compose import TableEncoder
from coview.datasets import fetch, load_heart_disease

__all__ = ["DATASETS", "LABELS_PER_CLASS", "MOST_DRAWS", "MOST_LABELED", "N_SAMPLES", "Problem", "load_problem"]

LABELS_PER_CLASS = (1, 5, 10, 50)
# At most so many samples of each set, drawn once.
N_SAMPLES = 1000
# Larger shares of labeled samples are left out: labels are not few then.
MOST_LABELED = 1 / 3
# Most draws of a set with many views and classes, whose fits are long.
MOST_DRAWS = {"mfeat": 3}


@dataclass(frozen=True)
class Problem:
    """Samples, and what is to be predicted.

    Attributes
    ----------
    name, title : str
        Of the data set; as it stands in tables.
    views : Views
        Dense columns of mean 0 and variance 1 by the rows that have them, words and links as tf-idf rows of unit length.
    labels : ndarray of shape (n_samples,)
        Known for all samples.
    """

    name: str
    title: str
    views: Views
    labels: NDArray[Any]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(np.unique(self.labels))

    @property
    def is_text(self) -> bool:
        """Whether the views are sparse counts of words and links."""
        return any(sparse.issparse(self.views[name]) for name in self.views.names)


@dataclass(frozen=True)
class _Source:
    """How a data set is read."""

    title: str
    read: Callable[[Path], tuple[Views, NDArray[Any]]]


def load_problem(name: str, data: Path) -> Problem:
    """A data set of this comparison.

    Parameters
    ----------
    name : str
        One of `DATASETS`.
    data : Path
        Folder of the data sets.
    """
    source = DATASETS[name]
    views, labels = source.read(data)
    rows = np.arange(len(labels))
    if len(rows) > N_SAMPLES:
        rows = np.sort(np.random.default_rng(0).permutation(rows)[:N_SAMPLES])
    return Problem(name, source.title, _weighted(views[rows]), labels[rows])


def _weighted(views: Views) -> Views:
    """Every view on a usual scale; rows that lack it are left out and put back."""
    blocks = {}
    for name in views.names:
        block, here = views[name], views.rows(name)
        if sparse.issparse(block):
            rows = sparse.coo_array(_tf_idf(sparse.csr_array(block)))
            entries = (rows.data, (here[rows.coords[0]], rows.coords[1]))
            blocks[name] = sparse.csr_array(entries, shape=(len(views), rows.shape[1]))
        else:
            blocks[name] = np.full((len(views), block.shape[1]), np.nan)
            blocks[name][here] = StandardScaler().fit_transform(block)
    return Views(blocks, presence=views.presence)


def _tf_idf(counts: Any) -> Any:
    """Tf-idf; nothing where rows already have unit length."""
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    if np.allclose(lengths[lengths > 0.0], 1.0, atol=1e-3):
        return counts
    return TfidfTransformer().fit_transform(counts)


def _fetched(name: str) -> Callable[[Path], tuple[Views, NDArray[Any]]]:
    """A set of the user; an empty row of words or links is a missing view, and who has none is left out."""

    def read(data: Path) -> tuple[Views, NDArray[Any]]:
        bunch = fetch(name, data)
        views, presence = bunch.views, np.array(bunch.views.presence)
        for column, view in enumerate(views.names):
            if sparse.issparse(views[view]):
                presence[views.rows(view), column] = np.diff(sparse.csr_array(views[view]).indptr) > 0
        views = Views({view: views[view] for view in views.names}, presence=presence)
        kept = np.flatnonzero(presence.any(axis=1))
        return views[kept], bunch.target.to_numpy(dtype=object)[kept].astype(str)

    return read


def _heart(data: Path) -> tuple[Views, NDArray[Any]]:
    bunch = load_heart_disease()
    views = TableEncoder().fit_transform(bunch.frames)
    return views, bunch.target.loc[views.index].to_numpy().astype(str)


DATASETS = {
    "heart_disease": _Source("heart patients: 6 examinations, half of them missing, healthy or not", _heart),
    "satimage": _Source("satellite images: 4 bands, 6 kinds of soil", _fetched("satimage")),
    "webkb_course": _Source(
        "pages of universities: words, words of links to it, course or not", _fetched("webkb_course")
    ),
    "citeseer": _Source("papers: words, citing, cited, 6 fields; most lack one of the links", _fetched("citeseer")),
    "mfeat": _Source("digits: 6 descriptions of a picture", _fetched("mfeat")),
}
