"""A campaign's start as bytes, and back: data as arrays, the model as `save_model` writes it, settings as JSON."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from coview.acquisition._campaign_cells import ViewCells
from coview.acquisition._costs import Costs
from coview.persistence import ModelFileError, load_model, save_model
from coview.storage import Project, ProjectFileError
from coview.views import AlignedTables, Table, Views, plain_labels

__all__ = [
    "cells_from_bytes",
    "cells_to_bytes",
    "costs_from_plain",
    "costs_to_plain",
    "data_from_bytes",
    "data_to_bytes",
    "model_from_bytes",
    "model_to_bytes",
    "settings_of",
    "settings_to_bytes",
]


def data_to_bytes(views: Views, y: NDArray[Any]) -> bytes:
    """Views and target as an npz archive without pickled objects."""
    source = views.to_tables()
    arrays: dict[str, NDArray[Any]] = {"presence": views.presence}
    described = []
    for j, table in enumerate(source.tables):
        arrays[f"rows{j}"] = views.rows(table.name)
        if sparse.issparse(table.values):
            arrays |= _parts_of_sparse(table.values, j)
        else:
            arrays[f"values{j}"] = np.asarray(table.values)
        described.append({"name": table.name, "n_features": table.n_features, "columns": _plain(table.columns)})
    about: dict[str, Any] = {"views": described, "ids": _plain(source.ids), "has_ids": source.has_ids}
    about["same_order"] = source.same_order
    if y.dtype == object:
        about["y"] = [_plain_label(label) for label in y]
    else:
        arrays["y"] = y
    return _archive(arrays, about)


def data_from_bytes(content: bytes) -> tuple[Views, NDArray[Any]]:
    """What `data_to_bytes` wrote."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            tables = tuple(_table(arrays, j, view) for j, view in enumerate(about["views"]))
            ids = pd.Index(about["ids"])
            aligned = AlignedTables(tables, ids, about["has_ids"], about["same_order"], presence=arrays["presence"])
            y = np.array(about["y"], dtype=object) if "y" in about else arrays["y"]
            return Views.from_tables(aligned), y
    except (KeyError, ValueError, zipfile.BadZipFile, OSError) as error:
        raise ProjectFileError(f"The data of the campaign cannot be read: {error}. Go back to a backup.") from error


def _archive(arrays: dict[str, NDArray[Any]], about: Any) -> bytes:
    """Arrays as an npz archive, with what JSON holds about them."""
    stream = io.BytesIO()
    described = np.frombuffer(json.dumps(about).encode("utf-8"), dtype=np.uint8)
    np.savez(stream, about=described, **arrays)  # type: ignore[arg-type]  # its stub takes no arrays by name
    return stream.getvalue()


def _parts_of_sparse(values: Any, j: int) -> dict[str, NDArray[Any]]:
    """A sparse matrix as the arrays of view j."""
    matrix = sparse.csr_array(values)
    return {f"data{j}": matrix.data, f"indices{j}": matrix.indices, f"indptr{j}": matrix.indptr}


def _sparse(arrays: Any, j: int, shape: tuple[int, int]) -> sparse.csr_array:
    """What `_parts_of_sparse` gave, checked."""
    values = sparse.csr_array((arrays[f"data{j}"], arrays[f"indices{j}"], arrays[f"indptr{j}"]), shape=shape)
    values.check_format(full_check=True)
    return values


def _table(arrays: Any, j: int, view: dict[str, Any]) -> Table:
    rows = arrays[f"rows{j}"]
    values = arrays[f"values{j}"] if f"values{j}" in arrays else _sparse(arrays, j, (len(rows), view["n_features"]))
    columns = None if view["columns"] is None else pd.Index(view["columns"])
    return Table(view["name"], values, columns, rows=rows)


def _plain(labels: pd.Index | None) -> list[Any] | None:
    """Labels as JSON holds them; those of other types as text."""
    plain = plain_labels(labels)
    if plain is None:
        return None
    if isinstance(plain, str):
        return list(json.loads(plain))
    return [int(item) for item in plain] if isinstance(plain, np.ndarray) else [str(item) for item in plain]


def _plain_label(label: Any) -> Any:
    plain = label.item() if isinstance(label, np.generic) else label
    if plain is None or (pd.api.types.is_scalar(plain) and pd.isna(plain)):
        return None
    if isinstance(plain, str | bool | int | float):
        return plain
    raise ValueError(f"Labels must be text, numbers or truth values to be kept in a file; got {type(label).__name__}.")


