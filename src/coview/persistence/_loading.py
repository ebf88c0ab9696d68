"""A model file into a model, after everything in it has been checked."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from coview.persistence._archive import MAX_SIZE, open_archive
from coview.persistence._building import build_model
from coview.persistence._foreign import foreign_archive, foreign_file
from coview.persistence._manifest import check_manifest, library_versions, parse_json
from coview.persistence._problems import ModelFileError
from coview.persistence._saved import SavedModel
from coview.persistence._schema import inspect_schema

__all__ = ["load_model", "read_manifest"]

_MEMBERS = ("manifest.json", "record.json", "model.skops")


def load_model(path: str | os.PathLike[str], *, any_version: bool = False) -> SavedModel:
    """Read a model that `save_model` wrote.

    Checksums, sizes, every type and every array are checked before any part is built, and only types on coview's list are
    built at all: no function is called that the file names.

    Parameters
    ----------
    path : str or path
    any_version : bool, default=False
        Also load a model that was fitted with another minor version of scikit-learn, with a warning: its predictions may
        differ from what they were, or fail.

    Returns
    -------
    saved : SavedModel

    Raises
    ------
    ModelFileError
        If the file is no model, damaged, changed, newer than this coview, fitted with another scikit-learn, or holds a type
        that is not trusted; says which.
    OSError
        If it cannot be read.

    Warns
    -----
    UserWarning
        With ``any_version``, where versions differ.

    See Also
    --------
    save_model : writes the file; its example reads it back.
    """
    what = os.fspath(path)
    members, manifest = _checked_members(path)
    _check_version(manifest, what, any_version=any_version)
    data = members["model.skops"]
    types = inspect_schema(open_archive(data, f"The model in {what}"), what)
    if types != manifest["types"]:
        raise ModelFileError(f"{what} holds other types than its manifest lists. Do not use this file.")
    record = parse_json(members["record.json"], f"The record in {what}")
    model, description = build_model(data, what)
    if description != manifest["model"]:
        raise ModelFileError(f"{what} holds another model than its manifest describes. Do not use this file.")
    return SavedModel(model, manifest, record)


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file says of itself; checksums are checked, and nothing of the model is built.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    manifest : dict
        ``format``, ``format_version``, ``versions`` of the libraries, ``members`` with checksums, ``types``, and ``model``
        with ``class, steps, task, classes`` and ``views``: name, n_features and columns (up to 1,000, else None) of each.

    Raises
    ------
    ModelFileError
        As for `load_model`, as far as that can be told without the model.
    OSError
        If it cannot be read.

    See Also
    --------
    load_model : the model itself.
    """
    return _checked_members(path)[1]


def _checked_members(path: str | os.PathLike[str]) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Members and manifest of a file, checksums compared."""
    what = os.fspath(path)
    size = Path(path).stat().st_size
    if size > MAX_SIZE:
        raise ModelFileError(f"{what} has {size:,} bytes, more than the {MAX_SIZE:,} that coview reads as a model.")
    data = Path(path).read_bytes()
    problem = foreign_file(data, what)
    if problem:
        raise ModelFileError(problem)
    members = open_archive(data, what, check_names=_check_names)
    manifest = check_manifest(members.pop("manifest.json"), members, what)
    return members, manifest


def _check_names(names: list[str], what: str) -> None:
    """Raise unless an archive has the members of a model, once each."""
    if "manifest.json" not in names or "model.skops" not in names:
        raise ModelFileError(foreign_archive(names, what))
    missing = [name for name in _MEMBERS if name not in names]
    if missing:
        raise ModelFileError(
            f"{what} is damaged: it lacks its {missing[0]}. Copy it again from where it came, or fit anew."
        )
    extra = [name for name in names if name not in _MEMBERS]
    if extra:
        raise ModelFileError(f"{what} holds {extra[0][:80]!r}, which no model of coview has. Do not use this file.")


def _check_version(manifest: dict[str, Any], what: str, *, any_version: bool) -> None:
    """Compare the minor version of scikit-learn, between which fitted estimators are not promised to work."""
    theirs, ours = manifest["versions"]["scikit-learn"][:20], library_versions()["scikit-learn"]
    minor = ".".join(theirs.split(".")[:2])
    if minor == ".".join(ours.split(".")[:2]):
        return
    problem = f"{what} was fitted with scikit-learn {theirs}, and this is scikit-learn {ours}"
    if any_version:
        warnings.warn(f"{problem}: predictions may differ from what they were.", UserWarning, stacklevel=3)
        return
    raise ModelFileError(
        f"{problem}; between the two, it may compute other predictions, or fail. Install the other version (pip install "
        f"'scikit-learn=={minor}.*'), fit anew, or load it in Python with any_version=True and compare predictions."
    )
