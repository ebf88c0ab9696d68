"""Parameters of an estimator for a fit to fewer views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["parameters_without"]

_PER_VIEW = ("kernel", "view_variances")
_PER_VIEW_IN_SETTINGS = ("kernels", "view_variances", "view_factors")


def parameters_without(estimator: Any, names: Sequence[str], view: str) -> dict[str, Any]:
    """What is given per view, by name or position, without one of the views: for ``set_params``."""
    changed = {name: _cut(getattr(estimator, name), names, view) for name in _PER_VIEW}
    if estimator.settings is not None:
        changed["settings"] = [
            {key: _cut(value, names, view) if key in _PER_VIEW_IN_SETTINGS else value for key, value in entry.items()}
            for entry in estimator.settings
        ]
    return changed


def _cut(value: Any, names: Sequence[str], view: str) -> Any:
    """A dict by name or a list by position without the view; anything else as it is."""
    if isinstance(value, Mapping):
        return {name: item for name, item in value.items() if name != view}
    if isinstance(value, list | tuple | np.ndarray) and len(value) == len(names):
        return [item for name, item in zip(names, value, strict=True) if name != view]
    return value
