"""SVM-2K: a support vector machine per view, trained together so that their outputs agree."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from coview.base import Interval, ViewScoreClassifier
from coview.exceptions import ViewError
from coview.inference import TiedMachines, TiedSolution, ViewScoreCalibration, signs_of
from coview.kernels import ViewFunctions, ViewKernels
from coview.views import Views, numbers_per_view

__all__ = ["SVM2K"]

Array = NDArray[np.float64]

_FOLDS = 5
# Of programs whose scores only serve a sigmoid.
_FOLD_TOL = 1e-7


class SVM2K(ViewScoreClassifier):
    r"""Support vector machines of two views that pay for every sample on which their outputs differ.

    Supervised: the published program has two views and a label for every sample. It is extended to any number of views (each pair
    is tied), to samples that lack a view (which are in no loss and no tie of it), to samples without a label (which
    are in the ties only) and to more classes (one against the rest). With one view it is scikit-learn's ``SVC``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "precomputed"}, kernel object, callable, or list or dict of these, default="rbf"
        For all views, by position or by name. "rbf" has the median distance between samples as its width.
    C : float, or list or dict of floats, default=1.0
        Price of a label on the wrong side of the margin, by view. A view with 0 learns from the other alone.
    D : float, default=0.1
        Price of outputs that differ by more than ``epsilon``; with 0 the views are trained apart.
    epsilon : float, default=0.1
        Differences up to this cost nothing.
    probability : bool, default=True
        Whether scores are turned into probabilities, by a sigmoid of scores from five folds: six fits, not one.
        Without, ``predict_proba`` and ``label_distributions_`` give the predicted class all the weight.
    tol : float, default=1e-10
        Of the quadratic program, relative.
    max_iter : int, default=100
        Steps of its interior point method; some 10 to 25 suffice.
    classes : array-like of shape (n_classes,), default=None
        All classes, where some have no label yet.
    missing_label : object, default=None
        Marks an unlabeled sample, beside NaN and None. By default -1 is a class: the method is supervised.
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
        Coefficients of each view, over the training samples that have it.
    intercepts_ : ndarray of shape (n_views,), or (n_views, n_classes)
        NaN for a view of which no label says anything.
    objective_ : float, or ndarray of shape (n_classes,)
        Of the primal program.
    n_iter_ : int
        Steps of the interior point method, over all programs but those of the folds.
    kernels_ : list
        One per view, with the width that was found.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of the training samples.
    transduction_ : ndarray of shape (n_samples,)
        Predicted classes of the training samples.

    Notes
    -----
    The program [1]_ minimizes

    .. math:: \tfrac12 \|w_A\|^2 + \tfrac12 \|w_B\|^2 + C_A \sum_i \xi_i^A + C_B \sum_i \xi_i^B + D \sum_i \eta_i

    with slacks :math:`y_i f_v(x_i) \ge 1 - \xi_i^v` and :math:`|f_A(x_i) - f_B(x_i)| \le \eta_i + \epsilon`. It is solved
    exactly: O((n m)^3 / 3) time per step for m views, O((n m)^2) memory, n = 1,000 in two seconds; O(n m r^2) where kernel
    matrices have small ranks that sum to r, as linear kernels of few features, n = 3,000 in half a second.

    References
    ----------
    .. [1] J. Farquhar, D. Hardoon, H. Meng, J. Shawe-Taylor, S. Szedmak, "Two view learning: SVM-2K, theory and practice",
       NIPS 18, 2005.

    Examples
    --------
    >>> from coview.svm import SVM2K
    >>> views = {"a": [[-2.0], [-1.0], [1.0], [2.0]], "b": [[-1.0], [-3.0], [2.0], [1.0]]}
    >>> model = SVM2K("linear", C=(1.0, 2.0), D=0.5).fit(views, ["no", "no", "yes", "yes"])
    >>> model.predict(views).tolist(), model.predict({"b": [[3.0]]}).tolist()
    (['no', 'no', 'yes', 'yes'], ['yes'])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ViewScoreClassifier._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="left"), "array-like", dict],
        "D": [Interval(Real, 0, None, closed="left")],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "probability": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    _min_classes = 2

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        C: Any = 1.0,
        D: float = 0.1,
        epsilon: float = 0.1,
        probability: bool = True,
        tol: float = 1e-10,
        max_iter: int = 100,
        classes: Any = None,
        missing_label: Any = None,
        no_view: str = "raise",
        random_state: Any = None,
        view_columns: Any = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.D = D
        self.epsilon = epsilon
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.classes = classes
        self.missing_label = missing_label
        self.no_view = no_view
        self.random_state = random_state
        self.view_columns = view_columns

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to views and labels.

        Parameters
        ----------
        X : Views or anything that Views takes
        y : array-like of shape (n_samples,)
            Classes; NaN, None (or ``missing_label``) where unlabeled. A Series is matched by sample id.

        Returns
        -------
        self : SVM2K

        Raises
        ------
        ValueError
            If the labels are of one class.
        ViewError
            If a sample has no view and ``no_view="raise"``, or no view with a positive C has labels.
        """
        views, codes = self._read_labeled(X, y)
        kernels = ViewKernels.of(self.kernel, views, check_random_state(self.random_state))
        self.kernels_ = kernels.kernels
        blocks = [views[name] for name in views.names]
        grams = [kernels.values(v, block, block) for v, block in enumerate(blocks)]
        costs = self._costs(list(views.names))
        machines = TiedMachines(grams, views.presence, costs, float(self.D), float(self.epsilon))
        labeled = codes >= 0
        signs = np.zeros((len(codes), len(self.classes_) if len(self.classes_) > 2 else 1))
        signs[labeled] = signs_of(codes[labeled], len(self.classes_))
        self._store(kernels, views, [self._solved(machines, s, labeled) for s in signs.T])
        self._calibration = self._calibrated(machines, signs, codes, views) if self.probability else None
        self._answer_training(self._functions.scores(views))
        return self

    def _costs(self, names: list[str]) -> Array:
        """C of each view."""
        costs = numbers_per_view(self.C, names, "C")
        if not costs.any():
            raise ValueError(f"C must be positive for a view at least; got {self.C!r}.")
        return costs

    def _solved(self, machines: TiedMachines, signs: Array, labeled: NDArray[np.bool_]) -> TiedSolution:
        return machines.solve(signs, labeled, tol=self.tol, max_iter=self.max_iter)

    def _store(self, kernels: ViewKernels, views: Views, solutions: list[TiedSolution]) -> None:
        one = len(solutions) == 1
        dual = [np.column_stack([s.dual[v] for s in solutions]) for v in range(len(kernels.names))]
        intercepts = np.column_stack([s.intercepts for s in solutions])
        if np.isnan(intercepts).all():
            raise ViewError("No sample with a label has a view with a positive C, so nothing can be learned.")
        self._functions = ViewFunctions.expanded(kernels, views, dual, intercepts)
        self.dual_coef_ = [a[:, 0] for a in dual] if one else dual
        self.intercepts_ = intercepts[:, 0] if one else intercepts
        self.n_iter_ = sum(s.n_iter for s in solutions)
        self.objective_ = solutions[0].objective if one else np.array([s.objective for s in solutions])

    def _calibrated(
        self, machines: TiedMachines, signs: Array, codes: NDArray[np.int64], views: Views
    ) -> ViewScoreCalibration:
        """From scores by machines that have not seen the label, and by those that have."""
        labeled = codes >= 0
        tol = max(self.tol, _FOLD_TOL)
        held = [_held_out_scores(machines, s, codes, tol, self.max_iter)[labeled] for s in signs.T]
        fitted = self._functions.scores(views)[labeled]
        return ViewScoreCalibration(np.stack(held, axis=2), fitted, signs[labeled], self._shares)


def _held_out_scores(
    machines: TiedMachines, signs: Array, codes: NDArray[np.int64], tol: float, max_iter: int
) -> Array:
    """Score of each labeled sample, by view, by machines that were trained without it, NaN elsewhere (n_samples, n_views).

    Samples of a class are dealt to folds by the mean of their kernel values, so that their order means nothing.
    """
    presence = machines.presence
    key = np.zeros(len(codes))
    for v, K in enumerate(machines.grams):
        key[presence[:, v]] += K.sum(axis=1) / max(len(K), 1)
    fold = np.full(len(codes), -1)
    for c in np.unique(codes[codes >= 0]):
        members = np.flatnonzero(codes == c)
        fold[members[np.argsort(key[members], kind="stable")]] = np.arange(len(members)) % _FOLDS
    scores = np.full(presence.shape, np.nan)
    for k in np.unique(fold[fold >= 0]):
        scores[fold == k] = _scores_without(machines, signs, codes >= 0, fold == k, tol, max_iter)
    return scores


def _scores_without(
    machines: TiedMachines,
    signs: Array,
    labeled: NDArray[np.bool_],
    held: NDArray[np.bool_],
    tol: float,
    max_iter: int,
) -> Array:
    """Scores of samples left out (n_held, n_views), NaN where a view does not speak."""
    presence = machines.presence
    kept = [~held[presence[:, v]] for v in range(presence.shape[1])]
    grams = [K[np.ix_(rows, rows)] for K, rows in zip(machines.grams, kept, strict=True)]
    smaller = TiedMachines(grams, presence[~held], machines.costs, machines.tie, machines.epsilon)
    solution = smaller.solve(signs[~held], labeled[~held], tol=tol, max_iter=max_iter)
    parts = np.full((int(held.sum()), presence.shape[1]), np.nan)
    for v, (K, rows) in enumerate(zip(machines.grams, kept, strict=True)):
        parts[presence[held, v], v] = K[np.ix_(~rows, rows)] @ solution.dual[v] + solution.intercepts[v]
    return parts
