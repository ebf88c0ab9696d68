"""What a campaign has spent and what is ordered; shares of groups are paid once per sample."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.acquisition._costs import Costs

__all__ = ["Spending"]


class Spending:
    """Costs of a campaign so far.

    Parameters
    ----------
    costs : Costs
    samples : ndarray of shape (n_samples,)
    names : list of str
    presence : ndarray of shape (n_samples, n_views), dtype=bool
        At the start: groups of which a sample had a view are paid.
    """

    def __init__(self, costs: Costs, samples: NDArray[Any], names: list[str], presence: NDArray[np.bool_]) -> None:
        self._costs = costs
        self._samples = samples
        self._names = names
        self._groups = {view: [g for g, (members, _) in costs.groups.items() if view in members] for view in names}
        self._members = {g: [names.index(view) for view in members] for g, (members, _) in costs.groups.items()}
        self._presence = presence
        self.clear()

    def clear(self) -> None:
        """Nothing spent."""
        self._own = 0.0
        self._paid: set[tuple[int, str]] = set()

    @property
    def spent(self) -> float:
        """Costs of what was measured, of what failed, and of labels."""
        return self._own + sum(self._costs.groups[group][1] for _, group in self._paid)

    def pay(self, row: int, view: str) -> None:
        """A measurement has taken place."""
        self._own += self._price(row, view)
        self._paid.update(self._unpaid(row, view, ()))

    @property
    def label(self) -> float:
        """Cost of one label."""
        return float(self._costs.label)

    def pay_label(self) -> None:
        """A label has been told."""
        self._own += self.label

    def cost(self, row: int, view: str, ordered: Collection[tuple[int, str]] = ()) -> float:
        """What one measurement would add to what is spent, and to pairs (row, view) that are ordered."""
        unpaid = self._unpaid(row, view, [other for at, other in ordered if at == row and other != view])
        return self._price(row, view) + sum(self._costs.groups[group][1] for _, group in unpaid)

    def total(self, ordered: Iterable[tuple[int, str]]) -> float:
        """What several measurements would add to what is spent."""
        ordered = list(ordered)
        groups = {place for row, view in ordered for place in self._unpaid(row, view, ())}
        return sum(self._price(*pair) for pair in ordered) + sum(self._costs.groups[group][1] for _, group in groups)

    def allowed(self, row: int, view: str) -> bool:
        """Whether a pair can be measured at all."""
        return bool(self._costs.allowed([self._samples[row]], [view])[0])

    def _price(self, row: int, view: str) -> float:
        return float(self._costs.pairs.get((str(self._samples[row]), view), self._costs.views.get(view, 0.0)))

    def _unpaid(self, row: int, view: str, others: Iterable[str]) -> list[tuple[int, str]]:
        """Groups of a view that are paid neither for the sample nor through other views ordered of it."""
        shared = {group for other in others for group in self._groups[other]}
        return [
            (row, group)
            for group in self._groups[view]
            if group not in shared and (row, group) not in self._paid and not self._had(row, group)
        ]

    def _had(self, row: int, group: str) -> bool:
        return bool(self._presence[row, self._members[group]].any())
