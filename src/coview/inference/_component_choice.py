"""How many components: one more at a time, until a criterion has not improved for a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

__all__ = ["choose_n_components"]

Model = TypeVar("Model")


def choose_n_components(
    fit: Callable[[int], Model], criterion: Callable[[Model], float], *, largest: int, patience: int = 2
) -> tuple[Model, dict[int, float]]:
    """The model with the lowest criterion (BIC, say) among 1, 2, … components; the search stops early.

    Parameters
    ----------
    fit : callable
        ``n_components -> model``.
    criterion : callable
        ``model -> value``, lower is better.
    largest : int
        Most components tried.
    patience : int, default=2
        The search ends after so many numbers in a row that are no better than the best so far.

    Returns
    -------
    best : object
        The model of the lowest criterion, the smallest on ties.
    values : dict of int to float
        Criterion of each number of components tried.

    Examples
    --------
    >>> choose_n_components(lambda k: k, lambda k: (k - 3) ** 2, largest=10)
    (3, {1: 4, 2: 1, 3: 0, 4: 1, 5: 4})
    """
    best, lowest, since = fit(1), np.inf, 0
    values: dict[int, float] = {}
    for n_components in range(1, largest + 1):
        model = best if n_components == 1 else fit(n_components)
        values[n_components] = criterion(model)
        if values[n_components] < lowest:
            best, lowest, since = model, values[n_components], 0
        else:
            since += 1
        if since >= patience:
            break
    return best, values
