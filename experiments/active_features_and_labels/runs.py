"""Queries one by one, chosen by a rule or at random, and what the classifier is worth after them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score, roc_curve

from coview import Views
from coview.acquisition import Costs, label_utilities, query_utilities, view_utilities
from coview.linear_model import CoRegularizedLogisticRegression
from coview.mixture import ClassConditionalGaussianMixture

from .problems import SENSORS, Problem, Start

__all__ = ["FALSE_POSITIVE_RATES", "PARTS", "Part", "run"]

Table = pd.DataFrame
Queries = NDArray[np.intp]  # (n, 2): object, and view or -1 for its label

FALSE_POSITIVE_RATES = np.linspace(0.0, 1.0, 101)
# The density of what a sensor would measure is fitted anew after so many queries.
_DENSITY_AGE = 10
_SAME_COST = Costs(dict.fromkeys(SENSORS, 1.0), label=1.0)


@dataclass(frozen=True)
class Known:
    """What is known after some queries."""

    start: Start
    presence: NDArray[np.bool_]
    labeled: NDArray[np.bool_]

    @property
    def views(self) -> Views:
        """Of all objects; what is not known is not there."""
        return Views(list(self.start.tables), names=list(SENSORS), presence=self.presence)

    @property
    def y(self) -> NDArray[Any]:
        """Truth values, None where there is no label."""
        return np.where(self.labeled, self.start.positive.astype(object), None)

    def after(self, queries: Queries) -> "Known":
        """With the answers."""
        presence, labeled = self.presence.copy(), self.labeled.copy()
        labels = queries[:, 1] < 0
        labeled[queries[labels, 0]] = True
        presence[queries[~labels, 0], queries[~labels, 1]] = True
        return replace(self, presence=presence, labeled=labeled)

    def open(self, part: "Part") -> Queries:
        """What may be asked."""
        pairs = np.argwhere(~self.presence)
        own = self.labeled[pairs[:, 0]]
        kept = [pairs[own]] if part.of_labeled else []
        kept += [pairs[~own]] if part.of_unlabeled else []
        rows = np.flatnonzero(~self.labeled)
        kept += [np.column_stack([rows, np.full(len(rows), -1)])] if part.labels else []
        return np.concatenate(kept)


@dataclass(frozen=True)
class Part:
    """One part of figure 2, or one of ours.

    Attributes
    ----------
    title : str
    n_labeled : int
        Labels at the start.
    n_queries : int
    of_labeled, of_unlabeled, labels : bool
        Whether sensors of labeled objects, sensors of unlabeled ones and labels may be asked for.
    rules : mapping of str to callable
        ``(model, known, density) -> table`` with columns sample, utility and perhaps view and query. The first is the paper's.
    """

    title: str
    n_labeled: int
    n_queries: int
    of_labeled: bool
    of_unlabeled: bool
    labels: bool
    rules: Mapping[str, Callable[[Any, Known, Any], Table]]


def _labels_by(criterion: str) -> Callable[[Any, Known, Any], Table]:
    return lambda model, known, density: label_utilities(model, known.views, known.y, criterion=criterion)


def _views_by(criterion: str, expectation: str) -> Callable[[Any, Known, Any], Table]:
    return lambda model, known, density: view_utilities(
        model, known.views, known.y, criterion=criterion, expectation=expectation, density=density
    )


def _either(model: Any, known: Known, density: Any) -> Table:
    return query_utilities(model, known.views, known.y, expectation="point_mass", density=density, costs=_SAME_COST)


_OF_VIEWS = {
    "information, mean put in (paper)": _views_by("mutual_information_bound", "point_mass"),
    "expected entropy": _views_by("expected_entropy", "quadrature"),
}
PARTS: dict[str, Part] = {
    "labels": Part(
        "100 labels",
        20,
        100,
        False,
        False,
        True,
        {"mutual information (paper)": _labels_by("mutual_information"), "entropy": _labels_by("entropy")},
    ),
    "features of labeled": Part("27 features of labeled objects", 100, 27, True, False, False, _OF_VIEWS),
    "features of unlabeled": Part("60 features of unlabeled objects", 100, 60, False, True, False, _OF_VIEWS),
    "features of either": Part("85 features of either", 100, 85, True, True, False, _OF_VIEWS),
    "labels and features": Part(
        "85 labels or features, nats per cost", 100, 85, True, True, True, {"mutual information per cost": _either}
    ),
}


def run(problem: Problem, part: str, repeat: int, seed: int, n_random: int) -> dict[str, list[dict[str, Any]]]:
    """All rules of one part from one start, and random trials.

    Returns
    -------
    rows : dict
        ``scores`` (a row per rule and measure), ``found`` (positives by number of labels), ``roc`` (by false positive rate).
    """
    chosen = PARTS[part]
    start = problem.start(chosen.n_labeled, repeat, seed)
    known = Known(start, start.presence, start.labeled)
    fit = _fitter(problem)
    n_queries = min(chosen.n_queries, len(known.open(chosen)))
    by_chance = [
        _by_chance(known, chosen, n_queries, np.random.default_rng([seed, repeat, t])) for t in range(n_random)
    ]
    trials = [_measured(fit, known.after(queries)) for queries in by_chance]
    before = _measured(fit, known)
    keys = {"data": problem.name, "repeat": repeat, "part": part}
    scores, roc = [], [{**keys, "rule": "random", **_mean_curve([trial["roc"] for trial in trials])}]
    found = [{**keys, "rule": "random", "found": _found(start, by_chance)}] if part == "labels" else []
    for name, rule in chosen.rules.items():
        asked = _adaptive(problem, known, chosen, rule, n_queries, fit)
        own = _measured(fit, known.after(asked))
        on_labels = int((asked[:, 1] < 0).sum())
        on_labeled = int(known.labeled[asked[asked[:, 1] >= 0, 0]].sum())
        for measure in ("remaining", "new"):
            chance = np.array([trial[measure] for trial in trials])
            scores.append(
                {
                    **keys,
                    "rule": name,
                    "measure": measure,
                    "start": before[measure],
                    "auc": own[measure],
                    "random": float(chance.mean()),
                    "random_sd": float(chance.std(ddof=1)),
                    "percentile": float(
                        100.0 * ((chance < own[measure]).mean() + 0.5 * (chance == own[measure]).mean())
                    ),
                    "queries": n_queries,
                    "labels_asked": on_labels,
                    "of_labeled": on_labeled,
                    "positives": int(start.positive[asked[:, 0]].sum()),
                }
            )
        roc.append({**keys, "rule": name, **_mean_curve([own["roc"]])})
        if part == "labels":
            found.append({**keys, "rule": name, "found": _found(start, [asked])})
    return {"scores": scores, "roc": roc, "found": found}


def _fitter(problem: Problem) -> Callable[[Known], CoRegularizedLogisticRegression]:
    model = CoRegularizedLogisticRegression(co_regularization=problem.agreement, tol=1e-8)
    return lambda known: model.fit(known.views, known.y)


def _by_chance(known: Known, part: Part, n_queries: int, rng: np.random.Generator) -> Queries:
    return rng.permutation(known.open(part))[:n_queries]


def _adaptive(
    problem: Problem, known: Known, part: Part, rule: Callable[..., Table], n_queries: int, fit: Callable[[Known], Any]
) -> Queries:
    """Queries chosen one by one."""
    asked: list[tuple[int, int]] = []
    density = None
    for step in range(n_queries):
        if part.of_labeled or part.of_unlabeled:
            density = _density(known) if step % _DENSITY_AGE == 0 else density
        allowed = {(int(i), int(j)) for i, j in known.open(part)}
        table = rule(fit(known), known, density)
        places = [
            SENSORS.index(view) if isinstance(view, str) else -1 for view in table.get("view", [None] * len(table))
        ]
        query = next(q for q in zip(table["sample"].astype(int), places, strict=True) if q in allowed)
        asked.append(query)
        known = known.after(np.array([query]))
    return np.array(asked, dtype=np.intp)


def _density(known: Known) -> ClassConditionalGaussianMixture:
    density = ClassConditionalGaussianMixture(covariance_type="view", missing_label=None, random_state=0)
    return density.fit(known.views, known.y)


def _measured(fit: Callable[[Known], Any], known: Known) -> dict[str, Any]:
    """AUC on the objects without a label and on new ones; the curve of the former."""
    model, start = fit(known), known.start
    rest = ~known.labeled
    p = model.label_distributions_[rest, 1]
    new = Views(list(start.new_tables), names=list(SENSORS), presence=start.new_presence)
    fpr, tpr, _ = roc_curve(start.positive[rest], p)
    return {
        "remaining": float(roc_auc_score(start.positive[rest], p)),
        "new": float(roc_auc_score(start.new_positive, model.predict_proba(new)[:, 1])),
        "roc": np.interp(FALSE_POSITIVE_RATES, fpr, tpr),
    }


def _mean_curve(curves: list[NDArray[np.float64]]) -> dict[str, Any]:
    stacked = np.stack(curves)
    return {"tpr": stacked.mean(axis=0).round(4).tolist(), "sd": stacked.std(axis=0).round(4).tolist()}


def _found(start: Start, trials: list[Queries]) -> list[float]:
    """Positives among the first 1, 2, ... objects asked for their label, a mean over trials."""
    return np.mean([np.cumsum(start.positive[queries[:, 0]]) for queries in trials], axis=0).round(3).tolist()
