"""The cases of ``tests/golden/bregman_core.json``: divergences, naive agglomeration and hybrid trees by brute force."""

import json
from pathlib import Path

import numpy as np
import pytest

from coview.cluster import BregmanAgglomerativeClustering, HybridHierarchicalClustering
from coview.inference import bregman_divergence

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "bregman_core.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in DOCUMENT["cases"]}
RTOL, ATOL = DOCUMENT["tolerance"]["rtol"], DOCUMENT["tolerance"]["atol"]
TREES = sorted(name for name in CASES if name.startswith("tree_"))
HYBRID = sorted(name for name in CASES if name.startswith("hybrid_"))


def close(got, want):
    np.testing.assert_allclose(np.asarray(got, dtype=float), np.asarray(want, dtype=float), rtol=RTOL, atol=ATOL)


def merge_cost(divergence, first, second):
    """Of two sets of rows."""
    cluster = (first.mean(axis=0), float(len(first)), float(divergence.potential(first.mean(axis=0))))
    mean = second.mean(axis=0)[None]
    return divergence.merge_costs(cluster, mean, np.array([float(len(second))]), divergence.potential(mean))[0]


def test_every_case_is_looked_at():
    assert set(CASES) == {"divergences", "not_reducible", "davies_bouldin_not_equivalent", *TREES, *HYBRID}


@pytest.mark.parametrize("name", CASES["divergences"]["outputs"])
def test_divergences(name):
    expected = CASES["divergences"]["outputs"][name]
    rows, divergence = np.array(expected["points"]), bregman_divergence(name)
    close(divergence.between(rows[:, None], rows[None]), expected["pairwise"])
    close(divergence.cost(rows[:3]), expected["cost_first3"])
    close(divergence.cost(rows[3:5]), expected["cost_4_5"])
    close(merge_cost(divergence, rows[:3], rows[3:5]), expected["merge_first3_with_4_5"])
    # Sum of divergences from any point: cost about the mean, and that of the mean from the point.
    close(divergence.between(rows[:3], rows[4]).sum(), expected["pythagoras_lhs_center_x5"])
    about_mean = divergence.cost(rows[:3]) + 3 * divergence.between(rows[:3].mean(axis=0), rows[4])
    close(about_mean, expected["pythagoras_rhs"])


@pytest.mark.parametrize("name", TREES)
def test_trees(name):
    inputs, expected = CASES[name]["inputs"], CASES[name]["outputs"]
    model = BregmanAgglomerativeClustering(divergence=inputs["divergence"]).fit(np.array(inputs["points"]))
    close(model.linkage_, expected["linkage"])
    for k, cost in expected["cost_by_k"].items():
        close(model.cost_by_n_clusters_[int(k)], cost)
    for k, labels in expected["labels_by_k"].items():
        np.testing.assert_array_equal(model.labels_at(int(k)), labels)
        again = BregmanAgglomerativeClustering(int(k), divergence=inputs["divergence"])
        np.testing.assert_array_equal(again.fit_predict(np.array(inputs["points"])), labels)


def test_not_reducible():
    """An inversion, and four points for which the chain of nearest neighbors returns another tree."""
    inputs, expected = CASES["not_reducible"]["inputs"], CASES["not_reducible"]["outputs"]
    kl = bregman_divergence(inputs["divergence"])
    A, B, C = (row[None] for row in np.array(inputs["three_points"]))
    close(merge_cost(kl, A, B), expected["d_AB"])
    close(merge_cost(kl, A, C), expected["d_AC"])
    close(merge_cost(kl, B, C), expected["d_BC"])
    close(merge_cost(kl, np.vstack([A, B]), C), expected["d_AB_C"])
    three = BregmanAgglomerativeClustering(divergence="kl").fit(np.array(inputs["three_points"]))
    close(three.linkage_, expected["three_linkage"])
    assert three.linkage_[1, 2] < three.linkage_[0, 2]
    four = BregmanAgglomerativeClustering(divergence="kl").fit(np.array(inputs["four_points"]))
    close(four.linkage_, expected["four_linkage"])
    clusters = groups(four.linkage_)
    assert clusters == sorted(map(sorted, expected["four_greedy_clusters"]), key=len)
    assert clusters != sorted(map(sorted, expected["nn_chain_clusters_WRONG"]), key=len)


def groups(linkage):
    n = len(linkage) + 1
    members = [[i] for i in range(n)]
    for a, b in linkage[:, :2].astype(int):
        members.append(sorted(members[a] + members[b]))
    return sorted(members[n:], key=len)


@pytest.mark.parametrize("name", HYBRID)
def test_hybrid_trees(name):
    inputs, expected = CASES[name]["inputs"], CASES[name]["outputs"]
    views = [np.array(view) for view in inputs["views"]]
    model = HybridHierarchicalClustering(divergences=inputs["divergences"]).fit(views)
    compare(model.tree_, expected["tree"], model.view_names_)


def compare(node, expected, names):
    """A node and everything below it."""
    if "leaf" in expected:
        assert node.is_leaf
        assert node.members.tolist() == [expected["leaf"]]
        return
    assert node.view == names[int(expected["view"])]
    close(node.goodness, float(expected["goodness"]))
    close(list(node.goodness_per_view.values()), [float(value) for value in expected["all_goodness"]])
    assert node.left.members.tolist() == sorted(expected["left_members"])
    assert node.right.members.tolist() == sorted(expected["right_members"])
    compare(node.left, expected["left"], names)
    compare(node.right, expected["right"], names)


def test_goodness_is_not_davies_bouldin():
    """They rank two splits in opposite order, so that one cannot stand for the other."""
    inputs, expected = (
        CASES["davies_bouldin_not_equivalent"]["inputs"],
        CASES["davies_bouldin_not_equivalent"]["outputs"],
    )
    squared = bregman_divergence("sqeuclidean")
    goodness = {}
    for split in ("split1", "split2"):
        parts = [np.array(part, dtype=float) for part in inputs[split]]
        goodness[split] = squared.cost(np.vstack(parts)) / sum(squared.cost(part) for part in parts)
        close(goodness[split], expected[split]["goodness"])
    assert goodness["split1"] < goodness["split2"]
    assert expected["split1"]["davies_bouldin"] < expected["split2"]["davies_bouldin"]
    halves = (
        HybridHierarchicalClustering().fit(np.vstack([np.array(part, dtype=float) for part in inputs["split2"]])).tree_
    )
    assert halves.left.members.tolist() == [0, 1, 2]
    close(halves.goodness, expected["split2"]["goodness"])
