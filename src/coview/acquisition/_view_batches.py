"""Several measurements at once, each chosen as if those before it had come back."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.acquisition._costs import Costs
from coview.acquisition._pair_scores import PairScores
from coview.acquisition._selection import Basket, ordering
from coview.acquisition._tables import pair_table
from coview.acquisition._view_utilities import pair_scores

__all__ = ["SHORTLIST", "Account", "choose", "select_views"]

# Pairs scored anew after each choice.
SHORTLIST = 50


def select_views(
    model: Any,
    X: Any,
    y: Any,
    n: int = 1,
    *,
    criterion: str = "expected_entropy",
    per_sample: int = 1,
    budget: float | None = None,
    by: str = "utility",
    shortlist: int = SHORTLIST,
    expectation: str = "quadrature",
    density: Any = "auto",
    costs: Any = None,
    over: str = "all",
    n_draws: int = 5,
    max_candidates: int | None = None,
    random_state: Any = None,
) -> pd.DataFrame:
    """A batch of measurements without near-copies: each is chosen on the posterior that those before it would leave.

    Parameters
    ----------
    model, X, y, criterion, expectation, density, costs, over, n_draws, max_candidates, random_state
        As for `view_utilities`.
    n : int, default=1
        Measurements wanted; fewer come back where the data or the budget have no more.
    per_sample : int, default=1
        Most measurements of one sample.
    budget : float, default=None
        What the batch may cost. A group of views is paid once per sample.
    by : {"utility", "utility_per_cost"}, default="utility"
        What is largest in the pair chosen next.
    shortlist : int, default=50
        Pairs scored anew after each choice: the best of the first ranking that are still open.

    Returns
    -------
    table : DataFrame
        Columns of `view_utilities`, in the order of choice; utility and cost are those at the time of choice.

    Notes
    -----
    A chosen pair is taken to come back with the mean of what it may hold. For "mutual_information" and "a_optimality" of exact
    kernels the posterior changes by rank one, O(n^2), with the sites of the labels held fixed; otherwise the posterior on
    features is updated and its mode searched again, O(R^3). "variance", "random" and "mutual_information_bound" are ranked once.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.acquisition import select_views
    >>> from coview.gaussian_process import BayesianCoTrainingClassifier
    >>> a = np.array([[0.0], [0.1], [2.0], [2.2], [2.2]])
    >>> views = {"a": a, "b": np.array([[0.1], [0.2], [1.9], [np.nan], [np.nan]])}
    >>> model = BayesianCoTrainingClassifier("rbf", latent="consensus", hyperparameters="fixed")
    >>> batch = select_views(model, views, ["no", None, "yes", None, None], 2, criterion="mutual_information")
    >>> bool(batch["utility"][1] < batch["utility"][0])
    True
    """
    costs = Costs.of(costs)
    if by not in ("utility", "utility_per_cost"):
        raise ValueError(f"by must be 'utility' or 'utility_per_cost'; got {by!r}.")
    if costs is None and (by != "utility" or budget is not None):
        raise ValueError("A budget and utilities per cost need costs: pass costs, like a dict of views.")
    scores = pair_scores(
        model,
        X,
        y,
        costs,
        criterion=criterion,
        expectation=expectation,
        density=density,
        over=over,
        n_draws=n_draws,
        max_candidates=max_candidates,
        random_state=random_state,
    )
    basket = Basket(scores.scored.views, costs, per_sample, budget)
    return _table(basket, choose(scores, basket, n, by, shortlist))


class Account(Protocol):
    """What a batch holds, and what may still go into it; like `Basket`."""

    def open(self, pairs: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which of some pairs (n_pairs, 2) may still be chosen."""

    def prices(self, pairs: NDArray[np.intp]) -> NDArray[np.float64]:
        """What each of them costs now."""

    def add(self, pair: NDArray[np.intp]) -> None:
        """Choose a pair."""


def choose(
    scores: PairScores, basket: Account, n: int, by: str, shortlist: int = SHORTLIST
) -> list[tuple[float, float]]:
    """Fill the basket, each pair on the posterior that those before it would leave; utility and cost of each."""
    utilities, pairs = scores.utilities(), scores.pairs
    found: list[tuple[float, float]] = []
    while len(found) < n:
        candidates = np.flatnonzero(basket.open(pairs))
        if not candidates.size:
            break
        prices = basket.prices(pairs[candidates])
        order = ordering(utilities[candidates], prices, by)
        if found and scores.updates:
            candidates = candidates[np.argsort(-order, kind="stable")[:shortlist]]
            utilities[candidates] = scores.score(candidates)
            prices = basket.prices(pairs[candidates])
            order = ordering(utilities[candidates], prices, by)
        first = np.flatnonzero(order == order.max())  # several, say, that cost nothing: then the largest utility
        best = int(first[ordering(utilities[candidates[first]], prices[first], "utility").argmax()])
        found.append((float(utilities[candidates[best]]), float(prices[best])))
        basket.add(pairs[candidates[best]])
        if scores.updates and len(found) < n:
            scores.take(int(candidates[best]))
    return found


def _table(basket: Basket, found: list[tuple[float, float]]) -> pd.DataFrame:
    pairs = np.array(basket.pairs, dtype=np.intp).reshape(-1, 2)
    utilities, prices = np.array(found, dtype=np.float64).reshape(-1, 2).T
    return pair_table(basket.views, pairs, utilities, None if basket.costs is None else prices)
