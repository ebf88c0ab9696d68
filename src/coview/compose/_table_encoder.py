"""Tables of numbers, categories and text become numeric views."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coview.base import MultiViewEstimator
from coview.compose._columns import CategoryColumn, TextColumn
from coview.compose._view_encoder import ViewEncoder
from coview.exceptions import ViewError
from coview.views import AlignedTables, Table, Views, resolve_presence

__all__ = ["TableEncoder"]


class TableEncoder(TransformerMixin, MultiViewEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg,misc]
    """Numeric views from tables that hold numbers, categories, text, and gaps.

    Everything is learnt from the rows given to ``fit``. Put it first in a scikit-learn pipeline, so that it is learnt
    on training rows only and saved with the model.

    * **Numbers** (truth values too) are centered and divided by their standard deviation. A column that is constant
      in training is kept and gives 0 for every sample. Columns of a sparse view are divided by their root mean
      square and not centered, so that zeros stay zeros.
    * **Categories** (categorical columns, and text that is not prose) give one 0/1 column each; a category not seen
      in ``fit`` gives zeros.
    * **Prose** gives TF-IDF weights. A column of strings counts as prose when at least half of its values differ and
      at least half of them have two words or more; ``text_columns`` and ``categorical_columns`` overrule.
    * **Gaps** in a row that has other values are filled with the median of the column, and marked in a 0/1 column of
      their own where the column had gaps in training; a gap among categories or prose gives zeros.
    * **A row without any value** is a missing view, and stays one.

    Parameters
    ----------
    text_columns : list, or dict of view name to list, default=None
        Columns to read as prose whatever they look like: labels, or positions where there are none.
    categorical_columns : list, or dict of view name to list, default=None
        Columns to read as categories, such as integer codes.
    scale : bool, or dict of view name to bool, default=True
        Whether numbers are centered and scaled; views that a dict does not name are.
    mark_gaps : bool, default=True
        Whether columns with gaps in training get a column that marks them.
    max_words : int, default=10000
        Most frequent words kept of each prose column; None keeps all.
    view_columns : dict, default=None
        Column groups, where X is one table (see :class:`coview.Views`).

    Attributes
    ----------
    report_ : DataFrame (made on demand)
        One row per column of the tables: ``view``, ``column``, ``kind``, ``encoding`` (in words), ``gaps_filled``.
    gaps_filled_ : dict of str to int
        Cells of each view that were gaps in the rows of ``fit``.
    text_columns_, categorical_columns_ : dict of str to list
        The columns of each view that were read as prose and as categories, as ``text_columns`` and
        ``categorical_columns`` of another encoder take them, which then reads every column as this one does.
    sparse_views_ : list of str
        Views that come out sparse.

    Notes
    -----
    Within a view, the numbers come first, then the columns that mark their gaps, then categories and prose. A view
    with prose, or with a column of more than 100 categories, comes out sparse. Dates have no encoding and raise.

    Examples
    --------
    >>> import pandas as pd
    >>> from coview.compose import TableEncoder
    >>> clinical = pd.DataFrame({"age": [40.0, None, 60.0], "sex": ["f", "m", "f"]}, index=["p1", "p2", "p3"])
    >>> encoder = TableEncoder().fit({"clinical": clinical})
    >>> encoder.transform({"clinical": clinical})["clinical"]
    array([[-1.,  0.,  1.,  0.],
           [ 0.,  1.,  0.,  1.],
           [ 1.,  0.,  1.,  0.]])
    >>> print(encoder.describe())
    clinical: 2 columns (1 number, 1 category) become 4; 1 gap filled
      age  number    centered at 50, divided by 10; gaps filled with 50 and marked in a column of their own
      sex  category  one 0/1 column for each of 2 categories
    """

    _allow_nan = True

    def __init__(
        self,
        *,
        text_columns: Any = None,
        categorical_columns: Any = None,
        scale: Any = True,
        mark_gaps: bool = True,
        max_words: int | None = 10_000,
        view_columns: Any = None,
    ) -> None:
        self.text_columns = text_columns
        self.categorical_columns = categorical_columns
        self.scale = scale
        self.mark_gaps = mark_gaps
        self.max_words = max_words
        self.view_columns = view_columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the encoding.

        Parameters
        ----------
        X : Views or anything that Views takes, with cells of any kind
            Training samples.
        y : ignored

        Returns
        -------
        self : TableEncoder
        """
        aligned = self._read_tables(X, reset=True, numeric=False)
        text = _chosen_columns(self.text_columns, aligned, "text_columns")
        categorical = _chosen_columns(self.categorical_columns, aligned, "categorical_columns")
        scale = _scale_per_view(self.scale, aligned.names)
        self._encoders = {}
        self._gaps_filled = {}
        for table in _present_tables(aligned):
            encoder = ViewEncoder(
                categorical=categorical[table.name],
                text=text[table.name],
                scale=scale[table.name],
                mark_gaps=self.mark_gaps,
                max_words=self.max_words,
            ).fit(table)
            self._encoders[table.name] = encoder
            self._gaps_filled[table.name] = encoder.count(table)[0]
        self.gaps_filled_ = {name: int(gaps.sum()) for name, gaps in self._gaps_filled.items()}
        self.text_columns_ = self._labels_of(TextColumn)
        self.categorical_columns_ = self._labels_of(CategoryColumn)
        self.sparse_views_ = [name for name, encoder in self._encoders.items() if encoder.is_sparse]
        return self

    def _labels_of(self, kind: type) -> dict[str, list[Any]]:
        """Labels, per view, of the columns of one kind; positions where a view has no labels."""
        found = {}
        for name, encoder in self._encoders.items():
            positions = [position for position, column in encoder.columns.items() if isinstance(column, kind)]
            labels = self._view_feature_names[name]
            found[name] = positions if labels is None else [labels[position] for position in positions]
        return found

    @property
    def report_(self) -> pd.DataFrame:
        """What was learnt for each column, one row per column."""
        check_is_fitted(self, "gaps_filled_")
        reports = []
        for name, encoder in self._encoders.items():
            report = pd.DataFrame(encoder.describe(), columns=["column", "kind", "encoding"])
            report.insert(0, "view", name)
            reports.append(report.assign(gaps_filled=self._gaps_filled[name]))
        return pd.concat(reports, ignore_index=True)

    def transform(self, X: Any) -> Views:
        """Encode samples; any subset of the views of ``fit`` will do.

        Parameters
        ----------
        X : Views or anything that Views takes
            Samples, with the columns of ``fit``.

        Returns
        -------
        views : Views
        """
        check_is_fitted(self, "gaps_filled_")
        aligned = self._read_tables(X, reset=False, numeric=False)
        encoded = []
        for table in _present_tables(aligned):
            encoder = self._encoders[table.name]
            labels = pd.Index(encoder.feature_names, dtype=object)
            encoded.append(replace(table, values=encoder.transform(table), columns=labels))
        return Views.from_tables(replace(aligned, tables=tuple(encoded), presence=None))

    def count_gaps(self, X: Any) -> pd.DataFrame:
        """What ``transform`` would have to fill, and what it would not know.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        counts : DataFrame
            One row per column: ``view``, ``column``, ``gaps``, and ``unknown``: categories, or texts of words, that
            were not seen in ``fit``.
        """
        check_is_fitted(self, "gaps_filled_")
        counts = self.report_[["view", "column"]].copy()
        per_view = [self._encoders[table.name].count(table) for table in self._tables_to_count(X)]
        counts["gaps"], counts["unknown"] = np.concatenate(per_view, axis=1)
        return counts

    def _tables_to_count(self, X: Any) -> list[Table]:
        return _present_tables(self._read_tables(X, reset=False, numeric=False))

    def summary(self) -> list[str]:
        """One line per view: columns by kind, features they become, gaps filled.

        Returns
        -------
        lines : list of str
        """
        check_is_fitted(self, "gaps_filled_")
        lines = []
        for name, encoder in self._encoders.items():
            gaps, width = self.gaps_filled_[name], self.view_n_features_[name]
            kinds = ", ".join(f"{count} {kind}" for kind, count in encoder.count_kinds().items())
            lines.append(
                f"{name}: {width} column{'s' * (width != 1)} ({kinds}) become {len(encoder.feature_names)}; "
                f"{gaps or 'no'} gap{'s' * (gaps != 1)} filled"
            )
        return lines

    def describe(self) -> str:
        """What was learnt for each view and column, in words; no line for more than 30 columns of a view."""
        report = self.report_
        lines = []
        for name, head in zip(self._encoders, self.summary(), strict=True):
            columns = report[report["view"] == name]
            lines.append(head)
            shown = columns.head(30)
            wide = max(len(label) for label in shown["column"])
            for label, kind, encoding in shown[["column", "kind", "encoding"]].itertuples(index=False):
                lines.append(f"  {label:<{wide}}  {kind:<8}  {encoding}")
            if len(columns) > len(shown):
                kinds = columns["kind"][len(shown) :].value_counts()
                lines.append("  and " + ", ".join(f"{count} more of kind {kind}" for kind, count in kinds.items()))
        return "\n".join(lines)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the encoded features of all views, ``view__feature``.

        Parameters
        ----------
        input_features : ignored
            Present for scikit-learn; the names come from ``fit``.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self, "gaps_filled_")
        names = [f"{view}__{name}" for view, encoder in self._encoders.items() for name in encoder.feature_names]
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _present_tables(aligned: AlignedTables) -> list[Table]:
    """The tables with only the rows that have the view."""
    presence = resolve_presence(aligned)
    tables = []
    for position, table in enumerate(aligned.tables):
        owners = np.arange(table.n_rows) if table.rows is None else table.rows
        kept = presence[owners, position]
        values = table.values
        if not kept.all():
            values = values.loc[kept] if isinstance(values, pd.DataFrame) else values[kept]
        tables.append(replace(table, values=values, ids=None, rows=owners[kept]))
    return tables


