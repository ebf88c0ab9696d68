"""Which features of a view go with what the view says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from coview.inspection._parts import explained_parts, whole_views
from coview.views import Views

__all__ = ["feature_associations"]

Array = NDArray[np.float64]


def feature_associations(model: Any, X: Any, *, n_top: int = 10, max_samples: int = 2000) -> pd.DataFrame:
    """Correlation of each feature with its view's part of the latent score, for the strongest features of every view.

    It shows which way a view leans with each of its features, as seen over the samples given. It is no effect of the
    feature by itself: features that go together share it.

    Parameters
    ----------
    model : fitted estimator with the method ``explain``
        Such as ``BayesianCoTrainingClassifier`` or ``BayesianCoTrainingRegressor``.
    X : Views or anything that Views takes
        Samples, as the model takes them (encoded).
    n_top : int, default=10
        Features of each view, those with the largest correlation, in size, for any class.
    max_samples : int, default=2000
        A seeded choice of so many samples is looked at where there are more.

    Returns
    -------
    table : DataFrame
        ``view``, ``feature`` (label, or position where the view has no labels), ``association`` (between -1 and 1)
        and, for more than two classes, ``class``; strongest features first within each view. Positive values speak for
        the class (of two classes, the second). Features and parts that do not vary are left out.

    Notes
    -----
    Pearson correlation over the samples that have the view; sparse views stay sparse. Time of ``explain`` plus
    O(n_samples n_features n_classes).

    Examples
    --------
    >>> from coview.datasets import make_two_gaussian_views
    >>> from coview.gaussian_process import BayesianCoTrainingClassifier
    >>> from coview.inspection import feature_associations
    >>> views, y = make_two_gaussian_views(n_samples=40, random_state=0)
    >>> model = BayesianCoTrainingClassifier().fit(views, y)
    >>> feature_associations(model, views, n_top=1).columns.tolist()
    ['view', 'feature', 'association']
    """
    if n_top < 1:
        raise ValueError(f"n_top must be at least 1; got {n_top!r}.")
    views = whole_views(X, max_samples)
    parts = explained_parts(model, views)
    tables = [
        _strongest(views, name, parts.views[views.rows(name), :, j], parts.classes, n_top)
        for j, name in enumerate(views.names)
    ]
    columns = ["view", "feature", "association", *(["class"] if parts.classes else [])]
    return pd.concat(tables, ignore_index=True)[columns]


def _strongest(views: Views, name: str, part: Array, classes: list[Any] | None, n_top: int) -> pd.DataFrame:
    """The features of one view with the largest correlation; ``part`` is (n_j, K)."""
    correlation = _correlation(views[name], part)  # (n_features, K)
    size = np.abs(correlation).max(axis=1, initial=0.0)
    top = np.argsort(-size, kind="stable")[:n_top]
    top = top[size[top] > 0.0]
    labels = views.feature_names[name]
    names = [str(position) if labels is None else str(labels[position]) for position in top]
    K = part.shape[1]
    table = pd.DataFrame({"view": name, "feature": np.repeat(np.array(names, dtype=object), K)})
    table["association"] = correlation[top].ravel()
    if classes:
        table["class"] = classes * len(top)
    return table


def _correlation(block: Any, part: Array) -> Array:
    """Correlation of every column with every column of ``part`` (n_features, K); 0 where one does not vary."""
    n = len(part)
    if n < 3:
        return np.zeros((block.shape[1], part.shape[1]))
    centered = part - part.mean(axis=0)
    if sparse.issparse(block):
        mean = np.asarray(block.mean(axis=0)).ravel()
        variance = np.asarray(block.multiply(block).mean(axis=0)).ravel() - mean**2
        cross = np.asarray(block.T @ centered) / n
    else:
        dense = np.asarray(block, dtype=np.float64)
        dense = dense - dense.mean(axis=0)
        variance = np.square(dense).mean(axis=0)
        cross = dense.T @ centered / n
    spread = np.sqrt(np.maximum(variance, 0.0))
    reach = np.sqrt(np.square(centered).mean(axis=0))
    scale = spread[:, None] * reach
    # Rounding gives columns that do not vary a spread of about 1e-17 times their size.
    varies = (scale > 1e-12 * np.maximum(np.abs(part).max(axis=0, initial=0.0), 1e-300)) & (spread[:, None] > 1e-12)
    return np.clip(np.where(varies, cross / np.where(varies, scale, 1.0), 0.0), -1.0, 1.0)
