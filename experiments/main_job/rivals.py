"""The methods of the confirmation, under the same names for dense and sparse views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coview import Views
from coview.compose import ConcatenateViews
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.model_selection import TransductivePipeline, baseline_estimators

DEFAULT, PRINTED = "default", "printed model"
N_COMPONENTS = 20


def our_methods() -> dict[str, Any]:
    """The default and the papers' model: labels on the consensus function, full linear kernels, view variances 0.1.

    Returns
    -------
    methods : dict of str to estimator
    """
    setting = {"kernels": "linear", "center": False, "scale": True, "n_components": None, "view_variances": 0.1}
    printed = BayesianCoTrainingClassifier(
        latent="consensus", settings=[setting], temperature=1.0, bias_variance=0.0, select_views=False, random_state=0
    )
    return {DEFAULT: BayesianCoTrainingClassifier(random_state=0), PRINTED: printed}


def simple_baselines(views: Views, *, extra: Sequence[str] = (), memory: str | None = None) -> dict[str, Any]:
    """What one would do otherwise; every label-free step sees all samples.

    Parameters
    ----------
    views : Views
    extra : sequence of {"process", "trees", "iterative", "stacking"}
        Costly ones that are wanted too; all but the last for dense views only.
    memory : str, default=None
        Folder that keeps label-free steps, which several methods share.

    Returns
    -------
    methods : dict of str to estimator
    """
    offered = baseline_estimators(views, n_components=N_COMPONENTS)
    is_sparse = any(sparse.issparse(views[name]) for name in views.names)
    joined = _joined_sparse(views, memory) if is_sparse else _joined_dense(SimpleImputer, memory)
    n_components = min(N_COMPONENTS, views.n_samples - 1, sum(views.n_features.values()) - 1)
    components = TruncatedSVD(n_components, random_state=0) if is_sparse else PCA(n_components, svd_solver="full")
    tuned = next(method.classifier for name, method in offered.items() if name.endswith("+ tuned LR"))
    methods = {
        "class shares": TransductivePipeline(joined, DummyClassifier(strategy="prior")),
        "columns + LR": TransductivePipeline(joined, _logistic()),
    }
    methods |= _on_components("", make_pipeline(joined, components, memory=memory), tuned)
    if not is_sparse and not views.presence.all():
        neighbors = _joined_dense(KNNImputer, memory)
        methods["neighbors, columns + LR"] = TransductivePipeline(neighbors, _logistic())
        methods |= _on_components("neighbors, ", make_pipeline(neighbors, components, memory=memory), tuned)
    methods |= {f"{name} alone + LR": TransductivePipeline(_alone(views, name), _logistic()) for name in views.names}
    costly = {
        "process": ("KNN imputation + Gaussian process", "neighbors, Gaussian process"),
        "trees": ("histogram gradient boosting", "gradient boosting"),
        "iterative": ("iterative imputation + LR", "iterative imputation, columns + LR"),
    }
    methods |= {costly[name][1]: offered[costly[name][0]] for name in extra if name in costly}
    if "stacking" in extra:
        methods["stacking"] = TransductivePipeline(joined, offered["stacking over views"].classifier)
    return methods


def _on_components(prefix: str, components: Any, tuned: Any) -> dict[str, Any]:
    """Logistic regression on components at a small and at a large scale, plain and balanced, and tuned.

    The scale is half of the answer: regularization of strength 1 is strong for rows of unit length and weak for many
    standardized columns, and no scale is the best for all data.
    """
    small, large = (make_pipeline(components, CommonScale(**scale)) for scale in ({"largest": 1.0}, {"mean": 4.0}))
    return {
        f"{prefix}small components + LR": TransductivePipeline(small, _logistic()),
        f"{prefix}small components + balanced LR": TransductivePipeline(small, _logistic("balanced")),
        f"{prefix}large components + LR": TransductivePipeline(large, _logistic()),
        f"{prefix}large components + balanced LR": TransductivePipeline(large, _logistic("balanced")),
        f"{prefix}components + tuned LR": TransductivePipeline(large, tuned),
    }


class CommonScale(TransformerMixin, BaseEstimator):
    """Columns centered and multiplied by one number, so that they keep their proportions.

    Parameters
    ----------
    largest : float, default=None
        Variance of the column that varies most.
    mean : float, default=None
        Mean variance of the columns, where ``largest`` is not given.
    """

    def __init__(self, largest: float | None = None, mean: float | None = None) -> None:
        self.largest = largest
        self.mean = mean

    def fit(self, X: Any, y: Any = None) -> CommonScale:
        """Learn centers and the number."""
        variances = np.var(X, axis=0)
        wanted, found = (self.mean, variances.mean()) if self.largest is None else (self.largest, variances.max())
        self.center_, self.factor_ = np.mean(X, axis=0), np.sqrt(wanted / found)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Scaled rows."""
        return (X - self.center_) * self.factor_


def _logistic(class_weight: str | None = None) -> LogisticRegression:
    return LogisticRegression(max_iter=5000, class_weight=class_weight)


def _joined_dense(imputer: Any, memory: str | None) -> Any:
    """All columns side by side, standardized, gaps filled by means or by nearest neighbors."""
    return make_pipeline(ConcatenateViews(), StandardScaler(), imputer(keep_empty_features=True), memory=memory)


def _joined_sparse(views: Views, memory: str | None) -> Any:
    """Tf-idf rows of unit length per view, side by side; a missing view is a row of zeros."""
    stops = np.cumsum([views.n_features[name] for name in views.names]).tolist()
    parts = zip(views.names, [0, *stops[:-1]], stops, strict=True)
    weights = [(name, _weighting(views[name]), slice(start, stop)) for name, start, stop in parts]
    return make_pipeline(ConcatenateViews(), ColumnTransformer(weights, sparse_threshold=1.0), memory=memory)


def _weighting(block: Any) -> Any:
    """Tf-idf; nothing where rows already have unit length."""
    lengths = np.sqrt(np.asarray(sparse.csr_array(block).multiply(block).sum(axis=1)).ravel())
    return "passthrough" if np.allclose(lengths[lengths > 0], 1.0, atol=1e-3) else TfidfTransformer()


def _alone(views: Views, name: str) -> Any:
    """One view, its missing rows filled with the means (zeros where it is sparse)."""
    first = ConcatenateViews(views=[name])
    if sparse.issparse(views[name]):
        return make_pipeline(first, _weighting(views[name]))
    return make_pipeline(first, StandardScaler(), SimpleImputer(keep_empty_features=True))
