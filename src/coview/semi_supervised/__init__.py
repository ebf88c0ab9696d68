"""Learners from few labels that make views agree."""

from coview.semi_supervised._co_em import CoEMClassifier
from coview.semi_supervised._co_laplacian import CoLaplacianLeastSquaresClassifier, CoLaplacianSVC
from coview.semi_supervised._co_training_classifier import CoTrainingClassifier
from coview.semi_supervised._laplacian import LaplacianLeastSquaresClassifier, LaplacianSVC

__all__ = [
    "CoEMClassifier",
    "CoLaplacianLeastSquaresClassifier",
    "CoLaplacianSVC",
    "CoTrainingClassifier",
    "LaplacianLeastSquaresClassifier",
    "LaplacianSVC",
]
