"""What to measure next: the measurements that a budget buys, best first, with reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.acquisition import Costs, Diagnosis, diagnose, select_batch, view_utilities
from coview.inspection import measurement_reasons
from coview.labels import labeled_rows
from coview.report._given import Given
from coview.report._subject import Subject
from coview.report._words import counted, listed
from coview.views import Views

__all__ = ["Omitted", "Ranking", "given_ranking", "rank_measurements", "short_diagnosis", "why_omitted"]

# What a view may hold comes from a mixture with full covariances, which takes its time where there are more.
_MOST_FEATURES = 200
_MOST_SAMPLES = 3000
_GIVEN_LISTED = 15
# A page looks at fewer folds and draws than `diagnose` does by itself.
_DIAGNOSED = {"n_folds": 3, "n_draws": 3}


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


@dataclass(frozen=True)
class Omitted:
    """Why there is no ranking, and what to do about it."""

    reason: str
    remedy: str


def why_omitted(views: Views) -> Omitted | None:
    """What keeps views from being ranked; None where nothing does.

    Parameters
    ----------
    views : Views
        As the model takes them.

    Returns
    -------
    omitted : Omitted or None
    """
    sparse = [name for name in views.names if not isinstance(views[name], np.ndarray)]
    wide = [name for name, width in views.n_features.items() if width > _MOST_FEATURES and name not in sparse]
    reasons = []
    if sparse:
        reasons.append(f"{listed(sparse)} {'is' if len(sparse) == 1 else 'are'} sparse")
    if wide:
        widths = [f"{name} ({counted(views.n_features[name], 'column')})" for name in wide]
        reasons.append(f"{listed(widths)} {'is' if len(wide) == 1 else 'are'} wide")
    if not reasons:
        return None
    return Omitted(
        f"{' and '.join(reasons)}, and what a missing view may hold can be described for dense views of at most "
        f"{_MOST_FEATURES} columns only",
        f"Bring such views to at most {_MOST_FEATURES} dense columns, say by principal components, before the fit; or leave "
        "them out of it and rank the others.",
    )


def given_ranking(subject: Subject, given: Given) -> Ranking | Omitted | None:
    """The ranking for data given to a report.

    Parameters
    ----------
    subject : Subject
    given : Given

    Returns
    -------
    ranking : Ranking, Omitted or None
        None where there is nothing to rank: the model does not score measurements, was fitted to other samples, has nothing
        missing, or no sample to predict. `Omitted` where limits forbid it.
    """
    model = subject.estimator
    if not hasattr(model, "consensus_posterior") or given.presence.all():
        return None
    posterior = model.consensus_posterior()
    views, y = posterior.views, posterior.y
    labeled = labeled_rows(y, missing_label=getattr(model, "missing_label", "auto"))
    if (labeled.all() and not subject.regression) or len(given.answers) != len(views):
        return None
    if given.encoded(np.arange(len(given.answers))) != views:
        return None
    if len(views) > _MOST_SAMPLES:
        return Omitted(
            f"there are {len(views):,} samples, and with more than {_MOST_SAMPLES:,} this page would take too long",
            "A campaign has no such limit: coview new, then coview acquire; in Python "
            "coview.acquisition.view_utilities, with max_candidates for a part of the missing views.",
        )
    if (omitted := why_omitted(views)) is not None:
        return omitted
    criterion = "a_optimality" if subject.regression else "expected_entropy"
    return rank_measurements(model, views, y, labeled, n_listed=_GIVEN_LISTED, criterion=criterion)


def short_diagnosis(model: Any, X: Any, y: Any) -> Diagnosis | Omitted | None:
    """Whether a ranking can be relied on.

    Parameters
    ----------
    model : fitted estimator
    X : Views
    y : ndarray of shape (n_samples,)

    Returns
    -------
    diagnosis : Diagnosis, Omitted or None
        None where the model cannot be asked, `Omitted` where looking would take too long.
    """
    if not (hasattr(model, "consensus_posterior") or hasattr(model, "weight_posterior")) or why_omitted(X) is not None:
        return None
    if len(X) > _MOST_SAMPLES:
        return Omitted(
            f"there are {len(X):,} samples, and with more than {_MOST_SAMPLES:,} this page would take too long",
            "From Python: coview.acquisition.diagnose.",
        )
    return diagnose(model, X, y, **_DIAGNOSED)
