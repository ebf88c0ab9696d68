"""How well scores find the samples of one class: the point where precision equals recall."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length


def precision_recall_breakeven(y_true: ArrayLike, scores: ArrayLike, *, pos_label: Any = None) -> float:
    r"""Precision where it equals recall: the share of positives among as many top scores as there are positives.

    The measure of much work on text categories: one number for how well a ranking separates a class, whatever the
    threshold. Perfect rankings give 1; a ranking by chance, or one score for all, gives the share of positives.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels of two kinds, none missing.
    scores : array-like of shape (n_samples,)
        Larger for samples more likely to be positive: values of a decision function, or probabilities. Only their
        order matters.
    pos_label : object, default=None
        The label that is sought. None takes 1 (or True), and is an error where other labels than -1, 0 and 1 occur.

    Returns
    -------
    breakeven : float
        Between 0 and 1; NaN where no sample is positive.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, labels are missing or of more than two kinds, or ``pos_label`` is needed.

    Notes
    -----
    With :math:`P` positives, the first :math:`k` samples hold :math:`t_k` of them: precision :math:`t_k / k` and
    recall :math:`t_k / P` are equal at :math:`k = P` (and wherever both are 0), so the value is :math:`t_P / P`. Where
    equal scores stand on both sides of that cut, it is the expected value over all their orders: of :math:`m` equal
    scores with :math:`q` positives, of which :math:`r` places lie above the cut, :math:`r q / m` positives are
    expected there. That is linear interpolation between the two thresholds around the tie. The paper [1]_ reports
    this measure as PRBEP. Time O(n_samples).

    References
    ----------
    .. [1] Sindhwani, V., Niyogi, P. and Belkin, M. (2005). A co-regularization approach to semi-supervised learning
       with multiple views. ICML workshop on learning with multiple views.

    Examples
    --------
    >>> from coview.metrics import precision_recall_breakeven
    >>> precision_recall_breakeven([1, 1, 0, 0], [0.9, 0.2, 0.4, 0.1])
    0.5
    >>> precision_recall_breakeven([1, 0, 0, 0], [1.0, 1.0, 0.0, 0.0])  # the first place is drawn among two
    0.5
    >>> precision_recall_breakeven(["spam", "ham"], [0.3, 0.1], pos_label="spam")
    1.0
    """
    positive, values = _positives(np.asarray(y_true), pos_label), np.asarray(scores, dtype=np.float64)
    if positive.ndim != 1 or values.ndim != 1:
        raise ValueError(
            f"y_true and scores must have one value per sample; got shapes {positive.shape} and {values.shape}. Of "
            "predict_proba pass the column of the positive class."
        )
    check_consistent_length(positive, values)
    if np.isnan(values).any():
        raise ValueError(f"scores must have an order; {int(np.isnan(values).sum())} of {len(values)} are NaN.")
    n_positive = int(positive.sum())
    if n_positive == 0:
        return float("nan")
    cut = np.partition(values, len(values) - n_positive)[len(values) - n_positive]
    above, tied = values > cut, values == cut
    places = n_positive - above.sum()
    found = positive[above].sum() + places * positive[tied].mean()
    return float(found / n_positive)


def _positives(labels: NDArray[Any], pos_label: Any) -> NDArray[np.bool_]:
    """Which samples have the label that is sought."""
    kinds = sorted(pd.unique(labels.ravel()).tolist(), key=repr)
    if len(kinds) > 2 or pd.isna(np.asarray(kinds, dtype=object)).any():
        raise ValueError(
            f"y_true must hold labels of two kinds, none missing; got {len(kinds)}: {kinds[:5]}. Leave unlabeled samples "
            "out, and compare one class at a time: y_true == class."
        )
    if pos_label is None:
        if any(kind not in (-1, 0, 1) for kind in kinds):
            raise ValueError(f"y_true holds {kinds}: pass pos_label, the label that is sought.")
        pos_label = 1
    return np.asarray(labels == pos_label, dtype=bool)
