"""The container of all views: named blocks, and who has which."""

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from coview.exceptions import ViewError
from coview.views._alignment import align_target
from coview.views._block import Block, read_only
from coview.views._display import html_summary, text_summary
from coview.views._ids import first_ids, id_text, labels_from_plain, plain_labels, some
from coview.views._numeric import infinite_rows, to_matrix
from coview.views._presence import resolve_presence
from coview.views._random_split import deal_features, view_names
from coview.views._readers import read_tables
from coview.views._rows import row_positions
from coview.views._sparse_frame import to_sparse_frame
from coview.views._tables import AlignedTables, Table

__all__ = ["Views"]


class Views:
    """Samples described by several views, some of them missing.

    Immutable. Arrays are not copied where no conversion is needed, sparse views stay sparse, and a row slice shares
    memory with what it was cut from.

    Parameters
    ----------
    X : list, dict, DataFrame, array, sparse matrix, MuData or AnnData
        * dict of tables: data frames are matched by sample id (their index; outer join, samples in order of first
          appearance), and a sample absent from a table misses that view. Arrays, sparse matrices and frames without
          an index (polars, arrow) must have the same rows.
        * list of tables: the same, with default names ``view_0``, ``view_1``, …; a list of rows is one table.
        * DataFrame whose columns are a ``MultiIndex`` (view, feature).
        * one table with ``view_columns``, or alone: a single view.
        * ``MuData``: one view per modality (extra ``mudata``); ``AnnData``: one view.
    names : sequence of str, default=None
        Names of the views of a list.
    presence : array-like or DataFrame of shape (n_samples, n_views), default=None
        True where the sample has the view. Where False, the values are ignored. By default a row that is NaN
        throughout is a missing view, and an all-zero sparse row is an observed one.
    view_columns : dict, default=None
        View name to columns of one table: names, positions, a mask, or a half-open slice of positions.

    Attributes
    ----------
    names : list of str
    presence : ndarray of shape (n_samples, n_views), dtype=bool
        Read-only.
    index : Index of length n_samples
        Sample ids as text; row numbers where the source had none.

    Raises
    ------
    ViewError
        If X cannot be read: duplicate ids, no sample common to two tables, columns that are not numbers, infinite
        values, a view without columns, a mask that claims what is not there.

    Warns
    -----
    UserWarning
        If sample ids are almost equal (spaces, case, leading zeros, ``"1.0"``), or a group of ``view_columns`` is
        empty and dropped.

    Notes
    -----
    ``v[name]`` is the matrix over the samples that have the view, an ndarray or a csr_array, and ``v.rows(name)``
    their positions. ``v[rows]`` with positions, a mask or a slice is again a ``Views``, so scikit-learn's splitters,
    searches and pipelines take it as it is.

    Examples
    --------
    >>> import pandas as pd
    >>> from coview import Views
    >>> clinical = pd.DataFrame({"age": [61, 48, 70]}, index=["p1", "p2", "p3"])
    >>> ct = pd.DataFrame({"volume": [3.5, 1.2], "grade": [2.0, 1.0]}, index=["p3", "p1"])
    >>> v = Views({"clinical": clinical, "ct": ct})
    >>> v.presence[:, 1]
    array([ True, False,  True])
    >>> v["ct"]
    array([[1.2, 1. ],
           [3.5, 2. ]])
    """

    __slots__ = ("_blocks", "_has_ids", "_ids", "_index", "_presence", "_same_order")
    __hash__ = None  # type: ignore[assignment]
    _blocks: dict[str, Block]
    _has_ids: bool
    _ids: pd.Index
    _index: pd.Index | None
    _presence: NDArray[np.bool_]
    _same_order: bool

    def __init__(self, X: Any, *, names: Any = None, presence: Any = None, view_columns: Any = None) -> None:
        aligned = read_tables(X, names=names, presence=presence, view_columns=view_columns)
        self._fill_from_tables(aligned)

    @classmethod
    def from_tables(cls, aligned: AlignedTables) -> "Views":
        """Views of tables that :func:`read_tables` has aligned."""
        views = cls.__new__(cls)
        views._fill_from_tables(aligned)
        return views

    def _rebuild(
        self, blocks: dict[str, Block], presence: NDArray[np.bool_], rows: NDArray[np.intp] | None = None
    ) -> "Views":
        """Views of other blocks over the same samples, or over some of them."""
        views = Views.__new__(Views)
        views._blocks = blocks
        views._presence = read_only(presence)
        views._ids, views._index = self._ids if rows is None else self._ids[rows], None
        views._has_ids, views._same_order = self._has_ids, self._same_order
        return views

    def _fill_from_tables(self, aligned: AlignedTables) -> None:
        presence = resolve_presence(aligned)
        self._ids, self._index = aligned.ids, None
        self._has_ids, self._same_order = aligned.has_ids, aligned.same_order
        self._presence = read_only(presence)
        masked = aligned.presence is not None
        self._blocks = {
            table.name: _to_block(table, presence[:, position], aligned.ids, masked=masked)
            for position, table in enumerate(aligned.tables)
        }

    @property
    def names(self) -> list[str]:
        """Names of the views, in order."""
        return list(self._blocks)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self._presence.shape[0])

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self._blocks)

    @property
    def n_features(self) -> dict[str, int]:
        """Number of features of each view."""
        return {name: block.n_features for name, block in self._blocks.items()}

    @property
    def feature_names(self) -> dict[str, pd.Index | None]:
        """Column labels of each view; None where its source had none."""
        return {name: block.columns for name, block in self._blocks.items()}

    @property
    def presence(self) -> NDArray[np.bool_]:
        """Which sample has which view, of shape (n_samples, n_views); read-only."""
        return self._presence

    @property
    def index(self) -> pd.Index:
        """Sample ids as text."""
        if self._index is None:
            self._index = id_text(self._ids)
        return self._index

    @property
    def has_ids(self) -> bool:
        """Whether the caller gave sample ids, so that a target Series is matched by id."""
        return self._has_ids

    @property
    def same_order(self) -> bool:
        """Whether all tables listed all samples in one order, so that an array beside them is unambiguous."""
        return self._same_order

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, and of features of all views together."""
        return self.n_samples, sum(self.n_features.values())

    def rows(self, name: str) -> NDArray[np.intp]:
        """Positions of the samples that have a view, in increasing order."""
        self._block(name)
        return np.flatnonzero(self._presence[:, self.names.index(name)])

    def select(self, names: Sequence[str]) -> "Views":
        """Some of the views, in the order asked for."""
        wanted = [names] if isinstance(names, str) else list(names)
        blocks = {name: self._block(name) for name in wanted}
        if not wanted or len(blocks) < len(wanted):
            raise ViewError(f"select needs different views, at least one; got {some(wanted)}.")
        columns = [self.names.index(name) for name in wanted]
        return self._rebuild(blocks, self._presence[:, columns])

    def random_split(self, n_views: int, random_state: Any = None, names: Sequence[str] | None = None) -> "Views":
        """Views of one table, its features dealt to them at random: for multi-view methods where nature gave one view.

        Parameters
        ----------
        n_views : int
            At most the number of features. Their numbers of features differ by one at most.
        random_state : int, RandomState or None, default=None
            The same number splits tables of the same width, such as new samples, alike.
        names : sequence of str, default=None
            Names of the new views; ``view_0``, ``view_1``, … unless given.

        Returns
        -------
        views : Views
            Of the same samples; a sample that misses the view misses all the new ones. Sparse features stay sparse, and
            features keep their names and their order.

        Raises
        ------
        ViewError
            If there are several views already, too few features, or the names are too few or alike.

        Examples
        --------
        >>> views = Views([[[1, 2, 3, 4, 5], [6, 7, 8, 9, 0]]]).random_split(2, random_state=0)
        >>> views.n_features
        {'view_0': 3, 'view_1': 2}
        """
        if self.n_views > 1:
            raise ViewError(
                f"random_split takes one view, and there are {self.n_views}: {some(self.names)}. Take one with "
                "select, or put the tables side by side first."
            )
        blocks = deal_features(next(iter(self._blocks.values())), n_views, random_state)
        presence = np.repeat(self._presence, len(blocks), axis=1)
        return self._rebuild(dict(zip(view_names(len(blocks), names), blocks, strict=True)), presence)

    def to_frame(self, name: str) -> pd.DataFrame:
        """One view at full height, indexed by sample id; rows that miss it are NaN, a sparse view stays sparse."""
        block, rows = self._block(name), self.rows(name)
        columns = block.columns if block.columns is not None else pd.RangeIndex(block.n_features)
        if block.is_sparse:
            return to_sparse_frame(block.values, rows, self.index, columns)
        if len(rows) == self.n_samples:
            return pd.DataFrame(block.values, index=self.index, columns=columns, copy=False)
        dtype = block.dtype if block.dtype.kind == "f" else np.float64
        values = np.full((self.n_samples, block.n_features), np.nan, dtype=dtype)
        values[rows] = block.values
        return pd.DataFrame(values, index=self.index, columns=columns, copy=False)

    def stacked(self) -> NDArray[np.float64]:
        """All views side by side as float64, NaN where a view is missing, of shape (n_samples, n_features in all).

        Raises
        ------
        ViewError
            If a view is sparse; it is not made dense silently.
        """
        is_sparse = [name for name, block in self._blocks.items() if block.is_sparse]
        if is_sparse:
            raise ViewError(
                f"View '{is_sparse[0]}' is sparse, and this method needs dense views. Reduce it first, say with "
                "sklearn.decomposition.TruncatedSVD, or make it dense with toarray()."
            )
        table = np.full(self.shape, np.nan)
        start = 0
        for name, block in self._blocks.items():
            table[self.rows(name), start : start + block.n_features] = block.values
            start += block.n_features
        return table

    def as_floats(self) -> "Views":
        """The same views with numbers that are not float32 or float64 as float64, converted on first use."""
        if all(block.dtype in (np.float32, np.float64) for block in self._blocks.values()):
            return self
        blocks = {
            name: block if block.dtype in (np.float32, np.float64) else block.astype(np.float64)
            for name, block in self._blocks.items()
        }
        return self._rebuild(blocks, self._presence)

    def align(self, y: pd.Series) -> pd.Series:
        """A Series in the order of the samples: matched by id where both have ids, else as it stands."""
        return align_target(y, self._ids if self._has_ids else y.index)

    def to_tables(self) -> AlignedTables:
        """The aligned tables that :func:`read_tables` would give for these views."""
        tables = tuple(
            Table(name, block.values, block.columns, rows=self.rows(name)) for name, block in self._blocks.items()
        )
        return AlignedTables(tables, self._ids, self._has_ids, self._same_order)

    def _block(self, name: str) -> Block:
        if name not in self._blocks:
            raise KeyError(f"There is no view {name!r}; the views are {some(self.names, 20)}.")
        return self._blocks[name]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._block(key).values
        rows = row_positions(key, self.n_samples)
        presence = self._presence[rows]
        blocks = {}
        for position, (name, block) in enumerate(self._blocks.items()):
            place = np.cumsum(self._presence[:, position]) - 1  # (n_samples,): row of each sample in the block
            blocks[name] = block.take(place[rows[presence[:, position]]])
        return self._rebuild(blocks, presence, rows)

    def __len__(self) -> int:
        return self.n_samples

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks)

    def __contains__(self, name: object) -> bool:
        return name in self._blocks

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Views):
            return NotImplemented
        return (
            self.names == other.names
            and np.array_equal(self._presence, other._presence)
            and self.index.equals(other.index)
            and all(_equal_blocks(block, other._blocks[name]) for name, block in self._blocks.items())
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise TypeError(
            f"Views of {self.n_views} views are not one array. Take a view with v[name] or v.to_frame(name), or join "
            "them with coview.compose.ConcatenateViews."
        )

    def __getstate__(self) -> dict[str, Any]:
        return {
            "blocks": self._blocks,
            "presence": self._presence,
            "ids": plain_labels(self._ids),
            "has_ids": self._has_ids,
            "same_order": self._same_order,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._blocks = state["blocks"]
        self._presence = read_only(state["presence"])
        self._ids, self._index = pd.Index(labels_from_plain(state["ids"])), None
        self._has_ids, self._same_order = state["has_ids"], state["same_order"]

    def __repr__(self) -> str:
        return text_summary(self)

    def _repr_html_(self) -> str:
        return html_summary(self)


def _to_block(table: Table, present: NDArray[np.bool_], ids: pd.Index, *, masked: bool) -> Block:
    """The block of one table: its present rows in the order of the samples, numeric and finite."""
    positions = None
    if table.rows is not None:
        positions = np.argsort(table.rows, kind="stable")
        positions = positions[present[table.rows[positions]]]
    elif not present.all():
        positions = np.flatnonzero(present)
    if masked and positions is not None:
        table, positions = _without_hidden_rows(table, positions)
    matrix = to_matrix(table)
    infinite = infinite_rows(matrix, positions)
    if len(infinite):
        samples = np.flatnonzero(present)[
            infinite if positions is None else np.searchsorted(np.sort(positions), infinite)
        ]
        raise ViewError(
            f"View '{table.name}' contains infinity in {len(infinite)} samples: {first_ids(ids, samples)}. "
            "Replace infinite values, by NaN if the feature is missing there."
        )
    if positions is not None and len(positions) == matrix.shape[0] and np.all(np.diff(positions) == 1):
        positions = None
    return Block(read_only(matrix), positions, table.columns)


def _without_hidden_rows(table: Table, positions: NDArray[np.intp]) -> tuple[Table, NDArray[np.intp] | None]:
    """The rows to keep of a table that may hold anything under a False, which must not be converted."""
    values = table.values
    if isinstance(values, pd.DataFrame):
        return Table(table.name, values.iloc[positions], table.columns), None
    if values.dtype.kind not in "iufb" and not sparse.issparse(values):
        return Table(table.name, values[positions], table.columns), None
    return table, positions


def _equal_blocks(left: Block, right: Block) -> bool:
    """Same values and, where both have them, same column labels; storage does not matter."""
    if left.columns is not None and right.columns is not None and not left.columns.equals(right.columns):
        return False
    if left.n_features != right.n_features or left.n_rows != right.n_rows:
        return False
    if not left.is_sparse and not right.is_sparse:
        return bool(np.array_equal(left.values, right.values, equal_nan=left.dtype.kind == right.dtype.kind == "f"))
    return _equal_sparse(sparse.csr_array(left.values), sparse.csr_array(right.values))


def _equal_sparse(left: sparse.csr_array, right: sparse.csr_array) -> bool:
    left, right = left.copy(), right.copy()
    for matrix in (left, right):
        matrix.eliminate_zeros()
    return (
        np.array_equal(left.indptr, right.indptr)
        and np.array_equal(left.indices, right.indices)
        and np.array_equal(left.data, right.data, equal_nan=left.data.dtype.kind == right.data.dtype.kind == "f")
    )
