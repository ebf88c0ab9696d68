"""A small cohort as files that a user might have, for the tests of fit and predict."""

import numpy as np
import pandas as pd


def cohort(n=48, seed=0):
    """Two views of patients, the second for two of three; ``state`` tells in the first view's age; a third unlabeled."""
    rng = np.random.default_rng(seed)
    ids = pd.Index([f"{i:03d}" for i in range(n)], name="patient")
    ill = np.arange(n) % 2 == 0
    clinical = pd.DataFrame(
        {"age": 50 + 14.0 * ill + 6 * rng.normal(size=n), "sex": np.array(["f", "m"])[rng.integers(0, 2, n)]}, index=ids
    )
    clinical.iloc[3, 0] = np.nan
    ct = pd.DataFrame(rng.normal(size=(n, 2)) + ill[:, None], index=ids, columns=["volume", "grade"])
    labels = pd.DataFrame({"state": np.where(ill, "ill", "well"), "stay": 3.25 * clinical["age"] + rng.normal(size=n)})
    labels["stay"] = labels["stay"].round(3)
    labels.iloc[np.arange(n) % 3 == 1] = None
    return {"clinical": clinical, "ct": ct[np.arange(n) % 3 != 0], "labels": labels.set_index(ids)}


def write(folder, tables):
    """One CSV file per table; returns their paths by name."""
    paths = {name: folder / f"{name}.csv" for name in tables}
    for name, table in tables.items():
        table.to_csv(paths[name])
    return {name: str(path) for name, path in paths.items()}
