"""How settings are weighed: by what each says of labels that it has not seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.gaussian_process._fits import SettingFits
from coview.inference import Weighting, averaging_weights, gaussian_log_density, leave_one_out_class_scores

__all__ = ["ClassWeighing", "TargetWeighing", "Weighing", "restored_weighing"]


@dataclass(frozen=True)
class Weighing(ABC):
    """Weights of settings and temperatures from latent values of labeled samples without their own labels.

    Attributes
    ----------
    weighting : {"bootstrap", "leave_one_out", "evidence"}
    seed : int
        Of the bootstrap: the same for every set of scores.
    by_pattern : bool
        Whether combinations of views that no labeled sample has get weights of their own.
    """

    weighting: Weighting
    seed: int
    by_pattern: bool

    @property
    def log_temperature_prior(self) -> NDArray[np.float64]:
        """Log prior weight of each temperature (n_temperatures,)."""
        return np.zeros(1)

    @abstractmethod
    def scores(
        self,
        fits: SettingFits,
        means: NDArray[np.float64],
        variances: NDArray[np.float64],
        members: NDArray[np.intp],
        labeled: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        """Log probability or density of labels under some settings (n_members, n_temperatures, n), in nats.

        ``means`` and ``variances`` (n_members, K, n) are of the ``labeled`` ones among the labeled samples.
        """

    def stored(self) -> dict[str, Any]:
        """What is kept of it with a model."""
        return {"weighting": str(self.weighting), "seed": int(self.seed), "by_pattern": bool(self.by_pattern)}

    def weights(self, fits: SettingFits, scores: NDArray[np.float64], members: NDArray[np.intp]) -> NDArray[np.float64]:
        """Weights (n_members, n_temperatures) that sum to one."""
        return self._weights(fits, scores, members, self.weighting)

    def weights_elsewhere(
        self, fits: SettingFits, scores: NDArray[np.float64], members: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """The same from scores of samples cut to other views, of which the evidence says nothing."""
        return self._weights(fits, scores, members, "bootstrap" if self.weighting == "evidence" else self.weighting)

    def _weights(
        self, fits: SettingFits, scores: NDArray[np.float64], members: NDArray[np.intp], weighting: Weighting
    ) -> NDArray[np.float64]:
        return averaging_weights(
            scores,
            np.array([fits.settings[k].log_prior for k in members]),
            fits.evidences[members],
            self.log_temperature_prior,
            weighting=weighting,
            random_state=np.random.RandomState(self.seed),
        )


@dataclass(frozen=True)
class ClassWeighing(Weighing):
    """Of class probabilities.

    Attributes
    ----------
    temperatures : ndarray of shape (n_temperatures,)
    averaged : bool
        As for `class_probabilities`.
    """

    temperatures: NDArray[np.float64]
    averaged: bool

    @property
    def log_temperature_prior(self) -> NDArray[np.float64]:
        """``log tau ~ N(0, 1)`` where temperatures are averaged (n_temperatures,)."""
        return -0.5 * np.log(self.temperatures) ** 2 if self.temperatures.size > 1 else np.zeros(1)

    def scores(
        self,
        fits: SettingFits,
        means: NDArray[np.float64],
        variances: NDArray[np.float64],
        members: NDArray[np.intp],
        labeled: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        """Log probabilities of the classes (n_members, n_temperatures, n)."""
        codes = np.argmax(fits.targets, axis=0) if len(fits.targets) > 1 else (fits.targets[0] > 0.0).astype(np.int64)
        return leave_one_out_class_scores(means, variances, codes[labeled], self.temperatures, averaged=self.averaged)

    def stored(self) -> dict[str, Any]:
        """What is kept of it with a model."""
        return {
            **super().stored(),
            "temperatures": self.temperatures,
            "averaged": bool(self.averaged),
        }


@dataclass(frozen=True)
class TargetWeighing(Weighing):
    """Of densities of real targets."""

    def scores(
        self,
        fits: SettingFits,
        means: NDArray[np.float64],
        variances: NDArray[np.float64],
        members: NDArray[np.intp],
        labeled: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        """Log densities of the targets (n_members, 1, n)."""
        noise = fits.noise_variances[members, None]
        return gaussian_log_density(fits.targets[:, labeled], means[:, 0], variances[:, 0] + noise)[:, None]


def restored_weighing(stored: dict[str, Any]) -> Weighing:
    """The weighing of which ``stored`` was kept."""
    return ClassWeighing(**stored) if "temperatures" in stored else TargetWeighing(**stored)
