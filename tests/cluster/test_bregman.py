"""Agglomeration by Bregman divergences: SciPy's Ward, brute force, several views, missing views, bad input."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import cophenet, linkage

from coview import Views
from coview.cluster import BregmanAgglomerativeClustering
from coview.exceptions import ViewError
from coview.inference import BregmanView, bregman_divergence, bregman_k_means, bregman_linkage

NAMED = ["sqeuclidean", "half_sqeuclidean", "kl", "itakura_saito", "exponential", "logistic"]


def draw(n, d=3, seed=0):
    """Entries in the domain of every divergence."""
    return np.random.default_rng(seed).uniform(0.05, 0.95, size=(n, d))


def naive(views):
    """Greedy merges by costs of sets of rows, recomputed from the members every time."""
    n = len(views[0].rows)
    clusters = {i: [i] for i in range(n)}
    rows = []
    for step in range(n - 1):

        def added(pair, clusters=clusters):
            first, second = clusters[pair[0]], clusters[pair[1]]
            return sum(
                v.weight
                * (
                    v.divergence.cost(v.rows[first + second])
                    - v.divergence.cost(v.rows[first])
                    - v.divergence.cost(v.rows[second])
                )
                for v in views
            )

        best = min(itertools.combinations(sorted(clusters), 2), key=lambda pair: (round(added(pair), 12), pair))
        cost = added(best)
        clusters[n + step] = clusters.pop(best[0]) + clusters.pop(best[1])
        rows.append([*best, cost, len(clusters[n + step])])
    return np.array(rows)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", NAMED)
def test_equals_brute_force(name, seed):
    views = [BregmanView(draw(12, seed=seed), bregman_divergence(name))]
    np.testing.assert_allclose(bregman_linkage(views), naive(views), rtol=1e-9, atol=1e-12)


def test_several_views_add_by_weight():
    views = [
        BregmanView(draw(11), bregman_divergence("kl"), 2.0),
        BregmanView(draw(11, 5, seed=1), bregman_divergence("sqeuclidean"), 0.5),
    ]
    model = BregmanAgglomerativeClustering(3, divergence=["kl", "sqeuclidean"], view_weights=[2.0, 0.5])
    model.fit([view.rows for view in views])
    np.testing.assert_allclose(model.linkage_, naive(views), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [2, 50, 300])
def test_squared_euclidean_is_scipys_ward(n):
    X = np.random.default_rng(n).normal(size=(n, 4))
    ours, ward = bregman_linkage([BregmanView(X, bregman_divergence("sqeuclidean"))]), linkage(X, "ward")
    np.testing.assert_allclose(np.sqrt(2 * ours[:, 2]), ward[:, 2], rtol=1e-9)
    heights = np.column_stack([ours[:, :2], np.sqrt(2 * ours[:, 2]), ours[:, 3]])
    np.testing.assert_allclose(cophenet(heights), cophenet(ward), rtol=1e-9)


def test_a_function_of_the_user_is_that_function():
    X = draw(15)
    own = BregmanAgglomerativeClustering(divergence=(lambda x: x**4, lambda y: 4 * y**3)).fit(X)
    pairwise = bregman_divergence((lambda x: x**4, lambda y: 4 * y**3)).between(X[:, None], X[None])
    np.testing.assert_allclose(
        pairwise, (X[:, None] ** 4 - X[None] ** 4 - 4 * X[None] ** 3 * (X[:, None] - X[None])).sum(axis=2), atol=1e-14
    )
    assert own.cost_by_n_clusters_[15] == 0.0
    squares = BregmanAgglomerativeClustering(divergence=(np.square, lambda y: 2 * y)).fit(X)
    np.testing.assert_allclose(squares.linkage_, BregmanAgglomerativeClustering().fit(X).linkage_, rtol=1e-9)


@pytest.mark.parametrize("name", NAMED)
def test_costs_of_nearly_equal_rows_do_not_cancel(name):
    """The cost of two rows that differ by 1e-9 is a quarter of the curvature times the square, not rounding."""
    x = np.array([[0.3, 0.4]])
    step = 1e-9
    divergence = bregman_divergence(name)
    curvature = {
        "sqeuclidean": 2.0, "half_sqeuclidean": 1.0, "kl": 1 / 0.3, "itakura_saito": 1 / 0.3**2,
        "exponential": np.exp(0.3), "logistic": 1 / 0.3 + 1 / 0.7,
    }[name]  # fmt: skip
    views = [BregmanView(np.vstack([x, x + np.array([step, 0.0])]), divergence)]
    np.testing.assert_allclose(bregman_linkage(views)[0, 2], curvature * step**2 / 4, rtol=1e-6)


def test_costs_add_up_to_the_cost_of_everything():
    X = draw(40)
    model = BregmanAgglomerativeClustering(divergence="kl").fit(X)
    np.testing.assert_allclose(model.cost_by_n_clusters_[1], bregman_divergence("kl").cost(X), rtol=1e-12)
    labels = model.labels_at(7)
    inside = sum(bregman_divergence("kl").cost(X[labels == c]) for c in range(7))
    np.testing.assert_allclose(model.cost_by_n_clusters_[7], inside, rtol=1e-12)


def test_identical_rows_merge_first_in_the_order_of_their_numbers():
    X = np.repeat(np.array([[0.2, 0.8], [0.7, 0.3]]), 3, axis=0)
    for name in NAMED:
        model = BregmanAgglomerativeClustering(divergence=name).fit(X)
        np.testing.assert_array_equal(model.linkage_[:4, 2], 0.0)
        np.testing.assert_array_equal(model.linkage_[:2, :2], [[0, 1], [2, 6]])
        np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 1])
    everything = BregmanAgglomerativeClustering(3, divergence="kl").fit(np.full((6, 2), 0.4))
    np.testing.assert_array_equal(everything.linkage_[:, 2], 0.0)
    assert len(set(everything.labels_)) == 3


def test_missing_views():
    """Two groups that every view shows are found although a third of the views is missing."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 20)
    blocks = [truth[:, None] * 5.0 + rng.normal(size=(40, 3)), truth[:, None] * 5.0 + rng.normal(size=(40, 2))]
    presence = rng.random((40, 2)) < 0.7
    presence[~presence.any(axis=1), 0] = True
    model = BregmanAgglomerativeClustering().fit(Views(blocks, presence=presence))
    np.testing.assert_array_equal(model.labels_, truth)
    # what lies under a missing view is not read, and a view of a third nobody has does not matter
    filled = [np.where(presence[:, [j]], block, 1e9) for j, block in enumerate(blocks)]
    again = BregmanAgglomerativeClustering().fit(Views(filled, presence=presence))
    np.testing.assert_array_equal(again.linkage_, model.linkage_)


