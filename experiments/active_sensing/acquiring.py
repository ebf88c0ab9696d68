"""The loop of the papers: rank the hidden pairs, reveal the best one, learn again, score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score

from coview import Views
from coview.acquisition import Costs, view_utilities

from .problems import Trial

__all__ = ["compare", "one_by_one"]


def one_by_one(
    model: Any,
    blocks: list[Any],
    names: tuple[str, ...],
    trial: Trial,
    options: Mapping[str, Any],
    *,
    label: str,
    n_steps: int,
    density: Any,
    costs: Mapping[str, float],
    among: Any,
    repeat: int,
) -> pd.DataFrame:
    """Scores at the start and after every acquisition by one criterion.

    Parameters
    ----------
    model : classifier
        Fitted anew, on a clone, after every acquisition.
    blocks : list of ndarray
        All values; those of hidden pairs are read once they are revealed.
    names : tuple of str
        Of the views.
    trial : Trial
    options : mapping
        Of `coview.acquisition.view_utilities`, and perhaps ``by``, the column to rank by.
    label : str
        Of the criterion; part of the seed.
    n_steps : int
    density : mixture
        Not fitted: it is fitted anew after every acquisition.
    costs : mapping of str to float
        Of a view.
    among : ndarray of shape (n_samples, n_views), dtype=bool
        Hidden pairs that may be asked for.
    repeat : int
        Of the run; part of the seed.

    Returns
    -------
    curve : DataFrame
        Columns ``criterion, step, cost, auc, log_score``.
    """
    options = dict(options)
    by = options.pop("by", "utility")
    never = [(int(sample), names[j]) for sample, j in np.argwhere(~(among & trial.hidden))]
    priced = Costs(views=dict(costs), excluded=never)
    labels = np.where(trial.labeled, trial.target, np.nan)
    seeds = _seeds(label, repeat)
    seen, cost, rows = trial.seen, 0.0, []
    last = min(n_steps, int((among & trial.hidden).sum()))
    for step in range(last + 1):
        views = Views(blocks, names=list(names), presence=seen)
        fitted = clone(model).fit(views, labels)
        auc, log_score = compare(trial, fitted.label_distributions_[~trial.labeled, 1])
        rows.append({"criterion": label, "step": step, "cost": cost, "auc": auc, "log_score": log_score})
        if step == last:
            break
        table = view_utilities(
            fitted, views, labels, density=density, costs=priced, random_state=next(seeds), **options
        )
        best = table.sort_values(by, ascending=False, kind="stable").iloc[0]
        seen = seen.copy()
        seen[int(best["sample"]), names.index(best["view"])] = True
        cost += float(best["cost"])
    return pd.DataFrame(rows)


def compare(trial: Trial, positive: Any) -> tuple[float, float]:
    """AUC of the unlabeled samples and their mean log probability."""
    truth = trial.target[~trial.labeled]
    return float(roc_auc_score(truth, positive)), -float(log_loss(truth, positive))


def _seeds(label: str, repeat: int) -> Iterator[int]:
    """Seeds of ties, random choice and quasi-random points, from step to step; every criterion has its own."""
    rng = np.random.default_rng([repeat, crc32(label.encode())])
    while True:
        yield int(rng.integers(2**31))
