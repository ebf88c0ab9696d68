"""Logistic regression of several views whose classifiers are to agree on samples without labels."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, LabeledClassifierMixin, MultiViewEstimator, StrOptions, check_answerable
from coview.inference import (
    LogisticDesign,
    LogisticMode,
    LogisticPosterior,
    LogisticViews,
    PrecisionTerms,
    PriorPrecisions,
    learn_logistic,
    weight_precision,
)
from coview.labels import encode_labels
from coview.linear_model._logistic_parameters import (
    affinities_of,
    class_probabilities,
    fingerprint,
    hyper_priors_of,
    logistic_posteriors,
    per_feature,
    warn_of_collapse,
    warn_of_iterations,
    with_constant,
)
from coview.views import Views, check_view_name, numbers_per_view

__all__ = ["CoRegularizedLogisticRegression"]

Array = NDArray[np.float64]


class CoRegularizedLogisticRegression(LabeledClassifierMixin, MultiViewEstimator):
    r"""One logistic regression per view, fitted together so that they agree, also where there are no labels.

    Every view has a classifier of its own. A Gaussian prior ties them: it wants the classifiers of a sample's views to give the
    same log odds, and, if asked, similar samples to get similar ones. Views may be missing, in training and in prediction.

    Parameters
    ----------
    ridge : float or array-like of shape (n_features,), default=1.0
        Prior precision :math:`\lambda_i` of the weights, views one after the other; needed where labels do not determine them.
    co_regularization : float, default=1.0
        Precision :math:`\lambda_{co}` of the difference between the log odds of two views of a sample; 0 fits views apart.
    smoothness : float, array-like of shape (n_views,) or dict by view, default=0.0
        Precision :math:`\lambda_0` of the difference between the log odds of two samples in a view, times their affinity.
    smoothness_kernel_variance : float, array-like of shape (n_views,) or dict by view, default=None
        Variance of the Gaussian affinity between samples, in squared units of the features; None for the number of features of
        each view, which suits standardized ones.
    normalize_smoothness_kernel : bool, default=True
        Whether the affinity is a density, as printed in [1]_, which is close to 0 in more than some ten features; otherwise it
        is 1 at distance 0.
    agreement_over : {"all", "unlabeled"}, default="all"
        Samples of which views must agree; with "unlabeled", as printed, a label takes its sample out of the sum.
    learn : bool, default=False
        Whether the precisions are learned, by generalized EM from weights of zero. A precision given as 0 stays out of the model.
    hyper_priors : dict, default=None
        With ``learn``: shape and rate of the gamma prior of "ridge", "co_regularization" and "smoothness"; (1, 1) by default.
    fit_intercept : bool, default=True
        Whether the classifier of each view has a constant.
    intercept_ridge : float, default=0.01
        Prior precision of these constants; it is not learned.
    tol : float, default=1e-10
        Largest change of a weight, as a share of the largest one, that ends the iterations.
    max_iter : int, default=1000
        Newton steps, or with ``learn`` iterations of EM.
    classes : array-like of shape (n_classes,), default=None
        All classes, where some have no label yet.
    missing_label : object, default="auto"
        Marks an unlabeled sample, beside NaN and None; "auto" reads -1 in integer labels so.
    no_view : {"raise", "prior"}, default="raise"
        What to do with a sample without any view: an error, or equal probabilities.
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_features,), or (n_classes, n_features) for more than two classes
        Weights, views one after the other.
    intercept_ : ndarray of shape (n_views,), or (n_classes, n_views)
    view_coef_ : dict of str to ndarray
        ``coef_`` by view.
    prior_precision_, posterior_precision_ : ndarray of shape (d, d), or (n_classes, d, d)
        Of the weights, made anew at every call; the second is that of the Laplace approximation. With intercepts the constant
        of a view stands after its features. Without ``learn`` classes share the first.
    expected_precisions_ : dict of str to ndarray
        With ``learn``: "ridge" (n_features,), "co_regularization" () and "smoothness" () or (n_views,), the expectations under
        which the weights are most probable; one more axis in front for more than two classes.
    objective_ : float, or ndarray of shape (n_classes,)
        Log posterior at the weights, unnormalized, in nats; with ``learn`` with the precisions integrated out.
    objective_trace_ : list of ndarray of shape (n_iter + 1,)
        Objective at the start and after each iteration, for each classifier; it never falls.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of the training samples.
    transduction_ : ndarray of shape (n_samples,)
        The most probable ones.
    n_iter_ : int
        Most iterations of a classifier.
    converged_ : bool

    Notes
    -----
    Equations (1)-(7) of [1]_: the labels of a sample count once for each view that it has,
    :math:`\sum_v \sum_i \log \sigma(y_i w_v^\top x_i^v)`, and the prior precision is
    :math:`\mathrm{diag}(\lambda_i) + \lambda_{co} C + \lambda_0\, \mathrm{blockdiag}(\Delta_v)`, where C sums over all pairs of
    views. Predictions average the log odds of the views that a sample has. More than two classes: one against the rest,
    probabilities scaled to sum to one. A Newton step takes time
    O(n d^2 + d^3); for a view with more features than samples d is the number of samples, and with fewer labels than weights
    only one factorization is of that order. Smoothness takes memory O(n^2). With ``learn`` every term has its own normalizer, so
    that the iterations climb a proper objective. It may have several tops; one holds all weights near zero: a warning says so.

    References
    ----------
    .. [1] B. Krishnapuram, D. Williams, Y. Xue, L. Carin, M. Figueiredo, A. Hartemink, "Active learning of features and
       labels", ICML workshop on learning with multiple views, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.linear_model import CoRegularizedLogisticRegression
    >>> views = {"a": np.array([[-2.0], [-1.0], [1.0], [2.0]]), "b": np.array([[-1.0], [-3.0], [2.0], [np.nan]])}
    >>> model = CoRegularizedLogisticRegression().fit(views, ["no", None, "yes", None])
    >>> model.transduction_.tolist(), model.predict({"b": [[3.0]]}).tolist()
    (['no', 'no', 'yes', 'yes'], ['yes'])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "ridge": [Interval(Real, 0, None, closed="left"), "array-like"],
        "co_regularization": [Interval(Real, 0, None, closed="left")],
        "smoothness": [Interval(Real, 0, None, closed="left"), "array-like", dict],
        "smoothness_kernel_variance": [Interval(Real, 0, None, closed="neither"), "array-like", dict, None],
        "normalize_smoothness_kernel": ["boolean"],
        "agreement_over": [StrOptions({"all", "unlabeled"})],
        "learn": ["boolean"],
        "hyper_priors": [dict, None],
        "fit_intercept": ["boolean"],
        "intercept_ridge": [Interval(Real, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "no_view": [StrOptions({"raise", "prior"})],
        "view_columns": [dict, None],
    }

    def __init__(
        self,
        *,
        ridge: Any = 1.0,
        co_regularization: float = 1.0,
        smoothness: Any = 0.0,
        smoothness_kernel_variance: Any = None,
        normalize_smoothness_kernel: bool = True,
        agreement_over: str = "all",
        learn: bool = False,
        hyper_priors: Any = None,
        fit_intercept: bool = True,
        intercept_ridge: float = 0.01,
        tol: float = 1e-10,
        max_iter: int = 1000,
        classes: Any = None,
        missing_label: Any = "auto",
        no_view: str = "raise",
        view_columns: Any = None,
    ) -> None:
        self.ridge = ridge
        self.co_regularization = co_regularization
        self.smoothness = smoothness
        self.smoothness_kernel_variance = smoothness_kernel_variance
        self.normalize_smoothness_kernel = normalize_smoothness_kernel
        self.agreement_over = agreement_over
        self.learn = learn
        self.hyper_priors = hyper_priors
        self.fit_intercept = fit_intercept
        self.intercept_ridge = intercept_ridge
        self.tol = tol
        self.max_iter = max_iter
        self.classes = classes
        self.missing_label = missing_label
        self.no_view = no_view
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
        self : CoRegularizedLogisticRegression

        Raises
        ------
        ViewError
            If a sample has no view and ``no_view="raise"``.
        NotPositiveDefiniteError
            If neither labels nor the prior determine some weight, which takes a ridge of 0.
        """
        self._validate_params()
        views, target = self._validate_views_target(X, y, reset=True)
        self.classes_, codes = encode_labels(
            target, missing_label=self.missing_label, classes=self.classes, min_classes=2
        )
        remedy = "Drop these samples, or set no_view='prior'."
        check_answerable(np.asarray(views.presence.any(axis=1)), views, self.no_view, remedy)
        self._seen_views = np.asarray(views.presence.any(axis=0))
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        signs = [np.where(codes == c, 1.0, -1.0) for c in positives]
        terms = self._terms(self._samples(views, codes >= 0))
        if self.learn:
            self._fit_learned(terms, signs, codes >= 0)
        else:
            self._fit_fixed(terms, signs, codes >= 0)
        odds = self._view_odds(views)
        if self.learn:
            warn_of_collapse(type(self).__name__, odds)
        self.label_distributions_ = class_probabilities(odds)
        self._fitted_to = fingerprint(views, codes)
        return self

    def _samples(self, views: Views, labeled: NDArray[np.bool_]) -> LogisticViews:
        """The views with constants and affinities."""
        smooth = numbers_per_view(self.smoothness, views.names, "smoothness") > 0.0
        self._kernel_variances, affinities = affinities_of(
            views, smooth, self.smoothness_kernel_variance, normalized=self.normalize_smoothness_kernel
        )
        blocks = tuple(with_constant(views[name]) if self.fit_intercept else views[name] for name in views.names)
        agreeing = np.ones(len(views), dtype=bool) if self.agreement_over == "all" else ~labeled
        return LogisticViews(blocks, tuple(map(views.rows, views.names)), len(views), agreeing, affinities)

    def _terms(self, samples: LogisticViews) -> PrecisionTerms:
        """The precisions as given, and which are to be learned."""
        own = per_feature(self.ridge, self.view_n_features_, "ridge")
        if self.fit_intercept:
            own = [np.append(part, self.intercept_ridge) for part in own]
        ridge, smoothness = np.concatenate(own), numbers_per_view(self.smoothness, self.view_names_, "smoothness")
        fixed = PriorPrecisions(ridge, float(self.co_regularization), smoothness)
        return PrecisionTerms(
            samples,
            hyper_priors_of(self.hyper_priors),
            fixed,
            ridge=(ridge > 0.0) & self._is_feature(),
            agreement=self.co_regularization > 0.0,
            smoothness=bool(smoothness.any()),
            shared=np.ndim(self.smoothness) == 0 and not isinstance(self.smoothness, dict),
        )

    def _is_feature(self) -> NDArray[np.bool_]:
        """Which weights belong to features, not to constants (d,)."""
        parts = [np.append(np.ones(width, dtype=bool), [False] * self.fit_intercept) for width in self._widths()]
        return np.concatenate(parts).astype(bool)

    def _widths(self) -> list[int]:
        return [self.view_n_features_[name] for name in self.view_names_]

    def _fit_fixed(self, terms: PrecisionTerms, signs: list[Array], labeled: NDArray[np.bool_]) -> None:
        design = LogisticDesign(terms.views.prior(terms.fixed), labeled)
        modes = [design.maximize(y, tol=self.tol, max_iter=self.max_iter) for y in signs]
        self._store([mode.trace for mode in modes], [mode.converged for mode in modes])
        self._warn_unless_converged([mode.change for mode in modes])
        self._store_weights(modes, [design], [terms.fixed])
        self.__dict__.pop("expected_precisions_", None)

    def _fit_learned(self, terms: PrecisionTerms, signs: list[Array], labeled: NDArray[np.bool_]) -> None:
        fits = [learn_logistic(terms, y, labeled, tol=self.tol, max_iter=self.max_iter) for y in signs]
        self._store([fit.trace for fit in fits], [fit.converged for fit in fits])
        self._warn_unless_converged([fit.change for fit in fits])
        self._store_weights(*([getattr(fit, part) for fit in fits] for part in ("mode", "design", "precisions")))
        one = slice(0, 1) if terms.shared else slice(None)
        expected = {
            "ridge": [fit.precisions.ridge[self._is_feature()] for fit in fits],
            "co_regularization": [np.asarray(fit.precisions.agreement) for fit in fits],
            "smoothness": [fit.precisions.smoothness[one].squeeze() for fit in fits],
        }
        self.expected_precisions_ = {name: self._outward(np.stack(values)) for name, values in expected.items()}

    def _store(self, traces: list[Array], converged: list[bool]) -> None:
        last = np.array([trace[-1] for trace in traces])
        self.objective_ = float(last[0]) if len(last) == 1 else last
        self.objective_trace_ = traces
        self.n_iter_ = max(len(trace) - 1 for trace in traces)
        self.converged_ = all(converged)

    def _warn_unless_converged(self, changes: list[float]) -> None:
        if not self.converged_:
            warn_of_iterations(type(self).__name__, self.n_iter_, max(changes), self.tol)

    def _store_weights(
        self, modes: list[LogisticMode], designs: list[LogisticDesign], precisions: list[PriorPrecisions]
    ) -> None:
        weights, features = np.stack([mode.weights for mode in modes]), self._is_feature()
        self.coef_ = self._outward(weights[:, features])
        constants = weights[:, ~features] if self.fit_intercept else np.zeros((len(modes), len(self.view_names_)))
        self.intercept_ = self._outward(constants)
        self._ridges = [design.prior.coordinates.feature_ridge for design in designs]
        self._lifts = [list(design.prior.coordinates.lifts) for design in designs]
        self._prior_parts = [design.prior.part for design in designs]
        self._agreements = np.array([given.agreement for given in precisions])
        self._smoothnesses = np.stack([given.smoothness for given in precisions])
        each = designs * len(modes) if len(designs) == 1 else designs
        self._posterior_parts = [d.posterior_part(mode.curvatures) for d, mode in zip(each, modes, strict=True)]

    def _outward(self, values: Array) -> Any:
        """Without the axis of classifiers where there is one."""
        return values[0] if len(values) == 1 else values

    def _precisions(self, parts: list[Array]) -> Array:
        check_is_fitted(self, "coef_")
        widths = [width + self.fit_intercept for width in self._widths()]
        one = len(self._ridges) == 1
        made = [
            weight_precision(self._ridges[k], part, widths, self._lifts[k])
            for part, k in ((part, 0 if one else k) for k, part in enumerate(parts))
        ]
        return np.asarray(self._outward(np.stack(made)))

    @property
    def prior_precision_(self) -> Array:
        """Prior precision of the weights."""
        check_is_fitted(self, "coef_")
        return self._precisions(self._prior_parts)

    @property
    def posterior_precision_(self) -> Array:
        """Posterior precision of the weights, by Laplace's approximation, precisions of the prior held fixed."""
        check_is_fitted(self, "coef_")
        return self._precisions(self._posterior_parts)

    def weight_posterior(self) -> tuple[LogisticPosterior, ...]:
        """Posterior of the weights of each classifier, with the precisions that it rests on; for utilities of further data.

        Returns
        -------
        posteriors : tuple of LogisticPosterior
            One for two classes, otherwise one per class, against the rest.
        """
        check_is_fitted(self, "coef_")
        shape = (-1, *self.posterior_precision_.shape[-2:])
        features, constants = [np.atleast_2d(part) for part in self.view_coef_.values()], np.atleast_2d(self.intercept_)
        return logistic_posteriors(
            features,
            constants if self.fit_intercept else None,
            self.posterior_precision_.reshape(shape),
            self._agreements,
            self._smoothnesses,
            (self._kernel_variances, bool(self.normalize_smoothness_kernel)),
        )

    def was_fitted_to(self, X: Any, y: Any) -> bool:
        """Whether the model was fitted to just these data."""
        check_is_fitted(self, "coef_")
        try:
            views, target = self._validate_views_target(X, y, reset=False)
            _, codes = encode_labels(target, missing_label=self.missing_label, classes=self.classes_)
        except ValueError:
            return False
        return fingerprint(views, codes) == self._fitted_to

    @property
    def view_coef_(self) -> dict[str, Array]:
        """Weights of each view."""
        check_is_fitted(self, "coef_")
        parts = np.split(self.coef_, np.cumsum(self._widths())[:-1], axis=-1)
        return dict(zip(self.view_names_, parts, strict=True))

    @property
    def transduction_(self) -> NDArray[Any]:
        """Most probable class of every training sample (n_samples,)."""
        check_is_fitted(self, "label_distributions_")
        return np.asarray(self.classes_[self.label_distributions_.argmax(axis=1)])

    def decision_function(self, X: Any, *, view: str | None = None) -> Array:
        """Log odds of new samples, averaged over the views that they have.

        Parameters
        ----------
        X : Views or anything that Views takes
        view : str, default=None
            The classifier of this view alone.

        Returns
        -------
        log_odds : ndarray of shape (n_samples,), or (n_samples, n_classes) of each class against the rest
        """
        odds = self._new_odds(X, view)
        return odds[:, 0] if odds.shape[1] == 1 else odds

    def predict_proba(self, X: Any, *, view: str | None = None) -> Array:
        """Probability of each class for new samples with any of the views.

        Parameters
        ----------
        X : Views or anything that Views takes
        view : str, default=None
            By the classifier of this view alone.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return class_probabilities(self._new_odds(X, view))

    def predict(self, X: Any, *, view: str | None = None) -> NDArray[Any]:
        """Most probable class of new samples (n_samples,)."""
        best = self.predict_proba(X, view=view).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _new_odds(self, X: Any, view: str | None) -> Array:
        check_is_fitted(self, "coef_")
        views = self._validate_views(X, reset=False)
        check_view_name(view, self.view_names_)
        return self._view_odds(views, view)

    def _view_odds(self, views: Views, view: str | None = None) -> Array:
        """Log odds (n_samples, n_classifiers) averaged over the views at hand that training had."""
        coefficients, constants = np.atleast_2d(self.coef_), np.atleast_2d(self.intercept_)
        parts = np.split(coefficients, np.cumsum(self._widths())[:-1], axis=1)
        total, count = np.zeros((len(views), len(coefficients))), np.zeros(len(views))
        for j, (name, part) in enumerate(zip(self.view_names_, parts, strict=True)):
            if self._seen_views[j] and view in (None, name):
                rows = views.rows(name)
                total[rows] += views[name] @ part.T + constants[:, j]
                count[rows] += 1.0
        check_answerable(count > 0.0, views, self.no_view, "Give them a view, or fit with no_view='prior'.")
        return np.asarray(total / np.maximum(count, 1.0)[:, None])
