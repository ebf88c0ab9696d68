"""The manifest of a model file: what it says of the model, and whether it can be believed."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from coview.persistence._problems import ModelFileError

__all__ = ["check_manifest", "describe_model", "digest", "library_versions", "make_manifest", "parse_json"]

FORMAT = "coview-model"
FORMAT_VERSION = 1
_LIBRARIES = ("coview", "numpy", "scipy", "scikit-learn", "pandas", "skops")
# Column names beyond this many are given by their checksum only.
_MAX_COLUMNS = 1000
_MAX_MANIFEST = 2**24
_MAX_NUMBER = 10**6
_VERSION = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6}){0,4}[A-Za-z0-9.+-]{0,20}", re.ASCII)
_DAMAGED = "Copy the file again from where it came, or fit anew."


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
    kind = model.__sklearn_tags__().estimator_type if hasattr(model, "__sklearn_tags__") else None
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
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # half a letter could not be shown or written
    except (ValueError, RecursionError) as error:
        reason = str(error)[:120].encode("ascii", "backslashreplace").decode("ascii")
        raise ModelFileError(f"{what} cannot be read, for it is not proper JSON: {reason}. {_DAMAGED}") from error
    if not isinstance(value, dict):
        raise ModelFileError(f"{what} cannot be read: it holds no JSON object. {_DAMAGED}")
    return value


def check_manifest(content: bytes, members: Mapping[str, bytes], what: str) -> dict[str, Any]:
    """The manifest, if it is one that this version of coview reads and fits the other members of the file.

    Parameters
    ----------
    content : bytes
        The manifest as it stands in the file.
    members : mapping of str to bytes
        The other members.
    what : str
        How messages call the file.
    """
    if len(content) > _MAX_MANIFEST:
        raise ModelFileError(
            f"The manifest of {what} has {len(content):,} bytes, more than any of coview. Do not use this file."
        )
    manifest = parse_json(content, f"The manifest of {what}")
    _check_format(manifest, what)
    _check_shape(manifest, what)
    for name, member in members.items():
        listed = manifest["members"][name]
        if listed["size"] != len(member) or listed["sha256"] != digest(member):
            raise ModelFileError(
                f"{what} is damaged or was changed: the checksum of its {name} is not the one in its manifest. {_DAMAGED}"
            )
    return manifest


def _check_format(manifest: dict[str, Any], what: str) -> None:
    if manifest.get("format") != FORMAT:
        raise ModelFileError(
            f"{what} is no model of coview: its manifest gives the format {str(manifest.get('format'))[:40]!r} instead of "
            f"{FORMAT!r}."
        )
    number = manifest.get("format_version")
    if type(number) is not int or not 1 <= number <= _MAX_NUMBER:
        raise ModelFileError(
            f"The manifest of {what} gives no proper format_version, but {str(number)[:40]!r}. {_DAMAGED}"
        )
    if number > FORMAT_VERSION:
        versions = manifest.get("versions")
        named = versions.get("coview") if isinstance(versions, dict) else None
        writer = named if _is_version(named) else "unknown"
        raise ModelFileError(
            f"{what} was written by coview {writer} in version {number} of the format; this is coview {version('coview')}, "
            f"which reads version {FORMAT_VERSION}. Update coview: pip install --upgrade coview"
        )


def _is_version(text: Any) -> bool:
    """Whether a text can only be a version, so that it may be shown and installed."""
    return isinstance(text, str) and _VERSION.fullmatch(text) is not None


def _check_shape(manifest: dict[str, Any], what: str) -> None:
    """Raise unless everything is there, and of the type that it should have."""
    versions, listed, types = manifest.get("versions"), manifest.get("members"), manifest.get("types")
    proper = (
        isinstance(versions, dict)
        and all(_is_version(versions.get(name)) for name in ("python", *_LIBRARIES))
        and isinstance(listed, dict)
        and set(listed) == {"record.json", "model.skops"}
        and all(isinstance(entry, dict) for entry in listed.values())
        and all(isinstance(entry.get("sha256"), str) and type(entry.get("size")) is int for entry in listed.values())
        and isinstance(types, list)
        and all(isinstance(name, str) for name in types)
        and isinstance(manifest.get("model"), dict)
        and isinstance(manifest["model"].get("class"), str)
    )
    if not proper:
        raise ModelFileError(
            f"The manifest of {what} lacks a part, or one is of another kind than it should be (versions, members, types, "
            f"model). {_DAMAGED}"
        )
