"""The learning curves from ``results/curves.csv``, with standard errors over the repeats, along number and money.

Run from the folder ``experiments``: ``python -m active_sensing_main.figures FOLDER``, where FOLDER holds ``curves.csv``.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from coview.acquisition import Simulation

from .runs import ENTROPY, FEW, INFORMATION, PER_COST, RANDOM, VARIANCE

_STYLES = {
    RANDOM: {"color": "0.35", "linestyle": "--"},
    VARIANCE: {"color": "#1b7837"},
    INFORMATION: {"color": "#2166ac"},
    ENTROPY: {"color": "#b2182b"},
    FEW: {"color": "#762a83"},
    PER_COST: {"color": "#f4a582"},
}
_SCORES = (("auc", 1.0, "AUC"), ("log_score", -1.0, "log loss (nats)"))


def draw(folder: Path) -> Path:
    """Write ``curves.png`` beside the curves."""
    curves = pd.read_csv(folder / "curves.csv")
    panels = [(problem, "n_measured", "pairs measured") for problem in curves["problem"].unique()]
    panels += [(problem, "cost", "dollars spent") for problem in curves["problem"].unique() if "Cleveland" in problem]
    figure, axes = plt.subplots(2, len(panels), figsize=(4 * len(panels), 7), layout="constrained")
    for column, (problem, along, label) in zip(axes.T, panels, strict=True):
        simulation = Simulation(curves[curves["problem"] == problem].drop(columns="problem"))
        for axis, (score, sign, name) in zip(column, _SCORES, strict=True):
            table = simulation.summary(score, along=along)
            for criterion, style in _STYLES.items():
                part = table[table["criterion"] == criterion]
                if part.empty:
                    continue
                mean, error = sign * part["mean"], part["standard_error"]
                axis.plot(part[along], mean, label=criterion, linewidth=1.5, **style)
                axis.fill_between(
                    part[along], mean - error, mean + error, color=style["color"], alpha=0.12, linewidth=0
                )
            axis.set(title=problem, xlabel=label, ylabel=name)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    path = folder / "curves.png"
    figure.savefig(path, dpi=90, metadata={"Software": None})
    plt.close(figure)
    return path


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
