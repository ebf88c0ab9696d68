"""Which view of which sample to measure next: every missing pair with its utility and its cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.acquisition._costs import Costs
from coview.acquisition._densities import ViewDensity, resolve_density
from coview.acquisition._gaussian_process import ConsensusScores, rests_on_consensus
from coview.acquisition._scored_model import ScoredModel, seed_of
from coview.acquisition._tables import ranked

__all__ = ["view_utilities"]

Array = NDArray[np.float64]

_CRITERIA = ("mutual_information", "mutual_information_bound", "variance", "a_optimality", "random")


def view_utilities(
    model: Any,
    X: Any,
    y: Any,
    *,
    criterion: str = "mutual_information",
    expectation: str = "quadrature",
    density: Any = "auto",
    costs: Any = None,
    over: str = "all",
    random_state: Any = None,
) -> pd.DataFrame:
    r"""Utility of measuring each missing view of each sample.

    Parameters
    ----------
    model : BayesianCoTrainingClassifier or BayesianCoTrainingRegressor
        Taken as it is where it was fitted to just these data; otherwise a clone is fitted.
    X : Views or anything that Views takes
        Samples, some without some of the views.
    y : array-like of shape (n_samples,)
        Labels, unlabeled samples among them.
    criterion : str, default="mutual_information"
        "mutual_information", of the consensus function and the missing view, and "mutual_information_bound", which replaces the
        mean of the log determinants by that of the matrices, as printed in the papers. "variance" of the latent function at the
        sample, whatever the view. "a_optimality", the expected fall of the variances summed over samples. "random".
    expectation : {"quadrature", "point_mass"}, default="quadrature"
        How the mean over what a view may hold is taken: trapezoid rule for one feature, 256 quasi-random points for more; or
        the mean of each component of the density alone.
    density : "auto" or mixture of coview.mixture, default="auto"
        What a view may hold, given the other views and the label of its sample; fitted here where it is not yet. "auto" is
        `ClassConditionalGaussianMixture`, whose classes share covariances while one has fewer than ten labels.
    costs : Costs, dict of view to cost, or DataFrame, default=None
        Adds the columns ``cost`` and ``utility_per_cost`` and leaves out impossible pairs.
    over : {"all", "unlabeled"}, default="all"
        The samples that "a_optimality" sums over.
    random_state : int or RandomState, default=None
        Seeds quasi-random points, densities, and the order of ties; None is a fixed seed.

    Returns
    -------
    table : DataFrame
        Columns ``sample, view, utility[, cost, utility_per_cost]``, a row per missing pair, largest utility first.

    Notes
    -----
    Sites of the labels are held fixed, as in equation (19) of [1]_; then measuring a view is a rank-one update of the precision
    of the consensus function and mutual information needs no bound. One factorization serves all candidates: O(n^3), and
    O(n_j^2 N + n_candidates n_j N) per view for N values that it may hold. Mutual information measures what is learned of the
    consensus function, not of labels.

    References
    ----------
    .. [1] S. Yu, B. Krishnapuram, R. Rosales, R. B. Rao, "Active sensing", AISTATS 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.acquisition import view_utilities
    >>> from coview.gaussian_process import BayesianCoTrainingClassifier
    >>> views = {"a": np.array([[0.0], [0.3], [2.0], [2.2]]), "b": np.array([[0.1], [np.nan], [1.9], [np.nan]])}
    >>> model = BayesianCoTrainingClassifier("rbf", latent="consensus", hyperparameters="fixed")
    >>> table = view_utilities(model, views, ["no", None, "yes", None], criterion="variance")
    >>> table["view"].tolist(), sorted(table["sample"])
    (['b', 'b'], [1, 3])
    """
    if criterion not in _CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(_CRITERIA)}; got {criterion!r}.")
    _check_choice("expectation", expectation, ("quadrature", "point_mass"))
    _check_choice("over", over, ("all", "unlabeled"))
    costs = Costs.of(costs)
    scored = ScoredModel.of(model, X, y)
    views, seed = scored.views, seed_of(random_state)
    pairs = np.argwhere(~views.presence)
    if costs is not None:
        costs.check(views.names, views.index)
        pairs = pairs[costs.allowed(views.index[pairs[:, 0]], [views.names[j] for j in pairs[:, 1]])]
    request = Request(scored, pairs, criterion, expectation, density, over, seed)
    return ranked(views, pairs, request.utilities(), costs, seed)


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")


@dataclass(frozen=True)
class Request:
    """Pairs (n_pairs, 2) of sample and view that are to be scored, and how."""

    scored: ScoredModel
    pairs: NDArray[np.intp]
    criterion: str
    expectation: str
    density: Any
    over: str
    seed: int

    def utilities(self) -> Array:
        """Utility of each pair (n_pairs,)."""
        if not len(self.pairs):
            return np.zeros(0)
        if self.criterion == "random":
            return np.random.RandomState(self.seed).uniform(size=len(self.pairs))
        posterior = self.scored.model.consensus_posterior()
        if self.criterion == "variance":
            variances = np.full(len(self.scored.views), np.inf)
            variances[posterior.kept] = posterior.training()[1].sum(axis=1)
            return variances[self.pairs[:, 0]]
        return self._by_view(posterior)

    def _by_view(self, posterior: Any) -> Array:
        """Criteria that ask what a view may hold; a sample without any view may be anything, whence infinite utility."""
        if not rests_on_consensus(posterior):
            raise ValueError(
                f"criterion={self.criterion!r} is of the consensus function of exact kernels; fit the model with "
                "latent='consensus', hyperparameters='fixed' or 'maximize', or use criterion='variance' or 'random'."
            )
        views = self.scored.views
        density = resolve_density(self.density, views, self.scored.labels, self.seed)
        held = ViewDensity(density, views, self.scored.labels, self.seed)
        scores = ConsensusScores(posterior)
        place = np.full(len(views), -1)
        place[posterior.kept] = np.arange(posterior.kept.size)
        utilities = np.full(len(self.pairs), np.inf)
        for j, view in enumerate(views.names):
            mine = np.flatnonzero((self.pairs[:, 1] == j) & (place[self.pairs[:, 0]] >= 0))
            if mine.size:
                samples = self.pairs[mine, 0]
                possible = held.values(view, samples, expectation=self.expectation)
                utilities[mine] = self._score(scores, view, place[samples], possible)
        return utilities

    def _score(self, scores: ConsensusScores, view: str, samples: NDArray[np.intp], possible: Any) -> Array:
        if self.criterion == "mutual_information":
            return scores.information(view, samples, possible)
        if self.criterion == "mutual_information_bound":
            return scores.information_bound(view, samples, possible)
        over = np.arange(len(self.scored.views)) if self.over == "all" else np.flatnonzero(~self.scored.labeled)
        return scores.variance_reduction(view, samples, possible, over)
