"""Result vectors for labels of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.inference import mismatch_counts, result_vector_votes
from coview.labels import encode_labels

__all__ = ["result_vector_vote"]


def result_vector_vote(train_vectors: Any, y: Any, test_vectors: Any, *, return_neighbors: bool = False) -> Any:
    """Classes of samples by the training samples of which several classifiers said the most nearly same.

    Errors that classifiers make together, always in the same way, are undone, where a majority would follow them.

    Parameters
    ----------
    train_vectors : array-like of shape (n_train, n_members)
        What each classifier says of each training sample: labels of any kind. It must not have seen the sample: labels of its own
        training samples are nearly the true ones, and every vector is then nearest to itself. None or NaN is an abstention,
        which agrees with nothing.
    y : array-like of shape (n_train,)
        True classes.
    test_vectors : array-like of shape (n_test, n_members)
        What the classifiers say of new samples; members that abstain are not compared.
    return_neighbors : bool, default=False
        Whether to tell whom each answer comes from.

    Returns
    -------
    labels : ndarray of shape (n_test,)
        Most frequent class among all nearest training samples, the first of equals. Where all members abstain, the most frequent
        class of ``y``.
    distances : ndarray of shape (n_test,)
        Members that say otherwise of the nearest. Only if ``return_neighbors``.
    neighbors : list of ndarray of int
        The nearest training samples. Only if ``return_neighbors``.

    Raises
    ------
    ValueError
        If vectors have different lengths, or there is not one per label.

    Notes
    -----
    Lepistö et al. (2003), as used by Okun and Priisalu (2005). Time O(n_test n_train n_members).

    Examples
    --------
    >>> from coview.ensemble import result_vector_vote
    >>> said = [["a", "a", "b"], ["a", "b", "b"], ["b", "b", "b"]]
    >>> result_vector_vote(said, ["a", "a", "b"], [["a", "b", "b"], ["b", "b", "b"]])
    array(['a', 'b'], dtype=object)
    """
    known, new = (np.asarray(vectors, dtype=object) for vectors in (train_vectors, test_vectors))
    classes, target = encode_labels(y, allow_missing=False)
    if known.ndim != 2 or new.ndim != 2 or known.shape[1] != new.shape[1] or len(known) != len(target):
        raise ValueError(
            "Result vectors must be tables with a column per classifier, and one training vector per label; got shapes "
            f"{known.shape} and {new.shape}, and {len(target)} labels."
        )
    codes, _ = pd.factorize(np.concatenate([known.ravel(), new.ravel()]))
    known_codes, new_codes = codes[: known.size].reshape(known.shape), codes[known.size :].reshape(new.shape)
    votes, distances = result_vector_votes(new_codes, known_codes, target, len(classes))
    votes[~votes.any(axis=1)] = np.bincount(target, minlength=len(classes))
    labels = np.asarray(classes[votes.argmax(axis=1)])
    if not return_neighbors:
        return labels
    neighbors: list[NDArray[np.intp]] = [
        np.flatnonzero(row == least)
        for row, least in zip(mismatch_counts(new_codes, known_codes), distances, strict=True)
    ]
    return labels, distances, neighbors
