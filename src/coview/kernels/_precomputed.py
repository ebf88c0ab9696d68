"""Kernel values computed elsewhere, in the shape of a kernel function."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.exceptions import ViewError
from coview.linalg import as_dense

__all__ = ["PrecomputedKernel"]


class PrecomputedKernel:
    """Reads kernel values from rows of kernel values.

    Parameters
    ----------
    training : ndarray of shape (n_present, n_samples)
        Rows of the view: kernel values of each sample that has it with all training samples.
    rows : ndarray of shape (n_present,)
        Positions of these samples, hence the columns that count.
    n_columns : int
        Number of training samples, hence of columns.
    name : str
        Name of the view, for messages.
    """

    def __init__(self, training: Any, rows: NDArray[np.intp], n_columns: int, name: str) -> None:
        self.training = training
        self.rows = rows
        self.name = name
        if training.shape[1] != n_columns:
            raise ViewError(
                f"View {name!r} with kernel='precomputed' must have one column per training sample ({n_columns}); got "
                f"{training.shape[1]}. Precomputed values cannot be cut by rows alone, as cross-validation does: use a kernel "
                "object there."
            )

    def __call__(self, X: Any, Y: Any) -> NDArray[np.float64]:
        """Columns of X that belong to the training samples with the view; Y must be the training rows."""
        return as_dense(X[:, self.rows])

    def diag(self, X: Any) -> NDArray[np.float64]:
        """Value of each sample with itself: read off for the training rows, the common one for new rows."""
        own = np.diagonal(self(self.training, self.training))
        if X is self.training:
            return own
        if own.size and np.ptp(own) <= 1e-8 * np.abs(own).max():
            return np.full(X.shape[0], own.mean())
        raise ViewError(
            f"New rows of view {self.name!r} need the kernel value of each row with itself, which rows of precomputed values "
            "do not hold and which varies over the training samples. Use a kernel object, or normalize the kernel to a "
            "constant diagonal."
        )
