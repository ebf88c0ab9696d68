"""A fitted model into a file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from coview.files import refuse_existing, writing
from coview.persistence._archive import open_archive, write_archive
from coview.persistence._building import build_model, unknown_types
from coview.persistence._canonical import canonical_archive
from coview.persistence._manifest import make_manifest
from coview.persistence._problems import ModelFileError
from coview.persistence._schema import inspect_schema

__all__ = ["save_model"]


_WHAT = "The model cannot be saved: it"
_ADVICE = (
    "Use parts of coview and scikit-learn only, and names or kernel objects instead of functions "
    "('rbf' instead of a callable)."
)


def save_model(
    model: Any, path: str | os.PathLike[str], *, record: Mapping[str, Any] | None = None, overwrite: bool = False
) -> None:
    """Write a fitted model to a file, from which `load_model` reads it without running any code.

    Parameters
    ----------
    model : estimator
        A fitted estimator of coview, or a scikit-learn pipeline of parts of coview and scikit-learn.
    path : str or path
        By convention it ends in ``.coview``. The file is written beside and renamed, so that it is never half there.
    record : mapping, default=None
        What is to be kept beside the model, such as scores: anything that JSON can hold.
    overwrite : bool, default=False
        Whether a file of that name may be replaced.

    Raises
    ------
    ModelFileError
        If the model holds something that could not be loaded again: a function or a class of yours; or if the record is
        no JSON.
    FileExistsError
        If the file exists and ``overwrite`` is False.
    OSError
        If it cannot be written; a file of that name is left as it was.

    Notes
    -----
    The same model and record give the same bytes, on one set of versions of the libraries.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from coview.datasets import make_two_gaussian_views
    >>> from coview.gaussian_process import BayesianCoTrainingClassifier
    >>> from coview.persistence import load_model, save_model
    >>> views, y = make_two_gaussian_views(n_samples=30, random_state=0)
    >>> model = BayesianCoTrainingClassifier("rbf", hyperparameters="fixed", view_variances=0.1).fit(views, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, pathlib.Path(folder, "first.coview"))
    ...     again = load_model(pathlib.Path(folder, "first.coview")).model
    >>> bool((again.predict_proba(views) == model.predict_proba(views)).all())
    True
    """
    refuse_existing(path, overwrite=overwrite)
    check_is_fitted(model)
    content = model_bytes(model, record)
    with writing(path, overwrite=overwrite) as stream:
        stream.write(content)


def model_bytes(model: Any, record: Mapping[str, Any] | None = None) -> bytes:
    """What `save_model` writes: read back once, so that nobody keeps a file that cannot be read."""
    data = _skops_bytes(model)
    types = inspect_schema(open_archive(data, _WHAT), _WHAT, _ADVICE)
    members = {"record.json": _record_bytes(record), "model.skops": data}
    manifest = make_manifest(model, types, members)
    if build_model(data, _WHAT)[1] != manifest["model"]:
        raise ModelFileError(f"{_WHAT} comes back changed when it is read. Report this, with the class of the model.")
    text = json.dumps(manifest, indent=1, ensure_ascii=True, allow_nan=False).encode("ascii")
    return write_archive({"manifest.json": text, **members})


def _skops_bytes(model: Any) -> bytes:
    """The model as skops writes it, made canonical, without anything that is not on the trust list."""
    import skops.io  # takes a second, so only where it is needed

    try:
        data = canonical_archive(skops.io.dumps(model))
    except (TypeError, ValueError, RecursionError) as error:  # skops' own UnsupportedTypeException is a TypeError
        raise ModelFileError(f"{_WHAT} holds what skops cannot write: {error}. {_ADVICE}") from error
    unknown = unknown_types(data)
    if unknown:
        raise ModelFileError(
            f"{_WHAT} holds {', '.join(map(repr, unknown[:5]))}, not on coview's list of trusted types, so that it would not "
            f"load again. {_ADVICE}"
        )
    return data


def _record_bytes(record: Mapping[str, Any] | None) -> bytes:
    try:
        return json.dumps(dict(record or {}), indent=1, ensure_ascii=True, allow_nan=False).encode("ascii")
    except (TypeError, ValueError) as error:
        raise ModelFileError(
            f"The record cannot be saved: {error}. It must hold dicts with text keys, lists, text, finite numbers, truth "
            "values and None."
        ) from error
