"""What measurements and labels cost together: what was paid, and what a batch adds; shares of groups once per sample."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coview.acquisition._costs import Costs

__all__ = ["Account", "Basket"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]


class Account:
    """Prices of everything that can be asked of some samples, and what of it has been paid.

    A place is a row, the sample, and a column: that of a view, or the one after all views, of the label.

    Parameters
    ----------
    own : ndarray of shape (n_samples, n_columns)
        What each place costs beside shares of groups.
    members : ndarray of shape (n_columns, n_groups), dtype=bool
        Groups of each column.
    shares : ndarray of shape (n_groups,)
        What is paid once per sample for each group.
    had : ndarray of shape (n_samples, n_groups), dtype=bool
        Groups that samples have paid at the start.
    allowed : ndarray of shape (n_samples, n_columns), dtype=bool
    priced : bool
        Whether there are costs at all.

    Attributes
    ----------
    spent : float
    paid : ndarray of shape (n_samples, n_groups), dtype=bool
    """

    def __init__(self, own: Array, members: Mask, shares: Array, had: Mask, allowed: Mask, *, priced: bool) -> None:
        self.own, self.members, self.shares = own, members, shares
        self.allowed, self.priced = allowed, priced
        self._had = had
        self.clear()

    @classmethod
    def of(cls, costs: Costs | None, samples: NDArray[Any], names: Sequence[str], presence: Mask) -> Self:
        """The account of a table of samples and views that has what ``presence`` (n_samples, n_views) says.

        Groups of which a sample has a view are paid.
        """
        n, m, priced = len(samples), len(names), costs is not None
        costs = costs or Costs()
        members = np.zeros((m + 1, len(costs.groups)), dtype=bool)
        for g, (views, _) in enumerate(costs.groups.values()):
            members[:m, g] = np.isin(np.asarray(names, dtype=object), list(views))
        own = np.tile(
            np.array([*(costs.views.get(name, 0.0) for name in names), costs.label], dtype=np.float64), (n, 1)
        )
        allowed = np.ones((n, m + 1), dtype=bool)
        column = {name: j for j, name in enumerate(names)}
        if costs.pairs or costs.excluded:
            row = {str(sample): i for i, sample in enumerate(np.asarray(samples).tolist())}
            for (sample, view), price in costs.pairs.items():
                own[row[sample], column[view]] = price
            for sample, view in costs.excluded:
                allowed[row[sample], column[view]] = False
        shares = np.array([price for _, price in costs.groups.values()], dtype=np.float64)
        had = presence.astype(np.intp) @ members[:m].astype(np.intp) > 0
        return cls(own, members, shares, had, allowed, priced=priced)

    def clear(self) -> None:
        """Nothing spent."""
        self.spent = 0.0
        self.paid = self._had.copy()

    def price(self, row: int, column: int) -> float:
        """What one place adds to what is spent."""
        return float(self.prices(np.array([[row, column]]), self.paid)[0])

    def prices(self, places: Places, paid: Mask) -> Array:
        """What each of some places (n_places, 2) costs alone where groups are paid already (n_places,)."""
        rows, columns = places.T
        return np.asarray(self.own[rows, columns] + (self.members[columns] & ~paid[rows]) @ self.shares)

    def pay(self, row: int, column: int) -> None:
        """What stands at a place has been measured, or was tried."""
        self.spent += self.price(row, column)
        self.paid[row] |= self.members[column]

    def together(self, places: Iterable[tuple[int, int]]) -> tuple[float, Mask]:
        """What several places add to what is spent, and the groups that are paid then."""
        chosen = np.array(list(places), dtype=np.intp).reshape(-1, 2)
        paid = self.paid.copy()
        np.logical_or.at(paid, chosen[:, 0], self.members[chosen[:, 1]])
        shared = (paid & ~self.paid) @ self.shares
        return float(self.own[chosen[:, 0], chosen[:, 1]].sum() + shared.sum()), paid


class Basket:
    """A batch on its way into an account: what may still go into it, and what each place costs now.

    Parameters
    ----------
    account : Account
    places : ndarray of shape (n_places, 2)
    possible : ndarray of shape (n_samples, n_columns), dtype=bool, default=None
        What may be chosen at all; None: all that the account allows.
    ordered : iterable of (row, column), default=()
        What is ordered already: its groups and its costs count.
    per_sample : int, default=1
        Most places of one sample.
    budget : float, default=None
        What all that is spent, ordered and chosen may cost.

    Attributes
    ----------
    prices : ndarray of shape (n_places,)
        What each place costs now.
    chosen : list of int
        Positions among the places, in the order of choice.
    """

    def __init__(
        self,
        account: Account,
        places: Places,
        *,
        possible: Mask | None = None,
        ordered: Iterable[tuple[int, int]] = (),
        per_sample: int = 1,
        budget: float | None = None,
    ) -> None:
        total, self._paid = account.together(ordered)
        self._account, self._places = account, places
        self._left = None if budget is None else budget - account.spent - total
        self._possible = (account.allowed if possible is None else possible)[places[:, 0], places[:, 1]]
        self._room = np.full(len(account.own), per_sample)
        self.prices = account.prices(places, self._paid)
        self.chosen: list[int] = []

    def open(self) -> Places:
        """Positions that may still be chosen."""
        possible = self._possible if self._left is None else self._possible & (self.prices <= self._left)
        return np.flatnonzero(possible)

    def add(self, position: int) -> None:
        """Choose what stands at a position."""
        row, column = self._places[position]
        if self._left is not None:
            self._left -= float(self.prices[position])
        self.chosen.append(position)
        self._room[row] -= 1
        self._possible[position] = False
        others = np.flatnonzero(self._places[:, 0] == row)
        if self._room[row] <= 0:
            self._possible[others] = False
        self._paid[row] |= self._account.members[column]
        self.prices[others] = self._account.prices(self._places[others], self._paid)

    def copy(self) -> Basket:
        """Another that goes on from here."""
        other = copy.copy(self)
        for name in ("_paid", "_possible", "_room", "prices"):
            setattr(other, name, getattr(self, name).copy())
        other.chosen = list(self.chosen)
        return other
