"""One fitted setting as those who score measurements and labels need it: posterior, views, and values that views may take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.exceptions import ViewError
from coview.gaussian_process._fits import SettingFits, fit_gaussian, fit_logistic
from coview.gaussian_process._posterior_average import PosteriorAverage
from coview.gaussian_process._prepared import PreparedViews
from coview.gaussian_process._prior_bank import PriorBank
from coview.gaussian_process._setting import Setting
from coview.inference import LatentPosterior, Prior
from coview.kernels import PrecomputedKernel, diagonal, gram
from coview.views import Views

__all__ = ["ConsensusPosterior", "scoring_posterior"]

# Rank of the features that stand for exact kernels where scoring works on features.
_RANK = 100


@dataclass(frozen=True)
class ConsensusPosterior:
    """Posterior of the latent functions under one setting, with its views.

    Samples are those that have a view, in their order; ``kept`` says where they stand among all.

    Attributes
    ----------
    latent : LatentPosterior
        Of ``g = b + s m``, with the labeled rows, the scale ``s^2`` and the variance of the bias b.
    curvatures : ndarray of shape (K, n_labeled)
        Precisions of the labels' sites: ``eta (1 - eta)`` at the mode for classes, ``1 / noise_variance`` for regression.
    targets : ndarray of shape (K, n_labeled)
        Labels -1 and +1 of each latent function, or real targets.
    views : Views
        All training samples.
    y : ndarray of shape (n_samples,)
        What they were labeled.
    kept : ndarray of shape (n_kept,)
    classifies : bool
        Whether the sites are logistic.
    temperature : float
        Factor of the logit in class probabilities.
    setting : Setting
        The setting that was fitted.
    bank : PriorBank
        Kernels and features of the training views.
    """

    latent: LatentPosterior
    curvatures: NDArray[np.float64]
    targets: NDArray[np.float64]
    views: Views
    y: NDArray[Any]
    kept: NDArray[np.intp]
    classifies: bool
    temperature: float
    setting: Setting
    bank: PriorBank

    @property
    def prior(self) -> Prior:
        """Label-free prior covariance of m."""
        return self.latent.prior

    @property
    def names(self) -> list[str]:
        """Names of the views."""
        return self.bank.names

    @property
    def presence(self) -> NDArray[np.bool_]:
        """Who has which view (n_kept, n_views)."""
        return self.bank.presence

    @property
    def labeled(self) -> NDArray[np.intp]:
        """Positions of the labeled samples among those kept."""
        return self.latent.rows

    def training(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of g at every training sample (n_kept, K)."""
        return self.latent.training()

    def kernel_values(self, view: str, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Exact kernel values of a view between ``values`` (n_new, p_j) and the samples that have it, and of each with itself.

        (n_new, n_j) and (n_new,).
        """
        j = self._position(view)
        kernel, unit = self.bank.kernels(self.setting.kernels)[j], self.bank.gram_units(self.setting)[j]
        rows = self._scaled(j, values)
        return gram(kernel, rows, self.bank.blocks[j]) / unit, diagonal(kernel, rows) / unit

    def view_features(self, view: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Features of ``values`` (n_new, p_j) that a view may take (n_new, r_j); for settings with features of each view."""
        j = self._position(view)
        maps, _ = self.bank.maps.of_views(self.setting)
        return np.asarray(maps[j].transform(self._scaled(j, values))[:, : self.setting.n_components])

    def _position(self, view: str) -> int:
        j = self.names.index(view)
        if isinstance(self.bank.kernels(self.setting.kernels)[j], PrecomputedKernel):
            raise ViewError(
                f"View {view!r} is given by kernel values, and what it may hold for another sample has none. Give its "
                "features and a kernel, or use criterion='variance' or 'random'."
            )
        return j

    def _scaled(self, j: int, values: NDArray[np.float64]) -> Any:
        return values if self.bank.scalings is None else self.bank.scalings[j].transform(values)


def scoring_posterior(
    average: PosteriorAverage,
    prepared: PreparedViews,
    y: NDArray[Any],
    temperature_of: Callable[[int], float],
    *,
    features: bool,
) -> ConsensusPosterior:
    """Of the setting of the largest evidence; with ``features``, of those that keep all views apart, and on features of each."""
    fits, position = average.fits, average.best
    if features:
        position = _best_apart(average)
    setting = fits.settings[position]
    if features and setting.n_components is None:
        setting, latent, curvatures = _on_features(fits, position)
    else:
        latent, curvatures = average.posterior(position), fits.curvatures(position)
    return ConsensusPosterior(
        latent=latent,
        curvatures=curvatures,
        targets=fits.targets,
        views=prepared.views,
        y=y,
        kept=prepared.kept,
        classifies=fits.modes is not None,
        temperature=temperature_of(position),
        setting=setting,
        bank=fits.bank,
    )


def _best_apart(average: PosteriorAverage) -> int:
    apart = np.array([setting.family == "views" for setting in average.fits.settings])
    # A single evidence often prefers a setting that sets views aside, and there their values would teach nothing.
    even = apart & np.array([not setting.tells_trust for setting in average.fits.settings])
    apart = even if even.any() else apart
    if not apart.any():
        raise ValueError(
            "All settings join the views before any kernel, so that no view has features of its own. Add a setting of "
            "family 'views'."
        )
    return int(np.argmax(np.where(apart, average.fits.evidences, -np.inf)))


def _on_features(fits: SettingFits, position: int) -> tuple[Setting, LatentPosterior, NDArray[np.float64]]:
    """The setting with its exact kernels replaced by their leading spectral features, and what the labels say under it."""
    setting = replace(fits.settings[position], n_components=_RANK)
    if fits.modes is None:
        again = fit_gaussian(fits.bank, [setting], fits.rows, fits.targets[0], fits.bias_variance)
    else:
        again = fit_logistic(fits.bank, [setting], fits.rows, fits.targets, fits.bias_variance)
    return setting, again.posteriors(np.array([0]))[0], again.curvatures(0)
