"""The two-view toy problems of the Bayesian co-training paper: one feature per view, Bayes rules known."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from coview.views import Views

__all__ = ["make_two_gaussian_views", "make_xor_views"]


def make_two_gaussian_views(
    n_samples: int = 200, *, useful_views: int = 2, random_state: Any = None
) -> tuple[Views, NDArray[np.int64]]:
    r"""Two Gaussian classes seen through two views of one feature each.

    With two useful views either feature alone tells the classes apart, and given the class they are independent: the
    case co-training is made for. With one useful view the second is pure noise, and labels that it hands to the
    first are wrong half of the time.

    Parameters
    ----------
    n_samples : int, default=200
        Half of them in each class (one more in class 0 if odd), in random order.
    useful_views : {2, 1}, default=2
        2 for the problem of figure 4(a), 1 for that of figure 4(d).
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    views : Views
        ``"x1"`` and ``"x2"``, one feature each, both complete.
    y : ndarray of shape (n_samples,), dtype=int64
        0 or 1.

    Raises
    ------
    ValueError
        If ``useful_views`` is neither 1 nor 2, or there are fewer than two samples.

    Notes
    -----
    Section 6.1 of [1]_. Class 1 has mean (2, -2), class 0 mean (-2, 2), or (2, 0) and (-2, 0) where only the first
    view is useful; the variances are 1. The Bayes rule is class 1 where :math:`x_1 > x_2`, with accuracy
    :math:`\Phi(2\sqrt 2) = 0.9977`; with one useful view, class 1 where :math:`x_1 > 0`, accuracy
    :math:`\Phi(2) = 0.9772`.

    References
    ----------
    .. [1] Yu, Krishnapuram, Rosales, Rao (2011). Bayesian co-training. Journal of Machine Learning Research 12.

    Examples
    --------
    >>> from coview.datasets import make_two_gaussian_views
    >>> views, y = make_two_gaussian_views(1000, random_state=0)
    >>> bayes = (views["x1"] > views["x2"]).ravel()
    >>> float((bayes == y).mean())
    0.997
    """
    if useful_views not in (1, 2):
        raise ValueError(f"useful_views must be 1 or 2; got {useful_views!r}.")
    second = 2.0 if useful_views == 2 else 0.0
    return _draw([(-2.0, second), (2.0, -second)], [0, 1], n_samples, random_state)


def make_xor_views(n_samples: int = 200, *, random_state: Any = None) -> tuple[Views, NDArray[np.int64]]:
    r"""Two classes that only both views together can tell apart (exclusive or).

    Each view alone says nothing about the class, so methods that let the views agree cannot learn it; a classifier on
    the views put side by side can.

    Parameters
    ----------
    n_samples : int, default=200
        A quarter of them in each of four clusters (the first ones get the rest), in random order.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    views : Views
        ``"x1"`` and ``"x2"``, one feature each, both complete.
    y : ndarray of shape (n_samples,), dtype=int64
        0 or 1.

    Raises
    ------
    ValueError
        If there are fewer than four samples.

    Notes
    -----
    Section 6.1, figure 4(g) of [1]_. Clusters of variance 1 at (2, 2) and (-2, -2) for class 1, at (-2, 2) and
    (2, -2) for class 0. The Bayes rule is class 1 where :math:`x_1 x_2 > 0`, with accuracy
    :math:`\Phi(2)^2 + (1 - \Phi(2))^2 = 0.9555`.

    References
    ----------
    .. [1] Yu, Krishnapuram, Rosales, Rao (2011). Bayesian co-training. Journal of Machine Learning Research 12.

    Examples
    --------
    >>> from coview.datasets import make_xor_views
    >>> views, y = make_xor_views(1000, random_state=0)
    >>> bayes = (views["x1"] * views["x2"] > 0).ravel()
    >>> float((bayes == y).mean())
    0.951
    """
    return _draw([(-2.0, 2.0), (2.0, 2.0), (2.0, -2.0), (-2.0, -2.0)], [0, 1, 0, 1], n_samples, random_state)


def _draw(means: ArrayLike, labels: ArrayLike, n_samples: int, random_state: Any) -> tuple[Views, NDArray[np.int64]]:
    """Draw unit-variance clusters around the means, (n_clusters, 2), as even in size as they can be."""
    means = np.asarray(means)
    if n_samples < len(means):
        raise ValueError(f"n_samples must be at least {len(means)}, one per cluster; got {n_samples}.")
    generator = check_random_state(random_state)
    cluster = generator.permutation(np.arange(n_samples) % len(means))
    points = means[cluster] + generator.standard_normal((n_samples, 2))
    return Views([points[:, :1], points[:, 1:]], names=["x1", "x2"]), np.asarray(labels, dtype=np.int64)[cluster]
