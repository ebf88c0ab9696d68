"""Mixtures of several views, fitted by co-EM."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from coview.base import Interval, StrOptions
from coview.inference import (
    GIVEN_START_PLATEAU,
    CoEM,
    CoEMState,
    EMRun,
    ViewSamples,
    best_em_run,
    clustered_responsibilities,
    comparable_rows,
    labeled_responsibilities,
    random_responsibilities,
    warn_unless_converged,
)
from coview.labels import encode_labels
from coview.mixture._co_em_inputs import (
    categories,
    given_parameters,
    given_start,
    real_numbers,
)
from coview.mixture._co_em_model import CoEMModel, first_largest, warn_of_empty_components
from coview.views import Views

__all__ = ["CoEMMixture"]

Array = NDArray[np.float64]


class CoEMMixture(CoEMModel):
    r"""Mixture of several views whose components agree across views, for clusters, densities and classes.

    Every view has a mixture of its own, of word counts, of real numbers or of categories. Each is fitted to the
    posteriors of the other views, so that component j means the same samples in all of them. With labels, samples are
    held in the components of their class, and the mixture is a semi-supervised classifier.

    Parameters
    ----------
    n_components : int, default=None
        Number of components. With labels there is at least one for each class, and None means just that; without labels it
        must be given.
    distributions : str, list of str or dict, default=None
        ``"multinomial"`` (counts, fractions allowed), ``"gaussian"`` or ``"categorical"`` (codes 0, 1, 2, … with NaN where
        a feature is missing) for all views, for each, or by name; views left out, and all of them with None, are
        multinomial where sparse and Gaussian where dense.
    consensus : float in [0, 1], default=1.0
        Weight :math:`\eta` of the other views; 0 is EM in each view, from a common start.
    anneal : int, default=0
        Number of sweeps in which the weight falls linearly to zero: :math:`\eta_t = \eta \max(0, 1 - t / T)`. The fit then
        ends at a maximum of the sum of the views' log likelihoods. 0 keeps the weight as it is.
    shared_prior : bool, default=True
        One prior of the components for all views, rather than one for each.
    schedule : {"sequential", "parallel"}, default="sequential"
        Whether each view's step follows the newest parameters of all views, or one expectation step serves all.
    covariance_type : {"full", "diag", "spherical"}, default="full"
        Covariances of Gaussian views.
    smoothing : float, default=1.0
        Pseudo-count added to every expected count of words and categories. Where a view has many words and samples have few
        of them, small components lose their shape at 1, and with it their samples; 0.1 or less keeps them.
    reg_covar : float, default=None
        Added to every variance of Gaussian views; None for a millionth of the variance of the feature.
    init : {"kmeans", "random"}, default="kmeans"
        Start of every run, one for all views: clusters of the views side by side (tf-idf weights, standardized features),
        or components drawn at random for the samples. With labels unlabeled samples start in the class whose labeled samples
        have the nearest mean.
    n_init : int, default=10
        Number of starts; kept is the run whose model of all views together, independent given the component, ends at the
        largest likelihood. One where the start is given or follows from the labels: one component for each class.
    tol : float, default=1e-6
        Relative change of the criterion between sweeps that ends a run, once annealing has ended. Convergence is not looked
        for in the first 10 sweeps, nor in the first 50 from ``params_init``.
    max_iter : int, default=200
        Largest number of sweeps; 0 keeps the start. Without smoothing the criterion may be minus infinity, where a view
        is voted into a component that excludes one of its words; such a run ends here.
    params_init : list or dict of dict, default=None
        Start of every view: ``{"theta": (n_components, n_words)}``, ``{"means": (n_components, n_features),
        "covariances": (n_components, n_features, n_features)}`` or ``{"probabilities": [(n_components, n_categories), …]}``.
        A list in the order of the views, a dict by name, or ``{"params": …, "priors": …}``.
    weights_init : array-like of shape (n_components,) or (n_views, n_components), default=None
        Priors at the start; uniform beside ``params_init`` without any.
    missing_label : object, default="auto"
        What marks a sample without label besides NaN and None; see :func:`coview.labels.encode_labels`.
    classes : array-like, default=None
        All classes, where some have no label yet; those have probability zero.
    random_state : int, RandomState or None, default=None
    n_jobs : int, default=None
        Starts followed at a time, in threads.
    verbose : int, default=0
        1 prints a line for every start.
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    params_ : list of dict
        Parameters of every view, in the form of ``params_init``; covariances always as matrices.
    weights_ : ndarray of shape (n_components,), or (n_views, n_components) unless the prior is shared
    labels_ : ndarray of shape (n_samples,)
        Component of every training sample by equation (19); labeled ones stay with their class.
    criterion_ : float
        Multi-view criterion :math:`Q(\Theta_{t+1}, \Theta_t)` of the last sweep, in nats.
    criterion_terms_ : dict
        ``sum_q_single_view``, ``delta``, ``q_multi_view`` and, equal to it, ``q_theorem1``.
    criterion_trace_ : ndarray of shape (n_iter + 1,)
        Criterion at the start and of every sweep.
    consensus_ : float
        Weight of the other views in the last sweep.
    distributions_ : list of str
    n_components_ : int
    n_iter_ : int
    converged_ : bool
    classes_ : ndarray of shape (n_classes,)
        Only with labels.
    component_classes_ : ndarray of shape (n_components,)
        Number of the class of each component, only with labels: components are dealt to the classes in turn.

    Raises
    ------
    ViewError
        If a multinomial view has negative values, a Gaussian one is sparse or misses single features, or a categorical one
        has values that are no codes.

    Warns
    -----
    ConvergenceWarning
        If the best run did not converge.
    UserWarning
        If components are left without samples.

    Notes
    -----
    Equations (12) to (19) and (22) of [1]_ with its errata mended: absent views are left out of every average, and with
    one view the method is EM. For a fixed weight above zero neither the criterion nor the likelihood rises with every
    sweep. A sample whose views are all missing has the prior; a view of a new sample that no component can have made
    (only without smoothing) says nothing of it. Words and categories not met in training count as the pseudo-count says, a
    category as a missing feature. Components without mass keep their parameters.

    A sweep costs two products of each view with a matrix of ``n_components`` columns; full covariances cost
    O(n_samples n_features^2) per component. Counts stay sparse.

    References
    ----------
    .. [1] Bickel, S., and Scheffer, T. (2005). Estimation of mixture models using co-EM. ICML workshop Learning with
       Multiple Views.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.mixture import CoEMMixture
    >>> words, links = np.array([[3, 1, 0], [2, 2, 0], [0, 1, 4], [0, 0, 2]]), np.array([[2, 0], [1, 0], [0, 3], [0, 1]])
    >>> labels = CoEMMixture(2, distributions="multinomial", random_state=0).fit_predict([words, links])
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "distributions": [str, "array-like", dict, None],
        "consensus": [Interval(numbers.Real, 0, 1, closed="both")],
        "anneal": [Interval(numbers.Integral, 0, None, closed="left")],
        "shared_prior": ["boolean"],
        "schedule": [StrOptions({"sequential", "parallel"})],
        "covariance_type": [StrOptions({"full", "diag", "spherical"})],
        "smoothing": [Interval(numbers.Real, 0, None, closed="left")],
        "reg_covar": [Interval(numbers.Real, 0, None, closed="left"), None],
        "init": [StrOptions({"kmeans", "random"})],
        "n_init": [Interval(numbers.Integral, 1, None, closed="left")],
        "tol": [Interval(numbers.Real, 0, None, closed="left")],
        "max_iter": [Interval(numbers.Integral, 0, None, closed="left")],
        "params_init": [list, tuple, dict, None],
        "weights_init": ["array-like", None],
        "classes": ["array-like", None],
        "random_state": ["random_state"],
        "n_jobs": [numbers.Integral, None],
        "verbose": ["verbose"],
        "view_columns": [dict, None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        distributions: Any = None,
        consensus: float = 1.0,
        anneal: int = 0,
        shared_prior: bool = True,
        schedule: str = "sequential",
        covariance_type: str = "full",
        smoothing: float = 1.0,
        reg_covar: float | None = None,
        init: str = "kmeans",
        n_init: int = 10,
        tol: float = 1e-6,
        max_iter: int = 200,
        params_init: Any = None,
        weights_init: Any = None,
        missing_label: Any = "auto",
        classes: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        view_columns: Any = None,
    ) -> None:
        self.n_components = n_components
        self.distributions = distributions
        self.consensus = consensus
        self.anneal = anneal
        self.shared_prior = shared_prior
        self.schedule = schedule
        self.covariance_type = covariance_type
        self.smoothing = smoothing
        self.reg_covar = reg_covar
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.params_init = params_init
        self.weights_init = weights_init
        self.missing_label = missing_label
        self.classes = classes
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.view_columns = view_columns

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags

    def fit(self, X: Any, y: Any = None) -> CoEMMixture:
        """Fit the mixture, to labels too where there are any.

        Parameters
        ----------
        X : whatever `Views` takes
        y : array-like of shape (n_samples,), default=None
            Classes; see ``missing_label`` for samples without one. None fits clusters.

        Returns
        -------
        self : CoEMMixture
        """
        self._validate_params()
        views, target = self._validate_views_target(X, y, reset=True)
        if not views.presence.any():
            raise ValueError("No sample has any view. Give at least one.")
        codes = self._read_classes(target)
        samples = self._learn_distributions(views)
        problem = CoEM(
            samples,
            len(views),
            consensus=float(self.consensus),
            annealing=int(self.anneal),
            shared_prior=self.shared_prior,
            sequential=self.schedule == "sequential",
            allowed=None if codes is None else (codes[:, None] < 0) | (codes[:, None] == self.component_classes_),
        )
        run = best_em_run(lambda start: self._run(problem, start), self._starts(problem, codes), n_jobs=self.n_jobs)
        warn_unless_converged(run, tol=self.tol, name="CoEMMixture")
        self._store(problem, run)
        if self.weights_init is None and self.max_iter:
            used = None if codes is None else np.isin(self.component_classes_, codes)
            warn_of_empty_components(self._priors, len(views), used, smoothing=self.smoothing)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[Any]:
        """Fit, then component (or class, with labels) of every sample of X, of shape (n_samples,)."""
        return self.fit(X, y).predict(X)

    def _read_classes(self, target: Any) -> NDArray[np.int64] | None:
        """Class of each sample, -1 where unlabeled; deals the components to the classes."""
        for name in ("classes_", "component_classes_"):
            self.__dict__.pop(name, None)
        if target is None:
            if self.n_components is None:
                raise ValueError(
                    "CoEMMixture(n_components=None) requires y to be passed, but the target y is None. Set n_components "
                    "to cluster without labels."
                )
            self.n_components_ = int(self.n_components)
            return None
        self.classes_, codes = encode_labels(target, missing_label=self.missing_label, classes=self.classes)
        if (codes < 0).all():
            raise ValueError("No sample of y is labeled. Label at least one, or leave y out to find clusters.")
        self.n_components_ = max(self.n_components or 0, len(self.classes_))
        self.component_classes_ = np.arange(self.n_components_) % len(self.classes_)
        return codes

    def _learn_distributions(self, views: Views) -> tuple[ViewSamples, ...]:
        """Samples of every view, with what a distribution must know of all of them."""
        self._n_categories: list[Any] = [None] * views.n_views
        self._added_variances: list[Any] = [None] * views.n_views
        for v, (name, kind) in enumerate(zip(views.names, self.distributions_, strict=True)):
            if kind == "categorical":
                self._n_categories[v] = self._category_numbers(categories(views[name], name), v)
            elif kind == "gaussian":
                self._added_variances[v] = self._regularization(real_numbers(views[name], name))
        return self._samples(views)

    def _category_numbers(self, codes: Array, view: int) -> NDArray[np.intp]:
        """Categories of each feature: up to the largest code, or as many as the given start has."""
        given, _ = given_start(self.params_init, None, self.view_names_, None)
        largest = np.fmax.reduce(codes, axis=0, initial=0.0)
        n_categories = np.where(np.isnan(largest), 0.0, largest).astype(np.intp) + 1
        if given is None or "probabilities" not in given[view]:
            return n_categories
        return np.array([np.shape(table)[1] for table in given[view]["probabilities"]], dtype=np.intp)

    def _regularization(self, values: Array) -> Array:
        """What is added to each variance of a Gaussian view."""
        if self.reg_covar is not None:
            return np.full(values.shape[1], float(self.reg_covar))
        variances = values.var(axis=0) if len(values) else np.ones(values.shape[1])
        typical = variances.mean() or 1.0
        return np.asarray(1e-6 * np.where(variances > 0.0, variances, typical))

    def _starts(self, problem: CoEM, codes: NDArray[np.int64] | None) -> list[CoEMState]:
        """Where the runs start: as given, from the labels, or from clusters or chance."""
        n_components = self.n_components_
        given, priors = given_start(self.params_init, self.weights_init, self.view_names_, n_components)
        if given is not None:
            return [self._given(problem, given, priors)]
        if problem.n_samples < n_components:
            raise ValueError(
                f"n_samples={problem.n_samples} is less than n_components={n_components}. Ask for fewer components."
            )
        random_state = check_random_state(self.random_state)
        starts = [problem.start(R) for R in self._responsibilities(problem, codes, random_state)]
        if priors is None:
            return starts
        return [problem.start_from(start.parameters, priors) for start in starts]

    def _given(self, problem: CoEM, given: list[dict[str, Any]], priors: Array | None) -> CoEMState:
        m = self.n_components_
        parameters: list[dict[str, NDArray[Any]]] = [
            given_parameters(values, kind, name, m, self.view_n_features_[name], n_categories)
            for values, kind, name, n_categories in zip(
                given, self.distributions_, self.view_names_, self._n_categories, strict=True
            )
        ]
        return problem.start_from(parameters, np.full((len(given), m), 1.0 / m) if priors is None else priors)

    def _responsibilities(self, problem: CoEM, codes: NDArray[np.int64] | None, random_state: Any) -> list[Array]:
        """One matrix (n_samples, n_components) per start."""
        n_samples, n_components = problem.n_samples, self.n_components_
        if codes is None and self.init == "random":
            return [random_responsibilities(n_samples, n_components, random_state) for _ in range(self.n_init)]
        rows = comparable_rows(problem.views, n_samples)
        if codes is None:
            return [clustered_responsibilities(rows, n_components, random_state) for _ in range(self.n_init)]
        n_starts = self.n_init if n_components > len(self.classes_) else 1
        return [labeled_responsibilities(rows, codes, self.component_classes_, random_state) for _ in range(n_starts)]

    def _run(self, problem: CoEM, start: CoEMState) -> EMRun[CoEMState]:
        plateau = GIVEN_START_PLATEAU if self.params_init is not None else 10
        run = problem.run(start, tol=self.tol, max_iter=self.max_iter, plateau=plateau)
        if self.verbose:
            end = "converged" if run.converged else "not converged"
            print(f"[CoEMMixture] {run.n_iter} sweeps, log likelihood {run.log_likelihood:.6g}, {end}")
        return run

    def _store(self, problem: CoEM, run: EMRun[CoEMState]) -> None:
        state = run.parameters
        self._parameters = list(state.parameters)
        self._priors = np.exp(state.log_prior)
        self.weights_ = self._priors[0] if self.shared_prior else self._priors
        self._joint_prior = problem.joint_prior(state)
        self._learned = np.array([len(view.rows) > 0 or self.params_init is not None for view in problem.views])
        self.consensus_ = state.consensus
        self.criterion_ = state.criterion
        self.criterion_terms_ = problem.criterion_terms(state)
        self.criterion_trace_ = run.trace
        self.n_iter_, self.converged_ = run.n_iter, run.converged
        self.labels_ = first_largest(problem.joint_posterior(state))
