"""Mixtures of views in which anything may be missing."""

from coview.mixture._class_conditional import ClassConditionalGaussianMixture
from coview.mixture._co_em_mixture import CoEMMixture
from coview.mixture._conditional_mixture import ConditionalMixture, ConditionalRow
from coview.mixture._factor_mixture import FactorMixture
from coview.mixture._factor_mixture_classifier import FactorMixtureClassifier
from coview.mixture._incomplete_gaussian import IncompleteGaussianMixture

__all__ = [
    "ClassConditionalGaussianMixture",
    "CoEMMixture",
    "ConditionalMixture",
    "ConditionalRow",
    "FactorMixture",
    "FactorMixtureClassifier",
    "IncompleteGaussianMixture",
]
