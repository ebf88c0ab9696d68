"""Covariances of a prior between the labeled samples, in whichever form is smaller: matrices or features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coview.inference._dense_covariance import DenseCovariance
from coview.inference._factored_covariance import FactoredCovariance
from coview.inference._priors import ConsensusPrior, Prior

__all__ = ["LabeledCovariance", "concatenated", "factored_width", "labeled_covariance"]

LabeledCovariance = DenseCovariance | FactoredCovariance
"""Prior covariances of a stack of latent functions between labeled samples, as matrices or as products of features."""


def factored_width(prior: Prior, n_labeled: int, bias_variance: float) -> int | None:
    """Features of the latent function, its bias among them; None where they are no fewer than the labels, or not known."""
    if prior.n_features is None:
        return None
    width = prior.n_features + int(bias_variance > 0.0)
    return width if width < n_labeled else None


def labeled_covariance(
    prior: Prior, rows: NDArray[np.intp], scales: NDArray[np.float64], bias_variance: float
) -> LabeledCovariance:
    """Prior covariances of ``g = b + s m`` between labeled rows, ``s^2 K(l, l) + beta 1 1^T``.

    Parameters
    ----------
    prior : Prior
        Covariance of m.
    rows : ndarray of shape (n_labeled,)
    scales : ndarray of shape (n_members,)
        ``s^2`` of each member of the stack.
    bias_variance : float
        ``beta``.

    Returns
    -------
    covariance : DenseCovariance or FactoredCovariance
        By features where they are fewer than the labels, else by matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import JointPrior, labeled_covariance
    >>> prior = JointPrior.of(np.array([[1.0], [2.0], [3.0], [4.0]]))
    >>> labeled_covariance(prior, np.arange(3), np.array([4.0]), 0.25).factors
    array([[[2. , 0.5],
            [4. , 0.5],
            [6. , 0.5]]])
    >>> labeled_covariance(prior, np.arange(2), np.array([4.0]), 0.25).matrices
    array([[[ 4.25,  8.25],
            [ 8.25, 16.25]]])
    """
    width = factored_width(prior, rows.size, bias_variance)
    if width is None or isinstance(prior, ConsensusPrior):
        return DenseCovariance(scales[:, None, None] * prior.block(rows) + bias_variance)
    features = prior.features(rows)
    factors = np.full((scales.size, rows.size, width), np.sqrt(bias_variance))
    factors[:, :, : features.shape[1]] = np.sqrt(scales)[:, None, None] * features
    return FactoredCovariance(factors)


def concatenated(parts: Sequence[LabeledCovariance]) -> LabeledCovariance:
    """The members of several stacks of one form and shape, one after the other."""
    factored = [part.factors for part in parts if isinstance(part, FactoredCovariance)]
    if factored:
        return FactoredCovariance(np.concatenate(factored))
    return DenseCovariance(np.concatenate([part.matrices for part in parts if isinstance(part, DenseCovariance)]))
