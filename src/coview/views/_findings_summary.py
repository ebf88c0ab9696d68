"""What each view holds, counted."""

from typing import Any

import numpy as np
import pandas as pd

from coview.views._findings_blocks import ObservedView, column_blocks, observed_views
from coview.views._findings_rows import count_gaps
from coview.views._findings_text import is_prose
from coview.views._tables import AlignedTables

__all__ = ["label_summary", "view_summary"]


def view_summary(tables: AlignedTables) -> pd.DataFrame:
    """Columns by kind, samples and gaps of every view.

    Parameters
    ----------
    tables : AlignedTables

    Returns
    -------
    summary : DataFrame
        One row per view, indexed by its name: ``n_columns``, of these ``n_numbers``, ``n_categories`` and ``n_texts``;
        ``sparse``; ``n_samples`` that have the view; ``n_gaps``, the missing cells in their rows, and their ``gap_share``.

    Examples
    --------
    >>> import pandas as pd
    >>> from coview.views import read_tables
    >>> frame = pd.DataFrame({"age": [50, None, 41], "sex": ["f", "m", "f"]}, index=["p1", "p2", "p3"])
    >>> view_summary(read_tables({"clinical": frame})).loc["clinical", ["n_numbers", "n_categories", "n_gaps"]].tolist()
    [1, 1, 1]
    """
    rows = {view.table.name: _counts(view) for view in observed_views(tables)}
    return pd.DataFrame.from_dict(rows, orient="index")


def label_summary(labels: pd.Series) -> dict[str, Any]:
    """How many labels there are, of what.

    Parameters
    ----------
    labels : Series of length n_samples
        float64 for a regression, anything else for classes; missing where unlabeled.

    Returns
    -------
    summary : dict
        ``task``, ``n_labeled``, ``n_unlabeled``, ``classes`` (number of labels by class, or None) and ``values``
        (``smallest``, ``median`` and ``largest`` target, or None).

    Examples
    --------
    >>> import pandas as pd
    >>> label_summary(pd.Series(["no", "yes", None, "no"]))["classes"]
    {'no': 2, 'yes': 1}
    """
    known = labels.dropna()
    summary: dict[str, Any] = {"task": "regression" if labels.dtype.kind == "f" else "classification"}
    summary |= {"n_labeled": len(known), "n_unlabeled": len(labels) - len(known), "classes": None, "values": None}
    if labels.dtype.kind == "f":
        statistics = {"smallest": known.min(), "median": known.median(), "largest": known.max()}
        summary["values"] = {name: float(value) for name, value in statistics.items()} if len(known) else None
    else:
        counts = known.astype(str).value_counts().sort_index()
        summary["classes"] = {str(name): int(count) for name, count in counts.items()}
    return summary


def _counts(view: ObservedView) -> dict[str, Any]:
    numbers, texts = view.table.n_features, 0
    if not view.is_sparse:
        numbers = view.kinds.count("number")
        texts = _n_texts(view) if numbers < view.table.n_features else 0
    n_cells = len(view.rows) * view.table.n_features
    n_gaps = count_gaps(view)
    return {
        "n_columns": view.table.n_features,
        "n_numbers": numbers,
        "n_categories": view.table.n_features - numbers - texts,
        "n_texts": texts,
        "sparse": view.is_sparse,
        "n_samples": len(view.rows),
        "n_gaps": n_gaps,
        "gap_share": n_gaps / n_cells if n_cells else 0.0,
    }


def _n_texts(view: ObservedView) -> int:
    """Number of columns to be read as text rather than as categories."""
    count = 0
    for block in column_blocks(view):
        for place, categories in enumerate(block.categories or []):
            codes = block.cells[place][~np.isnan(block.cells[place])].astype(np.intp)
            words = [str(category) for category in categories]
            count += is_prose(words, np.bincount(codes, minlength=len(words)))
    return count
