"""Gaussian processes over several views: Bayesian co-training and its covariances."""

from coview.gaussian_process._co_training_classifier import BayesianCoTrainingClassifier
from coview.gaussian_process._co_training_regressor import BayesianCoTrainingRegressor
from coview.gaussian_process._consensus_posterior import ConsensusPosterior
from coview.gaussian_process._consistent_set import consistent_set
from coview.gaussian_process._kernel_transformer import CoTrainingKernelTransformer
from coview.gaussian_process._posterior_consistency_classifier import PosteriorConsistencyGPClassifier
from coview.gaussian_process._posterior_consistency_cv import PosteriorConsistencyGPClassifierCV
from coview.gaussian_process._posterior_consistency_regressor import PosteriorConsistencyGPRegressor
from coview.gaussian_process._prepared import PreparedViews
from coview.kernels import (
    co_regularization_precision,
    co_training_kernel,
    co_training_precision,
    mean_consensus_kernel,
    side_information_kernel,
)

__all__ = [
    "BayesianCoTrainingClassifier",
    "BayesianCoTrainingRegressor",
    "CoTrainingKernelTransformer",
    "ConsensusPosterior",
    "PosteriorConsistencyGPClassifier",
    "PosteriorConsistencyGPClassifierCV",
    "PosteriorConsistencyGPRegressor",
    "PreparedViews",
    "co_regularization_precision",
    "co_training_kernel",
    "co_training_precision",
    "consistent_set",
    "mean_consensus_kernel",
    "side_information_kernel",
]
