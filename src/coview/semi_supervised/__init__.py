"""Learners from few labels that make views agree."""

from coview.semi_supervised._co_em import CoEMClassifier
from coview.semi_supervised._co_laplacian import CoLaplacianLeastSquaresClassifier, CoLaplacianSVC
from coview.semi_supervised._co_regularized_least_squares import (
    CoRegularizedLeastSquaresClassifier,
    CoRegularizedLeastSquaresRegressor,
)
from coview.semi_supervised._co_regularized_svc import CoRegularizedSVC
from coview.semi_supervised._co_training_classifier import CoTrainingClassifier
from coview.semi_supervised._co_training_regressor import CoTrainingRegressor
from coview.semi_supervised._laplacian import LaplacianLeastSquaresClassifier, LaplacianSVC

__all__ = [
    "CoEMClassifier",
    "CoLaplacianLeastSquaresClassifier",
    "CoLaplacianSVC",
    "CoRegularizedLeastSquaresClassifier",
    "CoRegularizedLeastSquaresRegressor",
    "CoRegularizedSVC",
    "CoTrainingClassifier",
    "CoTrainingRegressor",
    "LaplacianLeastSquaresClassifier",
    "LaplacianSVC",
]
