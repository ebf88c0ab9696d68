"""Make the stored comparison of the demonstration again: every method on 20 label draws of both data sets.

The table lies in the package (``coview/report/stored/main_job.json``) and is shown beside the draws of ``coview demo``.
Run this after a change to the default model or to a baseline, and commit the new table::

    python experiments/main_job/store_comparison.py            # about ten minutes on two cores
    python experiments/main_job/store_comparison.py --check    # compare with the stored table, write nothing
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import pandas as pd

import coview.report
from coview.report.demo import run_demo

STORED = Path(coview.report.__file__).parent / "stored" / "main_job.json"
REPEATS = 20
# Other BLAS libraries round differently, and a tuned or stopped-early baseline may then end elsewhere.
TOLERANCE = 0.005


def largest_change(old: dict, new: dict) -> pd.DataFrame:
    """Largest absolute change of a mean, per data set and method.

    Parameters
    ----------
    old, new : dict
        Contents of two tables.

    Returns
    -------
    changes : DataFrame
        ``data``, ``method``, ``change``; largest first.
    """
    keys = ["method", "n_labeled", "group", "metric"]
    rows = []
    for name in new["exhibits"]:
        frames = [pd.DataFrame(part["exhibits"][name]["summary"])[[*keys, "mean"]] for part in (old, new)]
        both = frames[0].merge(frames[1], on=keys, how="outer", suffixes=("_old", "_new"))
        both["change"] = (both["mean_new"] - both["mean_old"]).abs().fillna(float("inf"))
        rows.append(both.groupby("method")["change"].max().rename_axis("method").reset_index().assign(data=name))
    return pd.concat(rows).sort_values("change", ascending=False, ignore_index=True)


def main() -> int:
    """Run the full demonstration, then store or check its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the stored table, write nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "demo"
        run_demo(output, repeats=REPEATS, full=True)
        text = (output / "main_job.json").read_text(encoding="utf-8")
    if not options.check:
        STORED.parent.mkdir(exist_ok=True)
        STORED.write_text(text, encoding="utf-8")
        print(f"stored: {STORED}")
        return 0
    changes = largest_change(json.loads(STORED.read_text(encoding="utf-8")), json.loads(text))
    print(changes.head(8).to_string(index=False))
    return int(changes["change"].max() > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
