"""AnnData and MuData files: a matrix per modality, sparse kept sparse, with names of samples and variables."""

import warnings
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import sparse

from coview.exceptions import ViewError
from coview.files._cell_findings import find_infinite
from coview.files._contents import FileTable
from coview.files._ids import find_given
from coview.files._names import refuse_repeated
from coview.files._read_options import ReadOptions
from coview.files._typed import numbers_frame, typed_ids
from coview.views import some

__all__ = ["modalities", "read_annotated"]


def modalities(path: Path) -> list[str]:
    """Names of the modalities of an ``.h5mu``, in the order of the file."""
    _require()
    import h5py

    with path.open("rb"):  # a missing file is an OSError that names it
        pass
    try:
        with h5py.File(path, "r") as file:
            group = file["mod"]
            names = [str(name) for name in group]
            ordered = [str(name) for name in group.attrs.get("mod-order", [])]
    except (OSError, KeyError) as error:
        raise ViewError(f"{path} is not a whole .h5mu file ({error}). Save or copy it again.") from error
    return ordered if sorted(ordered) == sorted(names) else names


def read_annotated(path: Path, sheet: str | None, options: ReadOptions, name: str) -> FileTable:
    """Read an ``.h5ad``, or one modality of an ``.h5mu``; see ``read_table``."""
    data, sheet = _load(path, sheet)
    where = str(path) if sheet is None else f"{path}#{sheet}"
    if data.X is None:
        raise ViewError(f"{where} has no X. Put the layer to use into X, and save it again.")
    labels = [str(label) for label in data.var_names]
    refuse_repeated(labels, where)
    columns = pd.Index(labels, dtype=str)
    ids, id_column = _ids(data, options.id_column, where)
    is_sparse = sparse.issparse(data.X)
    values = sparse.csr_array(data.X) if is_sparse else numbers_frame(data.X, columns, options)
    cells = pd.DataFrame({"stored values": values.data}) if is_sparse else values
    return FileTable(
        name=name,
        path=path,
        sheet=sheet,
        values=values,
        columns=columns if is_sparse else None,
        ids=ids,
        id_column=id_column,
        guesses={"array": f"X, {'sparse' if is_sparse else 'dense'}", "id": id_column},
        findings=tuple(find_infinite(cells, where)),
    )


def _ids(data: Any, wanted: str | None, where: str) -> tuple[pd.Index, str]:
    """The ids, and where they stand: a column of ``obs`` if it has the one the user named, else the names of samples."""
    named = [str(label) for label in data.obs.columns]
    if wanted is not None and wanted.casefold() in [label.casefold() for label in named]:
        place = find_given(named, wanted, f"{where} (obs)")
        return typed_ids(data.obs.iloc[:, place].to_numpy(dtype=object), named[place], where), named[place]
    return typed_ids(list(data.obs_names), "obs_names", where), str(data.obs_names.name or "obs_names")


def _load(path: Path, sheet: str | None) -> tuple[Any, str | None]:
    """The AnnData of a file, and the modality it is."""
    _require()
    import anndata
    import mudata

    if path.suffix.lower() == ".h5mu":
        names = modalities(path)
        if sheet is None and len(names) != 1:
            raise ViewError(f"{path} holds several tables: {some(names)}. Choose one, such as '{path}#{names[0]}'.")
        if sheet is not None and sheet not in names:
            raise ViewError(f"{path} has no modality '{sheet}'; it holds {some(names)}.")
        sheet = sheet or names[0]
    elif sheet is not None:
        raise ViewError(f"{path} has no sheets, so '{sheet}' cannot be chosen in it. Leave out '#{sheet}'.")
    with path.open("rb"):
        pass
    try:
        with warnings.catch_warnings(action="ignore"):  # repeated names are dealt with by the caller
            return (anndata.read_h5ad(path) if sheet is None else mudata.read_h5ad(path, mod=sheet)), sheet
    except (OSError, KeyError, ValueError, TypeError, AttributeError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ViewError(f"{path} cannot be read as {path.suffix} ({first}). Save or copy it again.") from error


def _require() -> None:
    try:
        import mudata  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "Reading .h5ad and .h5mu files needs the package mudata: pip install 'coview[mudata]'"
        ) from error
