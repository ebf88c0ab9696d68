"""The data of section 4 of Sindhwani, Niyogi and Belkin (2005): pages about courses, by their words and by the links to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from coview.datasets import fetch

__all__ = ["COLUMNS", "DATASETS", "N_LABELS", "Problem", "label_draws", "load_course", "load_universities"]

DATASETS = ("webkb_course", "webkb6")
LINK, PAGE, BOTH = COLUMNS = ("link", "page", "page+link")
N_LABELS = 12
_UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")


@dataclass(frozen=True)
class Problem:
    """Pages, some of them about courses.

    Attributes
    ----------
    name : str
    features : dict of str to sparse array of shape (n_samples, n_features)
        Of `COLUMNS`: rows of unit length (or empty), the last is both side by side.
    positive : ndarray of shape (n_samples,), dtype=bool
    """

    name: str
    features: Mapping[str, Any]
    positive: NDArray[np.bool_]

    @property
    def grams(self) -> dict[str, NDArray[np.float64]]:
        """Linear kernels (n_samples, n_samples)."""
        return {name: (rows @ rows.T).toarray() for name, rows in self.features.items()}

    def rows(self, kept: NDArray[np.intp]) -> "Problem":
        """Some of the pages."""
        return Problem(self.name, {name: rows[kept] for name, rows in self.features.items()}, self.positive[kept])


def load_course(data: Path) -> Problem:
    """The 1,051 pages of table 1; words are weighted as the source has them."""
    bunch = fetch("webkb_course", data, empty_rows="observed")
    blocks = {LINK: sparse.csr_array(bunch.views["link"]), PAGE: sparse.csr_array(bunch.views["page"])}
    return _problem("1,051 pages", blocks, bunch.target.to_numpy())


def load_universities(data: Path) -> list[Problem]:
    """The pages of four universities for table 2: tf-idf of words in at least two of these pages, and of words in links."""
    bunch = fetch("webkb6", data, empty_rows="observed")
    university, labels = bunch.meta["university"].to_numpy(), bunch.target.to_numpy()
    kept = np.flatnonzero(np.isin(university, _UNIVERSITIES))
    blocks = {LINK: _tf_idf(bunch.views["anchor"], kept), PAGE: _tf_idf(bunch.views["text"], kept)}
    whole = _problem("universities", blocks, labels[kept])
    problems = []
    for name in _UNIVERSITIES:
        part = whole.rows(np.flatnonzero(university[kept] == name))
        problems.append(Problem(name.capitalize(), part.features, part.positive))
    return problems


def label_draws(positive: NDArray[np.bool_], repeats: int, seed: int, counts: Sequence[int] | None = None) -> Any:
    """Labeled samples of every repetition.

    Parameters
    ----------
    positive : ndarray of shape (n_samples,), dtype=bool
    repeats : int
    seed : int
        Repetition r has the seed (seed, r), whatever the number of repetitions is.
    counts : (int, int), default=None
        Labels of the positive and the negative class. None: `N_LABELS` of all samples, drawn anew until both classes have one.

    Returns
    -------
    draws : ndarray of shape (repeats, n_labeled)
        Positions, increasing.
    """
    draws = []
    for repeat in range(repeats):
        rng = np.random.default_rng((seed, repeat))
        while True:
            if counts is None:
                drawn = rng.choice(len(positive), N_LABELS, replace=False)
            else:
                kinds = (np.flatnonzero(positive), np.flatnonzero(~positive))
                drawn = np.concatenate(
                    [rng.choice(kind, count, replace=False) for kind, count in zip(kinds, counts, strict=True)]
                )
            if 0 < positive[drawn].sum() < len(drawn):
                break
        draws.append(np.sort(drawn))
    return np.array(draws)


def _problem(name: str, blocks: dict[str, Any], labels: NDArray[Any]) -> Problem:
    blocks[BOTH] = sparse.csr_array(sparse.hstack([blocks[PAGE], blocks[LINK]]))
    return Problem(name, blocks, np.asarray(labels == "course"))


def _tf_idf(counts: Any, kept: NDArray[np.intp]) -> sparse.csr_array:
    rows = sparse.csr_array(counts)[kept]
    often = np.bincount(rows.indices, minlength=rows.shape[1]) > 1
    weighted = TfidfTransformer(sublinear_tf=True).fit_transform(rows[:, np.flatnonzero(often)])
    return sparse.csr_array(weighted)
