"""Pictures of figures 1 and 2 from the summary that lies in the results.

python experiments/co_em/figures.py [FOLDER]
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

mpl.use("agg")

import matplotlib.pyplot as plt

# Method and start -> color, line, name.
_LINES = {
    ("co-EM", "random"): ("#0072b2", "-", "co-EM"),
    ("EM, views concatenated", "random"): ("#d55e00", "-", "EM, concatenated"),
    ("EM, views merged", "random"): ("#009e73", "-", "EM, merged"),
    ("co-EM", "kmeans"): ("#0072b2", "--", "co-EM, k-means start"),
    ("EM, views concatenated", "kmeans"): ("#d55e00", "--", "EM, concatenated, k-means start"),
    ("k-means, unit rows of tf-idf", "kmeans"): ("#666666", ":", "k-means"),
}
_ORDER = ("0", "0.25", "0.5", "0.75", "1", "annealed")
_LABEL = "cluster entropy (bits)"


def main(arguments: Sequence[str]) -> None:
    """Draw the pictures into the folder that holds ``summary.csv``."""
    folder = Path(arguments[0]) if arguments else Path(__file__).parent / "results"
    summary = pd.read_csv(folder / "summary.csv", dtype={"consensus": "str"}, keep_default_na=True)
    for name, figure in (
        ("clusters.png", _clusters(summary[(summary["part"] == "linked") & (summary["smoothing"].fillna(1.0) == 1.0)])),
        ("views.png", _views(summary[summary["part"] == "splits"])),
        ("consensus.png", _consensus(summary[(summary["part"] == "consensus") & (summary["start"] == "random")])),
    ):
        figure.savefig(folder / name, dpi=120)
        print(folder / name)


def _clusters(rows: pd.DataFrame) -> Figure:
    """Figure 1: entropy by number of clusters, one panel per data set."""
    names = rows["data"].unique()
    figure, panels = plt.subplots(1, len(names), figsize=(11, 4.4), layout="constrained")
    for panel, name in zip(panels, names, strict=True):
        for (method, start), (color, line, label) in _LINES.items():
            chosen = rows[(rows["data"] == name) & (rows["method"] == method) & (rows["start"] == start)]
            _line(panel, chosen["n_clusters"], chosen, color=color, linestyle=line, label=label)
        panel.set(title=name, xlabel="number of clusters")
        panel.set_xticks(sorted(rows.loc[rows["data"] == name, "n_clusters"].unique()))
    panels[0].set_ylabel(_LABEL)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _views(rows: pd.DataFrame) -> Figure:
    """Figure 2, left: entropy by number of random views, one panel per pseudo-count."""
    counts = sorted(rows["smoothing"].unique(), reverse=True)
    figure, panels = plt.subplots(1, len(counts), figsize=(10, 4.4), sharey=True, layout="constrained")
    for panel, count in zip(panels, counts, strict=True):
        for name, chosen in rows[rows["smoothing"] == count].groupby("data", sort=False):
            _line(panel, chosen["n_views"], chosen, label=str(name))
        panel.set(title=f"pseudo-count {count:g}", xlabel="number of random views")
    panels[0].set_ylabel(_LABEL)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _consensus(rows: pd.DataFrame) -> Figure:
    """Figure 2, center and right: entropy by weight of the other views; the annealed weight stands apart."""
    figure, panel = plt.subplots(figsize=(8, 5), layout="constrained")
    for number, (name, found) in enumerate(rows.groupby("data", sort=False)):
        fixed = found[found["consensus"] != "annealed"].sort_values("consensus")
        annealed = found[found["consensus"] == "annealed"]
        color = f"C{number}"
        _line(panel, fixed["consensus"].astype("float"), fixed, color=color, label=str(name))
        _line(panel, [1.25] * len(annealed), annealed, color=color)
    panel.set(xlabel="weight of the other views", ylabel=_LABEL)
    panel.set_xticks([0, 0.25, 0.5, 0.75, 1, 1.25], _ORDER)
    figure.legend(loc="outside right center", frameon=False)
    return figure


def _line(panel: Axes, places: pd.Series | list[float], rows: pd.DataFrame, **looks: str) -> None:
    panel.errorbar(places, rows["mean"], rows["standard_error"], marker="o", markersize=4, capsize=2, **looks)


if __name__ == "__main__":
    main(sys.argv[1:])
