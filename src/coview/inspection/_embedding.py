"""Where samples lie: principal components of the similarities that a fitted model gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from coview.inspection._parts import spread_rows, whole_views

__all__ = ["consensus_embedding", "neighbor_agreement"]

Array = NDArray[np.float64]


def consensus_embedding(model: Any, X: Any, *, n_components: int = 2, max_samples: int = 2000) -> pd.DataFrame:
    """Samples in the geometry of the fitted model's covariance, free of labels.

    Views that are missing for a sample are left out of its similarities; views that the model trusts weigh more.

    Parameters
    ----------
    model : fitted estimator with the method ``similarity``
        Such as ``BayesianCoTrainingClassifier``.
    X : Views or anything that Views takes
        Samples, as the model takes them (encoded), each with a view that training had.
    n_components : int, default=2
        Directions of largest variance over the training samples.
    max_samples : int, default=2000
        A seeded choice of so many samples is placed, and so many training samples span the directions, where there
        are more.

    Returns
    -------
    embedding : DataFrame
        By sample id: ``component_1``, ``component_2`` and so on. The same sample always has the same place, whatever
        other samples are given.

    Notes
    -----
    Kernel principal components of the training samples' similarity, into which all samples are projected. Time
    O(n m r + m^2 n_components) for m training samples and features of rank r.

    Examples
    --------
    >>> from coview.datasets import make_two_gaussian_views
    >>> from coview.gaussian_process import BayesianCoTrainingClassifier
    >>> from coview.inspection import consensus_embedding
    >>> views, y = make_two_gaussian_views(n_samples=40, random_state=0)
    >>> model = BayesianCoTrainingClassifier().fit(views, y)
    >>> consensus_embedding(model, views).shape
    (40, 2)
    """
    if n_components < 1:
        raise ValueError(f"n_components must be at least 1; got {n_components!r}.")
    if not hasattr(model, "similarity"):
        raise TypeError(
            f"{type(model).__name__} gives no similarities of samples; a model with the method similarity is needed, "
            "such as BayesianCoTrainingClassifier."
        )
    views = whole_views(X, max_samples)
    rows = spread_rows(_n_training(model), max_samples)
    directions, values, training = _directions(model.similarity(rows=rows), n_components)
    cross = model.similarity(views, rows)
    centered = cross - cross.mean(axis=1, keepdims=True) - training.mean(axis=0) + training.mean()
    places = np.zeros((views.n_samples, n_components))
    places[:, : len(values)] = centered @ directions / np.sqrt(values)
    columns = [f"component_{k + 1}" for k in range(n_components)]
    return pd.DataFrame(places, index=views.index, columns=columns)


def neighbor_agreement(embedding: pd.DataFrame, labels: ArrayLike, *, n_neighbors: int = 5) -> pd.Series:
    """How often the nearest neighbors of a sample in a picture have its label.

    Parameters
    ----------
    embedding : DataFrame of shape (n_samples, n_components)
        Places of the samples.
    labels : array-like of shape (n_samples,)
        Their labels; None or NaN where there is none.
    n_neighbors : int, default=5
        Labeled neighbors looked at, fewer where there are fewer.

    Returns
    -------
    agreement : Series
        ``share`` of neighbors with the same label, mean over the labeled samples; ``chance``, the share for labels dealt
        out at random; ``n_labeled``. NaN with fewer than two labels.

    Examples
    --------
    >>> import pandas as pd
    >>> from coview.inspection import neighbor_agreement
    >>> places = pd.DataFrame({"component_1": [0.0, 0.1, 5.0, 5.1]})
    >>> neighbor_agreement(places, ["a", "a", "b", "b"], n_neighbors=1)["share"]
    np.float64(1.0)
    """
    named = np.asarray(pd.notna(pd.Series(np.asarray(labels, dtype=object))))
    codes = pd.factorize(np.asarray(labels, dtype=object)[named])[0]
    n = codes.size
    if n < 2:
        return pd.Series({"share": np.nan, "chance": np.nan, "n_labeled": n})
    places = embedding.to_numpy(dtype=np.float64)[named]
    squares = np.square(places).sum(axis=1)
    distances = squares[:, None] + squares - 2.0 * places @ places.T
    np.fill_diagonal(distances, np.inf)
    k = min(n_neighbors, n - 1)
    nearest = np.argpartition(distances, k - 1, axis=1)[:, :k]
    counts = np.bincount(codes)
    chance = float((counts * (counts - 1)).sum() / (n * (n - 1)))
    return pd.Series({"share": float((codes[nearest] == codes[:, None]).mean()), "chance": chance, "n_labeled": n})


def _n_training(model: Any) -> int:
    """Training samples that have a view: the others have no finite variance."""
    variance = np.asarray(model.latent_variance_)
    return int(np.isfinite(variance.reshape(len(variance), -1)[:, 0]).sum())


def _directions(similarity: Array, n_components: int) -> tuple[Array, Array, Array]:
    """Leading eigenvectors of the centered similarity with their eigenvalues, signs fixed; and the similarity itself."""
    means = similarity.mean(axis=0)
    centered = similarity - means - means[:, None] + means.mean()
    values, vectors = np.linalg.eigh((centered + centered.T) / 2)
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    kept = values > 1e-10 * max(float(np.abs(values).max(initial=0.0)), 1e-300)
    vectors = vectors[:, kept]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return vectors * np.where(largest < 0.0, -1.0, 1.0), values[kept], similarity