def test_groups_without_a_common_view_are_an_error():
    presence = np.repeat([[True, False], [False, True]], 3, axis=0)
    with pytest.raises(ValueError, match="No two of the remaining 2 clusters share a view"):
        BregmanAgglomerativeClustering().fit(Views([draw(6), draw(6)], presence=presence))
    presence[0] = False
    with pytest.raises(ViewError, match=r"1 of 6 have none: '0'\. Leave them out"):
        BregmanAgglomerativeClustering().fit(Views([draw(6), draw(6)], presence=presence))


@pytest.mark.parametrize(
    ("parameters", "X", "error", "message"),
    [
        (
            {"divergence": "kl"},
            [[0.5, -0.1], [0.2, 0.3]],
            ViewError,
            "'view_0' has 1 other entries.*'0', the first -0.1",
        ),
        ({"divergence": "itakura_saito"}, [[0.5, 0.0], [0.2, 0.3]], ViewError, "positive entries"),
        ({"divergence": "logistic"}, [[0.5, 1.5], [0.2, 0.3]], ViewError, r"entries in \[0, 1\]"),
        ({"divergence": "cosine"}, [[0.5], [0.2]], ValueError, "no divergence 'cosine'"),
        ({"n_clusters": 3}, [[0.5], [0.2]], ValueError, "between 1 and the number of samples, 2; got 3"),
        ({"divergence": ["kl"]}, {"a": [[0.5], [0.2]], "b": [[1.0], [2.0]]}, ViewError, "one entry per view"),
        (
            {"view_weights": {"a": 1.0}},
            {"a": [[0.5], [0.2]], "b": [[1.0], [2.0]]},
            ViewError,
            "without a value: \\['b'\\]",
        ),
        ({"view_weights": [0.0, 1.0]}, {"a": [[0.5], [0.2]], "b": [[1.0], [2.0]]}, ValueError, "positive"),
    ],
)
def test_bad_input(parameters, X, error, message):
    X = {name: np.array(rows) for name, rows in X.items()} if isinstance(X, dict) else np.array(X)
    with pytest.raises(error, match=message):
        BregmanAgglomerativeClustering(**parameters).fit(X)


def test_sparse_views_are_not_made_dense():
    with pytest.raises(ViewError, match="sparse"):
        BregmanAgglomerativeClustering(divergence="kl").fit([sparse.csr_array(np.eye(4))])


def test_newick_and_labels_elsewhere():
    model = BregmanAgglomerativeClustering(1).fit(np.array([[0.0], [9.0], [1.0]]))
    assert model.to_newick(["a", "b c", "it's"]) == "((a,'it''s'),'b c');"
    np.testing.assert_array_equal(model.labels_, [0, 0, 0])
    np.testing.assert_array_equal(model.labels_at(3), [0, 1, 2])
    with pytest.raises(ValueError, match="one entry per sample"):
        model.to_newick(["a"])
    with pytest.raises(ValueError, match="got 0"):
        model.labels_at(0)


@pytest.mark.parametrize("name", NAMED)
def test_k_means_finds_the_best_of_all_partitions(name):
    rows = draw(9, 2, seed=4)
    divergence = bregman_divergence(name)
    labels = bregman_k_means(rows, 2, divergence, np.random.RandomState(0), n_init=30)

    def cost(side):
        return sum(divergence.cost(rows[side == s]) for s in (False, True))

    sides = [np.array([bool(code >> i & 1) for i in range(9)]) for code in range(1, 2**8)]
    np.testing.assert_allclose(cost(labels.astype(bool)), min(map(cost, sides)), rtol=1e-9)
