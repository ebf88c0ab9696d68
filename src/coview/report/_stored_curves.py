"""The stored learning curves of criteria for measurements, made by ``coview reproduce active-sensing``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import pandas as pd

__all__ = ["FEW", "RANDOM", "StoredCurves", "load_curves"]

#: Criteria that are asked for by name, as they are stored.
RANDOM, FEW = "random", "expected entropy, few candidates"

DIAGNOSES = "measurement_diagnoses.json"
CURVES, GAINS, LEVELS = "measurement_curves.csv", "measurement_gains.csv", "measurement_levels.csv"


@dataclass(frozen=True)
class StoredCurves:
    """Curves and gains over random choice on data whose values are known.

    Attributes
    ----------
    curves : DataFrame
        ``problem, criterion, score, along`` ("n_measured" or "cost"), ``at, mean, standard_error, n_repeats``.
    gains : DataFrame
        ``problem, criterion, score, along, gain, standard_error, p, n_repeats``: criterion minus random choice, mean over the
        curve, paired.
    levels : DataFrame
        ``problem, score, start, everything``: mean scores with nothing and with all measured.
    diagnoses : dict of str to dict
        Problem -> ``n_repeats, agreement`` (rank correlation of forecasts and what came true) and ``words``, a list of what
        `coview.acquisition.diagnose` says at the start and in how many repeats.
    """

    curves: pd.DataFrame
    gains: pd.DataFrame
    levels: pd.DataFrame
    diagnoses: Mapping[str, Mapping[str, Any]]

    @property
    def problems(self) -> list[str]:
        """Names of the problems, in their order."""
        return list(self.gains["problem"].unique())


def load_curves() -> StoredCurves | None:
    """The stored curves, None where there are none.

    Returns
    -------
    curves : StoredCurves or None
    """
    folder = files("coview.report") / "stored"
    parts = [folder / name for name in (CURVES, GAINS, LEVELS)]
    if not all(part.is_file() for part in (*parts, folder / DIAGNOSES)):
        return None
    tables = []
    for part in parts:
        with part.open(encoding="utf-8") as lines:
            tables.append(pd.read_csv(lines))
    diagnoses = json.loads((folder / DIAGNOSES).read_text(encoding="utf-8"))
    curves, gains, levels = tables
    return StoredCurves(curves, gains, levels, diagnoses)
