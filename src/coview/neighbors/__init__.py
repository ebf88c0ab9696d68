"""Classifiers by near samples of several views."""

from coview.neighbors._hyperplane import HyperplaneKNeighborsClassifier
from coview.neighbors._hyperplane_cv import HyperplaneKNeighborsClassifierCV
from coview.neighbors._moderated import ModeratedKNeighborsClassifier
from coview.neighbors._multi_represented import MultiRepresentedKNeighborsClassifier

__all__ = [
    "HyperplaneKNeighborsClassifier",
    "HyperplaneKNeighborsClassifierCV",
    "ModeratedKNeighborsClassifier",
    "MultiRepresentedKNeighborsClassifier",
]
