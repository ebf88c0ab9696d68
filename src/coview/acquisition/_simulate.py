"""Would a criterion have been worth it: measurements hidden from known data and asked for one after another."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.metrics import get_scorer
from sklearn.utils import check_random_state

from coview.acquisition._accounts import Account, Basket
from coview.acquisition._choice import SHORTLIST, FixedScores, Scores, choose
from coview.acquisition._costs import Costs
from coview.acquisition._densities import GrowingDensity
from coview.acquisition._hidden_values import shown_views
from coview.acquisition._pair_scores import CRITERIA
from coview.acquisition._simulation import Simulation
from coview.acquisition._tables import sample_names
from coview.acquisition._view_batches import check_ahead
from coview.acquisition._view_utilities import candidates_of, pair_scores
from coview.labels import encode_labels, labeled_rows, target_values
from coview.model_selection import label_draws
from coview.views import Views

__all__ = ["simulate"]

Mask = NDArray[np.bool_]

_WITHOUT_DENSITY = ("random", "variance")
_OPTIONS = (
    "criterion",
    "by",
    "expectation",
    "density",
    "over",
    "n_draws",
    "max_candidates",
    "greedy",
    "shortlist",
    "look_ahead",
)


def simulate(
    model: Any,
    X: Any,
    y: Any,
    *,
    criteria: Sequence[str] | Mapping[str, Mapping[str, Any]] = ("expected_entropy", "random"),
    n_steps: int,
    repeats: int = 20,
    scorer: Any,
    costs: Any = None,
    batch_size: int = 1,
    per_sample: int = 1,
    hidden: Any = 0.5,
    always_seen: Sequence[str] = (),
    n_labeled: Any = None,
    budget: float | None = None,
    by: str = "utility",
    expectation: str = "quadrature",
    density: Any = "auto",
    everything: bool = True,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Simulation:
    """Learning curves of criteria on data whose values and labels are known.

    Some known views and labels are hidden; then, step by step, each criterion says what to measure, the true values are
    revealed, and the model is fitted again and scored on the samples whose labels stay hidden.

    Parameters
    ----------
    model : BayesianCoTrainingClassifier, BayesianCoTrainingRegressor or CoRegularizedLogisticRegression
        Cloned; with the criterion "random" alone, any semi-supervised estimator that takes Views.
    X : Views or anything that Views takes
    y : array-like of shape (n_samples,)
        Targets, some perhaps missing.
    criteria : sequence of str, or dict of name to dict of options, default=("expected_entropy", "random")
        Criteria of `view_utilities`; or names of your own, each with options ``criterion, by, expectation, density, over,
        n_draws``, ``max_candidates`` as in `Campaign.ask`, and ``greedy=True`` (``shortlist, look_ahead``) for batches as
        `select_views` chooses them; looking ahead takes that too.
    n_steps : int
        Rounds of measurements.
    repeats : int, default=20
        Draws of what is hidden. All criteria start from the same.
    scorer : str, callable or dict of name to these
        Of scikit-learn, like "roc_auc", "neg_log_loss", "r2"; a callable is called with an estimator, the scored samples as
        Views, and their targets. Greater is better.
    costs : Costs, dict of view to cost, or DataFrame, default=None
    batch_size : int, default=1
        Pairs measured in a step.
    per_sample : int, default=1
        Most pairs of one sample in a step.
    hidden : float, dict of view to float, boolean array of shape (n_samples, n_views), or callable, default=0.5
        Share of the known pairs that is hidden at the start, at random; or which pairs; or ``f(rng, views, y)`` that says which.
        With shares, every sample keeps one view at least.
    always_seen : sequence of str, default=()
        Views that are never hidden.
    n_labeled : int, float, callable or None, default=None
        Labels that the model is given: a number, a share of all, ``f(rng, y)`` -> boolean array, or None for half of them. Of
        each class two where they suffice.
    budget : float, default=None
        What a curve may spend.
    by : {"utility", "utility_per_cost"}, default="utility"
        What is largest in the pairs taken; "random" takes pairs at random unless its own options have "utility_per_cost".
    expectation, density
        As for `view_utilities`. A density that is fitted here goes on from the last step; it is searched anew, with its number
        of components, once a quarter more views are known.
    everything : bool, default=True
        Whether the scores with nothing hidden but the labels are computed too.
    n_jobs : int, default=None
        Repeats at the same time, as in joblib; the result does not depend on it.
    random_state : int or RandomState, default=None
        None is a fixed seed.

    Returns
    -------
    simulation : Simulation

    Notes
    -----
    One fit per step, criterion and repeat, and one scoring of all candidates. A curve ends early where nothing is left to ask.

    Examples
    --------
    >>> from coview.acquisition import simulate
    >>> from coview.datasets import make_two_gaussian_views
    >>> from coview.gaussian_process import BayesianCoTrainingClassifier
    >>> views, y = make_two_gaussian_views(n_samples=40, random_state=0)
    >>> model = BayesianCoTrainingClassifier("rbf", latent="consensus", hyperparameters="fixed")
    >>> result = simulate(
    ...     model, views, y, criteria=["variance", "random"], n_steps=2, repeats=2, scorer="accuracy", n_labeled=6
    ... )
    >>> len(result.curves), result.against("random")["criterion"].tolist()
    (12, ['variance'])
    """
    for name, number in (("n_steps", n_steps), ("repeats", repeats), ("batch_size", batch_size)):
        if number < 1:
            raise ValueError(f"{name} must be at least 1; got {number!r}.")
    views = (X if isinstance(X, Views) else Views(X, view_columns=getattr(model, "view_columns", None))).as_floats()
    if isinstance(y, pd.Series):
        y = views.align(y)
    costs = Costs.of(costs)
    if costs is None and budget is not None:
        raise ValueError("A budget needs costs.")
    if costs is not None:
        costs.check(views.names, sample_names(views))
    absent = [name for name in always_seen if name not in views.names]
    if absent:
        raise ValueError(f"always_seen names {', '.join(map(repr, absent))}; the views are {', '.join(views.names)}.")
    given = {"by": by, "expectation": expectation, "density": density}
    job = _Job(
        model=clone(model).set_params(**({"view_columns": None} if hasattr(model, "view_columns") else {})),
        views=views,
        y=target_values(y),
        plans=_plans(criteria, given, costs),
        scorers=_scorers(scorer),
        costs=costs,
        n_steps=n_steps,
        batch_size=batch_size,
        per_sample=per_sample,
        hidden=hidden,
        always_seen=tuple(always_seen),
        n_labeled=n_labeled,
        budget=budget,
        everything=everything,
    )
    if len(job.y) != len(views):
        raise ValueError(f"y must have one entry per sample; got {len(job.y)} for {len(views)} samples.")
    seeds = check_random_state(0 if random_state is None else random_state).randint(
        np.iinfo(np.int32).max, size=repeats
    )
    runs = Parallel(n_jobs=n_jobs)(delayed(job.run)(repeat, int(seed)) for repeat, seed in enumerate(seeds))
    full = pd.DataFrame([row for _, row in runs if row])
    return Simulation(pd.DataFrame([row for rows, _ in runs for row in rows]), full)


def _plans(
    criteria: Sequence[str] | Mapping[str, Mapping[str, Any]], given: Mapping[str, Any], costs: Costs | None
) -> dict[str, dict[str, Any]]:
    """Options of each criterion, by name."""
    if isinstance(criteria, str):
        criteria = [criteria]
    named = criteria if isinstance(criteria, Mapping) else {name: {} for name in criteria}
    plans: dict[str, dict[str, Any]] = {}
    for name, options in named.items():
        unknown = [option for option in options if option not in _OPTIONS]
        if unknown:
            raise ValueError(f"{name!r} has options {unknown}; known are {', '.join(_OPTIONS)}.")
        plan = {"criterion": name, "greedy": False, **given, **options}
        if plan["criterion"] == "random" and "by" not in options:
            plan["by"] = "utility"
        if plan["criterion"] not in CRITERIA:
            raise ValueError(f"A criterion must be one of {', '.join(map(repr, CRITERIA))}; got {plan['criterion']!r}.")
        if plan["by"] not in ("utility", "utility_per_cost") or (costs is None and plan["by"] != "utility"):
            raise ValueError(f"by must be 'utility', or with costs 'utility_per_cost'; got {plan['by']!r}.")
        check_ahead(plan.get("look_ahead", 0), plan["criterion"])
        plans[str(name)] = plan
    return plans


def _scorers(scorer: Any) -> dict[str, Callable[..., float]]:
    if isinstance(scorer, Mapping):
        return {str(name): get_scorer(one) for name, one in scorer.items()}
    if isinstance(scorer, list | tuple):
        return {str(name): get_scorer(name) for name in scorer}
    return {scorer if isinstance(scorer, str) else "score": get_scorer(scorer)}


@dataclass(frozen=True)
class _Job:
    """Everything but the seed of a repeat."""

    model: Any
    views: Views
    y: NDArray[Any]
    plans: Mapping[str, Mapping[str, Any]]
    scorers: Mapping[str, Callable[..., float]]
    costs: Costs | None
    n_steps: int
    batch_size: int
    per_sample: int
    hidden: Any
    always_seen: tuple[str, ...]
    n_labeled: Any
    budget: float | None
    everything: bool

    def run(self, repeat: int, seed: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Curves of all criteria, and the scores with everything measured."""
        rng = np.random.RandomState(seed)
        labeled = self._labeled(rng)
        presence = self.views.presence & ~self._hidden(rng)
        y = self.y.astype(object)
        y[~labeled] = None
        scored = self._known_labels & ~labeled
        if not scored.any():
            raise ValueError("No label is left to score on: n_labeled leaves none. Ask for fewer.")
        start = self._fitted(presence, y)
        rows = []
        for name in self.plans:
            about = {"repeat": repeat, "criterion": name}
            rows += [about | row for row in self._curve(name, seed, start, presence, y, scored)]
        full = {}
        if self.everything:
            full = {"repeat": repeat, **self._scores(*self._fitted(self.views.presence, y), scored)}
        return rows, full

    def _curve(
        self, name: str, seed: int, start: tuple[Any, Views], presence: Mask, y: NDArray[Any], scored: Mask
    ) -> Iterator[dict[str, Any]]:
        model, shown = start
        spent, measured = 0.0, 0
        held = GrowingDensity(self.plans[name]["density"])
        for step in range(self.n_steps + 1):
            scores = self._scores(model, shown, scored)
            yield {"step": step, "n_measured": measured, "cost": spent, **scores}
            if step == self.n_steps:
                return
            left = None if self.budget is None else self.budget - spent
            # a seed that depends neither on the other criteria nor on how long the curves are
            step_seed = zlib.crc32(f"{name}/{seed}/{step}".encode()) & 0x7FFFFFFF
            if self.plans[name]["criterion"] not in _WITHOUT_DENSITY and hasattr(model, "consensus_posterior"):
                held = held.after(shown, y if is_classifier(model) else None, seed)
            pairs, price = self._chosen(name, model, shown, y, held.fitted, left, step_seed)
            if not len(pairs):
                return
            presence = presence.copy()
            presence[tuple(pairs.T)] = True
            spent, measured = spent + price, measured + len(pairs)
            model, shown = self._fitted(presence, y)

    def _chosen(
        self, name: str, model: Any, shown: Views, y: NDArray[Any], density: Any, left: float | None, seed: int
    ) -> tuple[NDArray[np.intp], float]:
        """Pairs to reveal (k, 2), and what they cost together."""
        plan = dict(self.plans[name])
        by, greedy = plan.pop("by"), plan.pop("greedy")
        options = {"shortlist": plan.pop("shortlist", SHORTLIST), "look_ahead": plan.pop("look_ahead", 0)}
        plan["max_candidates"] = candidates_of(plan.pop("max_candidates", "auto"), self.batch_size)
        if density is not None:
            plan["density"] = density
        scores: Scores = pair_scores(model, shown, y, self._possible, random_state=seed, **plan)
        account = Account.of(self._possible, sample_names(shown), shown.names, shown.presence)
        basket = Basket(account, scores.pairs, per_sample=self.per_sample, budget=left)
        if not greedy and not options["look_ahead"]:
            scores = FixedScores(scores.pairs, scores.utilities(basket.open()), seed)
        found = choose(scores, basket, self.batch_size, by, **options)
        pairs = scores.pairs[[choice.position for choice in found]].reshape(-1, 2)
        return pairs, sum(choice.price for choice in found)

    def _fitted(self, presence: Mask, y: NDArray[Any]) -> tuple[Any, Views]:
        shown = shown_views(self.views, presence)
        return clone(self.model).fit(shown, y), shown

    def _scores(self, model: Any, shown: Views, scored: Mask) -> dict[str, float]:
        answers = _Answers.of(model, shown, scored)
        target = self.y[scored]
        target = np.array(target.tolist())
        return {name: float(scorer(answers, shown[scored], target)) for name, scorer in self.scorers.items()}

    @cached_property
    def _possible(self) -> Costs:
        """Costs, with what is truly missing left out."""
        names = sample_names(self.views)
        missing = [(names[i], self.views.names[j]) for i, j in np.argwhere(~self.views.presence)]
        costs = self.costs or Costs()
        return dataclasses.replace(costs, excluded=[*costs.excluded, *missing])

    @cached_property
    def _known_labels(self) -> Mask:
        about = {"classes": getattr(self.model, "classes", None)} if is_classifier(self.model) else {}
        return labeled_rows(self.y, missing_label=getattr(self.model, "missing_label", "auto"), **about)

    def _labeled(self, rng: np.random.RandomState) -> Mask:
        """Samples whose label the model is given."""
        known = self._known_labels
        if callable(self.n_labeled):
            return _mask(self.n_labeled(rng, self.y), known.shape, "n_labeled") & known
        n = self.n_labeled
        wanted = int(known.sum()) // 2 if n is None else round(n * known.sum()) if isinstance(n, float) else int(n)
        y = self.y.astype(object)
        y[~known] = None
        two = 0
        if is_classifier(self.model):
            classes, codes = encode_labels(y, missing_label=None)
            two = 2 if wanted >= 2 * len(classes) and np.bincount(codes[codes >= 0]).min() > 2 else 1
        (drawn,) = label_draws(y, wanted, n_draws=1, n_per_class=two, random_state=rng)
        labeled = np.zeros(known.shape, dtype=bool)
        labeled[drawn] = True
        return labeled

    def _hidden(self, rng: np.random.RandomState) -> Mask:
        """Pairs hidden at the start (n_samples, n_views)."""
        presence, names = self.views.presence, self.views.names
        hidden = self.hidden(rng, self.views, self.y) if callable(self.hidden) else self.hidden
        if isinstance(hidden, Mapping) or np.ndim(hidden) == 0:
            shares = hidden if isinstance(hidden, Mapping) else dict.fromkeys(names, hidden)
            unknown = [name for name in shares if name not in names]
            if unknown or not all(0.0 <= share <= 1.0 for share in shares.values()):
                raise ValueError(
                    f"hidden must give shares from 0 to 1 of the views {', '.join(names)}; got {hidden!r}."
                )
            mask = rng.uniform(size=presence.shape) < [float(shares.get(name, 0.0)) for name in names]
            mask[:, [name in self.always_seen for name in names]] = False
            mask &= presence
            bare = np.flatnonzero(presence.any(axis=1) & ~(presence & ~mask).any(axis=1))
            for row in bare:
                mask[row, rng.choice(np.flatnonzero(presence[row]))] = False
            return np.asarray(mask)
        mask = _mask(hidden, presence.shape, "hidden")
        mask[:, [name in self.always_seen for name in names]] = False
        return mask & presence


