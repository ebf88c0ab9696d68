"""Reading the files of the catalog's sets: sparse matrices, arrays, tables and lists of words."""

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from coview.views import AlignedTables, Table, Views

__all__ = ["numbered", "read_arrays", "read_lines", "read_sparse", "read_table_file", "text_index", "to_views"]


def read_sparse(file: Path) -> sparse.csr_array:
    """A sparse matrix in double precision: stored small integers would overflow in products."""
    matrix = sparse.csr_array(sparse.load_npz(file)).astype(np.float64)
    matrix.sort_indices()
    return matrix


def read_arrays(file: Path) -> dict[str, NDArray[Any]]:
    """Every array of a file, by its name."""
    with np.load(file, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def read_table_file(file: Path, **options: Any) -> pd.DataFrame:
    """A table; an empty cell is a missing value and nothing else is: "NA" may be a class."""
    table: pd.DataFrame = pd.read_csv(file, keep_default_na=False, na_values=[""], **options)
    return table


def read_lines(file: Path) -> pd.Index:
    """The lines of a text, as column labels."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        return pd.Index(stream.read().splitlines(), dtype="str")


def text_index(ids: ArrayLike) -> pd.Index:
    """Sample ids as text."""
    return pd.Index([str(value) for value in np.asarray(ids)], dtype="str", name="sample")


def numbered(n_samples: int, word: str) -> pd.Index:
    """Ids for samples that have none: the word and a running number."""
    width = len(str(n_samples))
    return text_index([f"{word}-{number:0{width}d}" for number in range(1, n_samples + 1)])


def to_views(
    blocks: Mapping[str, Any],
    ids: pd.Index,
    *,
    columns: Mapping[str, pd.Index] | None = None,
    presence: NDArray[np.bool_] | None = None,
) -> Views:
    """Views of matrices whose rows are the samples in the order of ``ids``; the mask says who has what, if not all."""
    tables = tuple(Table(name, block, (columns or {}).get(name)) for name, block in blocks.items())
    return Views.from_tables(AlignedTables(tables, ids, has_ids=True, same_order=True, presence=presence))
