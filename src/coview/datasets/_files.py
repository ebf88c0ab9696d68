"""Writing data sets as plain files."""

import json
import os
import re
from pathlib import Path

import pandas as pd
from sklearn.utils import Bunch

from coview.files import write_whole

__all__ = ["write_csv"]


def write_csv(bunch: Bunch, folder: str | os.PathLike[str], *, overwrite: bool = False) -> list[Path]:
    """Write a bundled data set as CSV files, with its origin and terms beside them.

    One file per view (only the samples that have it), ``target.csv``, ``meta.csv``, ``costs.csv`` where there are
    costs, ``coview.toml``, which tells the command line what they are, ``ORIGIN.txt`` and ``LICENSE.txt``. The first
    column, ``sample``, holds the ids; an empty cell is a missing value. Files are written beside their place and
    renamed, so none is ever half-written.

    Parameters
    ----------
    bunch : Bunch
        What a ``load_*`` function of this package returned.
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


def _contents(bunch: Bunch) -> dict[str, str]:
    """Return the text of every file by its name."""
    tables: dict[str, pd.DataFrame | pd.Series] = {**bunch.frames, "target": bunch.target, "meta": bunch.meta}
    contents = {f"{name}.csv": table.to_csv(lineterminator="\n") for name, table in tables.items()}
    if "costs" in bunch:
        contents["costs.csv"] = bunch.costs.to_csv(index=False, lineterminator="\n")
    return {
        **contents,
        "coview.toml": _configuration(bunch),
        "ORIGIN.txt": bunch.origin,
        "LICENSE.txt": bunch.licence_text,
    }


def _configuration(bunch: Bunch) -> str:
    """Return what the command line must know about the files, in TOML."""
    lines = [
        f"# {bunch.name}, one file per view; the commands of coview read this file.",
        f"id = {_quoted(bunch.target.index.name)}",
        'labels = "target.csv"',
        f"target = {_quoted(bunch.target.name)}",
        "",
        "[views]",
        *(f"{_key(view)} = {_quoted(f'{view}.csv')}" for view in bunch.frames),
    ]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    """Return a key of TOML, bare where it can be."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _quoted(text: str) -> str:
    """Return a TOML string; JSON's are a subset of TOML's basic ones."""
    return json.dumps(text, ensure_ascii=False)
