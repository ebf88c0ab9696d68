"""The best rows of a table of utilities, within a budget."""

from __future__ import annotations

import numpy as np
import pandas as pd

from coview.acquisition._accounts import Account, Basket
from coview.acquisition._choice import FixedScores, choose

__all__ = ["select_batch"]


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
    if budget is not None and "cost" not in table.columns:
        raise ValueError("A budget needs costs: pass costs to view_utilities.")
    samples, names = pd.factorize(table["sample"])
    places = np.column_stack([samples, table.groupby("sample", sort=False).cumcount()]).astype(np.intp)
    shape = (len(names), 1 + int(places[:, 1].max(initial=0)))
    own, none = np.zeros(shape), np.zeros((shape[0], 0), dtype=bool)
    if budget is not None:
        own[places[:, 0], places[:, 1]] = table["cost"]
    account = Account(
        own, np.zeros((shape[1], 0), dtype=bool), np.zeros(0), none, np.ones(shape, dtype=bool), priced=True
    )
    basket = Basket(account, places, per_sample=per_sample, budget=budget)
    choose(FixedScores(places, table[by].to_numpy(dtype=np.float64)), basket, n)
    return table.iloc[basket.chosen].reset_index(drop=True)
