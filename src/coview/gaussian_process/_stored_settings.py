"""Settings in plain text, as a model on disk holds them."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import fields
from typing import Any

from coview.gaussian_process._keys import kernel_key
from coview.gaussian_process._setting import Setting

__all__ = ["restored_settings", "stored_settings"]

_NAMES = tuple(field.name for field in fields(Setting))


def stored_settings(settings: Sequence[Setting]) -> dict[str, Any]:
    """Settings as one text, and the different kernel specifications that they point to."""
    specs: dict[Hashable, int] = {}
    kernels: list[Any] = []
    rows = []
    for setting in settings:
        position = specs.setdefault(kernel_key(setting.kernels), len(kernels))
        if position == len(kernels):
            kernels.append(setting.kernels)
        rows.append([position if name == "kernels" else getattr(setting, name) for name in _NAMES])
    return {"fields": list(_NAMES), "rows": json.dumps(rows), "kernels": kernels}


def restored_settings(stored: dict[str, Any]) -> list[Setting]:
    """The settings that ``stored_settings`` took apart."""
    settings = []
    for row in json.loads(stored["rows"]):
        values = {
            name: tuple(value) if isinstance(value, list) else value for name, value in zip(_NAMES, row, strict=True)
        }
        settings.append(Setting(**{**values, "kernels": stored["kernels"][values["kernels"]]}))
    return settings
