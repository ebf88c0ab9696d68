"""What the learners on graph Laplacians share: one warped kernel per view, machines on its labeled part, scores anywhere."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, StrOptions, ViewScoreClassifier
from coview.exceptions import ViewError
from coview.inference import ViewScoreCalibration, drop_only_column, signs_of
from coview.kernels import KernelMachine, ViewFunctions, ViewKernels, WarpedFeatures, WarpedGram
from coview.semi_supervised._laplacian_graphs import joint_laplacian, own_laplacians, restricted
from coview.views import Views, numbers_per_view

__all__ = ["LaplacianLearner", "resolved_tie"]

Array = NDArray[np.float64]

# Below this share of labeled samples ties between constants go to the middle.
_FEW = 0.1


def resolved_tie(rule: str, share: float) -> str:
    """Which of equally good constants of a hinge loss is taken where ``share`` of the samples have labels."""
    return rule if rule != "auto" else "middle" if share < _FEW else "first"


class LaplacianLearner(ViewScoreClassifier):
    """Base of the classifiers; a subclass says which machine is trained on the warped kernel of the labeled samples."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ViewScoreClassifier._parameter_constraints,
        "gamma_ambient": [Interval(Real, 0, None, closed="neither"), "array-like", dict],
        "gamma_intrinsic": [Interval(Real, 0, None, closed="left"), "array-like", dict],
    }
    _hinge_constraints: ClassVar[dict[str, list[Any]]] = {
        "fit_intercept": ["boolean"],
        "tied_intercept": [StrOptions({"auto", "first", "middle"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    #: Whether all views share one Laplacian.
    _joint = False

    kernel: Any
    gamma_ambient: Any
    gamma_intrinsic: Any
    graph: Any
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
        views, codes = self._read_labeled(X, y)
        self._gammas = self._checked_gammas()
        self._set_kernels(views)
        self._fit_views(views, codes)
        self._answer_training(self._functions.scores(views))
        return self

    def _checked_gammas(self) -> Array:
        """Both gammas of each view (n_views, 2)."""
        ambient = numbers_per_view(self.gamma_ambient, self.view_names_, "gamma_ambient", positive=True)
        intrinsic = numbers_per_view(self.gamma_intrinsic, self.view_names_, "gamma_intrinsic")
        return np.column_stack([ambient, intrinsic])

    def _set_kernels(self, views: Views) -> None:
        self._kernels = ViewKernels.of(self.kernel, views, check_random_state(self.random_state))
        self.kernels_ = self._kernels.kernels

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
        signs = signs_of(codes[labeled], len(self.classes_))
        fitted, held_out = np.full((2, int(labeled.sum()), n_views, signs.shape[1]), np.nan)
        self.n_iter_ = 1
        self._warped_duals: list[Array] = []
        intercepts, self._objectives = np.full((2, n_views, signs.shape[1]), np.nan)
        duals = []
        for v, L in enumerate(self._laplacians(views)):
            block, mine = views[views.names[v]], views.presence[labeled, v]
            here, known = np.flatnonzero(labeled[views.presence[:, v]]), codes[labeled][mine]
            dual, warped_dual = np.zeros((block.shape[0], signs.shape[1])), np.zeros((0, signs.shape[1]))
            if len(here) and len(np.unique(known)) >= self._min_classes:
                warped = self._warped(v, block, (self._gammas[v, 1] / self._gammas[v, 0]) * L)
                values, columns = warped.between(here)
                share = len(here) / block.shape[0]
                machine, held_out[mine, v] = self._machine(values, signs[mine], known, self._gammas[v, 0], share)
                self.n_iter_ = max(self.n_iter_, machine.n_iter)
                dual, warped_dual, fitted[mine, v] = columns @ machine.dual, machine.dual, machine.scores
                intercepts[v], self._objectives[v] = machine.intercepts, machine.objective
            duals.append(dual)
            self._warped_duals.append(warped_dual)
        if np.isnan(intercepts).all():
            raise ViewError(
                "No view can learn: the labeled samples of each are too few. A view needs labels"
                + (" of two classes." if self._min_classes > 1 else ".")
            )
        self._functions = ViewFunctions.expanded(self._kernels, views, duals, intercepts)
        self._calibration = ViewScoreCalibration(held_out, fitted, signs, self._shares)

    def _machine(
        self, values: Array, signs: Array, codes: NDArray[np.int64], ridge: float, share: float
    ) -> tuple[KernelMachine, Array]:
        """The machine on the warped kernel of the labeled samples, a share of all, and its scores of samples it has not seen."""
        raise NotImplementedError

    def _warped(self, v: int, block: Any, penalty: Any) -> WarpedFeatures | WarpedGram:
        """In the space of features where that is smaller."""
        amplitude = self._kernels.amplitude(v)
        if amplitude is not None and amplitude >= 0.0 and block.shape[1] < block.shape[0]:
            rows = np.sqrt(amplitude) * block
            return WarpedFeatures(sparse.csr_array(rows) if sparse.issparse(rows) else rows, penalty)
        return WarpedGram(self._kernels.values(v, block, block), penalty)

    @property
    def dual_coef_(self) -> Any:
        """Coefficients of the given kernel over the training samples that have a view."""
        check_is_fitted(self, "kernels_")
        return self._per_view([drop_only_column(a) for a in self._functions.dual])

    @property
    def warped_dual_coef_(self) -> Any:
        """Coefficients of the warped kernel over the labeled samples that have a view; none where it learned nothing."""
        check_is_fitted(self, "kernels_")
        return self._per_view([drop_only_column(a) for a in self._warped_duals])

    @property
    def coef_(self) -> Any:
        """Weights of the features, for views with a linear kernel; None for others."""
        check_is_fitted(self, "kernels_")
        return self._per_view([None if w is None else drop_only_column(w) for w in self._functions.weights])

    @property
    def objective_(self) -> Any:
        """Value of the minimized objective."""
        check_is_fitted(self, "kernels_")
        return self._per_view(drop_only_column(self._objectives))

    @property
    def intercept_(self) -> Any:
        """Constant of the score; NaN where a view learned nothing."""
        check_is_fitted(self, "kernels_")
        return self._per_view(drop_only_column(self._functions.intercepts))

    def _per_view(self, values: Any) -> Any:
        """By view; where a learner of one view has one, that of the view itself."""
        return values if self._joint or len(self.view_names_) > 1 else values[0]
