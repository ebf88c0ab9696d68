"""Ways of choosing widths on data that none of them was thought of on: quantiles in every representation, agreement with classes.

``python experiments/multi_represented/elsewhere.py DIR`` prints a table. Tables of one view are split at random into three.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from multi_represented.clusters import BY_VIEW, draw_of
from multi_represented.comparisons import CHOICES, chosen_widths
from multi_represented.problems import Problem

from coview.datasets import fetch

NAMES = ("satimage", "nutrimouse", "uci/optdigits", "uci/wine", "uci/breast_wisconsin", "uci/ionosphere")
MOST = 2000


def problem_of(name: str, data: Path) -> Problem:
    """A data set, at most 2,000 samples of it."""
    bunch = fetch(name, data)
    rng = np.random.default_rng(0)
    rows = np.sort(rng.choice(len(bunch.views), min(MOST, len(bunch.views)), replace=False))
    views = bunch.views if bunch.views.n_views > 1 else bunch.views.random_split(3, random_state=0)
    _, codes = np.unique(bunch.target.to_numpy()[rows].astype(str), return_inverse=True)
    blocks = {view: np.asarray(views[view], dtype=np.float64)[rows] for view in views.names}
    return Problem(name, blocks, np.asarray(codes, dtype=np.int64), 0)


def table(data: Path, names: tuple[str, ...] = NAMES) -> str:
    """Mean ARI and NMI over the representations, all side by side and every relation."""
    rows = [row for name in names for row in draw_of(problem_of(name, data), 0, 0)]
    scores = pd.DataFrame([row for row in rows if row["rule"] == BY_VIEW])
    lines = ["| data | " + " | ".join(CHOICES) + " |", "| --- |" + " --- |" * len(CHOICES)]
    means = {choice: chosen_widths(scores, choice).groupby("data", sort=False) for choice in CHOICES}
    for name in names:
        cells = [means[choice].get_group(name)[["ari", "nmi"]].mean() for choice in CHOICES]
        lines.append(f"| {name} | " + " | ".join(f"{cell['ari']:.3f} ({cell['nmi']:.3f})" for cell in cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(Path(sys.argv[1])))
