"""Classifiers that are smooth along a graph of the samples, labeled or not."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coview.kernels import (
    HingeRules,
    KernelMachine,
    held_out_hinge_scores,
    hinge_machine,
    least_squares_machine,
)
from coview.semi_supervised._laplacian_base import LaplacianLearner, resolved_tie

__all__ = ["LaplacianLeastSquaresClassifier", "LaplacianSVC"]

Array = NDArray[np.float64]


class LaplacianLeastSquaresClassifier(LaplacianLearner):
    r"""Least squares classifier that is smooth along a graph of all samples, labeled or not.

    Known as Laplacian regularized least squares.

    Parameters
    ----------
    kernel : {"linear", "rbf", "precomputed"}, kernel object, callable, or list or dict of these, default="rbf"
        For all views, by position or by name. "rbf" has the median distance between samples as its width.
    gamma_ambient : float, or list or dict of floats, default=1e-4
        Price :math:`\gamma_A > 0` of the norm of a function, by view.
    gamma_intrinsic : float, or list or dict of floats, default=1e-4
        Price :math:`\gamma_I \ge 0` of a function that is not smooth along the graph; with 0 unlabeled samples say nothing.
    graph : {"knn", "rbf"}, dict, square matrix, or list or dict of these by view, default="knn"
        Weights of the edges between the samples that have a view, or how they are found: as for
        `coview.graphs.graph_laplacian`. Weights between all samples may join also those without the view. With
        ``kernel="precomputed"`` there are no features to find neighbors by: weights or a Laplacian must be given.
    fit_intercept : bool, default=False
        Whether the score has a constant, which neither the norm nor the graph prices. The paper has none; where one class is
        rarer and the graph matters, scores are much better with it.
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
    dual_coef_ : ndarray of shape (n_v,), or (n_v, n_classes) for more than two classes
        Coefficients of the given kernel over the training samples that have a view.
    warped_dual_coef_ : ndarray of shape (n_labeled,), or (n_labeled, n_classes)
        Coefficients of the warped kernel over the labeled ones.
    coef_ : ndarray of shape (n_features,), or (n_features, n_classes), or None
        Weights of the features for a linear kernel.
    intercept_, objective_ : float, or ndarray of shape (n_classes,)
        Constant of the score and value of the objective.
    kernels_ : list
        One per view, with the width that was found.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of the training samples.
    transduction_ : ndarray of shape (n_samples,)
        Predicted classes of the training samples.

    Notes
    -----
    A view's function minimizes

    .. math:: \frac1l \sum_{i\ \mathrm{labeled}} (y_i - f(x_i))^2 + \gamma_A \|f\|^2 + \gamma_I f^\top L f

    over the samples that have the view [1]_: ridge regression on the
    warped kernel of `coview.kernels.warped_kernel`. O(n^3) time and O(n^2) memory, or O(n p^2 + p^3) with a linear kernel and
    p < n features: all classes share it. A view without labels learns nothing and has no part in predictions.
    Several views are learned apart, each on its own graph; attributes are then lists by view, scores the mean over views.

    References
    ----------
    .. [1] V. Sindhwani, P. Niyogi, M. Belkin, "A co-regularization approach to semi-supervised learning with multiple views",
       ICML workshop on learning with multiple views, 2005.

    Examples
    --------
    >>> from coview.semi_supervised import LaplacianLeastSquaresClassifier
    >>> X, y = [[0.0], [0.2], [0.4], [3.0], [3.2], [3.4]], ["a", None, None, None, None, "b"]
    >>> LaplacianLeastSquaresClassifier(graph={"n_neighbors": 2}).fit(X, y).transduction_.tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LaplacianLearner._parameter_constraints,
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma_ambient: Any = 1e-4,
        gamma_intrinsic: Any = 1e-4,
        graph: Any = "knn",
        fit_intercept: bool = False,
        classes: Any = None,
        missing_label: Any = "auto",
        no_view: str = "raise",
        random_state: Any = None,
        view_columns: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma_ambient = gamma_ambient
        self.gamma_intrinsic = gamma_intrinsic
        self.graph = graph
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.missing_label = missing_label
        self.no_view = no_view
        self.random_state = random_state
        self.view_columns = view_columns

    def _machine(
        self, values: Array, signs: Array, codes: NDArray[np.int64], ridge: float, share: float
    ) -> tuple[KernelMachine, Array]:
        return least_squares_machine(values, signs, ridge, fit_intercept=self.fit_intercept)


