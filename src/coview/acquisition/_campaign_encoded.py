"""What a campaign starts from where its data are tables of any kind: the cells of their owner, and an encoder."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from coview.acquisition._campaign_cells import ViewCells
from coview.acquisition._campaign_data import CampaignData, in_order
from coview.acquisition._campaign_labels import Targets
from coview.exceptions import ViewError
from coview.views import AlignedTables, Table, Views

__all__ = ["EncodedData", "cells_of", "encoder_and_model"]


def encoder_and_model(model: Any) -> tuple[Any, Any]:
    """The two parts of a pipeline that begins with an encoder of tables; (None, model) for anything else."""
    if isinstance(model, Pipeline) and len(model.steps) > 1 and get_tags(model[0]).input_tags.categorical:
        rest = model[1:]
        return model[0], rest[0] if len(rest) == 1 else rest
    return None, model


def cells_of(tables: AlignedTables, views: Views, encoder: Any) -> dict[str, ViewCells]:
    """The cells of every view, by name, as a fitted encoder reads them."""
    return {
        table.name: ViewCells.of(
            table,
            views.rows(table.name),
            encoder.categorical_columns_[table.name],
            encoder.text_columns_[table.name],
        )
        for table in tables.tables
    }


class EncodedData(CampaignData):
    """Tables at the start of a campaign, and the views that an encoder makes of them.

    Values of pairs are cells: float or str, None for gaps.

    Parameters
    ----------
    views : Views
        Encoded.
    targets : Targets
    cells : dict of str to ViewCells
    encoder : callable
        Gives the fitted encoder.
    """

    def __init__(
        self, views: Views, targets: Targets, cells: Mapping[str, ViewCells], encoder: Callable[[], Any]
    ) -> None:
        super().__init__(views, targets)
        self.cells = cells
        self.encoder = encoder

    def features(self, view: str) -> list[str]:
        """Names of the columns of a view."""
        return self.cells[view].columns

    def kinds(self, view: str) -> list[str]:
        """What each column of a view holds."""
        return self.cells[view].kinds

    def seen(self, view: str) -> list[tuple[float, float] | list[str]]:
        """What was seen of each column at the start: smallest and largest number, or the categories."""
        cells = self.cells[view]
        return [
            cells.categories(k) if kind == "category" else [] if kind == "text" else cells.range(k)
            for k, kind in enumerate(cells.kinds)
        ]

    def known_values(self, row: int, view: str) -> NDArray[Any] | None:
        """Cells of a pair at the start, or None."""
        return self.cells[view].known(row)

    def checked_values(self, sample: Any, view: str, values: Any) -> NDArray[Any]:
        """Cells of a view in the order of its columns; a warning where they are outside what was seen."""
        cells = self.cells[view]
        values = in_order(values, cells.columns, view)
        row = values.tolist() if isinstance(values, np.ndarray | pd.Series) else values
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != len(cells.columns):
            raise ViewError(
                f"View {view!r} has {len(cells.columns)} columns ({', '.join(cells.columns[:5])}); got {values!r} for sample "
                f"{str(sample)!r}."
            )
        kept = cells.checked(sample, row)
        surprises = cells.surprises(kept)
        if surprises:
            more = f" and {len(surprises) - 3} more" if len(surprises) > 3 else ""
            warnings.warn(
                f"View {view!r} of sample {str(sample)!r} is outside what was seen: {', '.join(surprises[:3])}{more}. Check it.",
                UserWarning,
                stacklevel=3,
            )
        return kept

    def views_with(self, told: Mapping[str, Mapping[int, NDArray[Any]]]) -> Views:
        """The encoded views with told cells in their places."""
        if not any(told.values()):
            return self.views
        views: Views = self.encoder().transform(self._aligned(told))
        return views

    def tables_with(self, told: Mapping[str, Mapping[int, NDArray[Any]]]) -> list[Table]:
        """The tables with told cells in their places."""
        return [self.cells[view].table(told.get(view, {})) for view in self.views.names]

    def differences(self, known: NDArray[Any], values: NDArray[Any]) -> NDArray[np.bool_]:
        """Where two rows of cells differ."""
        return np.array([a != b for a, b in zip(known, values, strict=True)], dtype=bool)

    def shown(self, value: Any) -> str:
        """A cell in a message."""
        return "empty" if value is None else f"{value:g}" if isinstance(value, float) else repr(value)

    def to_plain(self, values: NDArray[Any]) -> list[Any]:
        """Cells as JSON holds them."""
        return list(values)

    def from_plain(self, values: list[Any]) -> NDArray[Any]:
        """What `to_plain` gave."""
        kept = np.empty(len(values), dtype=object)
        kept[:] = values
        return kept

    def _aligned(self, told: Mapping[str, Mapping[int, NDArray[Any]]]) -> AlignedTables:
        start = self.views.to_tables()
        return AlignedTables(tuple(self.tables_with(told)), start.ids, start.has_ids, start.same_order)
