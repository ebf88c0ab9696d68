"""Draw the README's picture from the stored comparison: python docs/images/demo.py"""

import json
from importlib.resources import files
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

METHODS = {
    "coview": ("#005ca9", "o", "-", 2.4),
    "KNN imputation + 20 PCs + LR": ("#c4460b", "s", "--", 1.4),
    "KNN imputation + tuned LR": ("#0f7b6c", "D", "-.", 1.4),
    "mean imputation + LR": ("#7a4fa3", "^", ":", 1.4),
}
TITLES = {"breast_tcga": "breast tumors, three assays", "heart_disease": "heart patients, six groups of tests"}


def main() -> None:
    """Two panels of log loss against the number of labels."""
    stored = json.loads(files("coview.report").joinpath("stored/main_job.json").read_text(encoding="utf-8"))
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.4), layout="constrained")
    for axis, (name, title) in zip(axes, TITLES.items(), strict=True):
        table = pd.DataFrame(stored["exhibits"][name]["summary"])
        table = table[(table["metric"] == "log_loss") & (table["group"] == "all")]
        labels = sorted(table["n_labeled"].unique())
        for shift, (method, (color, marker, line, width)) in enumerate(METHODS.items()):
            rows = table[table["method"] == method].set_index("n_labeled").loc[labels]
            x = np.arange(len(labels)) + 0.04 * (shift - 1.5)
            axis.errorbar(
                x,
                rows["mean"],
                rows["standard_error"],
                color=color,
                marker=marker,
                ls=line,
                lw=width,
                ms=6,
                capsize=2,
                label=method,
            )
        axis.set_xticks(range(len(labels)), [str(n) for n in labels])
        axis.set(title=title, xlabel="labels", ylabel="log loss, nats (lower is better)")
        axis.set_ylim(bottom=0.0)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="y", color="#dddddd", lw=0.6)
    axes[0].legend(frameon=False, fontsize=9)
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=150)


if __name__ == "__main__":
    main()
