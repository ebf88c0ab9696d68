"""Why measurements would or would not pay: known values are hidden and looked at as if they had just come back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import entr
from scipy.stats import spearmanr
from sklearn.base import clone, is_classifier

from coview.acquisition._densities import PossibleValues, resolve_density
from coview.acquisition._diagnosis_words import words_of
from coview.acquisition._hidden_values import shown_views
from coview.acquisition._pair_scores import PairScores
from coview.acquisition._scored_model import ScoredModel, seed_of
from coview.views import Views

__all__ = ["Diagnosis", "diagnose"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Held-out pairs of a view whose utilities are compared with what the true values tell, in all folds together.
_MOST_COMPARED = 300
# Features that vary less where they are shown, as a share of their variance, are left out: a category that nobody has there.
_CONSTANT = 1e-2
# What one value of a feature may count for or against a density: nats, and standard deviations.
_MOST_NATS, _MOST_DEVIATIONS = 3.0, 5.0


@dataclass(frozen=True)
class Diagnosis:
    """What `diagnose` found; ``print(diagnosis)`` says it in words.

    Attributes
    ----------
    views : DataFrame
        A row per view: ``known, missing, labeled`` (samples with the view, without it, with it and a label). Of held-out values
        ``explained`` (share of their variance that other views and labels explain), ``log_density_gain`` (nats per feature
        beside a Gaussian of the feature alone) with ``log_density_error``, ``standardized_error`` (root mean square, 1 if the
        density is as sure as it may be); single values count 3 nats and 5 standard deviations at most. ``trust`` of the model;
        ``label_gain`` (nats per label by which labels left out are predicted better with the view than without it);
        ``expected, realized`` (mean fall of the total entropy in nats that held-out values were expected to bring, and brought)
        and ``agreement`` (rank correlation of the two). NaN where it cannot be said.
    whole : Series
        ``n_unlabeled``; ``entropy`` of all their predictions in nats, and ``uniform``, what it would be without any knowledge;
        ``best_utility`` of the missing values; ``hidden_gain`` (nats per label by which labels left out are predicted better
        with the values of a fold than without them) with ``hidden_error``; ``expected, realized, agreement`` over all views.
    words : list of str
        The same as advice, what matters most first.
    """

    views: pd.DataFrame
    whole: pd.Series
    words: list[str]

    def __str__(self) -> str:
        return "\n".join(f"* {line}" for line in self.words)


def diagnose(
    model: Any, X: Any, y: Any, *, density: Any = "auto", n_folds: int = 5, n_draws: int = 5, random_state: Any = None
) -> Diagnosis:
    """Whether what decides about measurements can be relied on: the density, the model, and their forecasts.

    A criterion that is no better than random choice may have one of several reasons: the density knows nothing of a view, or is
    too sure of it; a view tells nothing of the labels; predictions hardly depend on values at all; or nothing is left to gain.
    Known values, a fold at a time, are hidden, predicted, and compared with what they are.

    Parameters
    ----------
    model : BayesianCoTrainingClassifier, BayesianCoTrainingRegressor or CoRegularizedLogisticRegression
    X : Views or anything that Views takes
    y : array-like of shape (n_samples,)
    density : "auto" or mixture of coview.mixture, default="auto"
        As for `view_utilities`; fitted anew in every fold unless it is fitted already.
    n_folds : int, default=5
        Each known value is hidden in one of them, as long as its sample keeps a view.
    n_draws : int, default=5
        As for `view_utilities`.
    random_state : int or RandomState, default=None
        None is a fixed seed.

    Returns
    -------
    diagnosis : Diagnosis

    Notes
    -----
    ``n_folds`` fits of the density and, besides the one at hand, ``n_folds + n_views`` of the model. Forecasts are those of
    "expected_entropy", and what a value brought is the same with the true value, for classifiers only; at most 300 values are
    compared. Labels are left out by the closed form of the model (``loo_score_``); models without it have no label gains.

    Examples
    --------
    >>> from coview.acquisition import diagnose
    >>> from coview.datasets import make_two_gaussian_views
    >>> from coview.gaussian_process import BayesianCoTrainingClassifier
    >>> views, y = make_two_gaussian_views(n_samples=60, random_state=0)
    >>> y = [label if i % 4 == 0 else None for i, label in enumerate(y)]
    >>> diagnosis = diagnose(BayesianCoTrainingClassifier("rbf", hyperparameters="fixed"), views, y)
    >>> diagnosis.views.index.tolist(), bool(diagnosis.views["explained"].between(0.2, 1).all())
    (['x1', 'x2'], True)
    """
    if n_folds < 2:
        raise ValueError(f"n_folds must be at least 2; got {n_folds!r}.")
    scored, seed = ScoredModel.of(model, X, y), seed_of(random_state)
    folds = _folds(scored.views.presence, n_folds, np.random.RandomState(seed))
    held, forecasts, costs = [], [], []
    for fold in range(n_folds):
        hidden = folds == fold
        if hidden.any():
            shown = shown_views(scored.views, scored.views.presence & ~hidden)
            fitted = resolve_density(density, shown, scored.labels, seed)
            held.append(_held_out(scored, shown, hidden, fitted))
            again = ScoredModel.of(clone(scored.model), shown, scored.y)
            costs.append(_label_score(scored.model) - _label_score(again.model))
            forecasts.append(_forecasts(scored, again, hidden, fitted, n_draws, n_folds, seed))
    found = pd.concat(held, ignore_index=True) if held else pd.DataFrame(columns=_HELD)
    compared = pd.concat(forecasts, ignore_index=True) if forecasts else pd.DataFrame(columns=_COMPARED)
    views = _of_views(scored, found, compared)
    whole = _of_all(scored, compared, np.array(costs), density, n_draws, seed)
    return Diagnosis(views, whole, words_of(views, whole, n_folds))


_HELD = ["view", "square", "total", "standardized", "log_density_gain"]
_COMPARED = ["view", "expected", "realized"]


def _folds(presence: Mask, n_folds: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Fold of each known pair (n_samples, n_views), -1 for those that are never hidden."""
    folds = np.where(presence, rng.randint(n_folds, size=presence.shape), -1)
    for fold in range(n_folds):
        bare = np.flatnonzero(presence.any(axis=1) & ~(presence & (folds != fold)).any(axis=1))
        # one of the views stays, at random
        kept = np.where(presence[bare], rng.uniform(size=(bare.size, presence.shape[1])), -1.0).argmax(axis=1)
        folds[bare, kept] = -1
    return folds


