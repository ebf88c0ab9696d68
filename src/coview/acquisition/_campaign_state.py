"""Where every pair of a campaign stands, derived from its events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from coview.acquisition._campaign_data import CampaignData
from coview.acquisition._campaign_spending import Spending
from coview.storage import Event

__all__ = ["CampaignState", "PairState"]

# Kinds of events that change what models see.
_CHANGES_DATA = ("returned", "labeled")


@dataclass(frozen=True)
class PairState:
    """Where a pair stands: booked, returned or closed, since which event."""

    state: str
    event: Event


class CampaignState:
    """State of a campaign after its events; those undone never happened.

    Parameters
    ----------
    data : CampaignData
    spending : Spending or None

    Attributes
    ----------
    events : list of Event
        All of them.
    live : list of Event
        Those that count, each undone by the one that follows it first.
    pairs : dict of (row, view) to PairState
    values : dict of view to dict of row to ndarray of shape (p_j,)
    labels : dict of row to label
    """

    def __init__(self, data: CampaignData, spending: Spending | None) -> None:
        self._data = data
        self.spending = spending
        self.events: list[Event] = []
        self.live: list[Event] = []
        self._clear()

    def _clear(self) -> None:
        self.pairs: dict[tuple[int, str], PairState] = {}
        self.booked: dict[tuple[int, str], Event] = {}
        self.values: dict[str, dict[int, NDArray[Any]]] = {}
        self.labels: dict[int, Any] = {}
        if self.spending is not None:
            self.spending.clear()

    @property
    def last(self) -> int:
        """Id of the last event seen."""
        return self.events[-1].id if self.events else 0

    @property
    def data_version(self) -> int:
        """Id of the last event that changed what models see, 0 at the start; it determines all that is known."""
        return next((event.id for event in reversed(self.live) if event.kind in _CHANGES_DATA), 0)

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

    def is_open(self, row: int, view: str) -> bool:
        """Whether a pair that the data lacked at the start is neither booked nor returned nor closed."""
        return (row, view) not in self.pairs

    def cost(self, row: int, view: str) -> float | None:
        """What a pair adds to what is spent and ordered; None without costs."""
        return None if self.spending is None else self.spending.cost(row, view, self.booked)

    def ordered(self) -> float:
        """Costs of what is booked."""
        return 0.0 if self.spending is None else self.spending.total(self.booked)

    def left(self, budget: float | None) -> float | None:
        """What of a budget is neither spent nor booked; None without costs or budget."""
        return None if budget is None or self.spending is None else float(budget - self.spending.spent - self.ordered())

    def _apply(self, event: Event) -> None:
        content = event.content
        row = self._data.row(content["sample"])
        if event.kind == "labeled":
            if row not in self.labels and not content.get("replaces") and self.spending is not None:
                self.spending.pay_label()
            self.labels[row] = content["label"]
            return
        view = content["view"]
        before = self.pairs.get((row, view))
        self.pairs[row, view] = PairState(event.kind, event)
        self.booked.pop((row, view), None)
        if event.kind == "booked":
            self.booked[row, view] = event
        elif event.kind == "returned":
            self.values.setdefault(view, {})[row] = self._data.from_plain(content["values"])
        paid = event.kind == "returned" or content.get("outcome") == "failed"
        again = content.get("replaces") or (before is not None and before.state == "returned")
        if paid and not again and self.spending is not None:
            self.spending.pay(row, view)
