"""What classifiers made of one estimator per view have in common: fits, combined predictions, any subset of views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from coview.base import LabeledClassifierMixin, MultiViewEstimator
from coview.views import Views, check_view_name
from coview.viewwise._at_hand import check_at_hand, count_at_hand
from coview.viewwise._learners import (
    calibrated_log_probabilities,
    calibration_of,
    has_probabilities,
    scores_of,
    seeded,
    templates_by_view,
)

__all__ = ["ViewwiseClassifier"]

Array = NDArray[np.float64]


class ViewwiseClassifier(LabeledClassifierMixin, MultiViewEstimator):
    """Base of classifiers with one estimator per view, which predict by the views that a sample has.

    A subclass has the parameters ``estimators``, ``combine`` ("product" or "mean"), ``no_view`` ("raise" or "prior") and
    ``random_state``; its ``fit`` sets ``classes_``, makes copies by ``_templates``, fits them with
    :func:`fitted_learner`, hands them to ``_store_learners``, and ends with ``_calibrate`` and ``_store_distributions``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : dict of str to estimator
        Fitted estimators by view; a view in which fewer than two classes have labels has none.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of the training samples.

    Notes
    -----
    Any number of classes and views. A class that a view has never seen keeps there its share of all labels; an estimator
    without ``predict_proba`` gets probabilities by Platt's sigmoid.

    Examples
    --------
    >>> from coview.semi_supervised import CoTrainingClassifier
    >>> from coview.viewwise import ViewwiseClassifier
    >>> issubclass(CoTrainingClassifier, ViewwiseClassifier)
    True
    """

    estimators: Any
    combine: str
    no_view: str
    random_state: Any
    estimators_: dict[str, Any]
    classes_: NDArray[Any]
    label_distributions_: Array
    _known: dict[str, NDArray[np.int64]]
    _calibration: dict[str, Array]
    _shares: Array

    def _templates(self, names: list[str]) -> Mapping[str, Any]:
        return seeded(templates_by_view(self.estimators, names, LogisticRegression(max_iter=1000)), self.random_state)

    def _store_learners(self, learners: dict[str, tuple[Any, NDArray[np.int64]]], shares: Array) -> None:
        """Fitted estimators by view, with the numbers of the classes that each has seen."""
        self.estimators_ = {name: learner for name, (learner, _) in learners.items()}
        self._known = {name: known for name, (_, known) in learners.items()}
        self._shares = shares
        self._calibration = {}

    def _calibrate(self, views: Views, codes: NDArray[np.int64]) -> None:
        """A sigmoid for each class and each estimator without probabilities, from the labels that were given."""
        for name, learner in self.estimators_.items():
            rows = views.rows(name)
            given = codes[rows] >= 0
            found = np.unique(codes[rows][given])
            if has_probabilities(learner) or len(found) < 2 or not np.isin(found, self._known[name]).all():
                continue
            self._calibration[name] = calibration_of(
                learner, views[name][np.flatnonzero(given)], codes[rows][given], self.classes_
            )

    @property
    def transduction_(self) -> NDArray[Any]:
        """Most probable class of every training sample (n_samples,)."""
        check_is_fitted(self, "label_distributions_")
        return np.asarray(self.classes_[self._transduction_codes])

    def _store_distributions(self, views: Views) -> None:
        self.label_distributions_ = self._probabilities(views, None)
        self._transduction_codes = self._best(views, None, self.label_distributions_)

    def decision_function_per_view(self, X: Any) -> list[Array]:
        """Scores of each view's estimator.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        scores : list of ndarray, one per view
            (n_samples,) for two classes, the score of ``classes_[1]``: the estimator's decision function, log odds where it
            has none; (n_samples, n_classes) otherwise: log probabilities less their mean, or the decision function of an
            estimator without probabilities. NaN where the view is missing.
        """
        views = self._new_views(X, None)
        return [self._outward(self._view_scores(views, name)) for name in self.view_names_]

    def decision_function(self, X: Any, *, view: str | None = None) -> Array:
        """Mean of the scores of the views that a sample has.

        Parameters
        ----------
        X : Views or anything that Views takes
        view : str, default=None
            The estimator of this view alone.

        Returns
        -------
        scores : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            0 for a sample without any view.
        """
        views = self._new_views(X, view)
        return self._outward(self._mean_scores(views, view))

    def predict_proba(self, X: Any, *, view: str | None = None) -> Array:
        """Probability of each class for new samples with any of the views.

        Parameters
        ----------
        X : Views or anything that Views takes
        view : str, default=None
            The estimator of this view alone.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return self._probabilities(self._new_views(X, view), view)

    def predict(self, X: Any, *, view: str | None = None) -> NDArray[Any]:
        """Most probable class of new samples (n_samples,).

        By the decision function, 0 counting as ``classes_[1]``, where an estimator has no probabilities.
        """
        views = self._new_views(X, view)
        return np.asarray(self.classes_[self._best(views, view)])

    def _new_views(self, X: Any, view: str | None) -> Views:
        check_is_fitted(self, "estimators_")
        views = self._validate_views(X, reset=False)
        check_view_name(view, self.view_names_)
        self._check_answerable(views, view, "Give them one, or fit with no_view='prior'.")
        return views

    def _check_answerable(self, views: Views, view: str | None, remedy: str) -> None:
        """Every sample has a view with a fitted estimator, unless the prior may answer."""
        usable = [name for name in self.estimators_ if name in views and view in (None, name)]
        if self.no_view == "raise":
            check_at_hand(views, usable, usable="in which two classes had labels", remedy=remedy)

    def _outward(self, scores: Array) -> Array:
        return np.asarray(scores[:, 1] if len(self.classes_) == 2 else scores)

    def _view_scores(self, views: Views, name: str) -> Array:
        """Scores (n_samples, n_classes) of one view, NaN where it is missing or has no estimator."""
        scores = np.full((len(views), len(self.classes_)), np.nan)
        if name in views and name in self.estimators_ and views.rows(name).size:
            scores[views.rows(name)] = scores_of(self.estimators_[name], views[name], self._known[name], self._shares)
        return scores

    def _mean_scores(self, views: Views, view: str | None) -> Array:
        total, count = np.zeros((len(views), len(self.classes_))), np.zeros((len(views), 1))
        for name in self.estimators_:
            if view in (None, name):
                scores = self._view_scores(views, name)
                has = ~np.isnan(scores[:, 0])
                total[has] += scores[has]
                count[has] += 1.0
        return np.asarray(total / np.maximum(count, 1.0))

    def _view_log_probabilities(self, views: Views, name: str) -> Array:
        """Log probabilities of the samples that have the view (n_present, n_classes)."""
        return calibrated_log_probabilities(
            self.estimators_[name], views[name], self._known[name], self._shares, self._calibration.get(name)
        )

    def _probabilities(self, views: Views, view: str | None) -> Array:
        """Product, or mean, of the probabilities of the views that a sample has; shares of the labels where it has none."""
        names = [name for name in self.estimators_ if name in views and view in (None, name) and views.rows(name).size]
        count = count_at_hand(views, names)
        total = np.zeros((len(views), len(self.classes_)))
        for name in names:
            logs = self._view_log_probabilities(views, name)
            total[views.rows(name)] += logs if self.combine == "product" else np.exp(logs)
        if self.combine == "product":
            combined = softmax(total, axis=1)
        else:
            combined = total / np.maximum(total.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        combined[count == 0] = self._shares
        return np.asarray(combined)

    def _best(self, views: Views, view: str | None, probabilities: Array | None = None) -> NDArray[np.intp]:
        """Number of the class of each sample."""
        asked = [learner for name, learner in self.estimators_.items() if view in (None, name)]
        if asked and not all(map(has_probabilities, asked)):
            scores = self._mean_scores(views, view)
            without = (
                count_at_hand(views, [name for name in self.estimators_ if name in views and view in (None, name)]) == 0
            )
            scores[without] = self._shares
            return np.asarray(
                scores[:, 1] >= scores[:, 0] if len(self.classes_) == 2 else scores.argmax(axis=1), dtype=np.intp
            )
        found = self._probabilities(views, view) if probabilities is None else probabilities
        return np.asarray(found.argmax(axis=1))
