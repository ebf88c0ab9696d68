"""What the demonstration shows of asking: the ranking, whether it can be relied on, stored curves, and one repeat run now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone

from coview.acquisition import Diagnosis
from coview.model_selection import hide_labels
from coview.report import _exhibits
from coview.report._exhibits import Exhibit
from coview.report._live import LiveProblem, live_curves
from coview.report._measurements import Omitted, Ranking, rank_measurements, short_diagnosis
from coview.report._stored_curves import StoredCurves, load_curves

__all__ = ["Asking", "make_asking"]

# Dollars for the list of what to measure next, and rows of it.
_BUDGET = 1000.0
_N_LISTED = 15


@dataclass(frozen=True)
class Asking:
    """Everything about what to measure next.

    Attributes
    ----------
    ranking : Ranking
        Of the missing views of an exhibit, by the fit that is shown.
    diagnosis : Diagnosis, Omitted or None
        Whether it can be relied on.
    stored : StoredCurves or None
    problem : str
        What the live curves are of.
    live : DataFrame
        As of `live_curves`.
    """

    ranking: Ranking
    diagnosis: Diagnosis | Omitted | None
    stored: StoredCurves | None
    problem: str
    live: pd.DataFrame


def make_asking(exhibit: Exhibit, problem: LiveProblem, *, seed: int) -> Asking:
    """Rank, diagnose and run a repeat, two of these at a time.

    Parameters
    ----------
    exhibit : Exhibit
    problem : LiveProblem
    seed : int
        Of the repeat.

    Returns
    -------
    asking : Asking
    """
    views = exhibit.job.views
    y = hide_labels(exhibit.job.target.to_numpy(dtype=object), exhibit.labeled)
    parts = [
        delayed(live_curves)(problem, clone(exhibit.model), seed),
        delayed(short_diagnosis)(exhibit.model, views, y),
        delayed(_ranking)(exhibit, y),
    ]
    live, diagnosis, ranking = Parallel(n_jobs=_exhibits.N_JOBS)(parts)
    return Asking(ranking, diagnosis, load_curves(), problem.name, live)


def _ranking(exhibit: Exhibit, y: Any) -> Ranking:
    """What to measure next of the samples of an exhibit, by the fit that is shown."""
    job = exhibit.job
    labeled = np.isin(np.arange(len(job.target)), exhibit.labeled)
    budget = None if job.costs is None else _BUDGET
    return rank_measurements(exhibit.model, job.views, y, labeled, n_listed=_N_LISTED, costs=job.costs, budget=budget)
