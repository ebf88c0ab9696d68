"""The cells of one view as their owner writes them: numbers, categories, text, and gaps."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from coview.exceptions import ViewError
from coview.views import Table, column_kind, id_text

__all__ = ["ViewCells"]

Array = NDArray[Any]

# Words for truth values, as people write them into forms.
_TRUTH = {"true": 1.0, "yes": 1.0, "1": 1.0, "false": 0.0, "no": 0.0, "0": 0.0}


@dataclass(frozen=True)
class ViewCells:
    """Cells of the samples that have a view.

    Attributes
    ----------
    name : str
    columns : list of str
    kinds : list of str
        ``"number"``, ``"truth"``, ``"category"`` or ``"text"`` for each column.
    values : DataFrame or csr_array of shape (n_rows, n_columns)
        Numbers and truth values as float64, categories and text as str.
    rows : ndarray of shape (n_rows,), increasing
        Samples.
    """

    name: str
    columns: list[str]
    kinds: list[str]
    values: Any
    rows: NDArray[np.intp]

    @classmethod
    def of(cls, table: Table, rows: NDArray[np.intp], categories: Iterable[Any], texts: Iterable[Any]) -> ViewCells:
        """The rows of a table that belong to samples with the view; names or positions of categories and text."""
        owners = np.arange(table.n_rows) if table.rows is None else table.rows
        order = np.argsort(owners, kind="stable")
        at = order[np.searchsorted(owners, rows, sorter=order)]
        labels = list(range(table.n_features)) if table.columns is None else table.columns.tolist()
        names = [str(label) for label in labels]
        if sparse.issparse(table.values):
            return cls(table.name, names, ["number"] * len(names), sparse.csr_array(table.values)[at], rows)
        frame = table.values if isinstance(table.values, pd.DataFrame) else pd.DataFrame(table.values)
        frame = frame.iloc[at].set_axis(names, axis=1).reset_index(drop=True)
        categories, texts = set(categories), set(texts)
        kinds = [
            "category"
            if label in categories
            else "text"
            if label in texts
            else "truth"
            if pd.api.types.is_bool_dtype(frame.dtypes.iloc[k])
            else "number"
            for k, label in enumerate(labels)
        ]
        return cls(table.name, names, kinds, _normalized(frame, kinds), rows)

    def table(self, new: Mapping[int, Array]) -> Table:
        """The table with cells of further samples, or others in place of theirs."""
        columns = pd.Index(self.columns, dtype=object)
        if not new:
            return Table(self.name, self.values, columns, rows=self.rows)
        keep = ~np.isin(self.rows, list(new))
        rows = np.concatenate([self.rows[keep], np.fromiter(new, dtype=np.intp)])
        order = np.argsort(rows, kind="stable")
        if sparse.issparse(self.values):
            added = sparse.csr_array(np.array([cells.astype(np.float64) for cells in new.values()]))
            values = sparse.vstack([self.values[np.flatnonzero(keep)], added], format="csr")[order]
        else:
            frame = _normalized(pd.DataFrame(list(new.values()), columns=self.columns), self.kinds)
            values = pd.concat([self.values[keep], frame], ignore_index=True).iloc[order].reset_index(drop=True)
        return Table(self.name, values, columns, rows=rows[order])

    def known(self, row: int) -> Array | None:
        """Cells (n_columns,) of a sample, None for gaps; None as a whole where it lacks the view."""
        at = int(np.searchsorted(self.rows, row))
        if at == len(self.rows) or self.rows[at] != row:
            return None
        if sparse.issparse(self.values):
            return np.asarray(self.values[[at]].toarray().ravel(), dtype=object)
        return np.array([_plain(cell) for cell in self.values.iloc[at]] or [], dtype=object)

    def checked(self, sample: Any, cells: Iterable[Any]) -> Array:
        """Told cells (n_columns,) as they are kept, None for gaps."""
        kept = np.array(
            [
                self._cell(sample, name, kind, cell)
                for name, kind, cell in zip(self.columns, self.kinds, cells, strict=True)
            ],
            dtype=object,
        )
        gaps = [k for k, cell in enumerate(kept) if cell is None]
        if len(gaps) == len(kept):
            raise ViewError(
                f"View {self.name!r} of sample {str(sample)!r} has no value. Close the pair if it could not be measured."
            )
        refused = [self.columns[k] for k in gaps if not self._has_gaps(k)]
        if refused:
            shown = ", ".join(map(repr, refused[:5]))
            raise ViewError(
                f"View {self.name!r} of sample {str(sample)!r} needs a value for {shown}: no sample lacks it, so the model does "
                "not know what a gap there means. Give it, or close the pair if it could not be measured."
            )
        return kept

    def surprises(self, cells: Array) -> list[str]:
        """In words, what of some cells was never seen: numbers outside the range, other categories."""
        said = []
        for k, cell in enumerate(cells):
            if cell is None or self.kinds[k] in ("text", "truth"):
                continue
            if self.kinds[k] == "category":
                seen = self.categories(k)
                if cell not in seen:
                    said.append(f"{self.columns[k]} = {cell!r} (seen: {', '.join(seen[:8])}), which counts as none")
                continue
            low, high = self.range(k)
            if not low <= cell <= high:
                said.append(f"{self.columns[k]} = {cell:g} (seen: {low:g} to {high:g})")
        return said

    def range(self, k: int) -> tuple[float, float]:
        """Smallest and largest number of a column, NaN where there is none."""
        if sparse.issparse(self.values):
            column = self.values[:, [k]].toarray().ravel()
        else:
            column = self.values.iloc[:, k].to_numpy(dtype=np.float64)
        column = column[~np.isnan(column)]
        return (float(column.min()), float(column.max())) if column.size else (np.nan, np.nan)

    def categories(self, k: int) -> list[str]:
        """Categories of a column, sorted."""
        return sorted(self.values.iloc[:, k].dropna().unique().tolist())

    def _has_gaps(self, k: int) -> bool:
        return not sparse.issparse(self.values) and bool(self.values.iloc[:, k].isna().any())

    def _cell(self, sample: Any, name: str, kind: str, cell: Any) -> Any:
        plain = cell.item() if isinstance(cell, np.generic) else cell
        if plain is None or (pd.api.types.is_scalar(plain) and pd.isna(plain)) or plain == "":
            return None
        if kind in ("category", "text"):
            text = str(id_text(pd.Index([plain]))[0])
            return text.strip() if kind == "category" else text
        number = _number(plain, truth=kind == "truth")
        if number is None:
            wanted = "truth value" if kind == "truth" else "number"
            raise ViewError(
                f"{name} of view {self.name!r} of sample {str(sample)!r} must be a {wanted}; got {plain!r}."
            )
        return number


def _number(cell: Any, *, truth: bool) -> float | None:
    """A finite number, None where the cell holds none."""
    if isinstance(cell, str):
        if truth and cell.strip().casefold() in _TRUTH:
            return _TRUTH[cell.strip().casefold()]
        try:
            cell = float(cell)
        except ValueError:
            return None
    if not isinstance(cell, numbers.Real) or not math.isfinite(cell):
        return None
    return float(cell) if not truth or cell in (0, 1) else None


def _normalized(frame: pd.DataFrame, kinds: list[str]) -> pd.DataFrame:
    """Numbers as float64, everything else as str; gaps stay gaps."""
    columns = {}
    for k, kind in enumerate(kinds):
        column = frame.iloc[:, k]
        if kind in ("number", "truth"):
            if column_kind(column) not in ("number",):
                raise ViewError(f"Column {frame.columns[k]!r} must hold numbers.")
            columns[k] = column.astype(object).where(column.notna(), np.nan).astype(np.float64)
        else:
            held = column.dropna()
            columns[k] = pd.Series(id_text(pd.Index(held)), index=held.index, dtype="str").reindex(column.index)
    wide = pd.DataFrame(columns, index=frame.index)
    return wide.set_axis(frame.columns, axis=1)


def _plain(cell: Any) -> Any:
    if pd.isna(cell):
        return None
    return float(cell) if isinstance(cell, numbers.Real) else str(cell)
