"""What regressors made of one estimator per view have in common: combined predictions, any subset of views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from coview.base import LabeledRegressorMixin, MultiViewEstimator
from coview.views import Views, check_view_name
from coview.viewwise._at_hand import check_at_hand, count_at_hand
from coview.viewwise._learners import templates_by_view

__all__ = ["ViewwiseRegressor", "regressors_by_view"]

Array = NDArray[np.float64]


def regressors_by_view(estimators: Any, names: Sequence[str], default: Any) -> dict[str, Any]:
    """The regressor of each view, as :func:`templates_by_view` reads them.

    Parameters
    ----------
    estimators : regressor, list, dict or None
    names : sequence of str
        The views.
    default : regressor
        Stands for None.

    Returns
    -------
    templates : dict of str to regressor
        Not copied.

    Raises
    ------
    ViewError
        Where their number or names are not those of the views.
    ValueError
        Where one is no regressor.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from coview.viewwise import regressors_by_view
    >>> regressors_by_view(None, ["a", "b"], Ridge())
    {'a': Ridge(), 'b': Ridge()}
    """
    found = templates_by_view(estimators, names, default)
    for name, template in found.items():
        if not is_regressor(template):
            raise ValueError(
                f"The estimator of view {name!r}, {type(template).__name__}, is no regressor. Numbers need one; for "
                "classes there are classifiers of the same kind."
            )
    return found


class ViewwiseRegressor(LabeledRegressorMixin, MultiViewEstimator):
    """Base of regressors with one estimator per view, which predict by the views that a sample has.

    A subclass has the parameter ``no_view`` ("raise" or "prior"); its ``fit`` sets ``estimators_`` (fitted regressors by
    view) and ``_mean`` (of the given targets), then calls ``_check_answerable`` and stores ``_combined``.

    Attributes
    ----------
    estimators_ : dict of str to estimator
        Fitted regressors by view; a view without labels has none and says nothing.

    Examples
    --------
    >>> from coview.semi_supervised import CoTrainingRegressor
    >>> from coview.viewwise import ViewwiseRegressor
    >>> issubclass(CoTrainingRegressor, ViewwiseRegressor)
    True
    """

    no_view: str
    estimators_: dict[str, Any]
    _mean: float

    def predict(self, X: Any, *, view: str | None = None) -> Array:
        """Predictions for new samples with any of the views (n_samples,), in units of y.

        Parameters
        ----------
        X : Views or anything that Views takes
        view : str, default=None
            The regressor of this view alone.

        Returns
        -------
        predictions : ndarray of shape (n_samples,)
            Means over the views that a sample has, weighted where the regressor weighs views.
        """
        check_is_fitted(self, "estimators_")
        views = self._validate_views(X, reset=False)
        check_view_name(view, self.view_names_)
        self._check_answerable(views, view, "Give them one, or fit with no_view='prior'.")
        return self._combined(views, view)

    def predict_per_view(self, X: Any) -> list[Array]:
        """Predictions of each view's regressor.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        predictions : list of ndarray of shape (n_samples,), one per view
            In units of y; NaN where the view is missing or never got a label.
        """
        check_is_fitted(self, "estimators_")
        views = self._validate_views(X, reset=False)
        found = []
        for name in self.view_names_:
            told = np.full(len(views), np.nan)
            if name in self._usable(views, None):
                told[views.rows(name)] = self.estimators_[name].predict(views[name])
            found.append(told)
        return found

    def _usable(self, views: Views, view: str | None) -> list[str]:
        return [name for name in self.estimators_ if name in views and view in (None, name) and views.rows(name).size]

    def _check_answerable(self, views: Views, view: str | None, remedy: str) -> None:
        if self.no_view == "raise":
            check_at_hand(views, self._usable(views, view), usable="in which samples had labels", remedy=remedy)

    def _combined(self, views: Views, view: str | None) -> Array:
        """Weighted means over the views at hand, plain ones where none of them weighs anything; the mean of the given
        labels where there is no view.
        """
        usable = self._usable(views, view)
        total, plain, weight = np.zeros((3, len(views)))
        for name in usable:
            rows, found = views.rows(name), np.asarray(self.estimators_[name].predict(views[name]), dtype=np.float64)
            share = self._weight(name)
            total[rows] += share * found
            plain[rows] += found
            weight[rows] += share
        count = count_at_hand(views, usable)
        means = np.where(weight > 0.0, total / np.where(weight > 0.0, weight, 1.0), plain / np.maximum(count, 1))
        return np.where(count > 0, means, self._mean)

    def _weight(self, name: str) -> float:
        """What the word of a view counts."""
        return 1.0
