"""Paired comparisons over runs: gain over random along the curve, at every step, and from which step on it is significant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from .runs import RANDOM, SCORES

__all__ = ["LASTING", "LEVEL", "at_each_step", "gains", "pairs"]

#: Level of a two-sided paired t test.
LEVEL = 0.05
#: Steps in a row that have to be significant before a lead is called lasting.
LASTING = 5

_KEYS = ["study", "setting"]


def at_each_step(curves: pd.DataFrame) -> pd.DataFrame:
    """Mean scores after every acquisition, with standard errors and the paired difference from random."""
    rows = []
    for (study, setting, criterion), own in curves.groupby([*_KEYS, "criterion"], sort=False):
        row = {"study": study, "setting": setting, "criterion": criterion}
        reference = curves[
            (curves["study"] == study) & (curves["setting"] == setting) & (curves["criterion"] == RANDOM)
        ]
        tables = {score: _table(own, score) for score in SCORES}
        against = {score: _differences(tables[score], _table(reference, score)) for score in SCORES}
        for step in against["auc"].columns:
            cells: dict[str, Any] = {}
            for score in SCORES:
                values, differences = tables[score][step], against[score][step]
                cells[score], cells[f"{score}_error"] = values.mean(), values.sem()
                same = criterion == RANDOM or step == 0
                cells[f"{score}_gain"] = np.nan if same else differences.mean()
                cells[f"{score}_gain_error"] = np.nan if same else differences.sem()
                cells[f"{score}_p"] = np.nan if same else _p(differences)
            rows.append(row | {"step": int(step), "runs": len(tables["auc"])} | cells)
    return pd.DataFrame(rows)


def gains(curves: pd.DataFrame, steps: pd.DataFrame) -> pd.DataFrame:
    """Every criterion against random: mean over the curve of the paired difference, and when it is ahead.

    ``first`` is the first acquisition after which a criterion is significantly ahead, ``lasting`` the first from which it is
    for `LASTING` acquisitions in a row, ``ahead`` and ``behind`` the shares of acquisitions after which it significantly is.
    """
    rows = []
    for (study, setting), of_study in curves.groupby(_KEYS, sort=False):
        for criterion in _others(of_study):
            at = steps[(steps["study"] == study) & (steps["setting"] == setting) & (steps["criterion"] == criterion)]
            at = at[at["step"] > 0]
            for score in SCORES:
                gain = pairs(of_study, criterion, RANDOM, score)
                ahead = ((at[f"{score}_p"] < LEVEL) & (at[f"{score}_gain"] > 0)).to_numpy()
                behind = ((at[f"{score}_p"] < LEVEL) & (at[f"{score}_gain"] < 0)).to_numpy()
                rows.append(
                    {"study": study, "setting": setting, "criterion": criterion, "score": score}
                    | gain
                    | {"first": _first(ahead, 1), "lasting": _first(ahead, LASTING)}
                    | {"ahead": float(ahead.mean()), "behind": float(behind.mean())}
                )
    return pd.DataFrame(rows)


def pairs(curves: pd.DataFrame, criterion: str, reference: str, score: str) -> dict[str, Any]:
    """Mean over the curve of what one criterion has more than another in the same runs."""
    own, other = (_table(curves[curves["criterion"] == name], score) for name in (criterion, reference))
    differences = _differences(own, other).drop(columns=0).mean(axis=1)
    p = _p(differences)
    word = "" if np.isnan(p) else "even" if p >= LEVEL else "ahead" if differences.mean() > 0 else "behind"
    return {"gain": differences.mean(), "error": differences.sem(), "p": p, "verdict": word, "runs": len(differences)}


def _others(curves: pd.DataFrame) -> Sequence[str]:
    return [criterion for criterion in curves["criterion"].unique() if criterion != RANDOM]


def _table(curves: pd.DataFrame, score: str) -> pd.DataFrame:
    """Runs by steps; a run that had nothing left to acquire stays where it was."""
    return curves.pivot_table(index="repeat", columns="step", values=score).ffill(axis=1)


def _differences(own: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """By run and step, as far as both go."""
    steps = own.columns.intersection(other.columns)
    return own[steps] - other[steps]


def _p(differences: pd.Series) -> float:
    """Two-sided paired t test; NaN for a single run, 1 where nothing differs."""
    if len(differences) < 2:
        return float("nan")
    if np.ptp(differences.to_numpy()) == 0.0:
        return 1.0 if differences.iloc[0] == 0.0 else 0.0
    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def _first(marks: np.ndarray[Any, Any], length: int) -> int | None:
    """The first acquisition (from 1) that starts a row of that many marks."""
    for start in range(len(marks) - length + 1):
        if marks[start : start + length].all():
            return start + 1
    return None
