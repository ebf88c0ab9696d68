"""Learning curves of criteria on known data: means, errors, paired tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

__all__ = ["Simulation"]

_KEYS = ["repeat", "criterion", "step", "n_measured", "cost"]
# Equally spaced amounts of money at which curves are compared.
_AMOUNTS = 21
_LEVEL = 0.05


@dataclass(frozen=True)
class Simulation:
    """What `simulate` found.

    Attributes
    ----------
    curves : DataFrame
        A row per repeat, criterion and step: ``repeat, criterion, step, n_measured, cost`` (spent so far) and the scores.
    everything : DataFrame
        Scores of each repeat with nothing hidden but the labels: ``repeat`` and the scores; empty where it was not asked for.

    Examples
    --------
    >>> import pandas as pd
    >>> from coview.acquisition import Simulation
    >>> rows = [(r, c, s, s, s, 0.5 + s * g) for r in (0, 1) for c, g in (("random", 0.1), ("best", 0.2)) for s in (0, 1)]
    >>> curves = pd.DataFrame(rows, columns=["repeat", "criterion", "step", "n_measured", "cost", "auc"])
    >>> Simulation(curves).against("random")[["criterion", "score", "gain"]].round(2).values.tolist()
    [['best', 'auc', 0.1]]
    """

    curves: pd.DataFrame
    everything: pd.DataFrame = field(default_factory=pd.DataFrame)

    def __post_init__(self) -> None:
        absent = [name for name in _KEYS if name not in self.curves.columns]
        if absent:
            raise ValueError(f"curves must have the columns {', '.join(_KEYS)}; {', '.join(absent)} are missing.")

    @property
    def scores(self) -> list[str]:
        """Names of the scores."""
        return [name for name in self.curves.columns if name not in _KEYS]

    @property
    def start(self) -> pd.DataFrame:
        """Scores before anything is measured: ``repeat`` and the scores."""
        first = self.curves[self.curves["step"] == 0]
        return first.groupby("repeat", as_index=False, sort=False)[self.scores].first()

    def summary(self, score: str | None = None, *, along: str = "n_measured") -> pd.DataFrame:
        """Mean curves.

        Parameters
        ----------
        score : str, default=None
            One score; None for all.
        along : {"n_measured", "cost"}, default="n_measured"
            What the curves run along. Money is compared at 21 amounts from nothing to what all curves reached; a curve keeps
            its last score until the next measurement is paid.

        Returns
        -------
        table : DataFrame
            Columns ``criterion, score, <along>, mean, standard_error, n_repeats``.
        """
        rows = []
        for name in self._names(score):
            for criterion, curve in self._wide(name, along).items():
                for place, values in curve.items():
                    known = values.dropna()
                    error = known.sem() if len(known) > 1 else np.nan
                    rows.append((criterion, name, place, known.mean(), error, len(known)))
        columns = ["criterion", "score", along, "mean", "standard_error", "n_repeats"]
        return pd.DataFrame(rows, columns=columns)

    def against(
        self, reference: str = "random", score: str | None = None, *, along: str = "n_measured"
    ) -> pd.DataFrame:
        """Gain of every criterion over one of them, paired by repeat.

        Parameters
        ----------
        reference : str, default="random"
        score : str, default=None
            One score; None for all.
        along : {"n_measured", "cost"}, default="n_measured"

        Returns
        -------
        table : DataFrame
            ``criterion, score, gain`` (difference to the reference, averaged over the curve after the start),
            ``standard_error, t, p`` (two-sided paired t test over the repeats; NaN for one repeat), ``n_repeats``, and
            ``first_significant_step``: the first place on the curve at which the criterion is ahead with p < 0.05 there, NaN
            where it never is. Places are not corrected for their number.
        """
        rows = []
        for name in self._names(score):
            wide = self._wide(name, along)
            if reference not in wide:
                raise ValueError(f"reference must be one of {', '.join(map(repr, wide))}; got {reference!r}.")
            for criterion, curve in wide.items():
                if criterion != reference:
                    rows.append((criterion, name, *_gain(curve - wide[reference])))
        columns = ["criterion", "score", "gain", "standard_error", "t", "p", "n_repeats", "first_significant_step"]
        return pd.DataFrame(rows, columns=columns)

    def _names(self, score: str | None) -> list[str]:
        if score is None:
            return self.scores
        if score not in self.scores:
            raise ValueError(f"score must be one of {', '.join(map(repr, self.scores))}; got {score!r}.")
        return [score]

    def _wide(self, score: str, along: str) -> dict[str, pd.DataFrame]:
        """Curves by criterion: repeats in rows, places in columns."""
        if along == "n_measured":
            table = self.curves.pivot_table(
                index="repeat", columns=["criterion", "n_measured"], values=score, sort=False
            )
            return {name: table[name] for name in self.curves["criterion"].unique()}
        if along != "cost":
            raise ValueError(f"along must be 'n_measured' or 'cost'; got {along!r}.")
        end = self.curves.groupby(["repeat", "criterion"])["cost"].max().min()
        amounts = np.linspace(0.0, float(end), _AMOUNTS)
        found: dict[str, pd.DataFrame] = {}
        for name, part in self.curves.groupby("criterion", sort=False):
            values = {repeat: _at(curve, score, amounts) for repeat, curve in part.groupby("repeat")}
            found[str(name)] = pd.DataFrame.from_dict(values, orient="index", columns=amounts)
        return found


def _at(curve: pd.DataFrame, score: str, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
    """A curve as a function of what was spent."""
    ordered = curve.sort_values("step")
    last = np.searchsorted(ordered["cost"].to_numpy() - 1e-9, amounts, side="right") - 1
    return np.asarray(ordered[score].to_numpy()[last], dtype=np.float64)


def _gain(differences: pd.DataFrame) -> Iterator[float]:
    """Mean, standard error, t, p, repeats, first place ahead; places that not all repeats reached are left out."""
    differences = differences.dropna(axis=0, how="all").dropna(axis=1).sort_index(axis=1).iloc[:, 1:]
    each = differences.mean(axis=1).to_numpy()
    mean, error, t, p = _paired(each[:, None])
    _, _, at_t, at_p = _paired(differences.to_numpy())
    ahead = np.flatnonzero((at_t > 0.0) & (at_p < _LEVEL))
    first = float(differences.columns[ahead[0]]) if ahead.size else np.nan
    yield from (float(mean[0]), float(error[0]), float(t[0]), float(p[0]), len(each), first)


def _paired(differences: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Mean, standard error, t and two-sided p of each column of differences (n_repeats, k)."""
    n, k = differences.shape
    mean = differences.mean(axis=0) if n else np.full(k, np.nan)
    if n < 2:
        return mean, np.full(k, np.nan), np.full(k, np.nan), np.full(k, np.nan)
    error = differences.std(axis=0, ddof=1) / np.sqrt(n)
    # curves that agree everywhere are no evidence, curves that always differ by the same amount are beyond doubt
    sure = np.where(mean == 0.0, 0.0, np.copysign(np.inf, mean))
    t = np.divide(mean, error, out=sure, where=error > 0.0)
    return mean, error, t, 2.0 * stats.t.sf(np.abs(t), n - 1)
