"""Exact covariances of the printed model, and the grid of view variances."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc
from sklearn.preprocessing import normalize

from coview import Views
from coview.kernels import co_training_kernel, mean_consensus_kernel

__all__ = ["DEFAULT_SHARE", "SCALINGS", "ViewGrams", "variance_grid"]

# View variances of the fixed model, in multiples of each kernel's mean diagonal: the default of the estimators.
DEFAULT_SHARE = 0.1
SCALINGS = ("counts", "unit rows")
_POWERS = 10.0 ** np.arange(-3, 4)
_QUASI_RANDOM = 24


def variance_grid(n_views: int) -> list[tuple[float, ...]]:
    """View variances in multiples of each kernel's mean diagonal, the grid that the estimators average over.

    All combinations of seven powers of ten for two views; for more the common values and 24 quasi-random points.
    """
    if n_views == 2:
        points = np.stack(np.meshgrid(_POWERS, _POWERS, indexing="ij"), axis=-1).reshape(-1, 2)
    else:
        sobol = qmc.Sobol(n_views, rng=0).random(2 ** int(np.ceil(np.log2(_QUASI_RANDOM))))[:_QUASI_RANDOM]
        points = np.concatenate([np.repeat(_POWERS[:, None], n_views, axis=1), 10.0 ** (6.0 * sobol - 3.0)])
    return [tuple(float(value) for value in point) for point in points]


@dataclass(frozen=True)
class ViewGrams:
    """Linear kernels of the views over the samples that have them.

    Attributes
    ----------
    grams : list of ndarray of shape (n_present, n_present)
    presence : ndarray of shape (n_samples, n_views), dtype=bool
    """

    grams: Sequence[NDArray[np.float64]]
    presence: NDArray[np.bool_]

    @classmethod
    def of(cls, views: Views, scaling: str) -> "ViewGrams":
        """Linear kernels of the rows as they are ("counts"), or of rows of unit length; O(n^2) numbers per view."""
        blocks = [views[name] if scaling == "counts" else normalize(views[name]) for name in views.names]
        return cls([(block @ block.T).toarray() for block in blocks], views.presence)

    @property
    def units(self) -> NDArray[np.float64]:
        """Mean diagonal of each kernel (n_views,)."""
        return np.array([np.diagonal(gram).mean() for gram in self.grams])

    def spread(self) -> list[NDArray[np.float64]]:
        """The kernels over all samples, zero where a sample lacks the view."""
        return [_embedded(gram, mask) for gram, mask in zip(self.grams, self.presence.T, strict=True)]

    def co_training_kernel(self, point: Sequence[float]) -> NDArray[np.float64]:
        """K_c, equation (8) of the paper; view variances in multiples of the kernels' mean diagonals; O(n_views n^3)."""
        return co_training_kernel(self.grams, np.asarray(point) * self.units, self.presence)

    def mean_consensus_kernel(self, point: Sequence[float]) -> NDArray[np.float64]:
        """K_s, the same without the white noise of the consensus function."""
        return mean_consensus_kernel(self.grams, np.asarray(point) * self.units, self.presence)


def _embedded(gram: NDArray[np.float64], mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """A kernel over some samples as one over all."""
    if mask.all():
        return gram
    whole = np.zeros((mask.size, mask.size))
    whole[np.ix_(mask, mask)] = gram
    return whole
