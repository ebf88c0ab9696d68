"""What reading files gives: tables as they stand in a file, and the tables of all views with their labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from coview.views import AlignedTables, Finding

__all__ = ["FileTable", "TableSet"]


@dataclass(frozen=True)
class FileTable:
    """One table as it stands in a file.

    Attributes
    ----------
    name : str
        Name the table goes by unless the user gives one: the file's stem, the sheet, the modality.
    path : Path
    sheet : str or None
        Sheet of a workbook, modality of an ``.h5mu``, array of an ``.npz``.
    values : DataFrame, or csr_array of shape (n_rows, n_columns)
        Cells without the id column; a DataFrame has a plain row index and unique text columns.
    columns : Index or None
        Column labels of a sparse table; None where the file has none, and for a DataFrame, which has its own.
    ids : Index or None
        Sample ids as text, exactly as written, one per row, maybe repeated; None where the file has none.
    id_column : str or None
        Name of the column they stand in.
    guesses : dict of str to str
        What was found out about the file, in words: ``"separator"``, ``"decimal"``, ``"encoding"``, ``"header"``,
        ``"missing"``, ``"thousands"``, ``"id"``, ``"dates"`` and so on; in the order in which they are told.
    findings : tuple of Finding
        Oddities of the file that do not stop it from being read.
    first_line : int
        Line (or row of a sheet) of the first sample, counted from 1; 0 where files have no lines.
    shape : tuple of two int or None
        Rows and columns, where the cells are not kept.
    """

    name: str
    path: Path
    values: Any
    sheet: str | None = None
    columns: pd.Index | None = None
    ids: pd.Index | None = None
    id_column: str | None = None
    guesses: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    first_line: int = 0
    shape: tuple[int, int] | None = None

    @property
    def where(self) -> str:
        """The file, and the sheet in it, for messages."""
        return f"{self.path}#{self.sheet}" if self.sheet is not None else str(self.path)


@dataclass(frozen=True)
class TableSet:
    """The tables of all views over their samples, with the labels, as read from a user's files.

    It is a source of tables: ``TableEncoder().fit(table_set)`` and ``Views(table_set)`` take it as it is.

    Attributes
    ----------
    tables : AlignedTables
        One table per view, cells of any kind, over the samples in order of first appearance.
    labels : Series or None
        By sample id in the order of ``tables.ids``, dtype object (text, NaN where unlabeled) or float64; None where no
        labels were asked for.
    target : str or None
        Name of the label column.
    id_name : str
        What the id column is called in what coview writes; ``"sample"`` where the files do not say.
    files : tuple of FileTable
        What was read, views first, without the cells: ``values`` is None, ``shape`` tells rows and columns.
    findings : tuple of Finding
        What was noticed while reading and matching, worst first.
    """

    tables: AlignedTables
    labels: pd.Series | None = None
    target: str | None = None
    id_name: str = "sample"
    files: tuple[FileTable, ...] = ()
    findings: tuple[Finding, ...] = ()

    def to_tables(self) -> AlignedTables:
        """The aligned tables."""
        return self.tables
