"""The curves that the report and the demonstration show, from ``results/curves.csv`` and ``results/everything.csv``.

Run from the folder ``experiments``: ``python -m active_sensing_main.stored FOLDER``; it writes three small tables into the
package, ``src/coview/report/stored``.
"""

import sys
from pathlib import Path

import pandas as pd

from coview.acquisition import Simulation

from .runs import PER_COST, RANDOM

STORED = Path(__file__).parents[2] / "src" / "coview" / "report" / "stored"


def store(curves: pd.DataFrame, everything: pd.DataFrame, folder: Path = STORED) -> list[Path]:
    """Write mean curves, gains over random choice, and scores at the start and with everything measured.

    Parameters
    ----------
    curves, everything : DataFrame
        Of `runs.run`, all problems and repeats.
    folder : Path
    """
    means, gains, levels = [], [], []
    for problem, part in curves.groupby("problem", sort=False):
        simulation = Simulation(part.drop(columns="problem"))
        for along in ("n_measured", "cost") if PER_COST in set(part["criterion"]) else ("n_measured",):
            about = {"problem": problem, "along": along}
            means.append(simulation.summary(along=along).rename(columns={along: "at"}).assign(**about))
            gains.append(simulation.against(RANDOM, along=along).assign(**about))
        full = everything[everything["problem"] == problem]
        for score in simulation.scores:
            ends = {"start": simulation.start[score].mean(), "everything": full[score].mean()}
            levels.append({"problem": problem, "score": score, **ends})
    paths = []
    for name, table in (("curves", pd.concat(means)), ("gains", pd.concat(gains)), ("levels", pd.DataFrame(levels))):
        paths.append(folder / f"measurement_{name}.csv")
        table.to_csv(paths[-1], index=False, float_format="%.5g", lineterminator="\n")
    return paths


if __name__ == "__main__":
    results = Path(sys.argv[1])
    for written in store(pd.read_csv(results / "curves.csv"), pd.read_csv(results / "everything.csv")):
        print(written)
