"""Laplacian learners against values from brute force (``tests/golden/corls_laplacian.json``)."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from coview.graphs import knn_graph, laplacian
from coview.semi_supervised import (
    CoLaplacianLeastSquaresClassifier,
    CoLaplacianSVC,
    LaplacianLeastSquaresClassifier,
    LaplacianSVC,
)

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "corls_laplacian.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in DOCUMENT["cases"]}
LEARNED = [name for name, case in CASES.items() if "laprls_f_test" in case["outputs"]]
GRAPHS = CASES["graphs"]["inputs"]


def close(got, want, rtol=DOCUMENT["tolerance"]["rtol"], atol=DOCUMENT["tolerance"]["atol"]):
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    assert got.shape == want.shape
    assert np.abs(got - want).max() <= atol + rtol * np.abs(want).max()


def parts(name):
    inputs = CASES[name]["inputs"]
    kernel = "linear" if inputs["kernel"]["kind"] == "linear" else RBF(inputs["kernel"]["sigma"])
    gammas = {"gamma_ambient": inputs["gamma_A"], "gamma_intrinsic": inputs["gamma_I"]}
    return np.array(inputs["X"]), np.array(inputs["X_test"]), inputs["y_labelled_else_null"], kernel, gammas


def graph_of(name):
    return {"laplacian": np.array(CASES[name]["outputs"]["L"])}


@pytest.mark.parametrize("name", LEARNED)
def test_least_squares(name):
    X, new, y, kernel, gammas = parts(name)
    out = CASES[name]["outputs"]
    model = LaplacianLeastSquaresClassifier(kernel, graph=graph_of(name), **gammas).fit(X, y)
    close(model.warped_dual_coef_, out["laprls_alpha_warped"])
    close(model.dual_coef_, out["laprls_alpha_full"])
    close(model.decision_function(X), out["laprls_f_sample"])
    close(model.decision_function(new), out["laprls_f_test"])


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", LEARNED)
def test_hinge(name, bias):
    X, new, y, kernel, gammas = parts(name)
    key = "lapsvm_bias" if bias else "lapsvm_nobias"
    out = CASES[name]["outputs"]
    options = {"graph": graph_of(name), "fit_intercept": bias}
    model = LaplacianSVC(kernel, **options, **gammas).fit(X, y)
    close(model.objective_, out[f"{key}_objective"])
    close(np.abs(model.warped_dual_coef_), out[key]["alpha"])
    close(1.0 / (2 * len(out[key]["alpha"]) * gammas["gamma_ambient"]), out[key]["C"])
    close(model.intercept_, out[key]["b"])
    close(model.decision_function(X), out[key]["f_sample"])
    close(model.decision_function(new), out[key]["f_test"])


def test_joint_graphs():
    X = {"one": np.array(GRAPHS["X1"]), "two": np.array(GRAPHS["X2"])}
    graphs = [{"n_neighbors": 2}, {"n_neighbors": 3, "weights": "heat", "sigma": 1.0}]
    name = "view1_alpha_0.3"
    _, _, y, kernel, gammas = parts(name)
    for weights in ([0.7, 0.3], 0.3, {"one": 0.7, "two": 0.3}):
        model = CoLaplacianLeastSquaresClassifier(kernel, graph=graphs, graph_weights=weights, **gammas).fit(X, y)
        close(model.decision_function_per_view(X)[0], CASES[name]["outputs"]["laprls_f_sample"])
    out = CASES["view1_mean_of_three_graphs"]["outputs"]
    options = {"graph": [*graphs, {"n_neighbors": 3}], "graph_weights": "mean_with_concatenation", **gammas}
    model = CoLaplacianSVC(kernel, fit_intercept=False, **options).fit(X, y)
    close(model.decision_function(X, view="one"), out["lapsvm_nobias"]["f_sample"])
    close(model.dual_coef_[0].shape, (8,))


def test_bias_is_outside_the_graph_penalty():
    case = CASES["bias_needs_L1_equal_0"]
    X, _, y, kernel, gammas = parts("view1_alpha_0.0")
    W = knn_graph(np.array(GRAPHS["X2"]), 3, weights="heat", sigma=1.0)
    model = LaplacianSVC(kernel, graph={"affinity": W, "normalized": True}, **gammas).fit(X, y)
    f, L = model.decision_function(X), laplacian(W, normalized=True).toarray()
    inside = f @ L @ f - (f - model.intercept_) @ L @ (f - model.intercept_)
    direct = model.objective_ + gammas["gamma_intrinsic"] * inside
    close(direct, case["outputs"]["direct_objective_at_warped_solution"], rtol=1e-5)
    # With a constant in the kernel that costs nearly nothing the graph prices it, too: the true minimum.
    model = LaplacianSVC(
        kernel + ConstantKernel(1e6), graph={"affinity": W, "normalized": True}, fit_intercept=False, **gammas
    ).fit(X, y)
    close(model.objective_, case["outputs"]["direct_minimum"], rtol=1e-5)
