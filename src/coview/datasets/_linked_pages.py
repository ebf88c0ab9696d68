"""Made-up web pages: words of the page, and words of the links to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils import Bunch, check_random_state

from coview.views import AlignedTables, Table, Views

__all__ = ["make_linked_pages"]

_COURSE = (
    "homework", "lecture", "syllabus", "exam", "assignment", "grading", "midterm", "textbook", "instructor", "quiz",
    "handout", "lecturer", "office", "hours", "project", "due", "solutions", "class", "course", "section",
    "prerequisites", "spring", "fall", "lab", "notes",
)  # fmt: skip
_OTHER = (
    "research", "publications", "student", "faculty", "department", "professor", "home", "resume", "interests", "paper",
    "phd", "advisor", "university", "conference", "group", "address", "phone", "links", "laboratory", "journal",
    "graduate", "members", "thesis", "favorite", "visitor",
)  # fmt: skip
_TILT = 3.0
# By view: words in favor of each class, among how many of the most frequent, and how much more often than other words.
_TELLING = {"page": (25, 200, 1.0), "link": (6, 24, 8.0)}


def make_linked_pages(
    n_samples: int = 1051,
    *,
    share: float = 0.22,
    n_words: tuple[int, int] = (3000, 1800),
    length: tuple[float, float] = (90.0, 5.0),
    misleading: tuple[float, float] = (0.02, 0.06),
    random_state: Any = None,
) -> Bunch:
    r"""Made-up pages of courses and other pages, by the words on them and the words of the links to them.

    What co-training was made for: given the class, the two views say nothing of each other. Sizes are about those of the
    1,051 pages of the paper [1]_; the words that tell the classes apart have names, the others numbers.

    Parameters
    ----------
    n_samples : int, default=1051
        Pages; at least 4.
    share : float, default=0.22
        Of pages of courses.
    n_words : tuple of int, default=(3000, 1800)
        Words that pages and links may have, at least 60 each.
    length : tuple of float, default=(90.0, 5.0)
        Mean number of words of a page and of the links to it.
    misleading : tuple of float, default=(0.02, 0.06)
        Share of pages whose words, and whose links, are drawn as those of the other class.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    bunch : Bunch
        ``views`` (Views: page, link; sparse tf-idf rows of unit length, missing where there is no word), ``target`` (Series of
        "course" and "other" by page id), ``words`` (dict: the words of each view), ``telling`` (dict: per view, the words that
        courses use more and that others use more).

    Notes
    -----
    Words have shares proportional to :math:`1 / (r + 5)` by their rank :math:`r` in a random order. On pages 50 words, among the
    200 most frequent, tell the classes apart, on links 12 among the 24 most frequent, which are eight times as frequent as
    their rank says. Their log odds are moved by about 3 (normal, standard deviation 0.5) in favor of one class.

    References
    ----------
    .. [1] Blum, A., Mitchell, T. (1998). Combining labeled and unlabeled data with co-training. COLT.

    Examples
    --------
    >>> from coview.datasets import make_linked_pages
    >>> pages = make_linked_pages(200, random_state=0)
    >>> pages.views.n_features, pages.target.value_counts().to_dict()
    ({'page': 3000, 'link': 1800}, {'other': 156, 'course': 44})
    >>> pages.telling["page"]["course"][:3]
    ['homework', 'lecture', 'syllabus']
    """
    if n_samples < 4 or not 0.0 < share < 1.0 or min(n_words) < 60:
        raise ValueError(
            f"Pages need n_samples of 4 or more, a share between 0 and 1 and 60 words or more in each view; got "
            f"n_samples={n_samples}, share={share}, n_words={n_words}."
        )
    rng = check_random_state(random_state)
    is_course = rng.permutation(n_samples) < round(share * n_samples)
    width = len(str(n_samples))
    ids = pd.Index([f"page-{number:0{width}d}" for number in range(1, n_samples + 1)], dtype="str", name="sample")
    tables, words = [], {}
    for position, (name, (each, among, favor)) in enumerate(_TELLING.items()):
        misled = rng.random_sample(n_samples) < misleading[position]
        counts = _word_counts(
            is_course ^ misled, length[position], _shares(n_words[position], each, among, favor, rng), rng
        )
        weights = sparse.csr_array(TfidfTransformer().fit_transform(counts))
        rows = np.flatnonzero(np.diff(weights.indptr))
        words[name] = [*_COURSE[:each], *_OTHER[:each], *(f"word-{i}" for i in range(n_words[position] - 2 * each))]
        tables.append(Table(name, weights[rows], pd.Index(words[name], dtype="str"), rows=rows))
    return Bunch(
        views=Views.from_tables(AlignedTables(tuple(tables), ids, has_ids=True, same_order=True)),
        target=pd.Series(np.where(is_course, "course", "other"), index=ids, name="kind", dtype="str"),
        words=words,
        telling={
            name: {"course": list(_COURSE[:n]), "other": list(_OTHER[:n])} for name, (n, _, _) in _TELLING.items()
        },
    )


def _shares(
    n_words: int, each: int, among: int, favor: float, rng: np.random.RandomState
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How often words are used by pages of courses, and by others; the first words tell of courses, the next of others."""
    shares = 1.0 / (rng.permutation(n_words) + 5.0)
    shares[: 2 * each] = favor / (rng.permutation(among)[: 2 * each] + 5.0)
    tilt = np.zeros(n_words)
    tilt[:each], tilt[each : 2 * each] = 1.0, -1.0
    tilt *= _TILT + 0.5 * rng.standard_normal(n_words)
    course, other = (shares * np.exp(sign * tilt) for sign in (0.5, -0.5))
    return course / course.sum(), other / other.sum()


def _word_counts(
    is_course: NDArray[np.bool_],
    length: float,
    shares: tuple[NDArray[np.float64], NDArray[np.float64]],
    rng: np.random.RandomState,
) -> sparse.csr_array:
    """How often each word stands on each page."""
    lengths = rng.poisson(length, size=is_course.size).tolist()
    counts = [
        rng.multinomial(n, shares[0] if course else shares[1])
        for n, course in zip(lengths, is_course.tolist(), strict=True)
    ]
    return sparse.csr_array(np.array(counts, dtype=np.int64))
