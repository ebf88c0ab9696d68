"""What each view says of single samples, as a difference between the two most probable classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from coview.inspection._parts import explained_parts
from coview.views import Views

__all__ = ["leading_contributions"]


def leading_contributions(
    model: Any, X: Any, probabilities: ArrayLike | None = None, *, max_views: int | None = None
) -> pd.DataFrame:
    """How far each view pushes a prediction from one class to another: the two most probable, the more probable one first.

    With two classes the second of ``classes_`` is always first, so that a sign means the same for every sample.

    Parameters
    ----------
    model : fitted estimator with the method ``explain``
        A classifier with ``classes_``, or a regressor.
    X : Views or anything that Views takes
        Samples, as the model takes them (encoded).
    probabilities : array-like of shape (n_samples, n_classes), default=None
        Predicted probabilities of these samples in the order of ``classes_``; None for a regressor.
    max_views : int, default=None
        Columns for so many views, those that push most; the others are summed in ``"other views"``.

    Returns
    -------
    table : DataFrame
        By sample id, in the order of X. A column ``constant``, one per view, and ``together`` (the part of models that
        read all views together), in units of the latent function (log odds before moderation), or of the target. For
        a classifier before these ``first``, ``p_first``, ``second``, ``p_second``: the two classes and their
        probabilities. A view of such a name stands there as ``"NAME (view)"``.

    Examples
    --------
    >>> from coview.datasets import make_two_gaussian_views
    >>> from coview.gaussian_process import BayesianCoTrainingClassifier
    >>> from coview.inspection import leading_contributions
    >>> views, y = make_two_gaussian_views(n_samples=40, random_state=0)
    >>> model = BayesianCoTrainingClassifier().fit(views, y)
    >>> table = leading_contributions(model, views, model.predict_proba(views))
    >>> table.columns.tolist()[:4]
    ['first', 'p_first', 'second', 'p_second']
    """
    views = X if isinstance(X, Views) else Views(X)
    parts = explained_parts(model, views)
    sums = np.concatenate([parts.bias[:, :, None], parts.views, parts.together[:, :, None]], axis=2)
    head: dict[str, Any] = {}
    if probabilities is None:
        difference = sums[:, 0]
    else:
        proba = np.asarray(probabilities, dtype=np.float64)
        if proba.shape != (views.n_samples, len(model.classes_)):
            raise ValueError(
                f"probabilities must have one row per sample and one column per class, "
                f"{(views.n_samples, len(model.classes_))}; got {proba.shape}."
            )
        rows = np.arange(views.n_samples)
        if sums.shape[1] == 1:  # one function: the log odds of the second class
            first, second = np.repeat([[1], [0]], len(rows), axis=1)
            difference = sums[:, 0]
        else:
            first, second = np.argsort(-proba, axis=1, kind="stable")[:, :2].T
            difference = sums[rows, first] - sums[rows, second]
        classes = np.asarray(model.classes_)
        head = {
            "first": classes[first],
            "p_first": proba[rows, first],
            "second": classes[second],
            "p_second": proba[rows, second],
        }
    table = pd.DataFrame(head, index=views.index)
    pushes = pd.DataFrame(difference[:, 1:-1], index=views.index, columns=[_free_name(name) for name in views.names])
    table["constant"] = difference[:, 0]
    table = pd.concat([table, _largest(pushes, max_views)], axis=1)
    table["together"] = difference[:, -1]
    return table


def _largest(pushes: pd.DataFrame, max_views: int | None) -> pd.DataFrame:
    """The views with the largest pushes in their order, and the sum of the others."""
    if max_views is None or pushes.shape[1] <= max_views:
        return pushes
    order = np.argsort(-pushes.abs().mean().to_numpy(), kind="stable")
    kept = pushes.iloc[:, np.sort(order[:max_views])]
    return kept.assign(**{"other views": pushes.iloc[:, order[max_views:]].sum(axis=1)})


def _free_name(name: str) -> str:
    """The view's name, marked where it is the name of another column."""
    taken = ("first", "p_first", "second", "p_second", "constant", "together", "other views")
    return f"{name} (view)" if name in taken else name
