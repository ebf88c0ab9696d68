"""Least squares functions of several views that agree on the samples without a label."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coview.base import LabeledRegressorMixin, MultiViewEstimator, StrOptions, ViewScoreClassifier, check_answerable
from coview.inference import ViewScoreCalibration, drop_only_column, mean_scores, signs_of
from coview.labels import encode_targets
from coview.semi_supervised._co_regularized_fit import CONSTRAINTS, CoRegularizedFit, co_regularized_fit
from coview.views import Views

__all__ = ["CoRegularizedLeastSquaresClassifier", "CoRegularizedLeastSquaresRegressor"]

Array = NDArray[np.float64]


class CoRegularizedLeastSquaresClassifier(ViewScoreClassifier):
    r"""One least squares classifier per view, drawn to agree on all samples, labeled or not.

    For few labels and views of which each tells the classes apart: what a view is sure of becomes a label of the others.

    Parameters
    ----------
    kernel : {"linear", "rbf", "precomputed"}, kernel object, callable, or list or dict of these, default="rbf"
        For all views, by position or by name. "rbf" has the median distance between samples as its width.
    ridge : float, or list or dict of floats, default=0.01
        Price :math:`\gamma_v > 0` of the norm of a function, by view.
    coupling : float, default=1.0
        Price :math:`\gamma_C \ge 0` of differences between views; with 0 the views are learned apart from their labels alone.
    view_weights : float, or list or dict of floats, default=None
        Weight :math:`\mu_v \ge 0` of a view's loss, None for 1. A view with 0 learns from the others.
    constants : {"none", "center", "orthogonal"}, default="none"
        There is no intercept. "center" centers each kernel over the training samples, which suits balanced classes;
        "orthogonal" keeps only functions whose values at them sum to zero, which costs a linear kernel one of its dimensions.
    classes : array-like of shape (n_classes,), default=None
        All classes, where some have no label yet.
    missing_label : object, default="auto"
        Marks an unlabeled sample, beside NaN and None; "auto" reads -1 in integer labels so.
    no_view : {"raise", "prior"}, default="raise"
        What to do with a sample without any view: an error, or the shares of the classes among the labels.
    random_state : int, RandomState instance or None, default=None
        Of the samples that the width of "rbf" is taken from, beyond 1,000.
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : list of ndarray of shape (n_v,), or (n_v, n_classes) for more than two classes
        Coefficients of each view, over the training samples that have it, of its kernel without ``constants``. Over the samples
        without a label that have all views, ``sum_v ridge_v * dual_coef_[v]`` is zero.
    objective_ : float, or ndarray of shape (n_classes,)
        Value of the minimized objective.
    loo_decision_function_ : ndarray of shape (n_samples,), or (n_samples, n_classes)
        Score of each labeled sample without its label, in closed form; NaN for the others.
    kernels_ : list
        One per view, with the width that was found.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of the training samples.
    transduction_ : ndarray of shape (n_samples,)
        Predicted classes of the training samples.

    Notes
    -----
    With labels -1 and 1 (more classes: one against the rest) the functions minimize

    .. math:: \sum_v \frac{\mu_v}{l} \sum_{i\ \mathrm{labeled}} (y_i - f_v(x_i))^2 + \sum_v \gamma_v \|f_v\|^2
              + \frac{\gamma_C}{n} \sum_{v<w} \sum_{i\ \mathrm{with\ both}} (f_v(x_i) - f_w(x_i))^2,

    l labeled of n samples: the linear system of [1]_, whose printed objective lacks the 1/l. The score is the mean of the
    :math:`f_v` over the views that a sample has. One Cholesky factor of order n (n (m - 1) for m views) serves all classes and
    all samples left out: O(n^3) time, O(n^2) memory; with linear kernels of p < n features in all O(n p^2 + p^3), and with wide
    ones beyond 8,000 samples by conjugate gradients, O(stored numbers) per label and iteration. Sparse views stay sparse.
    A view that no label reaches, not even through shared samples, has no part in predictions.
    Probabilities are Platt's, of scores without the sample's own label.

    References
    ----------
    .. [1] V. Sindhwani, P. Niyogi, M. Belkin, "A co-regularization approach to semi-supervised learning with multiple views",
       ICML workshop on learning with multiple views, 2005.

    Examples
    --------
    >>> from coview.semi_supervised import CoRegularizedLeastSquaresClassifier
    >>> X = {"u": [[-3.0], [-2.0], [-1.0], [1.0], [2.0]], "v": [[-1.0], [-1.5], [-2.0], [2.0], [1.0]]}
    >>> model = CoRegularizedLeastSquaresClassifier("linear").fit(X, ["a", None, None, None, "b"])
    >>> model.transduction_.tolist(), model.predict({"v": [[0.5]]}).tolist()
    (['a', 'a', 'a', 'b', 'b'], ['b'])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ViewScoreClassifier._parameter_constraints,
        **CONSTRAINTS,
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        ridge: Any = 0.01,
        coupling: float = 1.0,
        view_weights: Any = None,
        constants: str = "none",
        classes: Any = None,
        missing_label: Any = "auto",
        no_view: str = "raise",
        random_state: Any = None,
        view_columns: Any = None,
    ) -> None:
        self.kernel = kernel
        self.ridge = ridge
        self.coupling = coupling
        self.view_weights = view_weights
        self.constants = constants
        self.classes = classes
        self.missing_label = missing_label
        self.no_view = no_view
        self.random_state = random_state
        self.view_columns = view_columns

    def fit(self, X: Any, y: Any, samples_in_agreement: Any = None) -> Self:
        """Fit to views and labels.

        Parameters
        ----------
        X : Views or anything that Views takes
            With ``kernel="precomputed"`` the kernel values of a view with all training samples.
        y : array-like of shape (n_samples,)
            Classes; NaN, None (or ``missing_label``) where unlabeled. A Series is matched by sample id.
        samples_in_agreement : array-like of bool of shape (n_samples,), or of int, default=None
            Mask or positions of the samples on which the views are tied, such as `coview.gaussian_process.consistent_set`;
            None for all.

        Returns
        -------
        self : CoRegularizedLeastSquaresClassifier

        Raises
        ------
        ValueError
            If no sample is labeled, a parameter does not fit the views, or the system is too large to be held.
        ViewError
            If a sample has no view and ``no_view="raise"``, or no labeled sample has a view with a positive weight.
        """
        views, codes = self._read_labeled(X, y)
        labeled = codes >= 0
        signs = signs_of(codes[labeled], len(self.classes_))
        found = co_regularized_fit(
            self, views, labeled, samples_in_agreement, lambda problem: problem.least_squares(signs)
        )
        self._functions = found.functions
        self._calibration = ViewScoreCalibration(found.held_out, found.fitted, signs, self._shares)
        _store(self, found)
        left_out = np.full((len(labeled), signs.shape[1]), np.nan)
        left_out[labeled] = mean_scores(found.held_out)
        self.loo_decision_function_ = drop_only_column(left_out)
        self._answer_training(found.training)
        return self


