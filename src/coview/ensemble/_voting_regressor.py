"""Late fusion of numbers: one regressor per view, their predictions averaged."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.linear_model import RidgeCV

from coview.base import Interval, StrOptions
from coview.ensemble._weights import weights_by_view
from coview.labels import encode_targets
from coview.views import Views
from coview.viewwise import ViewwiseRegressor, regressors_by_view, seeded, stratified_folds

__all__ = ["ViewVotingRegressor"]

Array = NDArray[np.float64]

_STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4)


class ViewVotingRegressor(ViewwiseRegressor):
    r"""Late fusion: one regressor per view, fitted by itself, and a weighted mean of what they say.

    :class:`ViewVotingClassifier` for numbers. Samples without a target are not used.

    Parameters
    ----------
    estimators : estimator, list or dict, default=None
        One for all views (copied), one per view in their order, or by name. Any regressor; None for ridge regression whose
        strength is chosen by leave-one-out.
    voting : {"mean", "stacking"}, default="mean"
        Mean with the given ``weights``, or with weights learned from out-of-fold predictions.
    weights : list or dict, default=None
        Weight of each view, in their order or by name; equal ones for None. Not for stacking.
    cv : int, default=5
        For stacking: folds, fewer where there are fewer targets.
    no_view : {"raise", "prior"}, default="raise"
        Whether samples without a usable view are an error, or get the mean of the targets.
    view_columns : dict, default=None
        View name to columns, where X is one table.
    n_jobs : int, default=None
        Fits at the same time.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, and of estimators that have no seed.

    Attributes
    ----------
    estimators_ : dict of str to estimator
        Fitted regressors by view; a view without two targets has none.
    weights_ : dict of str to float
        Weights of the views, summing to 1.
    transduction_ : ndarray of shape (n_samples,)
        Predictions for the training samples.

    Notes
    -----
    The prediction is :math:`\sum_{v \in V(x)} w_v f_v(x) / \sum_{v \in V(x)} w_v` over the views :math:`V(x)` of a sample; where
    these weigh nothing it is their plain mean. Stacking [1]_ finds weights, not negative, by least squares of the centered
    targets on the centered out-of-fold predictions, a missing view counting as the mean of the targets; equal weights where
    they come out as zero. The cost is one fit per view; for stacking one more per view and fold.

    References
    ----------
    .. [1] L. Breiman, "Stacked regressions", Machine Learning 24, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.ensemble import ViewVotingRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> views = {"a": np.array([[0.0], [1.0], [2.0]]), "b": np.array([[4.0], [np.nan], [0.0]])}
    >>> model = ViewVotingRegressor(LinearRegression()).fit(views, [0.0, 1.0, 2.0])
    >>> model.predict({"b": np.array([[2.0]])}).round(6)
    array([1.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimators": "no_validation",
        "voting": [StrOptions({"mean", "stacking"})],
        "weights": [dict, "array-like", None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "no_view": [StrOptions({"raise", "prior"})],
        "view_columns": [dict, None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimators: Any = None,
        *,
        voting: str = "mean",
        weights: Any = None,
        cv: int = 5,
        no_view: str = "raise",
        view_columns: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.cv = cv
        self.no_view = no_view
        self.view_columns = view_columns
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a regressor per view, and for stacking the weights.

        Parameters
        ----------
        X : Views or anything that Views takes
        y : array-like of shape (n_samples,)
            Targets; NaN or None where there is none. A Series is matched by sample id.

        Returns
        -------
        self : ViewVotingRegressor

        Raises
        ------
        ValueError
            If fewer than two samples have a target, three for stacking, or weights or estimators do not fit the views.
        ViewError
            If a sample has no usable view and ``no_view="raise"``.
        """
        self._validate_params()
        views, target = self._validate_views_target(X, y, reset=True)
        targets = encode_targets(target)
        n_targets = int((~np.isnan(targets)).sum())
        if self.voting == "stacking" and self.weights is not None:
            raise ValueError("voting='stacking' learns what views are worth; leave weights out, or vote 'mean'.")
        least = 3 if self.voting == "stacking" else 2
        if n_targets < least:
            raise ValueError(
                f"voting={self.voting!r} needs targets of {least} samples or more; got {n_targets}, and one sample says "
                "nothing of how targets change. Label more."
            )
        self._mean = float(np.nanmean(targets))
        self.weights_ = weights_by_view(self.weights, views.names)
        default = RidgeCV(_STRENGTHS)
        templates = {
            name: template
            for name, template in seeded(
                regressors_by_view(self.estimators, views.names, default), self.random_state
            ).items()
            if self.weights_[name] > 0.0 and (~np.isnan(targets[views.rows(name)])).sum() > 1
        }
        self.estimators_ = dict(zip(templates, self._fits(views, targets, templates), strict=True))
        self._check_answerable(views, None, "Drop these samples, or set no_view='prior'.")
        if self.voting == "stacking":
            self._learn_weights(views, targets, templates)
        self.transduction_ = self._combined(views, None)
        return self

    def _fits(self, views: Views, targets: Array, templates: dict[str, Any]) -> list[Any]:
        return list(
            Parallel(n_jobs=self.n_jobs)(
                delayed(_fitted)(template, views[name], targets[views.rows(name)])
                for name, template in templates.items()
            )
        )

    def _learn_weights(self, views: Views, targets: Array, templates: dict[str, Any]) -> None:
        """Weights of the views by what they say of targets they have not seen."""
        known = ~np.isnan(targets)
        folds = stratified_folds(np.where(known, 0, -1), min(self.cv, int(known.sum())), self.random_state)
        said = np.zeros((len(views), len(templates)))
        for column, (name, template) in enumerate(templates.items()):
            rows = views.rows(name)
            found = _out_of_fold(template, views[name], targets[rows], folds[rows], self._mean)
            said[rows, column] = found - self._mean
        weights, _ = nnls(said[known], targets[known] - self._mean)
        if weights.sum() <= 0.0:
            weights = np.ones(len(templates))
        shares = dict(zip(templates, (weights / weights.sum()).tolist(), strict=True))
        self.weights_ = {name: shares.get(name, 0.0) for name in views.names}

    def _weight(self, name: str) -> float:
        return self.weights_[name]


def _fitted(template: Any, rows: Any, targets: Array) -> Any:
    """A copy of the regressor, fitted to the samples with a target."""
    known = np.flatnonzero(~np.isnan(targets))
    return clone(template).fit(rows[known], targets[known])


def _out_of_fold(template: Any, rows: Any, targets: Array, folds: NDArray[np.int64], mean: float) -> Array:
    """What copies fitted without a sample's fold say of it; the mean where the other folds have fewer than two targets."""
    found = np.full(targets.size, mean)
    for fold in np.unique(folds[folds >= 0]):
        held, shown = np.flatnonzero(folds == fold), np.flatnonzero((folds != fold) & (folds >= 0))
        if shown.size > 1:
            found[held] = _fitted(template, rows[shown], targets[shown]).predict(rows[held])
    return found
