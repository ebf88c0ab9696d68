"""A campaign as people read it: its history, its orders, its status."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from coview.acquisition._campaign_data import CampaignData
from coview.acquisition._campaign_rules import OUTCOMES
from coview.acquisition._campaign_state import CampaignState
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
    types = {"event": "int64", "view": "object", "cost": "float64", "utility": "float64", "undone": "bool"}
    table = table.astype(types)
    return table.assign(view=table["view"].where(table["view"].notna(), None))


def orders_table(state: CampaignState) -> pd.DataFrame:
    """One row per pair or label that is booked."""
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
    data: CampaignData, state: CampaignState, suggested: pd.DataFrame, budget: float | None, kind: str
) -> dict[str, Any]:
    """Counts and money; see `Campaign.status`."""
    missing = ~np.column_stack([data.views.presence, data.targets.labeled])
    labeled = data.targets.labeled.copy()
    labeled[list(state.labels)] = True
    priced, left = state.account.priced, state.left(budget)
    views, labels = (_counts(data, state, missing, suggested, of_labels) for of_labels in (False, True))
    return {
        "samples": len(data.views),
        "views": list(data.views.names),
        "labeled": int(labeled.sum()),
        **views,
        "labels": labels,
        "budget": budget,
        "spent": float(state.account.spent) if priced else None,
        "ordered": state.ordered() if priced else None,
        "left": left,
        "remark": _remark(state, kind, left),
    }


def _counts(
    data: CampaignData, state: CampaignState, missing: NDArray[np.bool_], suggested: pd.DataFrame, of_labels: bool
) -> dict[str, Any]:
    """How many of the views, or of the labels, that were missing at the start stand where."""
    at = [
        place
        for (row, view), place in state.pairs.items()
        if (view is None) == of_labels and missing[row, data.column(view)]
    ]
    states = Counter(place.state for place in at)
    closed = Counter(place.event.content["outcome"] for place in at if place.state == "closed")
    rows = [data.row(sample) for sample in suggested["sample"]]
    columns = [data.column(None if pd.isna(view) else view) for view in suggested["view"]]
    mine = np.array(columns) == len(data.views.names) if of_labels else np.array(columns) < len(data.views.names)
    return {
        "open": int(_part(state.open, of_labels).sum()),
        "suggested": int(state.open[rows, columns][mine].sum()) if rows else 0,
        "booked": states["booked"],
        "returned": states["returned"],
        "closed": {outcome: closed[outcome] for outcome in OUTCOMES},
    }


def _part(places: NDArray[np.bool_], of_labels: bool) -> NDArray[np.bool_]:
    """The columns of views, or that of labels."""
    return places[:, -1:] if of_labels else places[:, :-1]


_NOTHING = {
    "views": "No measurement is open: all that can be measured is known, booked or closed.",
    "labels": "No label is open: all are known, booked or closed.",
    "both": "Nothing is open: all that can be measured, and all labels, are known, booked or closed.",
}


def _remark(state: CampaignState, kind: str, left: float | None) -> str:
    """Why nothing of a kind can be asked."""
    places = np.argwhere(state.open)
    is_label = places[:, 1] == state.open.shape[1] - 1
    places = places[{"views": ~is_label, "labels": is_label, "both": np.ones_like(is_label)}[kind]]
    if not len(places):
        return _NOTHING[kind]
    if left is not None:
        cheapest = state.account.prices(places, state.account.together(state.booked_places)[1]).min()
        if cheapest > left:
            what = {"views": "measurements", "labels": "labels", "both": "measurements and labels"}[kind]
            return f"Of the budget {left:g} are left, and the cheapest of the {len(places)} open {what} costs {cheapest:g}."
    return ""
