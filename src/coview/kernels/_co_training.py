"""Covariances that several views imply: co-training kernel, mean consensus, joint prior, side information."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag

from coview.exceptions import ViewError
from coview.inference import DenseConsensus, ViewWeights
from coview.linalg import cholesky

__all__ = [
    "co_regularization_precision",
    "co_training_kernel",
    "co_training_precision",
    "dense_consensus",
    "mean_consensus_kernel",
    "side_information_kernel",
]


def dense_consensus(
    grams: Sequence[ArrayLike],
    view_variances: ArrayLike,
    presence: ArrayLike | None = None,
    view_factors: ArrayLike | None = None,
) -> DenseConsensus:
    """Check Gram matrices against presence and bundle them with the view variances.

    Parameters
    ----------
    grams : sequence of array-like of shape (n_present, n_present)
        One per view, over the samples that have it, in increasing order.
    view_variances : array-like of shape (n_views,) or float
    presence : array-like of shape (n_samples, n_views), dtype=bool, default=None
    view_factors : array-like of shape (n_views,), default=None

    Returns
    -------
    consensus : DenseConsensus
    """
    matrices = [np.asarray(gram, dtype=np.float64) for gram in grams]
    if not matrices:
        raise ViewError("At least one view is needed; got an empty list of Gram matrices.")
    if presence is None:
        presence = np.ones((matrices[0].shape[0], len(matrices)), dtype=bool)
    mask = np.asarray(presence, dtype=bool)
    if mask.ndim != 2 or mask.shape[1] != len(matrices):
        raise ViewError(f"presence must have one column per view ({len(matrices)}); got shape {mask.shape}.")
    for j, (matrix, count) in enumerate(zip(matrices, mask.sum(axis=0), strict=True)):
        if matrix.shape != (count, count) and not (count == 0 and matrix.size == 0):
            raise ViewError(
                f"The Gram matrix of view {j} must be {count} x {count}, one row per sample that has the view; "
                f"got shape {matrix.shape}."
            )
    return DenseConsensus(matrices, ViewWeights.of(view_variances, len(matrices), view_factors), mask)


def co_training_precision(
    grams: Sequence[ArrayLike], view_variances: ArrayLike, presence: ArrayLike | None = None
) -> NDArray[np.float64]:
    r"""Precision of the consensus function given one Gram matrix per view.

    Parameters
    ----------
    grams : sequence of array-like of shape (n_present, n_present)
        One per view, over the samples that have it, in increasing order.
    view_variances : array-like of shape (n_views,) or float
        Variance of each view about the consensus, in squared units of the latent function.
    presence : array-like of shape (n_samples, n_views), dtype=bool, default=None
        True where the sample has the view; None if all do.

    Returns
    -------
    precision : ndarray of shape (n_samples, n_samples)
        Symmetric positive semi-definite; singular when a sample has no view.

    Notes
    -----
    Equation (8) of [1]_ with missing views (section 4): :math:`\Lambda_c = \sum_j E_j (K_j + \sigma_j^2 I)^{-1} E_j^T`.
    Time O(sum of n_j^3), memory O(n^2).

    References
    ----------
    .. [1] S. Yu, B. Krishnapuram, R. Rosales, R. B. Rao, "Bayesian Co-Training", JMLR 12, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.gaussian_process import co_training_precision
    >>> co_training_precision([np.eye(2), np.eye(2)], 1.0)
    array([[1., 0.],
           [0., 1.]])
    """
    return dense_consensus(grams, view_variances, presence).precision()


def co_training_kernel(
    grams: Sequence[ArrayLike], view_variances: ArrayLike, presence: ArrayLike | None = None
) -> NDArray[np.float64]:
    r"""Covariance of the consensus function given one Gram matrix per view.

    Two samples are alike for the consensus when every view that both have says so. Use it as a kernel for any machine, or
    leave it to `BayesianCoTrainingClassifier` with ``latent="consensus"``.

    Parameters
    ----------
    grams : sequence of array-like of shape (n_present, n_present)
        One per view, over the samples that have it, in increasing order.
    view_variances : array-like of shape (n_views,) or float
        Variance of each view about the consensus, in squared units of the latent function; finite.
    presence : array-like of shape (n_samples, n_views), dtype=bool, default=None
        True where the sample has the view; None if all do.

    Returns
    -------
    K : ndarray of shape (n_samples, n_samples), symmetric positive definite

    Raises
    ------
    ViewError
        If a sample has no view; its rows are named.
    NotPositiveDefiniteError
        If a Gram matrix stays indefinite at the largest jitter.

    Notes
    -----
    Equation (8) of [1]_: :math:`K_c^{-1} = \sum_j E_j (K_j + \sigma_j^2 I)^{-1} E_j^T`. Complete views are folded by the
    parallel sum, which needs no inverse. Time O(n_views n^3), memory O(n^2).

    References
    ----------
    .. [1] S. Yu, B. Krishnapuram, R. Rosales, R. B. Rao, "Bayesian Co-Training", JMLR 12, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.gaussian_process import co_training_kernel
    >>> co_training_kernel([np.eye(2), np.eye(2)], [1.0, 1.0])
    array([[1., 0.],
           [0., 1.]])
    """
    return dense_consensus(grams, view_variances, presence).consensus_covariance


def mean_consensus_kernel(
    grams: Sequence[ArrayLike],
    view_variances: ArrayLike,
    presence: ArrayLike | None = None,
    view_factors: ArrayLike | None = None,
) -> NDArray[np.float64]:
    r"""Covariance of the mean that the views imply, the consensus function without its white noise.

    Small variances ask the views to agree, infinite ones add them: the additive Gaussian process.

    Parameters
    ----------
    grams : sequence of array-like of shape (n_present, n_present)
        One per view, over the samples that have it, in increasing order.
    view_variances : array-like of shape (n_views,) or float
        Variance of each view about the consensus, in squared latent units; ``numpy.inf`` is the additive limit.
    presence : array-like of shape (n_samples, n_views), dtype=bool, default=None
        True where the sample has the view; None if all do.
    view_factors : array-like of shape (n_views,), default=None
        Factors ``c_j`` of the variances, which also set the shares where the variances are infinite.

    Returns
    -------
    K_s : ndarray of shape (n_samples, n_samples), symmetric positive semi-definite

    Raises
    ------
    ViewError
        If a sample has no view; its rows are named.

    Notes
    -----
    :math:`K_s = K_c - \mathrm{diag}(1 / W)` with :math:`W_i` the sum of the precisions of the views of sample i, computed
    without that subtraction. Time O(n_views n^3), memory O(n^2).

    Examples
    --------
    >>> import numpy as np
    >>> from coview.gaussian_process import mean_consensus_kernel
    >>> mean_consensus_kernel([np.eye(2), np.eye(2)], np.inf)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    return dense_consensus(grams, view_variances, presence, view_factors).mean_covariance