def _chosen_columns(chosen: Any, aligned: AlignedTables, parameter: str) -> dict[str, set[int]]:
    """Positions, per view, of the columns that a parameter names."""
    positions: dict[str, set[int]] = {table.name: set() for table in aligned.tables}
    if chosen is None:
        return positions
    per_view = isinstance(chosen, Mapping)
    wanted = chosen if per_view else dict.fromkeys(positions, chosen)
    found = set()
    for name, labels in wanted.items():
        if name not in positions:
            raise ViewError(f"{parameter} names view '{name}', but the views are {aligned.names}.")
        table = aligned.tables[aligned.names.index(name)]
        columns = range(table.n_features) if table.columns is None else table.columns
        at = {label: position for position, label in enumerate(columns)}
        for label in _as_list(labels):
            if label in at:
                positions[name].add(at[label])
                found.add(label)
            elif per_view:
                raise ViewError(f"{parameter} names column '{label}', which view '{name}' does not have.")
    missing = [] if per_view else [label for label in _as_list(chosen) if label not in found]
    if missing:
        raise ViewError(f"{parameter} names columns that no view has: {missing}.")
    return positions


def _scale_per_view(scale: Any, names: list[str]) -> dict[str, bool]:
    """Whether each view is scaled."""
    if not isinstance(scale, Mapping):
        return dict.fromkeys(names, bool(scale))
    unknown = sorted(map(str, set(scale) - set(names)))
    if unknown:
        raise ViewError(f"scale names views {unknown}, but the views are {names}.")
    return {name: bool(scale.get(name, True)) for name in names}


def _as_list(labels: Any) -> list[Any]:
    return [labels] if isinstance(labels, str | int) else list(labels)