def _held_out(scored: ScoredModel, shown: Views, hidden: Mask, fitted: Any) -> pd.DataFrame:
    """How well hidden values are predicted: a row per value of a view, means over its features."""
    knows = scored.labels is not None and hasattr(fitted, "classes_")
    conditional = fitted.conditional(shown, scored.labels) if knows else fitted.conditional(shown)
    truth, mean, variance = scored.views.stacked(), conditional.mean(), conditional.variance()
    start, parts = 0, []
    for j, (name, width) in enumerate(scored.views.n_features.items()):
        columns, rows = np.arange(start, start + width), np.flatnonzero(hidden[:, j])
        start += width
        if not rows.size or not shown.presence[:, j].any():
            continue
        alone, spread = shown[name].mean(axis=0), shown[name].var(axis=0)
        varies = spread > _CONSTANT * scored.views[name].var(axis=0)
        if not varies.any():
            continue
        grid = np.ix_(rows, columns[varies])
        spread, error, plain = spread[varies], truth[grid] - mean[grid], truth[grid] - alone[varies]
        sure = np.maximum(variance[grid], 1e-12 * spread)
        gain = 0.5 * (np.log(spread / sure) + plain**2 / spread - error**2 / sure)
        columns_of = {
            "square": error**2 / spread,
            "total": plain**2 / spread,
            "standardized": np.minimum(error**2 / sure, _MOST_DEVIATIONS**2),
            "log_density_gain": np.clip(gain, -_MOST_NATS, _MOST_NATS),
        }
        parts.append(pd.DataFrame({"view": name, **{key: part.mean(axis=1) for key, part in columns_of.items()}}))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=_HELD)


