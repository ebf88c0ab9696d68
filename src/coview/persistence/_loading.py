"""A model file into a model, after everything in it has been checked."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from sklearn.exceptions import InconsistentVersionWarning

from coview.persistence._archive import open_archive
from coview.persistence._manifest import FORMAT, FORMAT_VERSION, describe_model, digest, library_versions, parse_json
from coview.persistence._problems import ModelFileError
from coview.persistence._saved import SavedModel
from coview.persistence._schema import inspect_schema
from coview.persistence._trust import COVIEW_TYPES, LIBRARY_TYPES

__all__ = ["load_model", "read_manifest"]

_MEMBERS = ("manifest.json", "record.json", "model.skops")


def load_model(path: str | os.PathLike[str], *, any_version: bool = False) -> SavedModel:
    """Read a model that `save_model` wrote.

    Parameters
    ----------
    path : str or path
    any_version : bool, default=False
        Also load models that another version of scikit-learn wrote; their predictions may differ, or fail.

    Returns
    -------
    saved : SavedModel

    Raises
    ------
    ModelFileError
        If the file is no model, damaged, tampered with, newer than this coview, or holds a type that is not trusted.
    OSError
        If it cannot be read.
    """
    members, manifest = _checked(path)
    what = os.fspath(path)
    data = members["model.skops"]
    types = inspect_schema(open_archive(data, what), what)
    if types != manifest.get("types"):
        raise ModelFileError(f"{what} holds other types than its manifest says. Do not use this file.")
    _check_versions(manifest, what, any_version=any_version)
    model = _build(data, what)
    if describe_model(model) != manifest.get("model"):
        raise ModelFileError(f"{what} holds another model than its manifest describes. Do not use this file.")
    return SavedModel(model, manifest, parse_json(members["record.json"], f"The record of {what}"))


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file says of itself; members are checked, and nothing of the model is loaded.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    manifest : dict
        ``format, format_version, versions, members, model, types``; ``model`` has ``class, steps, task, classes, views``.

    Raises
    ------
    ModelFileError
        As `load_model`, as far as that can be told without the model.
    """
    return _checked(path)[1]


def _checked(path: str | os.PathLike[str]) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Members and manifest of a file whose checksums hold."""
    what = os.fspath(path)
    data = Path(path).read_bytes()
    members = open_archive(data, what)
    if set(members) != set(_MEMBERS):
        raise ModelFileError(f"{what} is no model of coview: it holds {sorted(members)}, not {sorted(_MEMBERS)}.")
    manifest = parse_json(members["manifest.json"], f"The manifest of {what}")
    if manifest.get("format") != FORMAT:
        raise ModelFileError(f"{what} is no model of coview: its format is {manifest.get('format')!r}.")
    version = manifest.get("format_version")
    if version != FORMAT_VERSION:
        raise ModelFileError(
            f"{what} has version {version!r} of the format; this coview reads {FORMAT_VERSION}. Update."
        )
    for name in _MEMBERS[1:]:
        listed = manifest.get("members", {}).get(name, {})
        if listed != {"sha256": digest(members[name]), "size": len(members[name])}:
            raise ModelFileError(f"{what} is damaged: the checksum of {name} does not hold.")
    return members, manifest


def _check_versions(manifest: dict[str, Any], what: str, *, any_version: bool) -> None:
    theirs, ours = manifest["versions"]["scikit-learn"], library_versions()["scikit-learn"]
    if theirs.split(".")[:2] != ours.split(".")[:2] and not any_version:
        raise ModelFileError(f"{what} was written with scikit-learn {theirs}; this is {ours}. Pass any_version=True.")


def _build(data: bytes, what: str) -> Any:
    """The model; whatever goes wrong here is the file's fault."""
    import skops.io  # takes a second, so only where it is needed

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)  # versions were compared above
            return skops.io.loads(data, trusted=sorted(COVIEW_TYPES | LIBRARY_TYPES))
    except Exception as error:
        raise ModelFileError(f"{what} is damaged: its model cannot be put together ({error}).") from error
