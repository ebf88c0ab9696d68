"""Least squares and hinge loss on a given kernel, from a few labels: scores, and how well pairs left out are told apart."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.svm import SVC

from coview.metrics import precision_recall_breakeven

__all__ = ["HINGE", "LEAST_SQUARES", "LOSSES", "RIDGES", "Trial", "breakeven_of_rest", "trials"]

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

LEAST_SQUARES, HINGE = LOSSES = ("RLS", "SVM")
RIDGES = (1e-4, 1e-2, 1.0)
# Hinge losses are looked at without pairs with this price only, and not without all pairs: each takes a machine.
_WITHOUT_PAIRS, _MOST_PAIRS = 1e-2, 9


@dataclass(frozen=True)
class Trial:
    """One machine on one draw of labels.

    Attributes
    ----------
    loss : str
    ridge : float
    constant : bool
        Whether the scores have a constant that costs nothing.
    scores : ndarray of shape (n_samples,)
    held_out : ndarray of shape (n_copies,)
        Share of pairs of a positive and a negative label that are told apart by machines without both; NaN where not tried. (By
        machines without one it would not do: they are the surer of the other class.)
    """

    loss: str
    ridge: float
    constant: bool
    scores: Array
    held_out: Array


def trials(kernel: Array, rows: Sequence[Rows], signs: Array) -> Iterator[Trial]:
    r"""Minimize :math:`\frac1l \sum_i V(y_i, f(x_i)) + \gamma \|f\|^2` for both losses and the :math:`\gamma` of `RIDGES`.

    Parameters
    ----------
    kernel : ndarray of shape (n, n)
    rows : sequence of ndarray of shape (n_labeled,)
        Where the labeled samples stand; more than one entry where a sample has several rows (one per view), which share its
        label, and are left out together.
    signs : ndarray of shape (n_labeled,)
        -1 and 1.

    Yields
    ------
    trial : Trial
        Least squares without a constant, as printed, and with one; hinge loss with one.
    """
    places, labels = np.concatenate(rows), np.tile(signs, len(rows))
    blocks = np.arange(len(places)).reshape(len(rows), -1)
    gram, columns = kernel[np.ix_(places, places)], kernel[:, places]
    for ridge in RIDGES:
        level = len(signs) * ridge
        inverse = np.linalg.inv(gram + level * np.eye(len(gram)))
        for constant in (False, True):
            sums = inverse.sum(axis=1)
            solver = inverse - np.outer(sums, sums) / sums.sum() if constant else inverse
            shift = sums @ labels / sums.sum() if constant else 0.0
            told = _least_squares_pairs(solver, labels, blocks)
            yield Trial(LEAST_SQUARES, ridge, constant, columns @ (solver @ labels) + shift, told)
        cost = 0.5 / level
        held_out = np.full(len(blocks), np.nan)
        if ridge == _WITHOUT_PAIRS:
            held_out = _hinge_pairs(gram, labels, blocks, cost)
        yield Trial(HINGE, ridge, True, _svm(gram, labels, columns, cost), held_out)


def _least_squares_pairs(solver: Array, labels: Array, blocks: Rows) -> Array:
    """From labels to coefficients: residuals of those left out are the inverse of their block times their coefficients."""
    dual = solver @ labels
    places = blocks[:, _pairs(labels[blocks[0]])].transpose(1, 0, 2).reshape(-1, 2 * len(blocks))
    left = (
        labels[places] - np.linalg.solve(solver[places[:, :, None], places[:, None]], dual[places][:, :, None])[..., 0]
    )
    return _told(left.reshape(len(places), len(blocks), 2))


def _hinge_pairs(gram: Array, labels: Array, blocks: Rows, cost: float) -> Array:
    scores = []
    for pair in _pairs(labels[blocks[0]])[:_MOST_PAIRS]:
        block = blocks[:, pair].ravel()
        kept = np.setdiff1d(np.arange(len(labels)), block)
        scores.append(_svm(gram[np.ix_(kept, kept)], labels[kept], gram[np.ix_(block, kept)], cost))
    return _told(np.reshape(scores, (-1, len(blocks), 2)))


def _pairs(signs: Array) -> Rows:
    """A positive and a negative label (n_pairs, 2); the first ones have different samples as far as that goes."""
    positive, negative = np.flatnonzero(signs > 0.0), np.flatnonzero(signs < 0.0)
    pairs = [
        (p, negative[(k + shift) % len(negative)]) for shift in range(len(negative)) for k, p in enumerate(positive)
    ]
    return np.array(pairs)


def _told(scores: Array) -> Array:
    """How often the positive sample has the larger score, ties half: (n_pairs, n_copies, 2) to (n_copies,)."""
    difference = np.round(scores[:, :, 0] - scores[:, :, 1], 10)
    return np.asarray((0.5 + 0.5 * np.sign(difference)).mean(axis=0))


def _svm(gram: Array, labels: Array, columns: Array, cost: float) -> Array:
    if np.ptp(labels) == 0.0:
        return np.full(len(columns), labels[0])
    with config_context(assume_finite=True, skip_parameter_validation=True):  # a quarter of the time
        machine = SVC(C=cost, kernel="precomputed", tol=1e-4).fit(gram, labels)
    return np.asarray(columns[:, machine.support_] @ machine.dual_coef_[0] + machine.intercept_[0])


def breakeven_of_rest(scores: Array, positive: NDArray[np.bool_], labeled: Rows) -> float:
    """Precision-recall breakeven point, in percent, over the samples without a label."""
    rest = np.ones(len(positive), dtype=bool)
    rest[labeled] = False
    return 100.0 * precision_recall_breakeven(positive[rest], scores[rest])
