"""Regression by a Gaussian process per view whose posteriors are made to agree."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from coview.base import LabeledRegressorMixin
from coview.gaussian_process._posterior_consistency_base import PosteriorConsistencyModel
from coview.labels import encode_targets
from coview.views import Views

__all__ = ["PosteriorConsistencyGPRegressor"]

Array = NDArray[np.float64]


class PosteriorConsistencyGPRegressor(LabeledRegressorMixin, PosteriorConsistencyModel):
    r"""A Gaussian process per view, with hyper-parameters for which the views' posteriors agree.

    What `PosteriorConsistencyGPClassifier` is for classes, for real targets: new samples get the weighted average of the
    functions of the views that they have. Samples without a target count where posteriors are compared.

    Parameters
    ----------
    kernel : {"rbf", "linear", "precomputed"}, kernel object, callable, or list or dict of these, default="rbf"
        For all views, by position or by name. "rbf" has the median distance between samples as its width.
    noise_variance : float, or list or dict of floats, default=0.1
        Variance of the targets about each view's function, after ``normalize_y``; where a search starts.
    normalize_y : bool, default=False
        Learn targets of mean 0 and variance 1; predictions are in the units given. Without, functions have the prior mean 0.
    view_weights : list or dict of floats, default=None
        :math:`a_j`, of the evidence of each view and of its function in predictions; None weighs all alike, with sum one.
    consistency : float or array-like of shape (n_views, n_views), default=1.0
        :math:`b_{ij}`, what a nat of divergence costs.
    jitter : float, default=1e-4
        Variance of each sample's function value beyond the kernel, in likelihood and posterior; a divergence is infinite where
        one view's kernel matrix is singular.
    hyperparameters : {"maximize", "fixed"}, default="maximize"
        Search for kernel parameters and noise variances, or keep those given.
    approximation : {"exact", "low_rank"}, default="exact"
        Kernel matrices, or features of rank ``n_components`` per view; linear kernels lose nothing.
    n_components : int, default=100
        Largest number of features of a view; None for all.
    n_restarts : int, default=0
        Further starts of the search, drawn around the first.
    max_iter : int, default=200
        Steps of each search.
    no_view : {"raise", "prior"}, default="raise"
        What to do with a sample without any view: an error, or the mean of the prior.
    random_state : int, RandomState instance or None, default=None
        Of the samples that the width of "rbf" is taken from, beyond 1,000, and of further starts.
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    kernels_ : list
        One per view.
    noise_variances_ : ndarray of shape (n_views,)
        Of normalized targets.
    theta_ : ndarray of shape (n_parameters,)
    objective_ : float
        Of the fit, in nats.
    n_iter_ : int
        Steps of the best search, the start counted as one.
    log_marginal_likelihoods_ : ndarray of shape (n_views,)
        Of the targets by each view, in nats.
    divergences_ : ndarray of shape (n_views, n_views)
        ``KL(p_i || p_j)`` in nats; NaN where ``consistency`` is zero.
    latent_means_ : list of ndarray of shape (n_j,)
        Of normalized targets, as are the covariances.
    latent_covariances_ : list of ndarray of shape (n_j, n_j)
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the training samples.

    Notes
    -----
    Equation (12) of [1]_. With :math:`b = 0` each view is scikit-learn's ``GaussianProcessRegressor``. Costs are those of the
    classifier.

    References
    ----------
    .. [1] Q. Liu, S. Sun, "Multi-view regularized Gaussian processes", PAKDD, 2017.

    Examples
    --------
    >>> from coview.gaussian_process import PosteriorConsistencyGPRegressor
    >>> views = {"a": [[0.0], [1.0], [2.0], [3.0]], "b": [[1.0], [2.0], [3.0], [4.0]]}
    >>> model = PosteriorConsistencyGPRegressor(consistency=0.1, normalize_y=True).fit(views, [0.0, 2.0, 4.0, 6.0])
    >>> model.predict({"b": [[2.5]]}).round(1)
    array([3.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PosteriorConsistencyModel._parameter_constraints,
        "normalize_y": ["boolean"],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        noise_variance: Any = 0.1,
        normalize_y: bool = False,
        view_weights: Any = None,
        consistency: Any = 1.0,
        jitter: float = 1e-4,
        hyperparameters: str = "maximize",
        approximation: str = "exact",
        n_components: int | None = 100,
        n_restarts: int = 0,
        max_iter: int = 200,
        no_view: str = "raise",
        random_state: Any = None,
        view_columns: Any = None,
    ) -> None:
        self.kernel = kernel
        self.noise_variance = noise_variance
        self.normalize_y = normalize_y
        self.view_weights = view_weights
        self.consistency = consistency
        self.jitter = jitter
        self.hyperparameters = hyperparameters
        self.approximation = approximation
        self.n_components = n_components
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.no_view = no_view
        self.random_state = random_state
        self.view_columns = view_columns

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to views and targets.

        Parameters
        ----------
        X : Views or anything that Views takes
        y : array-like of shape (n_samples,)
            Targets; NaN or None where unlabeled. A Series is matched by sample id.

        Returns
        -------
        self : PosteriorConsistencyGPRegressor

        Raises
        ------
        ValueError
            If no target is known.
        ViewError
            If a sample has no view and ``no_view="raise"``, or no sample with a target has one.
        NotPositiveDefiniteError
            If a kernel matrix is singular, no jitter is added and posteriors are compared.

        Warns
        -----
        ConvergenceWarning
            If the search was cut short.
        UserWarning
            If it ended with views that explain nothing, as it does where a divergence is too dear.
        """
        self._validate_params()
        views, target = self._validate_views_target(X, y, reset=True)
        values = encode_targets(target)
        labeled = ~np.isnan(values)
        known = values[labeled]
        deviation = float(known.std())
        self._center = float(known.mean()) if self.normalize_y else 0.0
        self._unit = deviation if self.normalize_y and deviation > 0.0 else 1.0
        start = self._take(views, ((values - self._center) / self._unit)[:, None], labeled)
        self._keep(self._searched(start, None, []) if self.hyperparameters == "maximize" else start, None)
        self.transduction_ = self._outward(views, None)[0]
        return self

    def predict(self, X: Any, return_std: bool = False, *, view: str | None = None) -> Any:
        """The averaged function at new samples with any of the views, in units of y.

        Parameters
        ----------
        X : Views or anything that Views takes
        return_std : bool, default=False
        view : str, default=None
            The function of this view alone.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Its posterior standard deviation, without noise; infinite without a view. Only with ``return_std``.
        """
        mean, deviation = self._outward(self._read(X), view)
        return (mean, deviation) if return_std else mean

    def _outward(self, views: Views, view: str | None) -> tuple[Array, Array]:
        """Mean and standard deviation in units of y; those of the prior without a view."""
        mean, variance, _ = self._combined(views, view)
        lost = np.isnan(variance)
        mean = np.where(lost, 0.0, mean[:, 0]) * self._unit + self._center
        return mean, np.where(lost, np.inf, np.sqrt(variance) * self._unit)
