"""The base of every estimator: reads views in fit and predict, keeps what was seen, declares tags."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from coview.exceptions import ViewError
from coview.inference import ViewScoreCalibration, classes_of_scores, drop_only_column, mean_scores
from coview.labels import encode_labels, encode_targets, labeled_rows, target_values
from coview.views import (
    AlignedTables,
    Views,
    check_complete_rows,
    conform,
    is_frame,
    is_single_table,
    labels_from_plain,
    plain_labels,
    read_tables,
    some,
)

__all__ = [
    "Interval",
    "LabeledClassifierMixin",
    "LabeledRegressorMixin",
    "MultiViewEstimator",
    "StrOptions",
    "ViewScoreClassifier",
    "check_answerable",
    "names_from_plain",
    "plain_names",
]


class MultiViewEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class of estimators that take views.

    A subclass has a parameter ``view_columns=None`` and calls ``_validate_views`` or ``_validate_views_target`` first
    thing in ``fit`` (``reset=True``) and in every prediction method (``reset=False``).

    Attributes
    ----------
    n_features_in_ : int
        Number of features of all views together.
    feature_names_in_ : ndarray of str, one per feature
        Only where all column labels are text; ``"view__feature"`` for input of several tables.
    view_names_ : list of str
    view_n_features_ : dict of str to int
    view_feature_names_ : dict of str to list or None
        Column labels of each view; None where they had none.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> issubclass(MultiViewEstimator, BaseEstimator)
    True
    """

    #: Whether a sample may have a view with some of its features missing.
    _allow_nan = False
    view_columns: Any
    view_names_: list[str]
    view_n_features_: dict[str, int]
    _view_feature_names: dict[str, list[Any] | None]

    @property
    def view_feature_names_(self) -> dict[str, list[Any] | None]:
        """Column labels of each view; None where they had none."""
        check_is_fitted(self, "view_n_features_")
        return dict(self._view_feature_names)

    def _validate_views(self, X: Any, *, reset: bool) -> Views:
        """Views of X, numeric and as wide as in fit; sets what was seen when ``reset``."""
        views = Views.from_tables(self._read_tables(X, reset=reset)).as_floats()
        if not self._allow_nan:
            check_complete_rows(views)
        return views

    def _validate_views_target(self, X: Any, y: Any, *, reset: bool) -> tuple[Views, Any]:
        """Views of X, and y as an array in their order, matched by id where both have ids; None stays None."""
        if y is None and get_tags(self).target_tags.required:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        views = self._validate_views(X, reset=reset)
        return views, None if y is None else _aligned_target(views, y, X)

    def _read_tables(self, X: Any, *, reset: bool, numeric: bool = True) -> AlignedTables:
        """Tables of X as in fit; sets what was seen when ``reset``."""
        if is_single_table(X):
            aligned = self._read_single_table(X, reset=reset, numeric=numeric)
        else:
            aligned = self._read_several_tables(X, reset=reset)
        if not reset:
            return conform(aligned, self.view_n_features_, self._view_feature_names)
        self.view_names_ = aligned.names
        self.view_n_features_ = {table.name: table.n_features for table in aligned.tables}
        self._view_feature_names = {
            table.name: None if table.columns is None else table.columns.tolist() for table in aligned.tables
        }
        return aligned

    def _read_single_table(self, X: Any, *, reset: bool, numeric: bool) -> AlignedTables:
        """One plain table, checked by scikit-learn as any estimator would."""
        names = None
        if not reset and self.view_columns is None:
            names = self.view_names_
            if len(names) > 1:
                raise ViewError(
                    f"X is one table, but the fit had the views {', '.join(map(repr, names))}. Pass a dict of tables, "
                    "one for each view that the samples have."
                )
        if not numeric or is_frame(X):
            # Cells are converted later, by code whose errors name the column; scikit-learn checks names and width.
            aligned = read_tables(X, names=names, view_columns=self.view_columns, check_ids=reset)
            validate_data(self, X, reset=reset, skip_check_array=True)
            return aligned
        dtypes = [np.float64, np.float32]
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=dtypes, ensure_all_finite="allow-nan")
        return read_tables(X, names=names, view_columns=self.view_columns, check_ids=reset)

    def _read_several_tables(self, X: Any, *, reset: bool) -> AlignedTables:
        if reset and self.view_columns is not None:
            raise ViewError(
                f"view_columns groups the columns of one table, but X ({type(X).__name__}) holds views already. "
                "Leave view_columns out."
            )
        names = self.view_names_ if not reset and isinstance(X, list | tuple) else None
        if names is not None and len(names) != len(X):
            raise ViewError(
                f"X is a list of {len(X)} tables, but the fit had {len(names)} views: {', '.join(map(repr, names))}. Pass "
                "one table for each in this order, or a dict of those that the samples have."
            )
        aligned = read_tables(X, names=names, check_ids=reset)
        if reset:
            self.n_features_in_ = sum(table.n_features for table in aligned.tables)
            self._set_feature_names(aligned)
        return aligned

    def _set_feature_names(self, aligned: AlignedTables) -> None:
        """``feature_names_in_`` for input of several tables, where all column labels are text."""
        self.__dict__.pop("feature_names_in_", None)
        names = []
        for table in aligned.tables:
            if table.columns is None or not all(isinstance(label, str) for label in table.columns):
                return
            prefix = f"{table.name}__" if len(aligned.tables) > 1 else ""
            names += [prefix + label for label in table.columns]
        self.feature_names_in_ = np.asarray(names, dtype=object)

    def __getstate__(self) -> dict[str, Any]:
        return plain_names(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(names_from_plain(state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._allow_nan
        return tags


def plain_names(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes of an estimator with long lists of feature names as text, in which they are stored with a model."""
    plain = dict(attributes)
    if "_view_feature_names" in plain:
        names = plain["_view_feature_names"]
        plain["_view_feature_names"] = {view: plain_labels(labels) for view, labels in names.items()}
    if "feature_names_in_" in plain:
        plain["feature_names_in_"] = plain_labels(plain["feature_names_in_"])
    return plain


def names_from_plain(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes that ``plain_names`` took."""
    attributes = dict(plain)
    if "_view_feature_names" in attributes:
        names = attributes["_view_feature_names"]
        attributes["_view_feature_names"] = {view: labels_from_plain(labels) for view, labels in names.items()}
    if "feature_names_in_" in attributes:
        attributes["feature_names_in_"] = np.asarray(labels_from_plain(attributes["feature_names_in_"]), dtype=object)
    return attributes


def _aligned_target(views: Views, y: Any, X: Any) -> NDArray[Any]:
    """The target in the order of the samples; raises where that order is anybody's guess."""
    if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
        y = y.iloc[:, 0]
    if isinstance(y, pd.Series):
        y = views.align(y)
    elif not isinstance(X, Views) and not views.same_order:
        raise ViewError(
            "y is an array, but the tables of X list different samples, so its order is unknown. Build Views first and "
            "use v.index for the order of y, or pass y as a Series indexed by sample id."
        )
    values = target_values(y)
    check_consistent_length(views, values)
    return values


class LabeledClassifierMixin(ClassifierMixin):  # type: ignore[misc]
    """Classifiers whose ``score`` leaves unlabeled samples out."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy over the labeled samples of y; raises if there are none."""
        views, target = self._validate_views_target(X, y, reset=False)
        rows = labeled_rows(target, missing_label=getattr(self, "missing_label", "auto"), classes=self.classes_)
        weights = None if sample_weight is None else np.asarray(sample_weight)[rows]
        predicted = self.predict(_labeled_part(views, rows))
        return float(accuracy_score(target[rows].tolist(), predicted.tolist(), sample_weight=weights))


class LabeledRegressorMixin(RegressorMixin):  # type: ignore[misc]
    """Regressors whose ``score`` leaves unlabeled samples out."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Coefficient of determination over the labeled samples of y; raises if there are none."""
        views, target = self._validate_views_target(X, y, reset=False)
        targets = encode_targets(target)
        rows = ~np.isnan(targets)
        weights = None if sample_weight is None else np.asarray(sample_weight)[rows]
        return float(r2_score(targets[rows], self.predict(_labeled_part(views, rows)), sample_weight=weights))


def check_answerable(
    answerable: NDArray[np.bool_], views: Views, no_view: str, remedy: str, *, usable: str = "that training had"
) -> None:
    """Raise unless every sample has a view to be judged by, or the prior may answer.

    Parameters
    ----------
    answerable : ndarray of bool, shape (n_samples,)
    views : Views
    no_view : {"raise", "prior"}
    remedy : str
        What the message advises, a sentence.
    usable : str, default="that training had"
        What such views are: "in which two classes had labels".

    Raises
    ------
    ViewError
        If ``no_view="raise"`` and a sample has no such view: how many of how many, the first of them, and the remedy.

    Examples
    --------
    >>> from coview import Views
    >>> from coview.base import check_answerable
    >>> views = Views({"a": [[1.0], [float("nan")]], "b": [[float("nan")], [2.0]]})
    >>> check_answerable(views.presence[:, 0], views, "prior", "Give them a view.")
    >>> check_answerable(views.presence[:, 0], views, "raise", "Give them a view.")
    Traceback (most recent call last):
    coview.exceptions.ViewError: Every sample must have a view that training had; 1 of 2 have none: '1'. Give them a view.
    """
    if no_view == "raise" and not answerable.all():
        lost = np.flatnonzero(~answerable)
        raise ViewError(
            f"Every sample must have a view {usable}; {lost.size} of {len(views)} have none: "
            f"{some(views.index[lost])}. {remedy}"
        )


class ViewScoreClassifier(LabeledClassifierMixin, MultiViewEstimator):
    """Base of classifiers that give each class a score by view and decide by the mean over the views at hand.

    A subclass has the parameters ``classes``, ``missing_label`` and ``no_view``. Its ``fit`` calls ``_read_labeled``, sets
    ``_functions``, whose ``scores(views, view)`` are (n_samples, n_views, n_functions) with NaN where a sample lacks the view,
    and ``_calibration`` (None for probabilities of 0 and 1), and ends with ``_answer_training``.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "no_view": [StrOptions({"raise", "prior"})],
        "random_state": ["random_state"],
        "view_columns": [dict, None],
    }
    #: How many classes must be among the labels.
    _min_classes = 1

    classes: Any
    missing_label: Any
    no_view: str
    _functions: Any
    _calibration: ViewScoreCalibration | None
    _shares: NDArray[np.float64]

    def _read_labeled(self, X: Any, y: Any) -> tuple[Views, NDArray[np.int64]]:
        """Views, and the number of the class of each sample, -1 where there is no label; sets ``classes_`` and their shares."""
        self._validate_params()
        views, target = self._validate_views_target(X, y, reset=True)
        self.classes_, codes = encode_labels(
            target, missing_label=self.missing_label, classes=self.classes, min_classes=self._min_classes
        )
        if len(np.unique(codes[codes >= 0])) < self._min_classes:
            raise ValueError(
                f"{type(self).__name__} needs labels of at least two classes; those given are of one class."
            )
        remedy = "Drop these samples, or set no_view='prior'."
        check_answerable(np.asarray(views.presence.any(axis=1)), views, self.no_view, remedy)
        counts = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        self._shares = counts / max(counts.sum(), 1)
        return views, codes

    def _answer_training(self, scores: NDArray[np.float64]) -> None:
        """Classes and probabilities of the training samples, from their scores."""
        self.label_distributions_ = self._probabilities(scores)
        self._transduction = classes_of_scores(mean_scores(scores), self._shares)

    def _new_scores(self, X: Any, view: str | None = None) -> NDArray[np.float64]:
        check_is_fitted(self, "label_distributions_")
        views = self._validate_views(X, reset=False)
        scores: NDArray[np.float64] = self._functions.scores(views, view)
        answerable = np.asarray((~np.isnan(scores)).any(axis=(1, 2)))
        check_answerable(answerable, views, self.no_view, "Give them a view, or fit with no_view='prior'.")
        return scores

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._calibration is not None:
            return self._calibration.probabilities(scores)
        means = mean_scores(scores)
        hard = np.eye(len(self.classes_))[classes_of_scores(means, self._shares)]
        hard[np.asarray(np.isnan(means).any(axis=1))] = self._shares
        return np.asarray(hard)

    @property
    def transduction_(self) -> NDArray[Any]:
        """Predicted classes of the training samples (n_samples,)."""
        check_is_fitted(self, "label_distributions_")
        return np.asarray(self.classes_[self._transduction])

    def decision_function_per_view(self, X: Any) -> list[NDArray[np.float64]]:
        """Score of new samples by each view.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        scores : list of ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            One per view of the fit; NaN where a sample lacks the view, and for a view that learned nothing.
        """
        scores = self._new_scores(X)
        return [drop_only_column(scores[:, v]) for v in range(scores.shape[1])]

    def decision_function(self, X: Any, *, view: str | None = None) -> NDArray[np.float64]:
        """Score of new samples, the mean over the views that they have.

        Parameters
        ----------
        X : Views or anything that Views takes
        view : str, default=None
            The score of this view alone.

        Returns
        -------
        scores : ndarray of shape (n_samples,), or (n_samples, n_classes) of each class against the rest
            Positive for ``classes_[1]`` of two classes; NaN without a view, where ``no_view="prior"``.
        """
        return drop_only_column(mean_scores(self._new_scores(X, view)))

    def predict(self, X: Any, *, view: str | None = None) -> NDArray[Any]:
        """Class of new samples with any of the views.

        Parameters
        ----------
        X : Views or anything that Views takes
        view : str, default=None
            By the score of this view alone.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Of the largest score; a score of 0 means ``classes_[1]`` of two classes.
        """
        codes = classes_of_scores(mean_scores(self._new_scores(X, view)), self._shares)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any, *, view: str | None = None) -> NDArray[np.float64]:
        """Probability of each class for new samples with any of the views.

        Parameters
        ----------
        X : Views or anything that Views takes
        view : str, default=None
            By the score of this view alone.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Of Platt's sigmoid, made from scores of labeled samples that had not been seen, for the views at hand; more classes
            scaled to sum to one.
        """
        return self._probabilities(self._new_scores(X, view))


def _labeled_part(views: Views, rows: NDArray[np.bool_]) -> Views:
    if not rows.any():
        raise ValueError("score needs labeled samples, and y has none. Label at least one.")
    return views if rows.all() else views[rows]
