"""Multi-view problems of any size with a known best answer."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from coview.views import Views

__all__ = ["make_multiview_classification"]


def make_multiview_classification(
    n_samples: int = 200,
    *,
    n_features: Sequence[int] = (10, 10),
    n_classes: int = 2,
    class_sep: float | Sequence[float] = 1.0,
    noise: float | Sequence[float] = 1.0,
    missing: float | Sequence[float] = 0.0,
    random_state: Any = None,
    return_centers: bool = False,
) -> Any:
    r"""Gaussian classes seen through any number of views, some of them missing.

    Given the class the views are independent, so each observed one adds evidence. A view with ``class_sep`` 0 is
    useless; one with much noise is weak. Views are missing at random, but every sample keeps at least one.

    Parameters
    ----------
    n_samples : int, default=200
        As evenly divided among the classes as possible, in random order.
    n_features : sequence of int, default=(10, 10)
        Width of each view; their number is the number of views, named ``view_0``, ``view_1``, ...
    n_classes : int, default=2
        Number of classes, 0 to n_classes - 1.
    class_sep : float or sequence of float, default=1.0
        Distance of a class's center from the origin, for all views or per view.
    noise : float or sequence of float, default=1.0
        Standard deviation of every feature about its center, for all views or per view.
    missing : float or sequence of float, default=0.0
        Probability that a sample lacks the view, for all views or per view. A sample that would lack all keeps one of
        those least often missing, chosen at random.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.
    return_centers : bool, default=False
        Return the class centers too.

    Returns
    -------
    views : Views
        NaN stands nowhere: a missing view is marked in ``views.presence``.
    y : ndarray of shape (n_samples,), dtype=int64
    centers : list of ndarray of shape (n_classes, n_features[j])
        Only if ``return_centers`` is True.

    Raises
    ------
    ValueError
        If a number is out of range or a sequence does not have one entry per view.

    Notes
    -----
    The Bayes rule is the class with the smallest
    :math:`\sum_j \lVert x_j - c_{kj} \rVert^2 / s_j^2` over the observed views j, where :math:`c_{kj}` is the center
    of class k and :math:`s_j` the noise (all classes are equally frequent).

    Examples
    --------
    >>> from coview.datasets import make_multiview_classification
    >>> views, y = make_multiview_classification(100, n_features=(5, 3), missing=(0.0, 0.4), random_state=0)
    >>> views.n_features, int(views.presence[:, 1].sum())
    ({'view_0': 5, 'view_1': 3}, 62)
    """
    n_views = len(n_features)
    _check_sizes(n_samples, n_features, n_classes)
    separations = _per_view(class_sep, n_views, "class_sep")
    noises = _per_view(noise, n_views, "noise")
    probabilities = _per_view(missing, n_views, "missing")
    if probabilities.max() >= 1 and n_views == 1:
        raise ValueError("missing must be below 1 for a single view; every sample keeps at least one view.")
    if probabilities.max() > 1:
        raise ValueError(f"missing must be a probability between 0 and 1; got {probabilities.max():g}.")
    generator = check_random_state(random_state)
    y = generator.permutation(np.arange(n_samples, dtype=np.int64) % n_classes)
    centers = [
        _centers(n_classes, width, radius, generator) for width, radius in zip(n_features, separations, strict=True)
    ]
    blocks = [
        center[y] + scale * generator.standard_normal((n_samples, center.shape[1]))
        for center, scale in zip(centers, noises, strict=True)
    ]
    views = Views(blocks, presence=_presence(n_samples, probabilities, generator))
    return (views, y, centers) if return_centers else (views, y)


def _check_sizes(n_samples: int, n_features: Sequence[int], n_classes: int) -> None:
    """Raise where a count is too small."""
    if len(n_features) == 0 or min(n_features) < 1:
        raise ValueError(f"n_features must hold one width of at least 1 per view; got {n_features!r}.")
    if n_classes < 2 or n_samples < n_classes:
        raise ValueError(
            f"n_classes must be at least 2 and n_samples at least n_classes; got {n_classes} and {n_samples}."
        )


def _per_view(value: float | ArrayLike, n_views: int, name: str) -> NDArray[np.float64]:
    """Return one nonnegative number per view, (n_views,)."""
    values = np.asarray(value, dtype=np.float64)
    if values.ndim == 0:
        values = np.full(n_views, values)
    if values.shape != (n_views,):
        raise ValueError(f"{name} must be one number or one per view ({n_views}); got {values.size}.")
    if not (values >= 0).all():
        raise ValueError(f"{name} must not be negative or NaN; got {values.tolist()}.")
    return values


def _centers(n_classes: int, width: int, radius: float, generator: np.random.RandomState) -> NDArray[np.float64]:
    """Draw class centers in random directions at the given distance from the origin, (n_classes, width).

    Two classes lie opposite to each other; more have directions of their own.
    """
    directions = generator.standard_normal((n_classes, width))
    if n_classes == 2:
        directions[1] = -directions[0]
    lengths: NDArray[np.float64] = np.linalg.norm(directions, axis=1, keepdims=True)
    return radius * directions / lengths


def _presence(
    n_samples: int, probabilities: NDArray[np.float64], generator: np.random.RandomState
) -> NDArray[np.bool_]:
    """Draw who has what, (n_samples, n_views); nobody is left without a view."""
    presence = generator.random_sample((n_samples, len(probabilities))) >= probabilities
    empty = np.flatnonzero(~presence.any(axis=1))
    candidates = np.flatnonzero(probabilities == probabilities.min())
    presence[empty, generator.choice(candidates, size=len(empty))] = True
    return presence
