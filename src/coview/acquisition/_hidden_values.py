"""Views of which some known pairs of sample and view are hidden."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from coview.views import AlignedTables, Views

__all__ = ["shown_views"]


def shown_views(views: Views, presence: NDArray[np.bool_]) -> Views:
    """The views with some pairs alone."""
    before = views.to_tables()
    tables = []
    for j, table in enumerate(before.tables):
        rows = views.rows(table.name)
        keep = presence[rows, j]
        tables.append(dataclasses.replace(table, values=table.values[keep], rows=rows[keep]))
    return Views.from_tables(AlignedTables(tuple(tables), before.ids, before.has_ids, before.same_order, presence))
