"""How alike samples are to an average of models, before any label: the mean of the correlations that its settings imply."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.gaussian_process._keys import prior_key
from coview.gaussian_process._new_samples import NewSamples
from coview.gaussian_process._posterior_average import PosteriorAverage
from coview.gaussian_process._setting import Setting
from coview.inference import ConsensusPrior, JointPrior, MeanPrior

__all__ = ["average_similarity"]

# Share of the weight that the settings taken along carry; the tail changes nothing that can be seen and costs most.
_COVERED = 0.9


def average_similarity(
    average: PosteriorAverage, columns: NDArray[np.intp], new: NewSamples | None = None
) -> NDArray[np.float64]:
    """Covariance with the training samples in ``columns``, of each setting divided by its mean variance, averaged.

    Of the samples in ``columns`` themselves where ``new`` is None: (n_columns, n_columns), else (n_new, n_columns).
    """
    total = np.zeros((columns.size if new is None else len(new.presence), columns.size))
    for setting, weight in _leading(average):
        prior = _smooth(average.fits.bank.prior(setting))
        if prior.mean_diagonal > 0.0:
            block = prior.block(columns) if new is None else prior.at(new.inputs(setting), columns)[0]
            total += weight / prior.mean_diagonal * block
    return total


def _leading(average: PosteriorAverage) -> list[tuple[Setting, float]]:
    """Settings of different priors with their weights, largest first, until nine tenths of the weight are covered."""
    settings = average.fits.settings
    weights = average.weights.sum(axis=1)
    by_prior: dict[Hashable, list[int]] = {}
    for k in average.kept:
        by_prior.setdefault(prior_key(settings[k]), []).append(int(k))
    groups = sorted(
        ((float(weights[ks].sum()), ks[0]) for ks in by_prior.values()), key=lambda group: (-group[0], group[1])
    )
    covered = np.cumsum([weight for weight, _ in groups])
    last = int(np.searchsorted(covered, _COVERED * covered[-1])) + 1
    return [(settings[k], weight / float(covered[min(last, len(groups)) - 1])) for weight, k in groups[:last]]


def _smooth(prior: Any) -> MeanPrior | JointPrior:
    """The mean that the views imply; the consensus function is that mean and noise of every sample's own."""
    return MeanPrior(prior.consensus) if isinstance(prior, ConsensusPrior) else prior
