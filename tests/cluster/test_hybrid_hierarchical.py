"""Hybrid trees: every split by the best view, cuts, missing views, long chains."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.metrics import adjusted_rand_score

from coview import Views
from coview.cluster import HybridHierarchicalClustering
from coview.exceptions import ViewError
from coview.inference import BregmanView, bregman_divergence, bregman_linkage

SQUARED = bregman_divergence("sqeuclidean")


def two_levels(seed=0, n=8):
    """Four groups: the first view tells the pairs of groups apart, the second the groups within a pair."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(4), n)
    coarse = (groups // 2)[:, None] * 20.0 + rng.normal(size=(4 * n, 2))
    fine = (groups % 2)[:, None] * 10.0 + rng.normal(size=(4 * n, 3))
    return {"coarse": coarse, "fine": fine}, groups


@pytest.mark.parametrize("splitter", ["ward", "kmeans"])
def test_each_level_is_split_by_its_view(splitter):
    views, groups = two_levels()
    model = HybridHierarchicalClustering(4, splitter=splitter, random_state=0).fit(views)
    assert model.tree_.view == "coarse"
    assert {model.tree_.left.view, model.tree_.right.view} == {"fine"}
    assert adjusted_rand_score(groups, model.labels_) == 1.0
    assert adjusted_rand_score(groups // 2, model.labels_at(2)) == 1.0


def test_linkage_is_valid_and_tells_the_same_as_the_tree():
    views, _ = two_levels(1)
    model = HybridHierarchicalClustering(3).fit(views)
    assert is_valid_linkage(model.linkage_)
    nodes = list(model.tree_.walk())
    assert len(nodes) == 2 * 32 - 1
    assert sum(node.is_leaf for node in nodes) == 32
    inner = [node for node in nodes if not node.is_leaf]
    assert sorted(len(node.members) for node in inner) == sorted(model.linkage_[:, 3])
    assert sorted(map(str, model.split_views_)) == sorted(str(node.view) for node in inner)
    for node in inner:
        assert node.left.members[0] == node.members[0]
        np.testing.assert_array_equal(np.sort(np.concatenate([node.left.members, node.right.members])), node.members)
        block = views[node.view]
        parts = sum(SQUARED.cost(block[child.members]) for child in (node.left, node.right))
        if np.isfinite(node.goodness):
            np.testing.assert_allclose(node.goodness, SQUARED.cost(block[node.members]) / parts, rtol=1e-9)
        assert node.goodness == max(node.goodness_per_view.values())


def test_scale_of_a_view_does_not_matter():
    views, _ = two_levels(2)
    model = HybridHierarchicalClustering().fit(views)
    scaled = HybridHierarchicalClustering().fit({"coarse": views["coarse"] * 1e8, "fine": views["fine"] * 1e-8})
    np.testing.assert_array_equal(model.linkage_, scaled.linkage_)
    assert model.split_views_ == scaled.split_views_


def test_missing_views_do_not_split_their_nodes():
    views, groups = two_levels(3)
    presence = np.ones((32, 2), dtype=bool)
    presence[0, 0] = False
    model = HybridHierarchicalClustering(2).fit(Views(list(views.values()), names=list(views), presence=presence))
    assert model.tree_.view == "fine"
    assert np.isnan(model.tree_.goodness_per_view["coarse"])
    presence[1, 1] = False  # now no view has all: both cut together, by what the clusters share
    model = HybridHierarchicalClustering(2).fit(Views(list(views.values()), names=list(views), presence=presence))
    assert model.tree_.view is None
    assert adjusted_rand_score(groups[1:] // 2, model.labels_[1:]) == 1.0  # the first sample lacks the view that tells
    presence[:] = [True, False]
    presence[16:] = [False, True]
    with pytest.raises(ValueError, match="share a view"):
        HybridHierarchicalClustering().fit(Views(list(views.values()), names=list(views), presence=presence))


def test_a_view_with_one_value_and_identical_samples():
    constant = HybridHierarchicalClustering().fit({"flat": np.ones((6, 2)), "line": np.arange(6.0)[:, None]})
    assert set(constant.split_views_) == {"line"}
    same = HybridHierarchicalClustering(3).fit({"flat": np.ones((6, 2)), "too": np.zeros((6, 1))})
    assert same.tree_.goodness == 1.0
    assert len(set(same.labels_)) == 3
    for splitter in ("ward", "kmeans"):
        HybridHierarchicalClustering(2, splitter=splitter, random_state=0).fit(np.zeros((5, 1)))


def test_a_chain_of_a_thousand_samples():
    """Every split takes one sample off: as deep as a tree can be."""
    model = HybridHierarchicalClustering(5, splitter="kmeans", random_state=0).fit(
        2.0 ** np.arange(0, -1000, -1.0)[:, None]
    )
    assert len(model.linkage_) == 999
    assert len(list(model.tree_.walk())) == 1999
    assert model.to_newick().count("(") == 999


def splits_by_fresh_trees(blocks, members):
    """Every node cut in two by the last merge of its own agglomeration, both views asked anew."""
    if len(members) == 1:
        return []
    cuts = []
    for block in blocks:
        linkage = bregman_linkage([BregmanView(block[members], SQUARED)])
        below = {i: [i] for i in range(len(members))}
        for i, (a, b) in enumerate(linkage[:, :2].astype(int)):
            below[len(members) + i] = below[a] + below[b]
        first = np.isin(np.arange(len(members)), below[int(linkage[-1, 0])])
        whole, *parts = (SQUARED.cost(block[part]) for part in (members, members[first], members[~first]))
        goodness = 1.0 if whole < 1e-9 else np.inf if sum(parts) < 1e-9 else whole / sum(parts)
        cuts.append((goodness, first))
    view = int(np.argmax([goodness for goodness, _ in cuts]))
    first = cuts[view][1]
    deeper = [splits_by_fresh_trees(blocks, members[side]) for side in (first, ~first)]
    return [(tuple(members), view), *deeper[0], *deeper[1]]


@pytest.mark.parametrize("seed", range(4))
def test_trees_that_are_kept_for_the_parts_are_those_made_anew(seed):
    """Views that agree above and not below; in the second half of the seeds of whole numbers, with many ties."""
    views, _ = two_levels(seed, 9)
    blocks = [
        views["coarse"] + 10.0 * (np.arange(36) // 18)[:, None],
        views["fine"] + 50.0 * (np.arange(36) // 18)[:, None],
    ]
    if seed >= 2:
        blocks = [np.rint(block) for block in blocks]
    model = HybridHierarchicalClustering().fit(dict(zip(["coarse", "fine"], blocks, strict=True)))
    found = [
        (tuple(node.members), ["coarse", "fine"].index(node.view)) for node in model.tree_.walk() if not node.is_leaf
    ]
    expected = splits_by_fresh_trees(blocks, np.arange(36))
    assert sorted(found) == sorted(expected)


def test_bad_input():
    with pytest.raises(ViewError, match="'itakura_saito' is defined for positive entries"):
        HybridHierarchicalClustering(divergences="itakura_saito").fit(np.array([[0.0], [1.0]]))
    with pytest.raises(ValueError, match="number of samples, 2; got 3"):
        HybridHierarchicalClustering(3).fit(np.array([[0.0], [1.0]]))
    with pytest.raises(ViewError, match="divergences must have one entry per view"):
        HybridHierarchicalClustering(divergences=["kl"]).fit([np.ones((2, 1)), np.ones((2, 1))])
