"""From what a caller has to aligned tables: list, dict, frames, column groups, MuData."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from coview.exceptions import ViewError
from coview.views._alignment import align_tables
from coview.views._columns import group_columns, split_multiindex, view_name
from coview.views._ids import comparable_ids, some
from coview.views._sources import is_annotated, is_frame, is_multimodal, to_table
from coview.views._tables import AlignedTables, Table, TableSource

__all__ = ["is_single_table", "read_tables"]


def read_tables(
    X: Any, *, names: Any = None, presence: Any = None, view_columns: Any = None, check_ids: bool = True
) -> AlignedTables:
    """Aligned tables from anything that ``Views`` accepts, before any conversion to numbers.

    Parameters
    ----------
    X : list, dict, DataFrame, array, sparse matrix, MuData or AnnData
        As for :class:`Views`; cells may also be text, categories or truth values.
    names : sequence of str, default=None
        Names of the views of a list, or of one table.
    presence : array-like or DataFrame of shape (n_samples, n_views), default=None
        True where the view was observed.
    view_columns : dict, default=None
        Column groups of one table.
    check_ids : bool, default=True
        Whether views must overlap and almost-equal ids are reported, as befits training data.

    Returns
    -------
    tables : AlignedTables

    Raises
    ------
    ViewError
        If X cannot be read as views.

    Examples
    --------
    >>> import pandas as pd
    >>> tables = read_tables({"clinical": pd.DataFrame({"sex": ["f", "m"]}, index=["p1", "p2"]),
    ...                       "ct": pd.DataFrame({"volume": [3.5]}, index=["p2"])})
    >>> tables.names, list(tables.ids)
    (['clinical', 'ct'], ['p1', 'p2'])
    """
    if isinstance(X, TableSource):
        _refuse_argument(names, "names", "X has names already")
        _refuse_argument(view_columns, "view_columns", "X is grouped into views already")
        aligned = X.to_tables()
    else:
        tables = _split(X, names, view_columns, warn=check_ids)
        _refuse_repeated_names([table.name for table in tables])
        _refuse_views_without_columns(tables)
        aligned = align_tables(tables, check_ids=check_ids)
    if aligned.n_samples == 0:
        raise ViewError("X holds 0 samples; at least one is needed.")
    if presence is None:
        return aligned
    return replace(aligned, presence=_read_presence(presence, aligned))


def is_single_table(X: Any) -> bool:
    """Whether X is one plain two-dimensional table (or no table at all) rather than several views."""
    if _is_mapping(X) or is_multimodal(X) or is_annotated(X) or isinstance(X, TableSource):
        return False
    if isinstance(X, pd.DataFrame):
        return not isinstance(X.columns, pd.MultiIndex)
    return not (isinstance(X, list | tuple) and len(X) > 0 and _n_dimensions(X[0]) >= 2)


def _is_mapping(X: Any) -> bool:
    """Whether X is a dict of views; some sparse matrices are dicts of their entries."""
    return isinstance(X, Mapping) and not sparse.issparse(X)


def _split(X: Any, names: Any, view_columns: Any, *, warn: bool) -> list[Table]:
    """The separate tables of X, named."""
    if is_multimodal(X) or _is_mapping(X):
        _refuse_argument(names, "names", "the keys of X are the names")
        _refuse_argument(view_columns, "view_columns", "it groups the columns of one table, and X holds several")
        return _from_mapping(_modalities(X) if is_multimodal(X) else X)
    if isinstance(X, list | tuple) and not is_single_table(X):
        _refuse_argument(view_columns, "view_columns", "it groups the columns of one table, and X holds several")
        return _from_sequence(X, names)
    if isinstance(X, list | tuple):
        _refuse_mixed_dimensions(X)
    if isinstance(X, pd.DataFrame) and isinstance(X.columns, pd.MultiIndex):
        _refuse_argument(names, "names", "the first level of the columns holds the names")
        if view_columns is None:
            return split_multiindex(to_table(X, "X"))
    if view_columns is not None:
        _refuse_argument(names, "names", "the keys of view_columns are the names")
        return group_columns(to_table(X, "X"), view_columns, warn=warn)
    return _from_sequence([X], names)


def _refuse_argument(value: Any, argument: str, reason: str) -> None:
    if value is not None:
        raise ViewError(f"{argument} does not apply here: {reason}. Leave it out.")


def _modalities(mdata: Any) -> Mapping[str, Any]:
    if getattr(mdata, "axis", 0) != 0:
        raise ViewError("This MuData shares variables (axis=1), not samples. Pass one whose modalities share samples.")
    return dict(mdata.mod)


def _from_mapping(views: Mapping[Any, Any]) -> list[Table]:
    if not views:
        raise ViewError("X holds no view. Pass at least one table.")
    names = [view_name(name) for name in views]
    return [to_table(source, name) for name, source in zip(names, views.values(), strict=True)]


def _from_sequence(views: Sequence[Any], names: Any) -> list[Table]:
    if names is None:
        names = [f"view_{position}" for position in range(len(views))]
    if isinstance(names, str) or len(names) != len(views):
        count = 1 if isinstance(names, str) else len(names)
        raise ViewError(f"names must give one name per view; got {count} for {len(views)} views. Pass a list of them.")
    names = [view_name(name) for name in names]
    return [to_table(source, name) for name, source in zip(names, views, strict=True)]


def _refuse_repeated_names(names: Sequence[str]) -> None:
    repeated = [name for position, name in enumerate(names) if name in names[:position]]
    if repeated:
        raise ViewError(f"View names must differ as text; repeated: {some(repeated)}. Rename them.")


def _n_dimensions(item: Any) -> int:
    """Dimensions of an item of a list, judged by its first elements."""
    if hasattr(item, "shape"):
        return len(item.shape)
    if is_frame(item):
        return 2
    depth = 0
    while isinstance(item, list | tuple):
        depth += 1
        if not item:
            return depth
        item = item[0]
        depth += len(item.shape) if hasattr(item, "shape") else 0
    return depth


def _refuse_mixed_dimensions(items: Sequence[Any]) -> None:
    if not len(items):
        raise ViewError("X is empty: 0 views, 0 samples. Pass at least one table.")
    found = {_n_dimensions(item) for item in items}
    if len(found) > 1:
        raise ViewError(
            f"X is a list whose items have {' and '.join(map(str, sorted(found)))} dimensions. Give a list of tables "
            "(one per view) or of rows (one table), not both."
        )


def _refuse_views_without_columns(tables: Sequence[Table]) -> None:
    """Raise for views without columns."""
    for table in tables:
        if table.n_features == 0:
            raise ViewError(
                f"View '{table.name}' has 0 feature(s) (shape={table.values.shape}) while a minimum of 1 is required. "
                "Leave it out."
            )


def _read_presence(presence: Any, aligned: AlignedTables) -> NDArray[np.bool_]:
    """The mask as a bool array in the order of samples and views."""
    if isinstance(presence, pd.DataFrame):
        presence = _reorder_presence(presence, aligned)
    mask = np.asarray(presence)
    shape = (aligned.n_samples, len(aligned.tables))
    if mask.shape != shape:
        raise ViewError(f"presence must have shape {shape} (samples, views); got {mask.shape}.")
    if mask.dtype != bool:
        if mask.dtype.kind not in "iuf" or not np.isin(mask, (0, 1)).all():
            raise ViewError(f"presence must hold True and False only; got dtype {mask.dtype}.")
        mask = mask.astype(bool)
    return mask


def _reorder_presence(presence: pd.DataFrame, aligned: AlignedTables) -> pd.DataFrame:
    columns = [str(column) for column in presence.columns]
    if sorted(columns) != sorted(aligned.names):
        raise ViewError(f"The columns of presence must be the views {some(aligned.names)}; got {some(columns)}.")
    wanted, given = comparable_ids(aligned.ids, presence.index)
    rows = given.get_indexer(wanted) if given.is_unique else np.full(len(wanted), -1)
    if (rows < 0).any():
        raise ViewError(
            f"presence has no row (or several) for samples {some(wanted[rows < 0])}. Index it by sample id."
        )
    return presence.iloc[rows, [columns.index(name) for name in aligned.names]]
