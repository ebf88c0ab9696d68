"""Utilities as tables, best first, with costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.acquisition._accounts import Account
from coview.acquisition._costs import Costs
from coview.views import Views

__all__ = ["best_first", "pair_table", "per_cost", "ranked", "sample_names"]


def ranked(
    views: Views, pairs: NDArray[np.intp], utilities: NDArray[np.float64], costs: Costs | None, seed: int
) -> pd.DataFrame:
    """Pairs (n_pairs, 2) of sample and view with their utilities, best first; equal ones in random order."""
    prices = None
    if costs is not None:
        account = Account.of(costs, sample_names(views), views.names, views.presence)
        prices = account.prices(pairs, account.paid)
    return best_first(pair_table(views, pairs, utilities, prices), seed)


def pair_table(
    views: Views, pairs: NDArray[np.intp], utilities: NDArray[np.float64], prices: NDArray[np.float64] | None
) -> pd.DataFrame:
    """Pairs (n_pairs, 2) with utilities and prices, in their order; the column after the views is that of the label."""
    names = np.array([*views.names, None], dtype=object)[pairs[:, 1]]
    columns = {
        "sample": sample_names(views)[pairs[:, 0]],
        "view": pd.Series(names, dtype=object) if (pairs[:, 1] == len(views.names)).any() else names,
        "utility": utilities,
    }
    if prices is not None:
        columns |= {"cost": prices, "utility_per_cost": per_cost(utilities, prices)}
    return pd.DataFrame(columns)


def sample_names(views: Views) -> NDArray[Any]:
    """Ids of the samples as text, or their positions where they have none (n_samples,)."""
    return views.index.to_numpy() if views.has_ids else np.arange(len(views))


def best_first(table: pd.DataFrame, seed: int, by: str = "utility") -> pd.DataFrame:
    """Rows by decreasing utility, or what else, then utility; those without one last; equal ones in random order."""
    shuffled = table.iloc[np.random.RandomState(seed).permutation(len(table))]
    ordered = shuffled.sort_values("utility", ascending=False, kind="stable", na_position="last")
    if by != "utility":
        ordered = ordered.sort_values(by, ascending=False, kind="stable", na_position="last")
    return ordered.reset_index(drop=True)


def per_cost(utilities: NDArray[np.float64], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Utility per unit of cost; what costs nothing is worth infinitely much per cost if it is worth anything."""
    free = np.sign(utilities) * np.where(utilities == 0.0, 0.0, np.inf) if (costs <= 0.0).any() else utilities
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(costs > 0.0, utilities / np.where(costs > 0.0, costs, 1.0), free))