class LaplacianSVC(LaplacianLearner):
    r"""Support vector machine that is smooth along a graph of all samples, labeled or not.

    Known as Laplacian SVM.

    Parameters
    ----------
    kernel : {"linear", "rbf", "precomputed"}, kernel object, callable, or list or dict of these, default="rbf"
        For all views, by position or by name. "rbf" has the median distance between samples as its width.
    gamma_ambient : float, or list or dict of floats, default=1e-4
        Price :math:`\gamma_A > 0` of the norm of a function, by view.
    gamma_intrinsic : float, or list or dict of floats, default=1e-4
        Price :math:`\gamma_I \ge 0` of a function that is not smooth along the graph; with 0 unlabeled samples say nothing.
    graph : {"knn", "rbf"}, dict, square matrix, or list or dict of these by view, default="knn"
        Weights of the edges between the samples that have a view, or how they are found: as for
        `coview.graphs.graph_laplacian`. Weights between all samples may join also those without the view. With
        ``kernel="precomputed"`` there are no features to find neighbors by: weights or a Laplacian must be given.
    fit_intercept : bool, default=True
        Whether the score has a constant, which neither the norm nor the graph prices.
    tied_intercept : {"auto", "first", "middle"}, default="auto"
        Which constant, where an interval of them is equally good (as for equally many labels of two classes, all within the
        margin): that which puts a labeled sample on its margin, the first that can; or the middle of the interval. With few
        labels and a graph all scores lie within the margin, and "first" would call nearly all samples one class: "auto" takes the
        middle in views where less than a tenth of the samples have labels.
    tol : float, default=1e-12
        Of the quadratic program, relative.
    max_iter : int, default=100
        Steps of its interior point method.
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
    dual_coef_ : ndarray of shape (n_v,), or (n_v, n_classes) for more than two classes
        Coefficients of the given kernel over the training samples that have a view.
    warped_dual_coef_ : ndarray of shape (n_labeled,), or (n_labeled, n_classes)
        Coefficients of the warped kernel over the labeled ones.
    coef_ : ndarray of shape (n_features,), or (n_features, n_classes), or None
        Weights of the features for a linear kernel.
    intercept_, objective_ : float, or ndarray of shape (n_classes,)
        Constant of the score and value of the objective.
    kernels_ : list
        One per view, with the width that was found.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of the training samples.
    transduction_ : ndarray of shape (n_samples,)
        Predicted classes of the training samples.

    Notes
    -----
    A view's function minimizes

    .. math:: \frac1l \sum_{i\ \mathrm{labeled}} (1 - y_i f(x_i))_+ + \gamma_A \|f\|^2 + \gamma_I f^\top L f

    over the samples that have the view [1]_: a support vector machine with C = 1 / (2 l gamma_A) on the
    warped kernel of `coview.kernels.warped_kernel`. O(n^3) time and O(n^2) memory, or O(n p^2 + p^3) with a linear kernel and
    p < n features: all classes share it. A view without labels of two classes learns nothing and has no part in predictions.
    Several views are learned apart, each on its own graph; attributes are then lists by view, scores the mean over views.
    The constant is outside the graph penalty. For Laplacians that do not leave constants free (normalized ones) it would matter
    inside, and the objective with the constant inside has another minimum.

    References
    ----------
    .. [1] V. Sindhwani, P. Niyogi, M. Belkin, "A co-regularization approach to semi-supervised learning with multiple views",
       ICML workshop on learning with multiple views, 2005.

    Examples
    --------
    >>> from coview.semi_supervised import LaplacianSVC
    >>> X, y = [[0.0], [0.2], [0.4], [3.0], [3.2], [3.4]], ["a", None, None, None, None, "b"]
    >>> LaplacianSVC(graph={"n_neighbors": 2}).fit(X, y).transduction_.tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LaplacianLearner._parameter_constraints,
        **LaplacianLearner._hinge_constraints,
    }
    _min_classes = 2

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma_ambient: Any = 1e-4,
        gamma_intrinsic: Any = 1e-4,
        graph: Any = "knn",
        fit_intercept: bool = True,
        tied_intercept: str = "auto",
        tol: float = 1e-12,
        max_iter: int = 100,
        classes: Any = None,
        missing_label: Any = "auto",
        no_view: str = "raise",
        random_state: Any = None,
        view_columns: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma_ambient = gamma_ambient
        self.gamma_intrinsic = gamma_intrinsic
        self.graph = graph
        self.fit_intercept = fit_intercept
        self.tied_intercept = tied_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.classes = classes
        self.missing_label = missing_label
        self.no_view = no_view
        self.random_state = random_state
        self.view_columns = view_columns

    def _machine(
        self, values: Array, signs: Array, codes: NDArray[np.int64], ridge: float, share: float
    ) -> tuple[KernelMachine, Array]:
        tied = resolved_tie(self.tied_intercept, share)
        rules = HingeRules(self.fit_intercept, tied, self.tol, self.max_iter)
        machine = hinge_machine(values, signs, ridge, rules)
        return machine, held_out_hinge_scores(values, signs, codes, ridge, rules) + machine.ahead
