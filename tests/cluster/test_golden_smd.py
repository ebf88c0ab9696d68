"""The cases of ``tests/golden/smd_core.json``: spectral clustering by dense decompositions and k-means by enumeration."""

import json
from pathlib import Path

import numpy as np
import pytest

from coview import Views
from coview.cluster import MultiViewSpectralClustering
from coview.metrics import cluster_entropy

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "smd_core.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in DOCUMENT["cases"]}
RTOL, ATOL = DOCUMENT["tolerance"]["rtol"], DOCUMENT["tolerance"]["atol"]
PAIRED = ["paired_8_patterns", "paired_9_patterns_k3"]
MANY = ["three_views_complete", "two_views_as_multi", "three_views_missing"]


def close(got, want):
    np.testing.assert_allclose(np.asarray(got, dtype=float), np.asarray(want, dtype=float), rtol=RTOL, atol=ATOL)


def same_partition(got, want):
    """Numbered by first appearance on both sides."""
    numbers = {}
    np.testing.assert_array_equal(got, [numbers.setdefault(label, len(numbers)) for label in want])


def paired(name, **parameters):
    inputs = CASES[name]["inputs"]
    model = MultiViewSpectralClustering(
        inputs["k"], sigma=[inputs["sigma1"], inputs["sigma2"]], n_init=50, random_state=0, **parameters
    )
    return model.fit([np.array(inputs["X1"]), np.array(inputs["X2"])]), CASES[name]["outputs"]


def gram_of(*blocks):
    stacked = np.vstack(blocks)
    return stacked @ stacked.T


def test_every_case_is_looked_at():
    others = {"eight_by_eight_example", "unpaired_5_2_3", "nystrom_view1", "average_entropy"}
    assert set(CASES) == {*PAIRED, *MANY, *others}


@pytest.mark.parametrize("name", PAIRED)
def test_minimizing_disagreement(name):
    model, expected = paired(name)
    close(model.singular_values_, expected["singular_values"])
    close(gram_of(*model.view_embeddings_.values()), expected["Y_gram"])
    U, V = model._graph.embedding.vectors
    close(U @ U.T, expected["U_projector"])
    close(V @ V.T, expected["V_projector"])
    same_partition(model.labels_, expected["smd_labels_mean_rows"])
    centers = np.array([model.embedding_[model.labels_ == c].mean(axis=0) for c in range(model.n_clusters)])
    close(((model.embedding_ - centers[model.labels_]) ** 2).sum(), expected["smd_kmeans_cost"])


@pytest.mark.parametrize("name", PAIRED)
def test_joint(name):
    model, expected = paired(name, affinity="joint")
    close(model.singular_values_, expected["joint_eigenvalues"])
    same_partition(model.labels_, expected["joint_labels"])


def eight(matrix, m):
    """The printed example: its rows at another m, from those at m = 0.3."""
    A = np.array(CASES["eight_by_eight_example"]["inputs"][f"{matrix}_m_0.3"])
    return np.where(np.isclose(A, 0.3), m, A)


@pytest.mark.parametrize("position", range(8))
def test_eight_by_eight(position):
    """Before the break the clusters are right; beyond it two mirror images tie, so only right or wrong is compared."""
    expected = CASES["eight_by_eight_example"]["outputs"]
    m = expected["m"][position]
    blocks = [eight("A1", m), eight("A2", m)]
    right = [0, 0, 0, 0, 1, 1, 1, 1]
    for affinity, key in (("minimizing_disagreement", "smd_mean_labels"), ("sum", "sum_zero_diagonal_labels")):
        model = MultiViewSpectralClustering(2, affinity=affinity, kernel="precomputed", n_init=50, random_state=0).fit(
            blocks
        )
        assert (model.labels_.tolist() == right) == (expected[key][position] == right)
        if affinity == "minimizing_disagreement":
            close(model.singular_values_[1], expected["second_singular_value_smd"][position])


