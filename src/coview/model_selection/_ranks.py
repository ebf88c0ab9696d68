"""Whether methods differ over several data sets: mean ranks, Friedman's test, Nemenyi's critical difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2 as chi_square_distribution
from scipy.stats import f as f_distribution
from scipy.stats import studentized_range

from coview.model_selection._summaries import score_table

__all__ = ["MeanRanks", "critical_difference", "mean_ranks"]


@dataclass(frozen=True, eq=False)
class MeanRanks:
    """Ranks of methods over data sets, and whether they could be chance.

    Attributes
    ----------
    ranks : Series
        Mean rank of each method, 1 where it is always the best; best first.
    table : DataFrame
        The scores that were ranked: one row per data set, one column per method.
    left_out : Index
        Rows of the table of scores in which a method had none; they are not ranked.
    f_statistic : float
        Friedman's statistic in the form of Iman and Davenport.
    p_value : float
        Probability of an F as large where all methods are equally good; where every row ranks alike and F is infinite, of
        Friedman's chi-square.
    critical_difference : float
        Mean ranks that differ by less do not tell two methods apart.
    """

    ranks: pd.Series
    table: pd.DataFrame
    left_out: pd.Index
    f_statistic: float
    p_value: float
    critical_difference: float

    def level_with(self, method: str) -> list[str]:
        """Methods whose mean rank differs from that of a method by less than the critical difference, best first."""
        gap = (self.ranks - self.ranks[method]).abs()
        return [str(name) for name in gap.index[gap < self.critical_difference] if name != method]


def mean_ranks(
    scores: pd.DataFrame,
    metric: str,
    *,
    methods: Sequence[str] | None = None,
    rows: Sequence[str] = ("data", "n_labeled"),
    group: str = "all",
    higher_is_better: bool = False,
    level: float = 0.05,
) -> MeanRanks:
    """Rank the methods on every data set and compare their mean ranks, after Demšar (2006).

    The test takes the rows as independent: several label counts of one data set count that set several times, and ranks
    over the draws of one data set speak of that set only.

    Parameters
    ----------
    scores : DataFrame
        As in :class:`Comparison`, of several data sets below each other with a column that names them.
    metric : str
        Score column.
    methods : sequence of str, default=None
        Methods to rank; None for all.
    rows : sequence of str, default=("data", "n_labeled")
        Columns whose combinations are ranked apart; ``("draw",)`` ranks the draws of one data set.
    group : str, default="all"
        Group of samples.
    higher_is_better : bool, default=False
        True for AUC and accuracy.
    level : float, default=0.05
        Level of the critical difference.

    Returns
    -------
    ranks : MeanRanks

    Raises
    ------
    ValueError
        If fewer than two methods, or no row in which all of them have a score.

    References
    ----------
    Demšar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning
    Research 7, 1-30, section 3.2.

    Examples
    --------
    >>> import pandas as pd
    >>> from coview.model_selection import mean_ranks
    >>> scores = pd.DataFrame({"data": ["d", "d", "e", "e"], "method": ["a", "b", "a", "b"], "n_labeled": 4,
    ...                        "group": "all", "draw": 0, "log_loss": [0.3, 0.4, 0.5, 0.6]})
    >>> mean_ranks(scores, "log_loss").ranks.to_dict()
    {'a': 1.0, 'b': 2.0}
    """
    whole = score_table(scores, metric, rows=rows, group=group)
    if methods is not None:
        unknown = [name for name in methods if name not in whole.columns]
        if unknown:
            raise ValueError(f"No scores of {', '.join(map(repr, unknown))}; there are {', '.join(whole.columns)}.")
        whole = whole[list(methods)]
    table = whole.dropna()
    if table.shape[1] < 2 or table.empty:
        raise ValueError(
            f"Ranks need two methods that have scores in a common row; {table.shape[1]} methods have {len(table)}. "
            "Choose methods= that ran on the same data."
        )
    ranks = table.rank(axis=1, ascending=not higher_is_better)
    statistic, p_value = _friedman(ranks.to_numpy())
    return MeanRanks(
        ranks=ranks.mean().sort_values(kind="stable").rename("mean_rank"),
        table=table,
        left_out=whole.index.difference(table.index, sort=False),
        f_statistic=statistic,
        p_value=p_value,
        critical_difference=critical_difference(table.shape[1], len(table), level=level),
    )


def critical_difference(n_methods: int, n_rows: int, *, level: float = 0.05) -> float:
    """Difference of two mean ranks above which two of several methods differ, by Nemenyi's test.

    Parameters
    ----------
    n_methods : int
        Methods ranked, at least two.
    n_rows : int
        Data sets that they were ranked on.
    level : float, default=0.05
        Probability of any false difference where all methods are equally good.

    Returns
    -------
    difference : float

    Examples
    --------
    >>> from coview.model_selection import critical_difference
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    if n_methods < 2 or n_rows < 1 or not 0.0 < level < 1.0:
        raise ValueError(
            f"A critical difference needs two methods, one row and a level between 0 and 1; got {n_methods}, {n_rows}, "
            f"{level!r}."
        )
    quantile = float(studentized_range.ppf(1.0 - level, n_methods, np.inf)) / np.sqrt(2.0)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_rows)))


def _friedman(ranks: NDArray[np.float64]) -> tuple[float, float]:
    """Iman and Davenport's F and its probability, ties allowed; ranks of shape (n_rows, n_methods)."""
    n, k = ranks.shape
    center = n * (k + 1) / 2.0
    spread = float(np.square(ranks).sum()) - n * k * (k + 1) ** 2 / 4.0
    chi_square = (k - 1) * float(np.square(ranks.sum(axis=0) - center).sum()) / spread if spread > 0.0 else 0.0
    rest = n * (k - 1) - chi_square
    if n < 2:
        return float("nan"), float("nan")
    if rest <= 1e-12 * n * k:  # every row ranks alike: F would be sure after two rows
        return float("inf"), float(chi_square_distribution.sf(chi_square, k - 1))
    statistic = (n - 1) * chi_square / rest
    return statistic, float(f_distribution.sf(statistic, k - 1, (k - 1) * (n - 1)))