def cells_to_bytes(cells: Mapping[str, ViewCells]) -> bytes:
    """The cells of all views as an npz archive without pickled objects: numbers as one array per view, text as JSON."""
    arrays: dict[str, NDArray[Any]] = {}
    described = []
    for j, view in enumerate(cells.values()):
        arrays[f"rows{j}"] = view.rows
        text: dict[int, list[str | None]] = {}
        if sparse.issparse(view.values):
            arrays |= _parts_of_sparse(view.values, j)
        else:
            written = [k for k, kind in enumerate(view.kinds) if kind in ("category", "text")]
            numbers = [k for k in range(len(view.kinds)) if k not in set(written)]
            arrays[f"numbers{j}"] = view.values.iloc[:, numbers].to_numpy(dtype=np.float64)
            text = {k: _cells_of_text(view.values.iloc[:, k]) for k in written}
        described.append({"name": view.name, "columns": view.columns, "kinds": view.kinds, "text": text})
    return _archive(arrays, described)


def cells_from_bytes(content: bytes) -> dict[str, ViewCells]:
    """What `cells_to_bytes` wrote."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            return {view["name"]: _cells(arrays, j, view) for j, view in enumerate(about)}
    except (KeyError, ValueError, zipfile.BadZipFile, OSError) as error:
        raise ProjectFileError(f"The tables of the campaign cannot be read: {error}. Go back to a backup.") from error


def _cells(arrays: Any, j: int, view: dict[str, Any]) -> ViewCells:
    rows, columns = arrays[f"rows{j}"], view["columns"]
    if f"numbers{j}" not in arrays:
        values = _sparse(arrays, j, (len(rows), len(columns)))
        return ViewCells(view["name"], columns, view["kinds"], values, rows)
    matrix, text = arrays[f"numbers{j}"], {int(k): cells for k, cells in view["text"].items()}
    numbers = iter(matrix.T)
    held = {k: pd.Series(text[k], dtype="str") if k in text else next(numbers) for k in range(len(columns))}
    frame = pd.DataFrame(held, index=pd.RangeIndex(len(rows))).set_axis(columns, axis=1)
    return ViewCells(view["name"], columns, view["kinds"], frame, rows)


def _cells_of_text(column: pd.Series) -> list[str | None]:
    return [None if missing else str(cell) for cell, missing in zip(column, column.isna(), strict=True)]


def model_to_bytes(model: Any) -> bytes:
    """A fitted model as `save_model` writes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "campaign.coview")
        save_model(model, path)
        return path.read_bytes()


def model_from_bytes(content: bytes, what: str) -> Any:
    """The model that `model_to_bytes` wrote, checked as `load_model` does."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "campaign.coview")
        path.write_bytes(content)
        try:
            return load_model(path).model
        except ModelFileError as error:
            raise ModelFileError(str(error).replace(str(path), f"The model in {what}")) from error


def settings_to_bytes(settings: dict[str, Any]) -> bytes:
    """Settings as JSON."""
    return json.dumps(settings, ensure_ascii=False, allow_nan=False).encode("utf-8")


def settings_of(project: Project) -> dict[str, Any]:
    """What `settings_to_bytes` wrote into a project."""
    try:
        return dict(json.loads(project.part("settings")))
    except KeyError as error:
        raise ProjectFileError(f"{project.path} is a project of coview, but no campaign.") from error
    except ValueError as error:
        raise ProjectFileError(
            f"The settings in {project.path} cannot be read: {error}. Go back to a backup."
        ) from error


def costs_to_plain(costs: Costs | None) -> dict[str, Any] | None:
    """Costs as JSON holds them."""
    if costs is None:
        return None
    return {
        "views": {view: float(price) for view, price in costs.views.items()},
        "pairs": [[sample, view, float(price)] for (sample, view), price in costs.pairs.items()],
        "groups": {name: [list(views), float(price)] for name, (views, price) in costs.groups.items()},
        "excluded": [list(pair) for pair in sorted(costs.excluded)],
        "label": float(costs.label),
    }


def costs_from_plain(plain: dict[str, Any] | None) -> Costs | None:
    """What `costs_to_plain` gave."""
    if plain is None:
        return None
    pairs = {(sample, view): price for sample, view, price in plain["pairs"]}
    groups = {name: (views, price) for name, (views, price) in plain["groups"].items()}
    excluded = [(sample, view) for sample, view in plain["excluded"]]
    return Costs(plain["views"], pairs, groups, excluded, plain["label"])
