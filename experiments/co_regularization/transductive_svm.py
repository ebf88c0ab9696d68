"""The transductive support vector machine (Joachims 1999), a rival of table 1: labels of all samples that leave a wide margin."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import LinearSVC

__all__ = ["TRADE_OFFS", "transductive_scores"]

Array = NDArray[np.float64]

# C relative to the default of the paper's program, one over the mean squared length of the rows.
TRADE_OFFS = (0.1, 1.0, 10.0)
_SMALLEST = 1e-5
_MOST_ROUNDS = 50


def transductive_scores(
    rows: Any, labeled: NDArray[np.intp], signs: Array, trade_off: float, share: float | None = None
) -> Array:
    """Scores of all samples by a linear machine.

    Parameters
    ----------
    rows : sparse array of shape (n, n_features)
    labeled : ndarray of shape (n_labeled,)
    signs : ndarray of shape (n_labeled,)
        -1 and 1, both.
    trade_off : float
        Of `TRADE_OFFS`.
    share : float, default=None
        Of positives among the unlabeled samples; None for that among the labels.

    Returns
    -------
    scores : ndarray of shape (n,)

    Notes
    -----
    Algorithm 1 of the paper. The weight of unlabeled samples doubles from 1e-5 of the labeled ones' to the same; in between
    labels are switched while two of different signs have slacks that sum to more than 2. All such pairs, largest slacks first,
    switch at once, where the paper switches one: each switch lowers the objective. liblinear's machine, whose constant is priced
    like another weight.
    """
    n = rows.shape[0]
    squares = rows.multiply(rows).sum() / n
    cost = trade_off / float(squares)
    unlabeled = np.setdiff1d(np.arange(n), labeled)
    order = np.concatenate([labeled, unlabeled])
    ordered = sparse.csr_matrix(rows)[order]
    machine = _Machine(ordered, cost)
    known, u = len(labeled), len(unlabeled)
    start = machine.scores(signs, np.ones(known))
    wanted = (signs > 0.0).mean() if share is None else share
    n_positive = int(np.clip(round(wanted * u), 1, u - 1))
    guessed = np.full(u, -1.0)
    guessed[np.argsort(-start[known:], kind="stable")[:n_positive]] = 1.0
    scores, weight = start, _SMALLEST
    balance = n_positive / (u - n_positive)
    while True:
        for _ in range(_MOST_ROUNDS):
            weights = np.where(guessed > 0.0, min(weight * balance, 1.0), min(weight, 1.0))
            scores = machine.scores(np.concatenate([signs, guessed]), np.concatenate([np.ones(known), weights]))
            if not _switch(guessed, scores[known:]):
                break
        if weight >= 1.0 and weight * balance >= 1.0:
            break
        weight *= 2.0
    result = np.empty(n)
    result[order] = scores
    return result


def _switch(guessed: Array, scores: Array) -> bool:
    """Switch the labels of pairs in place; whether there was one."""
    slack = np.maximum(1.0 - guessed * scores, 0.0)
    up, down = np.flatnonzero(guessed > 0.0), np.flatnonzero(guessed < 0.0)
    up, down = up[np.argsort(-slack[up], kind="stable")], down[np.argsort(-slack[down], kind="stable")]
    count = min(len(up), len(down))
    first, second = slack[up[:count]], slack[down[:count]]
    pairs = int(np.sum((first > 0.0) & (second > 0.0) & (first + second > 2.0 + 1e-9)))
    guessed[up[:pairs]] = -1.0
    guessed[down[:pairs]] = 1.0
    return pairs > 0


class _Machine:
    """A linear machine on the first samples."""

    def __init__(self, rows: Any, cost: float) -> None:
        self.rows, self.cost = rows, cost

    def scores(self, signs: Array, weights: Array) -> Array:
        """Of all samples, from signs and weights of the first ones."""
        machine = LinearSVC(C=self.cost, loss="hinge", random_state=0, max_iter=100_000, tol=1e-3)
        machine.fit(self.rows[: len(signs)], signs, sample_weight=weights)
        return np.asarray(machine.decision_function(self.rows))
