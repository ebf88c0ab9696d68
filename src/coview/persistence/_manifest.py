"""The manifest of a model file: what it says of the model, and whether that can be so."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from coview.persistence._problems import ModelFileError

__all__ = ["FORMAT", "FORMAT_VERSION", "describe_model", "library_versions", "make_manifest", "parse_json"]

FORMAT = "coview-model"
FORMAT_VERSION = 1
_LIBRARIES = ("coview", "numpy", "scipy", "scikit-learn", "pandas", "skops")
# Column names beyond this many are given by their checksum only.
_MAX_COLUMNS = 1000


def library_versions() -> dict[str, str]:
    """Versions of Python and of the libraries that a model depends on."""
    return {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}}


def describe_model(model: Any) -> dict[str, Any]:
    """What a manifest says of a fitted model: class, steps, task, classes, views."""
    steps = getattr(model, "steps", None)
    parts = [step for _, step in steps] if isinstance(steps, list) else [model]
    classes = getattr(model, "classes_", None)
    return {
        "class": _type_name(model),
        "steps": [[name, _type_name(step)] for name, step in steps] if isinstance(steps, list) else None,
        "task": _task(model),
        "classes": None if classes is None else [str(label) for label in classes],
        "views": next((_views(part) for part in parts if hasattr(part, "view_n_features_")), None),
    }


def _type_name(thing: Any) -> str:
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def _task(model: Any) -> str | None:
    kind = getattr(model, "_estimator_type", None)
    if kind is None and hasattr(model, "__sklearn_tags__"):
        kind = model.__sklearn_tags__().estimator_type
    return {"classifier": "classification", "regressor": "regression"}.get(str(kind))


def _views(part: Any) -> list[dict[str, Any]]:
    """Name, width and columns of each view that a part of the model was fitted on."""
    described = []
    for name, width in part.view_n_features_.items():
        columns = part.view_feature_names_.get(name)
        texts = None if columns is None else [str(label) for label in columns]
        described.append(
            {
                "name": name,
                "n_features": int(width),
                "columns": texts if texts is None or len(texts) <= _MAX_COLUMNS else None,
                "columns_sha256": None if texts is None else digest(json.dumps(texts).encode("ascii")),
            }
        )
    return described


def digest(content: bytes) -> str:
    """SHA-256 as text."""
    return hashlib.sha256(content).hexdigest()


def make_manifest(model: Any, types: list[str], members: Mapping[str, bytes]) -> dict[str, Any]:
    """The manifest of a model and of the members that its file has besides."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": library_versions(),
        "members": {name: {"sha256": digest(content), "size": len(content)} for name, content in members.items()},
        "model": describe_model(model),
        "types": types,
    }


def parse_json(content: bytes, what: str) -> dict[str, Any]:
    """An object written in JSON; raises where it is none."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(
            f"{what} cannot be read: it is no JSON ({error}). The file is damaged; fit anew."
        ) from error
    if not isinstance(value, dict):
        raise ModelFileError(f"{what} cannot be read: it holds no JSON object. The file is damaged; fit anew.")
    return value
