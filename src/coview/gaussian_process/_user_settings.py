"""What a caller gives per view or per setting, checked and brought into one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coview.exceptions import ViewError
from coview.gaussian_process._setting import Setting
from coview.views import value_per_view

__all__ = ["numbers_per_view", "positive_numbers", "settings_from"]

_FAMILIES = ("views", "joint", "completed", "early_fusion")
_KEYS = (
    "kernels",
    "center",
    "scale",
    "n_components",
    "view_variances",
    "view_factors",
    "joint",
    "family",
    "amplitude",
    "noise_variance",
    "log_prior",
)


def numbers_per_view(values: Any, names: Sequence[str], what: str) -> tuple[float, ...]:
    """One number for all views, or one per view, from a number, a list by position or a dict by name."""
    if isinstance(values, Mapping):
        values = value_per_view(values, names, what)
    numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if numbers.ndim > 1 or numbers.size not in (1, len(names)):
        raise ViewError(f"{what} must be one number or one per view ({len(names)}); got shape {numbers.shape}.")
    return tuple(float(value) for value in numbers)


def positive_numbers(values: Any, what: str, *, whole: bool = False) -> list[Any]:
    """One positive number or several, as a list."""
    numbers = np.atleast_1d(np.asarray(values))
    allowed = "iu" if whole else "iuf"
    if numbers.ndim != 1 or not numbers.size or numbers.dtype.kind not in allowed or not (numbers > 0).all():
        kind = "integer" if whole else "number"
        raise ValueError(f"{what} must be a positive {kind} or a list of them; got {values!r}.")
    return list(numbers.tolist())


def settings_from(entries: Any, names: Sequence[str], defaults: Mapping[str, Any]) -> list[Setting]:
    """Settings from the dictionaries of the ``settings`` parameter; what they leave out comes from ``defaults``.

    Classification has no noise: its default ``noise_variance`` is None, and the key is unknown.
    """
    if not isinstance(entries, list | tuple) or not entries or not all(isinstance(entry, Mapping) for entry in entries):
        raise ValueError(
            f"settings must be a list of dictionaries, one at least; got {entries!r}. Use None for the default grid."
        )
    return [_setting_from(entry, f"settings[{position}]", names, defaults) for position, entry in enumerate(entries)]


def _setting_from(given: Mapping[str, Any], what: str, names: Sequence[str], defaults: Mapping[str, Any]) -> Setting:
    entry = {**defaults, **given}
    known = [key for key in _KEYS if key != "noise_variance" or defaults["noise_variance"] is not None]
    unknown = [key for key in given if key not in known]
    if unknown:
        raise ValueError(f"{what} has unknown keys {unknown}; known are {known}.")
    n_components = _one(entry.get("n_components"), f"{what}['n_components']", whole=True)
    family = entry.get("family", "joint" if entry.get("joint", False) else "views")
    if family not in _FAMILIES:
        raise ValueError(f"{what}['family'] must be one of {list(_FAMILIES)}; got {family!r}.")
    center = bool(entry.get("center", False))
    if n_components is None and (center or family != "views"):
        raise ValueError(
            f"{what} must give n_components where it centers or joins the views: only exact, uncentered kernels per view do "
            "without features."
        )
    factors = entry.get("view_factors")
    return Setting(
        family=family,
        kernels=_kernels(entry.get("kernels"), names, what),
        center=center,
        scale=bool(entry.get("scale", n_components is not None)),
        n_components=n_components,
        view_variances=numbers_per_view(entry.get("view_variances", np.inf), names, f"{what}['view_variances']"),
        view_factors=None if factors is None else _factors(factors, names, f"{what}['view_factors']"),
        amplitude=_one(entry["amplitude"], f"{what}['amplitude']"),
        noise_variance=_one(entry["noise_variance"], f"{what}['noise_variance']"),
        log_prior=float(entry.get("log_prior", 0.0)),
    )


def _one(value: Any, what: str, *, whole: bool = False) -> Any:
    """None, or one positive number."""
    if value is None:
        return None
    numbers = positive_numbers(value, what, whole=whole)
    if len(numbers) != 1:
        raise ValueError(f"{what} must be one number; got {value!r}.")
    return numbers[0]


def _factors(values: Any, names: Sequence[str], what: str) -> tuple[float, ...]:
    """One factor per view."""
    factors = numbers_per_view(values, names, what)
    return factors * len(names) if len(factors) == 1 else factors


def _kernels(kernels: Any, names: Sequence[str], what: str) -> Any:
    """Kernels by position, from a list or a dict by name; a single one as it is."""
    if isinstance(kernels, Mapping):
        return tuple(value_per_view(kernels, names, f"{what}['kernels']"))
    return tuple(kernels) if isinstance(kernels, list | tuple) else kernels
