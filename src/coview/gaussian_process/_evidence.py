"""The evidence around a setting, by the form of its kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coview.gaussian_process._feature_objective import FeatureObjective
from coview.gaussian_process._objective import EvidenceObjective
from coview.gaussian_process._parameters import Evidence, Parameters
from coview.gaussian_process._prior_bank import PriorBank
from coview.gaussian_process._setting import Setting

__all__ = ["evidence_around"]


def evidence_around(
    bank: PriorBank, setting: Setting, rows: NDArray[np.intp], targets: NDArray[np.float64], bias_variance: float
) -> Evidence:
    """Evidence as a function of the parameters of a setting of per-view kernels, which is where its theta starts."""
    variances = np.array(bank.weights(setting).variances)
    point = Parameters(bank.kernels(setting.kernels), variances, setting.noise_variance)
    if setting.n_components is not None:
        return FeatureObjective(bank, setting, rows, targets, bias_variance, point)
    return EvidenceObjective(
        bank.blocks, bank.presence, rows, targets, bank.latent, setting.amplitude, bias_variance, point
    )
