"""How number, category and text columns become features: learnt on training rows, told in words."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from coview.views import id_text, labels_from_plain, plain_labels

__all__ = ["CategoryColumn", "NumberColumns", "TextColumn", "is_free_text"]

_CHUNK = 2**22  # cells worked on in one go


def is_free_text(column: pd.Series) -> bool:
    """Whether a column of strings is prose: at least half of its values differ and at least half have two words."""
    values = column.dropna().astype(str)
    if not len(values):
        return False
    of_several_words = np.mean([len(value.split()) >= 2 for value in values])
    return bool(values.nunique() >= 0.5 * len(values) and of_several_words >= 0.5)


def _column_chunks(matrix: NDArray[Any]) -> Iterator[slice]:
    step = max(1, _CHUNK // max(1, matrix.shape[0]))
    for start in range(0, matrix.shape[1], step):
        yield slice(start, min(start + step, matrix.shape[1]))


class NumberColumns:
    """Number columns of one view: gaps filled with the median, centered, scaled; columns that mark gaps.

    Parameters
    ----------
    labels : list of str
        Names of the columns.
    scale : bool
        Whether columns are centered and scaled.
    mark_gaps : bool
        Whether a column with gaps in training gets a column that marks them.
    """

    def __init__(self, labels: list[str], *, scale: bool, mark_gaps: bool) -> None:
        self.labels = labels
        self.scale = scale
        self.mark_gaps = mark_gaps

    def fit(self, matrix: Any) -> Self:
        """Learn medians, centers and spreads from the observed values of a matrix (n_rows, n_columns)."""
        if sparse.issparse(matrix):
            self.medians, self.centers, self.spreads, n_gaps = _sparse_statistics(matrix)
        else:
            parts = [_statistics(matrix[:, columns].astype(np.float64)) for columns in _column_chunks(matrix)]
            self.medians, self.centers, self.spreads, n_gaps = map(np.concatenate, zip(*parts, strict=True))
        self.marked = np.flatnonzero(n_gaps) if self.mark_gaps else np.empty(0, dtype=np.intp)
        if not self.scale:
            self.centers, self.spreads = np.zeros(len(self.labels)), np.ones(len(self.labels))
        return self

    def transform(self, matrix: Any) -> Any:
        """Features of a matrix (n_rows, n_columns): the columns, then those that mark gaps."""
        factors = np.where(self.spreads > 0, 1.0 / np.where(self.spreads > 0, self.spreads, 1.0), 0.0)
        if sparse.issparse(matrix):
            return self._transform_sparse(matrix, factors)
        n_columns = matrix.shape[1]
        features = np.empty((matrix.shape[0], n_columns + len(self.marked)))
        for columns in _column_chunks(matrix):
            block = matrix[:, columns]
            filled = np.where(np.isnan(block), self.medians[columns], block)
            features[:, columns] = (filled - self.centers[columns]) * factors[columns]
        features[:, n_columns:] = np.isnan(matrix[:, self.marked])
        return features

    def _transform_sparse(self, matrix: sparse.csr_array, factors: NDArray[np.float64]) -> sparse.csr_array:
        gaps = np.isnan(matrix.data)
        where = (matrix.indices, matrix.indptr)
        filled = sparse.csr_array((np.where(gaps, 0.0, matrix.data) * factors[matrix.indices], *where), matrix.shape)
        marks = sparse.csc_array(sparse.csr_array((gaps.astype(np.float64), *where), matrix.shape))[:, self.marked]
        features = sparse.csr_array(sparse.hstack([filled, marks], format="csr"))
        features.eliminate_zeros()
        return features

    @property
    def feature_names(self) -> list[str]:
        """Names of the features."""
        return [*self.labels, *(f"{self.labels[position]}=missing" for position in self.marked)]

    def describe(self) -> list[str]:
        """What happens to each column, in words."""
        texts = []
        marked = set(self.marked.tolist())
        for position, (center, spread) in enumerate(zip(self.centers, self.spreads, strict=True)):
            text = f"centered at {center:.4g}, divided by {spread:.4g}" if self.scale else "kept as it is"
            if spread == 0:
                text = "constant, so 0 for every sample"
            if position in marked:
                text += f"; gaps filled with {self.medians[position]:.4g} and marked in a column of their own"
            texts.append(text)
        return texts

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "labels": plain_labels(self.labels)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, labels=labels_from_plain(state["labels"]))


def _statistics(block: NDArray[np.float64]) -> tuple[NDArray[Any], ...]:
    """Median, mean, standard deviation (0 where constant) and number of gaps of each column, gaps left out."""
    gaps = np.isnan(block)
    n_gaps = gaps.sum(axis=0)
    n_observed = np.maximum(len(block) - n_gaps, 1)
    medians = _medians(block, n_gaps)
    largest = np.abs(np.where(gaps, 0.0, block)).max(axis=0, initial=0.0)
    deviations = np.where(gaps, 0.0, block - medians)  # of the median, so that a constant gives exact zeros
    reach = np.abs(deviations).max(axis=0, initial=0.0)
    varies = reach > 8 * np.finfo(np.float64).eps * largest  # less is the rounding of a constant
    unit = np.where(varies, reach, 1.0)
    deviations /= unit  # of order one, so that squares neither overflow nor vanish
    means = deviations.sum(axis=0) / n_observed
    squares = np.where(gaps, 0.0, deviations - means) ** 2
    spreads = np.where(varies, unit * np.sqrt(squares.sum(axis=0) / n_observed), 0.0)
    return medians, medians + np.where(varies, unit * means, 0.0), spreads, n_gaps


def _medians(block: NDArray[np.float64], n_gaps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Median of the observed values of each column, 0 where there are none.

    Columns laid out as rows sort several times faster than numpy's ``nanmedian`` finds medians, and gaps sort last.
    """
    n_observed = len(block) - n_gaps
    if not len(block):
        return np.zeros(block.shape[1])
    ordered = np.sort(np.ascontiguousarray(block.T), axis=1)
    columns = np.arange(block.shape[1])
    low, high = ordered[columns, np.maximum(n_observed - 1, 0) // 2], ordered[columns, n_observed // 2]
    return np.where(n_observed > 0, 0.5 * low + 0.5 * high, 0.0)


def _sparse_statistics(matrix: sparse.csr_array) -> tuple[NDArray[Any], ...]:
    """As ``_statistics``, but nothing is centered, so zeros stay zeros: gaps count as 0, spreads are about 0."""
    n_rows, n_columns = matrix.shape
    gaps = np.isnan(matrix.data)
    n_gaps = np.bincount(matrix.indices[gaps], minlength=n_columns)
    stored = np.where(gaps, 0.0, np.abs(matrix.data))
    largest = np.zeros(n_columns)
    np.maximum.at(largest, matrix.indices, stored)
    unit = np.where(largest > 0, largest, 1.0)
    squares = np.bincount(matrix.indices, weights=(stored / unit[matrix.indices]) ** 2, minlength=n_columns)
    return (
        np.zeros(n_columns),
        np.zeros(n_columns),
        np.where(largest > 0, unit * np.sqrt(squares / n_rows), 0.0),
        n_gaps,
    )


class CategoryColumn:
    """One column of categories: a feature per category seen in training, zeros for any other.

    Parameters
    ----------
    label : str
        Name of the column.
    mark_gaps : bool
        Whether gaps in training give a feature of their own.
    """

    def __init__(self, label: str, *, mark_gaps: bool) -> None:
        self.label = label
        self.mark_gaps = mark_gaps

    def fit(self, column: pd.Series) -> Self:
        """Learn the categories: those of a categorical dtype in its order, others sorted."""
        observed = id_text(pd.Index(column.dropna().unique()))
        if isinstance(column.dtype, pd.CategoricalDtype):
            declared = id_text(column.cat.categories)
            self.categories = declared[declared.isin(observed)].tolist()
        else:
            self.categories = observed.unique().sort_values().tolist()
        self.marked = bool(self.mark_gaps and column.isna().any())
        return self

    def _codes(self, column: pd.Series) -> NDArray[np.intp]:
        """Category of each row; -1 for a gap, -2 for a category not seen in training."""
        codes = np.full(len(column), -1, dtype=np.intp)
        observed = column.notna().to_numpy()
        found = pd.Index(self.categories, dtype=str).get_indexer(id_text(pd.Index(column[observed])))
        codes[observed] = np.where(found < 0, -2, found)
        return codes

    def transform(self, column: pd.Series) -> sparse.csr_array:
        """Features of a column, of shape (n_rows, n_categories [+ 1])."""
        codes = self._codes(column)
        if self.marked:
            codes[codes == -1] = len(self.categories)
        rows = np.flatnonzero(codes >= 0)
        shape = (len(codes), len(self.feature_names))
        return sparse.csr_array((np.ones(len(rows)), (rows, codes[rows])), shape=shape)

    def count_unknown(self, column: pd.Series) -> int:
        """Number of values that are no category seen in training."""
        return int((self._codes(column) == -2).sum())

    @property
    def feature_names(self) -> list[str]:
        """Names of the features."""
        return [f"{self.label}={value}" for value in self.categories] + [f"{self.label}=missing"] * self.marked

    def describe(self) -> str:
        """What happens to the column, in words."""
        count = len(self.categories)
        text = f"one 0/1 column for each of {count} categories" if count != 1 else "one 0/1 column for its one category"
        return text + "; gaps marked in a column of their own" * self.marked


class TextColumn:
    """One column of prose: TF-IDF weights of its words.

    Parameters
    ----------
    label : str
        Name of the column.
    max_words : int or None
        Number of most frequent words kept; None keeps all.
    """

    def __init__(self, label: str, *, max_words: int | None) -> None:
        self.label = label
        self.max_words = max_words
        self.vectorizer: TfidfVectorizer | None = None

    def fit(self, column: pd.Series) -> Self:
        """Learn words and weights; none where every row is a gap; raises ValueError if no text has a word."""
        self.vectorizer = None
        if column.notna().any():
            self.vectorizer = self._new_vectorizer().fit(_documents(column))
        return self

    def _new_vectorizer(self) -> TfidfVectorizer:
        return TfidfVectorizer(max_features=self.max_words, token_pattern=r"(?u)\b\w+\b")

    def transform(self, column: pd.Series) -> sparse.csr_array:
        """Features of a column, of shape (n_rows, n_words); a gap is a row of zeros."""
        if self.vectorizer is None:
            return sparse.csr_array((len(column), 0))
        return sparse.csr_array(self.vectorizer.transform(_documents(column)))

    def count_unknown(self, column: pd.Series) -> int:
        """Number of texts without a word seen in training."""
        empty = np.diff(self.transform(column).indptr) == 0
        return int((empty & column.notna().to_numpy()).sum())

    @property
    def feature_names(self) -> list[str]:
        """Names of the features."""
        words = [] if self.vectorizer is None else self.vectorizer.get_feature_names_out()
        return [f"{self.label}={word}" for word in words]

    def describe(self) -> str:
        """What happens to the column, in words."""
        return f"TF-IDF weights of {len(self.feature_names)} words; a gap is a row of zeros"

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        vectorizer = state.pop("vectorizer", None)
        if vectorizer is not None:
            state |= {"words": plain_labels(vectorizer.get_feature_names_out()), "idf": vectorizer.idf_}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.label, self.max_words, self.vectorizer = state["label"], state["max_words"], None
        if "words" in state:
            words = labels_from_plain(state["words"])
            self.vectorizer = self._new_vectorizer()
            self.vectorizer.vocabulary_ = {word: position for position, word in enumerate(words)}
            self.vectorizer.idf_ = state["idf"]


def _documents(column: pd.Series) -> list[str]:
    return ["" if missing else str(value) for value, missing in zip(column, column.isna(), strict=True)]
