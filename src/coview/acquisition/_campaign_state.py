"""Where every pair and every label of a campaign stands, derived from its events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.acquisition._accounts import Account
from coview.acquisition._campaign_data import CampaignData
from coview.storage import Event

__all__ = ["CHANGES_DATA", "CampaignState", "PairState"]

# Kinds of events that change what models see.
CHANGES_DATA = ("returned", "labeled")


@dataclass(frozen=True)
class PairState:
    """Where a pair or a label stands: booked, returned or closed, since which event."""

    state: str
    event: Event


class CampaignState:
    """State of a campaign after its events; those undone never happened.

    Parameters
    ----------
    data : CampaignData
    account : Account

    Attributes
    ----------
    events : list of Event
        All of them.
    live : list of Event
        Those that count, each undone by the one that follows it first.
    pairs : dict of (row, view) to PairState
        The view is None where it is about the label.
    booked : dict of (row, view) to Event
    open : ndarray of shape (n_samples, n_views + 1), dtype=bool
        What can be suggested: views, and in the last column labels, that are neither known nor booked nor closed nor impossible.
    values : dict of view to dict of row to ndarray of shape (p_j,)
    labels : dict of row to label
    """

    def __init__(self, data: CampaignData, account: Account) -> None:
        self._data = data
        self.account = account
        self.events: list[Event] = []
        self.live: list[Event] = []
        self._clear()

    def _clear(self) -> None:
        self.pairs: dict[tuple[int, str | None], PairState] = {}
        self.booked: dict[tuple[int, str | None], Event] = {}
        self.values: dict[str, dict[int, NDArray[Any]]] = {}
        self.labels: dict[int, Any] = {}
        data = self._data
        self.open = self.account.allowed & ~np.column_stack([data.views.presence, data.targets.labeled])
        self.account.clear()

    @property
    def last(self) -> int:
        """Id of the last event seen."""
        return self.events[-1].id if self.events else 0

    @property
    def data_version(self) -> int:
        """Id of the last event that changed what models see, 0 at the start; it determines all that is known."""
        return next((event.id for event in reversed(self.live) if event.kind in CHANGES_DATA), 0)

    def extend(self, events: Iterable[Event]) -> None:
        """Take in further events."""
        fresh, undone = [], False
        for event in events:
            self.events.append(event)
            if event.kind == "undone":
                self.live.pop()
                undone = True
            else:
                self.live.append(event)
                fresh.append(event)
        if undone:
            self._clear()
            fresh = self.live
        for event in fresh:
            self._apply(event)

    def known(self, row: int, view: str) -> NDArray[Any] | None:
        """Values (p_j,) of a pair as far as they are known."""
        told = self.values.get(view, {}).get(row)
        return self._data.known_values(row, view) if told is None else told

    def label(self, row: int) -> Any:
        """Label of a sample, None if unlabeled."""
        if row in self.labels:
            return self.labels[row]
        return self._data.targets.values[row] if self._data.targets.labeled[row] else None

    def is_known(self, row: int, view: str | None) -> bool:
        """Whether a view of a sample, or its label, is known."""
        return (self.label(row) if view is None else self.known(row, view)) is not None

    def cost(self, row: int, view: str | None) -> float | None:
        """What a measurement, or a label, adds to what is spent; None without costs."""
        return self.account.price(row, self._data.column(view)) if self.account.priced else None

    def further_cost(self, row: int, view: str | None) -> float | None:
        """What it adds to what is spent and ordered."""
        if not self.account.priced:
            return None
        place = np.array([[row, self._data.column(view)]])
        return float(self.account.prices(place, self.account.together(self.booked_places)[1])[0])

    @property
    def booked_places(self) -> list[tuple[int, int]]:
        """Rows and columns of what is booked."""
        return sorted((row, self._data.column(view)) for row, view in self.booked)

    def ordered(self) -> float:
        """Costs of what is booked."""
        return self.account.together(self.booked_places)[0]

    def left(self, budget: float | None) -> float | None:
        """What of a budget is neither spent nor booked; None without costs or budget."""
        return None if budget is None or not self.account.priced else budget - self.account.spent - self.ordered()

    def _apply(self, event: Event) -> None:
        content, is_label = event.content, event.kind == "labeled"
        row, view = self._data.row(content["sample"]), content.get("view")
        column, before = self._data.column(view), self.pairs.get((row, view))
        self.pairs[row, view] = PairState("returned" if is_label else event.kind, event)
        self.open[row, column] = False
        self.booked.pop((row, view), None)
        if is_label:
            self.labels[row] = content["label"]
        elif event.kind == "booked":
            self.booked[row, view] = event
        elif event.kind == "returned":
            self.values.setdefault(content["view"], {})[row] = self._data.from_plain(content["values"])
        paid = is_label or event.kind == "returned" or content.get("outcome") == "failed"
        again = content.get("replaces") or (before is not None and before.state == "returned")
        if paid and not again:
            self.account.pay(row, column)
