"""Posteriors, evidences and averages: arrays in, arrays out."""

from coview.inference._consensus import DenseConsensus, Experts, NewGrams, combine_experts
from coview.inference._laplace import LaplaceFit, laplace_fit
from coview.inference._logistic_normal import logistic_normal_mean, moderated_logit
from coview.inference._regression import RegressionFit
from coview.inference._shares import ViewWeights, rows_without_view

__all__ = [
    "DenseConsensus",
    "Experts",
    "LaplaceFit",
    "NewGrams",
    "RegressionFit",
    "ViewWeights",
    "combine_experts",
    "laplace_fit",
    "logistic_normal_mean",
    "moderated_logit",
    "rows_without_view",
]
