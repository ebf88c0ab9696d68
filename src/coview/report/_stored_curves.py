"""The stored learning curves of criteria for measurements, made by ``coview reproduce active-sensing``."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import pandas as pd

__all__ = ["StoredCurves", "load_curves"]

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
    """

    curves: pd.DataFrame
    gains: pd.DataFrame
    levels: pd.DataFrame

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
    if not all(part.is_file() for part in parts):
        return None
    tables = []
    for part in parts:
        with part.open(encoding="utf-8") as lines:
            tables.append(pd.read_csv(lines))
    return StoredCurves(*tables)
