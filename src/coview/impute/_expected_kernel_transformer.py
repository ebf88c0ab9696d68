"""Expected kernels as a step before a kernel machine."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, MultiViewEstimator, StrOptions
from coview.impute._expected_inputs import (
    MixtureParameters,
    Rows,
    fitted_mixture,
    gamma_by_feature,
    median_gamma,
    read_for_mixture,
    scale_gamma,
)
from coview.kernels import expected_linear_gram, expected_polynomial_gram, expected_rbf_gram

__all__ = ["ExpectedKernelTransformer"]


class ExpectedKernelTransformer(TransformerMixin, MultiViewEstimator):  # type: ignore[misc]
    r"""Kernel values with missing views and features integrated out, for any learner with ``kernel="precomputed"``.

    A Gaussian mixture learnt from the training rows says what missing values may be; kernel values are averaged over it in
    closed form. Missing values may be anywhere, in training rows and in new ones.

    Parameters
    ----------
    mixture : estimator, default=None
        Gaussian mixture for incomplete rows. An unfitted one is cloned and fitted to the training rows (and to y, which
        :class:`~coview.mixture.ClassConditionalGaussianMixture` needs), a fitted one is used as it is; as cloning forgets a
        fit, put it into :class:`sklearn.frozen.FrozenEstimator` for grid searches and cross-validation. None: an
        :class:`~coview.mixture.IncompleteGaussianMixture` with as many components as BIC chooses.
    kernel : {"rbf", "linear", "polynomial"}, default="rbf"
    gamma : {"median", "scale"}, float, list, dict or array, default="median"
        Factor of squared distances or of inner products. ``"median"``: :math:`1 / (2 m)` with m the median expected squared
        distance between training rows (1,000 seeded ones of more); ``"scale"``: one over the number of features times the
        variance of all values; else one number, one for each view or one for each feature. Features should have comparable
        scales, as for any RBF kernel. The linear kernel has none.
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=1
        Of the polynomial kernel.
    mean_embedding : bool, default=False
        Whether the training matrix has the diagonal of two independent draws.
    random_state : int, RandomState or None, default=None
        For the default mixture.
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    mixture_ : estimator
        The fitted mixture.
    gamma_ : ndarray of shape (n_features_in,)
        The gamma of each feature; not for the linear kernel, which has none.
    n_samples_fit_ : int

    Raises
    ------
    ValueError
        If gamma or a fitted mixture does not fit the views.

    See Also
    --------
    expected_rbf_kernel : The kernel itself, its formula and cost.

    Notes
    -----
    ``fit_transform`` gives the matrix between the training rows. Its diagonal is the expected kernel value of a row with
    itself: 1 for the RBF kernel. ``transform`` takes every pair as two different objects. Of a training row that comes
    again only the observed values are known to be the same, so its value with itself is then that of two independent
    draws, smaller where it misses something. The diagonal of the training matrix acts like a ridge on incomplete rows,
    which is what one wants of a support vector machine or a Gaussian process. A machine that evaluates training rows
    again, as kernel logistic regression on the features ``K(x, x_1), ..., K(x, x_n)`` does, meets both diagonals: with
    ``mean_embedding=True`` the kernel is a function of the two rows alone, and ``fit_transform(X)`` equals ``transform(X)``.

    Equation (4) of Williams and Carin ("Analytical Kernel Matrix Completion with Incomplete Multi-View Data", 2005),
    corrected. Cost: see :func:`~coview.impute.expected_rbf_kernel`; memory O(n_new n_training).

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from coview.datasets import make_two_gaussian_views
    >>> from coview.impute import ExpectedKernelTransformer
    >>> views, y = make_two_gaussian_views(n_samples=40, random_state=0)
    >>> machine = make_pipeline(ExpectedKernelTransformer(random_state=0), SVC(kernel="precomputed")).fit(views, y)
    >>> machine.predict(views[:3].select(["x1"])).shape
    (3,)
    """

    _allow_nan = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "gamma": [StrOptions({"median", "scale"}), Interval(Real, 0.0, None, closed="left"), "array-like", dict],
        "kernel": [StrOptions({"rbf", "linear", "polynomial"})],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, 0.0, None, closed="left")],
        "mean_embedding": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        mixture: Any = None,
        *,
        kernel: Any = "rbf",
        gamma: Any = "median",
        degree: Any = 3,
        coef0: Any = 1.0,
        mean_embedding: Any = False,
        random_state: Any = None,
        view_columns: Any = None,
    ) -> None:
        self.mixture = mixture
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.mean_embedding = mean_embedding
        self.random_state = random_state
        self.view_columns = view_columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the mixture, unless it is fitted, and keep the training rows.

        Parameters
        ----------
        X : Views or anything that Views takes
            Samples; NaN where a feature is missing.
        y : array-like of shape (n_samples,), default=None
            For a mixture that learns from labels.

        Returns
        -------
        self : ExpectedKernelTransformer
        """
        self._fitted_rows(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float64]:
        """Kernel matrix of the training rows.

        Parameters
        ----------
        X : Views or anything that Views takes
        y : array-like of shape (n_samples,), default=None
            For a mixture that learns from labels.
        **fit_params : dict
            Ignored.

        Returns
        -------
        K : ndarray of shape (n_samples, n_samples), symmetric positive semidefinite
        """
        return self._gram(self._fitted_rows(X, y), None)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Kernel values of rows with the training rows, all taken as different objects.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        K : ndarray of shape (n_new, n_samples_fit)
        """
        check_is_fitted(self)
        parameters = MixtureParameters.of(self.mixture_)
        table, _ = read_for_mixture(self.mixture_, self._validate_views(X, reset=False))
        new = parameters.condition(table)
        return self._gram(new, parameters.condition(self._training_rows))

    def _fitted_rows(self, X: Any, y: Any) -> Rows:
        """Learn everything; the training rows as mixtures."""
        self._validate_params()
        views, y = self._validate_views_target(X, y, reset=True)
        self.mixture_ = fitted_mixture(self.mixture, views, y, self.random_state)
        table, widths = read_for_mixture(self.mixture_, views)
        parameters = MixtureParameters.of(self.mixture_)
        rows = parameters.condition(table)
        if self.kernel != "linear":
            gamma = self.gamma
            if isinstance(gamma, str):
                gamma = median_gamma(parameters, table) if gamma == "median" else scale_gamma(table)
            self.gamma_ = gamma_by_feature(gamma, widths)
        self._training_rows = table
        self.n_samples_fit_ = len(table)
        return rows

    def _gram(self, left: Rows, right: Rows | None) -> NDArray[np.float64]:
        embedding = bool(self.mean_embedding)
        if self.kernel == "linear":
            return expected_linear_gram(left, right, mean_embedding=embedding)
        if self.kernel == "rbf":
            return expected_rbf_gram(left, right, self.gamma_, mean_embedding=embedding)
        return expected_polynomial_gram(
            left, right, self.gamma_, degree=self.degree, coef0=self.coef0, mean_embedding=embedding
        )

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns: one per training row.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Ignored.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        return np.array([f"expectedkernel{i}" for i in range(self.n_samples_fit_)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
