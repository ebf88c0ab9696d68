"""Mixture of factor analyzers: a density of incomplete views."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coview.mixture._factor_mixture_model import FactorMixtureModel

__all__ = ["FactorMixture"]

Array = NDArray[np.float64]


class FactorMixture(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DensityMixin, FactorMixtureModel):  # type: ignore[misc]
    r"""Density of several views as a mixture of factor analyzers, with any views and single features missing.

    Each component is a Gaussian around its own low-dimensional plane: covariance :math:`A_j A_j^T + \sigma^2 I`, so that the
    number of parameters grows with the number of features and not with its square. Everything that is said of a sample is
    exact for the features that it has.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        "auto" raises the number until BIC has not improved twice.
    n_factors : int or "auto", default="auto"
        Dimension of each plane. "auto": 2, less where there are fewer than 4 features.
    noise_variance : float or "learn", default="learn"
        Variance :math:`\sigma^2` beside the planes, the same for all features and components, in squared units of the
        model (see ``standardize``). Many components with few samples each learn too little of it: fix it then, 1 say, or
        lower ``n_factors``.
    noise_variance_init : float, default=None
        Where learning it starts.
    weights_init : array-like of shape (n_components,), default=None
    means_init : array-like of shape (n_components, n_features), default=None
    loadings_init : array-like of shape (n_components, n_features, n_factors), default=None
        Explicit starts, in units of the model.
    init : {"kmeans", "random"}, default="kmeans"
        Starts from k-means among the samples with most features and the principal axes of the clusters, or from samples and
        loadings at random.
    standardize : bool or "auto", default="auto"
        Whether features are brought to mean 0 and variance 1 first, which a shared noise variance asks for; "auto" does
        unless means or loadings are given. ``means_``, ``loadings_`` and ``noise_variance_`` are in these units; densities,
        likelihoods and samples are in those of the features.
    max_components : int, default=20
        Most components that "auto" tries.
    n_init : int, default=10
        Starts, of which the best end is kept.
    tol : float, default=1e-4
        Change of the log-likelihood per sample, in nats, that ends the iterations.
    max_iter : int, default=500
    view_columns : dict, default=None
        View name to columns, where X is one table.
    random_state : int or RandomState, default=None
    n_jobs : int, default=None
        Starts followed at a time, in threads.
    verbose : int, default=0

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
    means_ : ndarray of shape (n_components, n_features)
    loadings_ : ndarray of shape (n_components, n_features, n_factors)
    noise_variance_ : float
    feature_means_, feature_scales_ : ndarray of shape (n_features,)
        A feature is its mean plus its scale times its value in units of the model.
    n_components_, n_factors_ : int
    bic_by_n_components_ : dict of int to float
        What "auto" tried; empty otherwise.
    log_likelihood_trace_ : ndarray of shape (n_iter + 1,)
        Log-likelihood of the training samples in nats before every iteration and after the last.
    n_iter_ : int
    converged_ : bool

    Notes
    -----
    EM of [1]_ without labels, in which [2]_ let whole views be missing. One iteration takes time
    O(n_components n_samples n_features n_factors) and, per pattern of missing features, one factor of order n_factors for
    each component. A feature that no sample has keeps its start.

    References
    ----------
    .. [1] Z. Ghahramani, G. E. Hinton, "The EM algorithm for mixtures of factor analyzers", CRG-TR-96-1, 1996.
    .. [2] G. Jin, R. Raich, D. J. Miller, "A generative semi-supervised model for multi-view learning when some views are
       label-free", ICASSP 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.mixture import FactorMixture
    >>> rng = np.random.default_rng(0)
    >>> views = [rng.normal(size=(80, 3)) + 4 * (np.arange(80) % 2)[:, None] for _ in range(2)]
    >>> views[1][::5] = np.nan
    >>> FactorMixture(random_state=0).fit(views).n_components_
    2
    """

    def __init__(
        self,
        n_components: Any = "auto",
        n_factors: Any = "auto",
        *,
        noise_variance: Any = "learn",
        noise_variance_init: Any = None,
        weights_init: Any = None,
        means_init: Any = None,
        loadings_init: Any = None,
        init: str = "kmeans",
        standardize: Any = "auto",
        max_components: int = 20,
        n_init: int = 10,
        tol: float = 1e-4,
        max_iter: int = 500,
        view_columns: Any = None,
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_factors = n_factors
        self.noise_variance = noise_variance
        self.noise_variance_init = noise_variance_init
        self.weights_init = weights_init
        self.means_init = means_init
        self.loadings_init = loadings_init
        self.init = init
        self.standardize = standardize
        self.max_components = max_components
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.view_columns = view_columns
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to views.

        Parameters
        ----------
        X : whatever `Views` takes
            NaN where a feature is missing.
        y : ignored

        Returns
        -------
        self : FactorMixture
        """
        self._validate_params()
        self._fit_table(self._stacked(X, reset=True), None, 0)
        return self

    def score_samples(self, X: Any) -> Array:
        """Log-density of the observed features of each sample (n,), in nats; 0 where nothing is observed."""
        check_is_fitted(self, "weights_")
        return self._log_likelihoods(self._stacked(X, reset=False))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-density of the samples, in nats."""
        return float(self.score_samples(X).mean())

    def responsibilities(self, X: Any) -> Array:
        """P(component | observed features), (n, n_components)."""
        check_is_fitted(self, "weights_")
        return self._responsibilities(self._stacked(X, reset=False))

    def predict_proba(self, X: Any) -> Array:
        """The same as `responsibilities`, under scikit-learn's name."""
        return self.responsibilities(X)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Most probable component of each sample (n,)."""
        return np.asarray(self.responsibilities(X).argmax(axis=1))

    def transform(self, X: Any) -> Array:
        """Factor scores: per component E[v | observed features, component] times its responsibility.

        Components have their own planes and their own axes in them, so their scores stand side by side and are not added up.

        Parameters
        ----------
        X : whatever `Views` takes, n samples

        Returns
        -------
        scores : ndarray of shape (n, n_components * n_factors)
            Those of the first component first.
        """
        check_is_fitted(self, "weights_")
        data, posterior, shares, _ = self._posterior(self._stacked(X, reset=False))
        scores = (shares[..., None] * posterior.means).swapaxes(0, 1)  # (n, J, d)
        return data.table.in_order(scores.reshape(len(scores), self._n_features_out))

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_ * self.n_factors_)

    def bic(self, X: Any) -> float:
        """Bayesian information criterion on views X; lower is better."""
        log_likelihoods = self.score_samples(X)
        count = self._n_parameters(self._parameters)
        return float(-2.0 * log_likelihoods.sum() + count * np.log(len(log_likelihoods)))

    def aic(self, X: Any) -> float:
        """Akaike's information criterion on views X; lower is better."""
        return float(-2.0 * self.score_samples(X).sum() + 2.0 * self._n_parameters(self._parameters))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Array, NDArray[np.intp]]:
        """Draw complete samples.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int or RandomState, default=None
            None for that of the estimator.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Views side by side.
        components : ndarray of shape (n_samples,)
        """
        rows, components, _ = self._draw(n_samples, random_state)
        return rows, components
