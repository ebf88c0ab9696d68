"""Several pairs at once: greedy on the posterior that the pairs before would leave, within a budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.acquisition._costs import Costs
from coview.acquisition._tables import per_cost, sample_names
from coview.views import Views

__all__ = ["Basket", "ordering", "select_batch"]


def select_batch(
    table: pd.DataFrame, n: int = 1, *, per_sample: int = 1, budget: float | None = None, by: str = "utility"
) -> pd.DataFrame:
    """The best rows of a table of utilities, no more than some of each sample.

    Parameters
    ----------
    table : DataFrame
        Of `view_utilities` or `label_utilities`.
    n : int, default=1
        Rows wanted; fewer come back where the table or the budget has no more.
    per_sample : int, default=1
    budget : float, default=None
        What the costs of the rows together may not exceed; what does not fit is passed over. Shared costs of groups count in
        every row, as if it were measured alone.
    by : {"utility", "utility_per_cost"}, default="utility"

    Returns
    -------
    batch : DataFrame
        In the order of choice.

    Examples
    --------
    >>> import pandas as pd
    >>> from coview.acquisition import select_batch
    >>> table = pd.DataFrame({"sample": ["a", "a", "b"], "view": ["x", "y", "x"], "utility": [3.0, 2.0, 1.0]})
    >>> select_batch(table, 2)["view"].tolist()
    ['x', 'x']
    """
    if by not in table.columns:
        raise ValueError(
            f"by must be a column of the table; got {by!r} among {list(table.columns)}. Give costs to have it."
        )
    ordered = table.sort_values(by, ascending=False, kind="stable", na_position="last")
    ordered = ordered[ordered.groupby("sample", sort=False).cumcount() < per_sample]
    if budget is None:
        return ordered.head(n).reset_index(drop=True)
    if "cost" not in table.columns:
        raise ValueError("A budget needs costs: pass costs to view_utilities.")
    chosen: list[int] = []
    left = budget
    for position, cost in enumerate(ordered["cost"].tolist()):
        if len(chosen) < n and cost <= left:
            chosen.append(position)
            left -= cost
    return ordered.iloc[chosen].reset_index(drop=True)


@dataclass
class Basket:
    """Pairs chosen so far, with what is left to spend; a group of views is paid once per sample.

    Attributes
    ----------
    views : Views
    costs : Costs or None
    per_sample : int
    budget : float or None
    """

    views: Views
    costs: Costs | None
    per_sample: int
    budget: float | None
    spent: float = 0.0
    pairs: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._presence = self.views.presence.copy()
        self._names: NDArray[Any] = sample_names(self.views)

    def prices(self, pairs: NDArray[np.intp]) -> NDArray[np.float64]:
        """What each of some pairs (n_pairs, 2) costs now."""
        if self.costs is None:
            return np.zeros(len(pairs))
        samples, names = self._names[pairs[:, 0]].tolist(), self.views.names
        return self.costs.of_pairs(samples, [names[j] for j in pairs[:, 1]], names, self._presence[pairs[:, 0]])

    def open(self, pairs: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which pairs may still be chosen."""
        counts = np.zeros(len(self.views), dtype=np.intp)
        for sample, _ in self.pairs:
            counts[sample] += 1
        possible = (counts[pairs[:, 0]] < self.per_sample) & ~self._presence[pairs[:, 0], pairs[:, 1]]
        if self.budget is not None:
            possible &= self.prices(pairs) <= self.budget - self.spent
        return np.asarray(possible)

    def add(self, pair: NDArray[np.intp]) -> None:
        """Choose a pair."""
        self.spent += float(self.prices(pair[None])[0])
        self.pairs.append((int(pair[0]), int(pair[1])))
        self._presence[pair[0], pair[1]] = True


def ordering(utilities: NDArray[np.float64], prices: NDArray[np.float64], by: str) -> NDArray[np.float64]:
    """What pairs are chosen by, -inf for those without a utility."""
    value = utilities if by == "utility" else per_cost(utilities, prices)
    return np.where(np.isnan(value), -np.inf, value)
