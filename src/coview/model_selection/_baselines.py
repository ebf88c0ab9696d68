"""What a user would do otherwise: impute or reduce all views side by side, then an ordinary classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier, StackingClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from coview.compose import ConcatenateViews
from coview.model_selection._transductive import CautiousStratifiedKFold, TransductivePipeline
from coview.views import Views


def baseline_estimators(
    X: Views, *, n_components: int = 20, random_state: int | None = 0
) -> dict[str, TransductivePipeline]:
    """The usual ways to classify incomplete views with scikit-learn, ready to fit on the same samples.

    All of them see every sample, labeled or not, in their label-free part (scaling, imputation, components).

    Parameters
    ----------
    X : Views
        The samples; only names, widths and sparsity of the views are used.
    n_components : int, default=20
        Principal components of the variants that have them, fewer where the data have fewer.
    random_state : int or None, default=0
        Seed.

    Returns
    -------
    estimators : dict of str to TransductivePipeline
        Dense views: mean, nearest-neighbor and iterative imputation with logistic regression; principal components of
        the mean-imputed and of the neighbor-imputed columns with logistic regression; neighbor imputation, with and
        without components, with the strength of regularization chosen by cross-validation; a Gaussian process with a
        learned RBF kernel; stacking over views; histogram gradient boosting; every view alone. With sparse views a
        missing view is a row of zeros, and singular vectors take the place of principal components.

    Examples
    --------
    >>> import numpy as np
    >>> from coview import Views
    >>> from coview.model_selection import baseline_estimators
    >>> X = Views({"a": np.eye(6), "b": np.ones((6, 2))})
    >>> list(baseline_estimators(X))[:2]
    ['mean imputation + LR', 'KNN imputation + LR']
    """
    width = sum(X.n_features.values())
    n_components = min(n_components, X.n_samples - 1, width - 1)
    if any(sparse.issparse(X[name]) for name in X.names):
        estimators = _sparse_baselines(X, n_components, random_state)
    else:
        estimators = _dense_baselines(X, n_components, random_state)
    alone = {f"{name} alone + LR": _pipeline(_single_view(X, name), _logistic()) for name in X.names}
    return estimators | alone


def _dense_baselines(X: Views, n_components: int, random_state: int | None) -> dict[str, TransductivePipeline]:
    """Imputation or components of the standardized columns, then a classifier."""
    width = sum(X.n_features.values())
    mean, neighbors = SimpleImputer(keep_empty_features=True), KNNImputer(n_neighbors=5, keep_empty_features=True)
    iterative = IterativeImputer(
        max_iter=10, tol=1e-2, n_nearest_features=20, keep_empty_features=True, random_state=random_state
    )
    components = PCA(n_components, svd_solver="full")
    return {
        "mean imputation + LR": _pipeline(_joined(mean), _logistic()),
        "KNN imputation + LR": _pipeline(_joined(neighbors), _logistic()),
        "iterative imputation + LR": _pipeline(_joined(iterative), _logistic()),
        f"mean imputation + {n_components} PCs + LR": _pipeline(_joined(mean, components), _logistic()),
        f"KNN imputation + {n_components} PCs + LR": _pipeline(_joined(neighbors, components), _logistic()),
        f"KNN imputation + {n_components} PCs + tuned LR": _pipeline(_joined(neighbors, components), _tuned_logistic()),
        "KNN imputation + tuned LR": _pipeline(_joined(neighbors), _tuned_logistic()),
        "KNN imputation + Gaussian process": _pipeline(_joined(neighbors), _gaussian_process(width, random_state)),
        "stacking over views": _pipeline(_joined(mean), _stacking(X)),
        "histogram gradient boosting": _pipeline(
            ConcatenateViews(), HistGradientBoostingClassifier(random_state=random_state)
        ),
    }


def _sparse_baselines(X: Views, n_components: int, random_state: int | None) -> dict[str, TransductivePipeline]:
    """The variants that need no dense array."""
    vectors = TruncatedSVD(n_components, random_state=random_state)
    return {
        "zeros for missing + LR": _pipeline(ConcatenateViews(), _logistic()),
        f"{n_components} singular vectors + LR": _pipeline(make_pipeline(ConcatenateViews(), vectors), _logistic()),
        f"{n_components} singular vectors + tuned LR": _pipeline(
            make_pipeline(ConcatenateViews(), vectors), _tuned_logistic()
        ),
        "stacking over views": _pipeline(ConcatenateViews(), _stacking(X)),
    }


def _pipeline(transformer: Any, classifier: Any) -> TransductivePipeline:
    """Transformer on all samples, classifier on the labeled ones."""
    return TransductivePipeline(transformer, classifier)


def _joined(*steps: Any) -> Pipeline:
    """All columns side by side, standardized by the observed values, then the steps."""
    return make_pipeline(ConcatenateViews(), StandardScaler(), *steps)


def _single_view(X: Views, name: str) -> Any:
    """One view, its missing rows filled with the means (zeros where it is sparse)."""
    if sparse.issparse(X[name]):
        return ConcatenateViews(views=[name])
    return make_pipeline(ConcatenateViews(views=[name]), StandardScaler(), SimpleImputer(keep_empty_features=True))


def _logistic() -> LogisticRegression:
    """Logistic regression with scikit-learn's regularization."""
    return LogisticRegression(max_iter=5000)


def _tuned_logistic() -> LogisticRegressionCV:
    """Logistic regression, its regularization chosen by cross-validated log loss."""
    return LogisticRegressionCV(
        Cs=np.logspace(-4, 2, 7),
        cv=CautiousStratifiedKFold(5),
        scoring="neg_log_loss",
        l1_ratios=(0.0,),
        use_legacy_attributes=False,
        max_iter=5000,
    )


def _gaussian_process(width: int, random_state: int | None) -> GaussianProcessClassifier:
    """Gaussian process with amplitude and width of an RBF kernel learned by evidence."""
    scale = float(np.sqrt(width))
    kernel = ConstantKernel(1.0, (1e-2, 1e3)) * RBF(scale, (scale / 30, scale * 30))
    return GaussianProcessClassifier(kernel, random_state=random_state)


def _stacking(X: Views) -> StackingClassifier:
    """Logistic regression on the out-of-fold predictions of one logistic regression per view.

    The second one is regularized less than scikit-learn's default, which is too cautious for probabilities as columns.
    """
    stops = np.cumsum([X.n_features[name] for name in X.names]).tolist()
    columns = {name: slice(a, b) for name, a, b in zip(X.names, [0, *stops[:-1]], stops, strict=True)}
    views = [
        (name, make_pipeline(ColumnTransformer([("view", "passthrough", part)]), _logistic()))
        for name, part in columns.items()
    ]
    return StackingClassifier(
        views, LogisticRegression(C=10.0, max_iter=5000), cv=CautiousStratifiedKFold(5), stack_method="predict_proba"
    )