def _forecasts(
    scored: ScoredModel, again: ScoredModel, hidden: Mask, density: Any, n_draws: int, n_folds: int, seed: int
) -> pd.DataFrame:
    """Expected falls of the total entropy by hidden values beside those that the true values bring."""
    nothing = pd.DataFrame(columns=_COMPARED)
    if scored.labels is None or scored.labeled.all() or not _can_be_scored(scored.model):
        return nothing
    pairs = np.argwhere(hidden)
    chosen = np.random.RandomState(seed).permutation(len(pairs))[: max(1, _MOST_COMPARED // n_folds)]
    pairs = pairs[np.sort(chosen)]
    scores = _expected_entropy(again, pairs, density, n_draws, seed)
    expected, realized = scores.score(np.arange(len(pairs))), np.full(len(pairs), np.nan)
    truth, start = scored.views.stacked(), 0
    for j, (name, width) in enumerate(scored.views.n_features.items()):
        mine = np.flatnonzero(pairs[:, 1] == j)
        if mine.size:
            values = truth[pairs[mine, 0], start : start + width]
            realized[mine] = scores.with_values(name, pairs[mine, 0], PossibleValues(values, np.ones((mine.size, 1))))
        start += width
    names = np.array(scored.views.names, dtype=object)[pairs[:, 1]]
    return pd.DataFrame({"view": names, "expected": expected, "realized": realized})


def _expected_entropy(
    scored: ScoredModel, pairs: NDArray[np.intp], density: Any, n_draws: int, seed: int
) -> PairScores:
    return PairScores(scored, pairs, "expected_entropy", "quadrature", density, "all", n_draws, None, seed)


def _can_be_scored(model: Any) -> bool:
    return is_classifier(model) and (hasattr(model, "consensus_posterior") or hasattr(model, "weight_posterior"))


def _label_score(model: Any) -> float:
    """Sum of the log probabilities of labels left out."""
    return float(getattr(model, "loo_score_", np.nan))


def _of_views(scored: ScoredModel, found: pd.DataFrame, compared: pd.DataFrame) -> pd.DataFrame:
    views, n_labels = scored.views, max(int(scored.labeled.sum()), 1)
    table = getattr(scored.model, "view_trust_", None)
    trust = {} if table is None else table["share"].to_dict()
    rows = []
    for j, name in enumerate(views.names):
        mine, told = found[found["view"] == name], compared[compared["view"] == name]
        gains, total = mine["log_density_gain"].to_numpy(dtype=float), float(mine["total"].sum())
        rows.append(
            {
                "known": int(views.presence[:, j].sum()),
                "missing": int((~views.presence[:, j]).sum()),
                "labeled": int((views.presence[:, j] & scored.labeled).sum()),
                "explained": 1.0 - float(mine["square"].sum()) / total if total > 0.0 else np.nan,
                "log_density_gain": float(gains.mean()) if gains.size else np.nan,
                "log_density_error": float(gains.std(ddof=1) / np.sqrt(gains.size)) if gains.size > 1 else np.nan,
                "standardized_error": float(np.sqrt(mine["standardized"].astype(float).mean())),
                "trust": trust.get(name, np.nan),
                "label_gain": (_label_score(scored.model) - _without(scored, j)) / n_labels,
                **_agreement(told),
            }
        )
    return pd.DataFrame(rows, index=pd.Index(views.names, name="view"))


def _without(scored: ScoredModel, j: int) -> float:
    """Score of labels left out where nobody has a view, but for the samples that have no other."""
    views = scored.views
    if views.n_views == 1 or not hasattr(scored.model, "loo_score_"):
        return np.nan
    presence = views.presence.copy()
    others = np.arange(views.n_views) != j
    keep = presence[:, others].any(axis=1)
    presence[keep, j] = False
    if not presence[:, others].any():
        return np.nan
    shown = shown_views(views, presence)
    return _label_score(clone(scored.model).fit(shown, scored.y))


def _agreement(told: pd.DataFrame) -> dict[str, float]:
    expected, realized = told["expected"].to_numpy(dtype=float), told["realized"].to_numpy(dtype=float)
    if len(told) < 3 or np.ptp(expected) == 0.0 or np.ptp(realized) == 0.0:
        agreement = np.nan
    else:
        agreement = float(spearmanr(expected, realized).statistic)
    means = [float(values.mean()) if len(told) else np.nan for values in (expected, realized)]
    return {"expected": means[0], "realized": means[1], "agreement": agreement}


def _of_all(
    scored: ScoredModel, compared: pd.DataFrame, costs: Array, density: Any, n_draws: int, seed: int
) -> pd.Series:
    n_labels = max(int(scored.labeled.sum()), 1)
    found = {
        "n_unlabeled": float((~scored.labeled).sum()),
        "entropy": np.nan,
        "uniform": np.nan,
        "best_utility": np.nan,
        "hidden_gain": float(costs.mean()) / n_labels if costs.size else np.nan,
        "hidden_error": float(costs.std(ddof=1) / np.sqrt(costs.size)) / n_labels if costs.size > 1 else np.nan,
        **_agreement(compared),
    }
    if scored.labels is not None and not scored.labeled.all() and hasattr(scored.model, "predict_proba"):
        seen = scored.views.presence.any(axis=1) & ~scored.labeled
        p = scored.model.predict_proba(scored.views[np.flatnonzero(seen)])
        found["entropy"] = float(entr(p).sum())
        found["uniform"] = float(seen.sum() * np.log(p.shape[1]))
        pairs = np.argwhere(~scored.views.presence)
        if _can_be_scored(scored.model) and len(pairs):
            utilities = _expected_entropy(scored, pairs, density, n_draws, seed).utilities()
            found["best_utility"] = float(np.nanmax(utilities))
    return pd.Series(found)
