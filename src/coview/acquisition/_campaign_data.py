"""What a campaign starts from, and how samples, views and values are looked up in it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from coview.acquisition._campaign_labels import Targets
from coview.acquisition._costs import nearest
from coview.acquisition._tables import sample_names
from coview.exceptions import ViewError
from coview.views import AlignedTables, Table, Views, some

__all__ = ["CampaignData", "in_order"]

Array = NDArray[np.float64]


class CampaignData:
    """Views and target at the start of a campaign.

    Parameters
    ----------
    views : Views
    targets : Targets
    """

    def __init__(self, views: Views, targets: Targets) -> None:
        if len(targets.values) != len(views):
            raise ValueError(f"y must have one entry per sample; got {len(targets.values)} for {len(views)} samples.")
        self.views = views
        self.targets = targets
        self.samples = sample_names(views)
        self._rows = {str(sample): row for row, sample in enumerate(self.samples)}
        self._ranges: dict[str, tuple[Array, Array]] = {}

    def row(self, sample: Any) -> int:
        """Position of a sample."""
        row = self._rows.get(str(sample))
        if row is None:
            raise ViewError(_unknown("sample", sample, list(self._rows)))
        return row

    def column(self, view: Any) -> int:
        """Position of a view; None, of the label, which stands after all views."""
        if view is None:
            return len(self.views.names)
        if view not in self.views.names:
            raise ViewError(_unknown("view", view, self.views.names))
        return self.views.names.index(view)

    def known_values(self, row: int, view: str) -> Array | None:
        """Values (p_j,) that a sample had at the start, or None."""
        rows = self.views.rows(view)
        place = int(np.searchsorted(rows, row))
        if place == len(rows) or rows[place] != row:
            return None
        values = self.views[view][[place]]
        dense: Array = np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)
        return dense.ravel()

    def checked_values(self, sample: Any, view: str, values: Any) -> Array:
        """Values (p_j,) of a view as numbers in the order of its features; a warning where they are outside what was seen."""
        names, n_features = self.features(view), self.views.n_features[view]
        values = in_order(values, names, view)
        if sparse.issparse(values):
            values = values.toarray()
        try:
            numbers = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ViewError(
                f"The values of view {view!r} of sample {str(sample)!r} must be numbers: {error}."
            ) from error
        numbers = numbers[0] if numbers.ndim == 2 and len(numbers) == 1 else np.atleast_1d(numbers)
        if numbers.shape != (n_features,):
            raise ViewError(
                f"View {view!r} has {n_features} features ({some(names)}); got values of shape {numbers.shape} for sample "
                f"{str(sample)!r}."
            )
        self._check_finite(sample, view, numbers, names)
        self._warn_outside(sample, view, numbers, names)
        return numbers

    def ranges(self, view: str) -> tuple[Array, Array]:
        """Smallest and largest value of each feature at the start, NaN where none was seen."""
        if view not in self._ranges:
            block = self.views[view]
            if not block.shape[0]:
                self._ranges[view] = (np.full(block.shape[1], np.nan), np.full(block.shape[1], np.nan))
            elif sparse.issparse(block):
                self._ranges[view] = (block.min(axis=0).toarray().ravel(), block.max(axis=0).toarray().ravel())
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)  # a feature without any value
                    self._ranges[view] = (np.nanmin(block, axis=0), np.nanmax(block, axis=0))
        return self._ranges[view]

    def views_with(self, told: Mapping[str, Mapping[int, Array]]) -> Views:
        """The views with told values (view to row to values) in their places."""
        if not told:
            return self.views
        before = self.views.to_tables()
        presence = self.views.presence.copy()
        tables = []
        for j, table in enumerate(before.tables):
            new = told.get(table.name)
            if new:
                presence[list(new), j] = True
                table = _with_rows(table, new)
            tables.append(table)
        return Views.from_tables(
            AlignedTables(tuple(tables), before.ids, before.has_ids, before.same_order, presence=presence)
        )

    def features(self, view: str) -> list[str]:
        """Names of the features of a view, positions where they have none."""
        columns = self.views.feature_names[view]
        return [str(name) for name in (range(self.views.n_features[view]) if columns is None else columns)]

    def kinds(self, view: str) -> list[str]:
        """What each feature of a view is: numbers here."""
        return ["number"] * self.views.n_features[view]

    def seen(self, view: str) -> list[Any]:
        """What was seen of each feature at the start: smallest and largest number."""
        return list(zip(*(bound.tolist() for bound in self.ranges(view)), strict=True))

    def tables_with(self, told: Mapping[str, Mapping[int, Array]]) -> list[Table]:
        """The tables with told values in their places."""
        return list(self.views_with(told).to_tables().tables)

    def differences(self, known: NDArray[Any], values: NDArray[Any]) -> NDArray[np.bool_]:
        """Where two rows of values differ; gaps are equal."""
        return np.asarray(~((known == values) | (np.isnan(known) & np.isnan(values))), dtype=bool)

    def shown(self, value: Any) -> str:
        """A value in a message."""
        return f"{value:g}"

    def to_plain(self, values: NDArray[Any]) -> list[Any]:
        """Values of a pair as JSON holds them."""
        return [None if np.isnan(value) else float(value) for value in values]

    def from_plain(self, values: list[Any]) -> NDArray[Any]:
        """What `to_plain` gave."""
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    def _check_finite(self, sample: Any, view: str, numbers: Array, names: list[str]) -> None:
        bad, block = ~np.isfinite(numbers), self.views[view]
        if not sparse.issparse(block) and block.dtype.kind == "f" and not np.isnan(numbers).all():
            bad &= np.isinf(numbers) | ~np.isnan(block).any(axis=0)  # a feature may have had gaps from the start
        if bad.any():
            raise ViewError(
                f"The values of view {view!r} of sample {str(sample)!r} must be finite and complete; "
                f"{some([names[k] for k in np.flatnonzero(bad)])} are not. Close the pair if it could not be measured."
            )

    def _warn_outside(self, sample: Any, view: str, numbers: Array, names: list[str]) -> None:
        low, high = self.ranges(view)
        outside = np.flatnonzero((numbers < low) | (numbers > high))
        if outside.size:
            shown = [f"{names[k]} = {numbers[k]:g} (seen: {low[k]:g} to {high[k]:g})" for k in outside[:3]]
            more = f" and {outside.size - 3} more" if outside.size > 3 else ""
            warnings.warn(
                f"View {view!r} of sample {str(sample)!r} is outside what was seen: {', '.join(shown)}{more}. Check the unit.",
                UserWarning,
                stacklevel=4,
            )


def _with_rows(table: Table, new: Mapping[int, Array]) -> Table:
    """A table with values of samples added or replaced."""
    keep = ~np.isin(table.rows if table.rows is not None else np.arange(table.n_rows), list(new))
    rows = table.rows if table.rows is not None else np.arange(table.n_rows)
    added = np.array(list(new.values()))
    if sparse.issparse(table.values):
        values = sparse.vstack([table.values[np.flatnonzero(keep)], sparse.csr_array(added)], format="csr")
    else:
        kind = table.values.dtype if table.values.dtype.kind == "f" else np.float64
        values = np.concatenate([table.values[keep], added]).astype(kind, copy=False)
    places = np.concatenate([rows[keep], np.fromiter(new, dtype=np.intp)])
    return Table(table.name, values, table.columns, rows=places)


def _is_positional(values: Any) -> bool:
    """Whether a Series has no names, so that its order counts."""
    return isinstance(values, pd.Series) and isinstance(values.index, pd.RangeIndex)


def in_order(values: Any, names: list[str], view: str) -> Any:
    """Values by the names of features in the order of these; anything else as it is."""
    if not isinstance(values, Mapping | pd.Series) or _is_positional(values):
        return values
    values = dict(values)
    given = {str(name): value for name, value in values.items()}
    absent = [name for name in names if name not in given]
    unknown = [name for name in given if name not in set(names)]
    if unknown:
        raise ViewError(_unknown(f"feature of view {view!r}", unknown[0], names))
    if absent:
        raise ViewError(f"View {view!r} needs a value for {some(absent)}; a part of a view cannot be told.")
    return [given[name] for name in names]


def _unknown(kind: str, name: Any, known: list[str]) -> str:
    near = nearest(name, known)
    hint = f"Did you mean {near}?" if near else f"There are {some(known)}."
    return f"There is no {kind} {str(name)!r}. {hint}"
