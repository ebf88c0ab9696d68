"""New samples in trees: by what they add to the cost of a cluster, or from the root down; views missing or not."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from coview import Views
from coview.cluster import BregmanAgglomerativeClustering, HybridHierarchicalClustering
from coview.exceptions import ViewError
from coview.inference import bregman_divergence

MODELS = [
    BregmanAgglomerativeClustering(3),
    BregmanAgglomerativeClustering(3, divergence="itakura_saito"),
    HybridHierarchicalClustering(3, divergences=["sqeuclidean", "kl"]),
    HybridHierarchicalClustering(3, divergences="kl", splitter="kmeans", random_state=0),
]


def draw(n=45, seed=0, gap=2.0):
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    blocks = [np.exp(gap * np.eye(3)[group][:, :d] + 0.2 * rng.normal(size=(n, d))) for d in (3, 2)]
    return blocks, group


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_new_samples_with_any_view(model):
    blocks, group = draw()
    presence = np.random.default_rng(1).random((45, 2)) > 0.2
    presence[~presence.any(axis=1), 0] = True
    model.fit(Views(blocks, names=["a", "b"], presence=presence))
    np.testing.assert_array_equal(model.labels_, group)
    new, truth = draw(seed=5)
    np.testing.assert_array_equal(model.predict({"a": new[0], "b": new[1]}), truth)
    np.testing.assert_array_equal(model.predict({"a": new[0]}), truth)
    assert adjusted_rand_score(truth, model.predict({"b": new[1]})) > 0.9
    one_by_one = [model.predict({"b": new[1][[i]]})[0] for i in range(5)]
    np.testing.assert_array_equal(one_by_one, truth[:5])


def test_the_cost_of_joining_is_that_of_the_cluster_with_the_sample_less_that_without():
    blocks, _ = draw(gap=1.0)
    presence = np.random.default_rng(1).random((45, 2)) > 0.3
    presence[~presence.any(axis=1), 0] = True
    weights = [1.0, 3.0]
    model = BregmanAgglomerativeClustering(4, divergence=["kl", "sqeuclidean"], view_weights=weights)
    model.fit(Views(blocks, presence=presence))
    measures = [bregman_divergence("kl"), bregman_divergence("sqeuclidean")]
    new, _ = draw(n=12, seed=3, gap=1.0)
    for has in ([0, 1], [0], [1]):
        expected = []
        for i in range(12):
            raised = np.zeros(4)
            for c in range(4):
                for v in has:
                    own = blocks[v][(model.labels_ == c) & presence[:, v]]
                    with_it = np.vstack([own, new[v][[i]]])
                    raised[c] += weights[v] * (measures[v].cost(with_it) - measures[v].cost(own))
            expected.append(raised.argmin())
        np.testing.assert_array_equal(model.predict({f"view_{v}": new[v] for v in has}), expected)


def test_the_view_that_made_a_split_decides_where_a_sample_has_it():
    small = np.random.default_rng(0).random((20, 2)) - 0.5
    coarse = np.repeat([0.0, 9.0], 10)[:, None] + 0.01 * small[:, :1]
    fine = np.tile([0.0, 5.0], 10)[:, None] + 0.3 * small[:, 1:]
    model = HybridHierarchicalClustering(4).fit({"coarse": coarse, "fine": fine})
    assert model.tree_.view == "coarse"
    np.testing.assert_array_equal(model.predict({"coarse": coarse, "fine": fine}), model.labels_)
    # 4 is nearer to the lower part of the root, whatever the other view says there; the other view decides below.
    np.testing.assert_array_equal(model.predict({"coarse": [[4.0], [4.0]], "fine": [[0.1], [5.1]]}), [0, 1])


def test_samples_that_share_nothing_and_bad_input():
    blocks, _ = draw()
    presence = np.ones((45, 3), dtype=bool)
    presence[:, 2] = False
    for model in (BregmanAgglomerativeClustering(3), HybridHierarchicalClustering(3)):
        model.fit(Views([*blocks, np.ones((45, 1))], names=["a", "b", "nobody"], presence=presence))
        np.testing.assert_array_equal(model.predict({"nobody": [[1.0], [2.0]]}), [-1, -1])
        with pytest.raises(ViewError, match="1 of 2 have none"):
            model.predict({"a": [[1.0, 2.0, 3.0], [np.nan] * 3]})
    model = BregmanAgglomerativeClustering(3, divergence="kl").fit(blocks)
    with pytest.raises(ViewError, match=r"'kl' is defined for entries that are not negative.*'0'.*-1"):
        model.predict([np.array([[1.0, -1.0, 2.0]]), np.array([[1.0, 1.0]])])


def test_one_cluster_and_samples_that_are_all_the_same():
    for model in (BregmanAgglomerativeClustering(1), HybridHierarchicalClustering(1)):
        np.testing.assert_array_equal(model.fit(draw()[0]).predict(draw(seed=2)[0]), np.zeros(45))
    for model in (BregmanAgglomerativeClustering(2), HybridHierarchicalClustering(2)):
        assert set(model.fit(np.ones((6, 2))).predict(np.ones((3, 2)))) <= {0, 1}
