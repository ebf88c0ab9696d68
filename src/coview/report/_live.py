"""One repeat of a learning curve, run while the page is made: the stored curves can be seen to be of the same kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.acquisition import simulate
from coview.compose import TableEncoder
from coview.datasets import load_heart_disease
from coview.report._stored_curves import FEW, RANDOM
from coview.views import Views

__all__ = ["LiveProblem", "cleveland", "live_curves"]

_SCORERS = {"auc": "roc_auc", "log_score": "neg_log_loss"}
_CLINIC = "cleveland"


@dataclass(frozen=True)
class LiveProblem:
    """Complete data, of which some is hidden and asked for.

    Attributes
    ----------
    name : str
        As among the stored curves.
    views : Views
    target : ndarray of shape (n_samples,)
        Two classes.
    always_seen : tuple of str
        Views that are never hidden.
    n_labeled, n_steps, batch_size : int
    """

    name: str
    views: Views
    target: NDArray[Any]
    always_seen: tuple[str, ...]
    n_labeled: int
    n_steps: int
    batch_size: int


def cleveland() -> LiveProblem:
    """The 297 heart patients of the Cleveland Clinic whose record is complete, as in the stored curves with 30 labels."""
    bunch = load_heart_disease()
    complete = pd.concat(bunch.frames, axis=1).dropna().index
    complete = complete[complete.str.startswith(_CLINIC)]
    views = TableEncoder().fit_transform({name: frame.loc[complete] for name, frame in bunch.frames.items()})
    target = (bunch.target.loc[complete].astype(float) > 0).astype(int).to_numpy()
    return LiveProblem("Cleveland, 30 labels", views, target, ("history",), 30, 10, 20)


def live_curves(problem: LiveProblem, model: Any, seed: int) -> pd.DataFrame:
    """Curves of one repeat, chance and expected entropy from the same start.

    Parameters
    ----------
    problem : LiveProblem
    model : estimator
    seed : int
        Of what is hidden and labeled.

    Returns
    -------
    curves : DataFrame
        ``criterion, at, auc, log_score``; ``at`` is the number of views measured.
    """
    found = simulate(
        model,
        problem.views,
        problem.target,
        criteria={RANDOM: {"criterion": "random"}, FEW: {"criterion": "expected_entropy"}},
        n_steps=problem.n_steps,
        batch_size=problem.batch_size,
        repeats=1,
        scorer=_SCORERS,
        always_seen=problem.always_seen,
        n_labeled=problem.n_labeled,
        everything=False,
        random_state=np.random.RandomState(seed),
    )
    columns = ["criterion", "at", *_SCORERS]
    return found.curves.rename(columns={"n_measured": "at"})[columns].reset_index(drop=True)
