"""Graphs and warped kernels against values from brute force."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from coview.graphs import combined_laplacian, knn_graph, laplacian
from coview.kernels import warped_kernel

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "corls_laplacian.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in DOCUMENT["cases"]}
TOLERANCE = DOCUMENT["tolerance"]
WARPED = [name for name, case in CASES.items() if "warped_gram" in case["outputs"]]


def close(got, want):
    want = np.asarray(want, dtype=float)
    got = got.toarray() if sparse.issparse(got) else got
    assert np.abs(got - want).max() <= TOLERANCE["atol"] + TOLERANCE["rtol"] * np.abs(want).max()


def graphs(form):
    inputs = CASES["graphs"]["inputs"]
    W1 = knn_graph(form(np.array(inputs["X1"])), inputs["k1"])
    W2 = knn_graph(form(np.array(inputs["X2"])), inputs["k2"], weights="heat", sigma=np.sqrt(inputs["heat_sigma2"]))
    return W1, W2


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_graphs(form):
    inputs, outputs = CASES["graphs"]["inputs"], CASES["graphs"]["outputs"]
    W1, W2 = graphs(form)
    close(W1, outputs["W1_binary_or"])
    close(knn_graph(form(np.array(inputs["X1"])), inputs["k1"], mode="and"), outputs["W1_binary_and"])
    close(W2, outputs["W2_heat_or"])
    close(laplacian(W1), outputs["L1"])
    close(laplacian(W2), outputs["L2"])
    close(laplacian(W2.toarray(), normalized=True), outputs["L2_normalized"])
    close(laplacian(W2, normalized=True), outputs["L2_normalized"])
    g, L2 = np.array(inputs["g"]), laplacian(W2)
    close(g @ L2 @ g, outputs["g_L2_g"])
    differences = (g[:, None] - g) ** 2
    close((W2.toarray() * differences).sum(), outputs["printed_double_sum"])


@pytest.mark.parametrize("name", WARPED)
def test_combined_laplacians(name):
    case = CASES[name]
    L1, L2 = map(laplacian, graphs(np.asarray))
    if name == "view1_mean_of_three_graphs":
        inputs = CASES["graphs"]["inputs"]
        L3 = laplacian(knn_graph(np.hstack([inputs["X1"], inputs["X2"]]), 3))
        got = combined_laplacian([L1, L2, L3])
    else:
        alpha = case["inputs"].get("alpha", 0.0)
        got = combined_laplacian([L1, L2], [1.0 - alpha, alpha])
    close(got, case["outputs"]["L"])


@pytest.mark.parametrize("name", WARPED)
def test_warped_kernels(name):
    inputs, outputs = CASES[name]["inputs"], CASES[name]["outputs"]
    X, new = np.array(inputs["X"]), np.array(inputs["X_test"])

    def kernel(A, B):
        if inputs["kernel"]["kind"] == "linear":
            return A @ B.T
        squares = ((A[:, None] - B[None]) ** 2).sum(axis=2)
        return np.exp(-squares / (2 * inputs["kernel"]["sigma"] ** 2))

    L, gammas = np.array(outputs["L"]), {"gamma_ambient": inputs["gamma_A"], "gamma_intrinsic": inputs["gamma_I"]}
    M = inputs["gamma_I"] / inputs["gamma_A"] * L
    close(warped_kernel(kernel(X, X), M), outputs["warped_gram"])
    close(warped_kernel(kernel(X, X), laplacian=sparse.csr_array(L), **gammas), outputs["warped_gram"])
    close(warped_kernel(kernel(X, X), M, kernel(new, X)), outputs["warped_test"])
