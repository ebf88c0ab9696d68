"""One file, of any format that can be read, as a table with ids."""

import os
from collections.abc import Sequence
from pathlib import Path

from coview.exceptions import ViewError
from coview.files._contents import FileTable
from coview.files._read_options import ReadOptions

__all__ = ["list_sheets", "read_table", "read_tables_in"]

_TEXT = {".csv", ".tsv", ".txt", ".tab", ".dat"}
_WORKBOOKS = {".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"}
_READABLE = ".csv, .tsv, .txt (also .gz), .parquet, .xlsx, .xlsm, .xls, .ods, .npz, .h5ad, .h5mu"


def read_table(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    sheet: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
    name: str | None = None,
) -> FileTable:
    r"""The one table in a file, with the sample ids as they are written there.

    How the file writes its table is found out unless it is said here, and told in ``guesses``; oddities are told in
    ``findings``. Cells are never guessed at one by one: a column is numbers only where all its cells are.

    Parameters
    ----------
    path : str or path
        By its ending a text file (``.csv``, ``.tsv``, ``.txt``, also packed as ``.gz``), ``.parquet``, a workbook
        (``.xlsx``, ``.xlsm``, ``.xls``, ``.ods``), ``.npz`` (dense arrays, or one sparse matrix as SciPy saves it),
        ``.h5ad`` or ``.h5mu``; ``"-"`` is CSV on standard input.
    id_column : str, default=None
        Column of the sample ids (of ``obs`` in an ``.h5ad``); None to find it by its name, or a first column of
        different texts.
    sheet : str, default=None
        Sheet of a workbook, array of an ``.npz``, modality of an ``.h5mu``; None if there is one.
    separator : str, default=None
        One character, ``"tab"`` or ``"space"``; text files only, like the next two.
    decimal : {".", ","}, default=None
    encoding : str, default=None
    missing : sequence of str, default=None
        What stands for a missing value, beside the empty cell; None for the usual marks (``NA``, ``?``, ``.``, ...).
        Never applied to ids.
    name : str, default=None
        Name of the table; None for the file's stem, or the sheet where a file holds several.

    Returns
    -------
    table : FileTable

    Raises
    ------
    ViewError
        If the file is empty or damaged, its rows are uneven, column names repeat, an id is empty, or there are several
        tables to choose from; the message says where.
    OSError
        If the file cannot be opened.
    ImportError
        If an optional package is needed; the message names it.

    Notes
    -----
    Text files are parsed by pandas' C reader, in about half the time of a plain ``pandas.read_csv`` where columns are
    many; memory is about three times that of the resulting table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "clinical.csv"
    >>> _ = path.write_text("patient;age;stage\n007;61,5;II\n008;NA;III\n")
    >>> table = read_table(path)
    >>> list(table.ids), table.guesses["separator"], table.guesses["missing"]
    (['007', '008'], '";"', '"NA" (1)')
    >>> table.values
        age stage
    0  61.5    II
    1   NaN   III
    """
    options = ReadOptions(id_column, separator, decimal, encoding, missing)
    path = Path(path)
    kind = _kind(path)
    if kind != "text":
        _refuse_text_options(path, options)
    elif sheet is not None:
        raise ViewError(f"{path} has no sheets, so '{sheet}' cannot be chosen in it. Leave out '#{sheet}'.")
    return _read(path, kind, sheet, options, name)


def read_tables_in(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
) -> list[FileTable]:
    """Every table in a file: each visible sheet, array or modality; see ``read_table`` for arguments and errors.

    Returns
    -------
    tables : list of FileTable
        One for a file without sheets.
    """
    path = Path(path)
    options = {"id_column": id_column, "separator": separator, "decimal": decimal, "encoding": encoding}
    sheets = list_sheets(path)
    if len(sheets) < 2:
        return [read_table(path, missing=missing, **options)]
    return [read_table(path, sheet=sheet, missing=missing, **options) for sheet in sheets]


def list_sheets(path: str | os.PathLike[str]) -> list[str]:
    """Names of the tables in a file: visible sheets of a workbook, modalities of an ``.h5mu``, arrays of an ``.npz``.

    Returns
    -------
    sheets : list of str
        Empty for files that hold one table without a name.
    """
    path = Path(path)
    kind = _kind(path)
    if kind == "workbook":
        from coview.files._excel import visible_sheets

        return visible_sheets(path)
    if kind == "arrays":
        from coview.files._arrays import table_arrays

        return table_arrays(path)
    if kind == "modalities":
        from coview.files._annotated import modalities

        return modalities(path)
    return []


def _kind(path: Path) -> str:
    """Which reader a file needs, by its ending."""
    if str(path) == "-":
        return "text"
    ending = path.suffix.lower()
    if ending == ".gz":
        ending = Path(path.stem).suffix.lower()
        if ending in _TEXT:
            return "text"
        raise ViewError(f"{path} cannot be read: of packed files only text such as .csv.gz can. Unpack it first.")
    if ending in _TEXT:
        return "text"
    if ending in _WORKBOOKS:
        return "workbook"
    kinds = {".parquet": "parquet", ".pq": "parquet", ".npz": "arrays", ".h5ad": "annotated", ".h5mu": "modalities"}
    if ending not in kinds:
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder; name a file in it.")
        said = f"'{ending}'" if ending else "without an ending"
        raise ViewError(f"{path} is of a kind ({said}) that cannot be read. Readable are {_READABLE}.")
    return kinds[ending]


def _refuse_text_options(path: Path, options: ReadOptions) -> None:
    for argument in ("separator", "decimal", "encoding"):
        if getattr(options, argument) is not None:
            raise ViewError(f"{path} is no text file, so {argument} does not apply to it. Leave it out.")


def _stem(path: Path) -> str:
    if str(path) == "-":
        return "stdin"
    return Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem


def _read(path: Path, kind: str, sheet: str | None, options: ReadOptions, name: str | None) -> FileTable:
    """Read with the reader of that kind, which is imported here since it may need an optional package."""
    usual = name or (sheet if sheet is not None else _stem(path))
    if kind == "text":
        from coview.files._csv import read_text_table

        return read_text_table(path, options, usual)
    if kind == "parquet":
        from coview.files._parquet import read_parquet

        return read_parquet(path, options, usual)
    if kind == "workbook":
        from coview.files._excel import read_sheet

        return read_sheet(path, sheet, options, usual)
    if kind == "arrays":
        from coview.files._arrays import read_array

        return read_array(path, sheet, options, usual)
    from coview.files._annotated import read_annotated

    return read_annotated(path, sheet, options, usual)
