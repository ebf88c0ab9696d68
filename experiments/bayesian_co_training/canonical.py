"""Canonical co-training with Gaussian process logistic regression, as far as the paper's tables need it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coview.inference import DenseCovariance, laplace_fit

__all__ = ["co_train"]


def co_train(
    grams: Sequence[NDArray[np.float64]],
    labeled: NDArray[np.intp],
    positive: NDArray[np.bool_],
    *,
    rounds: int = 50,
    random_state: int = 0,
) -> NDArray[np.float64]:
    """Sum of the views' latent functions (log odds) after co-training.

    In every round each view's classifier, fitted to the common training set, adds to it the unlabeled sample that it finds
    most surely positive, and r that it finds most surely negative, with the labels it gives them; r is the ratio of negative
    to positive labels at the start. A sample that a view knows nothing about has the latent value 0; ties are broken at
    random, since the order of the samples may tell their classes.

    Parameters
    ----------
    grams : sequence of ndarray of shape (n_samples, n_samples)
        One linear kernel per view, zero rows where a sample lacks the view.
    labeled : ndarray of shape (n_labeled,)
        Positions of the labeled samples.
    positive : ndarray of shape (n_labeled,), dtype=bool
        Their labels.
    rounds : int, default=50
        Fewer where samples run out.
    random_state : int, default=0
        Seed of the ties.

    Returns
    -------
    latent : ndarray of shape (n_samples,)
    """
    rng = np.random.default_rng(random_state)
    ratio = max(1, round(float((~positive).sum() / positive.sum())))
    known = np.asarray(labeled)
    targets = np.where(positive, 1.0, -1.0)
    for _ in range(rounds):
        added = _surest(grams, known, targets, (1, ratio), rng)
        known = np.concatenate([known, *added.values()])
        targets = np.concatenate([targets, *(np.full(rows.size, sign) for sign, rows in added.items())])
    return np.sum([_latent(gram, known, targets) for gram in grams], axis=0)


def _latent(gram: NDArray[np.float64], known: NDArray[np.intp], targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Posterior mode of one view's latent function at all samples."""
    columns = gram[:, known]
    fit = laplace_fit(DenseCovariance(columns[known][None]), targets[None])
    return np.asarray(columns @ fit.gradients[0])


def _surest(
    grams: Sequence[NDArray[np.float64]],
    known: NDArray[np.intp],
    targets: NDArray[np.float64],
    counts: tuple[int, int],
    rng: np.random.Generator,
) -> dict[float, NDArray[np.intp]]:
    """What the views add in one round, by label; each takes from the samples that none before it took."""
    added: dict[float, NDArray[np.intp]] = {1.0: np.array([], dtype=np.intp), -1.0: np.array([], dtype=np.intp)}
    free = np.setdiff1d(np.arange(len(grams[0])), known)
    for gram in grams:
        latent = _latent(gram, known, targets)
        for sign, count in zip(added, counts, strict=True):
            order = np.lexsort((rng.random(free.size), -sign * latent[free]))
            added[sign] = np.concatenate([added[sign], free[order[:count]]])
            free = np.delete(free, order[:count])
    return added
