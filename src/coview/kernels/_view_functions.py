"""Functions of several views, each an expansion in the kernel of its view, evaluated at any samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.kernels._per_view import KernelLike, gram, kernel_per_view, linear_amplitude, resolve_kernel
from coview.kernels._precomputed import PrecomputedKernel
from coview.views import Views, check_view_name

__all__ = ["ViewFunctions", "ViewKernels"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ViewKernels:
    """One kernel per view, and which training samples have the view.

    Attributes
    ----------
    names : list of str
    kernels : list
        Kernel objects, callables, or "precomputed".
    rows : list of ndarray of shape (n_v,)
        Positions of the training samples with view v.
    n_samples : int
        Of training.
    """

    names: list[str]
    kernels: list[KernelLike]
    rows: list[NDArray[np.intp]]
    n_samples: int

    @classmethod
    def of(cls, kernel: Any, views: Views, random_state: np.random.RandomState) -> ViewKernels:
        """Kernels as a user gives them (one for all, by position or by name), resolved against training views."""
        names = list(views.names)
        given = kernel_per_view(kernel, names)
        kernels = [resolve_kernel(one, views[name], random_state) for one, name in zip(given, names, strict=True)]
        return cls(names, kernels, [views.rows(name) for name in names], len(views))

    def amplitude(self, v: int) -> float | None:
        """``a`` where the kernel of view v is ``a <x, z>``, else None."""
        return None if isinstance(self.kernels[v], str) else linear_amplitude(self.kernels[v])

    def values(self, v: int, new: Any, training: Any) -> Array:
        """Kernel values between rows of view v and its training rows (n_new, n_v); pass ``training`` itself for those."""
        kernel = self.kernels[v]
        if isinstance(kernel, str):
            return PrecomputedKernel(training, self.rows[v], self.n_samples, self.names[v])(new, None)
        return gram(kernel, new, None if new is training else training)


@dataclass(frozen=True)
class ViewFunctions:
    r"""Functions :math:`f_v(x) = \sum_i a_v[i] k_v(x, x_i) + b_v`.

    Attributes
    ----------
    kernels : ViewKernels
    blocks : list
        Training rows of view v, or None where ``weights`` say all.
    dual : list of ndarray of shape (n_v, n_functions)
        :math:`a_v`.
    weights : list of ndarray of shape (p_v, n_functions), or None
        Weights of the features, for linear kernels.
    intercepts : ndarray of shape (n_views, n_functions)
        :math:`b_v`; NaN for a view that learned nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from coview import Views
    >>> from coview.kernels import ViewFunctions, ViewKernels
    >>> views = Views({"a": [[1.0], [2.0]], "b": [[0.0, 1.0], [1.0, 0.0]]})
    >>> kernels = ViewKernels.of("linear", views, np.random.RandomState(0))
    >>> dual = [np.array([[0.0], [0.5]]), np.array([[1.0], [1.0]])]
    >>> ViewFunctions.expanded(kernels, views, dual, np.zeros((2, 1))).scores(views)[:, :, 0].tolist()
    [[1.0, 1.0], [2.0, 1.0]]
    """

    kernels: ViewKernels
    blocks: list[Any]
    dual: list[Array]
    weights: list[Array | None]
    intercepts: Array

    @classmethod
    def expanded(
        cls,
        kernels: ViewKernels,
        views: Views,
        dual: list[Array],
        intercepts: Array,
        weights: list[Array] | None = None,
    ) -> ViewFunctions:
        """From coefficients over the training samples, and weights of the features where all kernels are linear."""
        blocks: list[Any] = []
        found: list[Array | None] = []
        for v, name in enumerate(kernels.names):
            amplitude = kernels.amplitude(v)
            blocks.append(views[name] if amplitude is None else None)
            if weights is not None:
                found.append(weights[v])
            else:
                found.append(None if amplitude is None else amplitude * np.asarray(views[name].T @ dual[v]))
        return cls(kernels, blocks, dual, found, intercepts)

    def scores(self, views: Views, view: str | None = None) -> Array:
        """Values of the functions.

        Parameters
        ----------
        views : Views
            With any of the views of training.
        view : str, default=None
            This one only.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_views, n_functions)
            NaN where a sample lacks the view, and for a view that learned nothing.

        Raises
        ------
        ViewError
            If ``view`` is not one of training.
        """
        names = self.kernels.names
        check_view_name(view, names)
        scores = np.full((len(views), *self.intercepts.shape), np.nan)
        for v, name in enumerate(names):
            if name in views.names and view in (None, name) and len(views.rows(name)):
                scores[views.rows(name), v] = self._values(v, views[name]) + self.intercepts[v]
        return scores

    def _values(self, v: int, new: Any) -> Array:
        weights = self.weights[v]
        if weights is not None:
            return np.asarray(new @ weights)
        return np.asarray(self.kernels.values(v, new, self.blocks[v]) @ self.dual[v])
