"""Purity of trees and their correlation with classes, pair by pair; disagreement of clusterings by counting pairs."""

import itertools

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from coview.metrics import class_cophenetic_correlation, clustering_disagreement, dendrogram_purity


def subtrees(tree):
    n = len(tree) + 1
    members = [{i} for i in range(n)]
    for a, b in tree[:, :2].astype(int):
        members.append(members[a] | members[b])
    return members


def smallest(tree, i, j):
    return min((m for m in subtrees(tree) if i in m and j in m), key=len)


@pytest.mark.parametrize("seed", range(4))
def test_against_all_pairs(seed):
    rng = np.random.default_rng(seed)
    tree, y = linkage(rng.normal(size=(14, 2)), "average"), rng.integers(3, size=14)
    pairs = list(itertools.combinations(range(14), 2))
    shares = [np.mean([y[m] == y[i] for m in smallest(tree, i, j)]) for i, j in pairs if y[i] == y[j]]
    np.testing.assert_allclose(dendrogram_purity(tree, y), np.mean(shares))
    sizes = [len(smallest(tree, i, j)) for i, j in pairs]
    expected = np.corrcoef(sizes, [y[i] != y[j] for i, j in pairs])[0, 1]
    np.testing.assert_allclose(class_cophenetic_correlation(tree, y), expected)


def test_extremes():
    tree = [[0, 1, 1, 2], [2, 3, 1, 2], [4, 5, 9, 4]]
    assert dendrogram_purity(tree, ["a", "a", "b", "b"]) == 1.0
    np.testing.assert_allclose(class_cophenetic_correlation(tree, ["a", "a", "b", "b"]), 1.0)
    assert dendrogram_purity(tree, ["a", "b", "a", "b"]) == 0.5
    assert class_cophenetic_correlation(tree, ["a", "b", "a", "b"]) < 0
    assert np.isnan(dendrogram_purity(tree, list("abcd")))
    assert np.isnan(class_cophenetic_correlation(tree, list("aaaa")))
    with pytest.raises(ValueError, match="3 merges is a tree of 4 samples, and labels_true has 5"):
        dendrogram_purity(tree, list("abcde"))
    with pytest.raises(ValueError, match="2 of 4 classes in labels_true are missing"):
        dendrogram_purity(tree, ["a", None, "a", np.nan])
    with pytest.raises(ValueError, match=r"four columns.*\(3, 3\)"):
        class_cophenetic_correlation(np.asarray(tree)[:, :3], list("abcd"))
    with pytest.raises(ValueError, match="two at least"):
        dendrogram_purity(np.empty((0, 4)), ["a"])


def test_disagreement_counts_pairs():
    a, b = [0, 0, 1, 1, -1], ["x", "x", "x", "y", "y"]
    together = [((a[i] == a[j]) != (b[i] == b[j])) for i, j in itertools.combinations(range(5), 2)]
    table = clustering_disagreement([a, b])
    np.testing.assert_allclose(table.loc["view_0", "view_1"], np.mean(together))
    np.testing.assert_array_equal(np.diag(table), 0.0)
    assert clustering_disagreement([[0, 1, 1], [5, 2, 2]], adjusted=True).to_numpy().max() == 0.0
    assert np.isnan(clustering_disagreement({"a": [0, None], "b": [None, 1]}).loc["a", "b"])
    with pytest.raises(ValueError, match="'a': 2, 'b': 3 labels"):
        clustering_disagreement({"a": [0, 1], "b": [0, 1, 2]})