def _mask(value: Any, shape: tuple[int, ...], name: str) -> Mask:
    mask = np.array(value)
    if mask.dtype != bool or mask.shape != shape:
        raise ValueError(f"{name} must give a boolean array of shape {shape}; got {mask.dtype} of shape {mask.shape}.")
    return mask


class _Answers(BaseEstimator):  # type: ignore[misc]
    """A fitted model as scorers see it: its answers for the scored samples, which it saw without labels."""

    def __init__(self, model: Any, probabilities: Any, values: Any) -> None:
        self.model = model
        self.probabilities = probabilities
        self.values = values
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_

    @staticmethod
    def of(model: Any, shown: Views, scored: Mask) -> _Answers:
        classes = is_classifier(model)
        if not classes:
            values = model.transduction_[scored] if hasattr(model, "transduction_") else model.predict(shown[scored])
            return _RegressorAnswers(model, None, values)
        if hasattr(model, "label_distributions_"):
            probabilities = model.label_distributions_[scored]
        elif hasattr(model, "predict_proba"):
            probabilities = model.predict_proba(shown[scored])
        else:
            return _ClassifierAnswers(model, None, model.predict(shown[scored]))
        return _ClassifierAnswers(model, probabilities, model.classes_[probabilities.argmax(axis=1)])

    def fit(self, X: Any, y: Any) -> _Answers:
        """Nothing to learn."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted targets of the scored samples."""
        return np.asarray(self.values)


class _ClassifierAnswers(ClassifierMixin, _Answers):  # type: ignore[misc]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities of the scored samples."""
        return np.asarray(self.probabilities)


class _RegressorAnswers(RegressorMixin, _Answers):  # type: ignore[misc]
    """Answers that are numbers."""
