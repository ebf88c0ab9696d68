"""One view of any columns becomes one numeric matrix."""

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from coview.compose._columns import CategoryColumn, NumberColumns, TextColumn, is_free_text
from coview.exceptions import ViewError
from coview.views import Table, column_kind, infinite_rows, labels_from_plain, plain_labels, to_matrix

__all__ = ["ViewEncoder"]

_WIDEST_DENSE = 100  # categories of one column


class ViewEncoder:
    """Encodes the columns of one view; numbers first, then categories and text.

    Parameters
    ----------
    categorical, text : set of int
        Positions of columns whose kind the caller has set.
    scale, mark_gaps : bool
    max_words : int or None
        As in ``TableEncoder``.
    """

    def __init__(
        self,
        *,
        categorical: AbstractSet[int],
        text: AbstractSet[int],
        scale: bool,
        mark_gaps: bool,
        max_words: int | None,
    ) -> None:
        self.categorical = categorical
        self.text = text
        self.scale = scale
        self.mark_gaps = mark_gaps
        self.max_words = max_words

    def fit(self, table: Table) -> Self:
        """Learn the encoding from a table whose rows all have the view."""
        self.labels = _labels(table)
        self.columns: dict[int, CategoryColumn | TextColumn] = {}
        frame = self._as_frame(table)
        if frame is not None:
            for position in self._doubtful_columns(frame):
                encoder = self._column_encoder(frame.iloc[:, position], position, table.name)
                if encoder is not None:
                    self.columns[position] = encoder
        self.numbers_at = np.setdiff1d(np.arange(table.n_features), list(self.columns)).astype(np.intp)
        labels = [self.labels[position] for position in self.numbers_at]
        self.numbers = NumberColumns(labels, scale=self.scale, mark_gaps=self.mark_gaps)
        numbers = self._number_matrix(table)
        if len(labels):
            self.numbers.fit(numbers)
        self.is_sparse = sparse.issparse(numbers) or any(
            isinstance(column, TextColumn) or len(column.feature_names) > _WIDEST_DENSE
            for column in self.columns.values()
        )
        return self

    def __getstate__(self) -> dict[str, Any]:
        texts = {place: column for place, column in self.columns.items() if isinstance(column, TextColumn)}
        categories = {place: column for place, column in self.columns.items() if isinstance(column, CategoryColumn)}
        return {
            **self.__dict__,
            "categorical": sorted(self.categorical),
            "text": sorted(self.text),
            "labels": plain_labels(self.labels),
            "columns": texts,
            "categories": _one_text(categories),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        columns = {**state["columns"], **_columns_of(state["categories"])}
        self.__dict__.update({name: value for name, value in state.items() if name != "categories"})
        self.categorical, self.text = set(state["categorical"]), set(state["text"])
        self.labels = list(labels_from_plain(state["labels"]))
        self.columns = dict(sorted(columns.items()))

    def transform(self, table: Table) -> Any:
        """Features of a table whose rows all have the view: ndarray, or csr_array where it is wide."""
        if not table.n_rows:
            nothing = np.empty((0, len(self.feature_names)))
            return sparse.csr_array(nothing) if self.is_sparse else nothing
        frame = self._frame_as_in_fit(table)
        parts = [self.numbers.transform(self._number_matrix(table))] if len(self.numbers_at) else []
        if frame is not None:
            parts += [column.transform(frame.iloc[:, position]) for position, column in self.columns.items()]
        if self.is_sparse:
            return sparse.csr_array(sparse.hstack(parts, format="csr"))
        return np.hstack([part.toarray() if sparse.issparse(part) else part for part in parts])

    @property
    def feature_names(self) -> list[str]:
        """Names of the features."""
        names = self.numbers.feature_names if len(self.numbers_at) else []
        return names + [name for column in self.columns.values() for name in column.feature_names]

    def describe(self) -> list[tuple[str, str, str]]:
        """Name, kind and encoding of each column of the table, in its order."""
        lines: list[tuple[str, str, str]] = [("", "", "")] * len(self.labels)
        texts = self.numbers.describe() if len(self.numbers_at) else []
        for position, text in zip(self.numbers_at, texts, strict=True):
            lines[position] = (self.labels[position], "number", text)
        for position, column in self.columns.items():
            kind = "text" if isinstance(column, TextColumn) else "category"
            lines[position] = (self.labels[position], kind, column.describe())
        return lines

    def count_kinds(self) -> dict[str, int]:
        """How many columns are numbers, categories and text; in singular or plural, none left out but zeros."""
        texts = sum(isinstance(column, TextColumn) for column in self.columns.values())
        counts = {
            ("number", "numbers"): len(self.numbers_at),
            ("category", "categories"): len(self.columns) - texts,
            ("text", "texts"): texts,
        }
        return {names[count != 1]: count for names, count in counts.items() if count}

    def count(self, table: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Gaps, and values unknown to the encoding, of each column of a table."""
        gaps, unknown = np.zeros((2, len(self.labels)), dtype=np.int64)
        if not table.n_rows:
            return gaps, unknown
        if len(self.numbers_at):
            numbers = self._number_matrix(table)
            if sparse.issparse(numbers):
                gaps[self.numbers_at] = np.bincount(numbers.indices[np.isnan(numbers.data)], minlength=numbers.shape[1])
            else:
                gaps[self.numbers_at] = np.isnan(numbers).sum(axis=0)
        frame = self._frame_as_in_fit(table)
        if frame is not None:
            for position, column in self.columns.items():
                values = frame.iloc[:, position]
                gaps[position], unknown[position] = int(values.isna().sum()), column.count_unknown(values)
        return gaps, unknown

    def _doubtful_columns(self, frame: pd.DataFrame) -> list[int]:
        """Positions of the columns that need a look: the caller set their kind, or their dtype alone is not of numbers.

        Decided once per dtype: a view may have a hundred thousand columns.
        """
        dtypes = frame.dtypes.to_numpy()
        plain = {dtype: _is_plain_number(dtype) for dtype in set(dtypes)}
        doubtful = np.fromiter((not plain[dtype] for dtype in dtypes), dtype=bool, count=len(dtypes))
        doubtful[list(self.text | self.categorical)] = True
        return np.flatnonzero(doubtful).tolist()

    def _column_encoder(self, column: pd.Series, position: int, view: str) -> CategoryColumn | TextColumn | None:
        """The encoder of one column; None for numbers."""
        kind = column_kind(column)
        forced = position in self.text or position in self.categorical
        if kind == "number" and not forced:
            return None
        if kind.startswith("complex"):
            raise ViewError(f"Complex data not supported: column '{self.labels[position]}' of view '{view}'.")
        if kind not in ("number", "category", "text", "numbers and text") and not forced:
            raise ViewError(
                f"Column '{self.labels[position]}' of view '{view}' holds {kind}, which has no encoding. Turn it into "
                "numbers (days since a date, say), or name it in categorical_columns."
            )
        if position in self.text:
            return TextColumn(self.labels[position], max_words=self.max_words).fit(column)
        if kind == "text" and not forced and is_free_text(column):
            return TextColumn(self.labels[position], max_words=self.max_words).fit(column)
        return CategoryColumn(self.labels[position], mark_gaps=self.mark_gaps).fit(column)

    def _as_frame(self, table: Table) -> pd.DataFrame | None:
        """The table as a frame, where it may hold anything but numbers."""
        values = table.values
        if isinstance(values, pd.DataFrame):
            return values
        if sparse.issparse(values):
            if self.categorical or self.text:
                raise ViewError(
                    f"View '{table.name}' is sparse, so its columns are numbers. Name no other kind for them."
                )
            return None
        if values.dtype.kind in "iufb" and not self.categorical and not self.text:
            return None
        return pd.DataFrame(values)

    def _frame_as_in_fit(self, table: Table) -> pd.DataFrame | None:
        """The table as a frame; raises if it cannot hold the categories or texts that it held in fit."""
        frame = self._as_frame(table)
        if frame is None and self.columns:
            raise ViewError(
                f"View '{table.name}' holds numbers only, but had other columns in fit. Give the same columns."
            )
        return frame

    def _number_matrix(self, table: Table) -> Any:
        """The number columns, finite or NaN."""
        if len(self.numbers_at) < table.n_features:
            frame = cast(pd.DataFrame, self._frame_as_in_fit(table))
            table = replace(table, values=frame.iloc[:, self.numbers_at])
        if not len(self.numbers_at):
            return np.empty((table.n_rows, 0))
        try:
            matrix = to_matrix(table)
        except ViewError as error:
            raise ViewError(f"Columns of view '{table.name}' that held numbers in fit do not now: {error}") from error
        rows = infinite_rows(matrix)
        if len(rows):
            raise ViewError(
                f"View '{table.name}' contains infinity in {len(rows)} samples. Replace infinite values, by NaN if the "
                "feature is missing there."
            )
        return matrix


def _is_plain_number(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "iufb"


def _one_text(columns: Mapping[int, CategoryColumn]) -> str:
    """Columns of categories, of which there can be thousands, as one text."""
    return json.dumps([[int(position), vars(column)] for position, column in columns.items()])


def _columns_of(text: str) -> dict[int, CategoryColumn]:
    """The columns that ``_one_text`` wrote down."""
    columns = {}
    for position, learnt in json.loads(text):
        column = CategoryColumn(learnt["label"], mark_gaps=learnt["mark_gaps"])
        column.categories, column.marked = learnt["categories"], learnt["marked"]
        columns[position] = column
    return columns


def _labels(table: Table) -> list[str]:
    if table.columns is None:
        return [f"x{position}" for position in range(table.n_features)]
    return [str(label) for label in table.columns.tolist()]  # the index of a wide frame is slow to walk
