"""The usual single-table methods on views that a ``TableEncoder`` has made, ready for cross-validation and saving."""

from __future__ import annotations

from typing import Any, Literal

from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import BayesianRidge, LogisticRegression, RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from coview.compose import ConcatenateViews
from coview.model_selection._transductive import TransductivePipeline, TransductiveRegressor

__all__ = ["usual_methods"]

_STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4)


def usual_methods(
    task: Literal["classification", "regression"],
    *,
    n_components: int = 20,
    sparse: bool = False,
    random_state: int | None = 0,
) -> dict[str, TransductivePipeline | TransductiveRegressor]:
    """What most people would fit: all views side by side, gaps imputed, one ordinary model.

    Scaling, imputation and components see every sample, labeled or not. A missing view is imputed by the means of its
    columns; among sparse views it becomes a row of zeros.

    Parameters
    ----------
    task : {"classification", "regression"}
    n_components : int, default=20
        Principal components of the method that has them; less than samples and columns.
    sparse : bool, default=False
        Whether a view is sparse: methods that need dense columns are then left out.
    random_state : int or None, default=0
        Seed.

    Returns
    -------
    methods : dict of str to estimator
        Semi-supervised estimators: ``fit(views, y)`` with missing labels where there are none.

    Examples
    --------
    >>> from coview.model_selection import usual_methods
    >>> list(usual_methods("classification"))
    ['imputation-logistic-regression', 'imputation-pca-logistic-regression', 'gradient-boosting']
    """
    reduction = PCA(n_components, random_state=random_state)
    if task == "classification":
        logistic = LogisticRegression(max_iter=5000)
        methods: dict[str, Any] = {
            "imputation-logistic-regression": TransductivePipeline(_imputed(), logistic),
            "imputation-pca-logistic-regression": TransductivePipeline(_imputed(reduction), logistic),
        }
        trees = TransductivePipeline(ConcatenateViews(), HistGradientBoostingClassifier(random_state=random_state))
    else:
        # Both choose their strength from the labels; only the first states a spread, and it needs dense columns.
        ridge = RidgeCV(_STRENGTHS) if sparse else BayesianRidge()
        methods = {
            "imputation-ridge": TransductiveRegressor(_imputed(), ridge),
            "imputation-pca-ridge": TransductiveRegressor(_imputed(reduction), BayesianRidge()),
        }
        trees = TransductiveRegressor(ConcatenateViews(), HistGradientBoostingRegressor(random_state=random_state))
    return methods if sparse else methods | {"gradient-boosting": trees}


def _imputed(*steps: Any) -> Pipeline:
    """All columns side by side, of unit spread by their observed values, gaps filled by means; then the steps.

    Nothing is centered, so that zeros of sparse views stay zeros; the models have an intercept.
    """
    return make_pipeline(
        ConcatenateViews(), StandardScaler(with_mean=False), SimpleImputer(keep_empty_features=True), *steps
    )
