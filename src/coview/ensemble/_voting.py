"""Late fusion: one classifier per view, their probabilities put together."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from coview.base import Interval, StrOptions
from coview.ensemble._weights import weights_by_view
from coview.labels import encode_labels
from coview.views import Views
from coview.viewwise import (
    ViewwiseClassifier,
    count_at_hand,
    fitted_learner,
    has_probabilities,
    log_probabilities,
    out_of_fold_probabilities,
    stratified_folds,
)

__all__ = ["ViewVotingClassifier"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

_TINY = float(np.finfo(np.float64).tiny)
_LEAST_PER_CLASS = 2


class ViewVotingClassifier(ViewwiseClassifier):
    r"""Late fusion: one classifier per view, fitted by itself, and a vote.

    The simplest thing to do with several views, and with :class:`coview.compose.ConcatenateViews` (early fusion) the
    baseline of every method that learns from all views together. A sample is judged by the views it has. Samples without
    a label are not used: methods of `coview.semi_supervised` and `coview.gaussian_process` do.

    Parameters
    ----------
    estimators : estimator, list or dict, default=None
        One for all views (copied), one per view in their order, or by name. Any classifier with ``predict_proba`` or
        ``decision_function``; None for logistic regression.
    voting : {"soft", "product", "stacking"}, default="soft"
        Weighted mean of the probabilities of the views; their weighted product; or a further classifier that learns from
        the out-of-fold probabilities how much each view is worth.
    weights : list or dict, default=None
        Weight of each view in the mean or the product, in their order or by name; equal ones for None. Not for stacking.
    final_estimator : estimator, default=None
        For stacking: any classifier with ``predict_proba``; None for logistic regression with ``C=10``.
    cv : int, default=5
        For stacking: folds, no more than the most frequent class has labels.
    no_view : {"raise", "prior"}, default="raise"
        Whether samples without a usable view are an error, or get the shares of the labels as probabilities.
    classes : list, default=None
        All classes, where some have no label yet.
    missing_label : object, default="auto"
        What marks an unlabeled sample besides NaN and None; "auto" reads -1 so in integer labels.
    view_columns : dict, default=None
        View name to columns, where X is one table.
    n_jobs : int, default=None
        Fits at the same time.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, and of estimators that have no seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : dict of str to estimator
        Fitted classifiers by view; a view where fewer than two classes have labels, or of weight 0, has none.
    weights_ : dict of str to float
        Weights of the views, summing to 1; equal ones for stacking, which does not use them.
    final_estimator_ : estimator
        Only for stacking.
    out_of_fold_probabilities_ : dict of str to ndarray of shape (n_samples, n_classes)
        Only for stacking: of each view's classifier, NaN where a sample lacks the view or a label.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of the training samples.
    transduction_ : ndarray of shape (n_samples,)
        Most probable classes of the training samples.

    Notes
    -----
    With :math:`P_v(c | x)` of view :math:`v`, weights :math:`w_v` and :math:`V(x)` the views of a sample, "soft" is
    :math:`\sum_{v \in V(x)} w_v P_v / \sum_{v \in V(x)} w_v`, "product" is proportional to
    :math:`\prod_{v \in V(x)} P_v^{w_v m}` with :math:`m` views that have a classifier, so that equal weights give the plain
    product (which counts the class shares once per view). These are the mean and product rules of [1]_. Stacking [2]_ fits
    the final classifier to the columns :math:`P_v(c | x) - \pi_c`, with the shares :math:`\pi_c` of the labels; a missing
    view is a row of zeros there: no evidence. Folds are of samples, the same for all views. Of two classes, only the
    probability of ``classes_[1]`` is a column.

    The decision function is the log odds of the probabilities, or for more than two classes their logarithms less the
    mean. A class without label in a view keeps there its share of all labels. The cost is one fit per view; for stacking
    one more per view and fold.

    References
    ----------
    .. [1] J. Kittler, M. Hatef, R. P. W. Duin, J. Matas, "On combining classifiers", IEEE TPAMI 20(3), 1998.
    .. [2] D. H. Wolpert, "Stacked generalization", Neural Networks 5(2), 1992.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.ensemble import ViewVotingClassifier
    >>> views = {"a": np.array([[-2.0], [-1.0], [1.0], [2.0]]), "b": np.array([[-1.0], [np.nan], [2.0], [1.0]])}
    >>> model = ViewVotingClassifier().fit(views, ["no", "no", "yes", "yes"])
    >>> model.predict({"b": np.array([[3.0]])})
    array(['yes'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimators": "no_validation",
        "voting": [StrOptions({"soft", "product", "stacking"})],
        "weights": [dict, "array-like", None],
        "final_estimator": "no_validation",
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
        voting: str = "soft",
        weights: Any = None,
        final_estimator: Any = None,
        cv: int = 5,
        no_view: str = "raise",
        classes: Any = None,
        missing_label: Any = "auto",
        view_columns: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.final_estimator = final_estimator
        self.cv = cv
        self.no_view = no_view
        self.classes = classes
        self.missing_label = missing_label
        self.view_columns = view_columns
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a classifier per view, and for stacking the one that puts them together.

        Parameters
        ----------
        X : Views or anything that Views takes
        y : array-like of shape (n_samples,)
            Classes; NaN, None (or ``missing_label``) where unlabeled. A Series is matched by sample id.

        Returns
        -------
        self : ViewVotingClassifier

        Raises
        ------
        ValueError
            If fewer than two classes have labels, if stacking has fewer than two labels of two classes, or if weights or
            estimators do not fit the views.
        ViewError
            If a sample has no usable view and ``no_view="raise"``.
        """
        self._validate_params()
        views, target = self._validate_views_target(X, y, reset=True)
        self.classes_, codes = encode_labels(
            target, missing_label=self.missing_label, classes=self.classes, min_classes=2
        )
        counts = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        self._check_counts(counts)
        self.weights_ = weights_by_view(self.weights, views.names)
        self._shares = counts / counts.sum()
        templates = self._fit_views(views, codes)
        self._check_answerable(views, None, "Drop these samples, or set no_view='prior'.")
        self._forget_stacking()
        if self.voting == "stacking":
            self._stack(views, codes, templates)
        self._store_distributions(views)
        return self

    def _fit_views(self, views: Views, codes: Codes) -> dict[str, Any]:
        """Fit a classifier to each view that has a weight and two classes; the templates of those."""
        templates = {name: one for name, one in self._templates(views.names).items() if self.weights_[name] > 0.0}
        learners = Parallel(n_jobs=self.n_jobs)(
            delayed(fitted_learner)(template, views[name], codes[views.rows(name)], self.classes_)
            for name, template in templates.items()
        )
        fitted = {name: learner for name, learner in zip(templates, learners, strict=True) if learner is not None}
        self._store_learners(fitted, self._shares)
        self._calibrate(views, codes)
        return {name: templates[name] for name in fitted}

    def _templates(self, names: list[str]) -> Mapping[str, Any]:
        """Copies of the views' estimators, checked."""
        templates = super()._templates(names)
        for name, template in templates.items():
            if not (has_probabilities(template) or hasattr(template, "decision_function")):
                raise ValueError(
                    f"The estimator of view {name!r}, {type(template).__name__}, has neither predict_proba nor "
                    "decision_function, so it has no vote to weigh. Use one that has."
                )
        return templates

    def _check_counts(self, counts: Codes) -> None:
        """Labels enough for the vote that was asked for."""
        if np.count_nonzero(counts) < 2:
            raise ValueError(
                f"Late fusion needs labels of at least two classes; got one class among {counts.sum()} labels."
            )
        if self.voting == "stacking":
            if self.weights is not None:
                raise ValueError("voting='stacking' learns what views are worth; leave weights out, or vote 'soft'.")
            if np.count_nonzero(counts >= _LEAST_PER_CLASS) < 2:
                raise ValueError(
                    f"voting='stacking' needs two labels of at least two classes, since each is left out once; got "
                    f"{counts.tolist()} labels of {self.classes_.tolist()}. Use voting='soft'."
                )

    def _forget_stacking(self) -> None:
        for name in ("final_estimator_", "out_of_fold_probabilities_", "_final_known"):
            self.__dict__.pop(name, None)

    def _stack(self, views: Views, codes: Codes, templates: dict[str, Any]) -> None:
        """Out-of-fold probabilities of every view, and the classifier that learns from them."""
        folds = stratified_folds(codes, self.cv, self.random_state, balanced=True)
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(out_of_fold_probabilities)(
                template,
                views[name],
                codes[views.rows(name)],
                folds[views.rows(name)],
                classes=self.classes_,
                shares=self._shares,
            )
            for name, template in templates.items()
        )
        self.out_of_fold_probabilities_ = {
            name: _at_full_height(part, views, name) for name, part in zip(templates, found, strict=True)
        }
        labeled = np.flatnonzero((codes >= 0) & (count_at_hand(views, list(templates)) > 0))
        columns = self._columns({name: part[labeled] for name, part in self.out_of_fold_probabilities_.items()})
        template = LogisticRegression(C=10.0, max_iter=1000) if self.final_estimator is None else self.final_estimator
        if not has_probabilities(template):
            raise ValueError(f"final_estimator must have predict_proba; {type(template).__name__} has not.")
        final = fitted_learner(clone(template), columns, codes[labeled], self.classes_)
        if final is None:
            raise ValueError("voting='stacking' needs labels of two classes among samples with a usable view.")
        self.final_estimator_, self._final_known = final

    def _columns(self, probabilities: dict[str, Array]) -> Array:
        """What the final classifier sees: how far each view moves the probabilities, 0 where it is missing."""
        first = 1 if len(self.classes_) == 2 else 0
        parts = [(part - self._shares)[:, first:] for part in probabilities.values()]
        return np.nan_to_num(np.hstack(parts), nan=0.0)

    def decision_function(self, X: Any, *, view: str | None = None) -> Array:
        """Log odds of the combined probabilities.

        Parameters
        ----------
        X : Views or anything that Views takes
        view : str, default=None
            The classifier of this view alone.

        Returns
        -------
        scores : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            Two classes: log odds of ``classes_[1]``; more: log probabilities less their mean.
        """
        logs = np.log(np.maximum(self.predict_proba(X, view=view), _TINY))
        if len(self.classes_) == 2:
            return np.asarray(logs[:, 1] - logs[:, 0])
        return np.asarray(logs - logs.mean(axis=1, keepdims=True))

    def _best(self, views: Views, view: str | None, probabilities: Array | None = None) -> NDArray[np.intp]:
        found = self._probabilities(views, view) if probabilities is None else probabilities
        return np.asarray(found.argmax(axis=1))

    def _probabilities(self, views: Views, view: str | None) -> Array:
        """The vote of the views that a sample has; shares of the labels where it has none."""
        names = [name for name in self.estimators_ if name in views and view in (None, name) and views.rows(name).size]
        logs = {name: self._view_log_probabilities(views, name) for name in names}
        if self.voting == "stacking" and view is None:
            combined = self._stacked(views, logs)
        elif self.voting == "product" and view is None:
            combined = self._product(views, logs)
        else:
            combined = self._mean(views, logs)
        combined[count_at_hand(views, names) == 0] = self._shares
        return combined

    def _mean(self, views: Views, logs: dict[str, Array]) -> Array:
        total = np.zeros((len(views), len(self.classes_)))
        for name, part in logs.items():
            total[views.rows(name)] += self.weights_[name] * np.exp(part)
        return np.asarray(total / np.maximum(total.sum(axis=1, keepdims=True), _TINY))

    def _product(self, views: Views, logs: dict[str, Array]) -> Array:
        total = np.zeros((len(views), len(self.classes_)))
        scale = len(self.estimators_) / sum(self.weights_[name] for name in self.estimators_)
        for name, part in logs.items():
            total[views.rows(name)] += scale * self.weights_[name] * part
        return np.asarray(softmax(total, axis=1))

    def _stacked(self, views: Views, logs: dict[str, Array]) -> Array:
        missing = np.full((len(views), len(self.classes_)), np.nan)
        parts = {
            name: _at_full_height(np.exp(logs[name]), views, name) if name in logs else missing
            for name in self.estimators_
        }
        columns = self._columns(parts)
        return np.exp(log_probabilities(self.final_estimator_, columns, self._final_known, self._shares))


def _at_full_height(part: Array, views: Views, name: str) -> Array:
    """Values of the samples that have a view, NaN for the others."""
    whole = np.full((len(views), part.shape[1]), np.nan)
    whole[views.rows(name)] = part
    return whole
