"""SVM-2K: a support vector machine per view, trained together so that their outputs agree."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, LabeledClassifierMixin, MultiViewEstimator, StrOptions
from coview.exceptions import ViewError
from coview.inference import PlattScaling, TiedMachines, TiedSolution
from coview.kernels import PrecomputedKernel, gram, kernel_per_view, resolve_kernel
from coview.labels import encode_labels
from coview.views import Views, some

__all__ = ["SVM2K"]

Array = NDArray[np.float64]

_FOLDS = 5


class SVM2K(LabeledClassifierMixin, MultiViewEstimator):
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
        Whether scores are turned into probabilities, by a sigmoid (1/2 at score 0) of scores from five folds: six fits, not one.
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
    exactly: O((n m)^3 / 3) time per step for m views, O((n m)^2) memory, n = 1,000 in a few seconds.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="left"), "array-like", dict],
        "D": [Interval(Real, 0, None, closed="left")],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "probability": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "no_view": [StrOptions({"raise", "prior"})],
        "random_state": ["random_state"],
        "view_columns": [dict, None],
    }

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
        self._validate_params()
        views, target = self._validate_views_target(X, y, reset=True)
        self.classes_, codes = encode_labels(
            target, missing_label=self.missing_label, classes=self.classes, min_classes=2
        )
        if len(np.unique(codes[codes >= 0])) < 2:
            raise ValueError("SVM2K needs labels of at least two classes; the labels given are of one class.")
        answerable = np.asarray(views.presence.any(axis=1))
        self._check_views(answerable, views, "Drop these samples, or set no_view='prior'.")
        machines = self._machines(views)
        signs = self._signs(codes)
        self._store(machines, [self._solved(machines, s, codes >= 0) for s in signs])
        self._calibrate(machines, signs, codes)
        self.label_distributions_ = self._probabilities(views, None)
        self._transduction = self._classes_of(views, None)
        return self

    @property
    def transduction_(self) -> NDArray[Any]:
        """Predicted classes of the training samples (n_samples,)."""
        check_is_fitted(self, "dual_coef_")
        return np.asarray(self.classes_[self._transduction])

    def _signs(self, codes: NDArray[np.int64]) -> list[Array]:
        """-1 and 1 for each program: of the second class, or of each class against the rest."""
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        return [np.where(codes == c, 1.0, -1.0) for c in positives]

    def _machines(self, views: Views) -> TiedMachines:
        """Kernels resolved, their values, prices by view."""
        random_state = check_random_state(self.random_state)
        given = kernel_per_view(self.kernel, views.names)
        self._rows = [views.rows(name) for name in views.names]
        self._n_samples = len(views)
        self._training = [views[name] for name in views.names]
        self.kernels_ = [
            resolve_kernel(kernel, block, random_state) for kernel, block in zip(given, self._training, strict=True)
        ]
        grams = [self._values(v, block) for v, block in enumerate(self._training)]
        return TiedMachines(grams, views.presence, self._costs(views.names), float(self.D), float(self.epsilon))

    def _costs(self, names: list[str]) -> Array:
        """C of each view."""
        if isinstance(self.C, Mapping):
            if set(self.C) != set(names):
                raise ViewError(f"C must name every view once; it names {list(self.C)}, the views are {list(names)}.")
            costs = np.array([self.C[name] for name in names], dtype=float)
        else:
            costs = np.array(self.C, dtype=float)
            costs = np.full(len(names), float(costs)) if not costs.ndim else costs
        if costs.shape != (len(names),) or not np.isfinite(costs).all() or (costs < 0.0).any() or not costs.any():
            raise ValueError(
                f"C must be one price, or one for each of the {len(names)} views, finite, not negative and not all 0; "
                f"got {self.C!r}."
            )
        return costs

    def _values(self, v: int, block: Any) -> Array:
        """Kernel values between rows of view v and the training samples that have it."""
        kernel = self.kernels_[v]
        if isinstance(kernel, str):
            given = PrecomputedKernel(block, self._rows[v], self._n_samples, self.view_names_[v])
            return given(block, None)
        return gram(kernel, block, None if block is self._training[v] else self._training[v])

    def _solved(self, machines: TiedMachines, signs: Array, labeled: NDArray[np.bool_]) -> TiedSolution:
        return machines.solve(signs, labeled, tol=self.tol, max_iter=self.max_iter)

    def _store(self, machines: TiedMachines, solutions: list[TiedSolution]) -> None:
        one = len(solutions) == 1
        dual = [np.column_stack([s.dual[v] for s in solutions]) for v in range(len(machines.grams))]
        intercepts = np.column_stack([s.intercepts for s in solutions])
        if np.isnan(intercepts).all():
            raise ViewError("No sample with a label has a view with a positive C, so nothing can be learned.")
        self.dual_coef_ = [a[:, 0] for a in dual] if one else dual
        self.intercepts_ = intercepts[:, 0] if one else intercepts
        self._n_programs = len(solutions)
        self.n_iter_ = sum(s.n_iter for s in solutions)
        self.objective_ = solutions[0].objective if one else np.array([s.objective for s in solutions])

    def _calibrate(self, machines: TiedMachines, signs: list[Array], codes: NDArray[np.int64]) -> None:
        """One sigmoid of all scores, fitted to scores that have not seen the labels.

        Every score counts once for its class and once, turned round, for the rest, which puts probability 1/2 at score 0: the
        most probable class is the predicted one.
        """
        counts = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        self._shares = counts / counts.sum()
        self._slope = 0.0
        if not self.probability:
            return
        held = np.column_stack([_held_out_scores(machines, s, codes, self.tol, self.max_iter) for s in signs])
        scored = (codes >= 0) & ~np.isnan(held).any(axis=1)
        if scored.any():
            scores, positive = held[scored].ravel(), np.column_stack(signs)[scored].ravel() > 0.0
            scaling = PlattScaling.fit(np.concatenate([scores, -scores]), np.concatenate([positive, ~positive]))
            self._slope = scaling.slope

    def decision_function_per_view(self, X: Any) -> list[Array]:
        """Score of new samples by each view.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        scores : list of ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            One per view of the fit, :math:`f_v`; NaN where a sample lacks the view.
        """
        scores = self._scores(self._read(X))
        return [part[:, 0] if part.shape[1] == 1 else part for part in scores]

    def decision_function(self, X: Any, *, view: str | None = None) -> Array:
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
        scores = self._mean_scores(self._read(X), view)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any, *, view: str | None = None) -> Array:
        """Probability of each class for new samples with any of the views.

        Parameters
        ----------
        X : Views or anything that Views takes
        view : str, default=None
            By the score of this view alone.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Of one sigmoid of all scores, more classes scaled to sum to one.
        """
        return self._probabilities(self._read(X), view)

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
        views = self._read(X)
        return np.asarray(self.classes_[self._classes_of(views, view)])

    def _read(self, X: Any) -> Views:
        check_is_fitted(self, "dual_coef_")
        return self._validate_views(X, reset=False)

    def _scores(self, views: Views) -> list[Array]:
        """Scores of each view of the fit (n_samples, n_programs), NaN where a sample lacks it."""
        scores = []
        for v, name in enumerate(self.view_names_):
            dual = self.dual_coef_[v].reshape(len(self._rows[v]), self._n_programs)
            part = np.full((len(views), dual.shape[1]), np.nan)
            if name in views.names and len(views.rows(name)):
                part[views.rows(name)] = self._values(v, views[name]) @ dual + self.intercepts_[v]
            scores.append(part)
        return scores

    def _mean_scores(self, views: Views, view: str | None) -> Array:
        if view is not None and view not in self.view_names_:
            raise ViewError(f"view must be one of {self.view_names_}; got {view!r}.")
        scores = self._scores(views)
        if view is not None:
            scores = [scores[self.view_names_.index(view)]]
        mean = _mean_over_views(np.stack(scores))
        self._check_views(
            np.asarray(~np.isnan(mean).all(axis=1)), views, "Give them a view, or fit with no_view='prior'."
        )
        return mean

    def _classes_of(self, views: Views, view: str | None) -> NDArray[np.intp]:
        """Numbers of the classes with the largest scores."""
        scores = self._mean_scores(views, view)
        lost = np.isnan(scores).all(axis=1)
        if scores.shape[1] == 1:
            codes = (scores[:, 0] >= 0.0).astype(np.intp)
        else:
            codes = np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1)
        return np.where(lost, self._shares.argmax(), codes)

    def _probabilities(self, views: Views, view: str | None) -> Array:
        scores = self._mean_scores(views, view)
        lost = np.isnan(scores).all(axis=1)
        if not self.probability:
            p = np.eye(len(self.classes_))[self._classes_of(views, view)]
        else:
            p = np.nan_to_num(PlattScaling(self._slope, 0.0).probability(scores))
            p = np.column_stack([1.0 - p, p]) if p.shape[1] == 1 else p
            total = p.sum(axis=1, keepdims=True)
            p = np.where(total > 0.0, p / np.where(total > 0.0, total, 1.0), self._shares)
        p[lost] = self._shares
        return np.asarray(p)

    def _check_views(self, answerable: NDArray[np.bool_], views: Views, remedy: str) -> None:
        """Every sample has a view, unless the prior may answer."""
        if self.no_view == "raise" and not answerable.all():
            lost = np.flatnonzero(~answerable)
            raise ViewError(
                f"Every sample must have a view that training had; {lost.size} of {len(views)} have none: "
                f"{some(views.index[lost])}. {remedy}"
            )


def _mean_over_views(scores: Array) -> Array:
    """Mean over the first axis of what is not NaN; NaN where nothing is."""
    known = ~np.isnan(scores)
    count = known.sum(axis=0)
    total = np.where(known, scores, 0.0).sum(axis=0)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def _held_out_scores(
    machines: TiedMachines, signs: Array, codes: NDArray[np.int64], tol: float, max_iter: int
) -> Array:
    """Score of each labeled sample by machines that were trained without it, NaN elsewhere (n_samples,).

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
    scores = np.full(len(codes), np.nan)
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
    """Scores of samples left out (n_held,), NaN where no view speaks."""
    presence = machines.presence
    kept = [~held[presence[:, v]] for v in range(presence.shape[1])]
    grams = [K[np.ix_(rows, rows)] for K, rows in zip(machines.grams, kept, strict=True)]
    smaller = TiedMachines(grams, presence[~held], machines.costs, machines.tie, machines.epsilon)
    solution = smaller.solve(signs[~held], labeled[~held], tol=tol, max_iter=max_iter)
    parts = np.full((presence.shape[1], int(held.sum())), np.nan)
    for v, (K, rows) in enumerate(zip(machines.grams, kept, strict=True)):
        parts[v, presence[held, v]] = K[np.ix_(~rows, rows)] @ solution.dual[v] + solution.intercepts[v]
    return _mean_over_views(parts)
