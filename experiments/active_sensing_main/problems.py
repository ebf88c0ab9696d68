"""Complete data from which pairs of sample and view are hidden: heart patients and handwritten digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from coview import Views
from coview.acquisition import Costs
from coview.compose import TableEncoder
from coview.datasets import fetch, load_heart_disease

__all__ = ["PROBLEMS", "Problem", "Samples"]

DIGIT_VIEWS = ("fou", "kar", "zer", "mor")
_N_DIGITS = 400


@dataclass(frozen=True)
class Samples:
    """Views without gaps, target (0 or 1), and what views cost."""

    views: Views
    target: np.ndarray[Any, Any]
    costs: Costs | None


@dataclass(frozen=True)
class Problem:
    """One row of the table.

    Attributes
    ----------
    name : str
    n_labeled : int
    read : callable
        From the folder of the data and the number of a repeat to `Samples`.
    always_seen : tuple of str
    n_steps, batch_size : int
        Rounds, and pairs measured in a round.
    """

    name: str
    n_labeled: int
    read: Callable[[Path, int], Samples]
    always_seen: tuple[str, ...]
    n_steps: int
    batch_size: int

    @property
    def title(self) -> str:
        """Name and number of labels."""
        return f"{self.name}, {self.n_labeled} labels"


def _cleveland(data: Path, repeat: int) -> Samples:
    """The 297 patients of the Cleveland Clinic whose record is complete; the same in every repeat."""
    bunch = load_heart_disease()
    whole = pd.concat(bunch.frames, axis=1).dropna().index
    whole = whole[whole.str.startswith("cleveland")]
    frames = {name: frame.loc[whole] for name, frame in bunch.frames.items()}
    target = (bunch.target.loc[whole].astype(float) > 0).astype(int)
    return Samples(TableEncoder().fit_transform(frames), target.to_numpy(), Costs.of(bunch.costs))


def _digits(data: Path, repeat: int) -> Samples:
    """400 of the 2,000 digits, drawn anew in every repeat; odd or even."""
    bunch = fetch("mfeat", data)
    rows = np.sort(np.random.default_rng(repeat).choice(len(bunch.target), _N_DIGITS, replace=False))
    views = bunch.views.select(list(DIGIT_VIEWS))[rows]
    return Samples(views, (bunch.target.iloc[rows].astype(int) % 2).to_numpy(), None)


PROBLEMS = (
    Problem("Cleveland", 30, _cleveland, ("history",), 10, 20),
    Problem("Cleveland", 100, _cleveland, ("history",), 5, 40),
    Problem("mfeat", 30, _digits, (), 5, 40),
    Problem("mfeat", 100, _digits, (), 5, 40),
)
