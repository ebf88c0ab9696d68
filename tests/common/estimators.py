"""Every multi-view estimator of the package, found by walking ``__all__``, and small instances of the known ones."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

import coview
from coview.base import MultiViewEstimator
from coview.mixture import IncompleteGaussianMixture

FRONT_ENDS = {"app", "cli", "report"}  # import optional packages, define no estimators
# Rearrange the columns of each row: nothing is shared between rows; their own tests say what they keep.
ROW_BY_ROW = {"ConcatenateViews", "TableEncoder", "ViewTransformer"}
ALTERNATING = {"a": slice(0, None, 2), "b": slice(1, None, 2)}

AGREE = {"view_variances": 1.0, "n_components": 10, "center": True, "amplitude": 4.0}
ADD = {"view_variances": np.inf, "n_components": 10, "center": True, "amplitude": 4.0}
JOINT = {"joint": True, "n_components": 10, "center": True, "amplitude": 4.0}
ONE_START = {"n_init": 1, "random_state": 0}
TWO_COMPONENTS = IncompleteGaussianMixture(2, **ONE_START)
# Mixtures and what rests on them: densities of the rows, so a row may lack anything.
MIXTURES: dict[str, dict[str, Any]] = {
    "ClassConditionalGaussianMixture": {**ONE_START},
    "CoEMMixture": {**ONE_START, "reg_covar": 0.1},
    "ConditionalMeanImputer": {"mixture": TWO_COMPONENTS},
    "ExpectedKernelTransformer": {"mixture": TWO_COMPONENTS},
    "FactorMixture": {**ONE_START, "n_components": 2, "n_factors": 1, "noise_variance": 0.5},
    "FactorMixtureClassifier": {
        **ONE_START,
        "n_components": 3,
        "n_factors": 1,
        "noise_variance": 0.5,
        "class_smoothing": 0.1,
    },
    "IncompleteGaussianMixture": {**ONE_START, "n_components": 2},
}

# Of one estimator per view: some that do not depend on the order of rows by more than rounding.
EXACT_LOGISTIC = LogisticRegression(tol=1e-12, max_iter=10_000)
OF_ESTIMATORS: dict[str, dict[str, Any]] = {
    "CoEMClassifier": {"estimators": EXACT_LOGISTIC, "schedule": "parallel", "max_iter": 3, "tol": 1.0},
    "CoTrainingClassifier": {"estimators": EXACT_LOGISTIC, "n_rounds": 3, "random_state": 0},
    "CoTrainingRegressor": {"n_rounds": 3, "pool_size": None, "random_state": 0},
    "ViewVotingRegressor": {"random_state": 0},
    # all subsets and their mean: choices between equals follow the order of the views
    "ViewEnsembleClassifier": {
        "estimator": EXACT_LOGISTIC,
        "selection": None,
        "combination": "soft",
        "random_state": 0,
    },
    "ViewVotingClassifier": {"estimators": EXACT_LOGISTIC, "random_state": 0},
}

# Classifiers that need a label for every sample.
SUPERVISED: dict[str, dict[str, Any]] = {
    "HyperplaneKNeighborsClassifier": {"n_neighbors": 3},
    "HyperplaneKNeighborsClassifierCV": {"n_neighbors": [1, 3], "alphas": [0.5, 1.0]},
    "MultiRepresentedKNeighborsClassifier": {},
}
# Partitions, not functions of a row: what is compared is who is together with whom (test_clusterers).
CLUSTERERS: dict[str, dict[str, Any]] = {
    "BregmanAgglomerativeClustering": {},
    "HybridHierarchicalClustering": {},
    "CoRegularizedSpectralClustering": {"random_state": 0},
    "CoTrainingSpectralClustering": {"random_state": 0},
    "MultiViewKMeans": {"random_state": 0},
    "SimilarityNetworkFusion": {"n_neighbors": 8, "random_state": 0},
    "MultiRepresentedDBSCAN": {"min_samples": 3, "eps_quantile": 0.95},
    "MultiViewSpectralClustering": {"random_state": 0},
}


def all_estimators() -> dict[str, type[MultiViewEstimator]]:
    """Public classes derived from ``MultiViewEstimator``, by name."""
    found: dict[str, type[MultiViewEstimator]] = {}
    for module in pkgutil.iter_modules(coview.__path__):
        if not module.ispkg or module.name in FRONT_ENDS:
            continue
        package = importlib.import_module(f"coview.{module.name}")
        for name in getattr(package, "__all__", []):
            item = getattr(package, name)
            # parents have no fit of their own
            if isinstance(item, type) and issubclass(item, MultiViewEstimator) and hasattr(item, "fit"):
                found[name] = item
    return found


def small(name: str, **changes: Any) -> MultiViewEstimator:
    """An instance that averages over two settings where the class averages, else the default."""
    parameters: dict[str, Any] = {}
    if name.startswith("BayesianCoTraining"):
        noise = {"noise_variance": 0.1} if name.endswith("Regressor") else {}
        parameters = {
            "kernel": "rbf",
            "settings": [AGREE | noise, ADD | noise],
            "weighting": "leave_one_out",
            "random_state": 0,
        }
    if name in MIXTURES:
        parameters = MIXTURES[name]
    if name.startswith("PosteriorConsistencyGP"):
        parameters = {"hyperparameters": "fixed", "consistency": 0.01, "noise_variance": 0.3}
    if name == "PosteriorConsistencyGPClassifierCV":  # folds depend on the order of rows, so there is one choice
        parameters |= {"consistency": [0.01], "view_weights": "equal", "cv": KFold(2, shuffle=True, random_state=0)}
    if name in OF_ESTIMATORS:
        parameters = OF_ESTIMATORS[name]
    if name in SUPERVISED:
        parameters = SUPERVISED[name]
    if name in CLUSTERERS:
        parameters = CLUSTERERS[name]
    return all_estimators()[name](**(parameters | changes))


def mixtures() -> list[tuple[str, MultiViewEstimator]]:
    """(label, instance) of the estimators that take any row, with views and features missing, none at all among them."""
    return [(name, small(name)) for name in sorted(set(all_estimators()) & set(MIXTURES))]


def clusterers() -> list[tuple[str, MultiViewEstimator]]:
    """(label, instance) of the estimators that partition the samples."""
    return [(name, small(name)) for name in sorted(set(all_estimators()) & set(CLUSTERERS))]


def variants() -> list[tuple[str, MultiViewEstimator]]:
    """(label, instance) of every estimator, with the forms that take different routes listed one by one."""
    instances = []
    for name in sorted(set(all_estimators()) - ROW_BY_ROW - set(MIXTURES) - set(CLUSTERERS)):
        instances.append((name, small(name)))
        if name.startswith("BayesianCoTraining"):
            noise = {"noise_variance": 0.1} if name.endswith("Regressor") else {}
            joint = {"settings": [setting | noise for setting in (AGREE, JOINT)], "kernel": "linear"}
            instances.append((f"{name}-joint-linear", small(name, **joint)))
            for latent in ("mean", "consensus"):
                fixed = {"hyperparameters": "fixed", "latent": latent, "view_variances": 0.5, "settings": None}
                instances.append((f"{name}-fixed-{latent}", small(name, **fixed, **noise)))
        if name.startswith("PosteriorConsistencyGP"):
            instances.append((f"{name}-low-rank", small(name, approximation="low_rank")))
        if name == "CoTrainingKernelTransformer":
            instances.append((f"{name}-consensus", small(name, latent="consensus")))
    return instances
