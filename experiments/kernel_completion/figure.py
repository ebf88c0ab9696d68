"""Figure 1 of the paper from `results/summary.csv`: AUC and distance on Ionosphere against the share that is missing.

Run from the folder ``experiments``: ``python -m kernel_completion.figure FOLDER``, where FOLDER holds ``summary.csv``.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from .completion import METHODS, OWN_DIAGONAL, TRUE


def draw(folder: Path) -> Path:
    """Write ``figure1.svg`` beside the summary; bars are standard errors of the mean over the trials."""
    summary = pd.read_csv(folder / "summary.csv")
    chosen = summary[summary["data"] == "uci/ionosphere"].copy()
    chosen["percent"] = chosen["setting"].str.split().str[0].astype(int)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    metrics = (("auc", "AUC on the unlabeled rows"), ("distance", "relative distance to the true kernel"))
    for axis, (metric, label) in zip(axes, metrics, strict=True):
        of_metric = chosen[chosen["metric"] == metric]
        for method in (*METHODS, TRUE):
            rows = of_metric[of_metric["method"] == method]
            if method == OWN_DIAGONAL or (method == TRUE and metric == "distance"):
                continue  # the curve of the one is hardly apart from that of the expected kernel, the other is zero
            style = {"color": "black", "linewidth": 2} if method == METHODS[0] else {"linewidth": 1}
            axis.errorbar(
                rows["percent"], rows["mean"], rows["sd"] / rows["n"] ** 0.5, label=method, capsize=2, **style
            )
        axis.set(xlabel="values removed, %", ylabel=label, xticks=sorted(chosen["percent"].unique()))
    axes[0].legend(fontsize=8)
    figure.suptitle(f"Ionosphere (351 rows, 34 features, each a view), {chosen['n'].max()} trials", fontsize=11)
    path = folder / "figure1.svg"
    figure.savefig(path, metadata={"Date": None})
    return path


if __name__ == "__main__":
    print(draw(Path(sys.argv[1])))
