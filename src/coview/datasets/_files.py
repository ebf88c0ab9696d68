"""Writing data sets as plain files."""

import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import Bunch

from coview.files import write_whole

__all__ = ["write_csv"]


def write_csv(bunch: Bunch, folder: str | os.PathLike[str], *, overwrite: bool = False) -> list[Path]:
    """Write a data set as CSV files, with its origin and terms beside them.

    One file per view (only the samples that have it), ``target.csv``, ``meta.csv`` and ``costs.csv`` where there are
    such, ``coview.toml``, which tells the command line what they are, ``ORIGIN.txt`` and ``LICENSE.txt``. The first
    column, ``sample``, holds the ids; an empty cell is a missing value. A sparse view becomes an ``.npz`` of
    `scipy.sparse`, with arrays ``ids`` and ``columns`` beside the matrix. Files are written beside their place and
    renamed, so none is ever half-written.

    Parameters
    ----------
    bunch : Bunch
        What a ``load_*`` function or `fetch` of this package returned.
    folder : str or path
        Where the files go; made if absent.
    overwrite : bool, default=False
        Replace files of the same names.

    Returns
    -------
    files : list of Path

    Raises
    ------
    FileExistsError
        If a file is there already and ``overwrite`` is False; nothing is written then.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from coview.datasets import load_heart_disease, write_csv
    >>> with TemporaryDirectory() as folder:
    ...     [file.name for file in write_csv(load_heart_disease(), folder)][:3]
    ['history.csv', 'blood.csv', 'ecg.csv']
    """
    folder = Path(folder)
    contents = _contents(bunch)
    present = [name for name in contents if os.path.lexists(folder / name)]
    if present and not overwrite:
        raise FileExistsError(f"Folder {folder} already holds {', '.join(present)}; nothing was written.")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in contents.items():
        write_whole(folder / name, text, overwrite=overwrite)
    return [folder / name for name in contents]


def _contents(bunch: Bunch) -> dict[str, str | bytes]:
    """Return what every file holds, by its name."""
    views = _view_files(bunch)
    contents = views | {"target.csv": _csv(bunch.target)}
    if bunch.meta.shape[1]:
        contents["meta.csv"] = _csv(bunch.meta)
    if "costs" in bunch:
        contents["costs.csv"] = bunch.costs.to_csv(index=False, lineterminator="\n")
    contents |= {"coview.toml": _configuration(bunch, list(views)), "ORIGIN.txt": bunch.origin}
    if "licence_text" in bunch:
        contents["LICENSE.txt"] = bunch.licence_text
    return contents


def _view_files(bunch: Bunch) -> dict[str, str | bytes]:
    """Return one file per view: a table, or a matrix where the view is sparse; only the samples that have it."""
    if "frames" in bunch:
        return {f"{view}.csv": _csv(frame) for view, frame in bunch.frames.items()}
    views, contents = bunch.views, dict[str, str | bytes]()
    for view, columns in views.feature_names.items():
        ids = views.index[views.rows(view)].rename(bunch.target.index.name)
        if sparse.issparse(views[view]):
            contents[f"{view}.npz"] = _sparse_bytes(views[view], ids, columns)
        else:
            # other names than those of the other views: a column of one name in two views is suspect
            names = [f"{view}_{number + 1}" for number in range(views.n_features[view])] if columns is None else columns
            contents[f"{view}.csv"] = _csv(pd.DataFrame(views[view], index=ids, columns=names))
    return contents


def _csv(table: pd.DataFrame | pd.Series) -> str:
    return table.to_csv(lineterminator="\n")


def _sparse_bytes(matrix: sparse.csr_array, ids: pd.Index, columns: pd.Index | None) -> bytes:
    """Return a file that `scipy.sparse.load_npz` reads, with the names of rows and columns beside the matrix."""
    parts = {
        "format": np.array(b"csr"),
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "ids": ids.to_numpy(dtype=np.str_),
    }
    if columns is not None:
        parts["columns"] = columns.to_numpy(dtype=np.str_)
    stream = io.BytesIO()
    np.savez_compressed(stream, **parts)
    return stream.getvalue()


def _configuration(bunch: Bunch, view_files: list[str]) -> str:
    """Return what the command line must know about the files, in TOML."""
    lines = [
        f"# {bunch.name}, one file per view; the commands of coview read this file.",
        f"id = {_quoted(bunch.target.index.name)}",
        'labels = "target.csv"',
        f"target = {_quoted(bunch.target.name)}",
        "",
        "[views]",
        *(f"{_key(file.rsplit('.', 1)[0])} = {_quoted(file)}" for file in view_files),
    ]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    """Return a key of TOML, bare where it can be."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _quoted(text: str) -> str:
    """Return a TOML string; JSON's are a subset of TOML's basic ones."""
    return json.dumps(text, ensure_ascii=False)
