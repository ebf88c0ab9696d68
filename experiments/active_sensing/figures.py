"""The learning curves from `results/summary.csv`: AUC after every acquisition, with standard errors over the runs.

Run from the folder ``experiments``: ``python -m active_sensing.figures FOLDER``, where FOLDER holds ``summary.csv``.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from .runs import BOUND_POINT, CONCATENATED, ENTROPY, FILLED, FULL, INFORMATION, PAPERS, RANDOM, VARIANCE

_STYLES = {
    RANDOM: {"color": "0.35", "linestyle": "--"},
    VARIANCE: {"color": "#1b7837"},
    INFORMATION: {"color": "#2166ac"},
    BOUND_POINT: {"color": "#67a9cf"},
    ENTROPY: {"color": "#b2182b"},
}
_LEVELS = {FULL: "-", FILLED: ":", CONCATENATED: "-."}


def draw(folder: Path) -> list[Path]:
    """Write ``curves.png`` (AUC) and ``gains.png`` (differences from random in the same runs) beside the summary."""
    summary = pd.read_csv(folder / "summary.csv")
    summary = summary[summary["setting"] == PAPERS.name]
    return [_curves(summary, folder / "curves.png"), _gains(summary, folder / "gains.png")]


def _curves(summary: pd.DataFrame, path: Path) -> Path:
    studies = summary["study"].unique()
    figure, axes = plt.subplots(2, int(np.ceil(len(studies) / 2)), figsize=(17, 8), layout="constrained")
    for axis, study in zip(axes.flat, studies, strict=False):
        of_study = summary[summary["study"] == study]
        for place, (criterion, style) in enumerate(_STYLES.items()):
            rows = of_study[of_study["criterion"] == criterion]
            if rows.empty:
                continue
            axis.plot(rows["step"], rows["auc"], label=criterion, linewidth=1.5, **style)
            some = rows[(rows["step"] % 10) == 2 * place]
            axis.errorbar(some["step"], some["auc"], some["auc_error"], fmt="none", capsize=2, color=style["color"])
        low, high = axis.get_ylim()
        for baseline, line in _LEVELS.items():
            level = float(of_study.loc[of_study["criterion"] == baseline, "auc"].iloc[0])
            if level > low - 0.3 * (high - low):  # far below, it would squeeze the curves
                axis.axhline(level, color="black", linewidth=1, linestyle=line, label=baseline)
        axis.set(title=study, xlabel="pairs acquired", ylabel="AUC, unlabeled samples")
    for axis in axes.flat[len(studies) :]:
        axis.set_axis_off()
    axes.flat[0].legend(fontsize=8)
    return _write(figure, path)


def _gains(summary: pd.DataFrame, path: Path) -> Path:
    studies = summary["study"].unique()
    figure, axes = plt.subplots(2, int(np.ceil(len(studies) / 2)), figsize=(17, 8), layout="constrained")
    for axis, study in zip(axes.flat, studies, strict=False):
        of_study = summary[(summary["study"] == study) & (summary["step"] > 0)]
        axis.axhline(0.0, color="0.35", linestyle="--")
        for criterion, style in _STYLES.items():
            rows = of_study[of_study["criterion"] == criterion]
            if criterion == RANDOM or rows.empty:
                continue
            around = 2.0 * rows["auc_gain_error"]
            axis.plot(rows["step"], rows["auc_gain"], label=criterion, linewidth=1.5, **style)
            axis.fill_between(
                rows["step"], rows["auc_gain"] - around, rows["auc_gain"] + around, alpha=0.12, color=style["color"]
            )
        axis.set(title=study, xlabel="pairs acquired", ylabel="AUC less that of random (± 2 s.e.)")
    for axis in axes.flat[len(studies) :]:
        axis.set_axis_off()
    axes.flat[0].legend(fontsize=8)
    return _write(figure, path)


def _write(figure: plt.Figure, path: Path) -> Path:
    figure.savefig(path, dpi=90, metadata={"Software": None})
    return path


if __name__ == "__main__":
    for written in draw(Path(sys.argv[1])):
        print(written)
