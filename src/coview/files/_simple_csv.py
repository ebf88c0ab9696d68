"""Stand-in until the reader of files is there."""

from pathlib import Path
from typing import Any

import pandas as pd

from coview.files._contents import FileTable


def is_id_name(name: str) -> bool:
    return name.startswith("Unnamed") or name.lower().split("_")[0] in {"id", "sample", "patient", "subject"}


def read_table(
    path: Any,
    *,
    id_column: str | None = None,
    sheet: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    missing: Any = None,
    name: str | None = None,
) -> FileTable:
    frame = pd.read_csv(path, sep=separator or ",", decimal=decimal or ".", encoding=encoding)
    column = id_column
    if column is None and is_id_name(str(frame.columns[0])):
        column = str(frame.columns[0])
    ids = None
    if column is not None:
        ids = pd.Index(
            pd.read_csv(path, sep=separator or ",", usecols=[column], dtype=str, keep_default_na=False)[column],
            dtype=str,
        )
        frame = frame.drop(columns=column)
    path = Path(path)
    return FileTable(
        name or path.stem, path, frame, ids=ids, id_column=column, guesses={"separator": ","}, first_line=2
    )


def read_tables_in(path: Any, **options: Any) -> list[FileTable]:
    return [read_table(path, **options)]


def list_sheets(path: Any) -> list[str]:
    return []
