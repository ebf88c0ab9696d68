"""What several classifiers say of the same samples, put together: votes, means, products."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

__all__ = ["accuracy_weights", "mean_shares", "product_shares", "vote_counts"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

_TINY = float(np.finfo(np.float64).tiny)


def vote_counts(codes: Codes, n_classes: int, weights: Array | None = None) -> Array:
    """Votes for each class.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_members), dtype=int64
        Number of the class that each member names, -1 where it abstains.
    n_classes : int
    weights : ndarray of shape (n_members,) or (n_samples, n_members), default=None
        What a vote counts; 1 for None.

    Returns
    -------
    votes : ndarray of shape (n_samples, n_classes)
        Zeros where all abstain.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import vote_counts
    >>> vote_counts(np.array([[0, 1, 1], [-1, -1, 0]]), 2)
    array([[1., 2.],
           [1., 0.]])
    """
    votes = np.zeros((len(codes), n_classes))
    worth = np.broadcast_to(np.ones(1) if weights is None else weights, codes.shape)
    rows, members = np.nonzero(codes >= 0)
    np.add.at(votes, (rows, codes[rows, members]), worth[rows, members])
    return votes


def accuracy_weights(n_wrong: NDArray[np.int64], n_judged: NDArray[np.int64], n_classes: int) -> Array:
    r"""What the vote of a classifier is worth by its errors on samples that it had not seen.

    Parameters
    ----------
    n_wrong, n_judged : ndarray of shape (n_members,), dtype=int64
        Errors, and samples judged.
    n_classes : int
        At least 2.

    Returns
    -------
    weights : ndarray of shape (n_members,)
        In nats. 0 for a classifier that is no better than chance; all equal to 1 if none is.

    Notes
    -----
    :math:`\log((1 - e)(C - 1) / e)` with :math:`e = (\text{wrong} + 1) / (\text{judged} + 2)`: the best weights of classifiers
    that err independently and whose errors are spread evenly over the other classes.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import accuracy_weights
    >>> accuracy_weights(np.array([1, 5]), np.array([10, 10]), 2).round(3)
    array([1.609, 0.   ])
    """
    error = (n_wrong + 1.0) / (n_judged + 2.0)
    weights = np.maximum(np.log((1.0 - error) * (n_classes - 1) / error), 0.0)
    return np.asarray(weights if weights.any() else np.ones(len(weights)))


def mean_shares(probabilities: Array) -> Array:
    """Mean of the probabilities of those who speak.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_members, n_classes)
        NaN where a member abstains.

    Returns
    -------
    shares : ndarray of shape (n_samples, n_classes)
        Zeros where all abstain.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import mean_shares
    >>> mean_shares(np.array([[[0.5, 0.5], [1.0, 0.0], [np.nan, np.nan]]]))
    array([[0.75, 0.25]])
    """
    count = (~np.isnan(probabilities[:, :, 0])).sum(axis=1)
    return np.asarray(np.nansum(probabilities, axis=1) / np.maximum(count, 1)[:, None])


def product_shares(probabilities: Array, least: float = 0.0) -> Array:
    """Product of the probabilities of those who speak, made to sum to one.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_members, n_classes)
        NaN where a member abstains.
    least : float, default=0.0
        Lower probabilities count as this one (Alkoot and Kittler's modified product), so that no single member has a veto.

    Returns
    -------
    shares : ndarray of shape (n_samples, n_classes)
        Zeros where all abstain.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import product_shares
    >>> said = np.array([[[1.0, 0.0], [0.1, 0.9], [0.1, 0.9]]])
    >>> product_shares(said).round(3), product_shares(said, 0.05).round(3)
    (array([[1., 0.]]), array([[0.198, 0.802]]))
    """
    silent = np.isnan(probabilities[:, :, 0])
    logs = np.log(np.maximum(probabilities, max(least, _TINY)))
    logs[silent] = 0.0
    shares = softmax(logs.sum(axis=1), axis=1)
    shares[silent.all(axis=1)] = 0.0
    return np.asarray(shares)
