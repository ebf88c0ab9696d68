"""Gaussian mixtures of incomplete views, one for each class, learned from labeled and unlabeled samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, LabeledClassifierMixin, StrOptions
from coview.inference import (
    EMRun,
    EstimationRules,
    GaussianMixtureEM,
    GaussianMixtureParameters,
    clustered_gaussian_start,
    labeled_gaussian_start,
    warn_unless_converged,
)
from coview.labels import encode_labels
from coview.mixture._base import refuse_unseen
from coview.mixture._class_parameters import read_class_components, read_class_prior
from coview.mixture._conditional_mixture import ConditionalMixture
from coview.mixture._gaussian_density import GaussianDensity
from coview.mixture._gaussian_fitting import (
    estimation_rules,
    fit_best_size,
    follow_best_start,
    follow_last_solution,
    warn_of_spikes,
)

__all__ = ["ClassConditionalGaussianMixture"]

Array = NDArray[np.float64]

#: What component_classes_ holds for a component of all classes.
_SHARED = -1


class ClassConditionalGaussianMixture(LabeledClassifierMixin, GaussianDensity):
    r"""Density of views given the class, and of the class given any of them: one Gaussian mixture per class.

    It is fitted to labeled and unlabeled samples with any views and single features missing, and says what a missing view may
    hold, by :meth:`conditional`: the density that decides what to measure next. It is also a classifier, for any subset of
    views.

    Parameters
    ----------
    n_components : int or "auto", default=1
        Of each class. "auto" raises the number until BIC has not improved twice, among those whose components have at least
        twice as many samples as features to estimate a covariance from. A warning names features of few values, such as 0
        and 1, that it followed until a component held one of them.
    covariance_type : {"view", "full", "diag"}, default="view"
        Views that are independent given the component, as in [1]_; any covariance; independent features.
    pooling : {"auto", "none", "covariance", "density"}, default="auto"
        What the classes share: "covariance", one covariance for all components of all classes; "density", everything, so that
        the label says nothing of the views (nor they of the label). "auto": "covariance" where a class has fewer than
        ``min_labels`` labels.
    min_labels : int, default=10
    reg_covar : float, default=None
        Added to every variance in each iteration, in squared units of the features; None for 1e-6 of the variance of each
        feature.
    tol : float, default=1e-3
        Change of the log likelihood per sample, in nats, that ends the iterations.
    max_iter : int, default=500
    n_init : int, default=3
        Starts. Each is followed for 30 iterations, the best of them to its end; one where each class has one component.
    max_components : int, default=10
        Most components of a class that "auto" tries.
    warm_start : bool, default=False
        Whether a fit starts where the last one of this object ended, with its number of components, and looks for convergence
        at once: for data that have changed a little. Other classes, features or pooling start anew.
    classes : array-like of shape (n_classes,), default=None
        All classes, also those not yet seen; None for the observed ones.
    missing_label : object, default="auto"
        Marks an unlabeled sample, beside NaN and None; "auto" reads -1 in integer labels so.
    random_state : int or RandomState, default=None
    n_jobs : int, default=None
        Starts followed at a time, in threads.
    verbose : int, default=0
        Above 0, one line for each number of components.
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    weights_ : ndarray of shape (n_components,)
        Of all components of all classes: class prior times weight within the class.
    means_ : ndarray of shape (n_components, n_features)
    covariances_ : ndarray of shape (n_components, n_features, n_features)
    component_classes_ : ndarray of int of shape (n_components,)
        Position in ``classes_`` of the class of each component; -1 where all classes share it.
    n_components_ : int
        Of all classes together.
    pooling_ : {"none", "covariance", "density"}
        What is shared.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Probabilities of the classes of the training samples, given what is observed of them.
    transduction_ : ndarray of shape (n_samples,)
        The most probable ones.
    log_likelihood_trace_ : ndarray of shape (n_iter + 1,)
        Joint log likelihood of observed features and labels before each iteration and after the last one, in nats.
    lower_bound_ : float
        The last one, per sample.
    n_iter_ : int
    converged_ : bool
    bic_by_n_components_ : dict of int to float
        BIC of the numbers tried; empty unless ``n_components="auto"``.

    See Also
    --------
    IncompleteGaussianMixture : The same without classes.

    Notes
    -----
    Equation (18) of [1]_, :math:`p(x \mid y) = \sum_c \pi_c \prod_j N(x^j \mid \mu_c^j, \Sigma_c^j)`; for an unlabeled sample
    with the classes weighted by :math:`p(y \mid x^O)`, and not by :math:`p(y)` as printed. It is one mixture of the components
    of all classes, in which a label rules out those of other classes; EM as in :class:`IncompleteGaussianMixture`, at the same
    cost. A sample that lacks a whole view takes no part in the estimates of that view.

    References
    ----------
    .. [1] S. Yu, B. Krishnapuram, R. Rosales, R. B. Rao, "Active sensing", AISTATS 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.mixture import ClassConditionalGaussianMixture
    >>> views = {"a": np.array([[0.0], [0.2], [4.0], [4.1], [3.9]]), "b": np.array([[1.0], [1.1], [7.0], [7.1], [np.nan]])}
    >>> model = ClassConditionalGaussianMixture().fit(views, ["no", None, "yes", "yes", None])
    >>> model.predict(views).tolist(), model.conditional(views).mean()[4].round(1)
    (['no', 'no', 'yes', 'yes', 'yes'], array([3.9, 7. ]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "covariance_type": [StrOptions({"view", "full", "diag"})],
        "pooling": [StrOptions({"auto", "none", "covariance", "density"})],
        "min_labels": [Interval(Integral, 0, None, closed="left")],
        "reg_covar": [Interval(Real, 0, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_components": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "view_columns": [dict, None],
    }

    def __init__(
        self,
        n_components: int | str = 1,
        *,
        covariance_type: str = "view",
        pooling: str = "auto",
        min_labels: int = 10,
        reg_covar: float | None = None,
        tol: float = 1e-3,
        max_iter: int = 500,
        n_init: int = 3,
        max_components: int = 10,
        warm_start: bool = False,
        classes: Any = None,
        missing_label: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        view_columns: Any = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.pooling = pooling
        self.min_labels = min_labels
        self.reg_covar = reg_covar
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.max_components = max_components
        self.warm_start = warm_start
        self.classes = classes
        self.missing_label = missing_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.view_columns = view_columns

    @classmethod
    def from_parameters(
        cls,
        class_prior: Mapping[Any, float] | ArrayLike,
        components: Mapping[Any, tuple[Any, Any, Any]],
        *,
        view_names: Sequence[str] | None = None,
    ) -> Self:
        """A density with known parameters, as if fitted.

        Parameters
        ----------
        class_prior : dict of class to probability, or array-like in the order of ``components``
        components : dict of class to (weights, means, covariances)
            Weights of the components of the class, summing to one; for every view its means, of shape (n_components,
            n_features), and covariances, of shape (n_components, n_features, n_features). Means and covariances may also be
            lists over components of lists over views.
        view_names : sequence of str, default=None
            With names, views are matched by name and may be absent; otherwise samples must have all views, in this order.

        Returns
        -------
        density : ClassConditionalGaussianMixture
        """
        classes, of_class, widths = read_class_components(components)
        prior = read_class_prior(class_prior, list(components), classes)
        density = cls(covariance_type="view", pooling="none")
        if view_names is not None and len(view_names) != len(widths):
            raise ValueError(f"view_names must name each of the {len(widths)} views; got {list(view_names)}.")
        density._adopt_views(widths if view_names is None else dict(zip(view_names, widths, strict=True)))
        density.classes_, density.class_prior_, density.pooling_ = classes, prior, "none"
        density.weights_ = np.concatenate([p * part.weights for p, part in zip(prior, of_class, strict=True)])
        density.means_ = np.concatenate([part.means for part in of_class])
        density._covariances = np.concatenate([part.covariances for part in of_class])
        density.component_classes_ = np.repeat(np.arange(len(classes)), [len(part.weights) for part in of_class])
        density.n_components_ = len(density.weights_)
        return density

    def fit(self, X: Any, y: Any) -> Self:
        """Maximize the joint likelihood of observed features and labels.

        Parameters
        ----------
        X : Views or anything that Views takes
            Samples; NaN where a feature is missing.
        y : array-like of shape (n_samples,)
            Classes; see ``missing_label`` for unlabeled samples.

        Returns
        -------
        self : ClassConditionalGaussianMixture
        """
        self._validate_params()
        views, y = self._validate_views_target(X, y, reset=True)
        table, before = views.stacked(), vars(self).get("classes_")
        refuse_unseen(table, self.view_names_)
        self.classes_, codes = encode_labels(y, missing_label=self.missing_label, classes=self.classes)
        if (codes < 0).all():
            raise ValueError("No sample of y is labeled, so the classes cannot be told apart. Label at least one.")
        n_labels = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        self.pooling_ = self._chosen_pooling(n_labels)
        last = self._last_solution()
        if last is not None and self._continues(before, n_labels):
            em = self._em(table, codes, self._components_of_each())
            run = follow_last_solution(em, last, tol=self.tol, max_iter=self.max_iter)
        else:
            run, self.bic_by_n_components_ = self._best_run(table, codes, check_random_state(self.random_state))
        warn_unless_converged(run, tol=self.tol, name=type(self).__name__)
        if self.n_components == "auto":
            warn_of_spikes(run.parameters, table, self._feature_labels(), name=type(self).__name__)
        self._store(run, n_labels, len(table))
        self.label_distributions_ = self._class_probabilities(table)
        return self

    def _chosen_pooling(self, n_labels: NDArray[np.intp]) -> str:
        if self.pooling != "auto":
            return self.pooling
        return "covariance" if len(n_labels) > 1 and n_labels.min() < self.min_labels else "none"

    def _best_run(
        self, table: Array, codes: NDArray[np.int64], rng: np.random.RandomState
    ) -> tuple[EMRun[GaussianMixtureParameters], dict[int, float]]:
        """The best run of the number of components asked for, or of the best number."""
        shared, n_classes = self.pooling_ == "density", len(self.classes_)

        def fit(n_components: int, needs_determined: bool) -> EMRun[GaussianMixtureParameters]:
            em = self._em(table, codes, n_components)
            starts = [
                clustered_gaussian_start(em, n_components, rng)
                if shared
                else labeled_gaussian_start(em, codes, n_classes, n_components, rng)
                for _ in range(1 if n_components == 1 else self.n_init)
            ]
            settings: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, "n_jobs": self.n_jobs}
            run = follow_best_start(em, starts, **settings, needs_determined=needs_determined)
            if self.verbose:
                print(f"{n_components} components: {run.objective:.6g} nats per sample after {run.n_iter} iterations")
            return run

        em = GaussianMixtureEM(table, self._blocks(), self._rules(table))
        groups = 1 if shared else n_classes
        return fit_best_size(fit, em, self.n_components, largest=self.max_components, n_classes=groups)

    def _rules(self, table: Array) -> EstimationRules:
        return estimation_rules(self.reg_covar, table, tied=self.pooling_ == "covariance", drop_unobserved=True)

    def _em(self, table: Array, codes: NDArray[np.int64], n_components: int) -> GaussianMixtureEM:
        """With as many components of each class (or of all together), of which labels rule out those of other classes."""
        owners = np.repeat(np.arange(len(self.classes_)), n_components)[:, None]
        allowed = None if self.pooling_ == "density" else (owners == codes) | (codes < 0)
        return GaussianMixtureEM(table, self._blocks(), self._rules(table), allowed=allowed)

    def _components_of_each(self) -> int:
        """Components of one class, or of all together, in the last fit."""
        shared = bool((self.component_classes_ == _SHARED).all())
        return int(self.n_components_ if shared else self.n_components_ // len(self.classes_))

    def _continues(self, classes: Any, n_labels: NDArray[np.intp]) -> bool:
        """Whether a fit can start at the last one: of the same classes, each with weight where it has labels."""
        if classes is None or list(classes) != list(self.classes_):
            return False
        shared = bool((self.component_classes_ == _SHARED).all())
        if shared != (self.pooling_ == "density"):
            return False
        size = self._components_of_each()
        regular = shared or bool((np.bincount(self.component_classes_, minlength=len(self.classes_)) == size).all())
        asked = self.n_components in ("auto", size)
        return regular and asked and bool((self.class_prior_[n_labels > 0] > 0.0).all())

    def _store(self, run: EMRun[GaussianMixtureParameters], n_labels: NDArray[np.intp], n_samples: int) -> None:
        parameters, n_classes = run.parameters, len(self.classes_)
        self.weights_, self.means_, self._covariances = parameters.weights, parameters.means, parameters.covariances
        self.n_components_ = len(parameters.weights)
        if self.pooling_ == "density":
            self.component_classes_ = np.full(self.n_components_, _SHARED)
            self.class_prior_ = n_labels / n_labels.sum()
        else:
            self.component_classes_ = np.repeat(np.arange(n_classes), self.n_components_ // n_classes)
            self.class_prior_ = np.bincount(self.component_classes_, parameters.weights, minlength=n_classes)
        self.log_likelihood_trace_ = run.trace * n_samples
        self.lower_bound_, self.n_iter_, self.converged_ = run.objective, run.n_iter, run.converged

    @property
    def transduction_(self) -> NDArray[Any]:
        """Most probable classes of the training samples, (n_samples,)."""
        check_is_fitted(self, "label_distributions_")
        return np.asarray(self.classes_[self.label_distributions_.argmax(axis=1)])

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each sample.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class given what is observed.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            ``class_prior_`` for a sample with nothing observed.
        """
        return self._class_probabilities(self._known_table(X))

    def conditional(self, X: Any, y: Any = None) -> ConditionalMixture:
        """Distribution of the missing features of each sample, given its observed ones and, where it is known, its class.

        Parameters
        ----------
        X : Views or anything that Views takes
        y : array-like of shape (n_samples,), default=None
            Classes; unlabeled samples, and all if None, mix the classes by their probability given what is observed.

        Returns
        -------
        conditional : ConditionalMixture
            A sequence with one mixture per sample, over the components of all classes.
        """
        check_is_fitted(self, "weights_")
        views, y = (
            (self._validate_views(X, reset=False), None)
            if y is None
            else self._validate_views_target(X, y, reset=False)
        )
        table = views.stacked()
        return self._conditional(table, self._posterior(table, None if y is None else self._allowed(y))[0])

    def sample(self, n_samples: int = 1) -> tuple[Array, NDArray[Any]]:
        """Samples and their classes, by ``random_state``.

        Parameters
        ----------
        n_samples : int, default=1

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
        """
        rows, components = self._draw(n_samples)
        rng = check_random_state(self.random_state)
        shared = rng.choice(len(self.classes_), size=n_samples, p=self.class_prior_ / self.class_prior_.sum())
        owners = self.component_classes_[components]
        return rows, np.asarray(self.classes_[np.where(owners == _SHARED, shared, owners)])

    def _class_probabilities(self, table: Array) -> Array:
        """Class probabilities of the components, mixed by responsibility."""
        n_classes = len(self.classes_)
        of_component = (self.component_classes_[:, None] == np.arange(n_classes)).astype(np.float64)
        of_component[self.component_classes_ == _SHARED] = self.class_prior_
        probabilities = self._posterior(table)[0] @ of_component
        return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))

    def _allowed(self, y: Any) -> NDArray[np.bool_]:
        """Components that the classes leave open, (n_components, n_samples)."""
        _, codes = encode_labels(y, missing_label=self.missing_label, classes=self.classes_)
        if (self.class_prior_[codes[codes >= 0]] <= 0.0).any():
            impossible = self.classes_[self.class_prior_ <= 0.0]
            raise ValueError(f"y holds classes of probability 0: {impossible.tolist()}. Fit with samples of them.")
        owners = self.component_classes_[:, None]
        return np.asarray((owners == codes) | (codes < 0) | (owners == _SHARED))
