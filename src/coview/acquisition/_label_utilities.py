"""Which sample to label next: every unlabeled sample with its utility and its cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from coview.acquisition._costs import Costs
from coview.acquisition._logistic import LogisticScores
from coview.acquisition._scored_model import ScoredModel, seed_of
from coview.acquisition._tables import best_first, per_cost, sample_names
from coview.inference import label_information
from coview.views import Views

__all__ = ["LABEL_CRITERIA", "label_moments", "label_scores", "label_utilities"]

Array = NDArray[np.float64]

LABEL_CRITERIA = ("mutual_information", "entropy", "margin", "disagreement", "random")


def label_utilities(
    model: Any,
    X: Any,
    y: Any,
    *,
    criterion: str = "mutual_information",
    costs: Any = None,
    random_state: Any = None,
) -> pd.DataFrame:
    r"""Utility of the label of each unlabeled sample.

    Parameters
    ----------
    model : classifier of coview, or BayesianCoTrainingRegressor
        Models with a posterior are taken as they are where they were fitted to just these data, other models where they are
        fitted; otherwise a clone is fitted.
    X : Views or anything that Views takes
    y : array-like of shape (n_samples,)
        Labels, unlabeled samples among them.
    criterion : str, default="mutual_information"
        * "mutual_information" of the label and the latent functions, or the weights, for models with a posterior; nats.
        * "entropy" of the predicted classes; nats.
        * "margin": one minus the difference of the two largest probabilities.
        * "disagreement": Jensen-Shannon divergence of what the model predicts from each view alone, 0 for samples with one
          view; nats.
        * "random".
    costs : Costs, float or None, default=None
        ``Costs(label=...)``, or the cost of a label; adds the columns ``cost`` and ``utility_per_cost``.
    random_state : int or RandomState, default=None
        Seeds "random" and the order of ties; None is a fixed seed.

    Returns
    -------
    table : DataFrame
        Columns ``sample, utility[, cost, utility_per_cost]``, a row per unlabeled sample, largest utility first.

    Notes
    -----
    Mutual information is ``log(1 + phi S_ii) / 2``, with S the posterior covariance and phi the curvature of the label's
    likelihood at the mode, summed over the latent functions; the same units as that of `view_utilities`. O(n) after the fit.
    For co-regularized logistic regression, which has a classifier per view, it is ``log det(I + X S X^T) / 2`` over the views of
    the sample, S the covariance of the weights and each row of X scaled by the root of ``p (1 - p)``. A sample without views
    tells nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.acquisition import label_utilities
    >>> from coview.gaussian_process import BayesianCoTrainingClassifier
    >>> views = {"a": np.array([[0.0], [0.1], [5.0], [2.4]]), "b": np.array([[0.0], [0.0], [5.0], [2.6]])}
    >>> table = label_utilities(BayesianCoTrainingClassifier(), views, ["no", None, "yes", None], criterion="entropy")
    >>> table["sample"].tolist()
    [3, 1]
    """
    if criterion not in LABEL_CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(map(repr, LABEL_CRITERIA))}; got {criterion!r}.")
    costs = Costs(label=float(costs)) if isinstance(costs, int | float) else Costs.of(costs)
    scored, seed = ScoredModel.of(model, X, y, fit=criterion != "random"), seed_of(random_state)
    rows = np.flatnonzero(~scored.labeled)
    table = pd.DataFrame(
        {"sample": sample_names(scored.views)[rows], "utility": label_scores(scored, rows, criterion, seed)}
    )
    if costs is not None:
        table["cost"] = costs.label
        table["utility_per_cost"] = per_cost(table["utility"].to_numpy(), table["cost"].to_numpy(dtype=np.float64))
    return best_first(table, seed)


def label_scores(scored: ScoredModel, rows: NDArray[np.intp], criterion: str, seed: int) -> Array:
    """Utilities of the labels of some unlabeled samples (n_rows,)."""
    if not rows.size:
        return np.zeros(0)
    if criterion == "random":
        return np.random.RandomState(seed).uniform(size=rows.size)
    if criterion == "mutual_information":
        return _information(scored)[rows]
    if scored.labels is None:
        raise ValueError(f"criterion={criterion!r} is of classes; for regression use 'mutual_information' or 'random'.")
    if not hasattr(scored.model, "predict_proba"):
        raise TypeError(
            f"criterion={criterion!r} needs a model with predict_proba; {type(scored.model).__name__} has none."
        )
    unlabeled = scored.views[rows]
    if criterion == "disagreement":
        return _disagreement(scored.model, unlabeled)
    p = np.asarray(scored.model.predict_proba(unlabeled))
    if criterion == "entropy":
        return _entropies(p)
    ordered = np.sort(p, axis=1)
    return np.asarray(1.0 - ordered[:, -1] + (ordered[:, -2] if p.shape[1] > 1 else 0.0))


def _information(scored: ScoredModel) -> Array:
    """Mutual information of labels and latent functions (n_samples,); samples without a view tell nothing of others."""
    if hasattr(scored.model, "weight_posterior"):
        return LogisticScores(scored).label_information()
    if not hasattr(scored.model, "consensus_posterior"):
        raise TypeError(
            f"criterion='mutual_information' needs a model with a posterior, like BayesianCoTrainingClassifier; got "
            f"{type(scored.model).__name__}. 'entropy', 'margin' and 'disagreement' work with any classifier."
        )
    curvatures, variances = label_moments(scored)
    return np.asarray(label_information(variances, curvatures))


def label_moments(scored: ScoredModel) -> tuple[Array, Array]:
    """Curvatures that labels would have, and variances of the latent functions (n_samples, K) each; 0 without any view."""
    posterior = scored.model.consensus_posterior()
    mean, variance = posterior.training()
    curvatures, variances = (np.zeros((len(scored.views), mean.shape[1])) for _ in range(2))
    variances[posterior.kept] = variance
    curvatures[posterior.kept] = expit(mean) * expit(-mean) if posterior.classifies else posterior.curvatures[0, 0]
    return curvatures, variances


def _disagreement(model: Any, views: Views) -> Array:
    """Entropy of the mean of the views' predictions minus the mean of their entropies (n_samples,)."""
    total = np.zeros((len(views), len(model.classes_)))
    entropy, count = np.zeros(len(views)), views.presence.sum(axis=1)
    for name in views.names:
        rows = views.rows(name)
        if rows.size:
            p = np.asarray(model.predict_proba(views.select([name])[rows]))
            total[rows] += p
            entropy[rows] += _entropies(p)
    count = np.maximum(count, 1)
    return np.where(
        views.presence.sum(axis=1) > 1, np.maximum(_entropies(total / count[:, None]) - entropy / count, 0.0), 0.0
    )


def _entropies(p: Array) -> Array:
    return np.asarray(-xlogy(p, p).sum(axis=1))
