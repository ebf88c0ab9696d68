"""Kernels between rows with missing features, the missing ones integrated out under a Gaussian mixture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.impute._expected_inputs import MixtureParameters, Rows, gamma_by_feature, read_for_mixture
from coview.kernels import expected_linear_gram, expected_polynomial_gram, expected_rbf_gram

__all__ = ["expected_linear_kernel", "expected_polynomial_kernel", "expected_rbf_kernel"]


def expected_rbf_kernel(
    X: Any,
    Y: Any = None,
    *,
    mixture: Any,
    gamma: Any,
    normalized: bool = False,
    mean_embedding: bool = False,
) -> NDArray[np.float64]:
    r"""RBF kernel between rows with missing views or features, averaged over what they may be.

    The mixture says how the missing values are distributed given the observed ones; the kernel is integrated over them in
    closed form, for any pattern of missing values on either side. Rows that miss nothing get the ordinary kernel.

    Parameters
    ----------
    X, Y : array-like, DataFrame, list or dict of them, or Views, of n_x and n_y rows
        NaN where a value is missing. ``Y=None`` is X with itself.
    mixture : fitted IncompleteGaussianMixture or ClassConditionalGaussianMixture
        Or any estimator with ``weights_``, ``means_`` and full ``covariances_``.
    gamma : float, list, dict or array
        One number, one for each view (list by position, dict by name, whose entries may again be one number for each
        feature of the view), or an array of one number for each feature. In units of one over a squared feature;
        :math:`\gamma = 1 / (2 \sigma_\kappa^2)`.
    normalized : bool, default=False
        Whether the kernel is the density :math:`N(x - y | 0, \Sigma_\kappa)`, the form of the paper, instead of 1 at
        distance 0. It soon under- or overflows where there are many features.
    mean_embedding : bool, default=False
        Whether, for ``Y=None``, the diagonal is that of two independent draws instead of 1.

    Returns
    -------
    K : ndarray of shape (n_x, n_y)
        Positive semidefinite for ``Y=None``, with either diagonal.

    Raises
    ------
    NotFittedError
        If the mixture is not fitted.
    ValueError
        If X, Y or gamma do not fit the mixture, or gamma is negative.
    NotPositiveDefiniteError
        If a covariance of the mixture is not positive definite.

    Notes
    -----
    Equation (4) of [1]_ with its index sets put right: with responsibilities r, completed means :math:`\hat x` and
    conditional covariances P (zero where observed), features scaled by :math:`\sqrt{2 \gamma}`,

    .. math::
        K_{ij} = \sum_{ab} r_{ia} r_{jb} |I + P_{ia} + P_{jb}|^{-1/2}
        \exp\left(-\tfrac12 (\hat x_{ia} - \hat x_{jb})^T (I + P_{ia} + P_{jb})^{-1} (\hat x_{ia} - \hat x_{jb})\right)

    Every pair is two different objects, rows with equal values included. A row with itself has distance 0 whatever it
    misses, hence 1 on the diagonal for ``Y=None``; then K is the expectation of the kernel matrix of the completed data,
    and differs from ``expected_rbf_kernel(X, X)`` on the diagonal exactly. With ``mean_embedding=True`` the diagonal is
    that of the formula, too, and K is the matrix of inner products of the rows' mean embeddings: a function of the two rows
    alone. A machine that meets training rows again when it predicts sees that form in any case.

    One Cholesky factor per pair of missingness patterns and of components, of the order of the features that one of the two
    misses; then one product for all pairs of rows. Responsibilities below 1e-12 are skipped. Memory O(n_x n_y).

    References
    ----------
    .. [1] D. Williams and L. Carin, "Analytical Kernel Matrix Completion with Incomplete Multi-View Data", ICML workshop
       Learning with Multiple Views, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.impute import expected_rbf_kernel
    >>> from coview.mixture import IncompleteGaussianMixture
    >>> mixture = IncompleteGaussianMixture.from_parameters([1.0], [[0.3]], [[[1.4]]])
    >>> expected_rbf_kernel([[0.0], [np.nan], [1.0]], mixture=mixture, gamma=0.5).round(3)
    array([[1.   , 0.634, 0.607],
           [0.634, 1.   , 0.583],
           [0.607, 0.583, 1.   ]])
    """
    parameters = MixtureParameters.of(mixture)

    def between(left: Rows, right: Rows | None, widths: Mapping[str, int]) -> NDArray[np.float64]:
        by_feature = gamma_by_feature(gamma, widths)
        K = expected_rbf_gram(left, right, by_feature, mean_embedding=mean_embedding)
        return K * _density_at_zero(by_feature) if normalized else K

    return _expected_kernel(between, X, Y, mixture, parameters)


def expected_linear_kernel(X: Any, Y: Any = None, *, mixture: Any, mean_embedding: bool = False) -> NDArray[np.float64]:
    r"""Inner products between rows with missing views or features, averaged over what they may be.

    Between different rows it is the inner product of their conditional means; a row with itself has its uncertainty, too.

    Parameters
    ----------
    X, Y : array-like, DataFrame, list or dict of them, or Views, of n_x and n_y rows
        NaN where a value is missing. ``Y=None`` is X with itself.
    mixture : fitted IncompleteGaussianMixture or ClassConditionalGaussianMixture
    mean_embedding : bool, default=False
        Whether, for ``Y=None``, the diagonal is :math:`|E x|^2` instead of :math:`E |x|^2`.

    Returns
    -------
    K : ndarray of shape (n_x, n_y)
        Positive semidefinite for ``Y=None``, in squared units of the features.

    Raises
    ------
    NotFittedError
        If the mixture is not fitted.
    ValueError
        If X or Y do not fit the mixture.

    Notes
    -----
    Section 2 of Williams and Carin (see :func:`expected_rbf_kernel`), whose "equivalent to conditional mean imputation" holds
    off the diagonal only. Time O(n_x n_y p) beside the conditioning.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.impute import expected_linear_kernel
    >>> from coview.mixture import IncompleteGaussianMixture
    >>> mixture = IncompleteGaussianMixture.from_parameters([1.0], [[0.5]], [[[2.0]]])
    >>> expected_linear_kernel([[2.0], [np.nan]], mixture=mixture)
    array([[4.  , 1.  ],
           [1.  , 2.25]])
    """
    parameters = MixtureParameters.of(mixture)

    def between(left: Rows, right: Rows | None, widths: Mapping[str, int]) -> NDArray[np.float64]:
        return expected_linear_gram(left, right, mean_embedding=mean_embedding)

    return _expected_kernel(between, X, Y, mixture, parameters)


def expected_polynomial_kernel(
    X: Any,
    Y: Any = None,
    *,
    mixture: Any,
    degree: int = 3,
    gamma: Any = None,
    coef0: float = 1.0,
    mean_embedding: bool = False,
) -> NDArray[np.float64]:
    r"""Polynomial kernel between rows with missing views or features, averaged over what they may be.

    Parameters
    ----------
    X, Y : array-like, DataFrame, list or dict of them, or Views, of n_x and n_y rows
        NaN where a value is missing. ``Y=None`` is X with itself.
    mixture : fitted IncompleteGaussianMixture or ClassConditionalGaussianMixture
    degree : int, default=3
        From 1 up; every degree in closed form.
    gamma : float, list, dict or array, default=None
        Factor of the inner product, in the forms of :func:`expected_rbf_kernel`; None is one over the number of features.
    coef0 : float, default=1
        Not negative, so that the kernel is positive semidefinite.
    mean_embedding : bool, default=False
        Whether, for ``Y=None``, the diagonal is that of two independent draws instead of :math:`E k(x, x)`.

    Returns
    -------
    K : ndarray of shape (n_x, n_y)
        ``E (gamma x^T y + coef0)^degree``; positive semidefinite for ``Y=None``.

    Raises
    ------
    NotFittedError
        If the mixture is not fitted.
    ValueError
        If X, Y or gamma do not fit the mixture, gamma or coef0 is negative, or degree is not a positive integer.

    Notes
    -----
    Section 2 of Williams and Carin (see :func:`expected_rbf_kernel`) leaves this case to the reader. Given their components
    two rows are Gaussian and independent, their inner product has the cumulants

    .. math::
        \kappa_{2k+1} = (2k+1)!\, x^T (QP)^k y, \quad
        \kappa_{2k} = (2k-1)!\, \mathrm{tr}(PQ)^k
        + \tfrac{(2k)!}{2} (x^T (QP)^{k-1} Q x + y^T (PQ)^{k-1} P y)

    (x, y the conditional means, P, Q the covariances, features scaled by :math:`\sqrt{\gamma}`), and moments follow from
    cumulants. Time as for the RBF kernel, times the degree.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.impute import expected_polynomial_kernel
    >>> from coview.mixture import IncompleteGaussianMixture
    >>> mixture = IncompleteGaussianMixture.from_parameters([1.0], [[0.5]], [[[2.0]]])
    >>> expected_polynomial_kernel([[2.0], [np.nan]], mixture=mixture, degree=2, gamma=1.0, coef0=0.0)
    array([[16.    ,  9.    ],
           [ 9.    , 15.0625]])
    """
    parameters = MixtureParameters.of(mixture)
    if not isinstance(degree, int | np.integer) or isinstance(degree, bool) or degree < 1:
        raise ValueError(f"degree must be an integer from 1 up; got {degree!r}.")
    if not coef0 >= 0.0 or not np.isfinite(coef0):
        raise ValueError(
            f"coef0 must be a number from 0 up, or the kernel is not positive semidefinite; got {coef0!r}."
        )

    def between(left: Rows, right: Rows | None, widths: Mapping[str, int]) -> NDArray[np.float64]:
        by_feature = gamma_by_feature(1.0 / sum(widths.values()) if gamma is None else gamma, widths)
        return expected_polynomial_gram(
            left, right, by_feature, degree=int(degree), coef0=float(coef0), mean_embedding=mean_embedding
        )

    return _expected_kernel(between, X, Y, mixture, parameters)


def _expected_kernel(
    between: Callable[[Rows, Rows | None, Mapping[str, int]], NDArray[np.float64]],
    X: Any,
    Y: Any,
    mixture: Any,
    parameters: MixtureParameters,
) -> NDArray[np.float64]:
    """Kernel values between the rows of X and those of Y as the mixture reads them."""
    table, widths = read_for_mixture(mixture, X)
    left = parameters.condition(table)
    right = None if Y is None else parameters.condition(read_for_mixture(mixture, Y)[0])
    if not left or right == []:
        return np.zeros((len(table), len(table) if right is None else sum(len(part.rows) for part in right)))
    return between(left, right, widths)


def _density_at_zero(gamma: NDArray[np.float64]) -> float:
    """Density of the difference of two rows at zero, the z_kappa of equation (3)."""
    if not (gamma > 0.0).all():
        raise ValueError("normalized=True needs gamma above 0 for every feature: at 0 the kernel is no density.")
    log_density = 0.5 * float(np.log(gamma / np.pi).sum())
    if abs(log_density) > 700.0:
        raise ValueError(
            f"normalized=True multiplies the kernel by exp({log_density:.0f}), which floating-point numbers do not hold. "
            "Leave normalized=False: the two differ by this constant only."
        )
    return float(np.exp(log_density))
