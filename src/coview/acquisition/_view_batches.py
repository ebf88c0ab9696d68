"""Several measurements at once, each chosen as if those before it had come back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.acquisition._accounts import Account, Basket
from coview.acquisition._choice import SHORTLIST, Choice, choose
from coview.acquisition._costs import Costs
from coview.acquisition._pair_scores import UPDATING
from coview.acquisition._tables import pair_table, sample_names
from coview.acquisition._view_utilities import pair_scores
from coview.views import Views

__all__ = ["batch_table", "check_ahead", "select_views"]


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
    look_ahead: int = 0,
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
    look_ahead : int, default=0
        How many further measurements count in what a pair is worth: it is chosen by its utility together with that of the best
        that may follow it, once it has come back, where that is better than it alone. With ``by="utility_per_cost"`` the sum of
        utilities is divided by that of costs. Not for criteria that are ranked once.

    Returns
    -------
    table : DataFrame
        Columns of `view_utilities`, in the order of choice; utility and cost are those at the time of choice. With
        ``look_ahead``, ``utility_ahead`` is what a pair was chosen by.

    Notes
    -----
    A chosen pair is taken to come back with the mean of what it may hold. For "mutual_information" and "a_optimality" of exact
    kernels the posterior changes by rank one, O(n^2), with the sites of the labels held fixed; otherwise the posterior on
    features is updated and its mode searched again, O(R^3). "variance", "random" and "mutual_information_bound" are ranked once.
    Looking ahead L steps takes ``shortlist ** L`` such updates for each choice, and as many scorings of the shortlist.

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
    check_ahead(look_ahead, criterion)
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
    views = scores.scored.views
    account = Account.of(costs, sample_names(views), views.names, views.presence)
    basket = Basket(account, scores.pairs, per_sample=per_sample, budget=budget)
    found = choose(scores, basket, n, by, shortlist=shortlist, look_ahead=look_ahead)
    return batch_table(views, scores.pairs, found, priced=costs is not None, ahead=look_ahead > 0)


def check_ahead(look_ahead: int, criterion: str) -> None:
    """Refuse to look ahead where what is measured first changes nothing."""
    if look_ahead < 0:
        raise ValueError(f"look_ahead must be at least 0; got {look_ahead!r}.")
    if look_ahead and criterion not in UPDATING:
        raise ValueError(
            f"look_ahead needs a criterion that changes with what is measured, one of {', '.join(map(repr, UPDATING))}; got "
            f"{criterion!r}."
        )


def batch_table(
    views: Views, pairs: NDArray[np.intp], found: list[Choice], *, priced: bool, ahead: bool
) -> pd.DataFrame:
    """What was chosen of some pairs, in the order of choice."""
    chosen = pairs[[choice.position for choice in found]].reshape(-1, 2)
    utilities, prices, totals = np.array([choice[1:] for choice in found], dtype=np.float64).reshape(-1, 3).T
    table = pair_table(views, chosen, utilities, prices if priced else None)
    if ahead:
        table.insert(3, "utility_ahead", totals)
    return table
