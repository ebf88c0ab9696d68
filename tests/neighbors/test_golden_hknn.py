"""The cases of ``tests/golden/hknn_core.json`` that are about one classifier; those of ensembles are in ``tests/ensemble``."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from coview.neighbors import HyperplaneKNeighborsClassifier, HyperplaneKNeighborsClassifierCV

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "hknn_core.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in DOCUMENT["cases"]}
RTOL, ATOL = DOCUMENT["tolerance"]["rtol"], DOCUMENT["tolerance"]["atol"]
ENSEMBLES = {"view_enumeration", "ensemble_three_feature_sets", "crv_by_hand"}
ROWS = CASES["distances_three_classes"]["outputs"]["rows"]


def close(got, want):
    np.testing.assert_allclose(np.asarray(got, dtype=float), np.asarray(want, dtype=float), rtol=RTOL, atol=ATOL)


def test_every_case_is_looked_at():
    assert set(CASES) == {"distances_three_classes", "leave_one_out"} | ENSEMBLES


@pytest.mark.parametrize("row", ROWS, ids=[f"K={row['K']}-alpha={row['lambda']}-{row['test']}" for row in ROWS])
def test_distances(row):
    inputs = CASES["distances_three_classes"]["inputs"]
    model = HyperplaneKNeighborsClassifier(int(row["K"]), float(row["lambda"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the hull is the whole space in some of the cases
        model.fit(np.array(inputs["X"]), np.array(inputs["y"]))
    x = np.array([inputs["X_test"][int(row["test"])]])
    classes = list(row["classes"].values())
    close(model.class_distances(x)[0], [values["penalised"] for values in classes])
    close(model.class_distances(x, penalized=False)[0], [values["residual"] for values in classes])
    assert model.predict(x)[0] == int(row["prediction"])


def test_leave_one_out():
    inputs, expected = CASES["leave_one_out"]["inputs"], CASES["leave_one_out"]["outputs"]
    X, y = np.array(inputs["X"]), np.array(inputs["y"])
    model = HyperplaneKNeighborsClassifierCV([inputs["K"]], [inputs["lambda"]]).fit(X, y)
    np.testing.assert_array_equal(model.loo_labels_, expected["labels"])
    close(model.loo_errors_["error"], [expected["error"]])
    plain = HyperplaneKNeighborsClassifier(inputs["K"], inputs["lambda"])
    np.testing.assert_array_equal(cross_val_predict(plain, X, y, cv=LeaveOneOut()), expected["labels"])
