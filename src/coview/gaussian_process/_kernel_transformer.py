"""The covariances of co-training as a kernel for any machine that takes a precomputed one."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coview.base import MultiViewEstimator, StrOptions, check_answerable
from coview.gaussian_process._planning import fixed_setting
from coview.gaussian_process._prepared import PreparedViews
from coview.gaussian_process._prior_bank import PriorBank
from coview.gaussian_process._stored_settings import restored_settings, stored_settings
from coview.inference import ConsensusPrior, Prior, combine_experts

__all__ = ["CoTrainingKernelTransformer"]


class CoTrainingKernelTransformer(TransformerMixin, MultiViewEstimator):  # type: ignore[misc]
    r"""Kernel between samples that all views imply, for support vector machines and other ``kernel="precomputed"`` learners.

    Parameters
    ----------
    kernel : "auto", "linear", "rbf", "precomputed", kernel object, callable, list or dict, default="rbf"
        One for all views or one per view.
    view_variances : float, list or dict, default=None
        Variance of each view about the consensus, in units of the kernel; None: a tenth of the kernel's mean diagonal.
    latent : {"mean", "consensus"}, default="mean"
        Covariance of the mean that the views imply, K_s, or of the consensus function, K_c.
    view_columns : dict, default=None

    Attributes
    ----------
    n_samples_fit_ : int

    Notes
    -----
    Training samples give ``K(training, training)`` from ``fit_transform``, new ones ``K(new, training)`` from ``transform``.
    The mean is a function of a sample's views, so a training sample seen again has its training row. The consensus function
    carries noise of its own: seen again, a training sample is a new draw of it. Equation (8) of Yu et al. ("Bayesian
    Co-Training", JMLR 12, 2011); columns of new samples by generalized least squares over their views. Time O(n_views n^3).

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from coview.datasets import make_two_gaussian_views
    >>> from coview.gaussian_process import CoTrainingKernelTransformer
    >>> views, y = make_two_gaussian_views(n_samples=40, random_state=0)
    >>> machine = make_pipeline(CoTrainingKernelTransformer("rbf"), SVC(kernel="precomputed")).fit(views, y)
    >>> machine.predict(views[:3]).shape
    (3,)
    """

    def __init__(
        self, kernel: Any = "rbf", *, view_variances: Any = None, latent: Any = "mean", view_columns: Any = None
    ) -> None:
        self.kernel = kernel
        self.view_variances = view_variances
        self.latent = latent
        self.view_columns = view_columns

    _parameter_constraints: ClassVar[dict[str, Any]] = {"latent": [StrOptions({"mean", "consensus"})]}

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the training covariance."""
        self._validate_params()
        views = self._validate_views(X, reset=True)
        check_answerable(np.asarray(views.presence.any(axis=1)), views, "raise", "Drop these samples.")
        self._rows = np.arange(views.n_samples)
        blocks = [views[name] for name in views.names]
        bank = PriorBank(views.names, blocks, views.presence, self.kernel, self.latent, 0)
        setting = fixed_setting(
            bank, self.view_variances, approximation="exact", n_components=None, amplitude=None, noise_variance=None
        )
        bank.plan([setting])
        self._prepared, self._setting = PreparedViews(views, self._rows, bank, {}), setting
        self.n_samples_fit_ = views.n_samples
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float64]:
        """Training covariance (n_samples, n_samples)."""
        return self.fit(X)._prior().columns(self._rows)

    def _prior(self) -> Prior:
        return self._prepared.bank.prior(self._setting)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if "_setting" in state:
            state["_setting"] = stored_settings([state["_setting"]])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_setting" in state:
            self._setting = restored_settings(state["_setting"])[0]

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Covariance of new samples with the training samples (n_new, n_samples)."""
        check_is_fitted(self)
        views = self._validate_views(X, reset=False)
        seen = views.presence & self._prepared.bank.presence.any(axis=0)
        check_answerable(np.asarray(seen.any(axis=1)), views, "raise", "Give them a view, or leave them out.")
        bank, prior = self._prepared.bank, self._prior()
        new = bank.new([views[name] for name in views.names], views.presence).inputs(self._setting)
        if not isinstance(prior, ConsensusPrior):
            return prior.at(new, self._rows)[0]
        experts = prior.experts(new, self._rows)
        weights, _ = combine_experts(experts.covariances, experts.presence)
        return np.asarray(np.einsum("ij,jik->ik", weights, experts.crosses))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns: one per training sample."""
        check_is_fitted(self)
        return np.array([f"cotrainingkernel{i}" for i in range(self.n_samples_fit_)], dtype=object)
