"""The stored comparison over 20 draws, made by ``experiments/main_job`` and shown beside the draws of the day."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import pandas as pd

FILE = "main_job.json"


@dataclass(frozen=True)
class StoredTable:
    """Means and paired differences over the stored draws.

    Attributes
    ----------
    summary, differences : DataFrame
        ``method``, ``n_labeled``, ``group``, ``metric``, ``mean``, ``standard_error``, ``n_draws``.
    n_draws : int
    """

    summary: pd.DataFrame
    differences: pd.DataFrame
    n_draws: int


def load_stored(name: str) -> StoredTable | None:
    """The stored comparison of one data set, None where none was made.

    Parameters
    ----------
    name : str
        Name of the data set.

    Returns
    -------
    table : StoredTable or None
    """
    file = files("coview.report") / "stored" / FILE
    if not file.is_file():
        return None
    content = json.loads(file.read_text(encoding="utf-8"))["exhibits"].get(name)
    if content is None:
        return None
    summary, differences = (pd.DataFrame(content[part]) for part in ("summary", "differences"))
    return StoredTable(summary, differences, int(summary["n_draws"].max()))


def stored_text(exhibits: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]], *, seed: int, repeats: int) -> str:
    """The comparison as JSON text, numbers to five digits.

    Parameters
    ----------
    exhibits : dict of str to (DataFrame, DataFrame)
        Name of the data set -> summary and differences.
    seed, repeats : int
        How it was made.

    Returns
    -------
    text : str
    """
    content: dict[str, Any] = {"schema_version": 1, "seed": seed, "repeats": repeats, "exhibits": {}}
    for name, (summary, differences) in exhibits.items():
        content["exhibits"][name] = {"summary": _records(summary), "differences": _records(differences)}
    return json.dumps(content, indent=0) + "\n"


def _records(table: pd.DataFrame) -> dict[str, list[Any]]:
    """Columns as lists, floats rounded."""
    return {
        str(name): [round(value, 5) if isinstance(value, float) else value for value in table[name].tolist()]
        for name in table.columns
    }
