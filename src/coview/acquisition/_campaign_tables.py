"""A campaign as people read it: its history, its orders, its status."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from coview.acquisition._campaign_data import CampaignData
from coview.acquisition._campaign_state import CampaignState
from coview.acquisition._costs import Costs
from coview.views import to_sparse_frame

__all__ = ["features_of", "history_table", "orders_table", "status_of", "tables_of"]

_DETAILS = ("sample", "view", "values", "label", "outcome", "reason", "cost", "utility")


def history_table(state: CampaignState) -> pd.DataFrame:
    """One row per event."""
    counted = {event.id for event in state.live}
    rows = [
        {
            "event": event.id,
            "time": pd.Timestamp(event.time),
            "action": event.kind,
            **{name: event.content.get(name) for name in _DETAILS},
            "undone": event.id not in counted and event.kind != "undone",
        }
        for event in state.events
    ]
    table = pd.DataFrame(rows, columns=["event", "time", "action", *_DETAILS, "undone"])
    types = {"event": "int64", "cost": "float64", "utility": "float64", "undone": "bool"}
    return table.astype(types)


def orders_table(state: CampaignState) -> pd.DataFrame:
    """One row per pair that is booked."""
    table = history_table(state)
    wanted = table["event"].isin([event.id for event in state.booked.values()])
    return table.loc[wanted, ["event", "time", "sample", "view", "cost", "utility"]].reset_index(drop=True)


def tables_of(data: CampaignData, state: CampaignState) -> dict[str, pd.DataFrame]:
    """What is known of every view, by sample."""
    return {
        table.name: _to_frame(table.values, data.features(table.name)).set_axis(
            pd.Index(data.samples[table.rows], name="sample"), axis=0
        )
        for table in data.tables_with(state.values)
    }


def _to_frame(values: Any, columns: list[str]) -> pd.DataFrame:
    """Values as a table; sparse ones stay sparse."""
    if sparse.issparse(values):
        rows = np.arange(values.shape[0])
        return to_sparse_frame(sparse.csr_array(values), rows, pd.RangeIndex(len(rows)), pd.Index(columns))
    return pd.DataFrame(values).set_axis(columns, axis=1)


def features_of(data: CampaignData, view: str) -> pd.DataFrame:
    """The features of a view: what they are, and what was seen of them at the start."""
    rows = [
        {
            "kind": kind,
            "low": seen[0] if kind in ("number", "truth") else np.nan,
            "high": seen[1] if kind in ("number", "truth") else np.nan,
            "categories": seen if kind == "category" else [],
        }
        for kind, seen in zip(data.kinds(view), data.seen(view), strict=True)
    ]
    return pd.DataFrame(rows, index=pd.Index(data.features(view), name="feature"))


def status_of(
    data: CampaignData, state: CampaignState, suggested: pd.DataFrame, costs: Costs | None, budget: float | None
) -> dict[str, Any]:
    """Counts and money; see `Campaign.status`."""
    missing = [(int(row), data.views.names[j]) for row, j in np.argwhere(~data.views.presence)]
    excluded = frozenset() if costs is None else frozenset(costs.excluded)
    can_be = [(row, view) for row, view in missing if (str(data.samples[row]), view) not in excluded]
    pairs = [pair for pair in can_be if state.is_open(*pair)]
    states = Counter(state.pairs[pair].state for pair in missing if pair in state.pairs)
    closed = Counter(
        at.event.content["outcome"] for at in map(state.pairs.get, missing) if at is not None and at.state == "closed"
    )
    labeled = data.targets.labeled.copy()
    labeled[list(state.labels)] = True
    spent = None if state.spending is None else state.spending.spent
    ordered = None if state.spending is None else state.ordered()
    left = state.left(budget)
    return {
        "samples": len(data.views),
        "views": list(data.views.names),
        "labeled": int(labeled.sum()),
        "open": len(pairs),
        "suggested": sum(
            state.is_open(data.row(sample), view)
            for sample, view in zip(suggested["sample"], suggested["view"], strict=True)
        ),
        "booked": states["booked"],
        "returned": states["returned"],
        "closed": {outcome: closed[outcome] for outcome in ("failed", "declined", "impossible")},
        "budget": budget,
        "spent": spent,
        "ordered": ordered,
        "left": left,
        "remark": _remark(state, pairs, left),
    }


def _remark(state: CampaignState, pairs: list[tuple[int, str]], left: float | None) -> str:
    """Why nothing can be asked."""
    if not pairs:
        return "No measurement is open: all that can be measured is known, booked or closed."
    if left is not None and state.spending is not None:
        cheapest = min(state.spending.cost(row, view, state.booked) for row, view in pairs)
        if cheapest > left:
            return f"Of the budget {left:g} are left, and the cheapest of the {len(pairs)} open measurements costs {cheapest:g}."
    return ""
