"""Missing values filled by their expectation under a Gaussian mixture, or by draws from it."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.base import MultiViewEstimator
from coview.impute._expected_inputs import fitted_mixture

__all__ = ["ConditionalMeanImputer"]


class ConditionalMeanImputer(OneToOneFeatureMixin, TransformerMixin, MultiViewEstimator):  # type: ignore[misc]
    r"""Missing views and features replaced by their conditional means; all views side by side in one array.

    A Gaussian mixture learned from the training rows says what a row misses, given what it has. One value per gap hides how
    uncertain it is: :meth:`draw` gives several completed tables, from the same distribution, for multiple imputation; and
    :class:`ExpectedKernelTransformer` leaves the values open.

    Parameters
    ----------
    mixture : estimator, default=None
        Gaussian mixture for incomplete rows. An unfitted one is cloned and fitted to the training rows (and to y, which
        :class:`~coview.mixture.ClassConditionalGaussianMixture` needs), a fitted one is used as it is; as cloning forgets a
        fit, put it into :class:`sklearn.frozen.FrozenEstimator` for grid searches and cross-validation. None: an
        :class:`~coview.mixture.IncompleteGaussianMixture` with as many components as BIC chooses.
    random_state : int, RandomState or None, default=None
        For the default mixture, and for draws.
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    mixture_ : estimator
        The fitted mixture.

    Notes
    -----
    :math:`E[x \mid x_o] = \sum_k r_k (\mu_k + \Sigma_{k,mo} \Sigma_{k,oo}^{-1} (x_o - \mu_{k,o}))` in the missing features,
    with the responsibilities :math:`r_k` given what is observed (Ghahramani and Jordan, 1994): the completion of least
    expected squared error if the mixture is right. A row with nothing observed gets the mean of the mixture. Distances and
    kernels between completed rows are biased; see :func:`expected_rbf_kernel`. Time O(n_components n_features^3) per pattern of
    missing features, and O(n_components n_features^2) per row.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.impute import ConditionalMeanImputer
    >>> from coview.mixture import IncompleteGaussianMixture
    >>> mixture = IncompleteGaussianMixture.from_parameters([1.0], [[0.0, 0.0]], [[[1.0, 0.5], [0.5, 1.0]]])
    >>> ConditionalMeanImputer(mixture).fit_transform(np.array([[2.0, np.nan], [1.0, 1.0]]))
    array([[2., 1.],
           [1., 1.]])
    """

    _allow_nan = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "random_state": ["random_state"],
        "view_columns": [dict, None],
    }

    def __init__(self, mixture: Any = None, *, random_state: Any = None, view_columns: Any = None) -> None:
        self.mixture = mixture
        self.random_state = random_state
        self.view_columns = view_columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the mixture, unless it is fitted.

        Parameters
        ----------
        X : Views or anything that Views takes
            Samples; NaN where a feature is missing.
        y : array-like of shape (n_samples,), default=None
            For a mixture that learns from labels.

        Returns
        -------
        self : ConditionalMeanImputer
        """
        self._validate_params()
        views, y = self._validate_views_target(X, y, reset=True)
        self._check_mixture()
        self.mixture_ = fitted_mixture(self.mixture, views, y, self.random_state)
        if self.mixture_ is self.mixture:
            self._completing.impute(views[:1])  # raises where the views are not those of the mixture
        return self

    def _check_mixture(self) -> None:
        mixture = self.mixture.estimator if isinstance(self.mixture, FrozenEstimator) else self.mixture
        if mixture is not None and not (hasattr(mixture, "impute") and hasattr(mixture, "conditional")):
            raise TypeError(
                f"mixture must be able to impute and to give conditionals; {type(mixture).__name__} is not. Use "
                "IncompleteGaussianMixture (with covariance_type='factor' for a mixture of factor analyzers) or "
                "ClassConditionalGaussianMixture."
            )

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Rows completed by conditional means.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        completed : ndarray of shape (n_samples, n_features)
            Observed values as they are.
        """
        return np.asarray(self._completing.impute(self._validate_views(X, reset=False)))

    def draw(self, X: Any, n_draws: int = 5, random_state: Any = None) -> NDArray[np.float64]:
        """Completed tables drawn from the conditional distribution, for multiple imputation.

        Parameters
        ----------
        X : Views or anything that Views takes
        n_draws : int, default=5
        random_state : int or RandomState, default=None
            None for that of the imputer.

        Returns
        -------
        draws : ndarray of shape (n_draws, n_samples, n_features)
        """
        rng = check_random_state(self.random_state if random_state is None else random_state)
        return np.asarray(self._completing.conditional(self._validate_views(X, reset=False)).sample(n_draws, rng))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns: those of the input; ``view__position`` where several views have none.

        Parameters
        ----------
        input_features : array-like of str, default=None

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self, "mixture_")
        if input_features is None and len(self.view_names_) > 1 and not hasattr(self, "feature_names_in_"):
            widths = self.view_n_features_.items()
            return np.array([f"{name}__{j}" for name, width in widths for j in range(width)], dtype=object)
        return np.asarray(super().get_feature_names_out(input_features))

    @property
    def _completing(self) -> Any:
        """The mixture itself, out of a frozen one."""
        check_is_fitted(self, "mixture_")
        return self.mixture_.estimator if isinstance(self.mixture_, FrozenEstimator) else self.mixture_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
