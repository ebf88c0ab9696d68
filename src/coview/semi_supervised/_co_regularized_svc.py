"""Support vector machines of several views that agree on the samples without a label."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from coview.base import Interval, ViewScoreClassifier
from coview.inference import ViewScoreCalibration, drop_only_column, signs_of
from coview.semi_supervised._co_regularized_fit import CONSTRAINTS, co_regularized_fit

__all__ = ["CoRegularizedSVC"]

Array = NDArray[np.float64]

_FOLDS = 5


class CoRegularizedSVC(ViewScoreClassifier):
    r"""One support vector machine per view, drawn to agree on all samples, labeled or not.

    `CoRegularizedLeastSquaresClassifier` with the hinge loss: labels well beyond the margin are not pulled back to it.

    Parameters
    ----------
    kernel : {"linear", "rbf", "precomputed"}, kernel object, callable, or list or dict of these, default="rbf"
        For all views, by position or by name. "rbf" has the median distance between samples as its width.
    ridge : float, or list or dict of floats, default=0.01
        Price :math:`\gamma_v > 0` of the norm of a function, by view: C = weight / (2 l ridge) for l labels.
    coupling : float, default=1.0
        Price :math:`\gamma_C \ge 0` of differences between views; with 0 the views are learned apart from their labels alone.
    view_weights : float, or list or dict of floats, default=None
        Weight :math:`\mu_v \ge 0` of a view's loss, None for 1. A view with 0 learns from the others.
    constants : {"none", "center", "orthogonal"}, default="none"
        There is no intercept. "center" centers each kernel over the training samples, which suits balanced classes;
        "orthogonal" keeps only functions whose values at them sum to zero, which costs a linear kernel one of its dimensions.
    probability : bool, default=True
        Whether scores are turned into probabilities, by a sigmoid of scores from five folds: six programs, not one.
        Without, ``predict_proba`` and ``label_distributions_`` give the predicted class all the weight.
    tol : float, default=1e-12
        Of the quadratic program, relative.
    max_iter : int, default=100
        Steps of its interior point method; some 10 to 25 suffice.
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
        Coefficients of each view, over the training samples that have it, of its kernel without ``constants``.
    objective_ : float, or ndarray of shape (n_classes,)
        Value of the minimized objective.
    n_iter_ : int
        Steps of the interior point method, most of any class.
    kernels_ : list
        One per view, with the width that was found.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of the training samples.
    transduction_ : ndarray of shape (n_samples,)
        Predicted classes of the training samples.

    Notes
    -----
    With labels -1 and 1 (more classes: one against the rest) the functions minimize

    .. math:: \sum_v \frac{\mu_v}{l} \sum_{i\ \mathrm{labeled}} (1 - y_i f_v(x_i))_+ + \sum_v \gamma_v \|f_v\|^2
              + \frac{\gamma_C}{n} \sum_{v<w} \sum_{i\ \mathrm{with\ both}} (f_v(x_i) - f_w(x_i))^2,

    l labeled of n samples, the hinge loss in the objective of [1]_. Norms and differences are one squared norm, so what is left
    is one machine per class on a kernel between the labeled samples of each view: beside the O(n^3) of that kernel (or
    O(n p^2 + p^3) for linear kernels of p < n features in all) a quadratic program with a variable per label and view. The score
    is the mean over the views that a sample has; a view that no label reaches has no part in it.

    References
    ----------
    .. [1] V. Sindhwani, P. Niyogi, M. Belkin, "A co-regularization approach to semi-supervised learning with multiple views",
       ICML workshop on learning with multiple views, 2005.

    Examples
    --------
    >>> from coview.semi_supervised import CoRegularizedSVC
    >>> X = {"u": [[-3.0], [-2.0], [-1.0], [1.0], [2.0]], "v": [[-1.0], [-1.5], [-2.0], [2.0], [1.0]]}
    >>> model = CoRegularizedSVC("linear").fit(X, ["a", None, None, None, "b"])
    >>> model.transduction_.tolist(), model.predict({"v": [[0.5]]}).tolist()
    (['a', 'a', 'a', 'b', 'b'], ['b'])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ViewScoreClassifier._parameter_constraints,
        **CONSTRAINTS,
        "probability": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    _min_classes = 2

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        ridge: Any = 0.01,
        coupling: float = 1.0,
        view_weights: Any = None,
        constants: str = "none",
        probability: bool = True,
        tol: float = 1e-12,
        max_iter: int = 100,
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
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
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
        self : CoRegularizedSVC

        Raises
        ------
        ValueError
            If the labels are of one class, a parameter does not fit the views, or the system is too large to be held.
        ViewError
            If a sample has no view and ``no_view="raise"``, or no labeled sample has a view with a positive weight.

        Warns
        -----
        ConvergenceWarning
            If the steps were not enough.
        """
        views, codes = self._read_labeled(X, y)
        labeled = codes >= 0
        known = codes[labeled]
        signs = signs_of(known, len(self.classes_))
        n_folds = _FOLDS if self.probability else 0
        found = co_regularized_fit(
            self,
            views,
            labeled,
            samples_in_agreement,
            lambda views: views.hinge(signs, known, tol=self.tol, max_iter=self.max_iter, n_folds=n_folds),
        )
        self._functions = found.functions
        calibration = ViewScoreCalibration(found.held_out, found.fitted, signs, self._shares)
        self._calibration = calibration if self.probability else None
        self.kernels_ = found.functions.kernels.kernels
        self.dual_coef_ = [drop_only_column(a) for a in found.dual]
        self.objective_ = float(found.objective[0]) if len(found.objective) == 1 else found.objective
        self.n_iter_ = found.n_iter
        self._answer_training(found.training)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # where no view alone tells the classes apart, as agreement is asked for
        return tags
