"""Every way from rows with gaps to a kernel matrix; all share the scale of the features and gamma."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.metrics.pairwise import rbf_kernel

from coview.impute import expected_rbf_kernel
from coview.mixture import IncompleteGaussianMixture

__all__ = ["CONDITIONAL", "EXPECTED", "METHODS", "OWN_DIAGONAL", "TRUE", "UNCONDITIONAL", "Completion", "fitted"]

Matrix = NDArray[np.float64]

TRUE = "complete data"
EXPECTED = "expected kernel"
OWN_DIAGONAL = "expected kernel, (4) on the diagonal"
CONDITIONAL = "conditional mean"
UNCONDITIONAL = "unconditional mean"
METHODS = (EXPECTED, OWN_DIAGONAL, CONDITIONAL, UNCONDITIONAL, "zero", "KNN imputation", "iterative imputation")


@dataclass(frozen=True)
class Completion:
    """Kernel matrices of one incomplete table.

    Features are brought to mean 0 and standard deviation 1 over the values that are there. gamma is 1 / (2 p), one over the
    mean squared distance of two rows in that scale: with few values left a median over pairs would rest on pairs with next
    to no feature in common, and this needs none.

    Attributes
    ----------
    table : ndarray of shape (n, p)
        NaN where a value is missing.
    complete : ndarray of shape (n, p) or None
    choice : mapping
        Parameters of the mixture.
    seed : int
    widen : float
        Multiplies gamma.
    """

    table: Matrix
    complete: Matrix | None
    choice: Mapping[str, Any]
    seed: int
    widen: float = 1.0

    @property
    def gamma(self) -> float:
        """Of the Gaussian kernel, per squared unit of the scaled features."""
        return self.widen / (2 * self.table.shape[1])

    @cached_property
    def scale(self) -> tuple[Matrix, Matrix]:
        """Mean and standard deviation of each feature over its observed values; 1 where that does not vary."""
        deviation = np.nanstd(self.table, axis=0)
        return np.nanmean(self.table, axis=0), np.where(deviation > 0, deviation, 1.0)

    @cached_property
    def scaled(self) -> Matrix:
        """The incomplete rows in the common scale."""
        return (self.table - self.scale[0]) / self.scale[1]

    @cached_property
    def mixture(self) -> IncompleteGaussianMixture:
        """Fitted to all rows, training and test; no label is seen."""
        return fitted(self.choice, self.scaled, self.seed)

    def truth(self) -> Matrix:
        """The kernel of the complete rows in the same scale."""
        if self.complete is None:
            raise ValueError("The complete rows are not known, hence neither is their kernel.")
        return self._kernel((self.complete - self.scale[0]) / self.scale[1])

    def matrices(self, methods: Sequence[str] = METHODS) -> Iterator[tuple[str, Matrix]]:
        """Name and kernel between all rows of every method."""
        for name in methods:
            if name in (EXPECTED, OWN_DIAGONAL):
                yield name, self._expected[name]
            else:
                yield name, self._kernel(self._filled(name))

    @cached_property
    def _expected(self) -> dict[str, Matrix]:
        """The expected kernel with both diagonals; elsewhere they are the same."""
        own = expected_rbf_kernel(self.scaled, mixture=self.mixture, gamma=self.gamma, mean_embedding=True)
        ones = own.copy()
        np.fill_diagonal(ones, 1.0)
        return {EXPECTED: ones, OWN_DIAGONAL: own}

    def _kernel(self, rows: Matrix) -> Matrix:
        return rbf_kernel(rows, gamma=self.gamma)

    def _filled(self, name: str) -> Matrix:
        """The rows with every gap filled by one value."""
        if name == CONDITIONAL:
            return np.asarray(self.mixture.impute(self.scaled))
        if name in (UNCONDITIONAL, "zero"):  # zero in the units of the source
            fill = np.zeros(self.table.shape[1]) if name == UNCONDITIONAL else -self.scale[0] / self.scale[1]
            return np.where(np.isnan(self.scaled), fill, self.scaled)
        with warnings.catch_warnings():  # ten rounds are the default, whether or not they settle
            warnings.simplefilter("ignore", ConvergenceWarning)
            if name == "KNN imputation":
                imputer = KNNImputer(keep_empty_features=True)
            else:
                imputer = IterativeImputer(keep_empty_features=True, random_state=self.seed)
            return imputer.fit_transform(self.scaled)


def fitted(choice: Mapping[str, Any], table: Matrix, seed: int) -> IncompleteGaussianMixture:
    """A mixture of these parameters on these rows."""
    with warnings.catch_warnings():  # the table shows what a mixture is worth that stopped at its last iteration
        warnings.simplefilter("ignore", ConvergenceWarning)
        return IncompleteGaussianMixture(random_state=seed, **choice).fit(table)
