"""Classification by a Gaussian process per view whose posteriors are made to agree."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from sklearn.utils.validation import check_is_fitted

from coview.base import LabeledClassifierMixin
from coview.gaussian_process._parameters import Parameters
from coview.gaussian_process._posterior_consistency_base import PosteriorConsistencyModel
from coview.labels import encode_labels
from coview.views import Views

__all__ = ["PosteriorConsistencyGPClassifier", "positions_given"]

Array = NDArray[np.float64]


class PosteriorConsistencyGPClassifier(LabeledClassifierMixin, PosteriorConsistencyModel):
    r"""A Gaussian process per view, with hyper-parameters for which the views' posteriors agree: MvGP1 and MvGP2.

    Each view explains the labels -1 and 1 by its own function and Gaussian noise. Kernels and noise variances are not those of
    the largest evidence, but those that trade it against the divergence between what the views believe of the same samples. New
    samples get the sign of the weighted average of the functions of the views that they have. Supervised as published; extended
    to any number of views and classes (one against the rest, all of one kernel), to samples that lack views, and to samples
    without a label, on which posteriors are compared as on the others.

    Parameters
    ----------
    kernel : {"rbf", "linear", "precomputed"}, kernel object, callable, or list or dict of these, default="rbf"
        For all views, by position or by name. "rbf" has the median distance between samples as its width.
    noise_variance : float, or list or dict of floats, default=0.1
        Variance of the labels about each view's function; where the search starts with ``hyperparameters="maximize"``.
    view_weights : list or dict of floats, default=None
        :math:`a_j`, of the evidence of each view and of its function in predictions; None weighs all alike, with sum one.
    consistency : float or array-like of shape (n_views, n_views), default=1.0
        :math:`b_{ij}` of equation (12), what a nat of divergence costs; the published b of two views is twice this. A matrix is
        symmetric, or zero below its diagonal.
    jitter : float, default=1e-4
        Variance of each sample's function value beyond the kernel, in likelihood and posterior. Part of the model: a divergence
        is infinite where one view's kernel matrix is singular. Absolute; about 1e-4 of the kernel's amplitude is sound.
    selective : bool or array-like of int or bool, default=False
        Compare posteriors on the consistent set only: those training samples whose label all their views find (MvGP2). It is
        that of the fit without selection, after which the search goes on; or the samples given.
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
    classes : array-like of shape (n_classes,), default=None
        All classes, where some have no label yet.
    missing_label : object, default=None
        Marks an unlabeled sample, beside NaN and None. By default -1 is a class: the method is supervised.
    no_view : {"raise", "prior"}, default="raise"
        What to do with a sample without any view: an error, or the shares of the classes among the labels.
    random_state : int, RandomState instance or None, default=None
        Of the samples that the width of "rbf" is taken from, beyond 1,000, and of further starts.
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    kernels_ : list
        One per view.
    noise_variances_ : ndarray of shape (n_views,)
    theta_ : ndarray of shape (n_parameters,)
    objective_ : float
        Of the fit, in nats.
    n_iter_ : int
        Steps of the best search, the start counted as one; of both searches with ``selective=True``.
    log_marginal_likelihoods_ : ndarray of shape (n_views,)
        Of the labels by each view, in nats.
    divergences_ : ndarray of shape (n_views, n_views)
        ``KL(p_i || p_j)`` in nats; NaN where ``consistency`` is zero.
    consistent_set_ : ndarray of shape (n_consistent,)
        Positions of the labeled training samples whose label each of their views finds; with ``selective=True`` those by which
        posteriors were compared.
    latent_means_ : list of ndarray of shape (n_j,), or (n_j, n_classes) for more than two classes
    latent_covariances_ : list of ndarray of shape (n_j, n_j)
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of the training samples.
    transduction_ : ndarray of shape (n_samples,)
        Predicted classes of the training samples.

    Notes
    -----
    Equations (6), (12) and (13) of [1]_, with the gradient of (6) right (that printed as (11) has its penalty doubled).
    Probabilities are those of a noisy label of that sign. With :math:`b = 0` each view is scikit-learn's
    ``GaussianProcessRegressor``. A value is some seven steps of O(n^3) time for two views, O(n_j^2) memory per view; with
    features O(n r^2).

    References
    ----------
    .. [1] Q. Liu, S. Sun, "Multi-view regularized Gaussian processes", PAKDD, 2017.

    Examples
    --------
    >>> from coview.gaussian_process import PosteriorConsistencyGPClassifier
    >>> views = {"a": [[-2.0], [-1.0], [1.0], [2.0]], "b": [[-1.0], [-3.0], [2.0], [1.0]]}
    >>> model = PosteriorConsistencyGPClassifier("rbf", consistency=0.01).fit(views, ["no", "no", "yes", "yes"])
    >>> model.predict(views).tolist(), model.predict({"b": [[3.0]]}).tolist()
    (['no', 'no', 'yes', 'yes'], ['yes'])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PosteriorConsistencyModel._parameter_constraints,
        "selective": ["boolean", "array-like"],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        noise_variance: Any = 0.1,
        view_weights: Any = None,
        consistency: Any = 1.0,
        jitter: float = 1e-4,
        selective: Any = False,
        hyperparameters: str = "maximize",
        approximation: str = "exact",
        n_components: int | None = 100,
        n_restarts: int = 0,
        max_iter: int = 200,
        classes: Any = None,
        missing_label: Any = None,
        no_view: str = "raise",
        random_state: Any = None,
        view_columns: Any = None,
    ) -> None:
        self.kernel = kernel
        self.noise_variance = noise_variance
        self.view_weights = view_weights
        self.consistency = consistency
        self.jitter = jitter
        self.selective = selective
        self.hyperparameters = hyperparameters
        self.approximation = approximation
        self.n_components = n_components
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.classes = classes
        self.missing_label = missing_label
        self.no_view = no_view
        self.random_state = random_state
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
        self : PosteriorConsistencyGPClassifier

        Raises
        ------
        ValueError
            If the labels are of one class.
        ViewError
            If a sample has no view and ``no_view="raise"``, or no sample with a label has one.
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
        return self._fit_views(views, target)

    def _fit_views(self, views: Views, target: Any) -> Self:
        self.classes_, codes = encode_labels(
            target, missing_label=self.missing_label, classes=self.classes, min_classes=2
        )
        if len(np.unique(codes[codes >= 0])) < 2:
            raise ValueError(
                f"{type(self).__name__} needs labels of at least two classes; the labels given are of one class."
            )
        counts = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        self._shares = counts / counts.sum()
        start = self._take(views, _signs(codes, len(self.classes_)), codes >= 0)
        self._select_and_solve(start, codes)
        self.label_distributions_ = self._probabilities(views, None)
        self._transduction = self._classes_of(views, None)
        return self

    def _select_and_solve(self, start: Parameters, codes: NDArray[np.int64]) -> None:
        """The fit, on all samples or on those given; or on the consistent set of the former (Algorithm 2)."""
        subset = None if isinstance(self.selective, bool | np.bool_) else positions_given(self.selective, len(codes))
        point = self._searched(start, subset, []) if self.hyperparameters == "maximize" else start
        self._keep(point, subset)
        self.consistent_set_ = self._consistent(codes)
        if self.selective is True or self.selective is np.True_:
            subset = np.isin(np.arange(len(codes)), self.consistent_set_)
            if self.hyperparameters == "maximize":
                point = self._searched(point, subset, [start.theta])
            self._keep(point, subset)

    def _consistent(self, codes: NDArray[np.int64]) -> NDArray[np.intp]:
        """Labeled samples whose class all their views find by their own function."""
        agreed, seen = codes >= 0, np.zeros(len(codes), dtype=bool)
        for told, rows, means in zip(self._told, self._rows, self._training_means, strict=True):
            if told:
                agreed[rows] &= _found(means, codes[rows])
                seen[rows] = True
        return np.flatnonzero(agreed & seen)

    @property
    def transduction_(self) -> NDArray[Any]:
        """Predicted classes of the training samples (n_samples,)."""
        check_is_fitted(self, "objective_")
        return np.asarray(self.classes_[self._transduction])

    def predict(self, X: Any, return_std: bool = False, *, view: str | None = None) -> Any:
        """Class of new samples with any of the views.

        Parameters
        ----------
        X : Views or anything that Views takes
        return_std : bool, default=False
        view : str, default=None
            By the function of this view alone.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Posterior standard deviation of the averaged function; only with ``return_std``.
        """
        views = self._read(X)
        labels = np.asarray(self.classes_[self._classes_of(views, view)])
        return (labels, np.sqrt(self._combined(views, view)[1])) if return_std else labels

    def predict_latent(self, X: Any, return_std: bool = False, *, view: str | None = None) -> Any:
        """The averaged function at new samples.

        Parameters
        ----------
        X : Views or anything that Views takes
        return_std : bool, default=False
        view : str, default=None
            The function of this view alone.

        Returns
        -------
        mean : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            NaN without a view, where ``no_view="prior"``.
        std : ndarray of shape (n_samples,)
            Its posterior standard deviation; only with ``return_std``.
        """
        mean, variance, _ = self._combined(self._read(X), view)
        mean = mean[:, 0] if mean.shape[1] == 1 else mean
        return (mean, np.sqrt(variance)) if return_std else mean

    def decision_function(self, X: Any, *, view: str | None = None) -> Array:
        """Score of new samples with any of the views, which decides and orders as the probabilities do.

        Parameters
        ----------
        X : Views or anything that Views takes
        view : str, default=None
            By the function of this view alone.

        Returns
        -------
        scores : ndarray of shape (n_samples,), or (n_samples, n_classes) of each class against the rest
            The averaged function over the standard deviation of a noisy label about zero; positive for ``classes_[1]`` of two
            classes. NaN without a view, where ``no_view="prior"``.
        """
        scores = _scores(*self._combined(self._read(X), view))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any, *, view: str | None = None) -> Array:
        """Probability of each class for new samples with any of the views.

        Parameters
        ----------
        X : Views or anything that Views takes
        view : str, default=None
            By the function of this view alone.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            That a noisy label is positive; more than two classes are scaled to sum to one.
        """
        return self._probabilities(self._read(X), view)

    def _classes_of(self, views: Views, view: str | None) -> NDArray[np.intp]:
        """Numbers of the classes with the largest mean."""
        mean = self._combined(views, view)[0]
        lost = np.isnan(mean).any(axis=1)
        codes = (mean[:, 0] > 0.0).astype(np.intp) if mean.shape[1] == 1 else np.nan_to_num(mean).argmax(axis=1)
        return np.where(lost, self._shares.argmax(), codes)

    def _probabilities(self, views: Views, view: str | None) -> Array:
        mean, variance, noise = self._combined(views, view)
        lost = np.isnan(variance)
        p = ndtr(_scores(mean, variance, noise))
        p = np.column_stack([1.0 - p, p]) if p.shape[1] == 1 else p
        p[lost] = self._shares
        return np.asarray(p / p.sum(axis=1, keepdims=True))


