"""What of a fitted average is kept with a model: settings, weights and modes; everything else is made again on first use."""

from __future__ import annotations

from typing import Any

import numpy as np

from coview.gaussian_process._fits import SettingFits
from coview.gaussian_process._posterior_average import PosteriorAverage
from coview.gaussian_process._prior_bank import PriorBank
from coview.gaussian_process._stored_settings import restored_settings, stored_settings
from coview.gaussian_process._weighing import restored_weighing

__all__ = ["restored_average", "stored_average"]


def stored_average(average: PosteriorAverage) -> dict[str, Any]:
    """Settings, weights and how they came about, and the modes of the settings that most predictions need."""
    fits = average.fits
    needed = np.union1d(average.kept, [average.best])
    return {
        "settings": stored_settings(fits.settings),
        "rows": fits.rows,
        "targets": fits.targets,
        "scales": fits.scales,
        "bias_variance": float(fits.bias_variance),
        "needed": needed,
        "modes": None if fits.modes is None else fits.modes[needed],
        "evidences": fits.evidences,
        "weights": average.weights,
        "weighing": average.weighing.stored(),
    }


def restored_average(stored: dict[str, Any], bank: PriorBank) -> PosteriorAverage:
    """The average over a bank of the same views; what only the fit needed (leave-one-out values) is empty."""
    settings, targets = restored_settings(stored["settings"]), stored["targets"]
    modes = None
    if stored["modes"] is not None:
        modes = np.full((len(settings), *targets.shape), np.nan)
        modes[stored["needed"]] = stored["modes"]
    nothing = np.empty((len(settings), len(targets), 0))
    fits = SettingFits(
        bank=bank,
        settings=settings,
        rows=stored["rows"],
        targets=targets,
        scales=stored["scales"],
        bias_variance=stored["bias_variance"],
        modes=modes,
        evidences=stored["evidences"],
        loo_means=nothing,
        loo_variances=nothing,
    )
    bank.plan(settings)
    return PosteriorAverage(fits, stored["weights"], restored_weighing(stored["weighing"]))
