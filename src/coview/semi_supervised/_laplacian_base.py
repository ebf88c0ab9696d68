"""What the learners on graph Laplacians share: one warped kernel per view, machines on its labeled part, scores anywhere."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, LabeledClassifierMixin, MultiViewEstimator, StrOptions
from coview.exceptions import ViewError
from coview.kernels import (
    KernelMachine,
    PrecomputedKernel,
    WarpedFeatures,
    WarpedGram,
    gram,
    kernel_per_view,
    linear_amplitude,
    resolve_kernel,
)
from coview.labels import encode_labels
from coview.semi_supervised._laplacian_graphs import joint_laplacian, own_laplacians, per_view, restricted
from coview.semi_supervised._laplacian_scores import (
    ViewScoreCalibration,
    classes_of_scores,
    mean_scores,
    signs_of,
)
from coview.views import Views, some

__all__ = ["LaplacianLearner"]

Array = NDArray[np.float64]


class LaplacianLearner(LabeledClassifierMixin, MultiViewEstimator):
    """Base of the classifiers; a subclass says which machine is trained on the warped kernel of the labeled samples."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "gamma_ambient": [Interval(Real, 0, None, closed="neither"), "array-like", dict],
        "gamma_intrinsic": [Interval(Real, 0, None, closed="left"), "array-like", dict],
        "no_view": [StrOptions({"raise", "prior"})],
        "random_state": ["random_state"],
        "view_columns": [dict, None],
    }
    _hinge_constraints: ClassVar[dict[str, list[Any]]] = {
        "fit_intercept": ["boolean"],
        "tied_intercept": [StrOptions({"first", "middle"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    #: How many classes must be among the labels, of all samples and of those with a view that is to learn.
    _min_classes = 1
    #: Whether all views share one Laplacian.
    _joint = False

    kernel: Any
    gamma_ambient: Any
    gamma_intrinsic: Any
    graph: Any
    classes: Any
    missing_label: Any
    no_view: str
    random_state: Any

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to views and labels.

        Parameters
        ----------
        X : Views or anything that Views takes
            With ``kernel="precomputed"`` the kernel values of a view with all training samples.
        y : array-like of shape (n_samples,)
            Classes; NaN, None (or ``missing_label``) where unlabeled. A Series is matched by sample id.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If too few classes are among the labels, or a graph or a parameter does not fit the views.
        ViewError
            If a sample has no view and ``no_view="raise"``, or no sample with a label has a view.
        """
        self._validate_params()
        views, target = self._validate_views_target(X, y, reset=True)
        self.classes_, codes = encode_labels(
            target, missing_label=self.missing_label, classes=self.classes, min_classes=self._min_classes
        )
        if len(np.unique(codes[codes >= 0])) < self._min_classes:
            raise ValueError(
                f"{type(self).__name__} needs labels of at least two classes; those given are of one class."
            )
        answerable = np.asarray(views.presence.any(axis=1))
        self._check_views(answerable, views, "Drop these samples, or set no_view='prior'.")
        self._gammas = self._checked_gammas()
        self._set_kernels(views)
        self._fit_views(views, codes)
        scores = self._scores(views)
        self.label_distributions_ = self._calibration().probabilities(scores)
        self._transduction = classes_of_scores(mean_scores(scores), self._shares)
        return self

    def _checked_gammas(self) -> Array:
        """Both gammas of each view (n_views, 2)."""
        ambient = per_view(self.gamma_ambient, self.view_names_, "gamma_ambient")
        intrinsic = per_view(self.gamma_intrinsic, self.view_names_, "gamma_intrinsic")
        if (ambient <= 0.0).any() or (intrinsic < 0.0).any():
            raise ValueError(
                f"gamma_ambient must be positive and gamma_intrinsic not negative; got {self.gamma_ambient!r} and "
                f"{self.gamma_intrinsic!r}."
            )
        return np.column_stack([ambient, intrinsic])

    def _set_kernels(self, views: Views) -> None:
        random_state = check_random_state(self.random_state)
        given = kernel_per_view(self.kernel, views.names)
        self._n_training = len(views)
        self._training_rows = [views.rows(name) for name in views.names]
        self.kernels_ = [
            resolve_kernel(kernel, views[name], random_state) for kernel, name in zip(given, views.names, strict=True)
        ]
        amplitudes = [None if isinstance(k, str) else linear_amplitude(k) for k in self.kernels_]
        self._amplitudes = [np.nan if a is None else a for a in amplitudes]

    def _laplacians(self, views: Views) -> list[Any]:
        """The penalty of each view, over the samples that have it."""
        has = views.presence
        given = [name for name, kernel in zip(views.names, self.kernels_, strict=True) if isinstance(kernel, str)]
        if self._joint:
            L = joint_laplacian(self.graph, getattr(self, "graph_weights", None), views, given)
            everyone = np.ones(len(views), dtype=bool)
            return [restricted(L, everyone, has[:, v]) for v in range(has.shape[1])]
        parts, joined = own_laplacians(self.graph, views, given)
        return [restricted(L, rows, has[:, v]) for v, (L, rows) in enumerate(zip(parts, joined, strict=True))]

    def _fit_views(self, views: Views, codes: NDArray[np.int64]) -> None:
        labeled, n_views = codes >= 0, len(views.names)
        counts = np.bincount(codes[labeled], minlength=len(self.classes_))
        self._shares = counts / max(counts.sum(), 1)
        self._label_signs = signs_of(codes[labeled], len(self.classes_))
        shape = (int(labeled.sum()), n_views, self._label_signs.shape[1])
        self._fitted_scores, self._held_out_scores = np.full(shape, np.nan), np.full(shape, np.nan)
        self.n_iter_ = 1
        self._duals: list[Array] = []
        self._warped_duals: list[Array] = []
        self._weights: list[Array | None] = []
        self._intercepts, self._objectives = np.full((2, *shape[1:]), np.nan)
        self._blocks: list[Any] = []
        for v, L in enumerate(self._laplacians(views)):
            block, mine = views[views.names[v]], views.presence[labeled, v]
            here = np.flatnonzero(labeled[views.presence[:, v]])
            known = codes[labeled][mine]
            learns = len(known) > 0 and len(np.unique(known)) >= self._min_classes
            self._fit_view(v, block, L, here if learns else here[:0], known, mine)
        if np.isnan(self._intercepts).all():
            raise ViewError(
                "No view can learn: the labeled samples of each are too few. A view needs labels"
                + (" of two classes." if self._min_classes > 1 else ".")
            )

    def _fit_view(
        self, v: int, block: Any, L: Any, here: NDArray[np.intp], known: NDArray[np.int64], mine: NDArray[np.bool_]
    ) -> None:
        """One view: ``here`` are its labeled samples, none where it cannot learn."""
        signs, ambient = self._label_signs[mine], self._gammas[v, 0]
        linear = not np.isnan(self._amplitudes[v])
        self._blocks.append(None if linear else block)
        dual = warped_dual = np.zeros((block.shape[0], signs.shape[1]))
        if len(here):
            warped = self._warped(v, block, (self._gammas[v, 1] / ambient) * L)
            values, columns = warped.between(here)
            machine, held_out = self._machine(values, signs, known, ambient)
            self.n_iter_ = max(self.n_iter_, machine.n_iter)
            dual, warped_dual = columns @ machine.dual, machine.dual
            self._intercepts[v], self._objectives[v] = machine.intercepts, machine.objective
            self._fitted_scores[mine, v], self._held_out_scores[mine, v] = machine.scores, held_out
        self._duals.append(dual)
        self._warped_duals.append(warped_dual if len(here) else warped_dual[:0])
        self._weights.append(self._amplitudes[v] * np.asarray(block.T @ dual) if linear else None)

    def _machine(
        self, values: Array, signs: Array, codes: NDArray[np.int64], ridge: float
    ) -> tuple[KernelMachine, Array]:
        """The machine on the warped kernel of the labeled samples, and its scores of samples that it has not seen."""
        raise NotImplementedError

    def _warped(self, v: int, block: Any, penalty: Any) -> WarpedFeatures | WarpedGram:
        """In the space of features where that is smaller."""
        amplitude = self._amplitudes[v]
        if amplitude >= 0.0 and block.shape[1] < block.shape[0]:
            rows = np.sqrt(amplitude) * block
            return WarpedFeatures(sparse.csr_array(rows) if sparse.issparse(rows) else rows, penalty)
        return WarpedGram(self._values(v, block, block), penalty)

    def _values(self, v: int, new: Any, training: Any) -> Array:
        """Kernel values between rows of view v and its training rows."""
        kernel = self.kernels_[v]
        if isinstance(kernel, str):
            rows = self._training_rows[v]
            return PrecomputedKernel(training, rows, self._n_training, self.view_names_[v])(new, None)
        return gram(kernel, new, None if new is training else training)

    def _calibration(self) -> ViewScoreCalibration:
        return ViewScoreCalibration(self._held_out_scores, self._fitted_scores, self._label_signs, self._shares)

    def _scores(self, views: Views, view: str | None = None) -> Array:
        """Scores by each view (n_samples, n_views, n_functions), NaN where a sample lacks it or it learned nothing."""
        if view is not None and view not in self.view_names_:
            raise ViewError(f"view must be one of {self.view_names_}; got {view!r}.")
        scores = np.full((len(views), *self._intercepts.shape), np.nan)
        for v, name in enumerate(self.view_names_):
            if name in views.names and view in (None, name) and len(views.rows(name)):
                new, rows = views[name], views.rows(name)
                if self._weights[v] is None:
                    values = self._values(v, new, self._blocks[v]) @ self._duals[v]
                else:
                    values = np.asarray(new @ self._weights[v])
                scores[rows, v] = values + self._intercepts[v]
        return scores

    def _new_scores(self, X: Any, view: str | None = None) -> Array:
        check_is_fitted(self, "kernels_")
        views = self._validate_views(X, reset=False)
        scores = self._scores(views, view)
        answerable = np.asarray((~np.isnan(scores)).any(axis=(1, 2)))
        self._check_views(answerable, views, "Give them a view, or fit with no_view='prior'.")
        return scores

    @property
    def transduction_(self) -> NDArray[Any]:
        """Predicted classes of the training samples (n_samples,)."""
        check_is_fitted(self, "kernels_")
        return np.asarray(self.classes_[self._transduction])

    @property
    def dual_coef_(self) -> Any:
        """Coefficients of the given kernel over the training samples that have a view."""
        check_is_fitted(self, "kernels_")
        return self._per_view([self._flat(a) for a in self._duals])

    @property
    def warped_dual_coef_(self) -> Any:
        """Coefficients of the warped kernel over the labeled samples that have a view; none where it learned nothing."""
        check_is_fitted(self, "kernels_")
        return self._per_view([self._flat(a) for a in self._warped_duals])

    @property
    def coef_(self) -> Any:
        """Weights of the features, for views with a linear kernel; None for others."""
        check_is_fitted(self, "kernels_")
        return self._per_view([None if w is None else self._flat(w) for w in self._weights])

    @property
    def objective_(self) -> Any:
        """Value of the minimized objective."""
        check_is_fitted(self, "kernels_")
        return self._per_view(self._outward(self._objectives))

    @property
    def intercept_(self) -> Any:
        """Constant of the score; NaN where a view learned nothing."""
        check_is_fitted(self, "kernels_")
        return self._per_view(self._outward(self._intercepts))

    def _outward(self, values: Array) -> Array:
        return values[:, 0] if values.shape[1] == 1 else values

    def _flat(self, values: Array) -> Array:
        return values[:, 0] if values.shape[1] == 1 else values

    def _per_view(self, values: Any) -> Any:
        """By view; where a learner of one view has one, that of the view itself."""
        return values if self._joint or len(self.view_names_) > 1 else values[0]

    def decision_function_per_view(self, X: Any) -> list[Array]:
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
        return [self._flat(scores[:, v]) for v in range(scores.shape[1])]

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
        return self._flat(mean_scores(self._new_scores(X, view)))

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
            Of Platt's sigmoid, made from scores of labeled samples that had not been seen, for the views at hand; more classes
            scaled to sum to one. The most probable class need not be the predicted one, which follows the score.
        """
        scores = self._new_scores(X, view)
        return self._calibration().probabilities(scores)

    def _check_views(self, answerable: NDArray[np.bool_], views: Views, remedy: str) -> None:
        """Every sample has a view, unless the prior may answer."""
        if self.no_view == "raise" and not answerable.all():
            lost = np.flatnonzero(~answerable)
            raise ViewError(
                f"Every sample must have a view that training had; {lost.size} of {len(views)} have none: "
                f"{some(views.index[lost])}. {remedy}"
            )
