"""Measurements and labels in one ranking."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from coview.acquisition._costs import Costs
from coview.acquisition._label_utilities import label_utilities
from coview.acquisition._scored_model import ScoredModel
from coview.acquisition._tables import best_first
from coview.acquisition._view_utilities import view_utilities

__all__ = ["query_utilities"]


def query_utilities(
    model: Any,
    X: Any,
    y: Any,
    *,
    expectation: str = "quadrature",
    density: Any = "auto",
    costs: Any = None,
    random_state: Any = None,
) -> pd.DataFrame:
    """What to ask next, a missing view or a label, by mutual information with the model.

    Parameters
    ----------
    model, X, y, expectation, density, random_state
        As for `view_utilities`.
    costs : Costs, dict of view to cost, or DataFrame, default=None
        With costs (`Costs` has one of labels, too), the ranking is by nats per cost.

    Returns
    -------
    table : DataFrame
        Columns ``query`` ("view" or "label"), ``sample, view`` (None for labels), ``utility[, cost, utility_per_cost]``, best
        first.

    Notes
    -----
    Both are in nats, of the same functions, with Gaussian sites of the labels: see `view_utilities` and `label_utilities`.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.acquisition import query_utilities
    >>> from coview.gaussian_process import BayesianCoTrainingClassifier
    >>> views = {"a": np.array([[0.0], [0.3], [2.0], [2.2]]), "b": np.array([[0.1], [np.nan], [1.9], [2.3]])}
    >>> model = BayesianCoTrainingClassifier("rbf", latent="consensus", hyperparameters="fixed")
    >>> sorted(query_utilities(model, views, ["no", None, "yes", None])["query"])
    ['label', 'label', 'view']
    """
    costs, scored = Costs.of(costs), ScoredModel.of(model, X, y)
    given = {"criterion": "mutual_information", "costs": costs, "random_state": random_state}
    views = view_utilities(scored.model, scored.views, scored.y, expectation=expectation, density=density, **given)
    labels = label_utilities(scored.model, scored.views, scored.y, **given)
    columns = ["query", "sample", "view", *views.columns[2:]]
    labels = labels.assign(query="label", view=np.full(len(labels), None, dtype=object))
    parts = [part for part in (views.assign(query="view")[columns], labels[columns]) if len(part)]
    table = pd.concat(parts, ignore_index=True) if parts else views.assign(query="view")[columns]
    return best_first(table, 0, by="utility" if costs is None else "utility_per_cost")
