"""What co-regularized learners share: kernels of the views, tied on the samples that have more than one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from coview.base import Interval, StrOptions
from coview.exceptions import ViewError
from coview.inference import (
    ITERATIVE_FROM,
    LARGEST_SYSTEM,
    CoRegularizedViews,
    KernelBlock,
    TiedKernels,
    ViewCoefficients,
    kernel_block,
)
from coview.kernels import ViewFunctions, ViewKernels
from coview.views import Views, numbers_per_view

__all__ = ["CONSTRAINTS", "CoRegularizedFit", "co_regularized_fit"]

Array = NDArray[np.float64]

CONSTRAINTS: dict[str, list[Any]] = {
    "ridge": [Interval(Real, 0, None, closed="neither"), "array-like", dict],
    "coupling": [Interval(Real, 0, None, closed="left")],
    "view_weights": [Interval(Real, 0, None, closed="neither"), "array-like", dict, None],
    "constants": [StrOptions({"none", "center", "orthogonal"})],
}


@dataclass(frozen=True)
class CoRegularizedFit:
    """A function per view, and what it says of the labeled samples.

    Attributes
    ----------
    functions : ViewFunctions
    dual : list of ndarray of shape (n_v, n_targets)
        Coefficients of the kernels without their constants.
    fitted, held_out : ndarray of shape (n_labeled, n_views, n_targets)
        NaN where a sample lacks the view, or the view learned nothing.
    training : ndarray of shape (n_samples, n_views, n_targets)
        The same for all training samples.
    objective : ndarray of shape (n_targets,)
    n_iter : int
    """

    functions: ViewFunctions
    dual: list[Array]
    fitted: Array
    held_out: Array
    training: Array
    objective: Array
    n_iter: int


def co_regularized_fit(
    learner: Any,
    views: Views,
    labeled: NDArray[np.bool_],
    samples_in_agreement: Any,
    solve: Callable[[CoRegularizedViews], ViewCoefficients],
) -> CoRegularizedFit:
    """Fit functions with the parameters of a learner, tied on some samples or all; ``solve`` says by which loss."""
    names = list(views.names)
    ridge = numbers_per_view(learner.ridge, names, "ridge", positive=True)
    given = 1.0 if learner.view_weights is None else learner.view_weights
    view_weights = numbers_per_view(given, names, "view_weights")
    kernels = ViewKernels.of(learner.kernel, views, check_random_state(learner.random_state))
    blocks = [_block(kernels, v, views[name], learner.constants) for v, name in enumerate(names)]
    tied = TiedKernels(
        blocks, views.presence, labeled, ridge, float(learner.coupling), _agreeing(samples_in_agreement, len(views))
    )
    reached = tied.reached(view_weights)
    if not reached.any():
        raise ViewError(
            "No view can learn: no labeled sample has a view with a positive weight. Label a sample that has one, or raise "
            "view_weights."
        )
    found = solve(CoRegularizedViews(tied, view_weights))
    dual, weights, constants = found.given_kernels(tied)
    constants[~reached] = np.nan
    unknown = np.where(reached, 0.0, np.nan)[:, None]
    if weights is not None:  # of features that are scaled by the root of the kernel's amplitude
        weights = [np.sqrt(kernels.amplitude(v) or 0.0) * w for v, w in enumerate(weights)]
    functions = ViewFunctions.expanded(kernels, views, dual, constants, weights)
    fitted, held_out, training = (part + unknown for part in (found.fitted, found.held_out, found.values(tied)))
    return CoRegularizedFit(functions, found.dual, fitted, held_out, training, found.objective, found.n_iter)


def _agreeing(samples: Any, n_samples: int) -> NDArray[np.bool_] | None:
    """A mask of the samples, from one or from positions."""
    if samples is None:
        return None
    given = np.asarray(samples)
    if given.dtype == bool and given.shape == (n_samples,):
        return given
    if given.ndim != 1 or not (np.issubdtype(given.dtype, np.integer) or not given.size):
        raise ValueError(
            f"samples_in_agreement must be a mask of the {n_samples} samples or positions of some; got {samples!r}."
        )
    if given.size and not 0 <= given.min() <= given.max() < n_samples:
        raise ValueError(
            f"samples_in_agreement must hold positions below {n_samples}; got {given.min()} to {given.max()}."
        )
    mask = np.zeros(n_samples, dtype=bool)
    mask[given.astype(np.intp)] = True
    return mask


def _block(kernels: ViewKernels, v: int, rows: Any, constants: Any) -> KernelBlock:
    """The kernel of a view, by its features where it is linear and they are fewer than the samples, or those are many."""
    amplitude = kernels.amplitude(v)
    narrow = rows.shape[1] < rows.shape[0] or rows.shape[0] > ITERATIVE_FROM
    if amplitude is not None and amplitude >= 0.0 and narrow:
        return kernel_block(None, np.sqrt(amplitude) * rows, constants=constants)
    if rows.shape[0] > LARGEST_SYSTEM:
        raise ValueError(
            f"View {kernels.names[v]!r} has {rows.shape[0]} samples, whose kernel would be a dense matrix of that order; "
            f"the limit is {LARGEST_SYSTEM}. Leave some unlabeled samples out, or use linear kernels."
        )
    return kernel_block(kernels.values(v, rows, rows), constants=constants)
