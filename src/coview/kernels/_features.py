"""Feature maps for training and new rows: the leading spectrum of one view, or of all views together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state

from coview.kernels._per_view import KernelLike, diagonal, gram, kernel_per_view, linear_amplitude, resolve_kernel
from coview.kernels._spectrum import GramSpectrum, LinearSpectrum

__all__ = ["JointSpectralFeatures", "SpectralFeatures", "stack_views", "take_samples"]

# Rows whose kernel values with some 2,000 others are held at a time: larger arrays are new pages for the system each time.
_BLOCK_ROWS = 1024


class SpectralFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Features whose inner products are the leading spectrum of one view's kernel.

    The Gram matrix of the training rows is centered, scaled to a mean diagonal of one and cut to its largest eigenvalues, in
    this order; new rows are projected onto the same eigenvectors, so that they need no refit.

    Parameters
    ----------
    kernel : kernel object, "linear", "rbf" or callable
    n_components : int, default=None
        Rank of the cut; None keeps every eigenvalue above 1e-12 of the largest.
    center : bool, default=False
        Center in feature space, over the training rows.
    scale : bool, default=True
        Divide by the mean diagonal that the (centered) Gram matrix has over the training rows.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (rank,)
        Kept eigenvalues of the scaled Gram matrix, decreasing.
    spectrum_ : LinearSpectrum or GramSpectrum
    landmarks_ : ndarray or sparse matrix of shape (n, p) or None
        Training rows that kernel values are taken with; None for a linear kernel.
    kernel_ : kernel object or callable

    Notes
    -----
    :math:`\phi(x) = L^{-1/2} U^T \tilde k(x)`. A linear kernel is decomposed in input space, sparse or dense, without a Gram
    matrix; others cost O(n^2) memory and O(n^2 n_components) time.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.kernels import SpectralFeatures
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    >>> SpectralFeatures("linear", n_components=1, center=True).fit(X).transform(X).shape
    (3, 1)
    """

    def __init__(
        self, kernel: KernelLike, n_components: int | None = None, center: bool = False, scale: bool = True
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.center = center
        self.scale = scale

    def fit(self, X: Any, y: Any = None, *, spectrum: LinearSpectrum | GramSpectrum | None = None) -> Self:
        """Decompose the kernel over the training rows X (n, p), dense or sparse; or take what an earlier fit to them found."""
        self._take(X)
        self._keep(self._decompose(self._values(X)) if spectrum is None else spectrum)
        return self

    def fit_transform(
        self, X: Any, y: Any = None, *, spectrum: LinearSpectrum | GramSpectrum | None = None
    ) -> NDArray[np.float64]:
        """Features (n, rank) of the training rows, whose kernel values are computed once for both."""
        self._take(X)
        values = self._values(X)
        self._keep(self._decompose(values) if spectrum is None else spectrum)
        return self.spectrum_.project(values)

    def _take(self, X: Any) -> None:
        self.kernel_ = resolve_kernel(self.kernel, X, check_random_state(0))
        amplitude = linear_amplitude(self.kernel_)
        self._root = None if amplitude is None else float(np.sqrt(amplitude))
        self.landmarks_ = X if amplitude is None else None

    def _values(self, X: Any) -> Any:
        """What the spectrum of the training rows is taken of: scaled rows, or their kernel values."""
        return gram(self.kernel_, X) if self._root is None else X * self._root

    def _decompose(self, values: Any) -> LinearSpectrum | GramSpectrum:
        kind = GramSpectrum if self._root is None else LinearSpectrum
        return kind.of(values, self.n_components, center=self.center, scale=self.scale)

    def _keep(self, spectrum: LinearSpectrum | GramSpectrum) -> None:
        self.spectrum_, self.eigenvalues_ = spectrum, spectrum.values

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Features (n_new, rank) of the rows of X."""
        if isinstance(self.spectrum_, LinearSpectrum):
            return self.spectrum_.project(X * self._root)
        starts = range(0, X.shape[0], _BLOCK_ROWS)
        blocks = (gram(self.kernel_, X[start : start + _BLOCK_ROWS], self.landmarks_) for start in starts)
        parts = [self.spectrum_.project(crosses) for crosses in blocks]
        return np.concatenate(parts) if parts else np.zeros((0, self.eigenvalues_.size))


class JointSpectralFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Features of the sum of the views' kernels over the views that two samples share.

    Cutting after the sum lets weak or mostly missing views borrow directions from each other.

    Parameters
    ----------
    kernels : kernel, list or dict
        One for all views, or one per view.
    n_components : int, default=None
    center, scale : bool, default=True
        As for `SpectralFeatures`, over all training samples; missing pairs are zeros and take part in the centering.
    view_factors : sequence of float, default=None
        ``c_j``: the kernel of view j is weighted by ``c_j^{-2}``.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (rank,)
    spectrum_ : LinearSpectrum or GramSpectrum
    column_means_ : ndarray of shape (n_views, n_samples) or None
        Column means of each view's part of the Gram matrix, where kernels are not all linear.
    mean_diagonals_ : ndarray of shape (n_views,)
        Mean diagonal of each view's kernel over the samples that have it, by which it is divided; NaN where nobody has it.

    Notes
    -----
    :math:`k(x, z) = \sum_{j \in O_x \cap O_z} c_j^{-2} k_j(x, z) / \mathrm{mean\,diag\,} K_j`.

    Examples
    --------
    >>> import numpy as np
    >>> from coview import Views
    >>> from coview.kernels import JointSpectralFeatures
    >>> views = Views([np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [np.nan], [0.0]])])
    >>> JointSpectralFeatures("linear", n_components=2).fit(views).transform(views).shape
    (3, 2)
    """

    def __init__(
        self,
        kernels: Any,
        n_components: int | None = None,
        center: bool = True,
        scale: bool = True,
        view_factors: Sequence[float] | None = None,
    ) -> None:
        self.kernels = kernels
        self.n_components = n_components
        self.center = center
        self.scale = scale
        self.view_factors = view_factors

    def fit(self, X: Any, y: Any = None) -> Self:
        """Decompose the summed kernel over the samples of a `Views`."""
        blocks = [X[name] for name in X.names]
        state = check_random_state(0)
        kernels = [
            resolve_kernel(kernel, block, state)
            for kernel, block in zip(kernel_per_view(self.kernels, X.names), blocks, strict=True)
        ]
        return self.fit_blocks(blocks, X.presence, kernels)

    def fit_blocks(
        self,
        blocks: Sequence[Any],
        presence: NDArray[np.bool_],
        kernels: Sequence[KernelLike],
        *,
        spectrum: LinearSpectrum | GramSpectrum | None = None,
        column_means: NDArray[np.float64] | None = None,
    ) -> Self:
        """The same from the rows of each view that are present, the presence, and kernel objects.

        ``spectrum`` and ``column_means``, as an earlier fit to the same rows found them, save the decomposition.
        """
        self._take(blocks, presence, kernels, column_means)
        self._keep(self._decompose(self._values()) if spectrum is None else spectrum)
        return self

    def fit_transform_blocks(
        self,
        blocks: Sequence[Any],
        presence: NDArray[np.bool_],
        kernels: Sequence[KernelLike],
        *,
        spectrum: LinearSpectrum | GramSpectrum | None = None,
        column_means: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Features (n_samples, rank) of the samples of `fit_blocks`, whose kernel values are computed once for both."""
        self._take(blocks, presence, kernels, column_means)
        values = self._values()
        self._keep(self._decompose(values) if spectrum is None else spectrum)
        return self.spectrum_.project(values)

    def _take(
        self,
        blocks: Sequence[Any],
        presence: NDArray[np.bool_],
        kernels: Sequence[KernelLike],
        column_means: NDArray[np.float64] | None,
    ) -> None:
        self._blocks, self._presence, self.kernels_ = list(blocks), presence, list(kernels)
        self.mean_diagonals_ = np.array(
            [diagonal(k, block).mean() if block.shape[0] else np.nan for k, block in zip(kernels, blocks, strict=True)]
        )
        factors = (
            np.ones(len(kernels)) if self.view_factors is None else np.asarray(self.view_factors, dtype=np.float64)
        )
        usable = self.mean_diagonals_ > 0.0
        self._scales = np.divide(factors**-2.0, self.mean_diagonals_, out=np.zeros(len(kernels)), where=usable)
        amplitudes = [linear_amplitude(kernel) for kernel in kernels]
        self._roots, self.column_means_ = None, column_means
        if all(amplitude is not None for amplitude in amplitudes):
            self._roots = np.sqrt(self._scales * np.array(amplitudes, dtype=np.float64))

    def _values(self) -> Any:
        """What the spectrum of the training samples is taken of: scaled rows side by side, or the summed kernel."""
        if self._roots is not None:
            return stack_views(self._blocks, self._presence, self._roots)
        n = len(self._presence)
        total, means = np.zeros((n, n)), np.zeros((len(self._blocks), n))
        for j in np.flatnonzero(self._scales).tolist():
            rows = np.flatnonzero(self._presence[:, j])
            K = self._scales[j] * gram(self.kernels_[j], self._blocks[j])
            if rows.size == n:
                total += K
            else:
                total[np.ix_(rows, rows)] += K
            means[j, rows] = K.sum(axis=0) / n
        if self.column_means_ is None:
            self.column_means_ = means
        return total

    def _decompose(self, values: Any) -> LinearSpectrum | GramSpectrum:
        """Spectrum over the training samples."""
        kind = GramSpectrum if self._roots is None else LinearSpectrum
        return kind.of(values, self.n_components, center=self.center, scale=self.scale)

    def _keep(self, spectrum: LinearSpectrum | GramSpectrum) -> None:
        self.spectrum_, self.eigenvalues_ = spectrum, spectrum.values

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Features (n_samples, rank) of the samples of a `Views`."""
        return self.transform_blocks([X[name] for name in X.names], X.presence)

    def transform_blocks(self, blocks: Sequence[Any], presence: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The same from the rows of each view that are present, a thousand samples at a time."""
        features = np.zeros((len(presence), self.eigenvalues_.size))
        for start in range(0, len(presence), _BLOCK_ROWS):
            rows = np.arange(start, min(start + _BLOCK_ROWS, len(presence)))
            parts = take_samples(blocks, presence, rows)
            if isinstance(self.spectrum_, LinearSpectrum):
                features[rows] = self.spectrum_.project(stack_views(parts, presence[rows], self._linear_scales))
                continue
            for j, part in enumerate(parts):
                self._add_part(features[start : start + _BLOCK_ROWS], j, part, presence[rows, j])
        return features

    @property
    def _linear_scales(self) -> NDArray[np.float64]:
        return cast("NDArray[np.float64]", self._roots)

    def _add_part(self, features: NDArray[np.float64], j: int, block: Any, present: NDArray[np.bool_]) -> None:
        """Add to the features of some samples what their view j, or its absence, says; the summed kernel is not formed."""
        spectrum = cast("GramSpectrum", self.spectrum_)
        if self._scales[j] > 0.0 and block.shape[0]:
            weights = self._scales[j] * spectrum.weights[self._presence[:, j]]
            part = gram(self.kernels_[j], block, self._blocks[j]) @ weights
            if present.all():
                features += part
            else:
                features[np.flatnonzero(present)] += part
        features -= spectrum.offset(None if self.column_means_ is None else self.column_means_[j])

    def transform_by_view(self, blocks: Sequence[Any], presence: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Features split by view (n_views, n_samples, rank); their sum over views is the feature.

        An absent view still shifts a centered feature: its part is what its absence says.
        """
        parts = np.zeros((len(blocks), len(presence), self.eigenvalues_.size))
        if isinstance(self.spectrum_, LinearSpectrum):
            stops = np.cumsum([block.shape[1] for block in self._blocks])
            for j, block in enumerate(blocks):
                columns = slice(stops[j] - self._blocks[j].shape[1], stops[j])
                rows = stack_views([block], presence[:, [j]], self._linear_scales[[j]])
                parts[j] = self.spectrum_.project_part(rows, columns)
            return parts
        for j, block in enumerate(blocks):
            self._add_part(parts[j], j, block, presence[:, j])
        return parts


def take_samples(blocks: Sequence[Any], presence: NDArray[np.bool_], samples: NDArray[np.intp]) -> list[Any]:
    """Rows of each view for some samples, in increasing order of position."""
    taken = []
    for j, block in enumerate(blocks):
        here = samples[presence[samples, j]]
        taken.append(block[np.searchsorted(np.flatnonzero(presence[:, j]), here)])
    return taken


def stack_views(blocks: Sequence[Any], presence: NDArray[np.bool_], scales: NDArray[np.float64]) -> Any:
    """The views side by side (n_samples, sum of p_j), each times its scale; a missing view is a row of zeros.

    Dense where all views are; sparse where one is.
    """
    n = len(presence)
    if not any(sp.issparse(block) for block in blocks):
        stacked = np.zeros((n, sum(block.shape[1] for block in blocks)))
        start = 0
        for j, block in enumerate(blocks):
            stacked[np.flatnonzero(presence[:, j]), start : start + block.shape[1]] = scales[j] * np.asarray(block)
            start += block.shape[1]
        return stacked
    spread = []
    for j, block in enumerate(blocks):
        rows = np.flatnonzero(presence[:, j])
        placement = sp.csr_array((np.ones(rows.size), (rows, np.arange(rows.size))), shape=(n, rows.size))
        spread.append(scales[j] * (placement @ sp.csr_array(block)))
    return sp.csr_array(sp.hstack(spread))
