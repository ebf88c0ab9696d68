"""What a campaign asks for next: the ranking of what is missing, and the best of it that is open and affordable."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.acquisition._campaign_data import CampaignData
from coview.acquisition._campaign_state import CampaignState
from coview.acquisition._costs import Costs
from coview.acquisition._tables import best_first, pair_table, per_cost
from coview.acquisition._view_batches import choose
from coview.acquisition._view_utilities import pair_scores, view_utilities
from coview.views import Views

__all__ = ["best_batch", "best_open", "ranking_of"]


def ranking_of(known: Any, criterion: str, costs: Costs | None, seed: int) -> pd.DataFrame:
    """All missing pairs that can be measured, by utility: columns ``sample, view, utility``.

    Parameters
    ----------
    known : object with views, y and model
        Its model is not asked for where chance decides or nothing is missing.
    criterion : str
    costs : Costs or None
    seed : int
    """
    views: Views = known.views
    allowed = None if costs is None else Costs(excluded=costs.excluded)
    if criterion == "random" or views.presence.all():
        ranking = _by_chance(views, allowed, seed)
    else:
        ranking = view_utilities(known.model, views, known.y, criterion=criterion, costs=allowed, random_state=seed)
    return ranking[["sample", "view", "utility"]]


def _by_chance(views: Views, costs: Costs | None, seed: int) -> pd.DataFrame:
    """Utilities by chance, without a model."""
    pairs = np.argwhere(~views.presence)
    table = pair_table(views, pairs, np.random.RandomState(seed).uniform(size=len(pairs)), None)
    if costs is not None:
        table = table[costs.allowed(table["sample"].tolist(), table["view"].tolist())]
    return best_first(table, seed)


def best_batch(
    known: Any, state: CampaignState, criterion: str, costs: Costs | None, seed: int, n: int, **limits: Any
) -> pd.DataFrame | None:
    """Pairs chosen one after another, as if those before and those booked had come back; None where that changes nothing.

    Parameters
    ----------
    known, criterion, costs, seed
        As for `ranking_of`.
    state : CampaignState
    n : int
    **limits : per_sample, left, by
        As for `best_open`.
    """
    views: Views = known.views
    if criterion == "random" or views.presence.all():
        return None
    allowed = None if costs is None else Costs(excluded=costs.excluded)
    scores = pair_scores(known.model, views, known.y, allowed, criterion=criterion, random_state=seed)
    if not scores.updates:
        return None
    place = {(int(row), views.names[j]): position for position, (row, j) in enumerate(scores.pairs)}
    for pair in sorted(state.booked):
        if pair in place:
            scores.take(place[pair])
    basket = _OpenPairs(state, views.names, limits["per_sample"], limits["left"])
    found = choose(scores, basket, n, limits["by"])
    utilities, prices = np.array(found, dtype=np.float64).reshape(-1, 2).T
    chosen = np.array(basket.chosen, dtype=np.intp).reshape(-1, 2)
    batch = pair_table(views, chosen, utilities, None if state.spending is None else prices)
    return batch if state.spending is None else batch.assign(cumulative_cost=batch["cost"].cumsum())


class _OpenPairs:
    """Pairs that a campaign may suggest together."""

    def __init__(self, state: CampaignState, names: list[str], per_sample: int, left: float | None) -> None:
        self._state = state
        self._names = names
        self._per_sample = per_sample
        self._left = left
        self._ordered = set(state.booked)
        self.chosen: list[tuple[int, int]] = []

    def open(self, pairs: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which pairs may still be chosen."""
        counts = Counter(row for row, _ in self.chosen)
        mine = set(self.chosen)
        possible = np.array(
            [
                (row, j) not in mine and counts[row] < self._per_sample and self._state.is_open(row, self._names[j])
                for row, j in pairs.tolist()
            ],
            dtype=bool,
        )
        if self._left is not None:
            possible[possible] = self.prices(pairs[possible]) <= self._left
        return possible

    def prices(self, pairs: NDArray[np.intp]) -> NDArray[np.float64]:
        """What each pair adds to what is spent, booked and chosen."""
        spending = self._state.spending
        if spending is None:
            return np.zeros(len(pairs))
        return np.array([spending.cost(row, self._names[j], self._ordered) for row, j in pairs.tolist()], dtype=float)

    def add(self, pair: NDArray[np.intp]) -> None:
        """Choose a pair."""
        row, j = int(pair[0]), int(pair[1])
        if self._left is not None:
            self._left -= float(self.prices(pair[None])[0])
        self.chosen.append((row, j))
        self._ordered.add((row, self._names[j]))


def best_open(
    ranking: pd.DataFrame,
    data: CampaignData,
    state: CampaignState,
    n: int,
    *,
    per_sample: int,
    left: float | None,
    by: str,
) -> pd.DataFrame:
    """The first ``n`` pairs that are open, fit into what is left, and are at most ``per_sample`` of a sample.

    Costs are those on top of what is spent, booked and chosen before.
    """
    rows = [data.row(sample) for sample in ranking["sample"]]
    keep = np.array([state.is_open(row, view) for row, view in zip(rows, ranking["view"], strict=True)], dtype=bool)
    table = ranking[keep].assign(row=np.array(rows, dtype=np.intp)[keep])
    if state.spending is not None:
        table = _priced(table, state, by)
    chosen: list[int] = []
    prices: list[float] = []
    taken: dict[int, int] = {}
    ordered = set(state.booked)
    for place, (row, view) in enumerate(zip(table["row"], table["view"], strict=True)):
        if len(chosen) == n:
            break
        if taken.get(row, 0) >= per_sample:
            continue
        if state.spending is not None:
            cost = state.spending.cost(row, view, ordered)
            if left is not None and cost > left:
                continue
            left = None if left is None else left - cost
            prices.append(cost)
        chosen.append(place)
        taken[row] = taken.get(row, 0) + 1
        ordered.add((row, view))
    batch = table.iloc[chosen].drop(columns="row").reset_index(drop=True)
    if state.spending is not None:
        batch["cost"] = np.array(prices, dtype=np.float64)
        batch["utility_per_cost"] = per_cost(batch["utility"].to_numpy(), batch["cost"].to_numpy())
        batch["cumulative_cost"] = batch["cost"].cumsum()
    return batch


def _priced(table: pd.DataFrame, state: CampaignState, by: str) -> pd.DataFrame:
    """A ranking with costs, by utility or by utility per cost."""
    prices = [state.cost(row, view) for row, view in zip(table["row"], table["view"], strict=True)]
    table = table.assign(cost=np.array(prices, dtype=np.float64))
    if by == "utility":
        return table
    order = per_cost(table["utility"].to_numpy(), table["cost"].to_numpy())
    return table.iloc[np.argsort(-order, kind="stable")]  # NaN, not scored, comes last