@pytest.mark.parametrize(
    ("parameters", "key"),
    [
        ({}, "smd_mean"),
        ({"paired_rows": "view_0"}, "smd_view1"),
        ({"affinity": "sum"}, "sum_zero_diagonal"),
    ],
)
def test_where_the_eight_by_eight_example_breaks(parameters, key):
    critical = CASES["eight_by_eight_example"]["outputs"]["critical_m"][key]
    right = [0, 0, 0, 0, 1, 1, 1, 1]
    for m, holds in ((critical - 1e-3, True), (critical + 1e-3, False)):
        model = MultiViewSpectralClustering(2, kernel="precomputed", n_init=50, random_state=0, **parameters)
        assert (model.fit_predict([eight("A1", m), eight("A2", m)]).tolist() == right) is holds
    if key != "smd_view1":
        by_sign = MultiViewSpectralClustering(2, kernel="precomputed", rounding="sign", **parameters)
        assert by_sign.fit_predict([eight("A1", 0.98), eight("A2", 0.98)]).tolist() in (right, [1 - c for c in right])


def unpaired():
    inputs = CASES["unpaired_5_2_3"]["inputs"]
    first, second = np.array(inputs["X1_paired"] + inputs["X1_only"]), np.array(inputs["X2_paired"] + inputs["X2_only"])
    p, m, n = len(inputs["X1_paired"]), len(inputs["X1_only"]), len(inputs["X2_only"])
    X1, X2 = np.full((p + m + n, first.shape[1]), np.nan), np.full((p + m + n, second.shape[1]), np.nan)
    X1[: p + m], X2[:p], X2[p + m :] = first, second[:p], second[p:]
    model = MultiViewSpectralClustering(
        inputs["k"], sigma=[inputs["sigma1"], inputs["sigma2"]], n_init=50, random_state=0
    )
    return model.fit([X1, X2]), CASES["unpaired_5_2_3"]["outputs"]


def test_unpaired_patterns():
    model, expected = unpaired()
    close(model.singular_values_, expected["singular_values"])
    first, second = model.view_embeddings_.values()
    close(gram_of(first), expected["Yu_gram"])
    close(gram_of(second), expected["Yv_gram"])
    by_view_1 = [*range(5), 5, 6]
    by_view_2 = [*range(5), 7, 8, 9]
    same_partition(model.labels_[by_view_1], expected["labels_view1_rows"])
    same_partition(model.labels_[by_view_2], expected["labels_view2_rows"])


def test_nystrom():
    """New samples with the first view only; training samples seen again get their own rows."""
    model, _ = paired("paired_8_patterns")
    inputs, expected = CASES["nystrom_view1"]["inputs"], CASES["nystrom_view1"]["outputs"]
    rows = model.embed({"view_0": np.array(inputs["X1_new"])})
    first, second = model.view_embeddings_.values()
    close(rows @ first.T, expected["Y_dot_Yu"])
    close(rows @ second.T, expected["Y_dot_Yv"])
    again = CASES["paired_8_patterns"]["inputs"]
    close(model.embed([np.array(again["X1"]), np.array(again["X2"])]), model.embedding_)


@pytest.mark.parametrize("name", MANY)
def test_any_number_of_views(name):
    inputs, expected = CASES[name]["inputs"], CASES[name]["outputs"]
    widths = [len(next(row for row in view if row is not None)) for view in inputs["X"]]
    blocks = [
        np.array([[np.nan] * d if row is None else row for row in view])
        for view, d in zip(inputs["X"], widths, strict=True)
    ]
    model = MultiViewSpectralClustering(inputs["k"], sigma=inputs["sigma"], n_init=50, random_state=0).fit(
        Views(blocks)
    )
    k = len(model.singular_values_)
    close(model.singular_values_, expected["eigenvalues"][:k])
    close(gram_of(*model.view_embeddings_.values()), expected["Y_gram"])
    close(gram_of(model.embedding_), expected["pattern_gram"])
    same_partition(model.labels_, expected["labels"])


def test_average_entropy():
    inputs, expected = CASES["average_entropy"]["inputs"], CASES["average_entropy"]["outputs"]
    close(cluster_entropy(inputs["classes"], inputs["clusters"]), expected["entropy_bits"])
    close(cluster_entropy(inputs["classes"], inputs["classes"]), expected["perfect"])
    close(cluster_entropy(inputs["classes"], [0] * len(inputs["classes"])), expected["one_cluster"])
