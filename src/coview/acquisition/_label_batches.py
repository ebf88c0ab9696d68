"""Several labels at once, each chosen as if those before it had been told."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coview.acquisition._feature_scores import FeatureScores
from coview.acquisition._label_utilities import label_moments
from coview.acquisition._scored_model import ScoredModel
from coview.inference import label_information

__all__ = ["LabelBatch"]

Array = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass
class LabelBatch:
    """Information of labels, which falls with every label that is taken.

    A label of curvature phi at sample i leaves the covariances ``S - S_i S_i^T phi / (1 + phi S_ii)``, O(n R) for R features.
    Variances are those of `label_utilities`, correlations those of the posterior on features.

    Attributes
    ----------
    pairs : ndarray of shape (n_places, 2)
        Samples, and the column of labels.
    seed : int
    curvatures, variances : ndarray of shape (n_samples, K)
    roots : ndarray of shape (K, n_samples, R)
        Inner products are covariances at the start, apart from variances.
    """

    pairs: Places
    seed: int
    curvatures: Array
    variances: Array
    roots: Array
    updates: bool = True

    @classmethod
    def of(cls, scored: ScoredModel, posterior: Any, pairs: Places, seed: int) -> Self:
        """At the start; the posterior is that of the model, on features."""
        curvatures, variances = label_moments(scored)
        roots, own = FeatureScores(scored, posterior).covariance_roots()
        roots = roots * np.sqrt(variances.T / np.where(own > 0.0, own, 1.0))[:, :, None]
        return cls(pairs, seed, curvatures, variances, roots)

    def __post_init__(self) -> None:
        self._taken: list[Array] = []  # what each label takes away, (n_samples, K)

    def utilities(self, among: Places) -> Array:
        """Utility of each place."""
        return self.score(np.arange(len(self.pairs)))

    def score(self, chosen: Places) -> Array:
        """Utilities of some places."""
        rows = self.pairs[chosen, 0]
        return np.asarray(label_information(self.variances[rows], self.curvatures[rows]))

    def take(self, position: int) -> None:
        """Go on as if a label had been told; sites of the others stay."""
        row = self.pairs[position, 0]
        covariances = np.einsum("knr,kr->nk", self.roots, self.roots[:, row])
        for taken in self._taken:
            covariances -= taken * taken[row]
        covariances[row] = self.variances[row]
        phi = self.curvatures[row]
        fall = covariances * np.sqrt(phi / (1.0 + phi * self.variances[row]))
        self.variances = np.maximum(self.variances - np.square(fall), 0.0)
        self._taken.append(fall)

    def branch(self) -> Self:
        """The same to go on from, apart from this."""
        other = copy.copy(self)
        other._taken = list(self._taken)
        return other
