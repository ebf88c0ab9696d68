"""Classifier by a mixture of factor analyzers: any view may be without labels."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, LabeledClassifierMixin
from coview.labels import encode_labels, target_values
from coview.mixture._base import refuse_unseen
from coview.mixture._factor_mixture_model import FactorMixtureModel
from coview.mixture._factor_mixture_starts import check_labels_possible

__all__ = ["FactorMixtureClassifier"]

Array = NDArray[np.float64]


class FactorMixtureClassifier(LabeledClassifierMixin, FactorMixtureModel):
    r"""Semi-supervised classification by a mixture of factor analyzers over all views.

    Samples may miss views, single features and labels in any combination; a view may have no labeled sample at all, as long
    as unlabeled samples join it to one that has. The class of a sample depends on its mixture component only, so that class
    probabilities follow exactly from whatever part of a sample is observed.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        "auto" raises the number, from that of the classes on, until BIC has not improved twice. BIC weighs how well features
        are described, not how well classes are told apart: to predict, several times the number of classes, chosen on
        held-out labels with ``noise_variance`` fixed, can be far better.
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
    class_probabilities_init : array-like of shape (n_components, n_classes), default=None
        Explicit starts, in units of the model.
    init : {"kmeans", "random"}, default="kmeans"
        Starts from k-means among the samples with most features and the principal axes of the clusters, or from samples and
        loadings at random.
    standardize : bool or "auto", default="auto"
        Whether features are brought to mean 0 and variance 1 first, which a shared noise variance asks for; "auto" does
        unless means or loadings are given. ``means_``, ``loadings_`` and ``noise_variance_`` are in these units; densities,
        likelihoods and samples are in those of the features.
    class_smoothing : float, default=0.0
        Pseudo-count of each class in each component; 0 is maximum likelihood.
    max_components : int, default=20
        Most components that "auto" tries.
    n_init : int, default=10
        Starts, of which the best end is kept.
    tol : float, default=1e-4
        Change of the log-likelihood per sample, in nats, that ends the iterations.
    max_iter : int, default=500
    classes : list, default=None
        All classes, where some have no label yet.
    missing_label : object, default="auto"
        What marks an unlabeled sample besides NaN and None; "auto" reads -1 so in integer labels.
    view_columns : dict, default=None
        View name to columns, where X is one table.
    random_state : int or RandomState, default=None
    n_jobs : int, default=None
        Starts followed at a time, in threads.
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    weights_ : ndarray of shape (n_components,)
    means_ : ndarray of shape (n_components, n_features)
    loadings_ : ndarray of shape (n_components, n_features, n_factors)
    class_probabilities_ : ndarray of shape (n_components, n_classes)
        P(class | component).
    noise_variance_ : float
    feature_means_, feature_scales_ : ndarray of shape (n_features,)
        A feature is its mean plus its scale times its value in units of the model.
    n_components_, n_factors_ : int
    bic_by_n_components_ : dict of int to float
        What "auto" tried; empty otherwise.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        P(class | observed features) of the training samples, their own labels not looked at.
    transduction_ : ndarray of shape (n_samples,)
        Most probable class of every training sample.
    log_likelihood_trace_ : ndarray of shape (n_iter + 1,)
        Joint log-likelihood of features and labels in nats, equation (1) of [1]_, before every iteration and after the last.
    n_iter_ : int
    converged_ : bool

    Notes
    -----
    EM of [1]_, with its equations for any pattern of missing features: (2), (3), (9)-(12) in the E-step, (13)-(16) in the
    M-step, classes by (17). One iteration takes time O(n_components n_samples n_features n_factors) and, per pattern of
    missing features, one factor of order n_factors for each component; there is no matrix of n_features x n_features. Which
    labels a component has is not always determined: two components that only a label-free view tells apart share theirs.

    References
    ----------
    .. [1] G. Jin, R. Raich, D. J. Miller, "A generative semi-supervised model for multi-view learning when some views are
       label-free", ICASSP 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.mixture import FactorMixtureClassifier
    >>> rng = np.random.default_rng(0)
    >>> kind = np.arange(90) % 2
    >>> heard, seen = (rng.normal(size=(90, 3)) + 4 * kind[:, None] for _ in range(2))
    >>> seen[:30] = np.nan  # labels for the first 30, who were heard only
    >>> model = FactorMixtureClassifier(random_state=0).fit([heard, seen], np.where(np.arange(90) < 30, kind, -1))
    >>> model.predict({"view_1": seen[30:36]})
    array([0, 1, 0, 1, 0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FactorMixtureModel._parameter_constraints,
        "class_probabilities_init": ["array-like", None],
        "class_smoothing": [Interval(Real, 0, None, closed="left")],
        "classes": ["array-like", None],
        "missing_label": "no_validation",
    }

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
        class_probabilities_init: Any = None,
        class_smoothing: float = 0.0,
        init: str = "kmeans",
        standardize: Any = "auto",
        max_components: int = 20,
        n_init: int = 10,
        tol: float = 1e-4,
        max_iter: int = 500,
        classes: Any = None,
        missing_label: Any = "auto",
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
        self.class_probabilities_init = class_probabilities_init
        self.class_smoothing = class_smoothing
        self.init = init
        self.standardize = standardize
        self.max_components = max_components
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.classes = classes
        self.missing_label = missing_label
        self.view_columns = view_columns
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to views and labels.

        Parameters
        ----------
        X : whatever `Views` takes
            NaN where a feature is missing.
        y : array-like of shape (n_samples,)
            Classes; NaN, None (or ``missing_label``) where unlabeled. A Series is matched by sample id.

        Returns
        -------
        self : FactorMixtureClassifier

        Raises
        ------
        ValueError
            If no sample is labeled and ``class_probabilities_init`` is not given: nothing would tell classes apart.
        """
        self._validate_params()
        views, target = self._validate_views_target(X, y, reset=True)
        table = views.stacked()
        refuse_unseen(table, self.view_names_)
        self.classes_, codes = encode_labels(
            target, missing_label=self.missing_label, classes=self._declared_classes(target)
        )
        if self.class_probabilities_init is None and not (codes >= 0).any():
            raise ValueError(
                "No sample of y is labeled, so nothing tells the classes apart. Label at least one, give "
                "class_probabilities_init, or fit the density alone with FactorMixture."
            )
        self._fit_table(table, codes, len(self.classes_))
        self.label_distributions_ = self._class_posterior(table)
        return self

    def _declared_classes(self, target: Any) -> Any:
        """The classes given, or those that the columns of an explicit start number where y does not show all of them."""
        if self.classes is not None or self.class_probabilities_init is None:
            return self.classes
        n_classes = np.shape(self.class_probabilities_init)[-1]
        values = target_values(target)
        seen = {value for value in values[~np.asarray(pd.isna(values), dtype=bool)].tolist() if value != -1}
        return None if len(seen) == n_classes or not seen <= set(range(n_classes)) else np.arange(n_classes)

    def _class_settings(self) -> tuple[Any, float]:
        return self.class_probabilities_init, float(self.class_smoothing)

    def _check_start(self, explicit: dict[str, Any], codes: NDArray[np.int64]) -> None:
        if "class_probabilities" in explicit:
            probabilities = explicit["class_probabilities"]
            weights = explicit.get("weights", np.ones(len(probabilities)))
            check_labels_possible(probabilities, weights, codes, self.classes_.tolist())

    @property
    def transduction_(self) -> NDArray[Any]:
        """Most probable class of every training sample (n_samples,)."""
        check_is_fitted(self, "label_distributions_")
        return np.asarray(self.classes_[self.label_distributions_.argmax(axis=1)])

    def _class_posterior(self, table: Array) -> Array:
        """Equation (17)."""
        return np.asarray(self._responsibilities(table) @ self.class_probabilities_)

    def _table_and_codes(self, X: Any, y: Any) -> tuple[Array, NDArray[np.int64] | None]:
        """New rows, and the numbers of their classes where y is given."""
        check_is_fitted(self, "weights_")
        if y is None:
            return self._stacked(X, reset=False), None
        views, target = self._validate_views_target(X, y, reset=False)
        _, codes = encode_labels(target, missing_label=self.missing_label, classes=self.classes_)
        check_labels_possible(self.class_probabilities_, self.weights_, codes, self.classes_.tolist())
        return views.stacked(), codes

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class for new samples with any of the views.

        Parameters
        ----------
        X : whatever `Views` takes, n samples

        Returns
        -------
        probabilities : ndarray of shape (n, n_classes)
            Equation (17), columns in the order of ``classes_``; the prior for a sample with nothing observed.
        """
        check_is_fitted(self, "weights_")
        return self._class_posterior(self._stacked(X, reset=False))

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of new samples (n,)."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def score_samples(self, X: Any, y: Any = None) -> Array:
        """Log-likelihood of each sample (n,), in nats: of its observed features and, where y has one, of its label.

        Raises ValueError for a label that has probability 0 in every component.
        """
        return self._log_likelihoods(*self._table_and_codes(X, y))

    def responsibilities(self, X: Any, y: Any = None) -> Array:
        """P(component | observed features and, where y has one, the label), (n, n_components).

        Raises ValueError for a label that has probability 0 in every component.
        """
        return self._responsibilities(*self._table_and_codes(X, y))

    def bic(self, X: Any, y: Any = None) -> float:
        """Bayesian information criterion on views X and their labels; lower is better."""
        log_likelihoods = self.score_samples(X, y)
        count = self._n_parameters(self._parameters)
        return float(-2.0 * log_likelihoods.sum() + count * np.log(len(log_likelihoods)))

    def aic(self, X: Any, y: Any = None) -> float:
        """Akaike's information criterion on views X and their labels; lower is better."""
        return float(-2.0 * self.score_samples(X, y).sum() + 2.0 * self._n_parameters(self._parameters))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Array, NDArray[Any]]:
        """Draw complete samples with their classes.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int or RandomState, default=None
            None for that of the estimator.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Views side by side.
        y : ndarray of shape (n_samples,)
        """
        rows, components, rng = self._draw(n_samples, random_state)
        upper = self.class_probabilities_[components].cumsum(axis=1)
        drawn = (rng.uniform(size=(n_samples, 1)) * upper[:, -1:] >= upper[:, :-1]).sum(axis=1)
        return rows, np.asarray(self.classes_[drawn])
