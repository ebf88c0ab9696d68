"""The cases of ``tests/golden/multirep_core.json`` about DBSCAN; those of neighbors are in ``tests/neighbors``."""

import json
from pathlib import Path

import numpy as np
import pytest

from coview import Views
from coview.cluster import MultiRepresentedDBSCAN

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "multirep_core.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in DOCUMENT["cases"]}
DBSCAN = sorted(name for name in CASES if name.startswith("dbscan_"))
HOW = {
    "union": {"combine": "union"},
    "intersection_shared": {"combine": "intersection"},
    "intersection_complete": {"combine": "intersection", "missing": "complete"},
    "at_least_2": {"combine": 2},
}


def test_every_case_is_looked_at():
    assert set(CASES) == {*DBSCAN, "knn_complete", "knn_missing"}
    assert all(set(CASES[name]["outputs"]) == set(HOW) for name in DBSCAN)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", DBSCAN)
def test_cores_labels_and_neighbors(name, how):
    inputs, expected = CASES[name]["inputs"], CASES[name]["outputs"][how]
    widths = [len(next(row for row in view if row is not None)) for view in inputs["reps"]]
    blocks = [
        np.array([[np.nan] * d if row is None else row for row in view], dtype=float)
        for view, d in zip(inputs["reps"], widths, strict=True)
    ]
    model = MultiRepresentedDBSCAN(eps=inputs["eps"], min_samples=inputs["k"], **HOW[how]).fit(Views(blocks))
    np.testing.assert_array_equal(model.core_sample_indices_, np.flatnonzero(expected["core"]))
    np.testing.assert_array_equal(model.labels_, expected["labels"])
    np.testing.assert_array_equal(model.n_neighbors_, expected["neighbour_counts"])