class CoRegularizedLeastSquaresRegressor(LabeledRegressorMixin, MultiViewEstimator):
    r"""One least squares function per view, drawn to agree on all samples, whether their target is known or not.

    Parameters
    ----------
    kernel : {"linear", "rbf", "precomputed"}, kernel object, callable, or list or dict of these, default="rbf"
        For all views, by position or by name. "rbf" has the median distance between samples as its width.
    ridge : float, or list or dict of floats, default=0.01
        Price :math:`\gamma_v > 0` of the norm of a function, by view.
    coupling : float, default=1.0
        Price :math:`\gamma_C \ge 0` of differences between views; with 0 the views are learned apart from their labels alone.
    view_weights : float, or list or dict of floats, default=None
        Weight :math:`\mu_v \ge 0` of a view's loss, None for 1. A view with 0 learns from the others.
    constants : {"none", "center", "orthogonal"}, default="none"
        "center" centers each kernel over the training samples, "orthogonal" keeps only functions whose values at them sum to
        zero, which costs a linear kernel one of its dimensions.
    normalize_y : bool, default=False
        Whether the functions are fitted to differences from the mean target. Without, they are drawn to zero.
    no_view : {"raise", "prior"}, default="raise"
        What to do with a sample without any view: an error, or the mean of the known targets.
    random_state : int, RandomState instance or None, default=None
        Of the samples that the width of "rbf" is taken from, beyond 1,000.
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    dual_coef_ : list of ndarray of shape (n_v,)
        Coefficients of each view, over the training samples that have it, of its kernel without ``constants``. Over the samples
        without a target that have all views, ``sum_v ridge_v * dual_coef_[v]`` is zero.
    objective_ : float
        Value of the minimized objective, in squared units of the target.
    loo_predictions_ : ndarray of shape (n_samples,)
        Prediction of each known target without it, in closed form; NaN for the others.
    kernels_ : list
        One per view, with the width that was found.
    transduction_ : ndarray of shape (n_samples,)
        Predictions for the training samples.

    Notes
    -----
    The objective, its source [1]_ and its cost are those of `CoRegularizedLeastSquaresClassifier`, with the targets in place of
    -1 and 1.

    References
    ----------
    .. [1] V. Sindhwani, P. Niyogi, M. Belkin, "A co-regularization approach to semi-supervised learning with multiple views",
       ICML workshop on learning with multiple views, 2005.

    Examples
    --------
    >>> from coview.semi_supervised import CoRegularizedLeastSquaresRegressor
    >>> X, y = {"u": [[1.0], [2.0], [3.0], [4.0]], "v": [[2.0], [4.0], [6.0], [8.0]]}, [10.0, None, None, 40.0]
    >>> CoRegularizedLeastSquaresRegressor("linear").fit(X, y).predict({"v": [[5.0]]}).round(2).tolist()
    [24.99]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "normalize_y": ["boolean"],
        "no_view": [StrOptions({"raise", "prior"})],
        "random_state": ["random_state"],
        "view_columns": [dict, None],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        ridge: Any = 0.01,
        coupling: float = 1.0,
        view_weights: Any = None,
        constants: str = "none",
        normalize_y: bool = False,
        no_view: str = "raise",
        random_state: Any = None,
        view_columns: Any = None,
    ) -> None:
        self.kernel = kernel
        self.ridge = ridge
        self.coupling = coupling
        self.view_weights = view_weights
        self.constants = constants
        self.normalize_y = normalize_y
        self.no_view = no_view
        self.random_state = random_state
        self.view_columns = view_columns

    def fit(self, X: Any, y: Any, samples_in_agreement: Any = None) -> Self:
        """Fit to views and targets.

        Parameters
        ----------
        X : Views or anything that Views takes
            With ``kernel="precomputed"`` the kernel values of a view with all training samples.
        y : array-like of shape (n_samples,)
            Targets; NaN or None where unknown. A Series is matched by sample id.
        samples_in_agreement : array-like of bool of shape (n_samples,), or of int, default=None
            Mask or positions of the samples on which the views are tied, such as `coview.gaussian_process.consistent_set`;
            None for all.

        Returns
        -------
        self : CoRegularizedLeastSquaresRegressor

        Raises
        ------
        ValueError
            If no target is known, a parameter does not fit the views, or the system is too large to be held.
        ViewError
            If a sample has no view and ``no_view="raise"``, or no labeled sample has a view with a positive weight.
        """
        self._validate_params()
        views, target = self._validate_views_target(X, y, reset=True)
        targets = encode_targets(target)
        labeled = ~np.isnan(targets)
        remedy = "Drop these samples, or set no_view='prior'."
        check_answerable(np.asarray(views.presence.any(axis=1)), views, self.no_view, remedy)
        self._mean = float(targets[labeled].mean())
        self._offset = self._mean if self.normalize_y else 0.0
        differences = targets[labeled, None] - self._offset
        found = co_regularized_fit(
            self, views, labeled, samples_in_agreement, lambda problem: problem.least_squares(differences)
        )
        self._functions = found.functions
        _store(self, found)
        self.loo_predictions_ = np.full(len(labeled), np.nan)
        self.loo_predictions_[labeled] = self._answers(found.held_out)
        self.transduction_ = self._answers(found.training)
        return self

    def decision_function_per_view(self, X: Any) -> list[Array]:
        """Value of each view's function for new samples.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        values : list of ndarray of shape (n_samples,)
            One per view of the fit, in units of the target; NaN where a sample lacks the view, and for a view that learned
            nothing.
        """
        scores = self._new_scores(X, None)
        return [scores[:, v, 0] + self._offset for v in range(scores.shape[1])]

    def predict(self, X: Any, *, view: str | None = None) -> Array:
        """Target of new samples with any of the views.

        Parameters
        ----------
        X : Views or anything that Views takes
        view : str, default=None
            By this view alone.

        Returns
        -------
        targets : ndarray of shape (n_samples,)
            The mean over the views that a sample has.
        """
        return self._answers(self._new_scores(X, view))

    def _new_scores(self, X: Any, view: str | None) -> Array:
        check_is_fitted(self, "transduction_")
        views: Views = self._validate_views(X, reset=False)
        scores = self._functions.scores(views, view)
        answerable = np.asarray((~np.isnan(scores)).any(axis=(1, 2)))
        check_answerable(answerable, views, self.no_view, "Give them a view, or fit with no_view='prior'.")
        return scores

    def _answers(self, scores: Array) -> Array:
        means = mean_scores(scores)[:, 0]
        return np.asarray(np.where(np.isnan(means), self._mean, means + self._offset))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # where no view alone says the target, as agreement is asked for
        return tags


def _store(learner: Any, found: CoRegularizedFit) -> None:
    """The attributes that a classifier and a regressor have in common."""
    learner.kernels_ = found.functions.kernels.kernels
    learner.dual_coef_ = [drop_only_column(a) for a in found.dual]
    learner.objective_ = float(found.objective[0]) if len(found.objective) == 1 else found.objective
