"""What classifiers and regressors with posterior consistency share: fit of the functions, objective, new samples."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, MultiViewEstimator, StrOptions, check_answerable
from coview.exceptions import ViewError
from coview.gaussian_process._consistency_objective import ConsistencyObjective, ExactView, LowRankView
from coview.gaussian_process._consistency_search import search_parameters
from coview.gaussian_process._parameters import Parameters, theta_of
from coview.inference import PosteriorConsistency, combine_view_moments
from coview.kernels import KernelLike, PrecomputedKernel, diagonal, gram, kernel_per_view, resolve_kernel
from coview.linalg import CholeskyFactor, one_blas_thread
from coview.views import Views, check_view_name, numbers_per_view

__all__ = ["PosteriorConsistencyModel"]

Array = NDArray[np.float64]

# Up to so many samples, threads of BLAS wait for each other longer than they work.
_SMALL = 500
# Nats by which a view must be better than noise to explain anything.
_WORTH = 1.0


class PosteriorConsistencyModel(MultiViewEstimator):
    """A Gaussian process per view, learned together; subclasses say what the targets are.

    They have the parameters ``kernel, noise_variance, view_weights, consistency, jitter, hyperparameters, approximation,
    n_components, n_restarts, max_iter, no_view, random_state``.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "jitter": [Interval(Real, 0, None, closed="left")],
        "hyperparameters": [StrOptions({"maximize", "fixed"})],
        "approximation": [StrOptions({"exact", "low_rank"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "n_restarts": [Interval(Integral, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "no_view": [StrOptions({"raise", "prior"})],
        "random_state": ["random_state"],
        "view_columns": [dict, None],
    }

    def _take(self, views: Views, targets: Array, labeled: NDArray[np.bool_]) -> Parameters:
        """Keep the training samples; kernels and noise at the start."""
        answerable = np.asarray(views.presence.any(axis=1))
        check_answerable(answerable, views, self.no_view, "Drop these samples, or set no_view='prior'.")
        names = views.names
        self._targets, self._labeled, self.n_iter_ = targets, labeled, 1
        self._views = views
        self._rows = [views.rows(name) for name in names]
        self._told = np.array([bool(labeled[rows].any()) for rows in self._rows])
        if not self._told.any():
            raise ViewError(
                "No sample with a label has a view, so nothing can be learned. Label samples that have views."
            )
        self._weights = self._weights_of(names)
        self._ties = self._ties_of(names)
        state = self._state()
        pairs = zip(kernel_per_view(self.kernel, names), self._blocks, strict=True)
        kernels = [resolve_kernel(kernel, block, state) for kernel, block in pairs]
        self._check_kernels(kernels)
        return Parameters(kernels, self._noise_of(names), None)

    @property
    def _blocks(self) -> list[Any]:
        """Rows of each view that are there; kept as `Views`, which can be saved, sparse or dense."""
        return [self._views[name] for name in self.view_names_]

    def _weights_of(self, names: list[str]) -> Array:
        """A of each view."""
        if self.view_weights is None:
            return np.full(len(names), 1.0 / len(names))
        return _weights(self.view_weights, names)

    def _ties_of(self, names: list[str]) -> Array:
        """B of each pair of views."""
        return _pairwise(self.consistency, len(names))

    def _noise_of(self, names: list[str]) -> Array:
        """Noise variance of each view."""
        return numbers_per_view(self.noise_variance, names, "noise_variance", positive=True)

    def _check_kernels(self, kernels: list[KernelLike]) -> None:
        """Shorthands and thetas that the approximation can take."""
        for name, kernel in zip(self.view_names_, kernels, strict=True):
            if isinstance(kernel, str) and self.approximation == "low_rank":
                raise ViewError(
                    f"View {name!r} has kernel='precomputed', which has no features. Use approximation='exact'."
                )
            with np.errstate(divide="ignore"):
                theta = theta_of(kernel)
            if not np.isfinite(theta).all():
                raise ValueError(
                    f"The kernel {kernel} of view {name!r} has a parameter of zero or infinity that is free. Declare it "
                    "'fixed', as in DotProduct(0, 'fixed')."
                )

    def _objective(self, point: Parameters, subset: NDArray[np.bool_] | None) -> ConsistencyObjective:
        """The objective around a point."""
        problem = PosteriorConsistency(self._rows, self._labeled, self._targets, self._weights, self._ties, subset)
        live = [self._live(j, kernel) for j, kernel in enumerate(point.kernels)]
        views: list[ExactView | LowRankView] = []
        for name, block, kernel in zip(self.view_names_, self._blocks, live, strict=True):
            if self.approximation == "low_rank":
                views.append(LowRankView.of(name, block, float(self.jitter), kernel, self.n_components))
            else:
                views.append(ExactView(name, block, float(self.jitter)))
        return ConsistencyObjective(views, problem, Parameters(live, point.view_variances, None))

    def _threads(self) -> AbstractContextManager[Any]:
        """One BLAS thread where matrices are small."""
        return one_blas_thread(len(self._labeled) <= _SMALL)

    def _state(self) -> np.random.RandomState:
        """Where random numbers come from; None stands for 0, so that the same data give the same answer."""
        state: np.random.RandomState = check_random_state(0 if self.random_state is None else self.random_state)
        return state

    def _live(self, j: int, kernel: KernelLike) -> KernelLike:
        """A kernel that can be evaluated, for given values too."""
        if isinstance(kernel, str):
            return PrecomputedKernel(self._blocks[j], self._rows[j], len(self._labeled), self.view_names_[j])
        return kernel

    def _searched(self, point: Parameters, subset: NDArray[np.bool_] | None, starts: list[Array]) -> Parameters:
        """The best point for samples compared on a subset; ``starts`` come on top of the point itself."""
        objective = self._objective(point, subset)
        scale = float(np.square(self._targets[self._labeled]).mean())
        state = self._state()
        with self._threads():
            best = search_parameters(objective, starts, scale, int(self.n_restarts), state, int(self.max_iter))
        self.n_iter_ += best.n_iter
        found = objective.point.at(best.theta)
        kernels = [old if isinstance(old, str) else new for old, new in zip(point.kernels, found.kernels, strict=True)]
        return Parameters(kernels, found.view_variances, None)

    def _keep(self, point: Parameters, subset: NDArray[np.bool_] | None) -> None:
        """Store a fit: what the objective says of it, and what predicts new samples."""
        self._subset = subset
        self.kernels_, self.noise_variances_ = list(point.kernels), point.view_variances
        objective = self._objective(point, subset)
        posteriors, _ = objective.posteriors(objective.point)
        with self._threads():
            found = objective.problem.evaluate(posteriors)
        self.objective_ = found.objective
        self.log_marginal_likelihoods_, self.divergences_ = found.log_evidences, found.divergences
        self._warn_if_emptied()
        self._weights_in_means: list[Array] = []
        self._lowers: list[Array] = []
        self._landmarks: list[Views | None] = []
        self._projections: list[Array | None] = []
        self._training_means: list[Array] = []
        for j, (view, posterior) in enumerate(zip(objective.views, posteriors, strict=True)):
            self._keep_view(j, view, posterior)

    def _warn_if_emptied(self) -> None:
        """Say so where a search that compared posteriors ended with views that explain nothing."""
        if self.hyperparameters != "maximize" or not np.triu(self._ties, 1).any():
            return
        known = [self._targets[rows[self._labeled[rows]]] for rows in self._rows]
        alone = np.array([_log_evidence_of_noise(targets) for targets in known])
        if (self.log_marginal_likelihoods_ <= alone + _WORTH)[self._told].all():
            # Numbers far from zero are described by a nearly constant function first.
            numbers = getattr(self, "normalize_y", None) is False
            warnings.warn(
                "No view explains the labels better than a constant and noise would. A divergence between views that costs more "
                f"than they explain does this (consistency={self.consistency!r}, jitter={self.jitter!r}): lower consistency, "
                "raise jitter, or choose by PosteriorConsistencyGPClassifierCV."
                + (" Numbers whose mean is not zero want normalize_y=True." if numbers else ""),
                UserWarning,
                stacklevel=4,
            )

    def _keep_view(self, j: int, view: ExactView | LowRankView, posterior: Any) -> None:
        """What predicts new samples by view j, and its means at the training samples, which have their jitter."""
        labeled = self._labeled[self._rows[j]]
        known = posterior.restricted(labeled)
        self._weights_in_means.append(known.predictive_weights)
        self._lowers.append(known.predictive_factor.lower)
        landmarks = view.landmarks if isinstance(view, LowRankView) else None
        self._landmarks.append(None if landmarks is None else Views({view.name: landmarks}))
        self._projections.append(view.projection if isinstance(view, LowRankView) else None)
        means = self._moments(j, self._blocks[j])[0]
        means[labeled] += self.jitter * known.duals
        self._training_means.append(means)

    def _moments(self, j: int, X: Any) -> tuple[Array, Array]:
        """Mean (n, C) and variance (n,) of the function of view j at rows."""
        kernel = self._live(j, self.kernels_[j])
        projection = self._projections[j]
        if projection is not None:
            landmarks = self._landmarks[j]
            values = X if landmarks is None else gram(kernel, X, landmarks[self.view_names_[j]])
            features = np.asarray(values @ projection, dtype=np.float64)
            halved = CholeskyFactor(self._lowers[j]).half_solve(features.T)
            return features @ self._weights_in_means[j], np.square(halved).sum(axis=0)
        labeled = self._labeled[self._rows[j]]
        if isinstance(kernel, PrecomputedKernel):
            crosses = kernel(X, None)[:, labeled]
        else:
            crosses = gram(kernel, X, self._blocks[j][labeled])
        halved = CholeskyFactor(self._lowers[j]).half_solve(crosses.T)
        return crosses @ self._weights_in_means[j], np.maximum(diagonal(kernel, X) - np.square(halved).sum(axis=0), 0.0)

    def _combined(self, views: Views, view: str | None) -> tuple[Array, Array, Array]:
        """Mean (n, C), variance and noise (n,) of the weighted average of the views at hand; NaN without any."""
        check_view_name(view, self.view_names_)
        n, m, n_functions = len(views), len(self.view_names_), self._targets.shape[1]
        means, variances = np.full((m, n, n_functions), np.nan), np.full((m, n), np.nan)
        for j, name in enumerate(self.view_names_):
            if name in views.names and view in (None, name) and self._told[j] and len(views.rows(name)):
                rows = views.rows(name)
                means[j, rows], variances[j, rows] = self._moments(j, views[name])
        combined = combine_view_moments(means, variances, self.noise_variances_, self._weights)
        remedy = "Give them a view, or fit with no_view='prior'."
        check_answerable(~np.isnan(combined[1]), views, self.no_view, remedy)
        return combined

    def _read(self, X: Any) -> Views:
        check_is_fitted(self, "objective_")
        return self._validate_views(X, reset=False)

    @property
    def _point(self) -> Parameters:
        check_is_fitted(self, "objective_")
        return Parameters(self.kernels_, self.noise_variances_, None)

    @property
    def theta_(self) -> Array:
        """Natural logarithms of the free parameters: the kernels' thetas in view order, then the noise variances."""
        return self._point.theta

    @property
    def latent_means_(self) -> list[Array]:
        """Posterior mean of each view's function at the training samples that have it, (n_j,) or (n_j, K)."""
        check_is_fitted(self, "objective_")
        return [mean[:, 0] if mean.shape[1] == 1 else mean for mean in self._training_means]

    @property
    def latent_covariances_(self) -> list[Array]:
        """Posterior covariance of each view's function at the training samples that have it (n_j, n_j)."""
        objective = self._objective(self._point, self._subset)
        return [posterior.covariance() for posterior in objective.posteriors(objective.point)[0]]

    def objective(self, theta: Any = None, eval_gradient: bool = False) -> Any:
        r"""Equation (12), or (13) with a consistent set, on the training samples; in nats, smaller is better.

        Parameters
        ----------
        theta : array-like of shape (n_parameters,), default=None
            Natural logarithms as in ``theta_``; None for the parameters of the fit.
        eval_gradient : bool, default=False

        Returns
        -------
        value : float
        gradient : ndarray of shape (n_parameters,)
            With respect to theta; only with ``eval_gradient``.
        """
        objective = self._objective(self._point, self._subset)
        theta = objective.point.theta if theta is None else np.asarray(theta, dtype=np.float64)
        return objective.value_and_gradient(theta) if eval_gradient else objective.value(theta)


def _log_evidence_of_noise(targets: Array) -> float:
    """Largest log density of targets (n, C) that are noise of one variance about zero, or about a constant that is no larger."""
    if not targets.size:
        return -0.5 * targets.size * float(np.log(2.0 * np.pi) + 1.0)
    n, tiny = len(targets), np.finfo(np.float64).tiny
    means = targets.mean(axis=0)
    about_zero = max(float(np.square(targets).mean()), tiny)
    about_means = max(float(np.square(targets - means).mean()), tiny)
    noise = targets.size * (np.log(2.0 * np.pi * about_zero) + 1.0)
    # A constant of variance c^2, its own square: one direction of each function has the variance s^2 + n c^2.
    spread = about_means + n * np.square(means)
    constant = targets.size * (np.log(2.0 * np.pi * about_means) + 1.0)
    constant += float((np.log(spread / about_means) + n * np.square(means) / spread).sum())
    return -0.5 * float(min(noise, constant))


def _weights(values: Any, names: list[str]) -> Array:
    weights = numbers_per_view(values, names, "view_weights")
    if not weights.any():
        raise ValueError(f"view_weights must not all be 0; got {values!r}.")
    return weights


def _pairwise(values: Any, m: int) -> Array:
    """One number per pair of views, from one for all or a matrix, symmetric or zero below its diagonal."""
    ties = np.array(values.toarray() if sp.issparse(values) else values, dtype=np.float64)
    ties = np.full((m, m), float(ties)) if not ties.ndim else ties
    if ties.shape == (m, m) and not np.tril(ties, -1).any():
        ties = ties + np.triu(ties, 1).T
    if ties.shape != (m, m) or not np.isfinite(ties).all() or (ties < 0.0).any() or not np.array_equal(ties, ties.T):
        raise ValueError(
            f"consistency must be one number, or a symmetric matrix over the {m} views, finite and not negative; got {values!r}."
        )
    return ties