def _scores(mean: Array, variance: Array, noise: Array) -> Array:
    """Means over the deviation of a label (n_samples, C)."""
    return np.asarray(mean / np.sqrt(variance + noise)[:, None])


def _signs(codes: NDArray[np.int64], n_classes: int) -> Array:
    """-1 and 1 of the second class, or of each class against the rest (n_samples, 1 or n_classes)."""
    positives = [1] if n_classes == 2 else range(n_classes)
    return np.column_stack([np.where(codes == c, 1.0, -1.0) for c in positives])


def _found(means: Array, codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether means (n, 1 or n_classes) have the sign of the label, or their maximum at it."""
    if means.shape[1] == 1:
        return np.asarray(means[:, 0] * np.where(codes == 1, 1.0, -1.0) > 0.0)
    return np.asarray(means.argmax(axis=1) == codes)


def positions_given(selective: Any, n: int) -> NDArray[np.bool_]:
    """Of n samples those given by position or by truth values (n,)."""
    given = np.asarray(selective)
    if given.dtype == bool and given.shape == (n,):
        return given
    given = given.astype(np.intp) if not given.size else given
    if given.ndim != 1 or given.dtype.kind not in "iu" or (given.size and not 0 <= given.min() <= given.max() < n):
        raise ValueError(
            f"selective must be True, False, positions from 0 to {n - 1}, or one truth value per sample ({n}); got {selective!r}."
        )
    return np.isin(np.arange(n), given)
