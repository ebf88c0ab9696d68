"""What to measure next: the measurements that a budget buys, best first, with reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.acquisition import Costs, select_batch, view_utilities
from coview.inspection import measurement_reasons
from coview.labels import labeled_rows
from coview.report._given import Given
from coview.report._subject import Subject
from coview.views import Views

__all__ = ["Ranking", "given_ranking", "rank_measurements"]

# What views may hold comes from a mixture with full covariances, which takes its time where there are more.
_MOST_FEATURES = 200
_MOST_SAMPLES = 3000
_GIVEN_LISTED = 15


@dataclass(frozen=True)
class Ranking:
    """Missing views of samples, ranked by what knowing them is expected to gain.

    Attributes
    ----------
    table : DataFrame
        All of them, best first: ``sample, view, utility[, cost, utility_per_cost]``.
    best : DataFrame
        Those that are listed, one per sample, with ``reason``, and ``cumulative_cost`` where there are costs.
    n_missing, n_gaining : int
        Missing views that were scored, and those of them that are expected to gain anything.
    n_unlabeled : int
        Samples whose classes the gain is about.
    budget : float or None
    """

    table: pd.DataFrame
    best: pd.DataFrame
    n_missing: int
    n_gaining: int
    n_unlabeled: int
    budget: float | None

    @property
    def priced(self) -> bool:
        """Whether measurements have costs."""
        return "cost" in self.best.columns


def rank_measurements(
    model: Any,
    views: Views,
    y: NDArray[Any],
    labeled: NDArray[np.bool_],
    *,
    n_listed: int,
    criterion: str = "expected_entropy",
    costs: Costs | None = None,
    budget: float | None = None,
) -> Ranking:
    """Rank the missing views of the samples that a model was fitted to.

    Parameters
    ----------
    model : fitted estimator
    views : Views
    y : ndarray of shape (n_samples,)
        Labels as the model was given them.
    labeled : ndarray of shape (n_samples,), dtype=bool
    n_listed : int
        Rows of ``best`` at most.
    criterion : str, default="expected_entropy"
    costs : Costs, default=None
    budget : float, default=None
        What the listed measurements may cost together.

    Returns
    -------
    ranking : Ranking
    """
    table = view_utilities(model, views, y, criterion=criterion, costs=costs)
    gaining = table[table["utility"] > 0.0]
    best = select_batch(gaining, n_listed, per_sample=1, budget=budget)
    if costs is not None:
        best["cumulative_cost"] = best["cost"].cumsum()
    best["reason"] = measurement_reasons(model, views, labeled, best)
    return Ranking(table, best, len(table), len(gaining), int((~labeled).sum()), budget)


def given_ranking(subject: Subject, given: Given) -> Ranking | None:
    """The ranking for data given to a report.

    Parameters
    ----------
    subject : Subject
    given : Given

    Returns
    -------
    ranking : Ranking or None
        None where the model does not score measurements, was fitted to other samples, has nothing missing, no sample to
        predict, or too many or sparse features.
    """
    model = subject.estimator
    if not hasattr(model, "consensus_posterior") or given.presence.all() or len(given.answers) > _MOST_SAMPLES:
        return None
    posterior = model.consensus_posterior()
    views = posterior.views
    if sum(views.n_features.values()) > _MOST_FEATURES or not all(
        isinstance(views[name], np.ndarray) for name in views.names
    ):
        return None
    if given.encoded(np.arange(len(given.answers))) != views:
        return None
    y = posterior.y
    labeled = labeled_rows(y, missing_label=getattr(model, "missing_label", "auto"))
    if labeled.all() and not subject.regression:
        return None
    criterion = "a_optimality" if subject.regression else "expected_entropy"
    return rank_measurements(model, views, y, labeled, n_listed=_GIVEN_LISTED, criterion=criterion)
