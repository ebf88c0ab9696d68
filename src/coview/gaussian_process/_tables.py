"""Tables that say what an average rests on: settings, trust in views, explanations of predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.gaussian_process._posterior_average import PosteriorAverage
from coview.gaussian_process._setting import Setting

__all__ = ["explanation_table", "settings_table", "trust_columns"]


def trust_columns(average: PosteriorAverage, hyperparameters: str, switched_off: Sequence[str]) -> dict[str, Any]:
    """Share of each view, its interval, the samples behind it, and how the share came about (``status``).

    Shares are "assessed" only where settings disagree about the views, and "given" or "learned" where there is one setting.
    """
    bank = average.fits.bank
    columns: dict[str, Any] = dict(zip(("share", "sd", "lower", "upper"), average.trust().T.copy(), strict=True))
    columns["n_samples"] = bank.presence.sum(axis=0)
    if hyperparameters == "average":
        status = "assessed" if len(bank.names) > 1 and _tell_views_apart(average.fits.settings) else "not assessed"
    else:
        status = "learned" if hyperparameters == "maximize" else "given"
    columns["status"] = [
        "no samples" if count == 0 else "switched off" if name in switched_off else status
        for name, count in zip(bank.names, columns["n_samples"], strict=True)
    ]
    return columns


def _tell_views_apart(settings: Sequence[Setting]) -> bool:
    """Whether some settings favor one view over another."""
    unequal = {setting.view_variances for setting in settings if len(set(setting.view_variances)) > 1}
    return bool(unequal) or any(setting.tells_trust for setting in settings)


def settings_table(
    average: PosteriorAverage, temperatures: NDArray[np.float64] | None, scores: NDArray[np.float64]
) -> pd.DataFrame:
    """One row per setting and temperature, in the order of the settings; ``scores`` (n_settings, n_temperatures)."""
    fits = average.fits
    n = scores.shape[1]
    repeated = pd.DataFrame([_describe(setting) for setting in fits.settings])
    repeated = repeated.loc[repeated.index.repeat(n)].reset_index(drop=True)
    table = pd.DataFrame({"setting": np.repeat(np.arange(len(fits.settings)), n)})
    if temperatures is not None:
        table["temperature"] = np.tile(temperatures, len(fits.settings))
    table["log_marginal_likelihood"] = np.repeat(fits.evidences, n)
    table["loo_score"] = scores.ravel()
    table["weight"] = average.weights.ravel()
    return pd.concat([table, repeated], axis=1)


def _describe(setting: Setting) -> dict[str, Any]:
    """The columns that say what a setting is."""
    kernels = setting.kernels
    return {
        "kind": setting.kind,
        "family": setting.family,
        "kernels": kernels if isinstance(kernels, str) or kernels is None else [str(kernel) for kernel in kernels],
        "center": setting.center,
        "n_components": setting.n_components,
        "view_variances": list(setting.view_variances),
        "view_factors": None if setting.view_factors is None else list(setting.view_factors),
        "amplitude": setting.amplitude,
        "noise_variance": setting.noise_variance,
    }


def explanation_table(
    samples: pd.Index,
    classes: Any,
    names: Sequence[str],
    bias: NDArray[np.float64],
    parts: NDArray[np.float64],
    fused: NDArray[np.float64],
) -> pd.DataFrame:
    """A row per sample, and per class where ``classes`` are given, sample by sample.

    ``bias`` and ``fused`` are (n_samples, K), ``parts`` (n_views, n_samples, K).
    """
    n, K = bias.shape
    columns: dict[str, Any] = {"sample": np.repeat(samples.to_numpy(), K)}
    if classes is not None:
        columns["class"] = np.tile(classes, n)
    columns["bias"] = bias.ravel()
    columns |= {_free_name(name): part.ravel() for name, part in zip(names, parts, strict=True)}
    columns["early_fusion"] = fused.ravel()
    columns["total"] = (bias + parts.sum(axis=0) + fused).ravel()
    return pd.DataFrame(columns)


def _free_name(name: str) -> str:
    """The view's name, marked where it is the name of another column."""
    return f"{name} (view)" if name in ("sample", "class", "bias", "early_fusion", "total") else name
