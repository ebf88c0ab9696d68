"""How far clusterings of the same samples differ, view by view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.metrics import adjusted_rand_score, rand_score

__all__ = ["clustering_disagreement"]


def clustering_disagreement(
    labelings: Mapping[str, ArrayLike] | Sequence[ArrayLike], *, adjusted: bool = False
) -> pd.DataFrame:
    r"""Share of pairs of samples that one clustering puts together and another does not, for each two clusterings.

    Parameters
    ----------
    labelings : dict of str to array-like of shape (n_samples,), or list of them
        Clusters of the same samples, say by each view alone. NaN or None where a sample is not clustered, because it lacks
        the view; noise (-1) counts as a cluster of its own.
    adjusted : bool, default=False
        Whether to give one less the adjusted Rand index instead: 0 for equal partitions, 1 on average for unrelated ones.

    Returns
    -------
    disagreement : DataFrame of shape (n_labelings, n_labelings)
        Symmetric, with zeros on its diagonal; over the samples that both cluster, NaN where there are fewer than two.

    Raises
    ------
    ValueError
        If labelings differ in length.

    Notes
    -----
    One less the Rand index (1971), or one less its adjusted form (Hubert and Arabie, 1985). Time O(n_labelings^2 n_samples).

    Examples
    --------
    >>> from coview.metrics import clustering_disagreement
    >>> clustering_disagreement({"page": [0, 0, 1, 1], "links": [0, 0, 0, None]}).round(3).to_numpy().tolist()
    [[0.0, 0.667], [0.667, 0.0]]
    """
    named = (
        dict(labelings) if isinstance(labelings, Mapping) else {f"view_{j}": item for j, item in enumerate(labelings)}
    )
    columns = {name: pd.Series(np.asarray(values, dtype=object)) for name, values in named.items()}
    if len({len(column) for column in columns.values()}) > 1:
        lengths = ", ".join(f"{name!r}: {len(column)}" for name, column in columns.items())
        raise ValueError(f"All labelings must be of the same samples; got {lengths} labels.")
    names = list(columns)
    table = pd.DataFrame(0.0, index=names, columns=names)
    for i, first in enumerate(names):
        for second in names[:i]:
            table.loc[first, second] = table.loc[second, first] = _distance(columns[first], columns[second], adjusted)
    return table


def _distance(first: pd.Series, second: pd.Series, adjusted: bool) -> float:
    both = (first.notna() & second.notna()).to_numpy()
    if both.sum() < 2:
        return float("nan")
    a, b = (pd.factorize(column[both].astype(str))[0] for column in (first, second))
    return float(1.0 - (adjusted_rand_score(a, b) if adjusted else rand_score(a, b)))