def side_information_kernel(
    grams: Sequence[ArrayLike], view_variances: ArrayLike, view: int, presence: ArrayLike | None = None
) -> NDArray[np.float64]:
    r"""Covariance of one view's latent function given that the views agree.

    Parameters
    ----------
    grams, view_variances, presence
        As for `co_training_kernel`.
    view : int
        Position of the view.

    Returns
    -------
    C : ndarray of shape (n_present, n_present)
        Over the samples that have the view.

    Notes
    -----
    The corrected equation (11) of Yu et al. (JMLR 12, 2011), in a form that needs no inverse of the view's Gram matrix:
    :math:`C_j = \sigma_j^2 K_j \Gamma_j + K_j \Gamma_j K_c(I_j, I_j) \Gamma_j K_j`. Time O(n_views n^3).

    Examples
    --------
    >>> import numpy as np
    >>> from coview.gaussian_process import side_information_kernel
    >>> side_information_kernel([np.eye(1), np.eye(1)], [1.0, 1.0], 0)
    array([[0.75]])
    """
    consensus = dense_consensus(grams, view_variances, presence)
    if not 0 <= view < len(consensus.grams):
        raise ViewError(f"view must be a position between 0 and {len(consensus.grams) - 1}; got {view}.")
    return consensus.side_information(view)


def co_regularization_precision(
    grams: Sequence[ArrayLike], view_variances: ArrayLike, presence: ArrayLike | None = None
) -> NDArray[np.float64]:
    r"""Joint prior precision of the latent functions of all views, the consensus integrated out.

    Parameters
    ----------
    grams, view_variances, presence
        As for `co_training_kernel`; every Gram matrix must be positive definite.

    Returns
    -------
    precision : ndarray of shape (sum of n_present, sum of n_present)
        Views stacked in order, inside a view by increasing sample.

    Raises
    ------
    NotPositiveDefiniteError
        If a Gram matrix is singular: its inverse is part of the result.

    Notes
    -----
    Equation (7) of Yu et al. (JMLR 12, 2011) with missing views:
    :math:`\Lambda(j, j) = K_j^{-1} + \mathrm{diag}(w_j (W_i - w_j) / W_i)` and
    :math:`\Lambda(j, k)_{ii} = -w_j w_k / W_i` where sample i has both views.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.gaussian_process import co_regularization_precision
    >>> co_regularization_precision([np.eye(1), np.eye(1)], [1.0, 1.0])
    array([[ 1.5, -0.5],
           [-0.5,  1.5]])
    """
    consensus = dense_consensus(grams, view_variances, presence)
    if not consensus.weights.finite.all():
        raise ViewError("co_regularization_precision needs finite view variances.")
    w, mask = consensus.weights.precisions, consensus.presence
    total = mask @ w
    inverses = [cholesky(gram, name=f"The Gram matrix of view {j}").inverse() for j, gram in enumerate(consensus.grams)]
    precision = np.asarray(block_diag(*inverses), dtype=np.float64)
    starts = np.concatenate([[0], np.cumsum(mask.sum(axis=0))])
    for j, rows in enumerate(consensus.rows):
        for k in range(len(w)):
            both = rows[mask[rows, k]] if k != j else rows
            here = starts[j] + np.searchsorted(rows, both)
            there = starts[k] + np.searchsorted(consensus.rows[k], both)
            others = mask[both] @ w - w[j] if k == j else -w[k]
            precision[here, there] += w[j] * others / total[both]
    return precision
