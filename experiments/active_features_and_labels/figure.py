"""Figure 2 of the paper from `results.json`: positives found by labels, and ROC curves after the queries of each part.

Run from the folder ``experiments``: ``python -m active_features_and_labels.figure FOLDER``, where FOLDER holds ``results.json``.
"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from .runs import FALSE_POSITIVE_RATES, PARTS

_COLORS = {"random": "0.4"}


def draw(folder: Path) -> Path:
    """Write ``figure2.png``: a row per data set, a column for what was found and one per part."""
    result = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    names = list(dict.fromkeys(row["data"] for row in result["roc"]))
    figure, axes = plt.subplots(
        len(names), len(PARTS) + 1, figsize=(19, 3.9 * len(names)), layout="constrained", squeeze=False
    )
    for line, name in zip(axes, names, strict=True):
        for row in (row for row in result["found"] if row["data"] == name):
            line[0].plot(
                np.arange(1, len(row["found"]) + 1), row["found"], color=_COLORS.get(row["rule"]), label=row["rule"]
            )
        line[0].set(xlabel="labels asked for", ylabel="positives found", title=f"{name}: positives found")
        for axis, part in zip(line[1:], PARTS, strict=True):
            _curves(axis, [row for row in result["roc"] if row["data"] == name and row["part"] == part])
            axis.set(xlabel="false positive rate", title=PARTS[part].title)
        line[1].set_ylabel("true positive rate, remaining objects")
        for axis in line:
            axis.legend(fontsize=8, loc="upper left" if axis is line[0] else "lower right")
    path = folder / "figure2.png"
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return path


def _curves(axis: Any, rows: list[dict[str, Any]]) -> None:
    """Mean curves over the starts; the band is one standard deviation of the random trials of a start."""
    for row in rows:
        tpr, sd = np.array(row["tpr"]), np.array(row["sd"])
        axis.plot(FALSE_POSITIVE_RATES, tpr, color=_COLORS.get(row["rule"]), label=row["rule"])
        if row["rule"] == "random":
            axis.fill_between(FALSE_POSITIVE_RATES, tpr - sd, np.minimum(tpr + sd, 1.0), color="0.85")
    axis.set(xlim=(0, 0.6), ylim=(0.3, 1.01))


if __name__ == "__main__":
    print(draw(Path(sys.argv[1])))
