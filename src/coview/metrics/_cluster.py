"""How pure clusters are, against known classes."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import entr

from coview.labels import encode_labels

__all__ = ["cluster_entropy"]


def cluster_entropy(labels_true: ArrayLike, labels: ArrayLike) -> float:
    r"""Entropy of the classes inside a cluster, averaged over clusters by their sizes.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes, none missing.
    labels : array-like of shape (n_samples,)
        Cluster of each sample, none missing.

    Returns
    -------
    entropy : float
        Bits: 0 where every cluster has one class; the entropy of the classes where clusters say nothing.

    Raises
    ------
    ValueError
        If a label is missing, there are no samples, or the two differ in length.

    Notes
    -----
    :math:`\sum_j \frac{n_j}{n} H(\mathrm{class} \mid \mathrm{cluster}\ j)` with logarithms to base 2: equation (23) of
    Bickel and Scheffer, Estimation of mixture models using co-EM (2005). It never rises as clusters are split, so compare
    clusterings of equally many clusters.

    Examples
    --------
    >>> from coview.metrics import cluster_entropy
    >>> cluster_entropy(["a", "a", "b", "b"], [0, 0, 1, 1])
    0.0
    >>> cluster_entropy(["a", "b", "a", "b"], [0, 0, 1, 1])
    1.0
    """
    codes = []
    for name, values in (("labels_true", labels_true), ("labels", labels)):
        if np.ndim(values) != 1 or not len(np.asarray(values, dtype=object)):
            raise ValueError(f"{name} must be one label per sample, at least one; got shape {np.shape(values)}.")
        missing = int(pd.isna(np.asarray(values, dtype=object)).sum())
        if missing:
            raise ValueError(
                f"{missing} of {len(np.asarray(values))} labels are missing in {name}. Leave out those samples in both."
            )
        with warnings.catch_warnings():  # nearly as many clusters as samples are no sign of a regression here
            warnings.filterwarnings("ignore", message="The number of unique classes")
            codes.append(encode_labels(values, allow_missing=False)[1])
    if codes[0].size != codes[1].size:
        raise ValueError(
            f"labels_true has {codes[0].size} samples, labels {codes[1].size}; one of each per sample is needed."
        )
    counts = sparse.csr_array((np.ones(codes[0].size), (codes[1], codes[0])))
    shares = counts.data / np.asarray(counts.sum(axis=1)).ravel()[counts.nonzero()[0]]
    weights = counts.data / (counts.sum() * shares)
    return float((weights * entr(shares)).sum() / np.log(2.0))
