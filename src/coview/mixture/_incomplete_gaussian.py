"""Gaussian mixture of views in which any view and any single feature may be missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state

from coview.base import Interval, StrOptions
from coview.inference import (
    GIVEN_START_PLATEAU,
    EMRun,
    GaussianMixtureEM,
    GaussianMixtureParameters,
    warn_unless_converged,
)
from coview.mixture._conditional_mixture import ConditionalMixture
from coview.mixture._factor_covariances import condition_factors, factor_posteriors, fit_factor_covariances
from coview.mixture._gaussian_density import GaussianDensity
from coview.mixture._gaussian_fitting import (
    estimation_rules,
    fit_best_size,
    follow_best_start,
    follow_last_solution,
    n_free_parameters,
    starts,
    warn_of_spikes,
)
from coview.mixture._gaussian_parameters import read_covariances, read_means, read_weights

__all__ = ["IncompleteGaussianMixture"]

Array = NDArray[np.float64]


class IncompleteGaussianMixture(DensityMixin, GaussianDensity):  # type: ignore[misc]
    r"""Density of several views as a mixture of Gaussians, with any views and single features missing.

    Everything is exact for the features that a sample has: the fit maximizes the likelihood of the observed values by EM, and
    :meth:`conditional` gives the distribution of the missing ones. On complete data it is the usual Gaussian mixture.

    Parameters
    ----------
    n_components : int or "auto", default=1
        "auto" raises the number until BIC has not improved twice, among those whose components have at least twice as many
        samples as features to estimate a covariance from. Outliers with a component of their own end that search: fix it then.
        A warning names features of few values, such as 0 and 1, that it followed until a component held one of them.
    covariance_type : {"full", "diag", "view", "factor"}, default="full"
        Covariance of each component: any; of independent features; of views that are independent given the component
        (one block per view); or few directions beside noise, :math:`A A^T + \sigma^2 I` on standardized features (then the
        mixture of factor analyzers, see :class:`FactorMixture`), for many features.
    n_factors : int or "auto", default="auto"
        Directions of a "factor" covariance.
    reg_covar : float, default=None
        Added to every variance in each iteration, in squared units of the features; None for 1e-6 of the variance of each
        feature. Repeated rows need it. At 0 a covariance that becomes singular gets the least jitter that can be factored,
        and the likelihood may then fall. Not for "factor", whose noise is bounded from below instead.
    tol : float, default=1e-3
        Change of the log likelihood per sample, in nats, that ends the iterations.
    max_iter : int, default=500
        Iterations where they do not converge; 0 keeps the start. From a start given in full, convergence is looked for only
        after 50 iterations.
    n_init : int, default=3
        Starts (k-means on what is observed, on standardized features). Each is followed for 30 iterations, the best of them
        to its end; one where means are given.
    max_components : int, default=20
        Most components that "auto" tries.
    weights_init : array-like of shape (n_components,), default=None
    means_init : array-like of shape (n_components, n_features), default=None
    covariances_init : array-like of shape (n_components, n_features, n_features), default=None
        Explicit starts, features of all views side by side. Full matrices are taken as they are for the first E-step,
        whatever the covariance type; variances of shape (n_components, n_features) are also taken. Not for "factor".
    warm_start : bool, default=False
        Whether a fit starts where the last one ended, with its number of components; not for "factor".
    random_state : int or RandomState, default=None
    n_jobs : int, default=None
        Starts followed at a time, in threads.
    verbose : int, default=0
        Above 0, one line for each number of components.
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
    means_ : ndarray of shape (n_components, n_features)
    covariances_ : ndarray of shape (n_components, n_features, n_features)
        Of all types as matrices, made at each access from what is stored.
    n_components_ : int
    loadings_, noise_variance_ : ndarray of shape (n_components, n_features, n_factors), (n_features,)
        For "factor" only: the covariances are ``loadings_ @ loadings_.T`` and ``noise_variance_`` on the diagonal.
    log_likelihood_trace_ : ndarray of shape (n_iter + 1,)
        Log likelihood of the training samples before each iteration and after the last one, in nats.
    lower_bound_ : float
        The last one, per sample.
    n_iter_ : int
    converged_ : bool
    bic_by_n_components_ : dict of int to float
        BIC of the numbers tried; empty unless ``n_components="auto"``.

    Notes
    -----
    EM of [1]_, [2]_. Per iteration O(n_samples n_components n_features^2), and O(n_components n_features^3) for each pattern
    of missing features: time grows with patterns, not with incomplete samples. Blocks of "view" have their own, fewer
    patterns; "diag" has none. The start and the ridge are those of complete data where nothing is missing. Rows with nothing
    observed have log likelihood 0 and the weights as responsibilities; a feature that is never observed keeps mean 0 and
    variance 1 in its own units; a component that loses all samples keeps its mean and covariance at weight 0.

    References
    ----------
    .. [1] Z. Ghahramani, M. I. Jordan, "Supervised learning from incomplete data via an EM approach", NIPS 1994.
    .. [2] D. Williams, L. Carin, "Analytical kernel matrix completion with incomplete multi-view data", ICML workshop
       Learning with Multiple Views, 2005, equations (1)-(2).

    Examples
    --------
    >>> import numpy as np
    >>> from coview.mixture import IncompleteGaussianMixture
    >>> X = np.array([[0.0, 0.1], [1.0, 0.9], [2.0, np.nan], [3.0, 3.2], [np.nan, 3.9], [5.0, 5.1]])
    >>> IncompleteGaussianMixture(random_state=0).fit(X).impute(X[2:3]).round()
    array([[2., 2.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "covariance_type": [StrOptions({"full", "diag", "view", "factor"})],
        "n_factors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "reg_covar": [Interval(Real, 0, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_components": [Interval(Integral, 1, None, closed="left")],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "covariances_init": ["array-like", None],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "view_columns": [dict, None],
    }

    loadings_: Array
    noise_variance_: Array

    def __init__(
        self,
        n_components: int | str = 1,
        *,
        covariance_type: str = "full",
        n_factors: int | str = "auto",
        reg_covar: float | None = None,
        tol: float = 1e-3,
        max_iter: int = 500,
        n_init: int = 3,
        max_components: int = 20,
        weights_init: Any = None,
        means_init: Any = None,
        covariances_init: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        view_columns: Any = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.n_factors = n_factors
        self.reg_covar = reg_covar
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.max_components = max_components
        self.weights_init = weights_init
        self.means_init = means_init
        self.covariances_init = covariances_init
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.view_columns = view_columns

    @classmethod
    def from_parameters(
        cls,
        weights: Any,
        means: Any,
        covariances: Any,
        *,
        view_n_features: Mapping[str, int] | Sequence[int] | None = None,
    ) -> Self:
        """A mixture with known parameters, as if fitted.

        Parameters
        ----------
        weights : array-like of shape (n_components,)
        means : array-like of shape (n_components, n_features)
            Features of all views side by side.
        covariances : array-like of shape (n_components, n_features, n_features)
            Or variances of shape (n_components, n_features).
        view_n_features : dict of str to int, or list of int, default=None
            Width of each view. With names, views are matched by name and may be absent; otherwise samples must have all
            features, in this order.

        Returns
        -------
        mixture : IncompleteGaussianMixture
        """
        weights, means = read_weights(weights), read_means(means)
        covariances = read_covariances(covariances, means)
        if len(weights) != len(means):
            raise ValueError(f"weights and means must be of as many components; got {len(weights)} and {len(means)}.")
        mixture = cls(len(weights), covariance_type="diag" if covariances.ndim == 2 else "full")
        mixture._adopt_views([means.shape[1]] if view_n_features is None else view_n_features)
        if mixture.n_features_in_ != means.shape[1]:
            raise ValueError(
                f"view_n_features sum to {mixture.n_features_in_}, but means have {means.shape[1]} features. Correct one of them."
            )
        mixture.n_components_ = len(weights)
        mixture.weights_, mixture.means_, mixture._covariances = weights, means, covariances
        return mixture

    def fit(self, X: Any, y: Any = None) -> Self:
        """Maximize the likelihood of what is observed.

        Parameters
        ----------
        X : Views or anything that Views takes
            Samples; NaN where a feature is missing.
        y : ignored

        Returns
        -------
        self : IncompleteGaussianMixture
        """
        self._validate_params()
        table = self._stacked(X, reset=True)
        last = self._last_solution()
        for name in ("loadings_", "noise_variance_"):
            self.__dict__.pop(name, None)
        explicit = self._explicit_start(table.shape[1])
        if self.covariance_type == "factor":
            fit_factor_covariances(self, table)
            return self
        em = GaussianMixtureEM(table, self._blocks(), estimation_rules(self.reg_covar, table))
        rng = check_random_state(self.random_state)

        def fit(n_components: int, needs_determined: bool) -> EMRun[GaussianMixtureParameters]:
            begin = starts(em, n_components, self.n_init, explicit, rng)
            settings: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, "n_jobs": self.n_jobs}
            if len(explicit) == 3:
                settings["plateau"] = GIVEN_START_PLATEAU
            run = follow_best_start(em, begin, **settings, needs_determined=needs_determined)
            if self.verbose:
                print(f"{n_components} components: {run.objective:.6g} nats per sample after {run.n_iter} iterations")
            return run

        if last is not None and self.n_components in ("auto", len(last.weights)):
            run = follow_last_solution(em, last, tol=self.tol, max_iter=self.max_iter)
        else:
            run, self.bic_by_n_components_ = fit_best_size(fit, em, self.n_components, largest=self.max_components)
        warn_unless_converged(run, tol=self.tol, name=type(self).__name__)
        if self.n_components == "auto":
            warn_of_spikes(run.parameters, table, self._feature_labels(), name=type(self).__name__)
        self._store(run, len(table))
        return self

    def _store(self, run: EMRun[GaussianMixtureParameters], n_samples: int) -> None:
        parameters = run.parameters
        self.n_components_ = len(parameters.weights)
        self.weights_, self.means_, self._covariances = parameters.weights, parameters.means, parameters.covariances
        self.log_likelihood_trace_ = run.trace * n_samples
        self.lower_bound_, self.n_iter_, self.converged_ = run.objective, run.n_iter, run.converged

    def _parameters(self) -> GaussianMixtureParameters:
        if "loadings_" not in vars(self):
            return super()._parameters()
        covariances = self.loadings_ @ self.loadings_.mT
        np.einsum("kii->ki", covariances)[...] += self.noise_variance_
        return GaussianMixtureParameters(self.weights_, self.means_, covariances)

    def _posterior(self, table: Array, allowed: NDArray[np.bool_] | None = None) -> tuple[Array, Array]:
        return factor_posteriors(self, table) if "loadings_" in vars(self) else super()._posterior(table, allowed)

    def _conditional(self, table: Array, weights: Array) -> ConditionalMixture:
        if "loadings_" not in vars(self):
            return super()._conditional(table, weights)
        return ConditionalMixture(
            table, weights, partial(condition_factors, self.means_, self.loadings_, self.noise_variance_)
        )

    def _deviations(self, component: int, n_samples: int, rng: np.random.RandomState) -> Array:
        if "loadings_" not in vars(self):
            return super()._deviations(component, n_samples, rng)
        A = self.loadings_[component]
        noise = rng.standard_normal((n_samples, len(A))) * np.sqrt(self.noise_variance_)
        return np.asarray(noise + rng.standard_normal((n_samples, A.shape[1])) @ A.T)

    def _n_parameters(self) -> int:
        """Number of free parameters; rotations of factors are not counted."""
        if "loadings_" not in vars(self):
            return n_free_parameters(self._blocks(), len(self.weights_))
        n_components, p, n_factors = (int(size) for size in self.loadings_.shape)
        d = min(n_factors, p)
        # the noise has one free variance, on standardized features
        return n_components * (p + p * d - d * (d - 1) // 2 + 1)

    def _explicit_start(self, n_features: int) -> dict[str, Array]:
        """The parts of a start that were given, checked against each other and against the number of features."""
        given: dict[str, Array] = {}
        if self.weights_init is not None:
            given["weights"] = read_weights(self.weights_init, "weights_init")
        if self.means_init is not None:
            given["means"] = read_means(self.means_init, "means_init")
        if self.covariances_init is not None:
            like = np.array(self.covariances_init, dtype=np.float64)
            means = given.get("means", like[..., 0] if like.ndim == 3 else like)
            covariances = read_covariances(like, means, "covariances_init")
            if self.covariance_type != "diag":  # variances say where to start, not that covariances stay 0
                covariances = GaussianMixtureParameters(means[:, 0], means, covariances).full_covariances()
            given["covariances"] = covariances
        if given and (self.n_components == "auto" or self.covariance_type == "factor"):
            raise ValueError(
                f"{', '.join(f'{name}_init' for name in given)} cannot be used with n_components='auto' or "
                f"covariance_type='factor'. Give the number of components, or leave the start out."
            )
        for name, values in given.items():
            if len(values) != self.n_components or (name != "weights" and values.shape[1] != n_features):
                raise ValueError(
                    f"{name}_init has shape {values.shape}, but there are n_components={self.n_components} and {n_features} "
                    "features. Correct one of them."
                )
        return given

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.intp]:
        """Fit, then the most probable component of each sample.

        Parameters
        ----------
        X : Views or anything that Views takes
        y : ignored

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self.fit(X, y).predict(X)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Most probable component of each sample.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return np.asarray(self.responsibilities(X).argmax(axis=1))

    def predict_proba(self, X: Any) -> Array:
        """Responsibilities of X (n_samples, n_components), under the name that scikit-learn gives them."""
        return self.responsibilities(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density per sample, in nats.

        Parameters
        ----------
        X : Views or anything that Views takes
        y : ignored

        Returns
        -------
        score : float
        """
        return float(self.score_samples(X).mean())

    def conditional(self, X: Any) -> ConditionalMixture:
        """Distribution of the missing features of each sample, given its observed ones.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        conditional : ConditionalMixture
            A sequence with one mixture per sample.
        """
        table = self._known_table(X)
        return self._conditional(table, self._posterior(table)[0])

    def sample(self, n_samples: int = 1) -> tuple[Array, NDArray[np.intp]]:
        """Samples from the mixture, by ``random_state``.

        Parameters
        ----------
        n_samples : int, default=1

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        components : ndarray of shape (n_samples,)
        """
        return self._draw(n_samples)

    def bic(self, X: Any) -> float:
        """Bayesian information criterion, lower is better; samples with nothing observed do not count.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        bic : float
            Twice nats.
        """
        table = self._known_table(X)
        n_seen = max(int((~np.isnan(table)).any(axis=1).sum()), 1)
        log_likelihood = float(self._posterior(table)[1].sum())
        return self._n_parameters() * float(np.log(n_seen)) - 2.0 * log_likelihood

    def aic(self, X: Any) -> float:
        """Akaike information criterion, lower is better.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        aic : float
            Twice nats.
        """
        log_likelihood = float(self._posterior(self._known_table(X))[1].sum())
        return 2.0 * self._n_parameters() - 2.0 * log_likelihood
