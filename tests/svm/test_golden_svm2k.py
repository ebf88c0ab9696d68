"""The cases of ``tests/golden/svm2k_core.json``: the published program, solved to twelve digits by another method."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from coview.svm import SVM2K

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "svm2k_core.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in DOCUMENT["cases"]}
RTOL, ATOL = DOCUMENT["tolerance"]["rtol"], DOCUMENT["tolerance"]["atol"]
# Multipliers are not unique (section 9 of the notes): what they must satisfy is checked instead.
INFORMATION = {"alpha_A", "alpha_B", "delta", "g_A", "g_B"}
VIEWS = ("A", "B")


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture
def model(case):
    inputs = case["inputs"]
    kernels = [spec["kind"] if spec["kind"] == "linear" else RBF(spec["sigma"]) for spec in inputs["kernels"]]
    model = SVM2K(kernel=kernels, C=(inputs["C_A"], inputs["C_B"]), D=inputs["D"], epsilon=inputs["epsilon"])
    return model.fit([np.array(X) for X in inputs["X"]], inputs["y"])


def close(got, want):
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=0, atol=ATOL + RTOL * np.abs(want).max())


def test_every_key_of_the_file_is_checked():
    keys = {key for case in CASES.values() for key in case["outputs"]}
    assert keys == INFORMATION | {
        f"{f}_{v}{part}" for f, part in (("f", ""), ("f", "_test"), ("b", "")) for v in VIEWS
    } | {
        "objective",
        "f_test",
        "labels_test",
    }


def test_functions(case, model):
    scores = model.decision_function_per_view([np.array(X) for X in case["inputs"]["X"]])
    for v, name in enumerate(VIEWS):
        close(scores[v], case["outputs"][f"f_{name}"])
        close(model.intercepts_[v], case["outputs"][f"b_{name}"])


def test_new_samples(case, model):
    X = [np.array(block) for block in case["inputs"]["X_test"]]
    for scores, name in zip(model.decision_function_per_view(X), VIEWS, strict=True):
        close(scores, case["outputs"][f"f_{name}_test"])
    close(model.decision_function(X), case["outputs"]["f_test"])
    np.testing.assert_array_equal(model.predict(X), case["outputs"]["labels_test"])


def test_objective(case, model):
    close(model.objective_, case["outputs"]["objective"])


def test_coefficients_are_feasible(case, model):
    """Sums of zero, and together the coefficients of a sample are those of its labels."""
    inputs = case["inputs"]
    y = np.array(inputs["y"], dtype=float)
    for a in model.dual_coef_:
        assert abs(a.sum()) < 1e-9
    both = y * sum(model.dual_coef_)
    assert both.min() > -1e-9
    assert both.max() < inputs["C_A"] + inputs["C_B"] + 1e-9
