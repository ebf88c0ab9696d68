"""Which view of which sample to measure next: every missing pair with its utility and its cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from coview.acquisition._costs import Costs
from coview.acquisition._pair_scores import CRITERIA, PairScores
from coview.acquisition._scored_model import ScoredModel, seed_of
from coview.acquisition._tables import ranked, sample_names

__all__ = ["candidates_of", "pair_scores", "view_utilities"]

# Batches of 20 to 40 pairs did best with twice as many candidates; smaller ones choose among as many.
_FEWEST_CANDIDATES = 40


def view_utilities(
    model: Any,
    X: Any,
    y: Any,
    *,
    criterion: str = "expected_entropy",
    expectation: str = "quadrature",
    density: Any = "auto",
    costs: Any = None,
    over: str = "all",
    n_draws: int = 5,
    max_candidates: int | None = None,
    random_state: Any = None,
) -> pd.DataFrame:
    r"""Utility of measuring each missing view of each sample.

    Parameters
    ----------
    model : BayesianCoTrainingClassifier, BayesianCoTrainingRegressor or CoRegularizedLogisticRegression
        Taken as it is where it was fitted to just these data; otherwise a clone is fitted.
    X : Views or anything that Views takes
        Samples, some without some of the views.
    y : array-like of shape (n_samples,)
        Labels, unlabeled samples among them.
    criterion : str, default="expected_entropy"
        * "expected_entropy": by how much the total entropy of the classes of unlabeled samples is expected to fall once the
          value is known and the model has made one Newton step. Pairs of labeled samples, which teach what a view means, take
          part. Classifiers only.
        * "mutual_information" of the missing view and the consensus function (with ``latent="mean"``, the views' functions),
          and "mutual_information_bound" for exact kernels and ``latent="consensus"``, which replaces the mean of log
          determinants by that of the matrices, as printed in the papers.
        * "variance" of the latent function at the sample, whatever the view.
        * "a_optimality": the expected fall of these variances, summed over samples.
        * "random".
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
    n_draws : int, default=5
        Values of each missing view that "expected_entropy" is averaged over.
    max_candidates : int, default=None
        Pairs that "expected_entropy" scores; None: as many as take 2e8 entropies, at least 200. Of more pairs half of these
        places go to labeled samples, at random, the others to unlabeled samples whose own class the value is expected to tell
        most about. What is not scored comes last, with utility NaN. Twice as many as are measured next did best.
    random_state : int or RandomState, default=None
        Seeds quasi-random points, densities, and the order of ties; None is a fixed seed.

    Returns
    -------
    table : DataFrame
        Columns ``sample, view, utility[, cost, utility_per_cost]``, a row per missing pair, largest utility first.

    Notes
    -----
    Under averaging, the model is its setting of the largest evidence that keeps views apart and sets none aside, with the
    temperature that predicts best from it. "expected_entropy" works on features of each view, exact kernels by their leading
    100: a value then changes the posterior by a matrix of rank two, O(R^2) per pair and draw for R features, and
    O(n_unlabeled R) for its predictions.
    Mutual information measures what is learned of functions, not of labels, and did not beat random choice on the data sets
    tried, where the default did.

    For the papers' criteria sites of labels are held fixed, as in equation (19) of [1]_; then a value is a rank-one update of
    the precision of the consensus function and needs no bound. One factorization serves all pairs: O(n^3), and O(n_j^2 N +
    n_pairs n_j N) per view for N values that it may hold.

    A sample without any view has infinite variance and tells infinitely much of the consensus function.

    For co-regularized logistic regression information is of the weights, and the bound that of [2]_, from moments of the density
    in closed form; with "point_mass" its overall mean is put in, which is usually far less: do not compare the two. Where some
    views have fewer samples in common than features and the density is fitted here, the mean is used and a warning says so.
    Variances are of the log odds, averaged over the views of a sample, and a sample without any view has no information score.

    References
    ----------
    .. [1] S. Yu, B. Krishnapuram, R. Rosales, R. B. Rao, "Active sensing", AISTATS 2009.
    .. [2] B. Krishnapuram, D. Williams, Y. Xue, L. Carin, M. Figueiredo, A. Hartemink, "Active learning of features and
       labels", ICML workshop on learning with multiple views, 2005.

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
    costs = Costs.of(costs)
    scores = pair_scores(
        model,
        X,
        y,
        costs,
        criterion=criterion,
        expectation=expectation,
        density=density,
        over=over,
        n_draws=n_draws,
        max_candidates=max_candidates,
        random_state=random_state,
    )
    return ranked(scores.scored.views, scores.pairs, scores.utilities(), costs, scores.seed)


def candidates_of(max_candidates: Any, n: int) -> int | None:
    """How many pairs are scored for a batch: "auto" is twice as many as it may hold, and 40 at least."""
    if isinstance(max_candidates, str):
        if max_candidates != "auto":
            raise ValueError(f"max_candidates must be 'auto', a number or None; got {max_candidates!r}.")
        return max(2 * n, _FEWEST_CANDIDATES)
    if max_candidates is not None and max_candidates < 1:
        raise ValueError(f"max_candidates must be at least 1; got {max_candidates!r}.")
    return None if max_candidates is None else int(max_candidates)


def pair_scores(
    model: Any,
    X: Any,
    y: Any,
    costs: Costs | None,
    *,
    criterion: str,
    expectation: str = "quadrature",
    density: Any = "auto",
    over: str = "all",
    n_draws: int = 5,
    max_candidates: int | None = None,
    random_state: Any = None,
) -> PairScores:
    """The request of `view_utilities`, checked."""
    for name, value, choices in (
        ("criterion", criterion, CRITERIA),
        ("expectation", expectation, ("quadrature", "point_mass")),
        ("over", over, ("all", "unlabeled")),
    ):
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")
    for name, number in (("n_draws", n_draws), ("max_candidates", max_candidates)):
        if number is not None and number < 1:
            raise ValueError(f"{name} must be at least 1; got {number!r}.")
    scored = ScoredModel.of(model, X, y, fit=criterion != "random")
    views, names = scored.views, sample_names(scored.views)
    pairs = np.argwhere(~views.presence)
    if costs is not None:
        costs.check(views.names, names)
        pairs = pairs[costs.allowed(names[pairs[:, 0]].tolist(), [views.names[j] for j in pairs[:, 1]])]
    seed = seed_of(random_state)
    return PairScores(scored, pairs, criterion, expectation, density, over, n_draws, max_candidates, seed)
